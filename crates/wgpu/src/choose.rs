//! Chooses how a plan runs: the only place, which `explain` can query.

use crate::shape::{Row, Shape};
use retrograde::{Grain, Meaning, Plan};
use std::fmt;

/// How a plan runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Route {
    /// Nothing moves.
    Nothing,
    /// Every word of the output is gathered from the input.
    Gather,
    /// The same where rows follow each other without gaps: a workgroup finds its rows once.
    Dense,
    /// Tiles are transposed: the input is contiguous along another axis than the output.
    Transpose,
    /// Columns with a length each become rows of a temporary buffer, and columns again.
    Columns,
    /// In place: every word is swapped with the one that belongs there.
    Exchange,
    /// In place: elements of dense rows are swapped, several of which may share a word.
    Swap,
    /// In place, but words hold parts of elements that go to different places: the input is copied
    /// to a temporary buffer, and gathered from there.
    Copied,
}

/// Rows of fewer bytes are short.
const SHORT_ROW: u64 = 512;

/// A route, and what the kernel is specialised for. Fields are overrides of the kernels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Kernel {
    pub(crate) route: Route,
    pub(crate) grain: u32,
    pub(crate) high_first: bool,
    pub(crate) row: Row,
    pub(crate) steps: u32,
    pub(crate) small: u32,
    pub(crate) tile: u32,
    pub(crate) table: bool,
}

/// What a choice depends on, beside the plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Where {
    /// The bytes of their buffers that the input and the output begin with.
    pub(crate) from: u64,
    pub(crate) at: u64,
    /// Takes kernels for large tensors for small ones too, to test them.
    pub(crate) small: bool,
    /// Whether the output is the input.
    pub(crate) in_place: bool,
    /// Whether both are in one buffer.
    pub(crate) shared: bool,
}

impl Where {
    /// In one buffer, whose view begins with its first byte.
    pub(crate) const IN_PLACE: Where =
        Where { from: 0, at: 0, small: false, in_place: true, shared: true };
}

impl Kernel {
    /// How the plan runs.
    pub fn route(&self) -> Route {
        self.route
    }
}

impl fmt::Display for Kernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.route {
            Route::Nothing => return f.write_str("nothing to do"),
            Route::Gather => "gather",
            Route::Dense => "gather dense",
            Route::Transpose => "transpose",
            Route::Columns => "transpose to a copy and back",
            Route::Exchange => "exchange",
            Route::Swap => "swap dense",
            Route::Copied => "copy, then gather",
        })?;
        f.write_str(match self.row {
            Row::Forward if self.steps == 1 => ", units by length",
            Row::Forward if self.steps == 2 => ", units by segment",
            Row::Forward => ", units",
            Row::Backward => ", rows backward",
            Row::Prefix | Row::Suffix => ", rows by length",
            Row::Segments => ", rows by segment",
        })?;
        f.write_str(if self.table { ", looked up" } else { "" })
    }
}

/// The kernel that [`Gpu::run`](crate::Gpu::run) uses for a plan.
///
/// ```
/// use retrograde::{DType, Layout, Reverse};
/// use retrograde_wgpu::{Route, kernel, kernel_in_place};
///
/// let rows = Layout::dense(DType::F32, &[64, 64])?;
/// let plan = Reverse::axes([1]).plan(&rows, &rows)?;
/// assert_eq!(kernel(&plan).route(), Route::Gather);
/// assert_eq!(kernel_in_place(&plan).route(), Route::Exchange);
/// # Ok::<(), retrograde::Error>(())
/// ```
pub fn kernel(plan: &Plan) -> Kernel {
    choose(plan, &Shape::of(plan), Where::default())
}

/// The same in place, in a buffer whose view begins with a word and fits a binding.
pub fn kernel_in_place(plan: &Plan) -> Kernel {
    choose_in_place(plan, Shape::of(plan), Where::IN_PLACE, true).0
}

/// Out of place.
pub(crate) fn choose(plan: &Plan, shape: &Shape, place: Where) -> Kernel {
    if plan.is_empty() {
        return specialised(Route::Nothing, shape);
    }
    match shape.columns(place) {
        Some(_) => specialised(Route::Columns, shape),
        None => choose_piece(shape.clone(), place).0,
    }
}

/// In place, and the shape that its kernel takes; `fits` says whether all of it is in one binding.
pub(crate) fn choose_in_place(
    plan: &Plan,
    shape: Shape,
    place: Where,
    fits: bool,
) -> (Kernel, Shape) {
    // A whole packed tensor that keeps its order still gets its unused bits cleared, and elements
    // that keep their places are looked up.
    let stays = plan.keeps_order() && !plan.seals_last_byte() && !shape.looks_up;
    let route = if plan.is_empty() || stays {
        Route::Nothing
    } else if shape.columns(place).is_some() {
        Route::Columns
    } else if fits && is_words(&shape, place.at) {
        Route::Exchange
    } else if let Some(dense) = shape.dense(place.at, place.at).filter(|_| fits && !shape.looks_up)
    {
        // Its elements are exchanged bit by bit, and those in the middle are not looked at.
        return (specialised(Route::Swap, &dense), dense);
    } else {
        Route::Copied
    };
    (specialised(route, &shape), shape)
}

/// One piece from one buffer to another, and the shape that its kernel takes.
pub(crate) fn choose_piece(piece: Shape, place: Where) -> (Kernel, Shape) {
    if let Some(tiled) = piece.tiled(place.at, place.small) {
        return (specialised(Route::Transpose, &tiled), tiled);
    }
    match piece.dense(place.from, place.at).filter(gains_by_rows) {
        Some(dense) => (specialised(Route::Dense, &dense), dense),
        None => (specialised(Route::Gather, &piece), piece),
    }
}

/// Whether it pays to find rows once: they have lengths, or many words hold parts of two rows or of
/// two units. Words of other rows are found faster one by one.
fn gains_by_rows(shape: &Shape) -> bool {
    let whole = |number: u64| number.is_multiple_of(shape.per_word());
    match shape.row {
        Row::Prefix | Row::Suffix => true,
        Row::Backward if shape.small().is_none() && !whole(shape.unit) => true,
        _ => shape.row_len < SHORT_ROW && !whole(shape.row_len),
    }
}

/// What the kernel for a shape is specialised for.
pub(crate) fn specialised(route: Route, shape: &Shape) -> Kernel {
    Kernel {
        route,
        grain: shape.grain.bits().trailing_zeros() + shape.dense.unwrap_or(0),
        high_first: shape.is_high_first(),
        row: shape.row,
        steps: match shape.steps.as_ref().map(|steps| steps.meaning) {
            None => 0,
            Some(Meaning::Lengths) => 1,
            Some(Meaning::Offsets | Meaning::MarkedOffsets) => 2,
        },
        small: shape.small().unwrap_or(5),
        // For other kernels, one value, so that they are compiled once.
        tile: shape.tile.map_or(2, |_| shape.unit.trailing_zeros()),
        table: shape.looks_up,
    }
}

/// Whether every word of the output is a whole word of the input, whose units may be reversed.
fn is_words(shape: &Shape, at: u64) -> bool {
    let word = shape.per_word();
    let whole = |number: u64| number.is_multiple_of(word);
    let first = at * shape.grain.per_byte() as u64 + shape.dst;
    let strided = whole(first)
        && shape.axes.iter().all(|axis| whole(axis.dst) && whole(axis.src.unsigned_abs()))
        && shape.steps.as_ref().is_none_or(|steps| whole(steps.src.unsigned_abs()));
    let reversed = shape.row == Row::Backward && shape.small().is_some() && whole(shape.row_len);
    strided
        && shape.seals.is_none()
        && (whole(shape.unit) || reversed)
        && (shape.grain == Grain::Byte || reversed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use retrograde::{DType, Layout, LengthsOperator, Reverse, ReverseSequence};

    #[test]
    fn words_are_swapped_and_parts_of_words_are_copied_first() {
        let in_place = |dtype, shape: &[usize], axes: &[i64]| {
            let layout = Layout::dense(dtype, shape).unwrap();
            kernel_in_place(&Reverse::axes(axes.to_vec()).plan(&layout, &layout).unwrap()).route
        };
        assert_eq!(in_place(DType::F32, &[3, 5], &[1]), Route::Exchange);
        assert_eq!(in_place(DType::F64, &[3, 5], &[0]), Route::Exchange);
        assert_eq!(in_place(DType::U8, &[3, 8], &[1]), Route::Exchange);
        assert_eq!(in_place(DType::U8, &[3, 6], &[1]), Route::Swap);
        assert_eq!(in_place(DType::Bytes(3), &[4, 4], &[1]), Route::Swap);
        assert_eq!(in_place(DType::U8, &[6, 3], &[1]), Route::Copied);
        assert_eq!(in_place(DType::U4, &[3, 6], &[1]), Route::Copied);
        assert_eq!(in_place(DType::U8, &[3, 6], &[]), Route::Nothing);
        assert_eq!(in_place(DType::U8, &[0, 6], &[1]), Route::Nothing);
    }

    #[test]
    fn what_is_looked_up_in_place_is_exchanged_or_copied_first_even_if_it_stays() {
        let in_place = |shape: &[usize], axes: &[i64]| {
            let layout = Layout::dense(DType::U8, shape).unwrap();
            let plan = Reverse::axes(axes.to_vec()).plan(&layout, &layout).unwrap();
            let shape = Shape { looks_up: true, ..Shape::of(&plan) };
            choose_in_place(&plan, shape, Where::IN_PLACE, true).0.to_string()
        };
        assert_eq!(in_place(&[3, 8], &[1]), "exchange, rows backward, looked up");
        assert_eq!(in_place(&[3, 6], &[1]), "copy, then gather, rows backward, looked up");
        assert_eq!(in_place(&[3, 8], &[]), "exchange, units, looked up");
        assert_eq!(in_place(&[3, 6], &[]), "copy, then gather, units, looked up");
        assert_eq!(in_place(&[0, 6], &[]), "nothing to do");
    }

    #[test]
    fn rows_are_found_once_where_they_have_lengths_or_share_many_words() {
        let flip = |dtype, shape: &[usize]| {
            let layout = Layout::dense(dtype, shape).unwrap();
            kernel(&Reverse::axes([1]).plan(&layout, &layout).unwrap()).route
        };
        assert_eq!(flip(DType::U8, &[9, 63]), Route::Dense);
        assert_eq!(flip(DType::U8, &[9, 64]), Route::Gather);
        assert_eq!(flip(DType::U8, &[9, 4095]), Route::Gather, "few words hold parts of two rows");
        assert_eq!(flip(DType::U8, &[9, 640, 3]), Route::Dense);
        assert_eq!(flip(DType::F32, &[9, 640, 3]), Route::Gather);
        let sequences = |dtype| {
            let layout = Layout::dense(dtype, &[9, 64]).unwrap();
            let lanes = Layout::dense(DType::I64, &[9]).unwrap();
            let operator = ReverseSequence::new().time_axis(1).batch_axis(0);
            kernel(&operator.plan(&layout, &lanes, &layout).unwrap()).to_string()
        };
        assert_eq!(sequences(DType::U8), "gather dense, rows by length");
        assert_eq!(sequences(DType::F64), "gather dense, rows by length");
        assert_eq!(sequences(DType::U4), "gather, rows by length");
    }

    #[test]
    fn large_columns_go_through_a_transposed_copy_and_small_ones_do_not() {
        let routes = |dtype, time| {
            let layout = Layout::dense(dtype, &[time, 1024]).unwrap();
            let lanes = Layout::dense(DType::I64, &[1024]).unwrap();
            let plan = ReverseSequence::new().plan(&layout, &lanes, &layout).unwrap();
            (kernel(&plan).route, kernel_in_place(&plan).route)
        };
        assert_eq!(routes(DType::U8, 8192), (Route::Columns, Route::Columns));
        assert_eq!(routes(DType::F32, 64), (Route::Gather, Route::Exchange));
        assert_eq!(routes(DType::U8, 64), (Route::Gather, Route::Copied));
    }

    #[test]
    fn rows_with_lengths_are_swapped_if_their_elements_are_words() {
        let in_place = |dtype| {
            let layout = Layout::dense(dtype, &[4, 8]).unwrap();
            let lanes = Layout::dense(DType::I64, &[4]).unwrap();
            let operator = ReverseSequence::new().time_axis(1).batch_axis(0);
            kernel_in_place(&operator.plan(&layout, &lanes, &layout).unwrap()).route
        };
        assert_eq!(in_place(DType::F32), Route::Exchange);
        assert_eq!(in_place(DType::F16), Route::Swap);
    }
}
