//! Draws the picture of a task: supplies elements of a file to `retrograde_picture`, and the
//! terminal colours.

use crate::elements;
use crate::report;
use crate::task::Task;
use anstyle::{AnsiColor, Style};
use retrograde_io::{Location, Tensor};
use retrograde_picture::{Role, Scene, Source};
use std::convert::Infallible;

/// Draws the picture as text, as wide as the terminal. It contains colour codes, which are stripped
/// on output if the terminal does not support them.
pub(crate) fn draw(location: &Location, before: &Tensor, task: &Task) -> String {
    scene(location, before, task).text(report::columns(), &painted)
}

/// Draws the picture as an SVG image.
pub(crate) fn draw_svg(location: &Location, before: &Tensor, task: &Task) -> String {
    scene(location, before, task).svg()
}

fn scene(location: &Location, before: &Tensor, task: &Task) -> Scene {
    let (element, shape) = (before.element_type(), before.shape());
    let what = format!("{}  {element} {shape:?}", report::name(location));
    let (drawn, is_text) = (Drawn { before, task }, elements::is_text(element));
    let Ok(scene) = Scene::of(&drawn, &task.movement(), shape, &what, is_text);
    scene
}

/// A tensor from a file, and the task to draw.
struct Drawn<'a> {
    before: &'a Tensor,
    task: &'a Task,
}

impl Source for Drawn<'_> {
    type Error = Infallible;

    fn text(&self, index: &[usize]) -> Result<String, Infallible> {
        let bytes = self.before.element(index).unwrap_or_default();
        Ok(elements::text(self.before.element_type(), &bytes))
    }

    fn length(&self, at: &[usize]) -> Result<i128, Infallible> {
        Ok(self.task.length(at))
    }

    fn zero(&self) -> String {
        let element = self.before.element_type();
        // A string of no bytes, if it has no fixed width.
        let width = element.dtype().bits().unwrap_or(0).div_ceil(8);
        elements::text(element, &vec![0; width])
    }
}

fn painted(role: Role, text: &str) -> String {
    let style = match role {
        Role::Plain => return text.to_owned(),
        Role::Operator => Style::new().bold(),
        Role::Length => AnsiColor::Yellow.on_default(),
        Role::Moved => AnsiColor::Cyan.on_default().bold(),
        Role::Label | Role::Padding => Style::new().dimmed(),
    };
    format!("{style}{text}{style:#}")
}
