// Constants and arguments that the host and the kernels share, written from src/constants.rs
// and src/params.rs by `scripts/build headers`. Do not edit.
#pragma once

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef signed char i8;
typedef short i16;
typedef int i32;
typedef long long i64;

const u32 NONE = 4294967295;  // Marks a dimension that does not exist
const i32 FEW = 6;  // The most outer dimensions of the fast kernels
// The most dimensions of the kernels for all others. No tensor in memory has more, because each
// dimension here has a size of at least 2.
const i32 MANY = 48;
const u32 SIGNED = 4;  // Bits of the type of a length, beside log2 of its bytes
const u32 UNALIGNED = 8;  // Some lengths are not at multiples of their bytes
const i32 MOST_SHARED = 232448;  // The most shared memory of a block on any chip, in bytes
// Threads of a block, except for tiles, columns and length checks: up to 2 % faster than 256, and
// 64 was much slower.
const i32 THREADS = 128;
const u32 TILE_THREADS = 256;  // Threads of a block that transposes a tile
const u32 CHECK_THREADS = 256;  // Threads of a block that checks lengths
const i32 CUT = 4;  // Vectors of a row per thread, if it has to wait for a length
const i32 MOVED = 2;  // The same if lengths move whole rows
// The same if vectors come from windows at any alignment, and one is not better.
const i32 PAIR = 2;
// Vectors of dense rows that a thread flips, one after the other: two amortise the setup of a
// block, and more were slower.
const i32 FLIPS = 2;
const i32 TRADED = 4;  // Vectors of each of two rows that a thread swaps
// Vectors are read up to this far around staged bytes, and what they add is not used.
const u32 MARGIN = 48;
// Bytes before staged short rows, for each of them: two vectors, and the end of its prefix.
const u32 SHORT_HEADER = 36;
const i32 TILE_BYTES = 16384;  // Bytes of a tile of segments of contiguous units
const i32 SWAP_TILE_BYTES = 16384;  // The same in place
const i32 STAGED_TILE = 16672;  // Shared memory of such a tile: three ranges at any alignment
// The same in place: five ranges, of which two are mirror images.
const i32 STAGED_SWAP_TILE = 33216;
const i32 SPREAD = 4;  // Pieces per thread of other tiles of segments
const i32 STAGED_PIECE = 1024;  // Bytes of a unit of segments that a warp stages at a time
const i32 STAGED_PIECES = 32;  // Such pieces of a block
const u32 TABLE_WORDS = 64;  // Words of a table that elements are looked up in
const u32 TILE_ROW = 128;  // Bytes of the rows of a tile of elements that are smaller than a word
const u32 TILE_SIDE = 64;  // Rows of a tile of other elements
const u32 VECTOR_SIDE = 32;  // Rows of a tile of vectors
const u32 COLUMN_THREADS = 512;  // Threads of a block that stages columns
// Threads of a block that stages columns of bytes, which fill a multiprocessor.
const u32 BYTE_THREADS = 768;
const i32 BYTE_BLOCKS = 2;  // Blocks of these that start together
const i32 BYTE_STRIP = 64;  // Bytes of a row that such a block stages
// What it keeps in shared memory beside the columns: of each, a length, two sources and a word.
const i32 BYTES_HELD = 2816;
const u32 CLUSTER = 16;  // Blocks of a cluster that stages columns
const u32 CLUSTER_GROUP = 32;  // Words of a column that one of these blocks takes at a time
// Threads of such a block, of which a multiprocessor holds three: some load while others store.
const u32 CLUSTER_THREADS = 256;
// Threads of a block that moves columns into scratch memory or from there.
const u32 PASS_THREADS = 256;
// Rows of its tile in shared memory: the more, the longer the ranges of a column in scratch.
const u32 TILE_ROWS = 256;
const u32 KEPT_APART = 0;  // A simulated kernel did nothing wrong
const u32 TOUCHED_SHARED = 1;  // It accessed shared memory out of bounds
const u32 READ_OUTSIDE = 2;  // It read vectors outside the input
const u32 RAN_EARLY = 3;  // One of its blocks would wait for a later one

// A dimension. `src` and `dst` count bytes, or packed elements, and `lengths` bytes.
struct Axis {
    u64 len;
    u64 mul;  // For divide(): by `len`; of packed elements, by `dst`
    i64 src;
    i64 dst;
    i64 lengths;
    u32 shift;
    u32 mul32;  // For divide32(): by `len`
};
static_assert(sizeof(Axis) == 48, "Axis");

// Dimensions, outermost first. `prefix` is the one whose prefix is reversed, or that offsets cut,
// or NONE.
template <int N>
struct Loops {
    u32 rank;
    u32 prefix;
    Axis axis[N];
};
static_assert(sizeof(Loops<FEW>) == 296, "Loops");

// Lengths, one per lane, or the offsets of segments. `first` is null if a plan has neither.
struct Lengths {
    const u8* first;
    const u32* stop;  // Nonzero: a length of this call is invalid, and nothing may be written
    u64 limit;
    i64 step;  // From one offset to the next
    u64 count;  // Offsets; 0 if these are lengths
    u32 kind;  // Log2 of the bytes, and SIGNED and UNALIGNED
    u32 zero;  // Steps beyond a length become zero
    u32 copies;  // A call that stops copies its input
    // Bits of an offset below its value, which say whether the segment that begins there is
    // reversed: 1 or 0.
    u32 marked;
};
static_assert(sizeof(Lengths) == 56, "Lengths");

// Units that are contiguous on both sides, forward or backward.
struct Rows {
    const u8* src;  // The lowest byte of the first row
    u8* dst;
    u64 policy;  // Cache policy of loads
    const u8* src_begin;  // What may be read
    const u8* src_end;
    u64 threads;
    u64 units;  // In a row
    u64 count;  // Rows
    u64 segment;  // Units that a warp stages of a row
    Axis per_row;  // Threads that share a row, or warps that stage one
    Axis row;  // Bytes of a row
    Axis unit;  // Bytes of a unit
    Axis apart;  // Vectors of a row, if rows are staged a vector apart; of length 0 otherwise
    u32 src_back;  // The row runs from high addresses to low ones
    u32 dst_back;
    u32 by_length;  // The row is the dimension with lengths
    u32 room;  // Bytes of shared memory per warp
    u32 stacked;  // Rows that a warp stages
    u32 unused;
    Lengths lengths;
    Loops<FEW> rows;
};
static_assert(sizeof(Rows) == 640, "Rows");

// A dimension that offsets cut into segments, the innermost one.
struct Segments {
    const u8* src;  // The first step of the first lane
    u8* dst;
    u64 policy;  // Cache policy of loads
    const u8* src_begin;  // What may be read
    const u8* src_end;
    u64 steps;  // Of the dimension
    i64 src_step;
    i64 dst_step;
    Axis blocks;  // That share a lane
    u64 run;  // Tiles that a block writes in turn
    Axis pieces;  // Of a unit
    u64 unit;  // Its bytes
    u64 piece;  // Bytes of a piece, of which the last one of a unit may have fewer
    Lengths lengths;
    Loops<FEW> outer;
};
static_assert(sizeof(Segments) == 536, "Segments");

// Pieces in any order.
struct Strided {
    const u8* src;
    u8* dst;
    u64 threads;
    Lengths lengths;
    Loops<MANY> loops;
};
static_assert(sizeof(Strided) == 2392, "Strided");

// Runs of output that pieces of the input are gathered for.
struct Gather {
    const u8* src;
    u8* dst;
    u64 threads;
    u64 run;  // Contiguous pieces of output
    Axis chunk;  // The most vectors that a run touches at any alignment
    Axis inner[2];  // The innermost dimension and the next
    u32 prefix;  // 0 or 1: one of those; 2: one of `outer`; or NONE
    u32 uniform;  // All runs have the same alignment modulo 16
    Lengths lengths;
    Loops<FEW> outer;
};
static_assert(sizeof(Gather) == 536, "Gather");

// Adjacent lanes with a length each.
struct Columns {
    const u8* src;  // The first step of the first column
    u8* dst;
    u64 policy;  // Cache policy of loads
    i64 src_step;  // From one step of the columns to the next
    i64 dst_step;
    u64 steps;
    u64 width;  // Bytes of a row
    Axis strip;  // Strips in a row
    Axis unit;  // Pieces in a column's unit
    u64 strips;  // In total; blocks beyond that exit
    i64 lengths_step;  // From one column's length to the next
    u32 strip_shift;  // Log2 of a strip's bytes
    u32 vectors;  // Rows of the input are 16-byte vectors
    u32 words;  // Rows of the output are words of at least 4 bytes
    u32 block_words;  // Words of a column that a block of a cluster holds
    u32 slice;  // Rows of a slice, if columns are not staged
    u32 slices;  // Of a strip
    Lengths lengths;
    Loops<FEW> outer;
};
static_assert(sizeof(Columns) == 544, "Columns");

// Columns that pass through scratch memory.
struct Strips {
    Columns columns;
    u8* scratch;
    u32* written;  // For each strip, how many of its tiles are in scratch
    u32* read;  // For each strip, how many tiles have been read from there
    u64 store_policy;  // Cache policy of stores to the output
    u64 pitch;  // Bytes of a column in scratch, whole cache lines
    u64 behind;  // Tiles between the passes
    Axis tiles;  // In a strip
    Axis ring;  // Strips that scratch holds
};
static_assert(sizeof(Strips) == 688, "Strips");

// Input whose contiguous dimension is not that of the output.
struct Tiles {
    const u8* src;
    u8* dst;
    u64 policy;  // Cache policy of loads
    Axis a;  // The output's innermost dimension
    Axis b;  // The input's innermost dimension
    Axis tiles_a;  // Tiles along each
    Axis tiles_b;
    u32 words;  // Bytes of the widest words that divide the rows of a complete tile on both sides
    u32 unused;
    Lengths lengths;
    Loops<FEW> outer;
};
static_assert(sizeof(Tiles) == 576, "Tiles");

// Elements of 1, 2 or 4 bits. Positions count elements.
struct Packed {
    const u8* src;
    u8* dst;
    u64 threads;
    i64 src_origin;  // The element at index 0 of all dimensions
    i64 src_begin;  // Elements that may be read, rounded to whole bytes
    i64 src_end;
    i64 dst_begin;  // Elements from the first to the last of the output
    i64 dst_end;
    i64 first_chunk;  // Start of the first thread's 16 bytes, before `dst` if that is not aligned
    u32 bits_log2;
    u32 high_first;
    u32 seals;  // The unused bits of the last byte are cleared
    u32 prefix_back;  // The prefix dimension runs from high output positions to low ones
    u32 row;  // The innermost dimension can be moved by words
    u32 src_back;  // Of a row
    Lengths lengths;
    Loops<MANY> loops;  // Sorted by `dst`, which is positive
};
static_assert(sizeof(Packed) == 2464, "Packed");

// The result of the check of lengths or offsets, in device memory.
struct Report {
    u32 stop;  // A length of the latest call is invalid
    u32 failed;  // Since the host last read it, a length was invalid; the rest describes the first
    u64 ordinal;
    i64 value;
    u64 limit;
    u64 low;  // Of an offset: the one before it
    u64 least;  // The lowest invalid index of the current call; all ones between calls
    u32 arrived;  // Blocks that have finished
    u32 is_signed;
    u32 is_offset;
    u32 zero;  // Always 0: read instead of `stop` by calls that an invalid length does not stop
};
static_assert(sizeof(Report) == 64, "Report");

// What is checked before anything moves.
struct Check {
    const u8* first;  // In row-major order
    Report* report;
    u64 count;
    u64 most;  // The largest valid value
    u64 limit;  // Size of the axis, for the report
    u32* alarm;  // In host memory, set to 1 when a report gets an error; null if nobody looks
    u32 kind;  // As in Lengths
    u32 offsets;  // They are offsets, not lengths
    u32 marked;  // As in Lengths
    u32 unused;
    Loops<MANY> loops;
};
static_assert(sizeof(Check) == 2376, "Check");

// What each byte becomes. The second argument of kernels that look elements up.
struct Table {
    u32 word[TABLE_WORDS];
};
static_assert(sizeof(Table) == 256, "Table");
