// Adjacent columns, each with a length: a strip of them is staged in shared memory, all rows, so
// that loads and stores are coalesced. Works in place too.
#pragma once
#include "async.cuh"

extern __shared__ uint4 staged[];

struct Strip {
    const u8* src;
    u8* dst;
    i64 lengths;
    u64 column;  // its first byte in a row
    u32 width;  // bytes, fewer at the end of a row
};

__device__ __forceinline__ Strip strip_of(const Columns& p, u64 number) {
    u64 outer = divide(number, p.strip);
    u64 column = (number - outer * p.strip.len) << p.strip_shift;
    Place at = place(p.outer, outer);
    Strip s = {kept(p.src, p.policy) + at.src + column, p.dst + at.dst + column, at.lengths, column, 0};
    u64 left = p.width - column, most = 1ull << p.strip_shift;
    s.width = number < p.strips ? (u32)(left < most ? left : most) : 0;
    return s;
}

// The address of the length of the column that a granule of the strip belongs to, and that length.
template <int G>
__device__ __forceinline__ i64 length_place(const Columns& p, const Strip& s, u32 byte) {
    u64 column = divide((s.column + byte) / G, p.unit);
    return s.lengths + (i64)column * p.lengths_step;
}

template <int G>
__device__ __forceinline__ u64 column_length(const Columns& p, const Strip& s, u32 byte) {
    return length_at(p.lengths, length_place<G>(p, s, byte));
}

// Starts copies of all rows of a strip.
template <int G>
__device__ __forceinline__ void stage(const Columns& p, const Strip& s, u8* held) {
    typedef typename Word<G>::T T;
    const u32 threads = blockDim.x;
    if (p.vectors) {
        u32 per_row = p.strip_shift - 4, mask = (1u << per_row) - 1;
        u32 all = (u32)p.steps << per_row, byte = (threadIdx.x & mask) * 16;
        if (byte < s.width) {
            // A block's threads cover whole rows, so each thread stays in its column.
            const u8* from = s.src + (i64)(threadIdx.x >> per_row) * p.src_step + byte;
            const i64 step = (i64)(threads >> per_row) * p.src_step;
#pragma unroll 8
            for (u32 i = threadIdx.x; i < all; i += threads, from += step) copy_async16(held + i * 16, from, p.policy);
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

// Accesses shared memory by 32-bit addresses: an instruction can add a constant to them, which
// compilers do not generate from pointers.
#ifdef __CUDA_ARCH__
__device__ __forceinline__ i32 shared_address() { return (i32)__cvta_generic_to_shared(staged); }

__device__ __forceinline__ void load_shared(u8& v, i32 at) {
    u32 byte;
    asm volatile("ld.shared.u8 %0, [%1];" : "=r"(byte) : "r"(at));
    v = (u8)byte;
}
__device__ __forceinline__ void load_shared(u16& v, i32 at) {
    asm volatile("ld.shared.u16 %0, [%1];" : "=h"(v) : "r"(at));
}
__device__ __forceinline__ void load_shared(u32& v, i32 at) {
    asm volatile("ld.shared.u32 %0, [%1];" : "=r"(v) : "r"(at));
}
__device__ __forceinline__ void load_shared(u64& v, i32 at) {
    asm volatile("ld.shared.u64 %0, [%1];" : "=l"(v) : "r"(at));
}
__device__ __forceinline__ void load_shared(uint4& v, i32 at) {
    asm volatile("ld.shared.v4.u32 {%0, %1, %2, %3}, [%4];" : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w) : "r"(at));
}
#else
inline i32 shared_address() { return 0; }
template <typename T>
inline void load_shared(T& v, i32 at) { v = *(const T*)((const u8*)staged + at); }
#endif

// Stores one granule, or several as a word of 4 bytes.
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

// Words that each thread assembles at a time.
const int AT_A_TIME = 4;

// A thread's words of S bytes in a strip: one every so many rows. Each is assembled from granules
// of S / G columns.
// If ZERO, steps beyond a length become zero.
template <int G, int S, bool ZERO>
struct Gathered {
    static const int COUNT = S / G;
    static const i32 STEP = COLUMN_THREADS * S;  // all threads' words are contiguous
    i32 base;  // of the strip
    i32 here;
    i32 mirror[COUNT];  // sources of the columns' granules; below the base: they stay

    // Loads MANY of them before it stores the first: the compiler cannot know that the stores do
    // not alias the loads.
    template <int MANY>
    __device__ __forceinline__ void put(u8*& out, i64 step) {
        typename Word<G>::T v[MANY][COUNT];
#pragma unroll
        for (int i = 0; i < MANY; ++i) {
            // Twice as far, so that the same constant is added to both.
            const i32 stays = here + 2 * i * STEP;
#pragma unroll
            for (int k = 0; k < COUNT; ++k) {
                const bool back = mirror[k] >= base + i * STEP;
                load_shared(v[i][k], (back ? mirror[k] : stays) + (k * G - i * STEP));
                if (ZERO && !back) v[i][k] = zero_of<typename Word<G>::T>();
            }
        }
        here += MANY * STEP;
#pragma unroll
        for (int k = 0; k < COUNT; ++k) mirror[k] -= MANY * STEP;
#pragma unroll
        for (int i = 0; i < MANY; ++i, out += step) put_together<COUNT>(out, v[i]);
    }
};

// The blocks of a cluster, of which the launch says the size, start writing at the same time, so that
// memory sees adjacent strips as one.
template <int G, int S, bool ZERO>
__device__ __forceinline__ void columns_by(const Columns& p) {
    typedef Gathered<G, S, ZERO> W;
    const Strip s = strip_of(p, blockIdx.x);
    stage<G>(p, s, (u8*)staged);
    const u32 shift = p.strip_shift, per_row = shift - (__ffs(S) - 1), row = threadIdx.x >> per_row;
    const u32 byte = (threadIdx.x & ((1u << per_row) - 1)) * S;
    // Lengths are loaded while rows are in flight.
    W words;
    words.base = shared_address();
    words.here = words.base + (i32)((row << shift) + byte);
#pragma unroll
    for (int k = 0; k < W::COUNT; ++k) {
        const u32 length = byte < s.width ? (u32)column_length<G>(p, s, byte + k * G) : 0;
        words.mirror[k] = words.base + (i32)(((length - 1 - row) << shift) + byte);
    }
    const bool stop = stopped(p.lengths);
    wait_for_copies();
#if __CUDA_ARCH__ >= 900
    cluster_pace();
#endif
    if (stop || byte >= s.width) return;
    u8* out = s.dst + byte + (i64)row * p.dst_step;
    const i64 step = (i64)(COLUMN_THREADS >> per_row) * p.dst_step;
    const i32 end = words.base + (i32)(p.steps << shift);
#pragma unroll 1
    while (words.here + (AT_A_TIME - 1) * W::STEP < end) words.template put<AT_A_TIME>(out, step);
#pragma unroll 1
    while (words.here < end) words.template put<1>(out, step);
}

// The same directly from the input, if a strip does not fit, with a slice of its rows per block:
// the slices of a strip run one after the other, so that the rest of a cache line is still cached
// for the next.
template <int G, int S, bool ZERO>
__device__ __forceinline__ void put_direct(const Columns& p, const Strip& s, u64 first) {
    typedef typename Word<G>::T T;
    const int count = S / G;
    const u32 per_row = p.strip_shift - (__ffs(S) - 1);
    const u32 byte = (threadIdx.x & ((1u << per_row) - 1)) * S;
    if (byte >= s.width) return;
    u64 length[count];
#pragma unroll
    for (int k = 0; k < count; ++k) length[k] = column_length<G>(p, s, byte + k * G);
    const u64 rows = COLUMN_THREADS >> per_row, end = first + p.slice < p.steps ? first + p.slice : p.steps;
#pragma unroll 4
    for (u64 t = first + (threadIdx.x >> per_row); t < end; t += rows) {
        T v[count];
#pragma unroll
        for (int k = 0; k < count; ++k) {
            v[k] = zero_of<T>();
            if (!ZERO || t < length[k])
                v[k] = *(const T*)(s.src + (i64)mirrored(t, length[k]) * p.src_step + byte + k * G);
        }
        put_together<count>(s.dst + (i64)t * p.dst_step + byte, v);
    }
}

template <int G, bool ZERO>
__device__ __forceinline__ void columns(const Columns& p) {
    if (G < 4 && p.words) columns_by<G, G < 4 ? 4 : G, ZERO>(p);
    else columns_by<G, G, ZERO>(p);
}

template <int G>
__device__ __forceinline__ void columns_direct(const Columns& p) {
    const int wide = G < 4 ? 4 : G;
    if (stopped(p.lengths)) return;
    const u32 strip = blockIdx.x / p.slices;
    const u64 first = (u64)(blockIdx.x - strip * p.slices) * p.slice;
    const Strip s = strip_of(p, strip);
    if (p.lengths.zero) put_direct<G, G, true>(p, s, first);
    else if (G < 4 && p.words) put_direct<G, wide, false>(p, s, first);
    else put_direct<G, G, false>(p, s, first);
}

#define COLUMNS(G)                                                                                      \
    KERNEL(COLUMN_THREADS) columns_##G(const __grid_constant__ Columns p) { columns<G, false>(p); }     \
    KERNEL(COLUMN_THREADS) columns_zero_##G(const __grid_constant__ Columns p) { columns<G, true>(p); }
#define COLUMNS_DIRECT(G) \
    KERNEL(COLUMN_THREADS) columns_direct_##G(const __grid_constant__ Columns p) { columns_direct<G>(p); }

COLUMNS(1) COLUMNS(2) COLUMNS(4) COLUMNS(8) COLUMNS(16)
COLUMNS_DIRECT(1) COLUMNS_DIRECT(2) COLUMNS_DIRECT(4) COLUMNS_DIRECT(8)
