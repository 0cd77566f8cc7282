//! A call as data, for callers that talk to WebGPU themselves: JavaScript in a browser.
//!
//! Nothing here needs a device. [`SOURCE`](crate::SOURCE) is the module of the kernels; their five
//! bindings are input, output, lengths, a report of 64 bytes, and parameters.

use crate::choose::Where;
use crate::cut::Window;
use crate::dispatches::{Dispatch, Dispatches, check_counts};
use crate::error::Error;
use crate::params::Read;
use retrograde::Prepared;

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

/// The dispatches of a call, in order.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Listing {
    /// None if nothing moves.
    pub dispatches: Vec<Dispatch>,
    /// The bytes of the temporary buffer; 0 if none is needed.
    pub temporary: u64,
}

impl From<Dispatches<'_>> for Listing {
    fn from(all: Dispatches<'_>) -> Self {
        Listing { dispatches: all.steps, temporary: all.temporary }
    }
}

/// The dispatches of a prepared call from one buffer to another.
///
/// Both tensors begin with the first byte of their buffers, whose sizes are multiples of 4. So do
/// lengths, which are dense.
pub fn list(
    prepared: &Prepared<'_>,
    limits: Limits,
    lengths: ListedLengths,
) -> Result<Listing, Error> {
    let mut all = begun(prepared, limits, lengths)?;
    all.apart(prepared.plan(), Where::default());
    Ok(all.into())
}

/// The same in one buffer; `None` if the call has to read a copy of it, as [`list`] lists it.
pub fn list_in_place(
    prepared: &Prepared<'_>,
    limits: Limits,
    lengths: ListedLengths,
) -> Result<Option<Listing>, Error> {
    let mut all = begun(prepared, limits, lengths)?;
    Ok(all.in_place(prepared.plan(), Where::IN_PLACE).then(|| all.into()))
}

/// With the table, and the check of lengths in device memory.
fn begun<'a>(
    prepared: &'a Prepared<'_>,
    limits: Limits,
    lengths: ListedLengths,
) -> Result<Dispatches<'a>, Error> {
    let plan = prepared.plan();
    check_counts(plan)?;
    let window = Window::of(limits.binding_size, limits.offset_alignment);
    let mut all = Dispatches::new(window, WORDS_EACH, limits.workgroups);
    if let Some(table) = prepared.table() {
        all.look_up(plan, table);
    }
    if let Some(plan) = plan.lengths().filter(|plan| plan.count() > 0) {
        let (checked, number) = match lengths {
            ListedLengths::Checked => (false, 0),
            ListedLengths::Unchecked(number) => (plan.needs_check(), number),
        };
        all.read_lengths(plan, Read { checked, ..Read::default() }, number);
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;
    use retrograde::{
        DType, Layout, LengthsOperator, Operator, Reversal, Reverse, ReverseSequence, Table,
    };

    const LIMITS: Limits =
        Limits { binding_size: 1 << 27, offset_alignment: 256, workgroups: 65535 };

    fn flip(dtype: DType, shape: &[usize]) -> Prepared<'static> {
        let layout = Layout::dense(dtype, shape).unwrap();
        Reverse::axes([-1]).prepare(&layout, &layout).unwrap()
    }

    fn listed(prepared: &Prepared<'_>, limits: Limits) -> Vec<Dispatch> {
        list(prepared, limits, ListedLengths::Checked).unwrap().dispatches
    }

    /// Columns of bytes with a length each.
    fn columns(time: usize, count: usize) -> Prepared<'static> {
        let layout = Layout::dense(DType::U8, &[time, count]).unwrap();
        let lanes = Layout::dense(DType::I32, &[count]).unwrap();
        let plan = ReverseSequence::new().plan(&layout, &lanes, &layout).unwrap();
        Prepared::from_plan(Operator::ReverseSequence, plan, None)
    }

    #[test]
    fn one_dispatch_covers_a_small_tensor() {
        let dispatches = listed(&flip(DType::F32, &[3, 5]), LIMITS);
        let [one] = &dispatches[..] else { panic!("{dispatches:?}") };
        assert_eq!((one.entry(), one.grid()), ("gather", [1, 1]));
        assert_eq!((one.src.clone(), one.dst.clone()), (Some(0..60), Some(0..60)));
        assert!(listed(&flip(DType::F32, &[0, 5]), LIMITS).is_empty());
    }

    #[test]
    fn words_are_exchanged_and_parts_of_them_need_a_copy() {
        let in_place = |call| list_in_place(&call, LIMITS, ListedLengths::Checked).unwrap();
        let words = in_place(flip(DType::F32, &[3, 5])).unwrap().dispatches;
        assert_eq!((words[0].entry(), words[0].src.clone()), ("exchange", None));
        let bytes = in_place(flip(DType::U8, &[3, 5])).unwrap().dispatches;
        assert_eq!((bytes[0].entry(), bytes[0].src.clone()), ("swap_dense", None));
        assert_eq!(in_place(flip(DType::U8, &[5, 3])), None);
    }

    #[test]
    fn a_table_is_a_part_of_the_parameters() {
        let (layout, table) = (Layout::dense(DType::U8, &[3, 5]).unwrap(), Table::dna());
        let call = Reverse::axes([-1]).table(&table).prepare(&layout, &layout).unwrap();
        let dispatches = listed(&call, LIMITS);
        let [one] = &dispatches[..] else { panic!("{dispatches:?}") };
        assert!(one.params().windows(256).any(|entries| entries == table.byte_entries()));
        // Rows that could be swapped are copied, so that each is looked up once.
        assert_eq!(list_in_place(&call, LIMITS, ListedLengths::Checked).unwrap(), None);
    }

    #[test]
    fn large_tensors_are_cut_to_the_limit() {
        let limits = Limits { binding_size: 4096, ..LIMITS };
        let dispatches = listed(&flip(DType::F32, &[64, 64]), limits);
        assert!(dispatches.len() >= 4, "{}", dispatches.len());
        for dst in dispatches.iter().filter_map(|one| one.dst.clone()) {
            assert!(dst.end - dst.start <= 4096);
            assert!(dst.start.is_multiple_of(256));
        }
    }

    #[test]
    fn large_columns_go_through_a_temporary_buffer() {
        let call = columns(4096, 1024);
        for listing in [
            list(&call, LIMITS, ListedLengths::Checked).unwrap(),
            list_in_place(&call, LIMITS, ListedLengths::Checked).unwrap().unwrap(),
        ] {
            assert_eq!(listing.temporary, 4 << 20);
            let steps: Vec<_> = listing.dispatches.iter().map(|one| one.entry()).collect();
            assert_eq!(steps, ["transpose", "transpose"]);
            assert!(listing.dispatches[0].to_temporary && listing.dispatches[1].from_temporary);
        }
    }

    #[test]
    fn lengths_on_the_device_are_checked_there_first() {
        let entries = |lengths| {
            let listing = list(&columns(4, 8), LIMITS, lengths).unwrap();
            listing.dispatches.iter().map(|one| one.entry()).collect::<Vec<_>>()
        };
        assert_eq!(entries(ListedLengths::Checked), ["gather"]);
        assert_eq!(entries(ListedLengths::Unchecked(3)), ["find", "conclude", "gather"]);
    }
}
