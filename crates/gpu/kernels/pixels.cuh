// Rows of 3-byte units. Sixteen bytes of output touch six units, whatever their phase; those
// lie in 18 bytes of input, which are shifted into place, turned around, and shifted again.
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

__device__ __forceinline__ void rows_pixels(const Rows& p) {
    u64 thread = thread_index();
    if (thread >= p.threads || stopped(p.lengths)) return;
    Chunk c = chunk_of(p, thread);
    const i64 bytes = (i64)p.units * 3, middle = c.cut.at * 3;
    if (c.start >= bytes) return;
    bool first = c.start + 16 <= middle, second = c.start >= middle;
    if (c.start >= 0 && c.start + 16 <= bytes && (first || second)) {
        bool back = first ? c.cut.back[0] : c.cut.back[1];
        i64 from = first ? c.cut.from[0] : c.cut.from[1];
        if (back) {
            i64 unit = (i64)((u64)c.start / 3);
            u32 phase = 8 * (u32)(c.start - unit * 3);
            u32 a[5];
            if (words_at(c.in + (from - unit - 5) * 3, 18, p.src_begin, p.src_end, a)) {
                u32 q0 = __byte_perm(a[3], a[4], 0x0543);  // bytes 15 16 17 12
                u32 q1 = __byte_perm(a[3], a[2], 0x6521);  // 13 14  9 10
                u32 q2 = __byte_perm(a[1], a[2], 0x4327);  // 11  6  7  8
                u32 q3 = __byte_perm(a[0], a[1], 0x0543);  //  3  4  5  0
                u32 q4 = __byte_perm(a[0], 0, 0x0021);     //  1  2
                store16(c.out + c.start, make_uint4(__funnelshift_r(q0, q1, phase), __funnelshift_r(q1, q2, phase),
                                                    __funnelshift_r(q2, q3, phase), __funnelshift_r(q3, q4, phase)));
                return;
            }
        } else {
            u32 a[4];
            if (words_at(c.in + from * 3 + c.start, 16, p.src_begin, p.src_end, a)) {
                store16(c.out + c.start, make_uint4(a[0], a[1], a[2], a[3]));
                return;
            }
        }
    }
#pragma unroll 1
    for (int done = 0; done < 16; done += 4) {
        u8 v[4];
#pragma unroll
        for (int k = 0; k < 4; ++k) {
            i64 to = c.start + done + k;
            if (to >= 0 && to < bytes) {
                i64 unit = (i64)((u64)to / 3);
                v[k] = c.in[c.cut.source(unit) * 3 + (to - unit * 3)];
            }
        }
#pragma unroll
        for (int k = 0; k < 4; ++k) {
            i64 to = c.start + done + k;
            if (to >= 0 && to < bytes) c.out[to] = v[k];
        }
    }
}

KERNEL(256) rows_any_3(const __grid_constant__ Rows p) { rows_pixels(p); }
