// Short rows, reversed whole or up to a length each, that follow each other without gaps on both
// sides: a warp stages several, and puts sixteen bytes together from as many pieces as they have.
// Works in place too.
#pragma once
#include "staged.cuh"

// Where the reversed start of each row ends, before what is staged.
const u32 ENDS = 32 * 4;

template <int W>
__device__ __forceinline__ void rows_short(const Rows& p) {
    const i32 bytes = (i32)p.chunk.len, most = (i32)p.unit.len;
    const u64 first = thread_index() / 32 * (u64)most;
    if (first >= p.count) return;
    const i32 rows = p.count - first < (u64)most ? (i32)(p.count - first) : most, all = rows * bytes;
    const i32 lane = (i32)(threadIdx.x & 31);
    const u32 room = threadIdx.x / 32 * p.room;
    i32* ends = (i32*)((u8*)staged + room);
    const i64 start = (i64)first * bytes;
    const i32 from = (i32)stage_bytes(p, room + ENDS + MARGIN, p.src + start, (u32)all);
    // Lengths come while rows do.
    if (lane < rows) {
        u64 length = p.units;
        if (p.by_length) length = length_at(p.lengths, place(p.rows, first + (u64)lane).lengths);
        ends[lane] = (i32)length * W;
    }
    wait_for_own_copies();
    __syncwarp();
    if (stopped(p.lengths)) return;
    u8* out = p.dst + start;
    for (i32 to = lane * 16 - (i32)((u64)out & 15); to < all; to += 512) {
        const i32 last = to + 16 < all ? 16 : all - to;
        i32 row = (i32)divide32((u32)(to < 0 ? 0 : to), p.chunk);
        i32 begin = row * bytes, end = ends[row];
        bool back = (to < begin ? begin : to) - begin < end;
        uint4 v = make_uint4(0, 0, 0, 0);
        i32 filled = 0;
        while (true) {
            // The row's bytes as they would lie in all sixteen; earlier ones stay.
            const i32 at = back ? from + 2 * begin + end - 16 - to : from + to;
            const uint4* low = staged + ((u32)at >> 4);
            v = joined(v, turned<W>(low[0], low[1], (u32)at & 15, back), filled);
            filled = begin + (back ? end : bytes) - to;
            if (filled >= last) break;
            if (!back || end == bytes) {
                ++row;
                begin += bytes;
                end = ends[row];
                back = end > 0;
            } else {
                back = false;
            }
        }
        if (to >= 0 && last == 16) store16(out + to, v);
        else store_some<W>(out + to, v, -to, last);
    }
}

ROWS_BY(6, rows_short_1, rows_short<1>)
ROWS_BY(6, rows_short_2, rows_short<2>)
ROWS_BY(6, rows_short_4, rows_short<4>)
ROWS_BY(6, rows_short_8, rows_short<8>)
