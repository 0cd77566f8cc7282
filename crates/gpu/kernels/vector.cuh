// Sixteen bytes in registers: loading, storing, shifting, and reversing the units in them.
#pragma once
#include "common.cuh"

__device__ __forceinline__ uint4 load16(const u8* at) { return *(const uint4*)at; }

// Explicit, because the compiler may split a store of a struct into four.
__device__ __forceinline__ void store16(u8* at, uint4 v) {
    asm volatile("st.global.v4.u32 [%0], {%1, %2, %3, %4};"
                 :: "l"(at), "r"(v.x), "r"(v.y), "r"(v.z), "r"(v.w) : "memory");
}

// The units of W bytes in reverse order; W = 0 keeps it.
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

// 16 bytes from `shift` on in two vectors that follow each other, for a multiple of W.
template <int W>
__device__ __forceinline__ uint4 shifted(uint4 a, uint4 b, u32 shift) {
    u32 w0, w1, w2, w3, w4;
    // Mostly the same for a whole row, so that a branch is cheaper than selecting.
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

// 16 bytes from any address, through the one or two aligned vectors that hold them. False,
// and nothing is read, if these are not all within [begin, end).
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
__device__ __forceinline__ uint4 joined(uint4 a, uint4 b, i64 middle) {
    u32 mask[4];
#pragma unroll
    for (int k = 0; k < 4; ++k) {
        i64 bytes = middle - 4 * k;
        mask[k] = bytes <= 0 ? 0 : bytes >= 4 ? ~0u : (1u << (8 * (u32)bytes)) - 1;
    }
    return make_uint4((a.x & mask[0]) | (b.x & ~mask[0]), (a.y & mask[1]) | (b.y & ~mask[1]),
                      (a.z & mask[2]) | (b.z & ~mask[2]), (a.w & mask[3]) | (b.w & ~mask[3]));
}

// Bytes [low, high) of 16, in pieces of at most W bytes, which `at` and both ends are multiples of.
template <int W>
__device__ __forceinline__ void store_some(u8* at, uint4 v, i64 low, i64 high) {
    const int step = W < 4 ? W : 4;
    const u32 word[4] = {v.x, v.y, v.z, v.w};
    typedef typename Word<step>::T T;
#pragma unroll
    for (int k = 0; k < 16; k += step)
        if (k >= low && k < high) *(T*)(at + k) = (T)(word[k / 4] >> (8 * (k & 3)));
}
