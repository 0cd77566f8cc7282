// Rows of at most a few dozen words with lengths, contiguous on both sides: a warp stages 32 of them,
// and each lane reverses the prefix of one in shared memory, where what is not reversed is in place
// already. In such rows half of all vectors contain the end of a row or of a prefix, so that
// assembling vectors (short.cuh) takes longer. Works in place too.
#pragma once
#include "short.cuh"

// A lane's row, of units of W bytes: what its prefix becomes, and where that is.
template <int W>
struct BriefRow {
    // The most words of a row, which a lane keeps in registers. Longer rows of wide units are as fast by
    // vectors.
    static const i32 WORDS = W < 4 ? 28 : 16;
    i32 at;  // of the row in shared memory
    i32 lead;  // bytes before the first whole word
    i32 words;  // whole words of the prefix
    i32 heads, tails;  // bytes of the prefix before and behind them
    u32 order;
    u32 head, tail;
    u32 word[WORDS + 1];

    // How two words that contain four bytes become these bytes, in reverse order.
    static __device__ __forceinline__ u32 order_at(i32 from) {
        return (W == 1 ? 0x0123 : W == 2 ? 0x1032 : 0x3210) + 0x1111 * (from & 3);
    }

    static __device__ __forceinline__ const u32* words_at(i32 from) {
        return (const u32*)((const u8*)staged + (from & ~3));
    }

    static __device__ __forceinline__ u32 four(i32 from) {
        const u32* low = words_at(from);
        return __byte_perm(low[0], low[1], order_at(from));
    }

    // Loads the prefix of a row of `bytes`. Addresses differ by constants, and only loads that are
    // needed compete for banks.
    __device__ __forceinline__ void load(i32 row, i32 length, i32 bytes) {
        at = row;
        lead = -at & 3;
        words = length > lead ? (length - lead) / 4 : 0;
        heads = length < lead ? length : lead;
        tails = length - lead - 4 * words;
        // The bytes of output word k come from here minus 4k.
        const i32 from = at + length - 4 - lead;
        order = order_at(from);
        const u32* high = words_at(from) + 1;
#pragma unroll
        for (i32 k = 0; k <= WORDS; ++k) {
            if (k % 4 == 1 && 4 * k > bytes) break;
            if (k <= words) word[k] = high[-k];
        }
        if constexpr (W < 4) {
            head = four(at + length - 4);
            tail = four(from - 4 * words);
        }
    }

    // Stores it, after all lanes have loaded theirs: two rows may share a word.
    __device__ __forceinline__ void store(i32 bytes) const {
        u8* held = (u8*)staged + at;
        u32* to = (u32*)(held + lead);
#pragma unroll
        for (i32 k = 0; k < WORDS; ++k) {
            if (k % 4 == 0 && 4 * k >= bytes) break;
            // Words of eight bytes keep their order.
            if (k < words) to[k] = W == 8 ? word[(k ^ 1) + 1] : __byte_perm(word[k + 1], word[k], order);
        }
        if constexpr (W < 4) {
#pragma unroll
            for (i32 k = 0; k < 3; ++k)
                if (k < heads) held[k] = (u8)(head >> (8 * k));
            held += lead + 4 * words;
#pragma unroll
            for (i32 k = 0; k < 3; ++k)
                if (k < tails) held[k] = (u8)(tail >> (8 * k));
        }
    }

    // Clears what is behind the prefix.
    __device__ __forceinline__ void clear(i32 length, i32 bytes) const {
        u8* to = (u8*)staged + at + length;
        u8* end = (u8*)staged + at + bytes;
#pragma unroll 1
        for (; to < end && (u64)to & 3; ++to) *to = 0;
#pragma unroll 1
        for (; to + 4 <= end; to += 4) *(u32*)to = 0;
#pragma unroll 1
        for (; to < end; ++to) *to = 0;
    }
};

// `row` is the bytes of a row. If rows are whole vectors, `apart` may be their number in a row:
// there is an unused vector behind each row then, so that rows begin in more different banks.
template <int W>
__device__ __forceinline__ void rows_brief(const Rows& p) {
    const i32 bytes = (i32)p.row.len;
    const u64 first = thread_index() / 32 * 32;
    if (first >= p.count) return;
    const i32 rows = p.count - first < 32 ? (i32)(p.count - first) : 32, all = rows * bytes;
    const i32 lane = (i32)(threadIdx.x & 31);
    const i64 start = (i64)first * bytes;
    const u32 room = threadIdx.x / 32 * p.room + MARGIN;
    const bool apart = p.apart.len != 0;
    i32 from = (i32)room;
    if (apart) {
#pragma unroll 4
        for (i32 v = lane; v < all / 16; v += 32)
            copy_async16((u8*)staged + from + (v + (i32)divide32((u32)v, p.apart)) * 16, p.src + start + v * 16, p.policy);
    } else {
        from = (i32)stage_bytes(p, room, p.src + start, (u32)all);
    }
    // Lengths, and the result of their check, are loaded while rows are in flight.
    i32 length = 0;
    if (lane < rows) length = (i32)length_at(p.lengths, place(p.rows, first + (u64)lane).lengths) * W;
    const bool stop = stopped(p.lengths);
    wait_for_own_copies();
    __syncwarp();
    if (stop) return;
    BriefRow<W> row;
    row.load(from + lane * (bytes + (apart ? 16 : 0)), length, bytes);
    __syncwarp();
    row.store(bytes);
    if (p.lengths.zero && lane < rows) row.clear(length, bytes);
    __syncwarp();
    u8* out = p.dst + start;
    if (apart) {
#pragma unroll 4
        for (i32 v = lane; v < all / 16; v += 32)
            store16(out + v * 16, staged[from / 16 + v + (i32)divide32((u32)v, p.apart)]);
    } else if (((u64)out & 15) == 0 && rows == 32 && from % 16 == 0) {
#pragma unroll 4
        for (i32 at = lane * 16; at < all; at += 512) store16(out + at, staged[(from + at) / 16]);
    } else {
        put_forward(out, from, all);
    }
}

ROWS_BY(5, rows_brief_1, rows_brief<1>)
ROWS_BY(5, rows_brief_2, rows_brief<2>)
ROWS_BY(6, rows_brief_4, rows_brief<4>)
ROWS_BY(6, rows_brief_8, rows_brief<8>)
