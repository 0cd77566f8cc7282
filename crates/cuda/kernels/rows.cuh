// Rows: units that are contiguous on both sides, forward or backward; and how a length splits them,
// for the kernels that need that.
#pragma once
#include "vector.cuh"

// One direction: position p of the output (in units, from the lowest address) comes from `from` + p
// or from `from` - p.
struct Way {
    i64 from;
    bool back;

    __device__ __forceinline__ i64 source(i64 p) const { return back ? from - p : from + p; }
};

// A row split in two at the end of its reversed prefix. Two members instead of an array, which
// indexing at run time would put into local memory.
struct Cut {
    i64 at;
    Way before, behind;

    __device__ __forceinline__ Way way(bool second) const {
        Way w;
        w.from = second ? behind.from : before.from;
        w.back = second ? behind.back : before.back;
        return w;
    }

    __device__ __forceinline__ i64 source(i64 p) const { return way(p >= at).source(p); }
};

__device__ __forceinline__ Cut cut(i64 units, i64 length, bool src_back, bool dst_back) {
    const i64 n = units, l = length;
    Cut c;
    c.before.back = !src_back;
    c.behind.back = src_back;
    if (!dst_back) {
        c.at = l;
        c.before.from = src_back ? n - l : l - 1;
        c.behind.from = src_back ? n - 1 : 0;
    } else {
        c.at = n - l;
        c.before.from = src_back ? 0 : n - 1;
        c.behind.from = src_back ? 2 * n - 1 - l : l - n;
    }
    return c;
}

// A thread's work: a row, and the first of its chunks of 16 aligned bytes of the output.
struct Chunk {
    const u8* in;
    u8* out;
    i64 start;  // of the chunk, in bytes of the row; below 0 where the row begins inside it
    bool beyond;  // the row is beyond a length and becomes zero
    Cut cut;
};

// How a row is split: by its length, or not.
template <bool LENGTHS>
__device__ __forceinline__ Cut cut_of(const Rows& p, i64 lengths) {
    if (LENGTHS && p.by_length)
        return cut((i64)p.units, (i64)length_at(p.lengths, lengths), p.src_back, p.dst_back);
    Cut c;
    c.at = 0;
    c.behind.from = p.src_back ? (i64)p.units - 1 : 0;
    c.behind.back = p.src_back;
    c.before = c.behind;
    return c;
}

template <bool LENGTHS>
__device__ __forceinline__ Chunk chunk_of(const Rows& p, u64 thread) {
    u64 row = divide(thread, p.per_row);
    u64 number = thread - row * p.per_row.len;
    Chunk c;
    Place at = settled(p.rows, p.lengths, row, c.beyond);
    c.in = kept(p.src, p.policy) + at.src;
    c.out = p.dst + at.dst;
    c.start = (i64)number * 16 - (i64)((u64)c.out & 15);
    c.cut = cut_of<LENGTHS>(p, at.lengths);
    return c;
}

// Everything is a multiple of 16: rows backward in units of W bytes, or forward (W = 0).
template <int W>
__device__ __forceinline__ void rows_aligned(const Rows& p) {
    u64 thread = thread_index();
    if (thread >= p.threads) return;
    u64 row = divide(thread, p.per_row);
    u64 number = thread - row * p.per_row.len;
    Place at = settled(p.rows, p.lengths, row);
    uint4 v = load16(kept(p.src, p.policy) + at.src + (W ? p.per_row.len - 1 - number : number) * 16);
    // Checked only now: loads are harmless and need not wait for the length check.
    if (stopped(p.lengths)) return;
    store16(p.dst + at.dst + number * 16, reversed<W>(v));
}

// The bytes of a chunk from one part. Positions outside the part give bytes that are not used.
template <int W>
__device__ __forceinline__ bool part(const Rows& p, const Chunk& c, i64 start, Way way, uint4& v) {
    i64 from = way.from * W;
    const u8* at = c.in + (way.back ? from - start + W - 16 : from + start);
    if (!window16<W>(at, p.src_begin, p.src_end, v)) return false;
    if (way.back) v = reversed<W>(v);
    return true;
}

// Near both ends of the readable range: unit by unit. Inlined, because a call would keep the chunk
// in local memory.
template <int W>
__device__ __forceinline__ void put_units(const Rows& p, const Chunk& c, i64 start) {
    typedef typename Word<W>::T T;
#pragma unroll 1
    for (i64 to = start / W; to < start / W + 16 / W; ++to)
        if (to >= 0 && to < (i64)p.units) *(T*)(c.out + to * W) = *(const T*)(c.in + c.cut.source(to) * W);
}

// Stores a chunk, of which the row may begin or end inside.
template <int W>
__device__ __forceinline__ void put_row(const Rows& p, const Chunk& c, i64 start, uint4 v) {
    const i64 bytes = (i64)p.units * W;
    if (start >= 0 && start + 16 <= bytes) store16(c.out + start, v);
    else store_some<W>(c.out + start, v, -start, bytes - start);
}

// Vectors of a row that are so many bytes apart; `at` is the source of the first.
template <int W, int VECTORS>
__device__ __forceinline__ void put_vectors(const Rows& p, const u8* at, u8* out, bool back, i64 apart) {
    const u32 shift = (u32)(u64)at & 15;
    const u8* low = at - shift;
    const i64 step = back ? -apart : apart;
    // All loads before the first use.
    uint4 a[VECTORS], b[VECTORS];
#pragma unroll
    for (int k = 0; k < VECTORS; ++k) a[k] = load16(low + step * k), b[k] = load16(low + 16 + step * k);
    if (stopped(p.lengths)) return;
    // Without branches: the rows of a warp have different shifts.
#pragma unroll
    for (int k = 0; k < VECTORS; ++k) store16(out + apart * k, turned<W>(a[k], b[k], shift, back));
}

// Units of W bytes at multiples of W. A thread moves as many vectors of a row as VECTORS says, with all
// those of the other threads of the row between two of them.
template <int W, int VECTORS>
__device__ __forceinline__ void rows_any(const Rows& p) {
    u64 thread = thread_index();
    if (thread >= p.threads) return;
    Chunk c = chunk_of<false>(p, thread);
    const i64 bytes = (i64)p.units * W, apart = (i64)p.per_row.len * 16, reach = apart * (VECTORS - 1);
    if (!c.beyond && c.start >= 0 && c.start + reach + 16 <= bytes) {
        const Way way = c.cut.behind;
        const u8* at = c.in + (way.back ? way.from * W - c.start + W - 16 : way.from * W + c.start);
        const u8* lowest = at - 15 - (way.back ? reach : 0);
        const u8* highest = at + 32 + (way.back ? 0 : reach);
        if (lowest >= p.src_begin && highest <= p.src_end) {
            put_vectors<W, VECTORS>(p, at, c.out + c.start, way.back, apart);
            return;
        }
    }
    // Ends of rows, and rows that become zero. All loads before the first store here too.
    uint4 v[VECTORS];
    bool good[VECTORS];
#pragma unroll
    for (int k = 0; k < VECTORS; ++k) {
        v[k] = make_uint4(0, 0, 0, 0);
        good[k] = c.beyond || part<W>(p, c, c.start + apart * k, c.cut.behind, v[k]);
    }
    if (stopped(p.lengths)) return;
#pragma unroll
    for (int k = 0; k < VECTORS; ++k) {
        if (good[k]) put_row<W>(p, c, c.start + apart * k, v[k]);
        else put_units<W>(p, c, c.start + apart * k);
    }
}

// Reverses aligned rows in place: a vector and its mirror image are swapped.
template <int W>
__device__ __forceinline__ void rows_swap(const Rows& p) {
    u64 thread = thread_index();
    if (thread >= p.threads || stopped(p.lengths)) return;
    u64 row = divide(thread, p.per_row);
    u64 number = thread - row * p.per_row.len;
    u8* base = p.dst + place(p.rows, row).dst;
    u8* low = base + number * 16;
    u8* high = base + (p.units * W / 16 - 1 - number) * 16;
    uint4 a = load16(kept(low, p.policy)), b = load16(kept(high, p.policy));
    store16(high, reversed<W>(a));
    if (low != high) store16(low, reversed<W>(b));
}

#define ROWS_BY(BLOCKS, NAME, ...) \
    KERNEL_BY(256, BLOCKS) NAME(const __grid_constant__ Rows p) { __VA_ARGS__(p); }
#define ROWS(NAME, ...) \
    KERNEL(256) NAME(const __grid_constant__ Rows p) { __VA_ARGS__(p); }

ROWS(rows_aligned_0, rows_aligned<0>)
ROWS(rows_aligned_1, rows_aligned<1>)
ROWS(rows_aligned_2, rows_aligned<2>)
ROWS(rows_aligned_4, rows_aligned<4>)
ROWS(rows_aligned_8, rows_aligned<8>)
ROWS(rows_aligned_16, rows_aligned<16>)
#define ROWS_OF(W)                                                                                 \
    ROWS(rows_any_##W, rows_any<W, 1>)                                                             \
    ROWS(rows_pair_##W, rows_any<W, PAIR>)

ROWS_OF(1) ROWS_OF(2) ROWS_OF(4) ROWS_OF(8)
ROWS(rows_swap_1, rows_swap<1>)
ROWS(rows_swap_2, rows_swap<2>)
ROWS(rows_swap_4, rows_swap<4>)
ROWS(rows_swap_8, rows_swap<8>)
ROWS(rows_swap_16, rows_swap<16>)
