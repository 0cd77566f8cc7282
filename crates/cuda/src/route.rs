//! Streams host tensors through a device: how a plan is split so that every piece needs one range
//! of the input and writes one range of the output, and how much memory that takes.

use crate::choose::choose;
use crate::error::Error;
use crate::kernel::Kernel;
use crate::limits::Limits;
use crate::shape::{Addresses, Shape};
use retrograde::{Plan, Reach, Table};
use std::ops::Range;

/// Pieces in flight: one being uploaded, one being processed, one being downloaded.
pub(crate) const SLOTS: usize = 3;
/// Windows on the device have the same offset modulo this as in their buffer, so that kernels see
/// the same alignment.
const ALIGNED: usize = 16;
/// A piece that is more than this many times the requested size is not staged as a whole.
const MOST: usize = 4;

/// How a plan is streamed through a device ([`Route::run`](crate::Route::run)).
#[derive(Debug, Clone, Copy)]
pub struct Route<'a> {
    pub(crate) plan: &'a Plan,
    /// What elements are looked up in that are reversed.
    pub(crate) table: Option<&'a Table>,
    /// Bytes per piece and per staging buffer.
    pub(crate) bytes: usize,
    cut: bool,
    pieces: usize,
    /// The size of the largest windows on the device, in bytes.
    pub(crate) input: usize,
    pub(crate) output: usize,
}

impl<'a> Route<'a> {
    /// A route with pieces of about this many bytes.
    ///
    /// A plan runs as one piece if its pieces would be scattered in the output, or would need much
    /// more of the input than they move (an axis with lengths is outermost; input and output have
    /// different dimension orders). A plan that leaves gaps in its output is refused, because their
    /// content would be unknown.
    pub fn of(plan: &'a Plan, bytes: usize) -> Result<Self, Error> {
        if !plan.is_empty() && !is_whole(plan) {
            return Err(Error::OutputGaps);
        }
        let bytes = bytes.max(1);
        let (cut, table) = (false, None);
        let whole = Route { plan, table, bytes, cut, pieces: 1, input: 0, output: 0 };
        if plan.is_empty() {
            return Ok(Route { pieces: 0, ..whole });
        }
        let cut = plan.pieces(bytes).all(|piece| is_whole(&piece) && reads_little(&piece));
        let mut route = Route { cut, pieces: 0, ..whole };
        for piece in route.iter() {
            let window = Window::of(&piece);
            route.pieces += 1;
            route.input = route.input.max(window.input.end());
            route.output = route.output.max(window.output.end());
        }
        Ok(route)
    }

    /// The same with a table, or without one.
    #[must_use]
    pub fn looking_up(self, table: Option<&'a Table>) -> Self {
        Route { table, ..self }
    }

    /// The number of pieces.
    pub fn pieces(&self) -> usize {
        self.pieces
    }

    /// The kernel that moves a piece. All have the same form, so the first one decides.
    pub fn kernel(&self, limits: &Limits) -> Kernel {
        let piece = self.iter().next().unwrap_or_else(|| self.plan.clone());
        let shape = Shape::looking_up(&piece, self.table.is_some());
        choose(&piece, &shape, Addresses { src: 0, dst: 0 }, limits, false).kernel
    }

    /// Whether copies and kernels of different pieces overlap.
    pub fn overlaps(&self) -> bool {
        self.pieces > 1 && self.input.max(self.output) <= self.bytes.saturating_mul(MOST)
    }

    /// Device memory that it needs in bytes, without lengths.
    pub fn device_bytes(&self) -> usize {
        let slots = if self.overlaps() { SLOTS.min(self.pieces) } else { 1 };
        self.input.saturating_add(self.output).saturating_mul(slots)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = Plan> + use<'a> {
        let (plan, cut) = (self.plan, self.cut);
        let pieces = cut.then(|| plan.pieces(self.bytes)).into_iter().flatten();
        pieces.chain((!cut).then(|| plan.clone()))
    }
}

/// Whether a plan writes every byte between the first and the last.
fn is_whole(plan: &Plan) -> bool {
    let (grains, reach) = (plan.units() * plan.unit().count, plan.dst());
    let starts_byte = reach.start.is_multiple_of(plan.unit().grain.per_byte());
    reach.end - reach.start == grains && starts_byte && !plan.merges_bytes()
}

/// Whether it reads most of the bytes between the first and the last that it reads.
fn reads_little(plan: &Plan) -> bool {
    plan.src().end - plan.src().start <= 2 * plan.units() * plan.unit().count
}

/// The parts of both buffers that a piece needs.
#[derive(Debug, Clone)]
pub(crate) struct Window {
    pub(crate) input: Side,
    pub(crate) output: Side,
}

/// A range of a buffer, and its offset in the device's buffer.
#[derive(Debug, Clone)]
pub(crate) struct Side {
    pub(crate) range: Range<usize>,
    pub(crate) lead: usize,
}

impl Side {
    fn of(reach: Reach, per_byte: usize) -> Self {
        let range = reach.start / per_byte..reach.end.div_ceil(per_byte);
        Side { lead: range.start % ALIGNED, range }
    }

    /// The size of the device's buffer in bytes.
    pub(crate) fn end(&self) -> usize {
        self.lead + self.range.len()
    }
}

impl Window {
    pub(crate) fn of(piece: &Plan) -> Self {
        let per_byte = piece.unit().grain.per_byte();
        let (input, output) = (Side::of(piece.src(), per_byte), Side::of(piece.dst(), per_byte));
        Window { input, output }
    }

    /// The piece as the device runs it.
    pub(crate) fn plan(&self, piece: &Plan) -> Plan {
        let Window { input, output } = self;
        piece.without_start(input.range.start - input.lead, output.range.start - output.lead)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use retrograde::{
        Align, DType, Layout, LengthsMemory, LengthsOperator, MemoryMut, Reverse, ReverseSegments,
        ReverseSequence, Tail, cpu,
    };

    /// Runs a route on the CPU in the same way, with every piece on copies of its windows only.
    fn agrees(plan: &Plan, bytes: usize, lengths: Option<&[i32]>) -> usize {
        let per_byte = plan.unit().grain.per_byte();
        let input: Vec<u8> = (0..plan.src().end.div_ceil(per_byte)).map(|at| at as u8).collect();
        let memory = || lengths.map(LengthsMemory::from);
        let mut expected = vec![0u8; plan.dst().end.div_ceil(per_byte)];
        cpu::execute(plan, input[..].into(), memory(), MemoryMut::from(&mut expected[..])).unwrap();
        let mut got = vec![0u8; expected.len()];
        let route = Route::of(plan, bytes).unwrap();
        for piece in route.iter() {
            let window = Window::of(&piece);
            let (Side { range, lead }, mut src) = (&window.input, vec![0xeeu8; route.input]);
            src[*lead..lead + range.len()].copy_from_slice(&input[range.clone()]);
            let mut dst = vec![0xddu8; route.output];
            let plan = window.plan(&piece);
            cpu::execute(&plan, src[..].into(), memory(), MemoryMut::from(&mut dst[..])).unwrap();
            let Side { range, lead } = &window.output;
            got[range.clone()].copy_from_slice(&dst[*lead..lead + range.len()]);
        }
        assert!(got == expected, "{plan}");
        route.pieces()
    }

    #[test]
    fn windows_hold_all_that_pieces_need() {
        for dtype in [DType::U8, DType::F32, DType::U4, DType::U1, DType::Bytes(5)] {
            for axes in [vec![], vec![0], vec![1], vec![0, 2]] {
                let layout = Layout::dense(dtype, &[7, 16, 24]).unwrap();
                let plan = Reverse::axes(axes).plan(&layout, &layout).unwrap();
                let pieces = agrees(&plan, 100, None);
                // One-bit elements take 336 bytes in total; routes without a split are not tested.
                assert!(pieces > 2, "{dtype}: {pieces}");
            }
        }
    }

    #[test]
    fn rows_with_lengths_are_cut_and_columns_are_not() {
        let layout = Layout::dense(DType::U16, &[6, 50]).unwrap();
        let lengths = [0, 50, 3, 17, 1, 49];
        let of = Layout::dense(DType::I32, &[6]).unwrap();
        let rows = ReverseSequence::new().time_axis(1).batch_axis(0);
        let plan = rows.plan(&layout, &of, &layout).unwrap();
        assert_eq!(agrees(&plan, 200, Some(&lengths)), 3);
        let layout = Layout::dense(DType::U16, &[50, 6]).unwrap();
        let plan = ReverseSequence::new().plan(&layout, &of, &layout).unwrap();
        assert_eq!(agrees(&plan, 200, Some(&lengths)), 1);
    }

    #[test]
    fn segments_of_rows_and_zero_tails_are_cut_too() {
        let layout = Layout::dense(DType::U16, &[6, 50]).unwrap();
        let of = |count| Layout::dense(DType::I32, &[count]).unwrap();
        let plan = ReverseSegments::along(1).plan(&layout, &of(4), &layout).unwrap();
        assert_eq!(agrees(&plan, 200, Some(&[0, 7, 7, 48])), 3);
        let plan = ReverseSegments::along(0).plan(&layout, &of(3), &layout).unwrap();
        assert_eq!(agrees(&plan, 200, Some(&[0, 2, 5])), 1);
        let rows = ReverseSequence::new().time_axis(1).batch_axis(0);
        let plan = rows.align(Align::End).tail(Tail::Zero).plan(&layout, &of(6), &layout).unwrap();
        assert_eq!(agrees(&plan, 200, Some(&[0, 50, 3, 17, 1, 49])), 3);
    }

    #[test]
    fn orders_that_differ_go_as_one_and_gaps_are_refused() {
        let rows = Layout::dense(DType::U8, &[40, 50]).unwrap();
        let columns = Layout::strided(DType::U8, &[40, 50], &[1, 40], 0).unwrap();
        let plan = Reverse::all().plan(&columns, &rows).unwrap();
        assert_eq!(agrees(&plan, 100, None), 1);
        let gaps = Layout::strided(DType::U8, &[4, 5], &[6, 1], 0).unwrap();
        let plan = Reverse::axes([1]).plan(&gaps, &gaps).unwrap();
        assert_eq!(Route::of(&plan, 100).unwrap_err(), Error::OutputGaps);
    }

    #[test]
    fn nothing_takes_nothing() {
        let none = Layout::dense(DType::U8, &[0, 5]).unwrap();
        let plan = Reverse::all().plan(&none, &none).unwrap();
        let route = Route::of(&plan, 100).unwrap();
        let kernel = route.kernel(&Limits::default());
        assert_eq!((route.pieces(), route.device_bytes(), kernel), (0, 0, Kernel::None));
    }
}
