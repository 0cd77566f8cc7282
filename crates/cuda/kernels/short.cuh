// Short rows, reversed as a whole or up to a length each, that are contiguous on both sides: a warp
// stages several of them. Works in place too. TABLE: bytes, of which those that are reversed are looked up.
#pragma once
#include "staged.cuh"

// Rows consist of pieces: a reversed prefix and the rest, either of which may be empty.
template <int W, bool TABLE>
struct Pieces {
    const i32* ends;  // end of each row's reversed prefix
    i32 bytes;  // of a row
    i32 row, begin, end;
    bool back;
    bool zero;  // the rest becomes zero

    __device__ __forceinline__ void go(i32 to_row) {
        row = to_row;
        begin = row * bytes;
        end = ends[row];
    }

    __device__ __forceinline__ i32 head() const { return begin + (back ? 0 : end); }
    __device__ __forceinline__ i32 edge() const { return begin + (back ? end : bytes); }
    __device__ __forceinline__ i32 number() const { return 2 * row + !back; }

    // Sixteen bytes of output from `to` on, as if all of them belonged to this piece, of rows that
    // are staged from `from` on.
    __device__ __forceinline__ uint4 sixteen(i32 from, i32 to) const {
        if (zero && !back) return make_uint4(0, 0, 0, 0);
        return staged_at(from, to, from + to, back);
    }

    // The bytes staged at `forward`, or the reversed ones that belong at `to`.
    __device__ __forceinline__ uint4 staged_at(i32 from, i32 to, i32 forward, bool turns) const {
        if constexpr (W % 3 == 0) {
            if (turns) {
                Window<W> window;
                window.open_back((const u8*)staged + from + begin, end, to - begin);
                return window.shut_back();
            }
            const uint4* low = staged + ((u32)forward >> 4);
            return turned<1>(low[0], low[1], (u32)forward & 15, false);
        } else {
            const i32 at = turns ? from + 2 * begin + end - 16 - to : forward;
            const uint4* low = staged + ((u32)at >> 4);
            const uint4 v = turned<W>(low[0], low[1], (u32)at & 15, turns);
            return TABLE && turns ? looked_up(v) : v;
        }
    }

    // Advances to the next non-empty piece.
    __device__ __forceinline__ void next() {
        if (back && end < bytes) {
            back = false;
        } else {
            go(row + 1);
            back = end > 0;
        }
    }
};

__device__ __forceinline__ u32 header_of(u32 rows) { return (rows * SHORT_HEADER + 15) / 16 * 16; }

template <int W, bool TABLE = false>
__device__ __forceinline__ void rows_short(const Rows& p) {
    const i32 bytes = (i32)p.row.len, most = (i32)p.stacked;
    const u64 first = thread_index() / 32 * (u64)most;
    if (first >= p.count) return;
    const i32 rows = p.count - first < (u64)most ? (i32)(p.count - first) : most, all = rows * bytes;
    const i32 lane = (i32)(threadIdx.x & 31);
    const u32 room = threadIdx.x / 32 * p.room;
    uint4* met = (uint4*)((u8*)staged + room);
    i32* ends = (i32*)(met + 2 * most);
    const i64 start = (i64)first * bytes;
    const i32 from = (i32)stage_bytes(p, room + header_of((u32)most) + MARGIN, p.src + start, (u32)all);
    // Lengths are loaded while rows are in flight.
    if (lane < rows) {
        u64 length = p.units;
        if (p.by_length) length = length_at(p.lengths, place(p.rows, first + (u64)lane).lengths);
        ends[lane] = (i32)length * W;
    }
    wait_for_own_copies();
    __syncwarp();
    if (stopped(p.lengths)) return;
    u8* out = p.dst + start;
    const i32 shift = (i32)((u64)out & 15);
    Pieces<W, TABLE> at;
    at.ends = ends, at.bytes = bytes, at.zero = p.lengths.zero;
    // First the vectors in which pieces meet, each assembled in shared memory by the first piece
    // that ends there. All of them at once: otherwise the warp would diverge every time one of its
    // threads has such a vector.
    for (i32 number = lane; number < 2 * rows; number += 32) {
        at.go(number >> 1);
        at.back = !(number & 1);
        const i32 to = ((at.edge() + shift) & ~15) - shift, low = to < 0 ? 0 : to;
        if (at.head() > low || at.edge() == low || at.edge() >= all) continue;
        const i32 last = to + 16 < all ? to + 16 : all;
        uint4 v = at.sixteen(from, to);
        while (at.edge() < last) {
            const i32 filled = at.edge() - to;
            at.next();
            // Bytes of earlier pieces are kept.
            v = joined(v, at.sixteen(from, to), filled);
        }
        met[number] = v;
    }
    __syncwarp();
    for (i32 to = lane * 16 - shift; to < all; to += 512) {
        const i32 low = to < 0 ? 0 : to, last = to + 16 < all ? to + 16 : all;
        at.go((i32)divide32((u32)low, p.row));
        at.back = low - at.begin < at.end;
        const bool meet = at.edge() < last;
        const i32 forward = meet ? (i32)room + 16 * at.number() : from + to;
        uint4 v = at.staged_at(from, to, forward, at.back && !meet);
        if (at.zero && !at.back && !meet) v = make_uint4(0, 0, 0, 0);
        if (to >= 0 && last == to + 16) store16(out + to, v);
        else store_some<W == 3 || W == 6 ? 1 : W == 12 ? 4 : W>(out + to, v, -to, last - to);
    }
}

KERNEL_BY(128, 6) rows_short_table_1(const __grid_constant__ Rows p, const __grid_constant__ Table table) {
    keep(table);
    rows_short<1, true>(p);
}
ROWS_BY(6, rows_short_1, rows_short<1>)
ROWS_BY(6, rows_short_2, rows_short<2>)
ROWS_BY(6, rows_short_4, rows_short<4>)
ROWS_BY(6, rows_short_8, rows_short<8>)
ROWS_BY(5, rows_short_3, rows_short<3>)
ROWS_BY(5, rows_short_6, rows_short<6>)
ROWS_BY(5, rows_short_12, rows_short<12>)
