// Reverses whole rows that are contiguous in the output, with units of 4 or 8 bytes or words of
// pixels: one vector per thread, also across the end of a row. The less a thread computes before it
// loads, the faster it is: one division, in 32 bits if possible. Nothing outside the rows is read.
#pragma once
#include "rows.cuh"

// A vector of words or of pairs of words.
__device__ __forceinline__ uint4 vector_of(const u32 (&v)[4]) { return make_uint4(v[0], v[1], v[2], v[3]); }
__device__ __forceinline__ uint4 vector_of(const u64 (&v)[2]) {
    return make_uint4((u32)v[0], (u32)(v[0] >> 32), (u32)v[1], (u32)(v[1] >> 32));
}

// A thread's vector. I is the type that counts bytes of the output.
template <int W, typename I>
__device__ __forceinline__ void flip_at(const Rows& p, I byte, I row) {
    const int G = W == 12 ? 4 : W, COUNT = 16 / G;
    typedef typename Word<G>::T T;
    const i64 rows = (i64)p.count - (i64)row;  // from here on
    if (rows <= 0) return;
    const i32 bytes = (i32)p.row.len, step = p.rows.rank ? (i32)p.rows.axis[0].src : 0;
    const i32 start = (i32)(byte - row * (I)bytes), left = bytes - start;
    const i32 next = step + bytes;  // offset of a word in the next row relative to this one
    const u8* from = kept(p.src, p.policy) + (i64)row * step + (left - W);
    u8* out = p.dst + byte;
    i32 part = W == 12 ? (i32)((u32)(start + 12) % 12) : 0;
    if (start >= 0 && (left >= 16 || rows > 1)) {
        T v[COUNT];
#pragma unroll
        for (int i = 0; i < COUNT; ++i) {
            v[i] = *(const T*)(from + ((i * G < left ? 0 : next) - i * G + 2 * part));
            if (W == 12) part = part == 8 ? 0 : part + 4;
        }
        if (!stopped(p.lengths)) store16(out, vector_of(v));
        return;
    }
    // Near both ends of all rows.
    if (stopped(p.lengths)) return;
#pragma unroll 1
    for (i32 i = 0; i < 16; i += G) {
        const bool here = i < left;
        if (start + i >= 0 && (here || rows > 1)) *(T*)(out + i) = *(const T*)(from + ((here ? 0 : next) - i + 2 * part));
        if (W == 12) part = part == 8 ? 0 : part + 4;
    }
}

// `row` divides by the bytes of a row, at least 16 and less than 2^30; `count` is the number of
// rows, in one dimension.
template <int W>
__device__ __forceinline__ void rows_flip(const Rows& p) {
    const i32 lead = (i32)((u64)p.dst & 15), size = THREADS * 16;
    if (blockIdx.x < (1u << 31) / size) {
        const i32 byte = (i32)(blockIdx.x * size + threadIdx.x * 16) - lead;
        flip_at<W>(p, byte, (i32)divide32((u32)(byte < 0 ? 0 : byte), p.row));
    } else {
        const i64 byte = (i64)blockIdx.x * size + (i64)threadIdx.x * 16 - lead;
        flip_at<W>(p, byte, (i64)divide((u64)byte, p.row));
    }
}

ROWS_BY(8, rows_flip_4, rows_flip<4>)
ROWS_BY(8, rows_flip_8, rows_flip<8>)
ROWS_BY(8, rows_flip_12, rows_flip<12>)
