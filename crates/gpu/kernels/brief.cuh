// Rows of at most a few dozen bytes with lengths, contiguous on both sides: a warp stages 32 of them,
// and each lane puts one in order, word by word, in shared memory. In such rows half of all vectors
// contain the end of a row or of a prefix, so that assembling vectors (short.cuh) takes longer.
#pragma once
#include "short.cuh"

// A lane's row: where its bytes are staged, and how many of them are reversed.
struct BriefRow {
    i32 from, length, bytes;
    bool zero;

    // Four bytes of output from `to` on, of which none or all are reversed.
    __device__ __forceinline__ u32 word(i32 to) const {
        const bool back = to < length;
        const i32 at = from + (back ? length - 4 - to : to);
        const u32* low = (const u32*)((const u8*)staged + (at & ~3));
        const u32 v = __byte_perm(low[0], low[1], (back ? 0x0123 : 0x3210) + 0x1111 * (at & 3));
        return zero && !back ? 0 : v;
    }

    // The same one by one. Those outside the row are not used.
    __device__ __forceinline__ u32 one_by_one(i32 to) const {
        u32 v = 0;
#pragma unroll
        for (i32 k = 0; k < 4; ++k) {
            const i32 at = to + k, source = at < length ? length - 1 - at : at;
            const u32 byte = zero && at >= length ? 0 : ((const u8*)staged)[from + source];
            v |= byte << (8 * k);
        }
        return v;
    }
};

// `chunk` is the bytes of a row, `unit` the rows of a warp.
__device__ __forceinline__ void rows_brief(const Rows& p) {
    const i32 bytes = (i32)p.chunk.len, most = (i32)p.unit.len;
    const u64 first = thread_index() / 32 * (u64)most;
    if (first >= p.count) return;
    const i32 rows = p.count - first < (u64)most ? (i32)(p.count - first) : most, all = rows * bytes;
    const i32 lane = (i32)(threadIdx.x & 31), row = lane < rows ? lane : rows - 1;
    const i64 start = (i64)first * bytes;
    const u32 room = threadIdx.x / 32 * p.room + MARGIN;
    const i32 from = (i32)stage_bytes(p, room, p.src + start, (u32)all);
    // Lengths are loaded while rows are in flight.
    const i32 length = (i32)length_at(p.lengths, place(p.rows, first + (u64)row).lengths);
    const BriefRow in = {from + row * bytes, length, bytes, p.lengths.zero != 0};
    u8* out = p.dst + start;
    // Aligned as in memory, behind what is staged.
    const i32 shift = (i32)((u64)out & 15);
    u8* made = (u8*)staged + room + room_for((u32)(most * bytes));
    wait_for_own_copies();
    __syncwarp();
    if (stopped(p.lengths)) return;
    // Words are aligned, so the last one of a row may end with bytes of the next.
    u8* to = made + shift + row * bytes;
    const i32 lead = -(shift + row * bytes) & 3, words = (bytes - lead + 3) / 4;
    const u32 head = in.one_by_one(0), next = __shfl_down_sync(~0u, head, 1);
    const i32 left = bytes - lead - 4 * (words - 1);  // bytes of the last word
    const u32 last_mask = left < 4 ? (1u << (8 * left)) - 1 : ~0u;
    const u32 behind = left < 4 ? next << (8 * left) : 0;
    // The word in which the prefix ends.
    const i32 end = length > lead && ((length - lead) & 3) ? (length - lead) / 4 : -1;
    // Lanes begin with different words, which are in different banks.
    i32 number = lane % words;
#pragma unroll 4
    for (i32 k = 0; k < words; ++k) {
        u32 v = in.word(lead + 4 * number);
        if (number == words - 1) v = (v & last_mask) | behind;
        *(u32*)(to + lead + 4 * number) = v;
        number = number + 1 == words ? 0 : number + 1;
    }
    if (end >= 0) {
        u32 v = in.one_by_one(lead + 4 * end);
        if (end == words - 1) v = (v & last_mask) | behind;
        *(u32*)(to + lead + 4 * end) = v;
    }
    if (lane == 0)
        for (i32 k = 0; k < lead; ++k) to[k] = (u8)(head >> (8 * k));
    __syncwarp();
    for (i32 at = lane * 16 - shift; at < all; at += 512) {
        const uint4 v = *(const uint4*)(made + shift + at);
        if (at >= 0 && at + 16 <= all) store16(out + at, v);
        else store_some<1>(out + at, v, -at, all - at);
    }
}

KERNEL_BY(256, 6) rows_brief_1(const __grid_constant__ Rows p) { rows_brief(p); }
