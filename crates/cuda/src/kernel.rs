//! The kernels by name, and the functions that they consist of.

use std::fmt;

/// What a kernel needs of a launch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Needs {
    /// Its threads wait for each other.
    Barriers,
    /// Barriers, and more shared memory than the default limit.
    SharedMemory,
    /// The same, and blocks that form clusters, which not every image supports.
    Clusters,
    /// Barriers, and a table as its second argument.
    Table,
}

/// A kernel's names, the widths for which there is a function of it, and what it needs.
struct Entries {
    kernel: Kernel,
    name: &'static str,
    about: &'static str,
    function: &'static str,
    widths: &'static [u8],
    needs: &'static [Needs],
}

macro_rules! kernels {
    ($($kernel:ident = $name:literal, $function:literal $widths:expr, $needs:expr, $about:literal;)+) => {
        /// A kernel, named as in the files of `kernels/`.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[non_exhaustive]
        pub enum Kernel {
            /// Nothing moves.
            None,
            $(#[doc = $about] $kernel,)+
        }

        const KERNELS: &[Entries] = &[
            $(Entries {
                kernel: Kernel::$kernel,
                name: $name,
                about: $about,
                function: $function,
                widths: $widths,
                needs: $needs,
            },)+
        ];
    };
}

use Needs::{Barriers, Clusters, SharedMemory, Table};

/// Widths of units, of pieces, and of the variants of the kernels that stage rows.
const UNITS: &[u8] = &[1, 2, 4, 8, 16];
const NARROW: &[u8] = &[1, 2, 4, 8];
const PIXELS: &[u8] = &[1, 2, 3, 4, 6, 8, 12];
const STAGED: &[u8] = &[0, 1, 2, 3, 4, 5, 6, 8, 12, 16, 22];
/// Kernels that have one function.
const ONE: &[u8] = &[0];

kernels! {
    AlignedRows = "aligned rows", "rows_aligned" &[0, 1, 2, 3, 4, 6, 8, 12, 16], &[],
        "rows of 16-byte vectors, one per thread";
    RowBlocks = "row blocks", "rows_blocks" ONE, &[],
        "blocks of 16-byte vectors that lengths move, two per thread";
    CutRows = "cut rows", "rows_cut" UNITS, &[],
        "rows of 16-byte vectors with a length each";
    Rows = "rows", "rows_any" PIXELS, &[],
        "rows by 16-byte windows at any alignment";
    RowPairs = "row pairs", "rows_pair" NARROW, &[],
        "the same, two windows per thread";
    DenseFlips = "dense flips", "rows_dense_flip" &[1, 2, 3, 6], &[],
        "contiguous rows, reversed as a whole, a vector at a time across their ends";
    WordFlips = "word flips", "rows_flip" &[4, 8, 12], &[],
        "the same for units that consist of words";
    DenseRows = "dense rows", "rows_dense" PIXELS, &[],
        "contiguous rows, a vector at a time across their ends";
    StagedRows = "staged rows", "rows_staged" STAGED, &[Barriers],
        "rows by segments, staged in shared memory";
    StagedSwaps = "staged swaps", "rows_staged_swap" STAGED, &[Barriers],
        "in place: swaps segments of rows, staged in shared memory";
    ShortRows = "short rows", "rows_short" PIXELS, &[Barriers],
        "contiguous rows of at most a few KiB, staged as a whole";
    BriefRows = "brief rows", "rows_brief" NARROW, &[Barriers],
        "contiguous rows of at most 112 bytes with lengths, one per lane";
    RowSwaps = "row swaps", "rows_swap" UNITS, &[],
        "in place: swaps vectors of aligned rows";
    BlockSwaps = "block swaps", "rows_trade" ONE, &[],
        "in place: swaps blocks of whole vectors";
    Strided = "strided", "strided" UNITS, &[],
        "piece by piece";
    Swaps = "swaps", "swap" UNITS, &[],
        "in place: swaps pieces";
    Gather = "gather", "gather" NARROW, &[],
        "16 bytes of output at a time, read piece by piece";
    GatherPrefix = "gather, by length", "gather_prefix" NARROW, &[],
        "the same with lengths";
    Tiles = "tiles", "tiles" UNITS, &[Barriers],
        "tiles that are transposed in shared memory";
    Columns = "columns", "columns" UNITS, &[SharedMemory],
        "adjacent lanes, staged in shared memory, up to four blocks in step";
    ColumnsZero = "columns, zero", "columns_zero" UNITS, &[SharedMemory],
        "the same, with tails that become zero";
    ColumnsBytes = "columns of bytes", "columns_bytes" &[1], &[SharedMemory],
        "adjacent lanes of bytes, transposed in shared memory";
    ClusterColumns = "cluster columns", "columns_cluster" &[1, 2, 4], &[Clusters],
        "adjacent lanes, staged in the shared memory of a 16-block cluster";
    ScratchColumns = "scratch columns", "columns_scratch" UNITS, &[Barriers],
        "adjacent lanes too long to be staged, transposed into scratch memory and back";
    ScratchColumnsWide = "scratch columns, wide", "columns_scratch_wide" UNITS, &[SharedMemory],
        "the same, in strips of two cache lines";
    DirectColumns = "direct columns", "columns_direct" NARROW, &[],
        "adjacent lanes too long to be staged, in slices";
    Packed = "packed", "packed" ONE, &[],
        "packed elements, by words if rows allow it";
    PackedFlips = "packed flips", "packed_flip" ONE, &[],
        "one row of packed elements, reversed as a whole";
    PackedMore = "packed, more", "packed_more" ONE, &[],
        "packed elements in segments, or with tails that become zero";
    PackedTable = "packed, looked up", "packed_table" ONE, &[Table],
        "packed elements and bytes that are looked up in a table, 16 bytes at a time";
    ShortRowTable = "short rows, looked up", "rows_short_table" &[1], &[Table],
        "contiguous rows of bytes that are looked up in a table, staged as a whole";
    StagedRowTable = "staged rows, looked up", "rows_staged_table" &[1], &[Table],
        "rows of bytes that are looked up in a table, by segments in shared memory";
    SegmentRowTable = "segment rows, looked up", "segments_rows_table" &[1], &[Table],
        "segments of bytes that are looked up in a table, by tiles in shared memory";
    SegmentRows = "segment rows", "segments_rows" UNITS, &[Barriers],
        "segments of contiguous units, by tiles in shared memory";
    SegmentRowSwaps = "segment row swaps", "segments_rows_swap" UNITS, &[Barriers],
        "in place: segments of contiguous units, by tiles in shared memory";
    SegmentUnits = "segment units", "segments_units" ONE, &[Barriers],
        "segments of wide units, by pieces in shared memory; in place, swaps them";
    SegmentBlocks = "segment blocks", "segments_blocks" UNITS, &[Barriers],
        "segments of blocks, several pieces per thread";
    SegmentSwaps = "segment swaps", "segments_swap" UNITS, &[Barriers],
        "in place: swaps pieces within their segments";
    SegmentStrided = "segment strided", "segments_strided" UNITS, &[],
        "segments piece by piece, each of which is searched for; in place, swaps them";
    CheckLengths = "check lengths", "check_lengths" ONE, &[Barriers],
        "checks lengths or offsets on the device before a call that uses them";
}

impl Kernel {
    /// How many there are, with the one that moves nothing.
    pub(crate) const COUNT: usize = KERNELS.len() + 1;

    fn entries(self) -> Option<&'static Entries> {
        KERNELS.get((self as usize).checked_sub(1)?)
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        self.entries().map_or("none", |entries| entries.name)
    }

    /// A short description.
    pub fn about(self) -> &'static str {
        self.entries().map_or("nothing to move", |entries| entries.about)
    }

    fn needs(self, what: &[Needs]) -> bool {
        self.entries().is_some_and(|entries| entries.needs.iter().any(|need| what.contains(need)))
    }

    /// Whether its threads wait for each other.
    #[cfg(feature = "simulate")]
    pub(crate) fn waits(self) -> bool {
        self.needs(&[Barriers, SharedMemory, Clusters, Table])
    }

    /// Whether what it stages is undefined if offsets are invalid: its calls have to know of that.
    pub(crate) fn stages_segments(self) -> bool {
        use Kernel::*;
        matches!(self, SegmentRows | SegmentRowSwaps | SegmentRowTable)
    }

    /// Whether its blocks need more shared memory than the default limit.
    pub(crate) fn stages(self) -> bool {
        self.needs(&[SharedMemory, Clusters])
    }

    /// Whether it looks elements up in a table, its second argument.
    pub(crate) fn looks_up(self) -> bool {
        self.needs(&[Table])
    }

    /// Whether it can look elements up in place, without a copy of them.
    pub(crate) fn looks_up_in_place(self) -> bool {
        self == Kernel::ShortRowTable
    }

    /// Whether its blocks form clusters, which not every image supports.
    pub(crate) fn clusters(self) -> bool {
        self.needs(&[Clusters])
    }
}

impl fmt::Display for Kernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// A function: a kernel, and the width that it is compiled for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Entry(pub(crate) Kernel, pub(crate) u8);

impl Entry {
    /// All of them.
    pub(crate) fn all() -> impl Iterator<Item = Entry> {
        KERNELS
            .iter()
            .flat_map(|entries| entries.widths.iter().map(|&width| Entry(entries.kernel, width)))
    }

    /// Its name in the compiled kernels.
    pub(crate) fn name(self) -> String {
        let Entry(kernel, width) = self;
        let Some(entries) = kernel.entries() else { return String::new() };
        if entries.widths.len() == 1 && width == 0 && !entries.function.starts_with("rows") {
            return entries.function.to_owned();
        }
        format!("{}_{width}", entries.function)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kernels_are_listed_in_the_order_of_their_numbers() {
        for (at, entries) in KERNELS.iter().enumerate() {
            assert_eq!(entries.kernel as usize, at + 1, "{}", entries.name);
        }
    }
}
