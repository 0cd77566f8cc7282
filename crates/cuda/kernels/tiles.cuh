// Input whose contiguous dimension is not the output's: square tiles are transposed in shared
// memory, so that loads and stores are both coalesced.
#pragma once
#include "async.cuh"

extern __shared__ uint4 staged[];

// A tile of elements of W bytes.
template <int W>
struct Square {
    static const u32 SIDE = W < 4 ? TILE_ROW / W : W < 16 ? TILE_SIDE : VECTOR_SIDE;
    static const u32 PER = 16 / W;  // elements of a vector
    static const u32 ACROSS = SIDE / PER;  // vectors of a row

    // Stored as vectors of the input, swizzled: vectors adjacent in a row, and those below each
    // other in steps of PER rows, are in different banks.
    static __device__ __forceinline__ u32 place(u32 a, u32 vector) {
        return a * ACROSS + (vector ^ a / PER % ACROSS);
    }
};

// Transposes the bytes or halves of as many words.
__device__ __forceinline__ void transpose(u32 (&w)[4]) {
    u32 x = __byte_perm(w[0], w[1], 0x5140), y = __byte_perm(w[2], w[3], 0x5140);
    u32 z = __byte_perm(w[0], w[1], 0x7362), v = __byte_perm(w[2], w[3], 0x7362);
    w[0] = __byte_perm(x, y, 0x5410);
    w[1] = __byte_perm(x, y, 0x7632);
    w[2] = __byte_perm(z, v, 0x5410);
    w[3] = __byte_perm(z, v, 0x7632);
}

__device__ __forceinline__ void transpose(u32 (&w)[2]) {
    u32 x = __byte_perm(w[0], w[1], 0x5410);
    w[1] = __byte_perm(w[0], w[1], 0x7632);
    w[0] = x;
}

// Stages the rows of a complete tile in shared memory, by vectors, from their lowest bytes on.
template <int W>
__device__ __forceinline__ void stage_square(const Tiles& p, const u8* in) {
    typedef Square<W> S;
    const u32 vector = threadIdx.x % S::ACROSS, rows = TILE_THREADS / S::ACROSS;
    in += vector * 16 + (i64)(threadIdx.x / S::ACROSS) * p.a.src;
#pragma unroll
    for (u32 a = threadIdx.x / S::ACROSS; a < S::SIDE; a += rows, in += rows * p.a.src)
        copy_async16((u8*)(staged + S::place(a, vector)), in, p.policy);
    wait_for_copies();
}

// Elements smaller than a word: a thread transposes the columns of one word, over as many rows as a
// vector has elements.
template <int W>
__device__ __forceinline__ void turn_parts(u8* out, i64 step) {
    typedef Square<W> S;
    const u32 count = 4 / W, x = threadIdx.x % S::ACROSS, column = threadIdx.x / S::ACROSS;
    static_assert(S::ACROSS * S::SIDE / count == TILE_THREADS, "a word for each thread");
    const u32* held = (const u32*)staged;
    u32 w[4][count];
#pragma unroll
    for (u32 k = 0; k < S::PER; ++k)
        w[k / count][k % count] = held[S::place(x * S::PER + k, column / 4) * 4 + column % 4];
#pragma unroll
    for (u32 k = 0; k < 4; ++k) transpose(w[k]);
    out += x * 16 + (i64)(column * count) * step;
#pragma unroll
    for (u32 k = 0; k < count; ++k, out += step) store16(out, make_uint4(w[0][k], w[1][k], w[2][k], w[3][k]));
}

// Words or pairs of words: a thread transposes as many vectors as a vector has elements.
template <int W>
__device__ __forceinline__ void turn_vectors(u8* out, i64 step) {
    typedef Square<W> S;
    const u32 words = W / 4, x = threadIdx.x % S::ACROSS;
    out += x * 16;
#pragma unroll
    for (u32 y = threadIdx.x / S::ACROSS; y < S::ACROSS; y += TILE_THREADS / S::ACROSS) {
        u32 v[S::PER][4];
#pragma unroll
        for (u32 k = 0; k < S::PER; ++k) {
            const uint4 row = staged[S::place(x * S::PER + k, y)];
            v[k][0] = row.x, v[k][1] = row.y, v[k][2] = row.z, v[k][3] = row.w;
        }
#pragma unroll
        for (u32 k = 0; k < S::PER; ++k) {
            u32 w[4];
#pragma unroll
            for (u32 i = 0; i < 4; ++i) w[i] = v[i / words][k * words + i % words];
            store16(out + (i64)(y * S::PER + k) * step, make_uint4(w[0], w[1], w[2], w[3]));
        }
    }
}

// Elements smaller than a word, in rows of words that are not whole vectors. Adjacent threads
// access adjacent words on both sides.
template <int W>
__device__ __forceinline__ void turn_words(const Tiles& p, const u8* in, u8* out, i64 step) {
    typedef Square<W> S;
    const u32 count = 4 / W, words = S::SIDE / count, word = threadIdx.x % words, rows = TILE_THREADS / words;
    u32* held = (u32*)staged;
#pragma unroll 8
    for (u32 a = threadIdx.x / words; a < S::SIDE; a += rows)
        held[a * words + (word ^ a / count)] = *(const u32*)(in + word * 4 + (i64)a * p.a.src);
    __syncthreads();
    if (stopped(p.lengths)) return;
#pragma unroll 2
    for (u32 column = threadIdx.x / words; column < words; column += rows) {
        u32 w[count];
#pragma unroll
        for (u32 k = 0; k < count; ++k) w[k] = held[(word * count + k) * words + (column ^ word)];
        transpose(w);
#pragma unroll
        for (u32 k = 0; k < count; ++k) *(u32*)(out + word * 4 + (i64)(column * count + k) * step) = w[k];
    }
}

// Any tile, element by element; several at a time, so that several loads are in flight.
template <int W>
__device__ __forceinline__ void turn_elements(const Tiles& p, const u8* in, u8* out, u32 len_a, u32 len_b) {
    typedef Square<W> S;
    typedef typename Word<W>::T T;
    T* held = (T*)staged;
    const u32 first = threadIdx.x % S::SIDE, rows = TILE_THREADS / S::SIDE, batch = 4, pitch = S::SIDE + 1;
    const u8* from = in + (i64)first * p.b.src + (i64)(threadIdx.x / S::SIDE) * p.a.src;
    const i64 step = p.a.src * (i64)rows;
#pragma unroll 1
    for (u32 a = threadIdx.x / S::SIDE; a < len_a; a += batch * rows, from += (i64)batch * step) {
        T v[batch];
#pragma unroll
        for (u32 k = 0; k < batch; ++k)
            if (first < len_b && a + k * rows < len_a) v[k] = *(const T*)(from + (i64)k * step);
#pragma unroll
        for (u32 k = 0; k < batch; ++k) held[first * pitch + a + k * rows] = v[k];
    }
    __syncthreads();
    if (stopped(p.lengths)) return;
#pragma unroll 4
    for (u32 b = threadIdx.x / S::SIDE; b < len_b; b += rows)
        if (first < len_a) *(T*)(out + first * W + (i64)b * p.b.dst) = held[b * pitch + first];
}

template <int W>
__device__ __forceinline__ void tiles(const Tiles& p) {
    typedef Square<W> S;
    u64 rest = divide(blockIdx.x, p.tiles_a);
    const u64 first_a = (blockIdx.x - rest * p.tiles_a.len) * S::SIDE;
    u64 outer = divide(rest, p.tiles_b);
    const u64 first_b = (rest - outer * p.tiles_b.len) * S::SIDE;
    Place at = settled(p.outer, p.lengths, outer);
    const u8* in = kept(p.src, p.policy) + at.src + (i64)first_a * p.a.src + (i64)first_b * p.b.src;
    u8* out = p.dst + at.dst + first_a * W + (i64)first_b * p.b.dst;
    const u64 left_a = p.a.len - first_a, left_b = p.b.len - first_b;
    const u32 len_a = left_a < S::SIDE ? (u32)left_a : S::SIDE, len_b = left_b < S::SIDE ? (u32)left_b : S::SIDE;
    if constexpr (W < 16) {
        if (p.words >= (W < 4 ? 4 : 16) && len_a == S::SIDE && len_b == S::SIDE) {
            // Rows of the input that run backward are read in memory order, and fill the output
            // from the last one.
            const bool back = p.b.src < 0;
            const i64 step = back ? -p.b.dst : p.b.dst;
            if (back) in += (i64)(S::SIDE - 1) * p.b.src, out += (i64)(S::SIDE - 1) * p.b.dst;
            if constexpr (W < 4) {
                if (p.words < 16) {
                    turn_words<W>(p, in, out, step);
                    return;
                }
            }
            stage_square<W>(p, in);
            if (stopped(p.lengths)) return;
            if constexpr (W < 4) turn_parts<W>(out, step);
            else turn_vectors<W>(out, step);
            return;
        }
    }
    turn_elements<W>(p, in, out, len_a, len_b);
}

#define TILES(W) \
    KERNEL_BY(TILE_THREADS, W < 8 ? 6 : 4) tiles_##W(const __grid_constant__ Tiles p) { tiles<W>(p); }

TILES(1) TILES(2) TILES(4) TILES(8) TILES(16)
