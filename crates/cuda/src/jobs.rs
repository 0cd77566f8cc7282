//! Converts a plan and a chosen kernel to the kernel's arguments.

mod any;
mod columns;
mod packed;
mod rows;
mod scratch;
mod segments;
mod staged;

pub(crate) use scratch::ScratchLayout;

use crate::choose::Choice;
use crate::constants::{CHECK_THREADS, SIGNED, THREADS, UNALIGNED};
use crate::kernel::{Entry, Kernel};
use crate::limits::Limits;
use crate::params::{
    Axis, Check, Columns, Gather, Lengths, Loops, Packed, Rows, Segments, Strided, Strips, Table,
    Tiles,
};
use crate::shape::{Addresses, Shape};
use retrograde::{DType, Dim, LengthPolicy, LengthsPlan, Meaning, Plan};
use smallvec::SmallVec;

/// The most blocks of a length check.
const CHECK_BLOCKS: u64 = 512;

/// A launch, complete except for the stream.
#[derive(Debug)]
pub(crate) struct Job {
    pub(crate) entry: Entry,
    pub(crate) blocks: u64,
    pub(crate) threads: u32,
    pub(crate) shared: u32,
    /// Blocks that form a cluster, if the kernel does not say so itself.
    pub(crate) cluster: u32,
    pub(crate) params: AnyParams,
    /// The second argument of kernels that look elements up.
    pub(crate) table: Option<Table>,
}

/// Arguments of any kernel.
#[derive(Debug)]
pub(crate) enum AnyParams {
    Rows(Rows),
    Segments(Segments),
    Strided(Strided),
    Gather(Gather),
    Tiles(Tiles),
    Columns(Columns),
    Strips(Strips),
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
                Meaning::Offsets | Meaning::MarkedOffsets => {
                    let step = lengths.dims().last().map_or(0, |&(_, step)| step as i64);
                    (lengths.count() as u64, step)
                }
            };
            let steps = plan.dims().iter().map(|dim| dim.lengths as i64).chain([step]);
            let kind = length_kind(lengths.dtype, first, steps);
            let zero = u32::from(plan.zeroes_tail());
            let (limit, marked) = (lengths.limit as u64, marked_bits(lengths));
            Lengths { first, stop, limit, step, count, kind, zero, marked, ..Lengths::NONE }
        }
        None => Lengths::NONE,
    }
}

/// Bits of each offset below its value.
fn marked_bits(lengths: &LengthsPlan) -> u32 {
    u32::from(lengths.meaning == Meaning::MarkedOffsets)
}

/// The code of a lengths type: log2 of its bytes, SIGNED, and UNALIGNED if some are.
fn length_kind(dtype: DType, first: u64, mut steps: impl Iterator<Item = i64>) -> u32 {
    use DType::*;
    let code = match dtype {
        I8 => SIGNED,
        U16 => 1,
        I16 => 1 | SIGNED,
        U32 => 2,
        I32 => 2 | SIGNED,
        U64 => 3,
        I64 => 3 | SIGNED,
        // U8, the only remaining integer type.
        _ => 0,
    };
    let bytes = 1i64 << (code & 3);
    let aligned = first as i64 % bytes == 0 && steps.all(|step| step % bytes == 0);
    if aligned { code } else { code | UNALIGNED }
}

/// The check of all lengths or offsets, in row-major order. `alarm` is the address of a word that
/// is set if the report gets an error, or 0.
pub(crate) fn check(lengths: &LengthsPlan, address: u64, report: u64, alarm: u64) -> Job {
    let first = address + lengths.first as u64;
    let axes: SmallVec<[Axis; 8]> = lengths
        .dims()
        .iter()
        .map(|&(len, step)| Axis::new(len as u64, 0, 0, step as i64))
        .collect();
    let count = lengths.count() as u64;
    let most = match lengths.policy {
        LengthPolicy::Strict => lengths.limit as u64,
        LengthPolicy::Clamp => u64::MAX,
    };
    let kind = length_kind(lengths.dtype, first, axes.iter().map(|axis| axis.lengths));
    let (limit, loops) = (lengths.limit as u64, Loops::new(&axes, None));
    let blocks = count.div_ceil(u64::from(CHECK_THREADS)).clamp(1, CHECK_BLOCKS);
    let (offsets, marked) = (u32::from(lengths.meaning.is_offsets()), marked_bits(lengths));
    let unused = 0;
    let check =
        Check { first, report, count, most, limit, alarm, kind, offsets, marked, unused, loops };
    let (entry, params) = (Entry(Kernel::CheckLengths, 0), AnyParams::Check(check));
    Job { entry, blocks, threads: CHECK_THREADS, shared: 0, cluster: 1, params, table: None }
}

/// A call to launch: a plan, its shape, and all addresses.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Call<'a> {
    pub(crate) plan: &'a Plan,
    pub(crate) shape: &'a Shape,
    pub(crate) at: Addresses,
    pub(crate) lengths: Lengths,
    /// The cache policy of loads.
    pub(crate) policy: u64,
    /// The address of scratch memory, if the kernel needs any ([`ScratchLayout`]).
    pub(crate) scratch: u64,
    /// What elements are looked up in, if in anything.
    pub(crate) table: Option<&'a retrograde::Table>,
}

/// A launch, except for the kernel.
struct Launch {
    blocks: u64,
    threads: u32,
    shared: u32,
    params: AnyParams,
}

/// The launch for a call; `None` if nothing moves.
pub(crate) fn job(call: &Call<'_>, choice: Choice, limits: &Limits) -> Option<Job> {
    use Kernel::*;
    let Launch { blocks, threads, shared, params } = match choice.kernel {
        None | CheckLengths => return Option::None,
        AlignedRows | RowBlocks | CutRows | Rows | RowPairs | DenseRows | DenseFlips
        | WordFlips => rows::rows(call, choice),
        RowSwaps => rows::row_swaps(call),
        BlockSwaps => rows::block_swaps(call)?,
        StagedRows | StagedSwaps | StagedRowTable => staged::staged(call, choice),
        ShortRows | ShortRowTable => staged::short(call),
        BriefRows => staged::brief(call),
        Columns | ColumnsZero | ColumnsBytes | ClusterColumns | DirectColumns => {
            columns::columns(call, choice, limits)?
        }
        ScratchColumns | ScratchColumnsWide => scratch::columns(call, choice, limits)?,
        Tiles => any::tiles(call),
        Gather | GatherPrefix => any::gather(call, choice),
        Strided => any::strided(call, choice),
        Swaps => any::swaps(call, choice)?,
        SegmentRows | SegmentRowSwaps | SegmentRowTable => segments::rows(call, choice, limits),
        SegmentUnits => segments::units(call),
        SegmentBlocks | SegmentSwaps => segments::pieces(call, choice),
        SegmentStrided => segments::strided(call, choice),
        Packed | PackedFlips | PackedMore | PackedTable => packed::packed(call),
    };
    let entry = Entry(choice.kernel, choice.variant);
    let cluster = choice.blocks as u32;
    let entries = call.table.filter(|_| choice.kernel.looks_up());
    let table = entries.map(|table| Table::of(table.byte_entries()));
    Some(Job { entry, blocks, threads, shared, cluster, params, table })
}

/// A launch with one thread for each of `count` pieces.
fn flat(count: u64, params: AnyParams) -> Launch {
    let blocks = count.div_ceil(u64::from(THREADS));
    Launch { blocks, threads: THREADS, shared: 0, params }
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
