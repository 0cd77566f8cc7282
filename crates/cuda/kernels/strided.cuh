// Any plan: pieces ("granules") of G bytes, where G divides the unit and every address. `strided`
// moves one per thread; `gather` assembles 16 contiguous bytes of output.
#pragma once
#include "vector.cuh"

template <int G>
__device__ __forceinline__ void strided(const Strided& p) {
    u64 thread = thread_index();
    if (thread >= p.threads || stopped(p.lengths)) return;
    typedef typename Word<G>::T T;
    bool beyond;
    Place at = settled(p.loops, p.lengths, thread, beyond);
    *(T*)(p.dst + at.dst) = beyond ? zero_of<T>() : *(const T*)(p.src + at.src);
}

// In place: `dst` is the address of a granule of the lower half and `src` that of its mirror image.
// If steps beyond a length become zero, there is a thread for each of the upper half too.
template <int G>
__device__ __forceinline__ void swap(const Strided& p) {
    u64 thread = thread_index();
    if (thread >= p.threads || stopped(p.lengths)) return;
    typedef typename Word<G>::T T;
    Place at = place(p.loops, thread);
    if (p.loops.prefix != NONE) {
        u64 length = length_at(p.lengths, at.lengths);
        if (p.lengths.zero && at.step >= length) *(T*)(p.dst + at.dst) = zero_of<T>();
        if (at.step >= length / 2) return;
        at.src += (i64)(length - 1 - at.step) * p.loops.axis[p.loops.prefix].src;
    }
    T* low = (T*)(p.dst + at.dst);
    T* high = (T*)(p.src + at.src);
    // In the middle of the halved dimension both orders occur; only one of them does the work.
    if (p.loops.prefix == NONE && low >= high) return;
    T a = *low, b = *high;
    *low = b;
    *high = a;
}

// Steps through granules in output order, dividing only at the end of `inner`.
template <bool PREFIX>
struct Cursor {
    const Gather& p;
    Place at;
    u64 i0, i1, length;
    i64 lane, lane_lengths;

    __device__ __forceinline__ Cursor(const Gather& p) : p(p) {}

    __device__ __forceinline__ void seek(u64 granule) {
        u64 q0 = divide(granule, p.inner[0]);
        i0 = granule - q0 * p.inner[0].len;
        u64 q1 = divide(q0, p.inner[1]);
        i1 = q0 - q1 * p.inner[1].len;
        at = place(p.outer, q1);
        enter();
    }

    __device__ __forceinline__ i64 dst() const {
        return at.dst + (i64)i0 * p.inner[0].dst + (i64)i1 * p.inner[1].dst;
    }

    // If the prefix is not the innermost dimension: the input offset along it.
    __device__ __forceinline__ i64 along() const {
        if (p.prefix == 1) return (i64)mirrored(i1, length) * p.inner[1].src;
        return (i64)mirrored(at.step, length) * p.outer.axis[p.outer.prefix].src;
    }

    __device__ __forceinline__ void enter() {
        lane = at.src;
        if (!PREFIX || p.prefix != 1) lane += (i64)i1 * p.inner[1].src;
        if (PREFIX) {
            lane_lengths = at.lengths + (i64)i1 * p.inner[1].lengths;
            if (p.inner[0].lengths == 0) {
                length = length_called(p.lengths, lane_lengths);
                if (p.prefix != 0) lane += along();
            }
        }
    }

    __device__ __forceinline__ i64 src() {
        if (PREFIX && p.prefix == 0) return lane + (i64)mirrored(i0, length) * p.inner[0].src;
        i64 offset = lane + (i64)i0 * p.inner[0].src;
        if (PREFIX && p.inner[0].lengths != 0) {
            length = length_called(p.lengths, lane_lengths + (i64)i0 * p.inner[0].lengths);
            offset += along();
        }
        return offset;
    }

    // Whether the granule whose `src` was taken last becomes zero.
    __device__ __forceinline__ bool beyond() const {
        if (!PREFIX || !p.lengths.zero) return false;
        return (p.prefix == 0 ? i0 : p.prefix == 1 ? i1 : at.step) >= length;
    }

    // The number of granules from here to the end of `inner`.
    __device__ __forceinline__ u64 ahead() const {
        return (p.inner[1].len - i1) * p.inner[0].len - i0;
    }

    // Advances to the next granule, if it is one of those.
    __device__ __forceinline__ void advance() {
        if (++i0 < p.inner[0].len) return;
        i0 = 0;
        ++i1;
        enter();
    }
};

template <int G, bool PREFIX>
__device__ __forceinline__ void gather(const Gather& p) {
    u64 thread = thread_index();
    if (thread >= p.threads || stopped(p.lengths)) return;
    typedef typename Word<G>::T T;
    const int count = 16 / G;
    u64 run = divide(thread, p.chunk);
    u64 number = thread - run * p.chunk.len;
    u64 first = run * p.run;
    Cursor<PREFIX> cursor(p);
    u64 base = (u64)p.dst;
    if (!p.uniform) {
        cursor.seek(first);
        base += cursor.dst();
    }
    i64 start = ((i64)number * 16 - (i64)(base & 15)) / G;  // in granules
    if (start >= (i64)p.run) return;
    i64 from = start < 0 ? 0 : start;
    cursor.seek(first + from);
    u8* out = p.dst + cursor.dst() - (from - start) * G;
    if (start >= 0 && start + count <= (i64)p.run && cursor.ahead() >= count) {
        T v[count];
#pragma unroll
        for (int k = 0; k < count; ++k) {
            const i64 from = cursor.src();
            v[k] = cursor.beyond() ? (T)0 : *(const T*)(p.src + from);
            if (k + 1 < count) cursor.advance();
        }
        u32 w[4];
        if (G == 8) {
#pragma unroll
            for (int k = 0; k < 4; ++k) w[k] = (u32)((u64)v[k / 2] >> (32 * (k & 1)));
        } else {
#pragma unroll
            for (int k = 0; k < 4; ++k) {
                w[k] = 0;
#pragma unroll
                for (int j = 0; j < 4 / G; ++j) w[k] |= (u32)v[k * 4 / G + j] << (8 * G * j);
            }
        }
        store16(out, make_uint4(w[0], w[1], w[2], w[3]));
        return;
    }
    // Ends of runs and of the inner dimensions.
    const int end = start + count <= (i64)p.run ? count : (int)((i64)p.run - start);
#pragma unroll 1
    for (int k = (int)(from - start); k < end; ++k) {
        cursor.seek(first + start + k);
        const i64 at = cursor.src();
        *(T*)(out + k * G) = cursor.beyond() ? (T)0 : *(const T*)(p.src + at);
    }
}

#define STRIDED(G)                                                                                 \
    KERNEL(256) strided_##G(const __grid_constant__ Strided p) { strided<G>(p); }                  \
    KERNEL(256) swap_##G(const __grid_constant__ Strided p) { swap<G>(p); }
// Granules of 16 bytes are handled as rows.
#define LESS_THAN_VECTORS(G)                                                                       \
    KERNEL(256) gather_##G(const __grid_constant__ Gather p) { gather<G, false>(p); }              \
    KERNEL(256) gather_prefix_##G(const __grid_constant__ Gather p) { gather<G, true>(p); }

STRIDED(1) STRIDED(2) STRIDED(4) STRIDED(8) STRIDED(16)
LESS_THAN_VECTORS(1) LESS_THAN_VECTORS(2) LESS_THAN_VECTORS(4) LESS_THAN_VECTORS(8)
