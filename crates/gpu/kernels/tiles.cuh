// Input whose elements lie together along another dimension than the output's: squares of both are
// turned in shared memory, so that both sides of memory see whole words side by side.
#pragma once
#include "vector.cuh"

extern __shared__ uint4 staged[];

struct Tiles {
    const u8* src;
    u8* dst;
    Axis a;  // the output's innermost dimension
    Axis b;  // the input's
    Axis tiles_a;  // squares along each
    Axis tiles_b;
    u32 words;  // where all of a square is there, its rows are whole words on both sides
    u32 unused;
    Lengths lengths;
    Loops<6> outer;
};

// A square of elements of W bytes, in words of at least four. Word `col` of a row along `a`, for
// each step of `b`, sits where columns and rows of words find separate banks.
template <int W>
struct Square {
    static const u32 PER_WORD = W < 4 ? 4 / W : 1;
    static const u32 SIDE = (W == 4 ? 64 : 32) * PER_WORD;
    static const u32 WORDS = SIDE / PER_WORD;
    static const u32 SIZE = W < 4 ? 4 : W;
    typedef typename Word<SIZE>::T T;

    static __device__ __forceinline__ u32 place(u32 b, u32 col) {
        const u32 turn = PER_WORD == 1 ? 0 : b / PER_WORD / (32 / PER_WORD) % PER_WORD;
        return b * (WORDS + 1) + (col ^ turn);
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

// A square that is complete, of elements smaller than a word.
template <int W>
__device__ __forceinline__ void turn_words(const Tiles& p, const u8* in, u8* out) {
    typedef Square<W> S;
    u32* held = (u32*)staged;
    const u32 count = S::PER_WORD, col = threadIdx.x % S::WORDS;
    const bool back = p.b.src < 0;
    // Words lie at their lowest byte.
    in += (i64)(col * count + (back ? count - 1 : 0)) * p.b.src;
#pragma unroll
    for (u32 r = threadIdx.x / S::WORDS; r < S::WORDS; r += 256 / S::WORDS) {
        u32 w[S::PER_WORD];
#pragma unroll
        for (u32 k = 0; k < count; ++k) w[k] = *(const u32*)(in + (i64)(r * count + k) * p.a.src);
        transpose(w);
#pragma unroll
        for (u32 k = 0; k < count; ++k) held[S::place(col * count + (back ? count - 1 - k : k), r)] = w[k];
    }
    __syncthreads();
    if (stopped(p.lengths)) return;
#pragma unroll 8
    for (u32 b = threadIdx.x / S::WORDS; b < S::SIDE; b += 256 / S::WORDS)
        *(u32*)(out + (i64)b * p.b.dst + col * 4) = held[S::place(b, col)];
}

// Any square, element by element; eight at a time, so that as many are under way.
template <int W>
__device__ __forceinline__ void turn_elements(const Tiles& p, const u8* in, u8* out, u32 len_a, u32 len_b) {
    typedef Square<W> S;
    typedef typename Word<W>::T T;
    u8* held = (u8*)staged;
    const u32 first = threadIdx.x % S::SIDE, rows = 256 / S::SIDE, most = S::SIDE / rows;
    const u32 batch = most < 8 ? most : 8, per_word = S::PER_WORD;
    const u8* from = in + (i64)first * p.b.src + (i64)(threadIdx.x / S::SIDE) * p.a.src;
    const i64 step = p.a.src * (i64)rows;
#pragma unroll 1
    for (u32 a = threadIdx.x / S::SIDE; a < len_a; a += batch * rows, from += (i64)batch * step) {
        T v[batch];
#pragma unroll
        for (u32 k = 0; k < batch; ++k)
            if (first < len_b && a + k * rows < len_a) v[k] = *(const T*)(from + (i64)k * step);
#pragma unroll
        for (u32 k = 0; k < batch; ++k) {
            const u32 at = a + k * rows;
            *(T*)(held + S::place(first, at / per_word) * S::SIZE + at % per_word * W) = v[k];
        }
    }
    __syncthreads();
    if (stopped(p.lengths)) return;
    u8* to = out + first * W;
#pragma unroll 8
    for (u32 b = threadIdx.x / S::SIDE; b < len_b; b += rows)
        if (first < len_a)
            *(T*)(to + (i64)b * p.b.dst) = *(const T*)(held + S::place(b, first / per_word) * S::SIZE + first % per_word * W);
}

template <int W>
__device__ __forceinline__ void tiles(const Tiles& p) {
    typedef Square<W> S;
    u64 rest = divide(blockIdx.x, p.tiles_a);
    const u64 first_a = (blockIdx.x - rest * p.tiles_a.len) * S::SIDE;
    u64 outer = divide(rest, p.tiles_b);
    const u64 first_b = (rest - outer * p.tiles_b.len) * S::SIDE;
    Place at = settled(p.outer, p.lengths, outer);
    const u8* in = p.src + at.src + (i64)first_a * p.a.src + (i64)first_b * p.b.src;
    u8* out = p.dst + at.dst + first_a * W + (i64)first_b * p.b.dst;
    const u64 left_a = p.a.len - first_a, left_b = p.b.len - first_b;
    const u32 len_a = left_a < S::SIDE ? (u32)left_a : S::SIDE, len_b = left_b < S::SIDE ? (u32)left_b : S::SIDE;
    if constexpr (W < 4) {
        if (p.words && len_a == S::SIDE && len_b == S::SIDE) {
            turn_words<W>(p, in, out);
            return;
        }
    }
    turn_elements<W>(p, in, out, len_a, len_b);
}

#define TILES(W) \
    KERNEL(256) tiles_##W(const __grid_constant__ Tiles p) { tiles<W>(p); }

TILES(1) TILES(2) TILES(4) TILES(8) TILES(16)
