//! What the choice of a kernel depends on: the shape and the addresses of a call, as predicates that
//! the table (`choose`) names.

use crate::constants::{FEW, MOST_SHARED};
use crate::lanes::{LINE, Lanes, RING, STRIP, WIDE_STRIP};
use crate::limits::Limits;
use crate::scratch::MOST_SCRATCH;
use crate::shape::{Addresses, Shape};
use retrograde::{Dim, Flow, Grain, Plan};

/// Bytes per multiprocessor from which scratch memory is worth two passes.
const SCRATCH_FROM: u64 = 192 * 1024;
/// The fewest strips for which blocks in step are worthwhile.
const MANY_STRIPS: u64 = 64;
/// The fewest bytes that adjacent lanes must have to be treated as columns.
const NARROW: u64 = 32;
/// Shorter dimensions are not tiled.
const TILE: usize = 16;
/// Contiguous rows are counted in 32 bits.
pub(crate) const MOST_DENSE: u64 = 1 << 30;
/// Rows of this many bytes or more have few vectors that are partial; rows of whole vectors have
/// none.
const LONG_ROW: u64 = 256;
const LONG_VECTORS: u64 = 32;
/// Rows of so many bytes are faster with one vector per thread, if they are found at once.
const ONE_EACH: std::ops::Range<u64> = 768..2048;
/// Longer rows are not rewritten as a whole in place: the part that stays is not written.
const SHORT_SWAP: u64 = 512;
/// Unaligned units of at least this size are treated as rows; for aligned ones, 16 is enough.
pub(crate) const WIDE_UNIT: u64 = 128;

/// A call, as far as the choice depends on it.
pub(crate) struct Facts<'a> {
    pub(crate) shape: &'a Shape,
    pub(crate) at: Addresses,
    pub(crate) limits: &'a Limits,
    pub(crate) in_place: bool,
    /// The plan has lengths or offsets, which may have no effect.
    pub(crate) has_lengths: bool,
    /// The number of dimensions that are flipped.
    flips: usize,
    /// The widest piece that divides everything, in bytes.
    pub(crate) granule: u64,
    /// Units of 1, 2, 4, 8 or 16 bytes at multiples of that.
    pub(crate) natural: bool,
    pub(crate) is_packed: bool,
}

/// Units that are contiguous on both sides, with few other dimensions.
pub(crate) struct RowFacts {
    pub(crate) row: Dim,
    pub(crate) bytes: u64,
    /// The row is the dimension with lengths.
    pub(crate) by_length: bool,
    /// Whole vectors, at multiples of 16.
    pub(crate) whole: bool,
    /// At least 256 bytes, or 32 if each vector comes from one.
    pub(crate) long: bool,
    /// All rows are one range of the output, in which each runs forward.
    pub(crate) dense: bool,
    /// All rows are one range on both sides, in the same order, so that several can be staged
    /// together; units have a width that the kernels for that know.
    pub(crate) stacked: bool,
    /// Nothing but the row is reversed, as a whole or up to a length.
    pub(crate) alone: bool,
    /// The row is reversed as a whole, and there is at most one other dimension.
    pub(crate) flipped: bool,
}

impl<'a> Facts<'a> {
    pub(crate) fn of(
        plan: &Plan,
        shape: &'a Shape,
        at: Addresses,
        limits: &'a Limits,
        in_place: bool,
    ) -> Self {
        let flips = plan.dims().iter().filter(|dim| dim.flow == Flow::Flip).count();
        let granule = shape.granule(at);
        let natural = matches!(shape.unit, 1 | 2 | 4 | 8 | 16) && granule >= shape.unit;
        let has_lengths = plan.lengths().is_some();
        let is_packed = matches!(plan.unit().grain, Grain::Packed { .. });
        Facts { shape, at, limits, in_place, has_lengths, flips, granule, natural, is_packed }
    }

    /// Units of a whole number of vectors.
    pub(crate) fn blocks(&self) -> bool {
        self.granule == 16 && self.shape.dims.len() <= FEW
    }

    /// Units that are so wide that each is treated as a row.
    pub(crate) fn wide(&self) -> bool {
        self.shape.unit >= WIDE_UNIT && self.granule < 16 && self.shape.dims.len() <= FEW
    }

    /// Units of three pieces, which kernels assemble: those of 3 or 6 bytes from any bytes, those of
    /// 12 from words.
    pub(crate) fn pixels(&self) -> bool {
        matches!(self.shape.unit, 3 | 6 | 12) && (self.shape.unit < 12 || self.granule >= 4)
    }

    /// Dimensions, with the pieces of a unit as the innermost.
    pub(crate) fn axes(&self) -> usize {
        self.shape.dims.len() + usize::from(self.shape.unit > self.granule)
    }

    /// One row of packed elements that is reversed as a whole.
    pub(crate) fn flips_packed_row(&self) -> bool {
        let Shape { unit: 1, prefix: None, segments: None, dims, .. } = self.shape else {
            return false;
        };
        matches!(dims[..], [Dim { len: 2.., src: -1, dst: 1 | -1, .. }])
    }

    /// Whether the innermost dimension is cut into segments, and the kernels for that can count the
    /// pieces of a unit.
    pub(crate) fn cuts_innermost(&self) -> bool {
        let dims = self.shape.dims.len();
        let innermost = self.shape.segments.is_some_and(|at| at + 1 == dims);
        innermost && dims - 1 <= FEW && self.shape.unit / self.granule < MOST_DENSE
    }

    /// Elements that are contiguous along different dimensions of input and output.
    pub(crate) fn transposes(&self) -> bool {
        self.natural
            && !self.shape.zero
            && transposed_dim(self.shape).is_some()
            && self.shape.dims.len() - 2 <= FEW
    }

    /// The innermost dimension, if it is a row.
    pub(crate) fn row(&self) -> Option<RowFacts> {
        let shape = self.shape;
        let (row, outer) = row_of(shape).filter(|&(_, outer)| outer <= FEW)?;
        let dims = &shape.dims[..outer];
        let bytes = row.len as u64 * shape.unit;
        let by_length = row.flow == Flow::FlipPrefix;
        let whole = bytes.is_multiple_of(16) && self.outer_is_aligned(row, dims);
        let vectors = whole && !by_length;
        let all = bytes * dims.iter().map(|dim| dim.len as u64).product::<u64>();
        let near = |dim: &Dim| dim.src.unsigned_abs() < 1 << 30;
        let alone = match shape.prefix {
            Some(prefix) => prefix == outer && self.flips == 0,
            None => self.flips == 1 && row.src < 0,
        };
        Some(RowFacts {
            row,
            bytes,
            by_length,
            whole,
            long: bytes >= if vectors { LONG_VECTORS } else { LONG_ROW },
            // Rows that run backward in the output are contiguous as well, but `run` does not
            // detect them.
            dense: bytes >= 16 && row.dst > 0 && shape.run() == all && !shape.zero,
            stacked: self.is_stacked(row, dims, bytes),
            alone,
            flipped: shape.prefix.is_none()
                && row.src < 0
                && dims.len() <= 1
                && dims.iter().all(near),
        })
    }

    /// Whether rows, ignoring the steps inside them, begin at multiples of 16.
    fn outer_is_aligned(&self, row: Dim, outer: &[Dim]) -> bool {
        let low = |stride: isize| (stride as i64 * (row.len as i64 - 1)).min(0);
        let whole = |number: i64| number % 16 == 0;
        whole(self.at.src as i64 + self.shape.src + low(row.src))
            && whole(self.at.dst as i64 + self.shape.dst + low(row.dst))
            && outer.iter().all(|dim| whole(dim.src as i64) && whole(dim.dst as i64))
    }

    fn is_stacked(&self, row: Dim, outer: &[Dim], bytes: u64) -> bool {
        let known = (self.natural && self.shape.unit < 16) || self.pixels();
        let forward = row.dst > 0 && (row.flow != Flow::FlipPrefix || row.src > 0);
        let mut run = bytes as i64;
        let follow = outer.iter().rev().all(|dim| {
            let follows = dim.src == dim.dst && dim.dst as i64 == run;
            run *= dim.len as i64;
            follows
        });
        known && forward && bytes >= 16 && follow
    }

    /// Rows that are short enough to be staged as a whole: out of place with lengths, in place
    /// always.
    pub(crate) fn is_short(&self, row: &RowFacts) -> bool {
        row.stacked
            && match self.in_place {
                true => row.alone && row.bytes < SHORT_SWAP,
                false => row.by_length && row.bytes < short_to(self.shape.unit),
            }
    }

    /// Whether a thread should move one vector of each row: rows of about a KiB with at most one other
    /// dimension, which take few instructions to find.
    pub(crate) fn one_each(&self, row: Option<&RowFacts>) -> bool {
        let (bytes, inner) = row.map_or((self.shape.unit, 0), |row| (row.bytes, 1));
        self.shape.dims.len() <= inner + 1 && ONE_EACH.contains(&bytes)
    }

    /// Adjacent lanes, each with a length, if they are wide enough for columns. Out of place, blocks
    /// are treated as rows instead.
    pub(crate) fn columns(&self) -> Option<ColumnFacts<'_>> {
        let lanes = Lanes::of(self.shape, self.at)?;
        // Single vectors too, if columns of them are too long.
        let blocks = if self.granule == 16 { 17 } else { WIDE_UNIT };
        let blocks = self.shape.unit >= blocks && !self.in_place;
        (lanes.width >= NARROW && lanes.outer.len() <= FEW && !blocks)
            .then_some(ColumnFacts { facts: self, lanes })
    }
}

/// Adjacent lanes.
pub(crate) struct ColumnFacts<'a> {
    facts: &'a Facts<'a>,
    pub(crate) lanes: Lanes,
}

impl ColumnFacts<'_> {
    /// Whether a block can stage a strip of them.
    pub(crate) fn staged(&self) -> bool {
        self.lanes.steps * STRIP <= self.facts.limits.shared as u64
    }

    /// Whether a strip that a block stages fills a multiprocessor.
    fn fills(&self) -> bool {
        let strip = self.lanes.staged_strip(self.facts.granule, self.facts.limits);
        2 * self.lanes.steps * strip > self.facts.limits.shared as u64
    }

    /// Whether blocks of adjacent strips should run in step: each fills a multiprocessor. Not for
    /// bytes, which are limited by other work.
    pub(crate) fn in_step(&self) -> bool {
        let Facts { limits, granule, .. } = *self.facts;
        let strips = self.lanes.strips(self.lanes.staged_strip(granule, limits));
        limits.clusters && self.fills() && strips >= MANY_STRIPS && granule > 1
    }

    /// Whether steps are so far apart that more blocks should run in step.
    pub(crate) fn far(&self) -> bool {
        self.lanes.lane.src.unsigned_abs() >= 64 * 1024
    }

    /// Bytes in rows of vectors, of which a narrow strip fills a multiprocessor.
    pub(crate) fn bytes(&self) -> bool {
        let Facts { limits, granule, shape, .. } = *self.facts;
        granule == 1
            && !shape.zero
            && self.fills()
            && self.lanes.staged_strip(granule, limits) == STRIP
            && self.lanes.bytes_shared() <= MOST_SHARED.min(limits.shared as u64)
            && self.lanes.reads_whole(16)
            && self.lanes.writes_whole(4)
    }

    /// Whether scratch memory may be used, and is worth two passes. Out of place, single vectors are
    /// as fast as rows.
    pub(crate) fn scratch(&self) -> bool {
        let Facts { limits, granule, shape, in_place, .. } = *self.facts;
        limits.scratch
            && shape.grains() >= SCRATCH_FROM * limits.multiprocessors as u64
            && (in_place || granule < 16)
            && 3 * self.lanes.steps * WIDE_STRIP <= MOST_SCRATCH
    }

    /// Whether strips of one cache line are better in scratch memory: they share no line with others,
    /// and stay in the cache.
    pub(crate) fn narrow_scratch(&self) -> bool {
        let Facts { limits, granule, .. } = *self.facts;
        self.lanes.in_lines() && 3 * self.lanes.held(granule, LINE) <= 2 * limits.cache / RING
    }

    /// Whether a multiprocessor holds so many blocks of a cluster that they are faster than what
    /// follows. With one, clusters are slower than columns that are not staged, and with two they are
    /// slower than scratch memory if cache lines are whole.
    pub(crate) fn clusters(&self) -> bool {
        let Facts { limits, in_place, .. } = *self.facts;
        let piece = self.piece();
        let vectors = self.lanes.reads_whole(16) && self.lanes.writes_whole(16);
        let strip = self.lanes.cluster_strip(piece, limits);
        let shared = strip.map(|strip| self.lanes.cluster_shared(piece, strip));
        let most = match self.scratch() {
            true if self.lanes.in_lines() => limits.shared_by(3),
            false if in_place => limits.shared as u64,
            _ => limits.shared_by(2),
        };
        limits.clusters && vectors && shared.is_some_and(|shared| shared <= most)
    }

    /// Bytes of a step of a column in a cluster: at most a word.
    fn piece(&self) -> u64 {
        self.facts.granule.min(4)
    }
}

/// The row size in bytes up to which rows with lengths are staged several at a time.
pub(crate) fn short_to(unit: u64) -> u64 {
    match unit {
        1 | 2 | 4 | 8 => 4096,
        _ => 10240,
    }
}

/// The row size in bytes from which rows of whole vectors with lengths are moved by vectors, if they
/// can be staged too: the wider the units, the cheaper it is to assemble a vector.
pub(crate) fn cut_from(unit: u64) -> u64 {
    match unit {
        1 | 2 => 2048,
        4 => 1024,
        8 => 256,
        _ => 16,
    }
}

/// The innermost dimension, if it is a row, and the number of other dimensions.
pub(crate) fn row_of(shape: &Shape) -> Option<(Dim, usize)> {
    let (&row, outer) = shape.dims.split_last()?;
    let adjacent = |stride: isize| stride.unsigned_abs() as u64 == shape.unit;
    let is_row = adjacent(row.src) && adjacent(row.dst) && row.lengths == 0;
    is_row.then_some((row, outer.len()))
}

/// The dimension along which the input's elements are contiguous, if it is not the output's
/// innermost one and both are long enough for tiles.
pub(crate) fn transposed_dim(shape: &Shape) -> Option<usize> {
    let (a, others) = shape.dims.split_last()?;
    let together = |dim: &Dim| dim.src.unsigned_abs() as u64 == shape.unit;
    let at = others.iter().rposition(together)?;
    let b = &others[at];
    let free = shape.prefix.is_none_or(|prefix| {
        prefix < others.len() && prefix != at && a.lengths == 0 && b.lengths == 0
    });
    let is_it = a.dst as i64 == shape.unit as i64 && !together(a) && free;
    (is_it && a.len >= TILE && b.len >= TILE).then_some(at)
}

/// The most 16-byte pieces that a run of so many bytes touches, if it begins at a multiple of `width`
/// and, if all runs have the same alignment, at `start` modulo 16.
pub(crate) fn chunks(bytes: u64, width: u64, start: Option<u64>) -> u64 {
    let before = start.unwrap_or(16 - if matches!(width, 2 | 4 | 8 | 16) { width } else { 1 });
    (bytes + before).div_ceil(16)
}

/// The same for rows of which the first is at `first` in the output.
pub(crate) fn touched(bytes: u64, width: u64, first: u64, outer: &[Dim]) -> u64 {
    let alike = outer.iter().all(|dim| dim.dst % 16 == 0);
    chunks(bytes, width, alike.then_some(first % 16))
}
