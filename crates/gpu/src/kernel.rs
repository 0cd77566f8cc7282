//! The ways to move elements, by name, and what a device has for them.

use std::fmt;

/// A way to move elements, named as in the files of `kernels/`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Kernel {
    /// Nothing moves.
    None,
    /// Rows of whole 16-byte vectors, one a thread.
    AlignedRows,
    /// Rows of whole 16-byte vectors with a length each, four a thread.
    CutRows,
    /// Rows that begin or end anywhere.
    Rows,
    /// Rows of units of 3, 6 or 12 bytes.
    Pixels,
    /// Rows without gaps between them: short ones, those of pixels, and whole flips of units of 4 or 8 bytes.
    DenseRows,
    /// Rows of at most 10 KiB with lengths, or short ones in place, without gaps between them on either side.
    ShortRows,
    /// Rows with lengths, and rows of units of any other width or that are not aligned to theirs.
    StagedRows,
    /// Lanes side by side, staged in shared memory.
    Columns,
    /// Lanes side by side, staged in the shared memory of 16 blocks.
    ClusterColumns,
    /// Lanes side by side that are too long to be staged.
    DirectColumns,
    /// Elements that lie together along another dimension than in the output.
    Tiles,
    /// Any order of reading, 16 bytes of output at a time.
    Gather,
    /// Piece by piece.
    Strided,
    /// Elements of 1, 2 or 4 bits.
    Packed,
    /// In place: aligned rows, vectors trade places.
    RowSwaps,
    /// In place: segments of rows trade places with their mirror images.
    StagedSwaps,
    /// In place: pieces trade places.
    Swaps,
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
            Kernel::DirectColumns => "direct columns",
            Kernel::Tiles => "tiles",
            Kernel::Gather => "gather",
            Kernel::Strided => "strided",
            Kernel::Packed => "packed",
            Kernel::RowSwaps => "row swaps",
            Kernel::StagedSwaps => "staged swaps",
            Kernel::Swaps => "swaps",
        }
    }

    /// What it does, in a few words.
    pub const fn about(self) -> &'static str {
        match self {
            Kernel::None => "nothing to move",
            Kernel::AlignedRows => "rows of 16-byte vectors, one a thread",
            Kernel::CutRows => "rows of 16-byte vectors with a length each",
            Kernel::Rows => "rows by 16-byte windows, wherever they begin and end",
            Kernel::Pixels => "rows of units of three pieces, a vector at a time",
            Kernel::DenseRows => "rows without gaps, a vector at a time across their ends",
            Kernel::ShortRows => "rows of at most some KiB without gaps, staged whole",
            Kernel::StagedRows => "rows by segments, staged in shared memory",
            Kernel::Columns => "lanes side by side, staged in shared memory",
            Kernel::ClusterColumns => {
                "lanes side by side, staged in the shared memory of 16 blocks"
            }
            Kernel::DirectColumns => "lanes side by side, too long to be staged, in slices",
            Kernel::Tiles => "squares that are turned in shared memory",
            Kernel::Gather => "16 bytes of output at a time, read piece by piece",
            Kernel::Strided => "piece by piece",
            Kernel::Packed => "packed elements, by words where a row allows",
            Kernel::RowSwaps => "in place: vectors of aligned rows trade places",
            Kernel::StagedSwaps => {
                "in place: segments of rows trade places, staged in shared memory"
            }
            Kernel::Swaps => "in place: pieces trade places",
        }
    }
}

impl fmt::Display for Kernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// What the choice depends on, beside plan and addresses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// Bytes of shared memory that one block may have.
    pub shared: usize,
    /// Whether 16 blocks can form a cluster.
    pub clusters: bool,
    /// Multiprocessors to keep busy.
    pub multiprocessors: usize,
    /// Vectors of a row from which on a thread takes two of them.
    pub pairs_from: u64,
    /// Bytes of a tensor from which on the cache is asked to keep what is read rather than what is written: 1 to
    /// 4 % faster, mostly. Some of it is still there afterwards, which kernels that use most of the cache notice for a
    /// while.
    pub keep_from: u64,
}

/// What a load asks of the cache, as the hardware has it: to be like all others, or to be thrown out last.
const NORMAL: u64 = 0x10F0_0000_0000_0000;
const KEEP: u64 = 0x14F0_0000_0000_0000;
/// Tensors that are this many times as large as the cache: smaller ones may be found there by whoever comes next.
const FAR_LARGER: u64 = 2;

impl Limits {
    /// With less than a device has.
    pub fn at_most(self, shared: usize, clusters: bool) -> Self {
        Limits { shared: self.shared.min(shared), clusters: self.clusters && clusters, ..self }
    }

    /// What loads of a tensor of so many bytes ask of the cache.
    pub(crate) fn policy(&self, bytes: u64) -> u64 {
        if bytes >= self.keep_from { KEEP } else { NORMAL }
    }

    /// By compute capability, shared memory per block, multiprocessors, and bytes of the cache that these share.
    pub(crate) fn new(major: u32, shared: usize, multiprocessors: usize, cache: u64) -> Self {
        // Clusters of 16 came with 9.0; consumer chips (12.x) form none of that size.
        let clusters = matches!(major, 9 | 10);
        let keep_from = FAR_LARGER * cache;
        Limits { shared, clusters, multiprocessors, keep_from, ..Limits::default() }
    }
}

impl Default for Limits {
    /// Those of the H100 and H200, for questions without a device.
    fn default() -> Self {
        Limits {
            shared: 227 * 1024,
            clusters: true,
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
        // What the device says, not what the H200 has.
        assert_eq!(Limits::new(8, 99 * 1024, 84, 6 << 20).policy(12 << 20), KEEP);
        let never = Limits { keep_from: u64::MAX, ..limits };
        assert_eq!(never.policy(1 << 40), NORMAL);
    }
}
