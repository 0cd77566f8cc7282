//! Adjacent lanes.

use super::entry::{Entry, Family};
use super::{AnyParams, Call, Job, address, axes, count};
use crate::choose::{self, Choice, STRIP};
use crate::kernel::{Kernel, Limits};
use crate::params::{Axis, Columns, Loops};
use crate::shape::Shape;
use retrograde::Dim;
use smallvec::SmallVec;

const COLUMN_THREADS: u32 = 512;
/// In clusters; see cluster.cuh.
const CLUSTER_THREADS: u32 = 256;
/// For columns of bytes that fill a multiprocessor: threads, shared memory for tables and in total,
/// and blocks that start together; see bytes.cuh.
const BYTE_THREADS: u32 = 768;
const BYTES_HELD: u64 = 64 * (8 + 2 * 16 + 4);
const MOST_HELD: u64 = 227 * 1024;
const PAIR: u64 = 2;
/// Shared memory that strips of short columns are widened to fill, in bytes: memory prefers wide
/// strips.
const STAGE: u64 = 128 * 1024;
/// Strips are widened only while there are this many for each multiprocessor.
const ENOUGH_STRIPS: u64 = 4;
/// Rows per block of a strip that is not staged.
const SLICE: u64 = 128;
/// Rows at least this many bytes apart count as far apart.
const FAR: usize = 64 * 1024;
/// The fewest strips for which clusters are worthwhile.
const MANY_STRIPS: u64 = 64;

/// Adjacent lanes of a plan.
pub(super) struct Adjacent {
    /// The dimension with lengths.
    pub(super) lane: Dim,
    inner: Dim,
    outer: SmallVec<[Dim; 8]>,
    /// Bytes of a step of all lanes.
    pub(super) width: u64,
}

impl Adjacent {
    pub(super) fn of(shape: &Shape) -> Self {
        let inner = shape.dims[shape.dims.len() - 1];
        let prefix = shape.prefix.unwrap_or_default();
        let mut outer = SmallVec::from_slice(&shape.dims[..shape.dims.len() - 1]);
        let lane = outer.remove(prefix);
        Adjacent { lane, inner, outer, width: inner.len as u64 * shape.unit }
    }

    /// The number of strips of so many bytes.
    pub(super) fn strips(&self, strip: u64) -> u64 {
        count(&self.outer) * self.width.div_ceil(strip)
    }

    /// Whether all rows on one side begin and end at multiples of so many bytes.
    fn is_whole(&self, address: u64, side: fn(&Dim) -> isize, by: u64) -> bool {
        let mut steps = self.outer.iter().chain([&self.lane]).map(|dim| side(dim) as i64);
        address.is_multiple_of(by)
            && self.width.is_multiple_of(by)
            && steps.all(|step| step % by as i64 == 0)
    }

    /// Arguments for strips of so many bytes. `word` is the width of words in which rows of the
    /// output may be written if these are aligned.
    pub(super) fn arguments(
        &self,
        call: &Call<'_>,
        granule: u64,
        strip: u64,
        word: u64,
    ) -> Columns {
        let &Call { shape, at, lengths, policy, .. } = call;
        let (src, dst) = (address(at.src, shape.src), address(at.dst, shape.dst));
        Columns {
            src,
            dst,
            policy,
            src_step: self.lane.src as i64,
            dst_step: self.lane.dst as i64,
            steps: self.lane.len as u64,
            width: self.width,
            strip: Axis::count(self.width.div_ceil(strip)),
            unit: Axis::count(shape.unit / granule),
            strips: self.strips(strip),
            lengths_step: self.inner.lengths as i64,
            strip_shift: strip.ilog2(),
            vectors: u32::from(self.is_whole(src, |dim| dim.src, 16)),
            words: u32::from(self.is_whole(dst, |dim| dim.dst, word)),
            rows: 0,
            pitch: 0,
            unused: 0,
            lengths,
            outer: Loops::new(&axes(&self.outer), None),
        }
    }
}

pub(super) fn columns(call: &Call<'_>, choice: Choice, limits: &Limits) -> Job {
    let (shape, kernel, granule) = (call.shape, choice.kernel, choice.width.bytes());
    let lanes = Adjacent::of(shape);
    let (lane, width, steps) = (lanes.lane, lanes.width, lanes.lane.len as u64);
    let strip = match kernel {
        Kernel::Columns => {
            // As long as one block covers the words of a row.
            let most = width.next_power_of_two().min(u64::from(COLUMN_THREADS) * granule).min(2048);
            let room = STAGE.min(limits.shared as u64) / steps;
            let enough = ENOUGH_STRIPS * limits.multiprocessors as u64;
            let strip = room.min(most).min(count(&lanes.outer) * width / enough).max(STRIP);
            1 << strip.ilog2()
        }
        Kernel::ClusterColumns => {
            choose::cluster_strip(steps, granule, width, limits).unwrap_or(STRIP)
        }
        // Wider ones were much slower if they are not staged.
        _ => STRIP,
    };
    let (rows, pitch) = match kernel {
        Kernel::DirectColumns => (SLICE, steps.div_ceil(SLICE)),
        _ => (choose::cluster_words(steps, granule), 0),
    };
    let mut params = lanes.arguments(call, granule, strip, granule.max(4));
    (params.rows, params.pitch) = (rows as u32, pitch as u32);
    let all = params.strips;
    // Blocks that each fill a multiprocessor: adjacent ones run in step, more of them the farther
    // apart rows are. Not for columns of bytes, which are limited by other work.
    let alone = 2 * steps * strip > limits.shared as u64;
    let (columns, together) = match lane.src.unsigned_abs() {
        _ if shape.zero => (Family::ColumnsZero, 1),
        _ if !limits.clusters || !alone || all < MANY_STRIPS || granule == 1 => {
            (Family::Columns, 1)
        }
        step if step >= FAR => (Family::ColumnsFour, 4),
        _ => (Family::ColumnsTwo, 2),
    };
    // Those are transposed, in groups of four rows.
    let held = BYTES_HELD + steps.next_multiple_of(4) * strip;
    let bytes = granule == 1 && alone && strip == STRIP && !shape.zero;
    let bytes = bytes && held <= MOST_HELD.min(limits.shared as u64);
    let transposed = bytes && params.vectors == 1 && params.words == 1;
    let (family, blocks, threads, shared) = match kernel {
        Kernel::Columns if transposed => {
            (Family::ColumnsBytes, all.next_multiple_of(PAIR), BYTE_THREADS, held)
        }
        Kernel::Columns => (columns, all.next_multiple_of(together), COLUMN_THREADS, steps * strip),
        Kernel::ClusterColumns => {
            let blocks = all * choose::CLUSTER;
            let shared = choose::cluster_shared(steps, granule, strip);
            (Family::ColumnsCluster, blocks, CLUSTER_THREADS, shared)
        }
        _ => (Family::ColumnsDirect, all * pitch, COLUMN_THREADS, 0),
    };
    let (entry, shared) = (Entry(family, granule as u8), shared as u32);
    Job { entry, blocks, threads, shared, params: AnyParams::Columns(params) }
}
