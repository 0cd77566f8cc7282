//! The picture as an SVG image, for documents: every element a box, what moved in colour.

use super::block::{Block, Cell, LENGTH, LengthsAt, MOVED, PADDING, Scene, TITLE, block};
use super::sheet::unravel;
use super::window;
use std::fmt::Write;
use unicode_width::UnicodeWidthStr;

const CHARACTER: usize = 8;
const HEIGHT: usize = 26;
const GAP: usize = 4;
const MARGIN: usize = 16;
const BETWEEN: usize = 48;

/// Everything that text needs to look like text and boxes like boxes.
const STYLE: &str = "text{font:14px ui-monospace,Menlo,Consolas,monospace;fill:#1f2328}\
.t{font-weight:600}.d{fill:#6e7781}.l{fill:#9a6700;text-anchor:end}\
.c{text-anchor:middle}.p{fill:#afb8c1}rect{fill:#eaeef2}.m{fill:#a5d6ff}.x{fill:#f6f8fa}.b{fill:#ffffff}";

/// Where the next thing goes.
struct Image {
    body: String,
    width: usize,
    y: usize,
}

/// Draws it.
pub(super) fn draw(title: &str, scene: &Scene<'_>) -> String {
    let mut image = Image { body: String::new(), width: 0, y: MARGIN };
    image.text(MARGIN, "t", title);
    image.width = MARGIN + title.width() * (CHARACTER + 1);
    image.y += HEIGHT + GAP;
    if scene.before.layout().is_empty() {
        image.text(MARGIN, "d", "(no elements)");
        image.y += HEIGHT;
    } else {
        image.blocks(scene);
    }
    let (width, height) = (image.width + MARGIN, image.y + MARGIN);
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" \
         width=\"{width}\" height=\"{height}\">\n<style>{STYLE}</style>\n\
         <rect class=\"b\" width=\"{width}\" height=\"{height}\"/>\n{}</svg>\n",
        image.body
    )
}

impl Image {
    fn blocks(&mut self, scene: &Scene<'_>) {
        let shape = scene.before.shape();
        let (leading, grid) = shape.split_at(shape.len().saturating_sub(2));
        let rows = match grid {
            [rows, _] => window::rows(*rows),
            _ => window::all(1),
        };
        let width = shape.last().copied().unwrap_or(1);
        let columns = window::candidates(width).next().unwrap_or_else(|| window::all(width));
        let at = LengthsAt::of(scene);
        let shown = window::blocks(leading.iter().product());
        let blocks: Vec<Option<Block>> = shown
            .into_iter()
            .map(|number| {
                number.map(|number| block(scene, at, &unravel(number, leading), &rows, &columns))
            })
            .collect();
        let drawn = || blocks.iter().flatten();
        let widest = |cells: &mut dyn Iterator<Item = &Cell>| {
            cells.map(|cell| cell.text.width()).max().unwrap_or(1)
        };
        let cells = widest(&mut drawn().flat_map(|block| {
            block.rows.iter().flat_map(|row| row.before.iter().chain(&row.after))
        }));
        let cell = (cells * (CHARACTER + 1) + 10).max(HEIGHT);
        let lengths = drawn().flat_map(|block| &block.rows).map(|row| row.length.width()).max();
        let has_columns = drawn().any(|block| !block.lengths.is_empty());
        let gutter = match lengths.unwrap_or(0).max(if has_columns { 3 } else { 0 }) {
            0 => 0,
            digits => digits.max(3) * (CHARACTER + 1) + 10,
        };
        let grid = columns.len() * (cell + GAP) - GAP;
        let before = MARGIN + gutter;
        let after = before + grid + BETWEEN;
        self.width = self.width.max(after + grid);
        self.text(before, "d", "before");
        self.text(after, "d", "after");
        self.y += HEIGHT;
        for block in &blocks {
            let Some(block) = block else {
                self.text(MARGIN, "d", "⋮");
                self.y += HEIGHT;
                continue;
            };
            self.block(block, [before, after], cell, grid);
        }
    }

    fn block(&mut self, block: &Block, [before, after]: [usize; 2], cell: usize, grid: usize) {
        if let Some(caption) = &block.caption {
            self.text(MARGIN, "d", caption);
            self.y += HEIGHT;
        }
        if !block.lengths.is_empty() {
            self.text(before - 10, "l", "len");
            for (number, length) in block.lengths.iter().enumerate() {
                let x = before + number * (cell + GAP) + cell / 2;
                self.text(x, "l c", &length.text);
            }
            self.y += HEIGHT;
        }
        let middle = self.y + block.rows.len() * (HEIGHT + GAP) / 2;
        for row in &block.rows {
            if !row.length.is_empty() {
                self.text(before - 10, "l", &row.length);
            }
            for (start, cells) in [(before, &row.before), (after, &row.after)] {
                for (number, one) in cells.iter().enumerate() {
                    self.cell(start + number * (cell + GAP), cell, one);
                }
            }
            self.y += HEIGHT + GAP;
        }
        let y = std::mem::replace(&mut self.y, middle - HEIGHT / 2);
        self.text(before + grid + BETWEEN / 2, "c", "→");
        self.y = y + GAP;
    }

    fn cell(&mut self, x: usize, width: usize, cell: &Cell) {
        let (shape, text) = match cell.style {
            style if style == MOVED => ("m", "c"),
            style if style == PADDING || style == LENGTH => ("x", "c p"),
            _ => ("", "c"),
        };
        // What is left out has no box. Its style is that of titles, which padding shares, so the
        // mark decides.
        let left_out = cell.style == TITLE && matches!(cell.text.as_str(), "…" | "⋮" | "⋱");
        if !left_out {
            let y = self.y;
            let _ = writeln!(
                self.body,
                "<rect class=\"{shape}\" x=\"{x}\" y=\"{y}\" width=\"{width}\" \
                 height=\"{HEIGHT}\" rx=\"4\"/>"
            );
        }
        self.text(x + width / 2, text, &cell.text);
    }

    fn text(&mut self, x: usize, class: &str, text: &str) {
        let (y, text) = (self.y + HEIGHT * 2 / 3, escaped(text));
        // Writing to a string does not fail.
        let _ = writeln!(self.body, "<text class=\"{class}\" x=\"{x}\" y=\"{y}\">{text}</text>");
    }
}

/// The text as XML has it.
fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            // XML has no place for these, not even escaped.
            '\u{0}'..='\u{1f}' | '\u{fffe}' | '\u{ffff}' => safe.push('\u{fffd}'),
            other => safe.push(other),
        }
    }
    safe
}
