//! Adjacent lanes, each with a length: how many strips of them there are, and what a strip takes in
//! shared memory or in scratch memory.

use crate::constants::{BYTE_STRIP, BYTES_HELD, CLUSTER, CLUSTER_GROUP, COLUMN_THREADS};
use crate::limits::Limits;
use crate::shape::{Addresses, Shape, address};
use retrograde::Dim;
use smallvec::SmallVec;

/// The narrowest strip of columns, in bytes.
pub(crate) const STRIP: u64 = BYTE_STRIP;
/// Shared memory that strips of short columns are widened to fill, in bytes: memory prefers wide
/// strips.
const STAGE: u64 = 128 * 1024;
/// Strips are widened only while there are this many for each multiprocessor.
const ENOUGH_STRIPS: u64 = 4;

/// The widths of strips of clusters, in bytes: at most a cache line, at least a sector of it.
const CLUSTER_STRIPS: [u64; 3] = [LINE, 64, SECTOR];
const SECTOR: u64 = 32;

/// Strips that pass through scratch memory: bytes of a cache line, or of two.
pub(crate) const LINE: u64 = 128;
pub(crate) const WIDE_STRIP: u64 = 256;
/// The ring of strips takes a third of the cache, or what three strips need. Narrow strips need at
/// most two thirds.
pub(crate) const RING: u64 = 3;

/// Adjacent lanes of a plan.
#[derive(Debug)]
pub(crate) struct Lanes {
    /// The dimension with lengths.
    pub(crate) lane: Dim,
    pub(crate) inner: Dim,
    pub(crate) outer: SmallVec<[Dim; 8]>,
    /// Bytes of a step of all lanes.
    pub(crate) width: u64,
    pub(crate) steps: u64,
    /// The addresses of the first step.
    src: u64,
    dst: u64,
}

impl Lanes {
    /// Lanes whose elements are adjacent on both sides; `None` if the dimension with lengths is the
    /// innermost one, or if elements that are adjacent have the same length.
    pub(crate) fn of(shape: &Shape, at: Addresses) -> Option<Self> {
        let (&inner, others) = shape.dims.split_last()?;
        let prefix = shape.prefix.filter(|&prefix| prefix < others.len())?;
        let beside = |stride: isize| stride as i64 == shape.unit as i64;
        if inner.lengths == 0 || !beside(inner.src) || !beside(inner.dst) {
            return None;
        }
        let mut outer: SmallVec<[Dim; 8]> = SmallVec::from_slice(others);
        let lane = outer.remove(prefix);
        let (src, dst) = (address(at.src, shape.src), address(at.dst, shape.dst));
        let (width, steps) = (inner.len as u64 * shape.unit, lane.len as u64);
        Some(Lanes { lane, inner, outer, width, steps, src, dst })
    }

    /// All rows of all lanes, side by side.
    fn across(&self) -> u64 {
        self.outer.iter().map(|dim| dim.len as u64).product()
    }

    /// The number of strips of so many bytes.
    pub(crate) fn strips(&self, strip: u64) -> u64 {
        self.across() * self.width.div_ceil(strip)
    }

    fn is_whole(&self, address: u64, side: fn(&Dim) -> isize, by: u64) -> bool {
        let mut steps = self.outer.iter().chain([&self.lane]).map(|dim| side(dim) as i64);
        address.is_multiple_of(by)
            && self.width.is_multiple_of(by)
            && steps.all(|step| step % by as i64 == 0)
    }

    /// Whether all rows of the input begin and end at multiples of so many bytes.
    pub(crate) fn reads_whole(&self, by: u64) -> bool {
        self.is_whole(self.src, |dim| dim.src, by)
    }

    /// The same for the output.
    pub(crate) fn writes_whole(&self, by: u64) -> bool {
        self.is_whole(self.dst, |dim| dim.dst, by)
    }

    /// Whether rows begin where cache lines do, in the input and the output.
    pub(crate) fn in_lines(&self) -> bool {
        let whole = |number: isize| number as i64 % LINE as i64 == 0;
        self.src.is_multiple_of(LINE)
            && self.dst.is_multiple_of(LINE)
            && self.outer.iter().chain([&self.lane]).all(|dim| whole(dim.src) && whole(dim.dst))
    }

    /// The width of the strips that one block stages, for pieces of so many bytes.
    pub(crate) fn staged_strip(&self, granule: u64, limits: &Limits) -> u64 {
        // As long as one block covers the words of a row.
        let covered = u64::from(COLUMN_THREADS) * granule;
        let most = self.width.next_power_of_two().min(covered).min(2048);
        let room = STAGE.min(limits.shared as u64) / self.steps;
        let enough = ENOUGH_STRIPS * limits.multiprocessors as u64;
        let strip = room.min(most).min(self.across() * self.width / enough).max(STRIP);
        1 << strip.ilog2()
    }

    /// Shared memory for the columns of bytes of a strip, which are transposed in groups of four
    /// rows.
    pub(crate) fn bytes_shared(&self) -> u64 {
        BYTES_HELD + self.steps.next_multiple_of(4) * STRIP
    }

    /// Words of each column that a block of a cluster holds, if a step has so many bytes.
    pub(crate) fn cluster_words(&self, piece: u64) -> u64 {
        let words = (self.steps * piece).div_ceil(4);
        words.div_ceil(CLUSTER * CLUSTER_GROUP) * CLUSTER_GROUP
    }

    /// Shared memory per block of a cluster, in bytes: words of all columns of a strip, and a length
    /// each.
    pub(crate) fn cluster_shared(&self, piece: u64, strip: u64) -> u64 {
        (self.cluster_words(piece) + 1) * 4 * (strip / piece)
    }

    /// The width of the strips that clusters stage: the widest of which a multiprocessor holds three,
    /// so that some blocks load while others store, or else the narrowest, if that fits.
    pub(crate) fn cluster_strip(&self, piece: u64, limits: &Limits) -> Option<u64> {
        let shared = |strip| self.cluster_shared(piece, strip);
        let most = self.width.next_power_of_two();
        let mut wide = CLUSTER_STRIPS.into_iter().filter(|&strip| strip <= most);
        let three = wide.find(|&strip| shared(strip) <= limits.shared_by(3));
        three.or((shared(SECTOR) <= limits.shared as u64).then_some(SECTOR))
    }

    /// Bytes of a column in scratch memory, whole cache lines.
    pub(crate) fn pitch(&self, granule: u64) -> u64 {
        (self.steps * granule).next_multiple_of(LINE)
    }

    /// Bytes of a strip in scratch memory.
    pub(crate) fn held(&self, granule: u64, strip: u64) -> u64 {
        self.pitch(granule) * (strip / granule)
    }
}
