//! The cells of a picture: the text of each, and whether it moved, stayed or is padding.

use crate::movement::Movement;
use crate::pixels::Pixels;
use crate::source::{Elements, Source};
use crate::window::{self, Window};
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// The maximum width of a cell in columns. Longer elements are truncated.
const WIDEST_CELL: usize = 24;

/// How a cell is drawn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Kind {
    Plain,
    /// An element that moved here from this index.
    Moved(Vec<usize>),
    Padding,
    /// No element: the other grid is larger.
    Blank,
    /// A mark for elements that are not shown.
    LeftOut,
}

/// One element, or a mark for elements that are not shown.
#[derive(Debug, Clone)]
pub(crate) struct Cell {
    pub(crate) text: String,
    pub(crate) kind: Kind,
}

impl Cell {
    fn left_out(mark: &str) -> Cell {
        Cell { text: mark.to_owned(), kind: Kind::LeftOut }
    }
}

/// One row of both grids, with its length if there is one.
#[derive(Debug, Clone)]
pub(crate) struct Row {
    pub(crate) length: String,
    pub(crate) before: Vec<Cell>,
    pub(crate) after: Vec<Cell>,
    /// The mark for columns that are not shown.
    mark: &'static str,
}

/// One grid, before and after the call.
#[derive(Debug, Clone)]
pub(crate) struct Block {
    /// The index of the leading axes, if there are any.
    pub(crate) caption: Option<String>,
    /// The lengths of the columns, if lengths vary by column.
    pub(crate) lengths: Vec<String>,
    pub(crate) rows: Vec<Row>,
}

/// Where lengths are shown: by row or by column, if they vary along only one of the two.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LengthsAt {
    Nowhere,
    Caption,
    Rows,
    Columns,
}

impl LengthsAt {
    fn of(movement: &Movement, rank: usize) -> LengthsAt {
        let by = |from_end| {
            rank >= from_end && movement.lengths_vary_over(rank - from_end) == Some(true)
        };
        match (by(2), by(1)) {
            _ if movement.lengths_vary_over(0).is_none() => LengthsAt::Nowhere,
            (true, true) => LengthsAt::Nowhere,
            (true, false) => LengthsAt::Rows,
            (false, true) => LengthsAt::Columns,
            // One length for the whole grid. A grid of one row shows it next to the row.
            (false, false) if rank < 2 => LengthsAt::Rows,
            (false, false) => LengthsAt::Caption,
        }
    }
}

/// The content of a picture. It stores the elements that are shown, not the tensor.
#[derive(Debug, Clone)]
pub struct Scene {
    pub(crate) operator: &'static str,
    /// The tensor and the axes, for the headline.
    pub(crate) subject: String,
    /// The grids; `None` stands for grids that are not shown. Empty if there are no elements.
    pub(crate) blocks: Vec<Option<Block>>,
    /// The columns of each grid that are shown.
    pub(crate) columns: Window,
    /// The number of columns of the tensor.
    size: usize,
    pub(crate) lengths_at: LengthsAt,
    /// Whether elements are text, which is left-aligned. Numbers are right-aligned.
    pub(crate) is_text: bool,
    /// The pixels of an image, instead of grids.
    pub(crate) pixels: Option<Pixels>,
}

impl Scene {
    /// Reads what a picture of a call on a tensor of this shape shows. `what` describes the tensor
    /// in the headline.
    pub fn of<S: Source>(
        source: &S,
        movement: &Movement,
        shape: &[usize],
        what: &str,
        elements: Elements,
    ) -> Result<Scene, S::Error> {
        let pixels = match elements {
            Elements::Bytes => Pixels::of(source, movement, shape)?,
            Elements::Numbers | Elements::Text => None,
        };
        // Of both grids, which have different sizes after a transpose.
        let result = movement.result_shape(shape);
        let sizes: Vec<_> = shape.iter().zip(&result).map(|(&one, &two)| one.max(two)).collect();
        let size = sizes.last().copied().unwrap_or(1);
        let columns = window::candidates(size).next().unwrap_or_else(|| window::all(size));
        let lengths_at = LengthsAt::of(movement, shape.len());
        let mut blocks = Vec::new();
        if !shape.contains(&0) && pixels.is_none() {
            let (leading, grid) = sizes.split_at(sizes.len().saturating_sub(2));
            let rows = match grid {
                [rows, _] => window::rows(*rows),
                _ => window::all(1),
            };
            // No size is 0, so the product of the sizes cannot overflow.
            for number in window::blocks(leading.iter().product()) {
                let block = number.map(|number| {
                    let lead = unravel(number, leading);
                    let result = &result;
                    View { source, movement, shape, result, at: lengths_at, lead }
                        .block(&rows, &columns)
                });
                blocks.push(block.transpose()?);
            }
        }
        let subject = format!("{what}  {}{}", movement.arguments(), source.note());
        let operator = movement.operator();
        let is_text = elements == Elements::Text;
        Ok(Scene { operator, subject, blocks, columns, size, lengths_at, is_text, pixels })
    }

    /// The headline.
    pub fn title(&self) -> String {
        format!("{}  {}", self.operator, self.subject)
    }

    /// A description of the picture for screen readers.
    pub(crate) fn description(&self) -> String {
        format!(
            "{} of {}: the tensor before, at the left, and after, at the right.",
            self.operator, self.subject
        )
    }

    /// The grids that are shown.
    pub(crate) fn drawn(&self) -> impl Iterator<Item = &Block> {
        self.blocks.iter().flatten()
    }

    /// The width of the widest element or length of a column.
    pub(crate) fn cell_width(&self) -> usize {
        let texts = self.drawn().flat_map(|block| {
            let rows = block.rows.iter().flat_map(|row| row.before.iter().chain(&row.after));
            block.lengths.iter().chain(rows.map(|cell| &cell.text))
        });
        texts.map(|text| text.width()).max().unwrap_or(1).max(1)
    }

    /// The width of the widest length of a row; 0 if rows have no lengths.
    pub(crate) fn length_width(&self) -> usize {
        let rows = self.drawn().flat_map(|block| &block.rows);
        rows.map(|row| row.length.width()).max().unwrap_or(0)
    }

    /// This scene with different numbers of columns, widest first.
    pub(crate) fn candidates(&self) -> impl Iterator<Item = Scene> {
        window::candidates(self.size).map(|columns| self.narrowed(columns))
    }

    /// This scene with a subset of its columns.
    fn narrowed(&self, columns: Window) -> Scene {
        let place = |column: usize| self.columns.iter().position(|one| *one == Some(column));
        let chosen: Vec<_> = columns.iter().map(|column| column.and_then(place)).collect();
        let cells = |cells: &[Cell], mark: &str| {
            let cell = |at: &Option<usize>| at.map_or(Cell::left_out(mark), |at| cells[at].clone());
            chosen.iter().map(cell).collect::<Vec<_>>()
        };
        let row = |row: &Row| Row {
            length: row.length.clone(),
            before: cells(&row.before, row.mark),
            after: cells(&row.after, row.mark),
            mark: row.mark,
        };
        let lengths = |all: &[String]| match all {
            [] => Vec::new(),
            all => {
                let one = |at: &Option<usize>| at.map_or("…".to_owned(), |at| all[at].clone());
                chosen.iter().map(one).collect()
            }
        };
        let block = |block: &Block| Block {
            caption: block.caption.clone(),
            lengths: lengths(&block.lengths),
            rows: block.rows.iter().map(row).collect(),
        };
        let blocks = self.blocks.iter().map(|one| one.as_ref().map(block)).collect();
        Scene { blocks, columns, subject: self.subject.clone(), pixels: None, ..*self }
    }
}

/// One grid of a call.
struct View<'a, S> {
    source: &'a S,
    movement: &'a Movement,
    shape: &'a [usize],
    /// The shape of the result.
    result: &'a [usize],
    at: LengthsAt,
    /// The index of the leading axes.
    lead: Vec<usize>,
}

impl<S: Source> View<'_, S> {
    fn index(&self, row: usize, column: usize) -> Vec<usize> {
        let mut index = self.lead.clone();
        // A tensor of rank 1 has no row index, and a scalar has no column index either.
        index.extend(&[row, column][2 - self.shape.len().min(2)..]);
        index
    }

    fn length(&self, index: &[usize]) -> Result<Option<i128>, S::Error> {
        self.movement.length_at(index).map(|at| self.source.length(&at)).transpose()
    }

    fn length_text(&self, row: usize, column: usize) -> Result<String, S::Error> {
        let length = self.length(&self.index(row, column))?;
        Ok(length.map_or(String::new(), |length| length.to_string()))
    }

    fn block(&self, rows: &Window, columns: &Window) -> Result<Block, S::Error> {
        let mut caption = None;
        if !self.lead.is_empty() {
            let lead: Vec<_> = self.lead.iter().map(usize::to_string).collect();
            let mut text = format!("[{}, :, :]", lead.join(", "));
            if self.at == LengthsAt::Caption {
                text += &format!("  len {}", self.length_text(0, 0)?);
            }
            caption = Some(text);
        }
        let mut lengths = Vec::new();
        if self.at == LengthsAt::Columns {
            for column in columns {
                lengths.push(match column {
                    Some(column) => self.length_text(0, *column)?,
                    None => "…".to_owned(),
                });
            }
        }
        let rows = rows.iter().map(|row| self.row(*row, columns)).collect::<Result<_, _>>()?;
        Ok(Block { caption, lengths, rows })
    }

    fn row(&self, row: Option<usize>, columns: &Window) -> Result<Row, S::Error> {
        let mark = if row.is_some() { "…" } else { "⋱" };
        let length = match row {
            Some(row) if self.at == LengthsAt::Rows => self.length_text(row, 0)?,
            None if self.at == LengthsAt::Rows => "⋮".to_owned(),
            _ => String::new(),
        };
        let (mut before, mut after) = (Vec::new(), Vec::new());
        for column in columns {
            let cells = match (row, *column) {
                (Some(row), Some(column)) => self.cells(&self.index(row, column))?,
                (None, Some(_)) => [Cell::left_out("⋮"), Cell::left_out("⋮")],
                (_, None) => [Cell::left_out(mark), Cell::left_out(mark)],
            };
            let [one, other] = cells;
            before.push(one);
            after.push(other);
        }
        Ok(Row { length, before, after, mark })
    }

    /// The cell of one grid, if both have different sizes.
    fn cell(&self, index: &[usize], shape: &[usize]) -> Result<Cell, S::Error> {
        if index.iter().zip(shape).any(|(at, size)| at >= size) {
            return Ok(Cell { text: String::new(), kind: Kind::Blank });
        }
        let is_result = shape == self.result;
        let origin = match is_result {
            true => self.movement.origin(index, self.shape, None),
            false => index.to_vec(),
        };
        let text = match is_result {
            true => self.source.result(index, &origin)?,
            false => self.source.text(&origin)?,
        };
        let text = clipped(text);
        let kind = if origin == index { Kind::Plain } else { Kind::Moved(origin) };
        Ok(Cell { text, kind })
    }

    /// The cells at an index, before and after.
    fn cells(&self, index: &[usize]) -> Result<[Cell; 2], S::Error> {
        if self.shape != self.result {
            return Ok([self.cell(index, self.shape)?, self.cell(index, self.result)?]);
        }
        let length = self.length(index)?;
        let origin = match self.source.stays(index) {
            true => index.to_vec(),
            false => self.movement.origin(index, self.shape, length),
        };
        let stays = match self.movement.is_padding(index, self.shape, length) {
            true => Kind::Padding,
            false => Kind::Plain,
        };
        let before = Cell { text: clipped(self.source.text(index)?), kind: stays.clone() };
        if self.movement.is_zero(index, self.shape, length) {
            return Ok([before, Cell { text: self.source.zero(), kind: stays }]);
        }
        let text = clipped(self.source.result(index, &origin)?);
        let kind = if origin == index { stays } else { Kind::Moved(origin) };
        let after = Cell { text, kind };
        Ok([before, after])
    }
}

/// The text, truncated to the maximum width of a cell.
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

/// The index of the `number`-th element in row-major order.
fn unravel(mut number: usize, shape: &[usize]) -> Vec<usize> {
    let mut index = vec![0; shape.len()];
    for (at, &size) in index.iter_mut().zip(shape).rev() {
        *at = number % size.max(1);
        number /= size.max(1);
    }
    index
}
