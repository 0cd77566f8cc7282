// Rows: units that lie together on both sides, forward, backward, or backward up to a length.
#pragma once
#include "vector.cuh"

struct Rows {
    const u8* src;  // lowest byte of the first row
    u8* dst;
    const u8* src_begin;  // what may be read
    const u8* src_end;
    u64 threads;
    u64 units;  // in a row
    Axis chunk;  // 16-byte pieces of a row, as many as one that is not aligned may touch
    u32 src_back;  // the row runs from high addresses to low ones
    u32 dst_back;
    u32 by_length;  // the row is the dimension with lengths
    u32 unused;
    Lengths lengths;
    Loops<6> rows;
};

// A row cut in two where the reversed start ends. In each part, position p of the output (in
// units, from the lowest address) comes from `from` + p or from `from` - p.
struct Cut {
    i64 at;
    i64 from[2];
    bool back[2];

    __device__ __forceinline__ i64 source(i64 p) const {
        bool second = p >= at;
        return second ? (back[1] ? from[1] - p : from[1] + p)
                      : (back[0] ? from[0] - p : from[0] + p);
    }
};

__device__ __forceinline__ Cut cut(i64 units, i64 length, bool src_back, bool dst_back) {
    Cut c;
    i64 n = units, l = length;
    if (!dst_back) {
        c.at = l;
        c.from[0] = src_back ? n - l : l - 1;
        c.back[0] = !src_back;
        c.from[1] = src_back ? n - 1 : 0;
        c.back[1] = src_back;
    } else {
        c.at = n - l;
        c.from[0] = src_back ? 0 : n - 1;
        c.back[0] = !src_back;
        c.from[1] = src_back ? 2 * n - 1 - l : l - n;
        c.back[1] = src_back;
    }
    return c;
}

// Where a thread works: a row, and one chunk of 16 aligned bytes of its output. `start` is the
// chunk's place in the row, and below 0 where the row begins inside it.
struct Chunk {
    const u8* in;
    u8* out;
    i64 start;
    Cut cut;
};

__device__ __forceinline__ Chunk chunk_of(const Rows& p, u64 thread) {
    u64 row = divide(thread, p.chunk);
    u64 number = thread - row * p.chunk.len;
    Place at = settled(p.rows, p.lengths, row);
    Chunk c;
    c.in = p.src + at.src;
    c.out = p.dst + at.dst;
    c.start = (i64)number * 16 - (i64)((u64)c.out & 15);
    i64 length = p.by_length ? (i64)length_at(p.lengths, at.lengths) : 0;
    c.cut = cut((i64)p.units, length, p.src_back, p.dst_back);
    return c;
}

// Everything is a multiple of 16: rows backward in units of W bytes, or forward (W = 0).
template <int W>
__device__ __forceinline__ void rows_aligned(const Rows& p) {
    u64 thread = thread_index();
    if (thread >= p.threads || stopped(p.lengths)) return;
    u64 row = divide(thread, p.chunk);
    u64 number = thread - row * p.chunk.len;
    Place at = settled(p.rows, p.lengths, row);
    u64 from = W ? p.chunk.len - 1 - number : number;
    uint4 v = load16(p.src + at.src + from * 16);
    store16(p.dst + at.dst + number * 16, reversed<W>(v));
}

// Units of W bytes at multiples of W.
template <int W>
__device__ __forceinline__ void rows_any(const Rows& p) {
    u64 thread = thread_index();
    if (thread >= p.threads || stopped(p.lengths)) return;
    Chunk c = chunk_of(p, thread);
    const i64 bytes = (i64)p.units * W, middle = c.cut.at * W;
    if (c.start >= bytes) return;
    bool first = c.start + 16 <= middle, second = c.start >= middle;
    if (c.start >= 0 && c.start + 16 <= bytes && (first || second)) {
        bool back = first ? c.cut.back[0] : c.cut.back[1];
        i64 from = (first ? c.cut.from[0] : c.cut.from[1]) * W;
        const u8* at = c.in + (back ? from - c.start + W - 16 : from + c.start);
        uint4 v;
        if (window16<W>(at, p.src_begin, p.src_end, v)) {
            store16(c.out + c.start, back ? reversed<W>(v) : v);
            return;
        }
    }
    // Ends of rows and of their parts: unit by unit, four loads before the first store.
    typedef typename Word<W>::T T;
    const int count = 16 / W, batch = count < 4 ? count : 4;
    const i64 position = c.start / W;
#pragma unroll 1
    for (int done = 0; done < count; done += batch) {
        T v[batch];
#pragma unroll
        for (int k = 0; k < batch; ++k) {
            i64 to = position + done + k;
            if (to >= 0 && to < (i64)p.units) v[k] = *(const T*)(c.in + c.cut.source(to) * W);
        }
#pragma unroll
        for (int k = 0; k < batch; ++k) {
            i64 to = position + done + k;
            if (to >= 0 && to < (i64)p.units) *(T*)(c.out + to * W) = v[k];
        }
    }
}

// Aligned rows backward in place: a vector and its mirror image trade places.
template <int W>
__device__ __forceinline__ void rows_swap(const Rows& p) {
    u64 thread = thread_index();
    if (thread >= p.threads || stopped(p.lengths)) return;
    u64 row = divide(thread, p.chunk);
    u64 number = thread - row * p.chunk.len;
    u8* base = p.dst + place(p.rows, row).dst;
    u8* low = base + number * 16;
    u8* high = base + (p.units * W / 16 - 1 - number) * 16;
    uint4 a = load16(low), b = load16(high);
    store16(high, reversed<W>(a));
    if (low != high) store16(low, reversed<W>(b));
}

KERNEL(256) rows_aligned_0(const __grid_constant__ Rows p) { rows_aligned<0>(p); }
KERNEL(256) rows_aligned_1(const __grid_constant__ Rows p) { rows_aligned<1>(p); }
KERNEL(256) rows_aligned_2(const __grid_constant__ Rows p) { rows_aligned<2>(p); }
KERNEL(256) rows_aligned_4(const __grid_constant__ Rows p) { rows_aligned<4>(p); }
KERNEL(256) rows_aligned_8(const __grid_constant__ Rows p) { rows_aligned<8>(p); }
KERNEL(256) rows_aligned_16(const __grid_constant__ Rows p) { rows_aligned<16>(p); }
KERNEL(256) rows_any_1(const __grid_constant__ Rows p) { rows_any<1>(p); }
KERNEL(256) rows_any_2(const __grid_constant__ Rows p) { rows_any<2>(p); }
KERNEL(256) rows_any_4(const __grid_constant__ Rows p) { rows_any<4>(p); }
KERNEL(256) rows_any_8(const __grid_constant__ Rows p) { rows_any<8>(p); }
KERNEL(256) rows_any_16(const __grid_constant__ Rows p) { rows_any<16>(p); }
KERNEL(256) rows_swap_1(const __grid_constant__ Rows p) { rows_swap<1>(p); }
KERNEL(256) rows_swap_2(const __grid_constant__ Rows p) { rows_swap<2>(p); }
KERNEL(256) rows_swap_4(const __grid_constant__ Rows p) { rows_swap<4>(p); }
KERNEL(256) rows_swap_8(const __grid_constant__ Rows p) { rows_swap<8>(p); }
KERNEL(256) rows_swap_16(const __grid_constant__ Rows p) { rows_swap<16>(p); }
