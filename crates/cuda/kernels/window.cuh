// Sixteen bytes of a row at any alignment: the vectors that contain them are loaded first and
// combined later, so that a thread can wait for several loads at once.
#pragma once
#include "rows.cuh"

// Units of 1, 2, 4 or 8 bytes.
template <int W>
struct Window {
    uint4 a, b;
    u32 shift;
    bool back, good;

    // The bytes from `start` on of a part of a row; positions outside the part give bytes that are
    // not used. I is the type that counts the bytes of a row.
    template <typename I>
    __device__ __forceinline__ void open(const Rows& p, const u8* in, I start, Way way) {
        const I from = (I)way.from * W;
        const u8* at = in + (way.back ? from - start + W - 16 : from + start);
        shift = (u32)(u64)at & 15;
        back = way.back;
        const u8* low = at - shift;
        const u8* high = low + (shift ? 16 : 0);
        good = low >= p.src_begin && high + 16 <= p.src_end;
        if (good) {
            a = load16(low);
            b = load16(high);
        }
    }

    __device__ __forceinline__ uint4 shut() const { return turned<W>(a, b, shift, back); }

    // The same for a row of `bytes` that is reversed as a whole, with 64 readable bytes around it.
    __device__ __forceinline__ void open_back(const u8* in, i32 bytes, i32 start) {
        const u8* at = in + (bytes - 16 - start);
        shift = (u32)(u64)at & 15;
        a = load16(at - shift);
        b = load16(at - shift + 16);
    }

    __device__ __forceinline__ uint4 shut_back() const { return turned<W>(a, b, shift, true); }
};

// Reverses six units of three bytes, given their 18 bytes, and returns 16 bytes from `phase` on.
__device__ __forceinline__ uint4 six_reversed(const u32 (&a)[5], u32 phase) {
    u32 q0 = __byte_perm(a[3], a[4], 0x0543);  // bytes 15 16 17 12
    u32 q1 = __byte_perm(a[3], a[2], 0x6521);  // 13 14  9 10
    u32 q2 = __byte_perm(a[1], a[2], 0x4327);  // 11  6  7  8
    u32 q3 = __byte_perm(a[0], a[1], 0x0543);  //  3  4  5  0
    u32 q4 = __byte_perm(a[0], 0, 0x0021);     //  1  2
    u32 bits = 8 * phase;
    return make_uint4(__funnelshift_r(q0, q1, bits), __funnelshift_r(q1, q2, bits),
                      __funnelshift_r(q2, q3, bits), __funnelshift_r(q3, q4, bits));
}

// Units of three pieces of G bytes. Sixteen bytes overlap up to six, four or two of them, which
// take 18 or 24 bytes of input, within up to 40 aligned bytes.
template <int G>
struct Triples {
    static const i32 UNITS = G == 1 ? 6 : G == 2 ? 4 : 2;
    static const u32 REACH = UNITS * 3 * G;
    uint4 a, b;
    uint2 c;
    u32 shift;  // of the window
    u32 phase;  // bytes of the first unit before the chunk; pieces of 4 are never split
    bool back, good;

    template <typename I>
    __device__ __forceinline__ void open(const Rows& p, const u8* in, I start, Way way) {
        back = way.back;
        const u8* at;
        u32 reach = 16;
        phase = 0;
        if (back) {
            // If a row begins inside the chunk, the first unit is before it.
            const I unit = (start + UNITS * 3 * G) / (3 * G) - UNITS;
            phase = (u32)(start - unit * (3 * G));
            at = in + ((I)way.from - unit - (UNITS - 1)) * (3 * G);
            reach = REACH;
        } else {
            at = in + ((I)way.from * (3 * G) + start);
        }
        shift = (u32)(u64)at & 15;
        const u8* low = at - shift;
        const u32 end = shift + reach;
        const bool more = end > 32;
        good = low >= p.src_begin && low + (end <= 16 ? 16 : more ? 40 : 32) <= p.src_end;
        if (good) {
            a = load16(low);
            b = load16(low + (end <= 16 ? 0 : 16));
            if (more) c = *(const uint2*)(low + 32);
        }
    }

    // The same for a row of `bytes` that is reversed as a whole, with 64 readable bytes around it.
    __device__ __forceinline__ void open_back(const u8* in, i32 bytes, i32 start) {
        const i32 unit = (i32)((u32)(start + UNITS * 3 * G) / (3 * G)) - UNITS;
        phase = (u32)(start - unit * (3 * G));
        const u8* at = in + (bytes - (unit + UNITS) * (3 * G));
        shift = (u32)(u64)at & 15;
        const u8* low = at - shift;
        a = load16(low);
        b = load16(low + 16);
        if (shift + REACH > 32) c = *(const uint2*)(low + 32);
    }

    // All loaded words, from the start of the window.
    __device__ __forceinline__ void words(u32 (&w)[7]) const {
        const bool two = shift & 8, one = shift & 4;
        u32 first[5];
        five_words(a, b, shift >> 2, first);
#pragma unroll
        for (int k = 0; k < 5; ++k) w[k] = first[k];
        w[5] = one ? (two ? c.x : b.z) : (two ? b.w : b.y);
        w[6] = one ? (two ? c.y : b.w) : (two ? c.x : b.z);
        if (G < 4) {
            const u32 bits = 8 * (shift & 3);
#pragma unroll
            for (int k = 0; k < 6; ++k) w[k] = __funnelshift_r(w[k], w[k + 1], bits);
        }
    }

    __device__ __forceinline__ uint4 shut() const {
        u32 w[7];
        words(w);
        return back ? reversed(w) : make_uint4(w[0], w[1], w[2], w[3]);
    }

    __device__ __forceinline__ uint4 shut_back() const {
        u32 w[7];
        words(w);
        return reversed(w);
    }

    // The units of a window in reverse order, from `phase` on.
    __device__ __forceinline__ uint4 reversed(const u32 (&w)[7]) const {
        if constexpr (G == 1) {
            const u32 eighteen[5] = {w[0], w[1], w[2], w[3], w[4]};
            return six_reversed(eighteen, phase);
        } else if constexpr (G == 2) {
            u32 r[6];
            r[0] = __byte_perm(w[4], w[5], 0x5432);  // halves  9 10
            r[1] = __byte_perm(w[5], w[3], 0x5432);  // 11  6
            r[2] = __byte_perm(w[3], w[4], 0x5432);  //  7  8
            r[3] = __byte_perm(w[1], w[2], 0x5432);  //  3  4
            r[4] = __byte_perm(w[2], w[0], 0x5432);  //  5  0
            r[5] = __byte_perm(w[0], w[1], 0x5432);  //  1  2
            const bool far = phase & 4;
            const u32 bits = 8 * (phase & 3);
#pragma unroll
            for (int k = 0; k < 5; ++k) r[k] = far ? r[k + 1] : r[k];
            return make_uint4(__funnelshift_r(r[0], r[1], bits), __funnelshift_r(r[1], r[2], bits),
                              __funnelshift_r(r[2], r[3], bits), __funnelshift_r(r[3], r[4], bits));
        } else {
            // Words 3 4 5 0 1 2, starting with the first one needed.
            const bool next = phase & 4, last = phase & 8;
            return make_uint4(last ? w[5] : next ? w[4] : w[3], last ? w[0] : next ? w[5] : w[4],
                              last ? w[1] : next ? w[0] : w[5], last ? w[2] : next ? w[1] : w[0]);
        }
    }
};

template <> struct Window<3> : Triples<1> {};
template <> struct Window<6> : Triples<2> {};
template <> struct Window<12> : Triples<4> {};
