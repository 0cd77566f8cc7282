// Rows of units that are three bytes, or three of something: pixels. Sixteen bytes of output touch
// six 3-byte units, whatever their phase; those lie in 18 bytes of input, which are shifted into
// place, turned around, and shifted again.
#pragma once
#include "rows.cuh"

// Bytes [0, 4 * COUNT) from any address, by words. `last` is the number of bytes that matter.
template <int COUNT>
__device__ __forceinline__ bool words_at(const u8* at, i64 last, const u8* begin, const u8* end,
                                         u32 (&out)[COUNT]) {
    u32 shift = (u32)(u64)at & 3;
    const u8* low = at - shift;
    const u8* high = at + ((last + shift + 3) / 4) * 4 - shift;
    if (low < begin || high > end) return false;
    u32 word[COUNT + 1];
#pragma unroll
    for (int k = 0; k <= COUNT; ++k) word[k] = low + 4 * k < high ? *(const u32*)(low + 4 * k) : 0;
#pragma unroll
    for (int k = 0; k < COUNT; ++k) out[k] = __funnelshift_r(word[k], word[k + 1], 8 * shift);
    return true;
}

// Six units of three bytes in reverse order, from their 18 bytes; then 16 of those from `phase` on.
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

// Three words, halves or bytes a unit, in rows of whole vectors: the mirrored vector `v` holds all
// but a few of the output's, which lie in the words on both sides of it. `phase` is where in a
// unit the output's vector begins.
template <int G>
__device__ __forceinline__ uint4 triples(const u8* from, u32 phase) {
    uint4 v = load16(from);
    if (G == 4) {
        u32 other = *(const u32*)(from + (phase == 0 ? -8 : phase == 1 ? 16 : 20));
        u32 before = phase == 1 ? *(const u32*)(from - 4) : 0;
        if (phase == 0) return make_uint4(v.y, v.z, v.w, other);
        if (phase == 1) return make_uint4(v.w, other, before, v.x);
        return make_uint4(other, v.x, v.y, v.z);
    }
    const u32 first = G == 2 ? 1 : 2, last = 0;  // phases in which one of the sides is not touched
    u32 before = phase != first ? *(const u32*)(from - 4) : 0;
    u32 after = phase != last ? *(const u32*)(from + 16) : 0;
    if (G == 2) {
        // The high half of one word and the low half of another.
        u32 x0 = phase == 0 ? v.z : phase == 1 ? v.w : after;
        u32 y0 = phase == 0 ? v.w : phase == 1 ? after : v.z;
        u32 x1 = phase == 0 ? v.w : phase == 1 ? v.y : v.z;
        u32 y1 = phase == 0 ? v.y : phase == 1 ? v.z : v.w;
        u32 x2 = phase == 0 ? v.y : phase == 1 ? v.z : v.x;
        u32 y2 = phase == 0 ? v.z : phase == 1 ? v.x : v.y;
        u32 x3 = phase == 0 ? before : phase == 1 ? v.x : v.y;
        u32 y3 = phase == 0 ? v.x : phase == 1 ? v.y : before;
        return make_uint4(__funnelshift_r(x0, y0, 16), __funnelshift_r(x1, y1, 16),
                          __funnelshift_r(x2, y2, 16), __funnelshift_r(x3, y3, 16));
    }
    // The window starts 2 - phase bytes before the vector.
    u32 bits = 8 * (2 + phase);
    u32 a[5] = {v.x, v.y, v.z, v.w, after};
    if (phase != 2) {
        a[4] = __funnelshift_r(v.w, after, bits);
        a[3] = __funnelshift_r(v.z, v.w, bits);
        a[2] = __funnelshift_r(v.y, v.z, bits);
        a[1] = __funnelshift_r(v.x, v.y, bits);
        a[0] = __funnelshift_r(before, v.x, bits);
    }
    return six_reversed(a, phase);
}

template <int G>
__device__ __forceinline__ void triples_aligned(const Rows& p) {
    u64 thread = thread_index();
    if (thread >= p.threads) return;
    u64 row = divide(thread, p.chunk);
    u64 number = thread - row * p.chunk.len;
    Place at = settled(p.rows, p.lengths, row);
    // Vectors have 16, 8 or 4 pieces: one more than a multiple of three, or two.
    u32 phase = (u32)((G == 2 ? 2 * number : number) % 3);
    uint4 v = triples<G>(p.src + at.src + (p.chunk.len - 1 - number) * 16, phase);
    if (stopped(p.lengths)) return;
    store16(p.dst + at.dst + number * 16, v);
}

__device__ __forceinline__ bool pixel_part(const Rows& p, const Chunk& c, i64 start, Way way, uint4& v) {
    if (way.back) {
        // Where a row begins inside the chunk, the first unit lies before it.
        i64 unit = (start + 18) / 3 - 6;
        u32 a[5];
        if (!words_at(c.in + (way.from - unit - 5) * 3, 18, p.src_begin, p.src_end, a)) return false;
        v = six_reversed(a, (u32)(start - unit * 3));
        return true;
    }
    u32 a[4];
    if (!words_at(c.in + way.from * 3 + start, 16, p.src_begin, p.src_end, a)) return false;
    v = make_uint4(a[0], a[1], a[2], a[3]);
    return true;
}

__device__ __forceinline__ void put_pixels(const Rows& p, const Chunk& c) {
#pragma unroll 1
    for (i64 to = c.start; to < c.start + 16; ++to)
        if (to >= 0 && to < (i64)p.units * 3) c.out[to] = c.in[c.cut.source(to / 3) * 3 + to % 3];
}

__device__ __forceinline__ void pixels_any(const Rows& p) {
    u64 thread = thread_index();
    if (thread >= p.threads) return;
    Chunk c = chunk_of<1, true>(p, thread);
    const i64 bytes = (i64)p.units * 3, middle = c.cut.at * 3;
    i64 low = c.start < 0 ? 0 : c.start, high = c.start + 16 < bytes ? c.start + 16 : bytes;
    if (low >= high) return;
    bool first = low < middle;
    uint4 v;
    bool good = pixel_part(p, c, c.start, c.cut.way(!first), v);
    if (first && high > middle) {
        uint4 other;
        good &= pixel_part(p, c, c.start, c.cut.behind, other);
        v = joined(v, other, middle - c.start);
    }
    if (stopped(p.lengths)) return;
    if (!good) put_pixels(p, c);
    else if (c.start >= 0 && c.start + 16 <= bytes) store16(c.out + c.start, v);
    else store_some<1>(c.out + c.start, v, -c.start, bytes - c.start);
}

ROWS(rows_aligned_3, triples_aligned<1>)
ROWS(rows_aligned_6, triples_aligned<2>)
ROWS(rows_aligned_12, triples_aligned<4>)
ROWS(rows_any_3, pixels_any)
