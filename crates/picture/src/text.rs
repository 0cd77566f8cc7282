//! Renders the picture as lines of text. All cells have the same width.

use crate::paint::{Paint, Role};
use crate::scene::{Block, Cell, Kind, LengthsAt, Scene};
use unicode_width::UnicodeWidthStr;

const INDENT: &str = "  ";
/// The separator between the two grids: an arrow in the middle row, spaces in the others.
const ARROW: &str = "  →  ";
const SPACE: &str = "     ";

impl Scene {
    /// The picture as text, within this many columns if possible. The grids are side by side if
    /// they fit, otherwise one below the other. Every line ends with a newline.
    pub fn text(&self, columns: usize, paint: Paint<'_>) -> String {
        let operator = paint(Role::Operator, self.operator);
        let mut out = format!("{operator}  {}\n\n", self.subject);
        if let Some(pixels) = &self.pixels {
            pixels.text(columns, paint, &mut out);
            return out;
        }
        if self.blocks.is_empty() {
            out.push_str("  (no elements)\n");
            return out;
        }
        let mut narrowest = None;
        for scene in self.candidates() {
            let [beside, below] = Sheet::of(&scene, paint).widths();
            if beside <= columns {
                Sheet::of(&scene, paint).beside(&mut out);
                return out;
            }
            narrowest = Some(scene);
            if below <= columns {
                break;
            }
        }
        // If even the narrowest version does not fit, print it anyway and let the terminal wrap it.
        Sheet::of(narrowest.as_ref().unwrap_or(self), paint).below(&mut out);
        out
    }
}

/// The scene with the column widths for text output.
struct Sheet<'a> {
    scene: &'a Scene,
    paint: Paint<'a>,
    /// The widths of the columns of one grid.
    widths: Vec<usize>,
    /// The number of spaces between two columns.
    gap: usize,
    /// The width of the lengths at the left; 0 if there are none.
    gutter: usize,
    /// The label above the lengths.
    label: &'static str,
}

impl<'a> Sheet<'a> {
    fn of(scene: &'a Scene, paint: Paint<'a>) -> Sheet<'a> {
        let width = scene.cell_width();
        let has_gutter = matches!(scene.lengths_at, LengthsAt::Rows | LengthsAt::Columns);
        Sheet {
            scene,
            paint,
            widths: scene.columns.iter().map(|column| column.map_or(1, |_| width)).collect(),
            gap: if width == 1 { 1 } else { 2 },
            gutter: if has_gutter { scene.length_width().max("len".len()) } else { 0 },
            label: if scene.lengths_at == LengthsAt::Rows { "len" } else { "" },
        }
    }

    /// The width of the picture with the grids side by side, and with one below the other.
    fn widths(&self) -> [usize; 2] {
        let below = self.margin(Role::Plain, "").width() + self.column_width();
        [below + SPACE.len() + self.grid_width().max("after".len()), below]
    }

    fn beside(&self, out: &mut String) {
        let before = self.paint(Role::Label, "before");
        let before = before + &" ".repeat(self.column_width().saturating_sub("before".len()));
        let after = self.paint(Role::Label, "after");
        line(out, &[&self.margin(Role::Length, self.label), &before, SPACE, &after]);
        for block in &self.scene.blocks {
            let Some(block) = self.captioned(block, true, out) else { continue };
            self.lengths(block, out);
            let middle = (block.rows.len() - 1) / 2;
            for (number, row) in block.rows.iter().enumerate() {
                let between = if number == middle { ARROW } else { SPACE };
                let margin = self.margin(Role::Length, &row.length);
                let before = self.cells(&row.before);
                let rest = " ".repeat(self.column_width() - self.grid_width());
                line(out, &[&margin, &before, &rest, between, &self.cells(&row.after)]);
            }
        }
    }

    fn below(&self, out: &mut String) {
        for (number, block) in self.scene.blocks.iter().enumerate() {
            let Some(block) = self.captioned(block, number > 0, out) else { continue };
            let before = self.paint(Role::Label, "before");
            line(out, &[&self.margin(Role::Length, self.label), &before]);
            self.lengths(block, out);
            for row in &block.rows {
                let margin = self.margin(Role::Length, &row.length);
                line(out, &[&margin, &self.cells(&row.before)]);
            }
            let margin = self.margin(Role::Plain, "");
            line(out, &[&margin, &self.paint(Role::Label, "after")]);
            for row in &block.rows {
                line(out, &[&margin, &self.cells(&row.after)]);
            }
        }
    }

    /// Writes the caption of a block and returns the block. For blocks that are not shown, writes a
    /// mark and returns `None`.
    fn captioned<'b>(
        &self,
        block: &'b Option<Block>,
        apart: bool,
        out: &mut String,
    ) -> Option<&'b Block> {
        let Some(block) = block else {
            out.push_str(&format!("\n{INDENT}⋮\n"));
            return None;
        };
        if let Some(caption) = &block.caption {
            if apart {
                out.push('\n');
            }
            line(out, &[INDENT, &self.paint(Role::Label, caption)]);
        }
        Some(block)
    }

    fn lengths(&self, block: &Block, out: &mut String) {
        if !block.lengths.is_empty() {
            let lengths = self.row(block.lengths.iter().map(|length| (Role::Length, &length[..])));
            line(out, &[&self.margin(Role::Length, "len"), &lengths]);
        }
    }

    fn grid_width(&self) -> usize {
        self.widths.iter().sum::<usize>() + self.gap * self.widths.len().saturating_sub(1)
    }

    /// The width of the grid or of its title, whichever is wider.
    fn column_width(&self) -> usize {
        self.grid_width().max("before".len())
    }

    /// The margin to the left of a grid.
    fn margin(&self, role: Role, text: &str) -> String {
        if self.gutter == 0 {
            return INDENT.to_owned();
        }
        let spaces = " ".repeat(self.gutter.saturating_sub(text.width()));
        format!("{INDENT}{spaces}{}  ", self.paint(role, text))
    }

    fn cells(&self, cells: &[Cell]) -> String {
        let role = |cell: &Cell| match cell.kind {
            Kind::Plain | Kind::Blank => Role::Plain,
            Kind::Moved(_) => Role::Moved,
            Kind::Padding => Role::Padding,
            Kind::LeftOut => Role::Label,
        };
        self.row(cells.iter().map(|cell| (role(cell), &cell.text[..])))
    }

    /// One row of a grid.
    fn row<'t>(&self, texts: impl Iterator<Item = (Role, &'t str)>) -> String {
        let mut row = String::new();
        for (number, ((role, text), width)) in texts.zip(&self.widths).enumerate() {
            let spaces = " ".repeat(width.saturating_sub(text.width()));
            let text = self.paint(role, text);
            row.push_str(&" ".repeat(if number == 0 { 0 } else { self.gap }));
            row.push_str(&if self.scene.is_text { text + &spaces } else { spaces + &text });
        }
        row
    }

    fn paint(&self, role: Role, text: &str) -> String {
        if text.is_empty() { String::new() } else { (self.paint)(role, text) }
    }
}

/// Writes one line without trailing spaces.
fn line(out: &mut String, parts: &[&str]) {
    parts.iter().for_each(|part| out.push_str(part));
    out.truncate(out.trim_end_matches(' ').len());
    out.push('\n');
}
