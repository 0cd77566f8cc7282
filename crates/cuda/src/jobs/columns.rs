//! Adjacent lanes.

use super::{AnyParams, Call, Launch, axes};
use crate::choose::Choice;
use crate::constants::{BYTE_BLOCKS, BYTE_THREADS, CLUSTER, CLUSTER_THREADS, COLUMN_THREADS};
use crate::kernel::Kernel;
use crate::lanes::{Lanes, STRIP};
use crate::limits::Limits;
use crate::params::{Axis, Columns, Loops};
use crate::shape::address;

/// Rows per block of a strip that is not staged.
const SLICE: u64 = 128;

/// Arguments for strips of so many bytes. `word` is the width of words in which rows of the output
/// may be written if these are aligned.
pub(super) fn arguments(
    call: &Call<'_>,
    lanes: &Lanes,
    granule: u64,
    strip: u64,
    word: u64,
) -> Columns {
    let &Call { shape, at, lengths, policy, .. } = call;
    Columns {
        src: address(at.src, shape.src),
        dst: address(at.dst, shape.dst),
        policy,
        src_step: lanes.lane.src as i64,
        dst_step: lanes.lane.dst as i64,
        steps: lanes.steps,
        width: lanes.width,
        strip: Axis::count(lanes.width.div_ceil(strip)),
        unit: Axis::count(shape.unit / granule),
        strips: lanes.strips(strip),
        lengths_step: lanes.inner.lengths as i64,
        strip_shift: strip.ilog2(),
        vectors: u32::from(lanes.reads_whole(16)),
        words: u32::from(lanes.writes_whole(word)),
        block_words: 0,
        slice: 0,
        slices: 0,
        lengths,
        outer: Loops::new(&axes(&lanes.outer), None),
    }
}

pub(super) fn columns(call: &Call<'_>, choice: Choice, limits: &Limits) -> Option<Launch> {
    let (lanes, granule) = (Lanes::of(call.shape, call.at)?, u64::from(choice.variant));
    let strip = match choice.kernel {
        Kernel::ClusterColumns => lanes.cluster_strip(granule, limits).unwrap_or(STRIP),
        // Wider ones were much slower if they are not staged.
        Kernel::DirectColumns => STRIP,
        _ => lanes.staged_strip(granule, limits),
    };
    let mut params = arguments(call, &lanes, granule, strip, granule.max(4));
    let staged = lanes.steps * strip;
    let (blocks, threads, shared) = match choice.kernel {
        Kernel::ClusterColumns => {
            params.block_words = lanes.cluster_words(granule) as u32;
            (params.strips * CLUSTER, CLUSTER_THREADS, lanes.cluster_shared(granule, strip))
        }
        Kernel::DirectColumns => {
            let slices = lanes.steps.div_ceil(SLICE);
            (params.slice, params.slices) = (SLICE as u32, slices as u32);
            (params.strips * slices, COLUMN_THREADS, 0)
        }
        Kernel::ColumnsBytes => {
            (params.strips.next_multiple_of(BYTE_BLOCKS), BYTE_THREADS, lanes.bytes_shared())
        }
        _ => (params.strips.next_multiple_of(choice.blocks), COLUMN_THREADS, staged),
    };
    Some(Launch { blocks, threads, shared: shared as u32, params: AnyParams::Columns(params) })
}
