// Short rows that follow each other in the output without gaps: sixteen bytes may belong to two of
// them, and are put together before they are stored, so that every store is whole.
#pragma once
#include "pixels.cuh"

// Row number `row`, without a chunk.
template <bool LENGTHS>
__device__ __forceinline__ Chunk row_at(const Rows& p, u64 row) {
    Place at = settled(p.rows, p.lengths, row);
    Chunk c;
    c.in = p.src + at.src;
    c.out = p.dst + at.dst;
    c.start = 0;
    c.cut = cut_of<LENGTHS>(p, at.lengths);
    return c;
}

// A row's bytes of a chunk that begins at `start` in it; others are anything.
template <int W>
__device__ __forceinline__ bool piece(const Rows& p, const Chunk& c, i64 start, uint4& v) {
    const i64 bytes = (i64)p.units * W, middle = c.cut.at * W;
    i64 low = start < 0 ? 0 : start, high = start + 16 < bytes ? start + 16 : bytes;
    bool first = low < middle, good;
    if constexpr (W == 3) good = pixel_part(p, c, start, c.cut.way(!first), v);
    else good = part<W>(p, c, start, c.cut.way(!first), v);
    if (first && high > middle) {
        uint4 other;
        if constexpr (W == 3) good &= pixel_part(p, c, start, c.cut.behind, other);
        else good &= part<W>(p, c, start, c.cut.behind, other);
        v = joined(v, other, middle - start);
    }
    return good;
}

// `chunk` divides by the bytes of a row, of which there are at least 16; `count` rows in all.
template <int W, bool LENGTHS>
__device__ __forceinline__ void rows_dense(const Rows& p) {
    u64 thread = thread_index();
    if (thread >= p.threads) return;
    const i64 bytes = (i64)p.chunk.len, all = (i64)p.count * bytes;
    const i64 offset = (i64)thread * 16 - (i64)((u64)p.dst & 15);
    const u64 row = divide((u64)(offset < 0 ? 0 : offset), p.chunk);
    const i64 start = offset - (i64)row * bytes, left = bytes - start;
    uint4 v;
    bool good = piece<W>(p, row_at<LENGTHS>(p, row), start, v);
    if (left < 16 && row + 1 < p.count) {
        uint4 next;
        good &= piece<W>(p, row_at<LENGTHS>(p, row + 1), -left, next);
        v = joined(v, next, left);
    }
    if (stopped(p.lengths)) return;
    u8* out = p.dst + offset;
    if (good) {
        const int step = W == 3 ? 1 : W;
        if (offset >= 0 && offset + 16 <= all) store16(out, v);
        else store_some<step>(out, v, -offset, all - offset);
        return;
    }
    // At both ends of all that may be read: byte by byte.
#pragma unroll 1
    for (i64 to = offset < 0 ? 0 : offset; to < offset + 16 && to < all; ++to) {
        u64 at = divide((u64)to, p.chunk);
        i64 inside = to - (i64)at * bytes;
        Chunk c = row_at<LENGTHS>(p, at);
        p.dst[to] = c.in[c.cut.source(inside / W) * W + inside % W];
    }
}

#define DENSE(W)                                                                                   \
    ROWS(rows_dense_##W, rows_dense<W, false>)                                                     \
    ROWS(rows_dense_prefix_##W, rows_dense<W, true>)

DENSE(1) DENSE(2) DENSE(3) DENSE(4) DENSE(8)
