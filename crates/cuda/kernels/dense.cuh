// Short rows that are contiguous in the output: sixteen bytes may belong to two of them, and are
// combined before they are stored, so that every store is a full vector. A block finds its first
// row by a 64-bit division, and its threads theirs by a 32-bit one from there.
#pragma once
#include "window.cuh"

// Row number `row`: its input, and where its prefix ends.
struct Line {
    const u8* in;
    Cut cut;
};

__device__ __forceinline__ Line line_at(const Rows& p, u64 row) {
    Place at = settled(p.rows, p.lengths, row);
    return {kept(p.src, p.policy) + at.src, cut_of<true>(p, at.lengths)};
}

// A row's bytes of a chunk that begins at `start` in it, from one or both sides of the end of its
// prefix.
template <int W>
struct Piece {
    Window<W> first, second;
    i32 middle;  // where the second part begins
    bool both;

    __device__ __forceinline__ void open(const Rows& p, const Line& line, i32 start) {
        const i32 bytes = (i32)p.row.len, cut = (i32)line.cut.at * W;
        const i32 low = start < 0 ? 0 : start, high = start + 16 < bytes ? start + 16 : bytes;
        const bool before = low < cut;
        both = before && high > cut;
        middle = cut - start;
        first.template open<i32>(p, line.in, start, line.cut.way(!before));
        if (both) second.template open<i32>(p, line.in, start, line.cut.behind);
    }

    __device__ __forceinline__ bool good() const { return first.good && (!both || second.good); }

    __device__ __forceinline__ uint4 shut() const {
        uint4 v = first.shut();
        return both ? joined(v, second.shut(), middle) : v;
    }
};

// Sixteen bytes of output, from one row or from two.
template <int W>
struct Sixteen {
    Piece<W> here, next;
    u64 row;
    i32 start, left;  // where it begins in the row, and the bytes from there to the row's end
    bool any, last;

    // `inside` counts from the start of `block_row`.
    __device__ __forceinline__ void open(const Rows& p, u64 block_row, i32 inside) {
        const i32 bytes = (i32)p.row.len;
        const u32 skip = divide32((u32)(inside < 0 ? 0 : inside), p.row);
        row = block_row + skip;
        any = row < p.count;
        if (!any) return;
        last = row + 1 == p.count;
        start = inside - (i32)skip * bytes;
        left = bytes - start;
        here.open(p, line_at(p, row), start);
        if (crosses()) next.open(p, line_at(p, row + 1), -left);
    }

    __device__ __forceinline__ bool crosses() const { return left < 16 && !last; }

    __device__ __forceinline__ void put(const Rows& p, u8* out) const {
        if (!any) return;
        if (here.good() && (!crosses() || next.good())) {
            uint4 v = here.shut();
            if (crosses()) v = joined(v, next.shut(), left);
            const int step = W == 3 || W == 6 ? 1 : W == 12 ? 4 : W;
            if (start >= 0 && (left >= 16 || !last)) store16(out, v);
            else store_some<step>(out, v, -start, last ? left : 16);
            return;
        }
        // Near both ends of the readable range: byte by byte.
#pragma unroll 1
        for (i32 k = start < 0 ? -start : 0; k < 16 && (k < left || !last); ++k) {
            i32 at = k < left ? start + k : k - left;
            Line line = line_at(p, k < left ? row : row + 1);
            out[k] = line.in[line.cut.source(at / W) * W + at % W];
        }
    }
};

// Where a block begins: a row, and the offset into it.
struct Start {
    i64 byte;  // of the output
    u64 row;
    i32 inside;

    __device__ __forceinline__ Start(const Rows& p, i32 bytes) {
        byte = (i64)blockIdx.x * bytes - (i64)((u64)p.dst & 15);
        row = divide((u64)(byte < 0 ? 0 : byte), p.row);
        inside = (i32)(byte - (i64)row * (i64)p.row.len);
    }
};

// `row` divides by the bytes of a row, at least 16 and less than 2^30; `count` is the number of
// rows.
template <int W>
__device__ __forceinline__ void rows_dense(const Rows& p, const Start& start) {
    Sixteen<W> sixteen;
    sixteen.open(p, start.row, start.inside + (i32)threadIdx.x * 16);
    if (!stopped(p.lengths)) sixteen.put(p, p.dst + start.byte + (i32)threadIdx.x * 16);
}

const i32 FLIP_BYTES = FLIPS * THREADS * 16;

// Flips a block's bytes at both ends of all rows, byte by byte, using few registers.
template <int W>
__device__ __forceinline__ void put_flipped(const Rows& p, const Start& block, const u8* block_in, i32 step) {
    const i32 bytes = (i32)p.row.len;
#pragma unroll 1
    for (i32 to = (i32)threadIdx.x; to < FLIP_BYTES; to += THREADS) {
        const i32 inside = block.inside + to;
        if (inside < 0) continue;
        const u32 skip = divide32((u32)inside, p.row);
        if (block.row + skip >= p.count) continue;
        const i32 at = inside - (i32)skip * bytes, unit = at / W * W;
        p.dst[block.byte + to] = block_in[(i64)(i32)skip * step + (bytes - W - unit + (at - unit))];
    }
}

// Reverses whole rows that are contiguous along one dimension, or one row: fewer checks, with the
// readable range checked once per block. Without lengths, so nothing can stop it.
template <int W>
__device__ __forceinline__ void rows_dense_flip(const Rows& p) {
    const Start block(p, FLIP_BYTES);
    const i32 bytes = (i32)p.row.len;
    const i32 step = p.rows.rank ? (i32)p.rows.axis[0].src : 0;
    const u8* block_in = kept(p.src, p.policy) + (i64)block.row * step;
    const u32 rows = divide32((u32)(bytes + FLIP_BYTES), p.row) + 1;
    const u8* block_last = block_in + (i64)(i32)rows * step;
    const u8* low = (step < 0 ? block_last : block_in) - 64;
    const u8* high = (step < 0 ? block_in : block_last) + bytes + 64;
    if (block.byte < 0 || block.row + rows >= p.count || low < p.src_begin || high > p.src_end) {
        put_flipped<W>(p, block, block_in, step);
        return;
    }
#pragma unroll 1
    for (i32 k = 0; k < FLIPS; ++k) {
        const i32 to = (k * THREADS + (i32)threadIdx.x) * 16;
        const u32 skip = divide32((u32)(block.inside + to), p.row);
        const i32 start = block.inside + to - (i32)skip * bytes, left = bytes - start;
        const u8* in = block_in + (i64)(i32)skip * step;
        Window<W> here, next;
        here.open_back(in, bytes, start);
        if (left < 16) next.open_back(in + step, bytes, -left);
        uint4 v = here.shut_back();
        if (left < 16) v = joined(v, next.shut_back(), left);
        store16(p.dst + block.byte + to, v);
    }
}

#define DENSE(W) \
    KERNEL_BY(256, 5) rows_dense_##W(const __grid_constant__ Rows p) { rows_dense<W>(p, Start(p, THREADS * 16)); }

DENSE(1) DENSE(2) DENSE(3) DENSE(4) DENSE(6) DENSE(8) DENSE(12)
ROWS_BY(8, rows_dense_flip_1, rows_dense_flip<1>)
ROWS_BY(8, rows_dense_flip_2, rows_dense_flip<2>)
ROWS_BY(8, rows_dense_flip_3, rows_dense_flip<3>)
ROWS_BY(8, rows_dense_flip_6, rows_dense_flip<6>)
