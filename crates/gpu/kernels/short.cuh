// Short rows, reversed whole or up to a length each, that follow each other without gaps on both
// sides: a warp stages several, and puts sixteen bytes together from as many pieces as they have.
// Works in place too.
#pragma once
#include "staged.cuh"

// Where the reversed start of each row ends, before what is staged.
const u32 ENDS = 32 * 4;

// Sixteen bytes of output from `to` on, of a row that is staged from `from` on and begins at `begin`: of its reversed
// start of `end` bytes, or of what stays.
template <int W>
__device__ __forceinline__ uint4 piece(i32 from, i32 to, i32 begin, i32 end, bool back) {
    if constexpr (W == 3 || W == 6 || W == 12) {
        if (back) {
            Window<W> window;
            window.open_back((const u8*)staged + from + begin, end, to - begin);
            return window.shut_back();
        }
        const uint4* low = staged + ((u32)(from + to) >> 4);
        return turned<1>(low[0], low[1], (u32)(from + to) & 15, false);
    } else {
        const i32 at = back ? from + 2 * begin + end - 16 - to : from + to;
        const uint4* low = staged + ((u32)at >> 4);
        return turned<W>(low[0], low[1], (u32)at & 15, back);
    }
}

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
        // The row's bytes as they would lie in all sixteen.
        uint4 v = piece<W>(from, to, begin, end, back);
        i32 filled = begin + (back ? end : bytes) - to;
        while (filled < last) {
            if (!back || end == bytes) {
                ++row;
                begin += bytes;
                end = ends[row];
                back = end > 0;
            } else {
                back = false;
            }
            // Earlier ones stay.
            v = joined(v, piece<W>(from, to, begin, end, back), filled);
            filled = begin + (back ? end : bytes) - to;
        }
        if (to >= 0 && last == 16) store16(out + to, v);
        else store_some<W == 3 || W == 6 ? 1 : W == 12 ? 4 : W>(out + to, v, -to, last);
    }
}

ROWS_BY(6, rows_short_1, rows_short<1>)
ROWS_BY(6, rows_short_2, rows_short<2>)
ROWS_BY(6, rows_short_4, rows_short<4>)
ROWS_BY(6, rows_short_8, rows_short<8>)
ROWS_BY(6, rows_short_3, rows_short<3>)
ROWS_BY(6, rows_short_6, rows_short<6>)
ROWS_BY(6, rows_short_12, rows_short<12>)
