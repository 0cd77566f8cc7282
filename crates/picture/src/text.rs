//! The picture as lines of text: the common width of the cells, then row by row.

use crate::scene::{Block, Cell, Kind, LengthsAt, Scene};
use unicode_width::UnicodeWidthStr;

const INDENT: &str = "  ";
/// Between before and after: an arrow in the middle row, space in the others.
const ARROW: &str = "  →  ";
const SPACE: &str = "     ";

/// What a piece of the text is, for colours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// The operator's name.
    Operator,
    /// What says something about the elements, or stands for those left out.
    Label,
    /// A length.
    Length,
    /// An element that stayed.
    Plain,
    /// An element that came from elsewhere.
    Moved,
    /// An element beyond its length.
    Padding,
}

/// Text without colours.
pub fn plain(_: Role, text: &str) -> String {
    text.to_owned()
}

/// Gives a piece of text its colours; they take no columns.
type Paint<'a> = &'a dyn Fn(Role, &str) -> String;

impl Scene {
    /// The picture within this many columns if possible, before and after beside each other if that
    /// is, as lines that end.
    pub fn text(&self, columns: usize, paint: Paint<'_>) -> String {
        let operator = paint(Role::Operator, self.operator);
        let mut out = format!("{operator}  {}\n\n", self.subject);
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
        // Maybe nothing fits, not even two columns: better wrapped than not shown.
        Sheet::of(narrowest.as_ref().unwrap_or(self), paint).below(&mut out);
        out
    }
}

/// The grids, ready to be lined up.
struct Sheet<'a> {
    scene: &'a Scene,
    paint: Paint<'a>,
    /// Widths of the columns of one grid.
    widths: Vec<usize>,
    /// Spaces between two columns.
    gap: usize,
    /// Width of the lengths at the left; zero if there are none.
    gutter: usize,
    /// What stands above them.
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

    /// Columns that the picture takes: beside each other, and one below the other.
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

    /// The block, with its caption written; none if some are left out here, which is written too.
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

    /// The grid's width, or its title's if that is wider.
    fn column_width(&self) -> usize {
        self.grid_width().max("before".len())
    }

    /// What stands left of a grid.
    fn margin(&self, role: Role, text: &str) -> String {
        if self.gutter == 0 {
            return INDENT.to_owned();
        }
        let spaces = " ".repeat(self.gutter.saturating_sub(text.width()));
        format!("{INDENT}{spaces}{}  ", self.paint(role, text))
    }

    fn cells(&self, cells: &[Cell]) -> String {
        let role = |cell: &Cell| match cell.kind {
            Kind::Plain => Role::Plain,
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

/// One line, without trailing spaces.
fn line(out: &mut String, parts: &[&str]) {
    parts.iter().for_each(|part| out.push_str(part));
    out.truncate(out.trim_end_matches(' ').len());
    out.push('\n');
}
