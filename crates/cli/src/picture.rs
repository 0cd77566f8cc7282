//! Draws the picture of a task: supplies elements of a file to `retrograde_picture`, and the
//! terminal colours.

use crate::elements;
use crate::report;
use crate::task::Task;
use anstyle::{Ansi256Color, AnsiColor, Color, RgbColor, Style};
use retrograde_io::{Location, Tensor};
use retrograde_picture::{Movement, Role, Scene, Source, plain};
use std::convert::Infallible;

/// Draws the picture as text, as wide as the terminal, in colours if stdout has any: without them, an
/// image consists of shades.
pub(crate) fn draw(location: &Location, before: &Tensor, task: &Task) -> String {
    let coloured = anstream::AutoStream::choice(&std::io::stdout()) != anstream::ColorChoice::Never;
    let paint = if coloured { painted } else { plain };
    scene(location, before, task).text(report::columns(), &paint)
}

/// Draws the picture as an SVG image.
pub(crate) fn draw_svg(location: &Location, before: &Tensor, task: &Task) -> String {
    scene(location, before, task).svg()
}

fn scene(location: &Location, before: &Tensor, task: &Task) -> Scene {
    let (element, shape) = (before.element_type(), before.shape());
    let what = format!("{}  {element} {shape:?}", report::name(location));
    let movement = &task.movement();
    let (drawn, shown) = (Drawn { before, task, movement }, elements::shown_as(element));
    let Ok(scene) = Scene::of(&drawn, movement, shape, &what, shown);
    scene
}

/// A tensor from a file, and the task to draw.
struct Drawn<'a> {
    before: &'a Tensor,
    task: &'a Task,
    movement: &'a Movement,
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

    fn stays(&self, index: &[usize]) -> bool {
        self.task.stays(self.movement, index)
    }

    fn result(&self, index: &[usize], origin: &[usize]) -> Result<String, Infallible> {
        let mut bytes = self.before.element(origin).unwrap_or_default();
        let length = self.movement.length_at(index).map(|at| self.task.length(&at));
        if !self.stays(index) && self.movement.reverses(index, self.before.shape(), length) {
            self.task.look_up(&mut bytes);
        }
        Ok(elements::text(self.before.element_type(), &bytes))
    }

    fn note(&self) -> String {
        self.task.note()
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
        Role::Pixels { above, below } => {
            Style::new().fg_color(Some(colour(above))).bg_color(Some(colour(below)))
        }
    };
    format!("{style}{text}{style:#}")
}

/// A colour as the terminal has it: one of 16 million if it says so, or one of 256.
fn colour([red, green, blue]: [u8; 3]) -> Color {
    let terms = ["truecolor", "24bit"];
    if std::env::var("COLORTERM").is_ok_and(|term| terms.contains(&term.as_str())) {
        return RgbColor(red, green, blue).into();
    }
    // A cube of six steps for each.
    let step = |part: u8| (u16::from(part) * 5 + 127) / 255;
    Ansi256Color((16 + 36 * step(red) + 6 * step(green) + step(blue)) as u8).into()
}
