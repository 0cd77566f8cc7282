//! The cells of one grid: what each says and how it is coloured.

use super::window::Window;
use crate::elements;
use crate::task::{Lanes, Task};
use anstyle::{AnsiColor, Style};
use retrograde_io::Tensor;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

pub(super) const PLAIN: Style = Style::new();
pub(super) const LENGTH: Style = AnsiColor::Yellow.on_default();
pub(super) const TITLE: Style = Style::new().dimmed();
pub(super) const MOVED: Style = AnsiColor::Cyan.on_default().bold();
pub(super) const PADDING: Style = Style::new().dimmed();
/// Longer elements are cut.
const WIDEST_CELL: usize = 24;

/// What is to be shown.
#[derive(Clone, Copy)]
pub(super) struct Scene<'a> {
    pub(super) before: &'a Tensor,
    pub(super) task: &'a Task,
}

impl Scene<'_> {
    pub(super) fn lanes(&self) -> Option<Lanes<'_>> {
        self.task.lanes()
    }
}

/// One element, or a mark for some that are left out.
pub(super) struct Cell {
    pub(super) text: String,
    pub(super) style: Style,
}

/// One row of both grids, with its length if it has one.
pub(super) struct Row {
    pub(super) length: String,
    pub(super) before: Vec<Cell>,
    pub(super) after: Vec<Cell>,
}

/// One grid before and after.
pub(super) struct Block {
    /// The index of the leading axes, if there are any.
    pub(super) caption: Option<String>,
    /// The lengths of the columns, if they differ by column.
    pub(super) lengths: Vec<Cell>,
    pub(super) rows: Vec<Row>,
}

/// How lengths can be shown: by row or by column if they vary over only one of the two.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LengthsAt {
    Nowhere,
    Caption,
    Rows,
    Columns,
}

impl LengthsAt {
    pub(super) fn of(scene: &Scene<'_>) -> LengthsAt {
        let Some(lanes) = &scene.lanes() else { return LengthsAt::Nowhere };
        let rank = scene.before.shape().len();
        let (by_row, by_column) =
            (rank >= 2 && lanes.vary_over(rank - 2), rank >= 1 && lanes.vary_over(rank - 1));
        match (by_row, by_column) {
            (true, true) => LengthsAt::Nowhere,
            (true, false) => LengthsAt::Rows,
            (false, true) => LengthsAt::Columns,
            // One length for the whole grid; a single row may as well carry it.
            (false, false) if rank < 2 => LengthsAt::Rows,
            (false, false) => LengthsAt::Caption,
        }
    }
}

/// The cells of one grid.
pub(super) fn block(
    scene: &Scene<'_>,
    at: LengthsAt,
    lead: &[usize],
    rows: &Window,
    columns: &Window,
) -> Block {
    let rank = scene.before.shape().len();
    let index = |row: usize, column: usize| {
        let mut index = lead.to_vec();
        // A tensor of one axis has no rows, a scalar no columns either.
        index.extend(&[row, column][2 - rank.min(2)..]);
        index
    };
    let length = |row, column| {
        let length = scene.lanes().map(|lanes| lanes.length(&index(row, column)));
        length.map_or(String::new(), |length| length.to_string())
    };
    let caption = (rank > 2).then(|| {
        let lead: Vec<_> = lead.iter().map(usize::to_string).collect();
        let length = if at == LengthsAt::Caption {
            format!("  len {}", length(0, 0))
        } else {
            String::new()
        };
        format!("[{}, :, :]{length}", lead.join(", "))
    });
    let lengths = columns.iter().filter(|_| at == LengthsAt::Columns).map(|column| Cell {
        text: column.map_or("…".to_owned(), |column| length(0, column)),
        style: LENGTH,
    });
    let row = |row: &Option<usize>| {
        let cells = |cell: &dyn Fn(&[usize]) -> Cell| {
            let cell = |column: &Option<usize>| match (*row, *column) {
                (Some(row), Some(column)) => cell(&index(row, column)),
                (Some(_), None) => left_out("…"),
                (None, Some(_)) => left_out("⋮"),
                (None, None) => left_out("⋱"),
            };
            columns.iter().map(cell).collect()
        };
        Row {
            length: match row {
                Some(row) if at == LengthsAt::Rows => length(*row, 0),
                None if at == LengthsAt::Rows => "⋮".to_owned(),
                _ => String::new(),
            },
            before: cells(&|index| cell(scene, index, index)),
            after: cells(&|index| {
                cell(scene, index, &scene.task.origin(index, scene.before.shape()))
            }),
        }
    };
    Block { caption, lengths: lengths.collect(), rows: rows.iter().map(row).collect() }
}

/// What lies at an index, having come from another one or not.
fn cell(scene: &Scene<'_>, index: &[usize], origin: &[usize]) -> Cell {
    let style = if scene.lanes().is_some_and(|lanes| lanes.is_padding(index)) {
        PADDING
    } else if origin != index {
        MOVED
    } else {
        PLAIN
    };
    let bytes = scene.before.element(origin).unwrap_or_default();
    Cell { text: clipped(elements::text(scene.before.element_type(), &bytes)), style }
}

fn left_out(mark: &str) -> Cell {
    Cell { text: mark.to_owned(), style: TITLE }
}

/// The text, cut to what a cell may hold.
fn clipped(text: String) -> String {
    if text.width() <= WIDEST_CELL {
        return text;
    }
    let mut width = 1;
    let fits = |character: &char| {
        width += character.width().unwrap_or(0);
        width <= WIDEST_CELL
    };
    let mut short: String = text.chars().take_while(fits).collect();
    short.push('…');
    short
}
