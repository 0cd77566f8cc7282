// Rows of units of three bytes, halves or words: pixels.
#pragma once
#include "window.cuh"

// Units of three words, halves or bytes, in rows of whole vectors: the mirrored vector `v` holds
// most of the output vector, and the words on both sides of it hold the rest. `phase` is the offset
// of the output vector within a unit.
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
    const u32 first = G == 2 ? 1 : 2, last = 0;  // phases in which one of the sides is not needed
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
    u64 row = divide(thread, p.per_row);
    u64 number = thread - row * p.per_row.len;
    Place at = settled(p.rows, p.lengths, row);
    // A vector has 16, 8 or 4 pieces: a multiple of three plus one or two.
    u32 phase = (u32)((G == 2 ? 2 * number : number) % 3);
    uint4 v = triples<G>(kept(p.src, p.policy) + at.src + (p.per_row.len - 1 - number) * 16, phase);
    if (stopped(p.lengths)) return;
    store16(p.dst + at.dst + number * 16, v);
}

// Rows that begin and end anywhere, or of which only a prefix is reversed.
template <int W>
__device__ __forceinline__ void pixels_any(const Rows& p) {
    u64 thread = thread_index();
    if (thread >= p.threads) return;
    Chunk c = chunk_of<true>(p, thread);
    const i64 bytes = (i64)p.units * W, middle = c.cut.at * W;
    i64 low = c.start < 0 ? 0 : c.start, high = c.start + 16 < bytes ? c.start + 16 : bytes;
    if (low >= high) return;
    const bool first = low < middle, both = first && high > middle;
    Window<W> here, other;
    here.template open<i64>(p, c.in, c.start, c.cut.way(!first));
    if (both) other.template open<i64>(p, c.in, c.start, c.cut.behind);
    if (stopped(p.lengths)) return;
    if (!here.good || (both && !other.good)) {
        // Near both ends of the readable range: byte by byte.
#pragma unroll 1
        for (i64 to = low; to < high; ++to) c.out[to] = c.in[c.cut.source(to / W) * W + to % W];
        return;
    }
    uint4 v = here.shut();
    if (both) v = joined(v, other.shut(), (i32)(middle - c.start));
    if (c.start >= 0 && c.start + 16 <= bytes) store16(c.out + c.start, v);
    else store_some<W == 12 ? 4 : 1>(c.out + c.start, v, -c.start, bytes - c.start);
}

ROWS(rows_aligned_3, triples_aligned<1>)
ROWS(rows_aligned_6, triples_aligned<2>)
ROWS(rows_aligned_12, triples_aligned<4>)
ROWS_BY(6, rows_any_3, pixels_any<3>)
ROWS_BY(6, rows_any_6, pixels_any<6>)
ROWS_BY(6, rows_any_12, pixels_any<12>)
