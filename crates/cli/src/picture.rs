//! The picture of a reversal: the tensor before and after, side by side.
//!
//! The last two axes make a grid; a tensor of more has one grid for each index of the
//! others. What moved is bright, what lies beyond its length is dim.

mod block;
mod sheet;
mod svg;
mod window;

use crate::report;
use crate::task::Task;
use anstyle::Style;
use block::Scene;
use retrograde_io::{Location, Tensor};
use sheet::{Arrangement, Sheet};

/// Draws it as wide as the terminal; with colours, which the printing takes out again where
/// there are none.
pub(crate) fn draw(location: &Location, before: &Tensor, task: &Task) -> String {
    let name = &report::name(location);
    let bold = Style::new().bold();
    let operator = task.operator();
    let mut picture = format!("{bold}{operator}{bold:#}  {}\n\n", subject(name, before, task));
    if before.layout().is_empty() {
        picture.push_str("  (no elements)\n");
        return picture;
    }
    let (sheet, arrangement) = fitting(&Scene { before, task }, report::columns());
    sheet.render(arrangement, &mut picture);
    picture
}

/// Draws it as an SVG image.
pub(crate) fn draw_svg(location: &Location, before: &Tensor, task: &Task) -> String {
    let name = report::name(location);
    let title = format!("{}  {}", task.operator(), subject(&name, before, task));
    svg::draw(&title, &Scene { before, task })
}

/// What is reversed, and how, behind the operator's name.
fn subject(name: &str, before: &Tensor, task: &Task) -> String {
    let (element, shape) = (before.element_type(), before.shape());
    format!("{name}  {element} {shape:?}  {}", report::arguments(task))
}

/// As many columns of the tensor as fit, beside each other if possible.
fn fitting(scene: &Scene<'_>, columns: usize) -> (Sheet, Arrangement) {
    let width = scene.before.shape().last().copied().unwrap_or(1);
    let mut narrowest = None;
    for window in window::candidates(width) {
        let sheet = Sheet::of(scene, &window);
        for arrangement in [Arrangement::Beside, Arrangement::Below] {
            if sheet.width(arrangement) <= columns {
                return (sheet, arrangement);
            }
        }
        narrowest = Some(sheet);
    }
    // Nothing fits, not even two columns: better wrapped than not shown.
    let sheet = narrowest.unwrap_or_else(|| Sheet::of(scene, &window::all(width)));
    (sheet, Arrangement::Below)
}
