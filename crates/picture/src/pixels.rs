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
    /// Before and after.
    images: [Image; 2],
    /// The side of the squares of which one pixel is shown.
    step: usize,
}

/// An image of so many pixels.
#[derive(Debug, Clone)]
struct Image {
    width: usize,
    height: usize,
    pixels: Vec<Pixel>,
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
        let byte = |text: Result<String, _>| Ok(text?.parse().unwrap_or(0));
        let pixel = |row: usize, column: usize, moved: bool| {
            let channel = |at: usize| {
                let whole = [row * step, column * step, at];
                let index = &whole[..shape.len()];
                byte(match moved {
                    true if source.stays(index) => source.text(index),
                    true => source.result(index, &movement.origin(index, shape, None)),
                    false => source.text(index),
                })
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
        let result = movement.result_shape(shape);
        if result[2..] != shape[2..] {
            // Channels became rows or columns.
            return Ok(None);
        }
        let image = |moved: bool| {
            let shape = if moved { &result[..] } else { shape };
            let (height, width) = (shape[0].div_ceil(step), shape[1].div_ceil(step));
            let places = (0..height).flat_map(|row| (0..width).map(move |column| (row, column)));
            let pixels = places.map(|(row, column)| pixel(row, column, moved));
            Ok(Image { width, height, pixels: pixels.collect::<Result<_, _>>()? })
        };
        Ok(Some(Pixels { images: [image(false)?, image(true)?], step }))
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
        let [before, after] = &self.images;
        let widest = before.width.max(after.width);
        let width = match widest {
            small if small < WIDE => small * (WIDE.min(room) / small).max(1),
            large => large,
        };
        let width = width.min(room);
        let title = paint(Role::Label, "before");
        let gap = " ".repeat(width.saturating_sub("before".len()));
        out.push_str(&format!("  {title}{gap}{SPACE}{}\n", paint(Role::Label, "after")));
        // A character is as high as two pixels.
        let scaled = |size: usize| (size * width / widest).max(1);
        let lines = scaled(before.height.max(after.height)).div_ceil(2);
        for line in 0..lines {
            let row = |image: &Image| {
                let (wide, high) = (scaled(image.width), scaled(image.height));
                if 2 * line >= high {
                    return " ".repeat(width);
                }
                let cell = |column| {
                    let at = |row: usize| {
                        let place = row * image.height / high * image.width;
                        image.pixels[place + column * image.width / wide]
                    };
                    let upper = at(2 * line);
                    let lower = if 2 * line + 1 < high { at(2 * line + 1) } else { [0; 4] };
                    half_block(upper, lower, paint)
                };
                (0..wide).map(cell).collect::<String>() + &" ".repeat(width - wide)
            };
            let between = if line == (lines - 1) / 2 { ARROW } else { SPACE };
            let text = format!("  {}{between}{}", row(before), row(after));
            out.push_str(text.trim_end_matches(' '));
            out.push('\n');
        }
        if let Some(note) = self.note() {
            out.push_str(&format!("  {}\n", paint(Role::Label, &note)));
        }
    }

    /// The sizes of both images in a document: their pixels are squares.
    pub(crate) fn sizes(&self) -> [(usize, usize); 2] {
        let sides = self.images.iter().map(|image| image.width.max(image.height));
        let side = (LARGE / sides.max().unwrap_or(1)).max(1);
        [0, 1].map(|at| (self.images[at].width * side, self.images[at].height * side))
    }

    /// Both images as URLs.
    pub(crate) fn urls(&self) -> [String; 2] {
        [0, 1].map(|at| {
            let Image { width, height, pixels } = &self.images[at];
            png::url(*width, *height, pixels)
        })
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
