//! Constants that the host and the kernels share: the test of `params::header` writes them into the
//! header that the kernels include.
// Some are for the simulation only.
#![cfg_attr(not(feature = "simulate"), allow(dead_code))]

/// A constant, with the type that it has in the kernels.
#[cfg(test)]
pub(crate) struct Constant {
    pub(crate) name: &'static str,
    pub(crate) kind: &'static str,
    pub(crate) value: u64,
    pub(crate) about: String,
}

/// Declares constants, each with the type that it has in the kernels.
macro_rules! constants {
    ($($(#[doc = $about:literal])* $there:ident $name:ident: $kind:ty = $value:expr;)+) => {
        $($(#[doc = $about])* pub(crate) const $name: $kind = $value;)+

        /// All of them.
        #[cfg(test)]
        pub(crate) fn shared() -> Vec<Constant> {
            vec![$(Constant {
                name: stringify!($name),
                kind: stringify!($there),
                value: $name as u64,
                about: concat!($($about),*).to_owned(),
            }),+]
        }
    };
}

constants! {
    /// Marks a dimension that does not exist.
    u32 NONE: u32 = u32::MAX;
    /// The most outer dimensions of the fast kernels.
    i32 FEW: usize = 6;
    /// The most dimensions of the kernels for all others. No tensor in memory has more, because each
    /// dimension here has a size of at least 2.
    i32 MANY: usize = 48;
    /// Bits of the type of a length, beside log2 of its bytes.
    u32 SIGNED: u32 = 4;
    /// Some lengths are not at multiples of their bytes.
    u32 UNALIGNED: u32 = 8;
    /// The most shared memory of a block on any chip, in bytes.
    i32 MOST_SHARED: u64 = 227 * 1024;

    /// Threads of a block, except for tiles, columns and length checks: up to 2 % faster than 256, and
    /// 64 was much slower.
    i32 THREADS: u32 = 128;
    /// Threads of a block that transposes a tile.
    u32 TILE_THREADS: u32 = 256;
    /// Threads of a block that checks lengths.
    u32 CHECK_THREADS: u32 = 256;

    /// Vectors of a row per thread, if it has to wait for a length.
    i32 CUT: u64 = 4;
    /// The same if lengths move whole rows.
    i32 MOVED: u64 = 2;
    /// The same if vectors come from windows at any alignment, and one is not better.
    i32 PAIR: u64 = 2;
    /// Vectors of dense rows that a thread flips, one after the other: two amortise the setup of a
    /// block, and more were slower.
    i32 FLIPS: u64 = 2;
    /// Vectors of each of two rows that a thread swaps.
    i32 TRADED: u64 = 4;

    /// Vectors are read up to this far around staged bytes, and what they add is not used.
    u32 MARGIN: u64 = 48;
    /// Bytes before staged short rows, for each of them: two vectors, and the end of its prefix.
    u32 SHORT_HEADER: u64 = 2 * 16 + 4;

    /// Bytes of a tile of segments of contiguous units.
    i32 TILE_BYTES: u64 = 16384;
    /// The same in place.
    i32 SWAP_TILE_BYTES: u64 = 16384;
    /// Shared memory of such a tile: three ranges at any alignment.
    i32 STAGED_TILE: u64 = TILE_BYTES + 3 * (32 + MARGIN) + MARGIN;
    /// The same in place: five ranges, of which two are mirror images.
    i32 STAGED_SWAP_TILE: u64 = 2 * SWAP_TILE_BYTES + 5 * (32 + MARGIN) + MARGIN;
    /// Pieces per thread of other tiles of segments.
    i32 SPREAD: u64 = 4;
    /// Bytes of a unit of segments that a warp stages at a time.
    i32 STAGED_PIECE: u64 = 1024;
    /// Such pieces of a block.
    i32 STAGED_PIECES: u64 = 32;

    /// Words of a table that elements are looked up in.
    u32 TABLE_WORDS: usize = 64;

    /// Bytes of the rows of a tile of elements that are smaller than a word.
    u32 TILE_ROW: u64 = 128;
    /// Rows of a tile of other elements.
    u32 TILE_SIDE: u64 = 64;
    /// Rows of a tile of vectors.
    u32 VECTOR_SIDE: u64 = 32;

    /// Threads of a block that stages columns.
    u32 COLUMN_THREADS: u32 = 512;
    /// Threads of a block that stages columns of bytes, which fill a multiprocessor.
    u32 BYTE_THREADS: u32 = 768;
    /// Blocks of these that start together.
    i32 BYTE_BLOCKS: u64 = 2;
    /// Bytes of a row that such a block stages.
    i32 BYTE_STRIP: u64 = 64;
    /// What it keeps in shared memory beside the columns: of each, a length, two sources and a word.
    i32 BYTES_HELD: u64 = BYTE_STRIP * (8 + 2 * 16 + 4);
    /// Blocks of a cluster that stages columns.
    u32 CLUSTER: u64 = 16;
    /// Words of a column that one of these blocks takes at a time.
    u32 CLUSTER_GROUP: u64 = 32;
    /// Threads of such a block, of which a multiprocessor holds three: some load while others store.
    u32 CLUSTER_THREADS: u32 = 256;
    /// Threads of a block that moves columns into scratch memory or from there.
    u32 PASS_THREADS: u32 = 256;
    /// Rows of its tile in shared memory: the more, the longer the ranges of a column in scratch.
    u32 TILE_ROWS: u64 = 256;

    /// A simulated kernel did nothing wrong.
    u32 KEPT_APART: u32 = 0;
    /// It accessed shared memory out of bounds.
    u32 TOUCHED_SHARED: u32 = 1;
    /// It read vectors outside the input.
    u32 READ_OUTSIDE: u32 = 2;
    /// One of its blocks would wait for a later one.
    u32 RAN_EARLY: u32 = 3;
}
