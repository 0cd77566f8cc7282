//! The kernels by name, and the device limits that they depend on.

use std::fmt;

/// A kernel, named as in the files of `kernels/`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Kernel {
    /// Nothing moves.
    None,
    /// Rows of whole 16-byte vectors, one per thread.
    AlignedRows,
    /// Rows of whole 16-byte vectors with a length each, four per thread.
    CutRows,
    /// Rows that begin or end at any address.
    Rows,
    /// Rows of units of 3, 6 or 12 bytes.
    Pixels,
    /// Contiguous rows: short ones, those of pixels, and whole flips of units of 4 or 8 bytes.
    DenseRows,
    /// Rows of at most 10 KiB with lengths, or short ones in place, contiguous on both sides.
    ShortRows,
    /// Rows with lengths, and rows of units of other widths or that are not aligned to their width.
    StagedRows,
    /// Adjacent lanes, staged in shared memory.
    Columns,
    /// Adjacent lanes, staged in the shared memory of a cluster of 16 blocks.
    ClusterColumns,
    /// Adjacent lanes that are too long to be staged, in two passes through scratch memory.
    ScratchColumns,
    /// Adjacent lanes that are too long to be staged, without scratch memory.
    DirectColumns,
    /// Tiles, transposed in shared memory: input and output are contiguous along different
    /// dimensions.
    Tiles,
    /// Any order of reading, 16 bytes of output at a time.
    Gather,
    /// Piece by piece.
    Strided,
    /// Elements of 1, 2 or 4 bits.
    Packed,
    /// In place: vectors of aligned rows are swapped.
    RowSwaps,
    /// In place: segments of rows are swapped with their mirror images.
    StagedSwaps,
    /// In place: blocks of whole vectors are swapped.
    BlockSwaps,
    /// In place: pieces are swapped.
    Swaps,
    /// Contiguous units that offsets cut into segments: tiles of 8 KiB, staged in shared memory.
    SegmentRows,
    /// Units of any width that offsets cut into segments, as the innermost dimension: tiles of
    /// several pieces per thread.
    SegmentBlocks,
    /// Segments along any other dimension, piece by piece.
    SegmentStrided,
    /// In place: pieces are swapped with their mirror images in their segments.
    SegmentSwaps,
}

impl Kernel {
    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Kernel::None => "none",
            Kernel::AlignedRows => "aligned rows",
            Kernel::CutRows => "cut rows",
            Kernel::Rows => "rows",
            Kernel::Pixels => "pixels",
            Kernel::DenseRows => "dense rows",
            Kernel::ShortRows => "short rows",
            Kernel::StagedRows => "staged rows",
            Kernel::Columns => "columns",
            Kernel::ClusterColumns => "cluster columns",
            Kernel::ScratchColumns => "scratch columns",
            Kernel::DirectColumns => "direct columns",
            Kernel::Tiles => "tiles",
            Kernel::Gather => "gather",
            Kernel::Strided => "strided",
            Kernel::Packed => "packed",
            Kernel::RowSwaps => "row swaps",
            Kernel::StagedSwaps => "staged swaps",
            Kernel::BlockSwaps => "block swaps",
            Kernel::Swaps => "swaps",
            Kernel::SegmentRows => "segment rows",
            Kernel::SegmentBlocks => "segment blocks",
            Kernel::SegmentStrided => "segment strided",
            Kernel::SegmentSwaps => "segment swaps",
        }
    }

    /// A short description.
    pub const fn about(self) -> &'static str {
        match self {
            Kernel::None => "nothing to move",
            Kernel::AlignedRows => "rows of 16-byte vectors, one per thread",
            Kernel::CutRows => "rows of 16-byte vectors with a length each",
            Kernel::Rows => "rows by 16-byte windows at any alignment",
            Kernel::Pixels => "rows of units of three pieces, a vector at a time",
            Kernel::DenseRows => "contiguous rows, a vector at a time across their ends",
            Kernel::ShortRows => "contiguous rows of at most a few KiB, staged as a whole",
            Kernel::StagedRows => "rows by segments, staged in shared memory",
            Kernel::Columns => "adjacent lanes, staged in shared memory",
            Kernel::ClusterColumns => {
                "adjacent lanes, staged in the shared memory of a 16-block cluster"
            }
            Kernel::ScratchColumns => {
                "adjacent lanes too long to be staged, transposed into scratch memory and back"
            }
            Kernel::DirectColumns => "adjacent lanes too long to be staged, in slices",
            Kernel::Tiles => "tiles that are transposed in shared memory",
            Kernel::Gather => "16 bytes of output at a time, read piece by piece",
            Kernel::Strided => "piece by piece",
            Kernel::Packed => "packed elements, by words if rows allow it",
            Kernel::RowSwaps => "in place: swaps vectors of aligned rows",
            Kernel::StagedSwaps => "in place: swaps segments of rows, staged in shared memory",
            Kernel::BlockSwaps => "in place: swaps blocks of whole vectors",
            Kernel::Swaps => "in place: swaps pieces",
            Kernel::SegmentRows => "segments of contiguous units, by tiles in shared memory",
            Kernel::SegmentBlocks => "segments of blocks, several pieces per thread",
            Kernel::SegmentStrided => "segments piece by piece, each of which is searched for",
            Kernel::SegmentSwaps => "in place: swaps pieces within their segments",
        }
    }
}

impl fmt::Display for Kernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// Limits that the choice depends on, in addition to plan and addresses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// Shared memory per block, in bytes.
    pub shared: usize,
    /// Whether 16 blocks can form a cluster.
    pub clusters: bool,
    /// Whether temporary memory may be allocated to make a call faster. Not while a graph is being
    /// captured.
    pub scratch: bool,
    /// Bytes of L2 cache.
    pub cache: u64,
    /// The number of multiprocessors.
    pub multiprocessors: usize,
    /// A thread processes two vectors of rows that have at least this many.
    pub pairs_from: u64,
    /// For tensors of at least this many bytes, the cache is asked to keep what is read rather than
    /// what is written: usually 1 to 4 % faster. Some of it stays cached afterwards, which affects
    /// kernels that use most of the cache for a while.
    pub keep_from: u64,
}

/// Cache policies, as encoded by the hardware: normal, evict last, or evict first.
const NORMAL: u64 = 0x10F0_0000_0000_0000;
const KEEP: u64 = 0x14F0_0000_0000_0000;
const FIRST: u64 = 0x12F0_0000_0000_0000;
/// Tensors at least this many times as large as the cache: smaller ones may be in it for the next
/// kernel.
const FAR_LARGER: u64 = 2;

impl Limits {
    /// The same limits, reduced to these.
    pub fn at_most(self, shared: usize, clusters: bool) -> Self {
        Limits { shared: self.shared.min(shared), clusters: self.clusters && clusters, ..self }
    }

    /// The cache policy for loads of a tensor of so many bytes.
    pub(crate) fn policy(&self, bytes: u64) -> u64 {
        if bytes >= self.keep_from { KEEP } else { NORMAL }
    }

    /// The same for data that passes by while scratch memory stays in the cache, if that does.
    pub(crate) fn passing(&self, bytes: u64, stays: bool) -> u64 {
        if stays && bytes >= self.keep_from { FIRST } else { NORMAL }
    }

    /// From compute capability, shared memory per block, number of multiprocessors, and bytes of L2
    /// cache.
    pub(crate) fn new(major: u32, shared: usize, multiprocessors: usize, cache: u64) -> Self {
        // Clusters of 16 require 9.0; consumer chips (12.x) do not support that size.
        let clusters = matches!(major, 9 | 10);
        let keep_from = FAR_LARGER * cache;
        Limits { shared, clusters, cache, multiprocessors, keep_from, ..Limits::default() }
    }
}

impl Default for Limits {
    /// The limits of the H100 and H200, for use without a device.
    fn default() -> Self {
        Limits {
            shared: 227 * 1024,
            clusters: true,
            scratch: true,
            cache: 50 << 20,
            multiprocessors: 132,
            pairs_from: 128,
            keep_from: FAR_LARGER * (50 << 20),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cache_keeps_what_is_read_of_tensors_twice_its_size() {
        let limits = Limits::new(9, 227 * 1024, 132, 50 << 20);
        assert_eq!(limits.keep_from, 100 << 20);
        assert_eq!(limits.policy((100 << 20) - 1), NORMAL);
        assert_eq!(limits.policy(100 << 20), KEEP);
        // The device's values, not those of the H200.
        assert_eq!(Limits::new(8, 99 * 1024, 84, 6 << 20).policy(12 << 20), KEEP);
        let never = Limits { keep_from: u64::MAX, ..limits };
        assert_eq!(never.policy(1 << 40), NORMAL);
    }
}
