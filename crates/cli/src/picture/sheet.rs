//! The grids of a picture as lines: the common width of their cells, then row by row.

use super::block::{Block, Cell, LENGTH, LengthsAt, PLAIN, Scene, TITLE, block};
use super::window::{self, Window};
use crate::elements;
use anstyle::Style;
use unicode_width::UnicodeWidthStr;

const INDENT: &str = "  ";
/// Between before and after: an arrow in the middle row, space in the others.
const ARROW: &str = "  →  ";
const SPACE: &str = "     ";

/// Where the grid of the output goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Arrangement {
    Beside,
    Below,
}

/// The grids, ready to be lined up.
pub(super) struct Sheet {
    /// `None` stands for grids that are left out.
    blocks: Vec<Option<Block>>,
    /// Widths of the columns of one grid.
    widths: Vec<usize>,
    /// Spaces between two columns.
    gap: usize,
    /// Width of the lengths at the left; zero if there are none.
    gutter: usize,
    /// Whether every row has a length.
    has_row_lengths: bool,
    is_text: bool,
}

impl Sheet {
    /// Every cell that this window of columns shows.
    pub(super) fn of(scene: &Scene<'_>, columns: &Window) -> Sheet {
        let shape = scene.before.shape();
        let (leading, grid) = shape.split_at(shape.len().saturating_sub(2));
        let rows = match grid {
            [rows, _] => window::rows(*rows),
            _ => window::all(1),
        };
        let at = LengthsAt::of(scene);
        // Not empty, so no product of sizes overflows.
        let block = |number: usize| {
            let lead = unravel(number, leading);
            block(scene, at, &lead, &rows, columns)
        };
        let shown = window::blocks(leading.iter().product());
        let blocks: Vec<_> = shown.into_iter().map(|number| number.map(block)).collect();

        let drawn = || blocks.iter().flatten();
        let cells = drawn().flat_map(|block| {
            let grids = block.rows.iter().flat_map(|row| row.before.iter().chain(&row.after));
            block.lengths.iter().chain(grids)
        });
        let width = cells.map(|cell| cell.text.width()).max().unwrap_or(1).max(1);
        let lengths = drawn().flat_map(|block| &block.rows).map(|row| row.length.width());
        let has_gutter = matches!(at, LengthsAt::Rows | LengthsAt::Columns);
        Sheet {
            widths: columns.iter().map(|column| column.map_or(1, |_| width)).collect(),
            gap: if width == 1 { 1 } else { 2 },
            gutter: if has_gutter { lengths.max().unwrap_or(0).max("len".len()) } else { 0 },
            has_row_lengths: at == LengthsAt::Rows,
            is_text: elements::is_text(scene.before.element_type()),
            blocks,
        }
    }

    /// Columns that the picture takes.
    pub(super) fn width(&self, arrangement: Arrangement) -> usize {
        let (before, after) = (self.column_width(), self.grid_width().max("after".len()));
        let margin = self.margin(PLAIN, "").width();
        match arrangement {
            Arrangement::Beside => margin + before + SPACE.len() + after,
            Arrangement::Below => margin + before,
        }
    }

    /// Appends the lines.
    pub(super) fn render(&self, arrangement: Arrangement, out: &mut String) {
        if arrangement == Arrangement::Beside {
            let before = self.padded_title("before");
            let label = if self.has_row_lengths { "len" } else { "" };
            let after = styled(TITLE, "after");
            line(out, &[&self.margin(LENGTH, label), &before, SPACE, &after]);
        }
        for (number, block) in self.blocks.iter().enumerate() {
            let Some(block) = block else {
                out.push_str(&format!("\n{INDENT}⋮\n"));
                continue;
            };
            if let Some(caption) = &block.caption {
                if number > 0 || arrangement == Arrangement::Beside {
                    out.push('\n');
                }
                line(out, &[INDENT, &styled(TITLE, caption)]);
            }
            match arrangement {
                Arrangement::Beside => self.render_beside(block, out),
                Arrangement::Below => self.render_below(block, out),
            }
        }
    }

    fn render_beside(&self, block: &Block, out: &mut String) {
        self.render_lengths(block, out);
        let middle = (block.rows.len() - 1) / 2;
        for (number, row) in block.rows.iter().enumerate() {
            let between = if number == middle { ARROW } else { SPACE };
            let margin = self.margin(LENGTH, &row.length);
            let before = self.cells(&row.before, self.column_width());
            line(out, &[&margin, &before, between, &self.cells(&row.after, 0)]);
        }
    }

    fn render_below(&self, block: &Block, out: &mut String) {
        let label = if self.has_row_lengths { "len" } else { "" };
        line(out, &[&self.margin(LENGTH, label), &styled(TITLE, "before")]);
        self.render_lengths(block, out);
        for row in &block.rows {
            line(out, &[&self.margin(LENGTH, &row.length), &self.cells(&row.before, 0)]);
        }
        line(out, &[&self.margin(PLAIN, ""), &styled(TITLE, "after")]);
        for row in &block.rows {
            line(out, &[&self.margin(PLAIN, ""), &self.cells(&row.after, 0)]);
        }
    }

    fn render_lengths(&self, block: &Block, out: &mut String) {
        if !block.lengths.is_empty() {
            line(out, &[&self.margin(LENGTH, "len"), &self.cells(&block.lengths, 0)]);
        }
    }

    fn grid_width(&self) -> usize {
        self.widths.iter().sum::<usize>() + self.gap * self.widths.len().saturating_sub(1)
    }

    /// The grid's width, or its title's if that is wider.
    fn column_width(&self) -> usize {
        self.grid_width().max("before".len())
    }

    fn padded_title(&self, title: &str) -> String {
        let spaces = self.column_width().saturating_sub(title.width());
        styled(TITLE, title) + &" ".repeat(spaces)
    }

    /// What stands left of a grid.
    fn margin(&self, style: Style, text: &str) -> String {
        if self.gutter == 0 {
            return INDENT.to_owned();
        }
        let spaces = " ".repeat(self.gutter.saturating_sub(text.width()));
        format!("{INDENT}{spaces}{}  ", styled(style, text))
    }

    /// One row of a grid, filled up to `least` columns.
    fn cells(&self, cells: &[Cell], least: usize) -> String {
        let mut row = String::new();
        for (number, (cell, width)) in cells.iter().zip(&self.widths).enumerate() {
            let spaces = " ".repeat(width.saturating_sub(cell.text.width()));
            let gap = " ".repeat(if number == 0 { 0 } else { self.gap });
            let text = styled(cell.style, &cell.text);
            row.push_str(&gap);
            row.push_str(&if self.is_text { text + &spaces } else { spaces + &text });
        }
        row + &" ".repeat(least.saturating_sub(self.grid_width()))
    }
}

fn styled(style: Style, text: &str) -> String {
    if text.is_empty() { String::new() } else { format!("{style}{text}{style:#}") }
}

/// One line, without trailing spaces.
fn line(out: &mut String, parts: &[&str]) {
    parts.iter().for_each(|part| out.push_str(part));
    out.truncate(out.trim_end_matches(' ').len());
    out.push('\n');
}

/// The index of the `number`-th element in row-major order.
pub(super) fn unravel(mut number: usize, shape: &[usize]) -> Vec<usize> {
    let mut index = vec![0; shape.len()];
    for (at, &size) in index.iter_mut().zip(shape).rev() {
        *at = number % size.max(1);
        number /= size.max(1);
    }
    index
}
