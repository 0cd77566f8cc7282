//! A call as data, for callers that talk to WebGPU themselves: JavaScript in a browser.
//!
//! Nothing here needs a device. [`SOURCE`](crate::SOURCE) is the module of the kernels; their five
//! bindings are input, output, lengths, a report of 64 bytes, and parameters.

use crate::choose::{self, Kernel, Route, Where};
use crate::cut::Window;
use crate::error::Error;
use crate::params::{MOST_AXES, Params, Read, Site};
use crate::shape::Shape;
use crate::source::{entry, overrides};
use retrograde::{LengthsPlan, Meaning, Plan};
use std::ops::Range;

/// Words that an invocation takes: as on GPUs.
const WORDS_EACH: u32 = 4;

/// What a device allows, by WebGPU's names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// `maxStorageBufferBindingSize`.
    pub binding_size: u64,
    /// `minStorageBufferOffsetAlignment`.
    pub offset_alignment: u64,
    /// `maxComputeWorkgroupsPerDimension`.
    pub workgroups: u32,
}

/// Where the lengths of a call are, and who checks them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ListedLengths {
    /// The caller has checked them ([`cpu::Checked`](retrograde::cpu)), or there are none.
    Checked,
    /// They are in a buffer of the device: the first dispatches check them, and those that follow
    /// write nothing if one is invalid. The report keeps this number of the call.
    Unchecked(u32),
}

/// One dispatch of a call.
#[derive(Debug, Clone, PartialEq)]
pub struct Dispatch {
    /// The entry point.
    pub entry: &'static str,
    /// The constants of the pipeline.
    pub constants: Vec<(&'static str, f64)>,
    /// The parameters, for a uniform buffer.
    pub params: Vec<u8>,
    /// Workgroups.
    pub grid: [u32; 2],
    /// The bytes of the input to bind; `None` if the kernel swaps elements of the output, or checks.
    pub src: Option<Range<u64>>,
    /// The bytes of the output to bind; `None` if the kernel checks.
    pub dst: Option<Range<u64>>,
    /// Whether the temporary buffer takes the place of the input.
    pub from_temporary: bool,
    /// Whether it takes the place of the output.
    pub to_temporary: bool,
}

/// The dispatches of a call, in order.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Listing {
    /// None if nothing moves.
    pub dispatches: Vec<Dispatch>,
    /// The bytes of the temporary buffer; 0 if none is needed.
    pub temporary: u64,
}

/// The dispatches of a plan from one buffer to another.
///
/// Both tensors begin with the first byte of their buffers, whose sizes are multiples of 4. So do
/// lengths, which are dense.
pub fn list(plan: &Plan, limits: Limits, lengths: ListedLengths) -> Result<Listing, Error> {
    let mut lister = Lister::new(plan, limits, lengths)?;
    let shape = Shape::of(plan);
    match choose::choose(plan, &shape, Where::default()).route {
        Route::Nothing => {}
        Route::Columns => lister.columns(&shape, Where::default()),
        _ => lister.gather(shape, false, false),
    }
    Ok(lister.listing)
}

/// The same in one buffer; `None` if the plan has to read a copy of it, as [`list`] lists it.
pub fn list_in_place(
    plan: &Plan,
    limits: Limits,
    lengths: ListedLengths,
) -> Result<Option<Listing>, Error> {
    let mut lister = Lister::new(plan, limits, lengths)?;
    let shape = Shape::of(plan);
    let fits = shape.fits(lister.window, 0, 0);
    let (kernel, shape) = choose::choose_in_place(plan, shape, Where::IN_PLACE, fits);
    match kernel.route {
        Route::Nothing => {}
        Route::Columns => lister.columns(&shape, Where::IN_PLACE),
        Route::Exchange | Route::Swap => {
            let swap = lister.dispatch(kernel, &shape);
            lister.listing.dispatches.push(Dispatch { src: None, ..swap });
        }
        _ => return Ok(None),
    }
    Ok(Some(lister.listing))
}

/// What the kernels' parameters cannot count.
fn check(plan: &Plan) -> Result<(), Error> {
    let lengths = plan.lengths();
    let rank = plan.dims().len().max(lengths.map_or(0, |lengths| lengths.dims.len()));
    if rank > MOST_AXES {
        return Err(Error::TooManyDims { rank, most: MOST_AXES });
    }
    let most = u64::from(u32::MAX) - 1;
    let steps = lengths.map_or(0, |lengths| lengths.limit.max(lengths.count()) as u64);
    if steps > most {
        return Err(Error::TooManySteps { steps, most });
    }
    Ok(())
}

fn window(limits: Limits) -> Window {
    Window {
        most: u64::from(u32::MAX).min(limits.binding_size) / 4 * 4,
        // Words begin at multiples of 4 of what is bound.
        aligned: limits.offset_alignment.max(4),
    }
}

/// Collects the dispatches of a call.
struct Lister<'a> {
    lengths: Option<(&'a LengthsPlan, Read)>,
    limits: Limits,
    window: Window,
    listing: Listing,
}

impl<'a> Lister<'a> {
    fn new(plan: &'a Plan, limits: Limits, lengths: ListedLengths) -> Result<Self, Error> {
        check(plan)?;
        let mut lister =
            Lister { lengths: None, limits, window: window(limits), listing: Listing::default() };
        if let Some(plan) = plan.lengths().filter(|plan| plan.count() > 0) {
            let checked = lengths != ListedLengths::Checked && plan.needs_check();
            lister.lengths = Some((plan, Read { checked, ..Read::default() }));
            if let (ListedLengths::Unchecked(number), true) = (lengths, checked) {
                lister.check(plan, number);
            }
        }
        Ok(lister)
    }

    /// The check of lengths in device memory.
    fn check(&mut self, plan: &LengthsPlan, number: u32) {
        let mut params = Params::check(plan, Read::default());
        params.first = number;
        let grid = params.check_grid(self.limits.workgroups);
        let offsets = plan.meaning == Meaning::Offsets;
        let steps = [("find", [grid.x, grid.y]), ("conclude", [1, 1])];
        self.listing.dispatches.extend(steps.map(|(entry, grid)| Dispatch {
            entry,
            constants: vec![("OFFSETS", f64::from(offsets))],
            params: bytemuck::bytes_of(&params).to_vec(),
            grid,
            src: None,
            dst: None,
            from_temporary: false,
            to_temporary: false,
        }));
    }

    /// Each piece of a shape, from one buffer to another.
    fn gather(&mut self, shape: Shape, from_temporary: bool, to_temporary: bool) {
        for piece in shape.pieces(self.window, 0, 0) {
            let (kernel, piece) = choose::choose_piece(piece, Where::default());
            let dispatch = self.dispatch(kernel, &piece);
            self.listing.dispatches.push(Dispatch { from_temporary, to_temporary, ..dispatch });
        }
    }

    fn columns(&mut self, shape: &Shape, place: Where) {
        let Some(columns) = shape.columns(place) else { return };
        self.listing.temporary = columns.bytes;
        for [to, from] in shape.through(columns) {
            self.gather(to, false, true);
            self.gather(from, true, false);
        }
    }

    fn dispatch(&self, kernel: Kernel, shape: &Shape) -> Dispatch {
        let per_byte = shape.grain.per_byte() as u64;
        let mut params = Params::of(shape, self.lengths, Site::of(shape, self.window, 0, 0));
        let grid = params.grid(WORDS_EACH, self.limits.workgroups);
        let bytes = |reach: Range<u64>| Some(self.window.bytes(&reach, per_byte, 0));
        Dispatch {
            entry: entry(&kernel),
            constants: overrides(&kernel, WORDS_EACH),
            params: bytemuck::bytes_of(&params).to_vec(),
            grid: [grid.x, grid.y],
            src: bytes(shape.src_reach()),
            dst: bytes(shape.dst_reach()),
            from_temporary: false,
            to_temporary: false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use retrograde::{DType, Layout, LengthsOperator, Reverse, ReverseSequence};

    const LIMITS: Limits =
        Limits { binding_size: 1 << 27, offset_alignment: 256, workgroups: 65535 };

    fn plan(dtype: DType, shape: &[usize]) -> Plan {
        let layout = Layout::dense(dtype, shape).unwrap();
        Reverse::axes([-1]).plan(&layout, &layout).unwrap()
    }

    fn listed(plan: &Plan, limits: Limits) -> Vec<Dispatch> {
        list(plan, limits, ListedLengths::Checked).unwrap().dispatches
    }

    /// Columns of bytes with a length each.
    fn columns(time: usize, count: usize) -> Plan {
        let layout = Layout::dense(DType::U8, &[time, count]).unwrap();
        let lanes = Layout::dense(DType::I32, &[count]).unwrap();
        ReverseSequence::new().plan(&layout, &lanes, &layout).unwrap()
    }

    #[test]
    fn one_dispatch_covers_a_small_tensor() {
        let dispatches = listed(&plan(DType::F32, &[3, 5]), LIMITS);
        let [one] = &dispatches[..] else { panic!("{dispatches:?}") };
        assert_eq!((one.entry, one.grid), ("gather", [1, 1]));
        assert_eq!((one.src.clone(), one.dst.clone()), (Some(0..60), Some(0..60)));
        assert!(listed(&plan(DType::F32, &[0, 5]), LIMITS).is_empty());
    }

    #[test]
    fn words_are_exchanged_and_parts_of_them_need_a_copy() {
        let in_place = |plan| list_in_place(&plan, LIMITS, ListedLengths::Checked).unwrap();
        let words = in_place(plan(DType::F32, &[3, 5])).unwrap().dispatches;
        assert_eq!((words[0].entry, words[0].src.clone()), ("exchange", None));
        let bytes = in_place(plan(DType::U8, &[3, 5])).unwrap().dispatches;
        assert_eq!((bytes[0].entry, bytes[0].src.clone()), ("swap_dense", None));
        assert_eq!(in_place(plan(DType::U8, &[5, 3])), None);
    }

    #[test]
    fn large_tensors_are_cut_to_the_limit() {
        let limits = Limits { binding_size: 4096, ..LIMITS };
        let dispatches = listed(&plan(DType::F32, &[64, 64]), limits);
        assert!(dispatches.len() >= 4, "{}", dispatches.len());
        for dst in dispatches.iter().filter_map(|one| one.dst.clone()) {
            assert!(dst.end - dst.start <= 4096);
            assert!(dst.start.is_multiple_of(256));
        }
    }

    #[test]
    fn large_columns_go_through_a_temporary_buffer() {
        let plan = columns(4096, 1024);
        for listing in [
            list(&plan, LIMITS, ListedLengths::Checked).unwrap(),
            list_in_place(&plan, LIMITS, ListedLengths::Checked).unwrap().unwrap(),
        ] {
            assert_eq!(listing.temporary, 4 << 20);
            let steps: Vec<_> = listing.dispatches.iter().map(|one| one.entry).collect();
            assert_eq!(steps, ["transpose", "transpose"]);
            assert!(listing.dispatches[0].to_temporary && listing.dispatches[1].from_temporary);
        }
    }

    #[test]
    fn lengths_on_the_device_are_checked_there_first() {
        let entries = |lengths| {
            let listing = list(&columns(4, 8), LIMITS, lengths).unwrap();
            listing.dispatches.iter().map(|one| one.entry).collect::<Vec<_>>()
        };
        assert_eq!(entries(ListedLengths::Checked), ["gather"]);
        assert_eq!(entries(ListedLengths::Unchecked(3)), ["find", "conclude", "gather"]);
    }
}
