// Columns that each have a length, side by side in rows: a strip of them is staged in shared
// memory, all rows, so that both sides of memory see whole rows. Works in place too.
#pragma once
#include "async.cuh"

extern __shared__ uint4 staged[];

struct Columns {
    const u8* src;  // the first column's first step
    u8* dst;
    i64 src_step;  // from one step of the columns to the next
    i64 dst_step;
    u64 steps;
    u64 width;  // bytes of a row
    Axis strip;  // strips in a row
    Axis unit;  // granules in a column's unit
    u64 strips;  // in all; blocks beyond have nothing to do
    i64 lengths_step;  // from one column's length to the next
    u32 strip_shift;  // log2 of a strip's bytes
    u32 vectors;  // rows of the input are 16-byte vectors
    u32 words;  // rows of the output are words of at least 4 bytes
    u32 rows;  // clusters: rows that one block of a cluster holds
    u32 pitch;  // and words from one column to the next, so that they lie in separate banks
    u32 unused;
    Lengths lengths;
    Loops<6> outer;
};

struct Strip {
    const u8* src;
    u8* dst;
    i64 lengths;
    u64 column;  // its first byte in a row
    u32 width;  // bytes, less than a whole strip's at the end of a row
};

__device__ __forceinline__ Strip strip_of(const Columns& p, u64 number) {
    u64 outer = divide(number, p.strip);
    u64 column = (number - outer * p.strip.len) << p.strip_shift;
    Place at = place(p.outer, outer);
    Strip s = {p.src + at.src + column, p.dst + at.dst + column, at.lengths, column, 0};
    u64 left = p.width - column, most = 1ull << p.strip_shift;
    s.width = number < p.strips ? (u32)(left < most ? left : most) : 0;
    return s;
}

// The length of the column that a granule of the strip belongs to.
template <int G>
__device__ __forceinline__ u64 column_length(const Columns& p, const Strip& s, u32 byte) {
    u64 column = divide((s.column + byte) / G, p.unit);
    return length_at(p.lengths, s.lengths + (i64)column * p.lengths_step);
}

// Asks for all rows of a strip.
template <int G>
__device__ __forceinline__ void stage(const Columns& p, const Strip& s, u8* held) {
    typedef typename Word<G>::T T;
    const u32 threads = blockDim.x;
    if (p.vectors) {
        u32 per_row = p.strip_shift - 4, mask = (1u << per_row) - 1;
        u32 all = (u32)p.steps << per_row, byte = (threadIdx.x & mask) * 16;
        if (byte < s.width) {
            // A block's threads are whole rows, so each stays in its column.
            const u8* from = s.src + (i64)(threadIdx.x >> per_row) * p.src_step + byte;
            const i64 step = (i64)(threads >> per_row) * p.src_step;
#pragma unroll 8
            for (u32 i = threadIdx.x; i < all; i += threads, from += step) copy_async16(held + i * 16, from);
        }
    } else {
        u32 per_row = p.strip_shift - __ffs(G) + 1, mask = (1u << per_row) - 1;
        u32 all = (u32)p.steps << per_row, byte = (threadIdx.x & mask) * G;
        if (byte < s.width) {
            const u8* from = s.src + (i64)(threadIdx.x >> per_row) * p.src_step + byte;
            const i64 step = (i64)(threads >> per_row) * p.src_step;
#pragma unroll 8
            for (u32 i = threadIdx.x; i < all; i += threads, from += step) *(T*)(held + i * G) = *(const T*)from;
        }
    }
}

// One granule, or several that make up a word of 4 bytes.
template <int COUNT, typename T>
__device__ __forceinline__ void put_together(u8* to, const T (&v)[COUNT]) {
    if constexpr (COUNT == 1) {
        *(T*)to = v[0];
    } else {
        u32 word = 0;
#pragma unroll
        for (int k = 0; k < COUNT; ++k) word |= (u32)v[k] << (32 / COUNT * k);
        *(u32*)to = word;
    }
}

// Writes words of S bytes, each made of granules from S / G columns. TOGETHER: the blocks of a cluster
// begin to write at the same time, so that memory sees strips beside each other as one.
template <int G, int S, bool TOGETHER>
__device__ __forceinline__ void columns_by(const Columns& p) {
    typedef typename Word<G>::T T;
    const int count = S / G;
    u8* held = (u8*)staged;
    const Strip s = strip_of(p, blockIdx.x);
    stage<G>(p, s, held);
    const u32 shift = p.strip_shift, per_row = shift - (__ffs(S) - 1);
    const u32 byte = (threadIdx.x & ((1u << per_row) - 1)) * S;
    // Lengths come while rows do.
    u32 length[count], mirror[count];
#pragma unroll
    for (int k = 0; k < count; ++k) {
        length[k] = byte < s.width ? (u32)column_length<G>(p, s, byte + k * G) : 0;
        // Where step 0 comes from; each further step lies one row before.
        mirror[k] = ((length[k] - 1) << shift) + byte + k * G;
    }
    const bool stop = stopped(p.lengths);
    wait_for_copies();
#if __CUDA_ARCH__ >= 900
    if constexpr (TOGETHER) cluster_pace();
#endif
    if (stop || byte >= s.width) return;
    const u32 rows = blockDim.x >> per_row, steps = (u32)p.steps;
    u32 t = threadIdx.x >> per_row, row = t << shift;
    u8* out = s.dst + byte + (i64)t * p.dst_step;
    const i64 step = (i64)rows * p.dst_step;
#pragma unroll 8
    for (; t < steps; t += rows, row += rows << shift, out += step) {
        T v[count];
#pragma unroll
        for (int k = 0; k < count; ++k)
            v[k] = *(const T*)(held + (t < length[k] ? mirror[k] - row : row + byte + k * G));
        put_together<count>(out, v);
    }
}

// The same from the input itself, where a strip does not fit.
template <int G, int S>
__device__ __forceinline__ void put_direct(const Columns& p, const Strip& s) {
    typedef typename Word<G>::T T;
    const int count = S / G;
    const u32 per_row = p.strip_shift - (__ffs(S) - 1);
    const u32 byte = (threadIdx.x & ((1u << per_row) - 1)) * S;
    if (byte >= s.width) return;
    u64 length[count];
#pragma unroll
    for (int k = 0; k < count; ++k) length[k] = column_length<G>(p, s, byte + k * G);
    const u64 rows = blockDim.x >> per_row;
#pragma unroll 4
    for (u64 t = threadIdx.x >> per_row; t < p.steps; t += rows) {
        T v[count];
#pragma unroll
        for (int k = 0; k < count; ++k)
            v[k] = *(const T*)(s.src + (i64)mirrored(t, length[k]) * p.src_step + byte + k * G);
        put_together<count>(s.dst + (i64)t * p.dst_step + byte, v);
    }
}

template <int G, bool TOGETHER>
__device__ __forceinline__ void columns(const Columns& p) {
    if (G < 4 && p.words) columns_by<G, G < 4 ? 4 : G, TOGETHER>(p);
    else columns_by<G, G, TOGETHER>(p);
}

template <int G>
__device__ __forceinline__ void columns_direct(const Columns& p) {
    const int wide = G < 4 ? 4 : G;
    if (stopped(p.lengths)) return;
    Strip s = strip_of(p, blockIdx.x);
    if (G < 4 && p.words) put_direct<G, wide>(p, s);
    else put_direct<G, G>(p, s);
}

#define COLUMNS(G)                                                                                 \
    KERNEL(512) columns_##G(const __grid_constant__ Columns p) { columns<G, false>(p); }           \
    KERNEL(512) columns_direct_##G(const __grid_constant__ Columns p) { columns_direct<G>(p); }

COLUMNS(1) COLUMNS(2) COLUMNS(4) COLUMNS(8) COLUMNS(16)

#if __CUDA_ARCH__ >= 900
#define COLUMNS_TOGETHER(G)                                                                        \
    KERNEL(512) __cluster_dims__(2, 1, 1) columns_two_##G(const __grid_constant__ Columns p) {     \
        columns<G, true>(p);                                                                       \
    }                                                                                              \
    KERNEL(512) __cluster_dims__(4, 1, 1) columns_four_##G(const __grid_constant__ Columns p) {    \
        columns<G, true>(p);                                                                       \
    }

COLUMNS_TOGETHER(2) COLUMNS_TOGETHER(4) COLUMNS_TOGETHER(8) COLUMNS_TOGETHER(16)
#endif
