// Elements of 1, 2 or 4 bits, and bytes if they are looked up in a table. A thread owns 16 aligned bytes of the output and finds the elements
// that belong there, so that no byte has two writers, even if several rows share it. If all of them
// are contiguous in one row, they are loaded as words; otherwise one by one.
//
// Positions count elements. Words are bit-reversed if necessary, so that the first element is in
// the lowest bits.
#pragma once
#include "rows.cuh"
#include "table.cuh"

__device__ __forceinline__ u32 turned(u32 word, bool high_first) {
    return high_first ? __byte_perm(__brev(word), 0, 0x0123) : word;
}

// The elements of a word in reverse order; bytes only with a table.
template <bool TABLE = false>
__device__ __forceinline__ u32 reversed_elements(u32 word, u32 bits_log2) {
    if (TABLE && bits_log2 == 3) return __byte_perm(word, 0, 0x0123);
    word = __brev(word);
    if (bits_log2 >= 1) word = (word >> 1 & 0x55555555) | (word & 0x55555555) << 1;
    if (bits_log2 >= 2) word = (word >> 2 & 0x33333333) | (word & 0x33333333) << 2;
    return word;
}

// An output position, decomposed by dividing by each stride in turn: dimensions nest.
struct Found {
    bool covered;
    Place at;
    u64 inner;  // index along the innermost dimension
};

__device__ __forceinline__ Found find(const Packed& p, i64 position) {
    Found f = {true, {0, 0, 0, 0}, 0};
    u64 rest = (u64)(position - p.dst_begin);
    for (u32 a = 0; a < p.loops.rank; ++a) {
        const Axis& axis = p.loops.axis[a];
        u64 i = axis.dst == 1 ? rest : divide(rest, axis);
        if (i >= axis.len) {
            f.covered = false;
            return f;
        }
        rest -= i * (u64)axis.dst;
        if (a == p.loops.prefix) f.at.step = p.prefix_back ? axis.len - 1 - i : i;
        else f.at.src += (i64)i * axis.src;
        f.at.lengths += (i64)i * axis.lengths;
        f.inner = i;
    }
    f.covered = rest == 0;
    return f;
}

// The element that belongs there; `beyond` if it becomes zero instead, `moves` if it is reversed. The
// latest segment is kept in `s`, because the next element is probably in it too. MORE: with segments or
// zeros, which take more registers.
template <bool MORE>
__device__ __forceinline__ i64 source(const Packed& p, const Found& f, Segment& s, bool& beyond, bool& moves) {
    i64 src = p.src_origin + f.at.src;
    beyond = false, moves = true;
    if (MORE && p.lengths.count) {
        if (!s.contains(f.at.step)) s = segment_of(p.lengths, f.at.step);
        src += (i64)s.source(f.at.step) * p.loops.axis[p.loops.prefix].src;
        moves = !s.kept;
    } else if (p.loops.prefix != NONE) {
        const u64 length = length_at(p.lengths, f.at.lengths);
        src += (i64)mirrored(f.at.step, length) * p.loops.axis[p.loops.prefix].src;
        moves = f.at.step < length;
        beyond = MORE && p.lengths.zero && !moves;
    }
    return src;
}

__device__ __forceinline__ u32 shift_in_byte(const Packed& p, i64 position) {
    u32 per_byte_log2 = 3 - p.bits_log2;
    u32 place = (u32)position & ((1u << per_byte_log2) - 1);
    if (p.high_first) place = (1u << per_byte_log2) - 1 - place;
    return place << p.bits_log2;
}

// One byte of the output, element by element.
template <bool MORE, bool TABLE>
__device__ __forceinline__ void put_byte(const Packed& p, i64 byte, Segment& s) {
    const u32 per_byte_log2 = 3 - p.bits_log2, mask = (1u << (1u << p.bits_log2)) - 1;
    const i64 first = byte << per_byte_log2;
    u32 value = 0, written = 0;
    for (u32 k = 0; k < 1u << per_byte_log2; ++k) {
        i64 position = first + k;
        if (position < p.dst_begin || position >= p.dst_end) continue;
        Found f = find(p, position);
        if (!f.covered) continue;
        bool beyond, moves;
        i64 from = source<MORE>(p, f, s, beyond, moves);
        u32 element = beyond ? 0 : p.src[from >> per_byte_log2] >> shift_in_byte(p, from) & mask;
        if (TABLE && moves) element = looked_up(element) & mask;
        u32 to = shift_in_byte(p, position);
        value |= element << to;
        written |= mask << to;
    }
    if (written == 0) return;
    // Unused bits of a whole tensor are already zero; neighbouring elements of a view are kept.
    if (written != 0xff && !p.seals) value |= p.dst[byte] & ~written;
    p.dst[byte] = (u8)value;
}

// 128 bits from any position, as words with the lowest element first. False if the vectors that
// hold them are not all readable.
__device__ __forceinline__ bool bits_at(const Packed& p, i64 position, u32 (&out)[4]) {
    // Vectors are aligned in memory, but positions count from `src`.
    const u32 lead = (u32)(u64)p.src & 15, per_byte_log2 = 3 - p.bits_log2;
    const i64 bit = (position << p.bits_log2) + 8 * (i64)lead;
    const u8* low = p.src - lead + (bit >> 7) * 16;
    const u32 shift = (u32)bit & 127;
    const u8* high = low + (shift ? 16 : 0);
    if (low < p.src + (p.src_begin >> per_byte_log2) || high + 16 > p.src + (p.src_end >> per_byte_log2)) return false;
    u32 word[5];
    five_words(load16(low), load16(high), shift >> 5, word);
#pragma unroll
    for (int k = 0; k < 5; ++k) word[k] = turned(word[k], p.high_first);
#pragma unroll
    for (int k = 0; k < 4; ++k) out[k] = __funnelshift_r(word[k], word[k + 1], shift & 31);
    return true;
}

// Moves all of a thread's elements, if they are contiguous in one row.
template <bool MORE, bool TABLE>
__device__ __forceinline__ bool put_words(const Packed& p, i64 chunk, Segment& s) {
    const u32 per_byte_log2 = 3 - p.bits_log2;
    const i64 count = 16 << per_byte_log2, first = chunk << per_byte_log2;
    if (first < p.dst_begin || first + count > p.dst_end) return false;
    const Axis& row = p.loops.axis[p.loops.rank - 1];
    Found f = find(p, first);
    if (!f.covered || f.inner + count > row.len) return false;
    bool by_length = p.loops.prefix == p.loops.rank - 1, beyond = false, moves = true;
    i64 src = p.src_origin + f.at.src;
    i64 start = (i64)f.inner;
    Way way;
    if (MORE && p.lengths.count && by_length) {
        // The first and the last step, from low output positions to high ones.
        const u64 t = f.at.step, other = p.prefix_back ? t - (u64)(count - 1) : t + (u64)(count - 1);
        s = segment_of(p.lengths, t);
        if (!s.contains(other)) return false;
        const i64 from = (i64)s.source(t) * row.src, to = (i64)s.source(other) * row.src;
        way.back = to < from;
        way.from = way.back ? from + start : from - start;
        moves = !s.kept;
    } else {
        i64 length = 0;
        if (by_length) {
            length = (i64)length_at(p.lengths, f.at.lengths);
        } else {
            src = source<MORE>(p, f, s, beyond, moves) - (i64)f.inner * row.src;
        }
        // As for rows: from the lowest position.
        if (p.src_back) src -= (i64)row.len - 1;
        const bool back = by_length && p.prefix_back;
        Cut c = cut((i64)row.len, length, p.src_back, back);
        bool before = start + count <= c.at;
        if (!before && start < c.at) return false;
        way = c.way(!before);
        if (by_length) moves = before != back;
        if (MORE && by_length && p.lengths.zero) beyond = before == back;
    }
    if (MORE && beyond) {
        store16(p.dst + chunk, make_uint4(0, 0, 0, 0));
        return true;
    }
    u32 w[4];
    if (!bits_at(p, src + way.source(way.back ? start + count - 1 : start), w)) return false;
    uint4 v = make_uint4(w[0], w[1], w[2], w[3]);
    if (way.back) {
        v = make_uint4(reversed_elements<TABLE>(w[3], p.bits_log2), reversed_elements<TABLE>(w[2], p.bits_log2),
                       reversed_elements<TABLE>(w[1], p.bits_log2), reversed_elements<TABLE>(w[0], p.bits_log2));
    }
    v = make_uint4(turned(v.x, p.high_first), turned(v.y, p.high_first),
                   turned(v.z, p.high_first), turned(v.w, p.high_first));
    if (TABLE && moves) v = looked_up(v);
    store16(p.dst + chunk, v);
    return true;
}

// Writes all bytes of a chunk that contain any position of the output.
template <bool MORE, bool TABLE = false>
__device__ __forceinline__ void put_bytes(const Packed& p, i64 chunk, Segment& s) {
    const u32 per_byte_log2 = 3 - p.bits_log2;
#pragma unroll 1
    for (i64 byte = chunk; byte < chunk + 16; ++byte) {
        if (byte < p.dst_begin >> per_byte_log2) continue;
        if ((byte << per_byte_log2) >= p.dst_end) break;
        put_byte<MORE, TABLE>(p, byte, s);
    }
}

template <bool MORE, bool TABLE = false>
__device__ __forceinline__ void put_chunk(const Packed& p, i64 chunk) {
    Segment s = {0, 0, false};
    if (!p.row || !put_words<MORE, TABLE>(p, chunk, s)) put_bytes<MORE, TABLE>(p, chunk, s);
}

KERNEL_BY(256, 8) packed(const __grid_constant__ Packed p) {
    u64 thread = thread_index();
    if (thread >= p.threads || stopped(p.lengths)) return;
    put_chunk<false>(p, p.first_chunk + (i64)thread * 16);
}

// One dimension is cut into segments, or what is beyond a length becomes zero.
KERNEL(256) packed_more(const __grid_constant__ Packed p) {
    u64 thread = thread_index();
    if (thread >= p.threads || stopped(p.lengths)) return;
    put_chunk<true>(p, p.first_chunk + (i64)thread * 16);
}

// What is reversed is looked up.
KERNEL(256) packed_table(const __grid_constant__ Packed p, const __grid_constant__ Table table) {
    keep(table);
    u64 thread = thread_index();
    if (thread >= p.threads || stopped(p.lengths)) return;
    put_chunk<true, true>(p, p.first_chunk + (i64)thread * 16);
}

// One row that is reversed as a whole: every vector of the output has the same offset in two
// vectors of the input, so that everything except addresses is uniform across the block.
KERNEL_BY(256, 8) packed_flip(const __grid_constant__ Packed p) {
    const u32 thread = threadIdx.x, per_byte_log2 = 3 - p.bits_log2, lead = (u32)(u64)p.src & 15;
    const i64 block = p.first_chunk + (i64)blockIdx.x * (THREADS * 16), count = 16 << per_byte_log2;
    const i64 first = block << per_byte_log2, end = first + THREADS * count;
    // The last element that the block's first vector comes from, and the vector that contains it.
    const i64 from = p.src_origin - (first - p.dst_begin) - (count - 1);
    const i64 bit = (from << p.bits_log2) + 8 * (i64)lead;
    const u8* low = p.src - lead + (bit >> 7) * 16;
    const u32 shift = (u32)bit & 127;
    const bool inside = first >= p.dst_begin && end <= p.dst_end &&
        low - (THREADS - 1) * 16 >= p.src + (p.src_begin >> per_byte_log2) && low + 32 <= p.src + (p.src_end >> per_byte_log2);
    if (stopped(p.lengths)) return;
    if (!inside) {
        if ((u64)blockIdx.x * THREADS + thread < p.threads) {
            Segment s = {0, 0, false};
            put_bytes<false>(p, block + thread * 16, s);
        }
        return;
    }
    low -= thread * 16;
    u32 w[5];
    five_words(load16(low), load16(low + 16), shift >> 5, w);
    if (p.high_first) {
#pragma unroll
        for (int k = 0; k < 5; ++k) w[k] = turned(w[k], true);
    }
#pragma unroll
    for (int k = 0; k < 4; ++k) {
        w[k] = reversed_elements(__funnelshift_r(w[k], w[k + 1], shift & 31), p.bits_log2);
        if (p.high_first) w[k] = turned(w[k], true);
    }
    store16(p.dst + block + thread * 16, make_uint4(w[3], w[2], w[1], w[0]));
}
