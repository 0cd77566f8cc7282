// Sixteen bytes in registers: loads, stores, shifts, and reversal of the units in them.
#pragma once
#include "common.cuh"

// All loads from addresses derived from this one use a cache policy (`src/kernel.rs`). It uses the
// compiler's builtin, so that the compiler still treats them as ordinary loads.
#if __CUDA_ARCH__ >= 800
extern "C" __device__ void* __nv_associate_access_property(const void* at, u64 policy);
#endif

__device__ __forceinline__ const u8* kept(const u8* at, u64 policy) {
#if __CUDA_ARCH__ >= 800
    return (const u8*)__nv_associate_access_property(at, policy);
#else
    return at;
#endif
}

__device__ __forceinline__ uint4 load16(const u8* at) {
#ifndef __CUDA_ARCH__
    look_at(at);
#endif
    return *(const uint4*)at;
}

// Inline assembly, because the compiler may split the store of a struct into four.
__device__ __forceinline__ void store16(u8* at, uint4 v) {
#ifdef __CUDA_ARCH__
    asm volatile("st.global.v4.u32 [%0], {%1, %2, %3, %4};"
                 :: "l"(at), "r"(v.x), "r"(v.y), "r"(v.z), "r"(v.w) : "memory");
#else
    *(uint4*)at = v;
#endif
}

// Reverses the units of W bytes; W = 0 keeps their order.
template <int W>
__device__ __forceinline__ uint4 reversed(uint4 v) {
    const u32 order = W == 1 ? 0x0123 : 0x1032;
    switch (W) {
        case 1:
        case 2:
            return make_uint4(__byte_perm(v.w, 0, order), __byte_perm(v.z, 0, order),
                              __byte_perm(v.y, 0, order), __byte_perm(v.x, 0, order));
        case 4: return make_uint4(v.w, v.z, v.y, v.x);
        case 8: return make_uint4(v.z, v.w, v.x, v.y);
    }
    return v;
}

// 16 bytes from offset `shift` in two consecutive vectors, for a multiple of W.
template <int W>
__device__ __forceinline__ uint4 shifted(uint4 a, uint4 b, u32 shift) {
    u32 w0, w1, w2, w3, w4;
    // Usually uniform across a row, so that a branch is cheaper than selecting.
    switch (shift >> 2) {
        case 0: w0 = a.x; w1 = a.y; w2 = a.z; w3 = a.w; w4 = b.x; break;
        case 1: w0 = a.y; w1 = a.z; w2 = a.w; w3 = b.x; w4 = b.y; break;
        case 2: w0 = a.z; w1 = a.w; w2 = b.x; w3 = b.y; w4 = b.z; break;
        default: w0 = a.w; w1 = b.x; w2 = b.y; w3 = b.z; w4 = b.w; break;
    }
    if (W < 4) {
        u32 bits = 8 * (shift & 3);
        w0 = __funnelshift_r(w0, w1, bits);
        w1 = __funnelshift_r(w1, w2, bits);
        w2 = __funnelshift_r(w2, w3, bits);
        w3 = __funnelshift_r(w3, w4, bits);
    }
    return make_uint4(w0, w1, w2, w3);
}

// Five words starting with number `first` (0 to 3) of two consecutive vectors.
__device__ __forceinline__ void five_words(uint4 a, uint4 b, u32 first, u32 (&w)[5]) {
    const bool two = first & 2, one = first & 1;
    u32 t0 = two ? a.z : a.x, t1 = two ? a.w : a.y, t2 = two ? b.x : a.z;
    u32 t3 = two ? b.y : a.w, t4 = two ? b.z : b.x, t5 = two ? b.w : b.y;
    w[0] = one ? t1 : t0;
    w[1] = one ? t2 : t1;
    w[2] = one ? t3 : t2;
    w[3] = one ? t4 : t3;
    w[4] = one ? t5 : t4;
}

// 16 bytes from offset `shift` in two consecutive vectors, with their units of W bytes reversed if
// `back`. Without branches, for threads that diverge.
template <int W>
__device__ __forceinline__ uint4 turned(uint4 a, uint4 b, u32 shift, bool back) {
    if (W == 16) return a;
    if (W == 8) {
        uint4 v = shift ? make_uint4(a.z, a.w, b.x, b.y) : a;
        return back ? reversed<8>(v) : v;
    }
    u32 w[5];
    five_words(a, b, shift >> 2, w);
    if (W < 4) {
        // One permutation shifts a word and reverses it.
        const u32 order = (back ? (W == 1 ? 0x0123 : 0x1032) : 0x3210) + 0x1111 * (shift & 3);
#pragma unroll
        for (int k = 0; k < 4; ++k) w[k] = __byte_perm(w[k], w[k + 1], order);
    }
    return back ? make_uint4(w[3], w[2], w[1], w[0]) : make_uint4(w[0], w[1], w[2], w[3]);
}

// 16 bytes from any address, through the one or two aligned vectors that contain them. Returns
// false, and reads nothing, if these are not entirely within [begin, end).
template <int W>
__device__ __forceinline__ bool window16(const u8* at, const u8* begin, const u8* end, uint4& v) {
    u32 shift = W == 16 ? 0 : (u32)(u64)at & 15;
    const u8* low = at - shift;
    if (low < begin || low + (shift ? 32 : 16) > end) return false;
    v = load16(low);
    if (shift) v = shifted<W>(v, load16(low + 16), shift);
    return true;
}

// Bytes below `middle` from `a`, the others from `b`.
__device__ __forceinline__ uint4 joined(uint4 a, uint4 b, i32 middle) {
    u32 mask[4];
#pragma unroll
    for (int k = 0; k < 4; ++k) {
        i32 bytes = middle - 4 * k;
        // A mask of the bits below; `__funnelshift_lc` clamps the shift to 32.
        mask[k] = __funnelshift_lc(~0u, 0, bytes < 0 ? 0 : 8 * bytes);
    }
    return make_uint4((a.x & mask[0]) | (b.x & ~mask[0]), (a.y & mask[1]) | (b.y & ~mask[1]),
                      (a.z & mask[2]) | (b.z & ~mask[2]), (a.w & mask[3]) | (b.w & ~mask[3]));
}

// Stores bytes [low, high) of 16, in pieces of at most W bytes, which divides `at` and both ends.
template <int W>
__device__ __forceinline__ void store_some(u8* at, uint4 v, i64 low, i64 high) {
    const int step = W < 4 ? W : 4;
    const u32 word[4] = {v.x, v.y, v.z, v.w};
    typedef typename Word<step>::T T;
#pragma unroll
    for (int k = 0; k < 16; k += step)
        if (k >= low && k < high) *(T*)(at + k) = (T)(word[k / 4] >> (8 * (k & 3)));
}
