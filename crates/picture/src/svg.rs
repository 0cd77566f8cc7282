//! Renders the picture as an SVG image: a box for each element, with moved elements in colour.

use crate::markup::escaped;
use crate::pixels::Pixels;
use crate::scene::{Block, Cell, Kind, Scene};
use std::fmt::Write;
use unicode_width::UnicodeWidthStr;

const CHARACTER: usize = 9;
const HEIGHT: usize = 26;
const GAP: usize = 4;
const MARGIN: usize = 16;
const BETWEEN: usize = 48;

/// All rules are scoped to one class, so they do not affect a page that embeds the image.
const STYLE: &str = "\
.retrograde text{font:14px ui-monospace,Menlo,Consolas,monospace;fill:#1f2328;white-space:pre}
.retrograde .background{fill:#ffffff}
.retrograde .title{font-weight:600}.retrograde .quiet{fill:#59636e}
.retrograde .length{fill:#7d4e00;text-anchor:end}.retrograde .middle{text-anchor:middle}
.retrograde rect{fill:#e6eaef}
.retrograde .moved rect{fill:#a5d6ff}.retrograde .moved text{font-weight:600}
.retrograde .padding rect{fill:#f6f8fa}.retrograde .padding text{fill:#818b98}
@media(prefers-color-scheme:dark){
.retrograde text{fill:#e6edf3}.retrograde .background{fill:#0d1117}
.retrograde .quiet{fill:#9198a1}.retrograde .length{fill:#e3b341}
.retrograde rect{fill:#2a313c}
.retrograde .moved rect{fill:#0b4a8f}
.retrograde .padding rect{fill:#161b22}.retrograde .padding text{fill:#767e89}
}";

impl Scene {
    /// The picture as an SVG image, in light or dark colours according to the viewer's settings.
    pub fn svg(&self) -> String {
        let title = self.title();
        let mut image = Image { body: String::new(), width: 0, y: MARGIN };
        image.text(MARGIN, "title", &title);
        image.width = MARGIN + title.width() * CHARACTER;
        image.y += HEIGHT + GAP;
        if let Some(pixels) = &self.pixels {
            image.pixels(pixels);
        } else if self.blocks.is_empty() {
            image.text(MARGIN, "quiet", "(no elements)");
            image.y += HEIGHT;
        } else {
            image.blocks(self);
        }
        let (width, height) = (image.width + MARGIN, image.y + MARGIN);
        let (title, description) = (escaped(&title), escaped(&self.description()));
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"retrograde\" role=\"img\" \
             width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\">\n\
             <title>{title}</title>\n<desc>{description}</desc>\n<style>{STYLE}</style>\n\
             <rect class=\"background\" width=\"{width}\" height=\"{height}\"/>\n{}</svg>\n",
            image.body
        )
    }
}

/// The image so far, and the position of the next item.
struct Image {
    body: String,
    width: usize,
    y: usize,
}

/// The horizontal positions and widths of the grids.
struct Places {
    before: usize,
    after: usize,
    /// The width of a cell; `grid` is the width of a grid.
    cell: usize,
    grid: usize,
}

impl Image {
    fn blocks(&mut self, scene: &Scene) {
        let cell = (scene.cell_width() * CHARACTER + 10).max(HEIGHT);
        let digits = scene.length_width();
        let has_gutter = digits > 0 || scene.drawn().any(|block| !block.lengths.is_empty());
        let gutter = if has_gutter { digits.max("len".len()) * CHARACTER + 10 } else { 0 };
        let grid = scene.columns.len() * (cell + GAP) - GAP;
        let before = MARGIN + gutter;
        let after = before + grid + BETWEEN;
        self.width = self.width.max(after + grid.max("after".len() * CHARACTER));
        if digits > 0 {
            self.text(before - 10, "length", "len");
        }
        self.text(before, "quiet", "before");
        self.text(after, "quiet", "after");
        self.y += HEIGHT;
        let places = Places { before, after, cell, grid };
        for block in &scene.blocks {
            match block {
                Some(block) => self.block(block, &places),
                None => {
                    self.text(MARGIN, "quiet", "⋮");
                    self.y += HEIGHT;
                }
            }
        }
    }

    /// Both images, with the arrow between them.
    fn pixels(&mut self, pixels: &Pixels) {
        let [(wide, high), (width, height)] = pixels.sizes();
        let after = MARGIN + wide.max("before".len() * CHARACTER) + BETWEEN;
        self.width = self.width.max(after + width.max("after".len() * CHARACTER));
        self.text(MARGIN, "quiet", "before");
        self.text(after, "quiet", "after");
        self.y += HEIGHT;
        let y = self.y;
        let places = [(MARGIN, wide, high), (after, width, height)];
        for ((x, width, height), url) in places.into_iter().zip(pixels.urls()) {
            self.line(&format!(
                "<image x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\" \
                 style=\"image-rendering:pixelated\" href=\"{url}\"/>"
            ));
        }
        let height = height.max(high);
        self.y = y + (height / 2).saturating_sub(HEIGHT / 2);
        self.text(after - BETWEEN / 2, "middle", "→");
        self.y = y + height + GAP;
        if let Some(note) = pixels.note() {
            self.text(MARGIN, "quiet", &note);
            self.y += HEIGHT;
        }
    }

    fn block(&mut self, block: &Block, places: &Places) {
        let &Places { before, after, cell, grid } = places;
        if let Some(caption) = &block.caption {
            self.text(MARGIN, "quiet", caption);
            self.y += HEIGHT;
        }
        if !block.lengths.is_empty() {
            self.text(before - 10, "length", "len");
            for (number, length) in block.lengths.iter().enumerate() {
                self.text(before + number * (cell + GAP) + cell / 2, "length middle", length);
            }
            self.y += HEIGHT;
        }
        let top = self.y;
        for row in &block.rows {
            if !row.length.is_empty() {
                self.text(before - 10, "length", &row.length);
            }
            for (start, cells) in [(before, &row.before), (after, &row.after)] {
                for (number, one) in cells.iter().enumerate() {
                    self.cell(start + number * (cell + GAP), cell, one);
                }
            }
            self.y += HEIGHT + GAP;
        }
        let bottom = self.y;
        self.y = (top + bottom - GAP - HEIGHT) / 2;
        self.text(before + grid + BETWEEN / 2, "middle", "→");
        self.y = bottom + GAP;
    }

    fn cell(&mut self, x: usize, width: usize, cell: &Cell) {
        let (class, origin) = match &cell.kind {
            // A mark for elements that are not shown has no box.
            Kind::Blank => return,
            Kind::LeftOut => return self.text(x + width / 2, "quiet middle", &cell.text),
            Kind::Plain => ("", String::new()),
            Kind::Padding => (" class=\"padding\"", String::new()),
            Kind::Moved(origin) => (" class=\"moved\"", format!("<title>from {origin:?}</title>")),
        };
        let y = self.y;
        self.line(&format!(
            "<g{class}>{origin}<rect x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{HEIGHT}\" rx=\"4\"/>"
        ));
        self.text(x + width / 2, "middle", &cell.text);
        self.body.truncate(self.body.len() - 1);
        self.line("</g>");
    }

    fn text(&mut self, x: usize, class: &str, text: &str) {
        let (y, text) = (self.y + HEIGHT * 2 / 3, escaped(text));
        self.line(&format!("<text class=\"{class}\" x=\"{x}\" y=\"{y}\">{text}</text>"));
    }

    fn line(&mut self, line: &str) {
        // Writing to a string cannot fail.
        let _ = writeln!(self.body, "{line}");
    }
}
