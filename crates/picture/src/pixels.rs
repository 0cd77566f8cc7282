//! Arrays that are images, drawn as their pixels: half blocks in a terminal that has colours, shades in one
//! that has none, and images in SVG and HTML.

use crate::movement::Movement;
use crate::paint::{Paint, Role};
use crate::png;
use crate::source::Source;

/// The most pixels along each side that are read. Larger images show one pixel of each square.
const MOST: usize = 64;
/// The least size of a side of an image, with two axes and with channels: smaller arrays are tables.
const LEAST: [usize; 2] = [16, 4];
/// The columns that a small image is enlarged to in text, and the size of an image in a document.
const WIDE: usize = 32;
const LARGE: usize = 320;
/// Between the two images.
const SPACE: &str = "     ";
const ARROW: &str = "  →  ";
/// From dark to bright.
const SHADES: [&str; 5] = [" ", "░", "▒", "▓", "█"];

/// Red, green, blue and opacity.
type Pixel = [u8; 4];

/// An image before and after a call.
#[derive(Debug, Clone)]
pub(crate) struct Pixels {
    width: usize,
    height: usize,
    before: Vec<Pixel>,
    after: Vec<Pixel>,
    /// The side of the squares of which one pixel is shown.
    step: usize,
}

impl Pixels {
    /// The image, if an array of bytes of this shape is one: rows and columns, and perhaps 1, 3 or 4
    /// channels. Lengths belong to tables.
    pub(crate) fn of<S: Source>(
        source: &S,
        movement: &Movement,
        shape: &[usize],
    ) -> Result<Option<Pixels>, S::Error> {
        let (rows, columns, channels) = match *shape {
            [rows, columns] if rows.min(columns) >= LEAST[0] => (rows, columns, 0),
            [rows, columns, channels @ (1 | 3 | 4)] if rows.min(columns) >= LEAST[1] => {
                (rows, columns, channels)
            }
            _ => return Ok(None),
        };
        if movement.lengths_vary_over(0).is_some() {
            return Ok(None);
        }
        let step = rows.max(columns).div_ceil(MOST);
        let (height, width) = (rows.div_ceil(step), columns.div_ceil(step));
        let byte = |index: &[usize]| Ok(source.text(index)?.parse().unwrap_or(0));
        let pixel = |row: usize, column: usize, moved: bool| {
            let channel = |at: usize| {
                let whole = [row * step, column * step, at];
                let index = &whole[..shape.len()];
                match moved {
                    true => byte(&movement.origin(index, shape, None)),
                    false => byte(index),
                }
            };
            Ok(match channels {
                0 | 1 => {
                    let grey = channel(0)?;
                    [grey, grey, grey, 255]
                }
                3 => [channel(0)?, channel(1)?, channel(2)?, 255],
                _ => [channel(0)?, channel(1)?, channel(2)?, channel(3)?],
            })
        };
        let image = |moved: bool| {
            let places = (0..height).flat_map(|row| (0..width).map(move |column| (row, column)));
            places.map(|(row, column)| pixel(row, column, moved)).collect::<Result<Vec<_>, _>>()
        };
        Ok(Some(Pixels { width, height, before: image(false)?, after: image(true)?, step }))
    }

    /// A note about what is left out.
    pub(crate) fn note(&self) -> Option<String> {
        let step = self.step;
        (step > 1).then(|| format!("one pixel of each {step} x {step}"))
    }

    /// Both images side by side as lines of text, within this many columns if they have room for eight
    /// pixels each.
    pub(crate) fn text(&self, columns: usize, paint: Paint<'_>, out: &mut String) {
        let room = (columns.saturating_sub("  ".len() + SPACE.len()) / 2).max(8);
        let width = match self.width {
            small if small < WIDE => small * (WIDE.min(room) / small).max(1),
            large => large,
        };
        let width = width.min(room);
        // A character is as high as two pixels.
        let height = (self.height * width / self.width).max(1);
        let title = paint(Role::Label, "before");
        let gap = " ".repeat(width.saturating_sub("before".len()));
        out.push_str(&format!("  {title}{gap}{SPACE}{}\n", paint(Role::Label, "after")));
        let lines = height.div_ceil(2);
        for line in 0..lines {
            let row = |image: &[Pixel]| {
                let cell = |column| {
                    let at = |row: usize| {
                        let place = row * self.height / height * self.width;
                        image[place + column * self.width / width]
                    };
                    let upper = at(2 * line);
                    let lower = if 2 * line + 1 < height { at(2 * line + 1) } else { [0; 4] };
                    half_block(upper, lower, paint)
                };
                (0..width).map(cell).collect::<String>()
            };
            let between = if line == (lines - 1) / 2 { ARROW } else { SPACE };
            let text = format!("  {}{between}{}", row(&self.before), row(&self.after));
            out.push_str(text.trim_end_matches(' '));
            out.push('\n');
        }
        if let Some(note) = self.note() {
            out.push_str(&format!("  {}\n", paint(Role::Label, &note)));
        }
    }

    /// The size of each image in a document: its pixels are squares.
    pub(crate) fn size(&self) -> (usize, usize) {
        let side = (LARGE / self.width.max(self.height)).max(1);
        (self.width * side, self.height * side)
    }

    /// Both images as URLs.
    pub(crate) fn urls(&self) -> [String; 2] {
        [&self.before, &self.after].map(|image| png::url(self.width, self.height, image))
    }
}

/// A character for two pixels, one above the other.
fn half_block(upper: Pixel, lower: Pixel, paint: Paint<'_>) -> String {
    let [above, below] = [upper, lower].map(opaque);
    let painted = paint(Role::Pixels { above, below }, "▀");
    if painted != "▀" {
        return painted;
    }
    // Without colours, by how bright both are.
    let bright = |[red, green, blue]: [u8; 3]| {
        (u32::from(red) * 299 + u32::from(green) * 587 + u32::from(blue) * 114) / 1000
    };
    let mean = (bright(above) + bright(below)) / 2;
    SHADES[mean as usize * SHADES.len() / 256].to_owned()
}

/// The colour on a black background.
fn opaque([red, green, blue, opacity]: Pixel) -> [u8; 3] {
    [red, green, blue].map(|part| (u16::from(part) * u16::from(opacity) / 255) as u8)
}
