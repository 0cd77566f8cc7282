// Rows by segments that a warp stages in shared memory: rows with lengths, rows of units of any
// width and alignment, and rows that are reversed in place, where a segment and its mirror image
// are swapped. Copies in flight use no registers, so that there can be many of them.
#pragma once
#include "async.cuh"
#include "table.cuh"
#include "window.cuh"

extern __shared__ uint4 staged[];

// Stages bytes of input in shared memory with the same alignment as in memory, by COUNT threads, of
// which this is number `thread`; returns the offset of the first.
template <u32 COUNT>
__device__ __forceinline__ u32 stage_range(const u8* begin, const u8* end, u64 policy, u32 room, const u8* from,
                                           u32 bytes, u32 thread) {
    const u32 shift = (u32)(u64)from & 15;
    const u8* low = from - shift;
    u8* held = (u8*)staged + room;
    // Usually the whole range is readable, and need not be checked for each vector.
    const u32 whole = (shift + bytes + 15) / 16 * 16;
    if (low >= begin && low + whole <= end) {
#pragma unroll 8
        for (u32 at = thread * 16; at < whole; at += COUNT * 16) copy_async16(held + at, low + at, policy);
        return room + shift;
    }
    for (u32 at = thread * 16; at < whole; at += COUNT * 16) {
        const u8* next = low + at;
        if (next >= begin && next + 16 <= end) {
            copy_async16(held + at, next, policy);
        } else {
            for (u32 k = 0; k < 16; ++k)
                if (next + k >= begin && next + k < end) held[at + k] = next[k];
        }
    }
    return room + shift;
}

// The same by a warp.
__device__ __forceinline__ u32 stage_bytes(const Rows& p, u32 room, const u8* from, u32 bytes) {
    return stage_range<32>(p.src_begin, p.src_end, p.policy, room, from, bytes, threadIdx.x & 31);
}

// Stages zeros instead, by a warp.
__device__ __forceinline__ u32 stage_zeros(u32 room, u32 bytes) {
    for (u32 at = (threadIdx.x & 31) * 16; at < bytes; at += 512) staged[(room + at) / 16] = make_uint4(0, 0, 0, 0);
    return room;
}

// Writes zeros, by a warp.
__device__ __forceinline__ void put_zeros(u8* out, i64 bytes) {
    const i64 shift = (i64)((u64)out & 15);
#pragma unroll 1
    for (i64 to = (i64)(threadIdx.x & 31) * 16 - shift; to < bytes; to += 512) {
        if (to >= 0 && to + 16 <= bytes) {
            store16(out + to, make_uint4(0, 0, 0, 0));
        } else {
            for (i64 k = 0; k < 16; ++k)
                if (to + k >= 0 && to + k < bytes) out[to + k] = 0;
        }
    }
}

// Shared memory for so many bytes with any alignment.
__device__ __forceinline__ u32 room_for(u32 bytes) { return (bytes + 15 + 15) / 16 * 16 + MARGIN; }

// Four staged bytes from any offset.
__device__ __forceinline__ u32 word_at(i32 at) {
    const u32* low = (const u32*)((const u8*)staged + (at & ~3));
    return __funnelshift_r(low[0], low[1], 8 * (at & 3));
}

// Four bytes of output from `to` on, whose units are staged in `bytes` from `from` on in reverse
// order. UNIT is their width, or 0 for any width of at least 3 bytes: a word then overlaps at most
// two units.
template <int UNIT>
__device__ __forceinline__ u32 word_back(const Rows& p, i32 from, i32 bytes, i32 to) {
    const i32 end = from + bytes - to;
    if (UNIT == 2) {
        if (!(to & 1)) return __byte_perm(word_at(end - 4), 0, 0x1032);
        // Half of one unit, the next unit, and half of the third.
        return __byte_perm(word_at(end - 5), word_at(end - 1), 0x0325);
    }
    const i32 width = (i32)p.unit.len;
    // Starts one unit earlier, so that it is not negative.
    const i32 unit = (i32)divide32((u32)(to + width), p.unit), inside = to + width - unit * width;
    const i32 left = width - inside;
    const i32 at = from + bytes - unit * width + inside;
    u32 word = to < 0 ? 0 : word_at(at);
    if (left < 4 && to + left < bytes) {
        const u32 mask = (1u << (8 * left)) - 1;
        word = (word & mask) | (word_at(at - 2 * width) & ~mask);
    }
    return word;
}

// Units whose width divides a vector. TABLE: bytes, of which those that are reversed are looked up.
template <int W, bool TABLE = false>
struct Vectors {
    static const bool AT_ONCE = W < 16;  // otherwise no vector spans two parts

    // Where byte `to` of the output is staged, if its part begins at `first`: at `start`, plus or
    // minus `to`. Whether the part is looked up.
    struct Line {
        i32 start;
        bool back, looks_up;

        __device__ __forceinline__ Line(i32 from, i32 bytes, bool back, i32 first, bool looks_up = false)
            : start(back ? from + bytes - 16 + first : from - first), back(back), looks_up(looks_up) {}

        __device__ __forceinline__ uint4 sixteen(i32 to) const {
            const i32 at = back ? start - to : start + to;
            const uint4* low = staged + ((u32)at >> 4);
            const uint4 v = turned<W>(low[0], low[1], (u32)at & 15, back);
            return TABLE && looks_up ? looked_up(v) : v;
        }
    };

    // Writes two parts that meet at `middle` as one, by COUNT threads: in short rows, all rows have
    // such a boundary.
    template <u32 COUNT = 32>
    static __device__ __forceinline__ void put(u8* out, const Line& a, const Line& b, i32 middle, i32 bytes) {
        const i32 shift = (i32)((u64)out & 15), thread = (i32)(threadIdx.x % COUNT);
#pragma unroll 2
        for (i32 to = thread * 16 - shift; to < bytes; to += COUNT * 16) {
            const Line& line = to < middle ? a : b;
            uint4 v = line.sixteen(to);
            if constexpr (AT_ONCE)
                if (to < middle && to + 16 > middle) v = joined(v, b.sixteen(to), middle - to);
            if (to >= 0 && to + 16 <= bytes) store16(out + to, v);
            else store_some<W>(out + to, v, -to, bytes - to);
        }
    }

    // Writes `bytes` from what is staged at `from`.
    static __device__ __forceinline__ void put(const Rows&, u8* out, i32 from, i32 bytes, bool back, u32) {
        const Line line(from, bytes, back, 0);
        put(out, line, line, bytes, bytes);
    }
};

// Writes `bytes` that are staged at `from`, in the same order.
__device__ __forceinline__ void put_forward(u8* out, i32 from, i32 bytes) {
    const i32 shift = (i32)((u64)out & 15), lane = (i32)(threadIdx.x & 31);
#pragma unroll 2
    for (i32 to = lane * 16 - shift; to < bytes; to += 512) {
        const uint4* low = staged + ((u32)(from + to) >> 4);
        const uint4 v = turned<1>(low[0], low[1], (u32)(from + to) & 15, false);
        if (to >= 0 && to + 16 <= bytes) store16(out + to, v);
        else store_some<1>(out + to, v, -to, bytes - to);
    }
}

// Units of three pieces.
template <int W>
struct Pixels {
    static const bool AT_ONCE = false;

    static __device__ __forceinline__ void put(const Rows&, u8* out, i32 from, i32 bytes, bool back, u32) {
        const i32 shift = (i32)((u64)out & 15), lane = (i32)(threadIdx.x & 31);
#pragma unroll 2
        for (i32 to = lane * 16 - shift; to < bytes; to += 512) {
            uint4 v;
            if (back) {
                Window<W> window;
                window.open_back((const u8*)staged + from, bytes, to);
                v = window.shut_back();
            } else {
                const uint4* low = staged + ((u32)(from + to) >> 4);
                v = turned<1>(low[0], low[1], (u32)(from + to) & 15, false);
            }
            if (to >= 0 && to + 16 <= bytes) store16(out + to, v);
            else store_some<W == 12 ? 4 : 1>(out + to, v, -to, bytes - to);
        }
    }
};

// Units of any other width, of which a few together are whole words: these are reversed by known
// permutations, in shared memory, which takes a third of the instructions of `Words`.
template <int W>
struct Groups {
    static const bool AT_ONCE = false;
    static const i32 UNITS = W % 2 ? 4 : 2, WORDS = W * UNITS / 4;

    // Four bytes from byte `at` on; those outside are not used.
    static __device__ __forceinline__ u32 four(const u32 (&word)[WORDS], i32 at) {
        const i32 low = (at + 4) / 4 - 1;
        const u32 a = low >= 0 ? word[low < 0 ? 0 : low] : 0;
        const u32 b = low + 1 < WORDS ? word[low + 1 < WORDS ? low + 1 : 0] : 0;
        return at % 4 ? __funnelshift_r(a, b, 8 * ((at + 4) & 3)) : a;
    }

    // `spare` is the offset of as much memory again.
    static __device__ __forceinline__ void put(const Rows&, u8* out, i32 from, i32 bytes, bool back, u32 spare) {
        if (back) {
            const i32 groups = (bytes + 4 * WORDS - 1) / (4 * WORDS);
            // Of the part before.
            __syncwarp();
#pragma unroll 1
            for (i32 group = (i32)(threadIdx.x & 31); group < groups; group += 32) {
                // The last group may begin before the first unit.
                const i32 at = from + bytes - (group + 1) * 4 * WORDS;
                const u32* low = (const u32*)((const u8*)staged + (at & ~3));
                u32 word[WORDS];
#pragma unroll
                for (i32 k = 0; k < WORDS; ++k) word[k] = __funnelshift_r(low[k], low[k + 1], 8 * (at & 3));
                u32* to = (u32*)((u8*)staged + spare) + group * WORDS;
#pragma unroll
                for (i32 k = 0; k < WORDS; ++k) {
                    const i32 unit = 4 * k / W, inside = 4 * k % W, left = W - inside;
                    u32 v = four(word, (UNITS - 1 - unit) * W + inside);
                    if (left < 4) {
                        const u32 mask = (1u << (8 * (left & 3))) - 1;
                        v = (v & mask) | (four(word, (UNITS - 2 - unit) * W - left) & ~mask);
                    }
                    to[k] = v;
                }
            }
            __syncwarp();
        }
        put_forward(out, back ? (i32)spare : from, bytes);
    }
};

// Any other units, by words.
template <int UNIT>
struct Words {
    static const bool AT_ONCE = false;

    static __device__ __forceinline__ void put(const Rows& p, u8* out, i32 from, i32 bytes, bool back, u32);
};

template <int UNIT>
__device__ __forceinline__ void Words<UNIT>::put(const Rows& p, u8* out, i32 from, i32 bytes, bool back, u32) {
    if (!back) {
        put_forward(out, from, bytes);
        return;
    }
    const i32 shift = (i32)((u64)out & 3), lane = (i32)(threadIdx.x & 31);
#pragma unroll 2
    for (i32 to = lane * 4 - shift; to < bytes; to += 128) {
        const u32 word = word_back<UNIT>(p, from, bytes, to);
        if (to >= 0 && to + 4 <= bytes) {
            *(u32*)(out + to) = word;
        } else {
            for (i32 k = 0; k < 4; ++k)
                if (to + k >= 0 && to + k < bytes) out[to + k] = (u8)(word >> (8 * k));
        }
    }
}

// The segment of a row that a warp moves.
struct WarpShare {
    u64 row;
    i64 first;  // unit
    u32 room;
};

__device__ __forceinline__ bool warp_share(const Rows& p, WarpShare& s) {
    const u64 warp = thread_index() / 32;
    if (warp >= p.threads / 32) return false;
    s.row = divide(warp, p.per_row);
    s.first = (i64)((warp - s.row * p.per_row.len) * p.segment);
    s.room = threadIdx.x / 32 * p.room + MARGIN;
    return true;
}

template <typename By>
__device__ __forceinline__ void rows_staged(const Rows& p) {
    const i64 width = (i64)p.unit.len, most = (i64)p.segment;
    WarpShare s;
    if (!warp_share(p, s)) return;
    bool beyond;
    Place at = settled(p.rows, p.lengths, s.row, beyond);
    const Cut c = cut_of<true>(p, at.lengths);
    // The parts that become zero.
    const bool ends = p.lengths.zero && p.by_length;
    const bool no_before = ends && p.dst_back, no_behind = beyond || (ends && !p.dst_back);
    const u8* in = p.src + at.src;
    u8* out = p.dst + at.dst;
    i64 first = s.first, last = first + most < (i64)p.units ? first + most : (i64)p.units;
    if constexpr (By::AT_ONCE) {
        // Segments begin at vector boundaries, so that only the ends of rows have partial vectors.
        const i64 lead = (i64)((u64)out & 15) / width;
        first = first < lead ? 0 : first - lead;
        last = s.first + most - lead < (i64)p.units ? s.first + most - lead : (i64)p.units;
        if (first >= last) return;
    }
    const i64 middle = c.at < first ? first : c.at > last ? last : c.at;
    const i64 before = middle - first, behind = last - middle;
    // Some bytes of an empty part are loaded as well, and not used.
    i32 from_before = By::AT_ONCE ? (i32)s.room : 0, from_behind = from_before;
    u32 room = s.room;
    if (before > 0) {
        const i64 low = c.before.source(c.before.back ? middle - 1 : first);
        const u32 bytes = (u32)(before * width);
        from_before = (i32)(no_before ? stage_zeros(room, bytes) : stage_bytes(p, room, in + low * width, bytes));
        room += room_for(bytes);
    }
    if (behind > 0) {
        const i64 low = c.behind.source(c.behind.back ? last - 1 : middle);
        const u32 bytes = (u32)(behind * width);
        from_behind = (i32)(no_behind ? stage_zeros(room, bytes) : stage_bytes(p, room, in + low * width, bytes));
    }
    wait_for_own_copies();
    __syncwarp();
    if (stopped(p.lengths)) return;
    if constexpr (By::AT_ONCE) {
        typedef typename By::Line Line;
        const i32 middle_byte = (i32)(before * width), bytes = (i32)((before + behind) * width);
        // Of a row with a length, the prefix; of others, all if their step is reversed.
        const bool moves = p.rows.prefix == NONE || at.step < length_at(p.lengths, at.lengths);
        const Line a(from_before, middle_byte, c.before.back, 0, moves && !(p.by_length && p.dst_back));
        const Line b(from_behind, bytes - middle_byte, c.behind.back, middle_byte, moves && !(p.by_length && !p.dst_back));
        By::put(out + first * width, a, b, middle_byte, bytes);
        return;
    }
    const u32 spare = s.room + room_for((u32)(most * width)) + room_for(0);
    if (before > 0) By::put(p, out + first * width, from_before, (i32)(before * width), c.before.back, spare);
    if (behind > 0) By::put(p, out + middle * width, from_behind, (i32)(behind * width), c.behind.back, spare);
}

// Clears steps of a row.
__device__ __forceinline__ void zero_steps(const Rows& p, u8* row, i64 first, i64 last) {
    const i64 width = (i64)p.unit.len;
    if (first < last) put_zeros(row + (p.dst_back ? (i64)p.units - last : first) * width, (last - first) * width);
}

template <typename By>
__device__ __forceinline__ void rows_staged_swap(const Rows& p) {
    const i64 width = (i64)p.unit.len, most = (i64)p.segment;
    const u32 half = room_for((u32)(most * width));
    WarpShare s;
    if (!warp_share(p, s)) return;
    Place at = place(p.rows, s.row);
    i64 length = (i64)p.units;
    if (p.by_length) length = (i64)length_at(p.lengths, at.lengths);
    if (p.lengths.zero) {
        if (stopped(p.lengths)) return;
        // What is beyond the length, of the segment and of its mirror image in the row.
        const i64 all = (i64)p.units, last = s.first + most < all ? s.first + most : all;
        zero_steps(p, p.dst + at.dst, s.first > length ? s.first : length, last);
        zero_steps(p, p.dst + at.dst, all - last > length ? all - last : length, all - s.first);
    }
    if (2 * s.first >= length) return;
    // Its lowest byte: the prefix of a row that runs backward is at the high end.
    u8* base = p.dst + at.dst + (p.dst_back ? (i64)p.units - length : 0) * width;
    const i64 mirror = length - s.first - most;
    u8* low = base + s.first * width;
    if (mirror < s.first + most) {
        // The middle segment is its own mirror image.
        const i32 bytes = (i32)((length - 2 * s.first) * width);
        const i32 from = (i32)stage_bytes(p, s.room, low, (u32)bytes);
        wait_for_own_copies();
        __syncwarp();
        if (!stopped(p.lengths)) By::put(p, low, from, bytes, true, s.room + 2 * half);
        return;
    }
    u8* high = base + mirror * width;
    const i32 bytes = (i32)(most * width);
    const i32 from_low = (i32)stage_bytes(p, s.room, low, (u32)bytes);
    const i32 from_high = (i32)stage_bytes(p, s.room + half, high, (u32)bytes);
    wait_for_own_copies();
    __syncwarp();
    if (stopped(p.lengths)) return;
    By::put(p, low, from_high, bytes, true, s.room + 2 * half);
    By::put(p, high, from_low, bytes, true, s.room + 2 * half);
}

#define STAGED(NAME, ...)                                                                          \
    ROWS_BY(6, rows_staged_##NAME, rows_staged<__VA_ARGS__>)                                       \
    ROWS_BY(6, rows_staged_swap_##NAME, rows_staged_swap<__VA_ARGS__>)

KERNEL_BY(128, 6) rows_staged_table_1(const __grid_constant__ Rows p, const __grid_constant__ Table table) {
    keep(table);
    rows_staged<Vectors<1, true>>(p);
}
STAGED(1, Vectors<1>) STAGED(2, Vectors<2>) STAGED(4, Vectors<4>) STAGED(8, Vectors<8>) STAGED(16, Vectors<16>)
STAGED(3, Pixels<3>) STAGED(6, Pixels<6>) STAGED(12, Pixels<12>)
STAGED(5, Groups<5>)
// Units of two bytes that are not aligned to two, and of any other width.
STAGED(22, Words<2>) STAGED(0, Words<0>)
