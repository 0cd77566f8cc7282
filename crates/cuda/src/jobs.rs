//! Converts a plan and a chosen kernel to the kernel's arguments.

mod any;
mod columns;
mod entry;
mod packed;
mod rows;
mod scratch;
mod segments;
mod staged;

pub(crate) use entry::{Entry, Family};
pub(crate) use scratch::Room;

use crate::choose::Choice;
use crate::kernel::{Kernel, Limits};
use crate::params::{
    Axis, Check, Columns, FEW, Gather, Lengths, Loops, MANY, Packed, Passes, Rows, Segments,
    Strided, Tiles,
};
use crate::shape::{Shape, Site};
use retrograde::{DType, Dim, LengthPolicy, LengthsPlan, Meaning, Plan};
use smallvec::SmallVec;

/// Threads per block: `THREADS` in common.cuh; and for tiles and length checks.
const THREADS: u32 = 128;
const MORE_THREADS: u32 = 256;
/// The most blocks of a length check.
const CHECK_BLOCKS: u64 = 512;

/// A launch, complete except for the stream.
#[derive(Debug)]
pub(crate) struct Job {
    pub(crate) entry: Entry,
    pub(crate) blocks: u64,
    pub(crate) threads: u32,
    pub(crate) shared: u32,
    pub(crate) params: AnyParams,
}

/// Arguments of any kernel.
#[derive(Debug)]
pub(crate) enum AnyParams {
    Rows(Rows),
    Segments(Segments),
    Strided(Strided<FEW>),
    Deep(Strided<MANY>),
    Gather(Gather),
    Tiles(Tiles),
    Columns(Columns),
    Passes(Passes),
    Packed(Packed),
    Check(Check),
}

/// The lengths of a call: their address, and that of the word that may stop it.
pub(crate) fn lengths_of(plan: &Plan, address: u64, stop: u64) -> Lengths {
    match plan.lengths() {
        Some(lengths) => {
            let first = address + lengths.reach.origin as u64;
            let (count, step) = match lengths.meaning {
                Meaning::Lengths => (0, 0),
                Meaning::Offsets => {
                    let step = lengths.dims.last().map_or(0, |&(_, step)| step as i64);
                    (lengths.count() as u64, step)
                }
            };
            let steps = plan.dims().iter().map(|dim| dim.lengths as i64).chain([step]);
            let kind = length_kind(lengths.dtype, first, steps);
            let zero = u32::from(plan.zeroes_tail());
            Lengths { first, stop, limit: lengths.limit as u64, step, count, kind, zero }
        }
        None => Lengths { first: 0, stop: 0, limit: 0, step: 0, count: 0, kind: 0, zero: 0 },
    }
}

/// The code of a lengths type: log2 of its bytes, plus 4 if signed, plus 8 if some are unaligned.
fn length_kind(dtype: DType, first: u64, mut steps: impl Iterator<Item = i64>) -> u32 {
    use DType::*;
    let code = match dtype {
        I8 => 4,
        U16 => 1,
        I16 => 5,
        U32 => 2,
        I32 => 6,
        U64 => 3,
        I64 => 7,
        // U8, the only remaining integer type.
        _ => 0,
    };
    let bytes = 1i64 << (code & 3);
    let aligned = first as i64 % bytes == 0 && steps.all(|step| step % bytes == 0);
    if aligned { code } else { code | 8 }
}

/// The check of all lengths or offsets, in row-major order. `alarm` is the address of a word that
/// is set if the report gets an error, or 0.
pub(crate) fn check(lengths: &LengthsPlan, address: u64, report: u64, alarm: u64) -> Job {
    let first = address + lengths.first as u64;
    let axes: SmallVec<[Axis; 8]> =
        lengths.dims.iter().map(|&(len, step)| Axis::new(len as u64, 0, 0, step as i64)).collect();
    let count = lengths.count() as u64;
    let most = match lengths.policy {
        LengthPolicy::Strict => lengths.limit as u64,
        LengthPolicy::Clamp => u64::MAX,
    };
    let kind = length_kind(lengths.dtype, first, axes.iter().map(|axis| axis.lengths));
    let (limit, loops) = (lengths.limit as u64, Loops::new(&axes, None));
    let blocks = count.div_ceil(u64::from(MORE_THREADS)).clamp(1, CHECK_BLOCKS);
    let check = Check { first, report, count, most, limit, alarm, kind, unused: 0, loops };
    let params = AnyParams::Check(check);
    let family = match lengths.meaning {
        Meaning::Lengths => Family::CheckLengths,
        Meaning::Offsets => Family::CheckOffsets,
    };
    Job { entry: Entry(family, 0), blocks, threads: MORE_THREADS, shared: 0, params }
}

/// A call to launch: a plan, its shape, and all addresses.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Call<'a> {
    pub(crate) plan: &'a Plan,
    pub(crate) shape: &'a Shape,
    pub(crate) at: Site,
    pub(crate) lengths: Lengths,
    /// The cache policy of loads.
    pub(crate) policy: u64,
    /// The address of scratch memory, if the kernel needs any ([`Room`]).
    pub(crate) scratch: u64,
}

/// The launch for a call; `None` if nothing moves.
pub(crate) fn job(call: &Call<'_>, choice: Choice, limits: &Limits) -> Option<Job> {
    let width = choice.width.bytes();
    Some(match choice.kernel {
        Kernel::None => return None,
        Kernel::AlignedRows
        | Kernel::CutRows
        | Kernel::Rows
        | Kernel::Pixels
        | Kernel::DenseRows => rows::rows(call, choice, limits),
        Kernel::StagedRows | Kernel::StagedSwaps => staged::staged(call, choice),
        Kernel::ShortRows => staged::short(call),
        Kernel::RowSwaps => rows::row_swaps(call),
        Kernel::Columns | Kernel::ClusterColumns | Kernel::DirectColumns => {
            columns::columns(call, choice, limits)
        }
        Kernel::ScratchColumns => return scratch::columns(call, choice, limits),
        Kernel::Tiles => any::tiles(call),
        Kernel::Gather => any::gather(call, width),
        Kernel::Strided => any::strided(call, width),
        Kernel::BlockSwaps => return rows::block_swaps(call),
        Kernel::Swaps => return any::swaps(call, width),
        Kernel::SegmentRows => segments::rows(call, limits),
        Kernel::SegmentBlocks | Kernel::SegmentStrided => segments::pieces(call, width, false),
        Kernel::SegmentSwaps => segments::pieces(call, width, true),
        Kernel::Packed => packed::packed(call),
    })
}

/// A job with one thread for each of `count` pieces.
fn flat(family: Family, width: u64, count: u64, params: AnyParams) -> Job {
    let blocks = count.div_ceil(u64::from(THREADS));
    Job { entry: Entry(family, width as u8), blocks, threads: THREADS, shared: 0, params }
}

fn axis(dim: &Dim) -> Axis {
    Axis::new(dim.len as u64, dim.src as i64, dim.dst as i64, dim.lengths as i64)
}

fn axes(dims: &[Dim]) -> SmallVec<[Axis; 8]> {
    dims.iter().map(axis).collect()
}

fn count(dims: &[Dim]) -> u64 {
    dims.iter().map(|dim| dim.len as u64).product()
}

/// An address in a buffer.
fn address(base: u64, offset: i64) -> u64 {
    base.wrapping_add_signed(offset)
}

/// The most 16-byte pieces that a run of so many bytes touches, if it begins at a multiple of
/// `width` and, if all runs have the same alignment, at `start` modulo 16.
fn chunks(bytes: u64, width: u64, start: Option<u64>) -> u64 {
    let before = start.unwrap_or(16 - if matches!(width, 2 | 4 | 8 | 16) { width } else { 1 });
    (bytes + before).div_ceil(16)
}
