// Shared by all kernels: division by numbers known before the launch, iteration over dimensions, and
// lengths.
#pragma once
#include "arguments.cuh"

#define KERNEL(threads) extern "C" __global__ void __launch_bounds__(threads)
// Limits registers so that this many blocks are resident: memory-bound kernels need high occupancy.
// Blocks may be smaller.
#define KERNEL_BY(threads, blocks) extern "C" __global__ void __launch_bounds__(threads, blocks)

// n / d for n < 2^63, with l = ceil(log2 d) and mul = ceil(2^(63 + l) / d).
__device__ __forceinline__ u64 divide(u64 n, u64 mul, u32 shift) {
    return __umul64hi(n << 1, mul) >> shift;
}

__device__ __forceinline__ u64 divide(u64 n, const Axis& by) {
    return divide(n, by.mul, by.shift);
}

// n / d for n < 2^31, and d no more than that.
__device__ __forceinline__ u32 divide32(u32 n, const Axis& by) {
    return __umulhi(n << 1, by.mul32) >> by.shift;
}

__device__ __forceinline__ u64 thread_index() {
    return (u64)blockIdx.x * blockDim.x + threadIdx.x;
}

// The value of a length. A u64 above the range of i64 looks negative, which callers detect by the
// type.
__device__ __forceinline__ i64 raw_length(const u8* at, u32 type) {
    // Comparisons, the likely ones first, instead of a jump table, which is slow to load.
    if (!(type & UNALIGNED)) {
        bool is_signed = type & SIGNED;
        u32 size = type & 3;
        if (size == 3) return *(const i64*)at;
        if (size == 2) {
            u32 value = *(const u32*)at;
            return is_signed ? (i64)(i32)value : (i64)value;
        }
        if (size == 1) {
            u16 value = *(const u16*)at;
            return is_signed ? (i64)(i16)value : (i64)value;
        }
        return is_signed ? (i64)(i8)*at : (i64)*at;
    }
    u32 bytes = 1u << (type & 3);
    u64 value = 0;
#pragma unroll 1
    for (u32 k = 0; k < bytes; ++k) value |= (u64)at[k] << (8 * k);
    u32 unused = 64 - 8 * bytes;
    return type & SIGNED ? (i64)(value << unused) >> unused : (i64)value;
}

// A length as a number of steps, clamped to the axis whatever is in memory.
__device__ __forceinline__ u64 length_at(const Lengths& lengths, i64 offset) {
    i64 value = raw_length(lengths.first + offset, lengths.kind);
    if (value < 0 && lengths.kind & SIGNED) return 0;
    return (u64)value < lengths.limit ? (u64)value : lengths.limit;
}

// The same, not inlined, where many copies would make a kernel large.
__device__ __noinline__ u64 length_called(const Lengths& lengths, i64 offset) {
    return length_at(lengths, offset);
}

// Kernels call this before they write anything. Those with lengths to check may have started while
// the check still runs (`src/stream.rs`), and wait for its end here.
__device__ __forceinline__ bool stopped(const Lengths& lengths) {
    if (!lengths.stop) return false;
#if __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
    return *lengths.stop;
}

// The source of step `t` of a lane.
__device__ __forceinline__ u64 mirrored(u64 t, u64 length) {
    return t < length ? length - 1 - t : t;
}

// An offset as a number of steps, without its mark, clamped to the axis whatever is in memory.
__device__ __forceinline__ u64 offset_at(const Lengths& offsets, u64 number) {
    const i64 value = raw_length(offsets.first + (i64)number * offsets.step, offsets.kind);
    if (value < 0 && offsets.kind & SIGNED) return 0;
    const u64 step = (u64)value >> offsets.marked;
    return step < offsets.limit ? step : offsets.limit;
}

// Whether a mask keeps the segment that begins at this offset as it is.
__device__ __forceinline__ bool stays(const Lengths& offsets, u64 number) {
    return offsets.marked && !(raw_length(offsets.first + (i64)number * offsets.step, offsets.kind) & 1);
}

// A segment: the steps from `start` to `end`, reversed, or kept: those behind the last offset, and those
// that a mask says. Whatever is in memory, it contains the step that it was found for.
struct Segment {
    u64 start, end;
    bool kept;

    __device__ __forceinline__ u64 source(u64 t) const { return kept ? t : start + end - 1 - t; }
    __device__ __forceinline__ bool contains(u64 t) const { return t >= start && t < end; }
};

// The segment of step `t`, among those from offset number `low` on, which is not beyond `t`.
__device__ __forceinline__ Segment segment_of(const Lengths& offsets, u64 t, u64 low = 0) {
    u64 high = offsets.count;
    Segment s = {0, offsets.limit, false};
    if (low > 0) {
        const u64 value = offset_at(offsets, low);
        s.start = value < t ? value : t;
    }
#pragma unroll 1
    while (high - low > 1) {
        const u64 middle = low + (high - low) / 2, value = offset_at(offsets, middle);
        if (value <= t) low = middle, s.start = value;
        else high = middle, s.end = value;
    }
    s.kept = high == offsets.count || stays(offsets, low);
    return s;
}

// Offsets of one index; along the prefix dimension, only that of the output and the step itself.
struct Place {
    i64 src;
    i64 dst;
    i64 lengths;
    u64 step;
};

template <int N>
__device__ __forceinline__ Place place(const Loops<N>& loops, u64 index) {
    Place at = {0, 0, 0, 0};
    // Usually the rank is 1: no division, and no loop.
    if (loops.rank == 1) {
        const Axis& axis = loops.axis[0];
        i64 i = (i64)index;
        if (loops.prefix == 0) at.step = index;
        else at.src = i * axis.src;
        at.dst = i * axis.dst;
        at.lengths = i * axis.lengths;
        return at;
    }
#pragma unroll 1
    for (i32 a = (i32)loops.rank - 1; a >= 0; --a) {
        const Axis& axis = loops.axis[a];
        u64 rest = a ? divide(index, axis) : 0;
        i64 i = (i64)(index - rest * axis.len);
        index = rest;
        if (a == (i32)loops.prefix) at.step = (u64)i;
        else at.src += i * axis.src;
        at.dst += i * axis.dst;
        at.lengths += i * axis.lengths;
    }
    return at;
}

// The same, with the complete offset of the input. `beyond` says whether the step is beyond the
// length and becomes zero; kernels that ignore it are not chosen for such plans.
template <int N>
__device__ __forceinline__ Place settled(const Loops<N>& loops, const Lengths& lengths, u64 index, bool& beyond) {
    Place at = place(loops, index);
    beyond = false;
    if (loops.prefix != NONE) {
        const u64 length = length_at(lengths, at.lengths);
        at.src += (i64)mirrored(at.step, length) * loops.axis[loops.prefix].src;
        beyond = lengths.zero && at.step >= length;
    }
    return at;
}

template <int N>
__device__ __forceinline__ Place settled(const Loops<N>& loops, const Lengths& lengths, u64 index) {
    bool beyond;
    return settled(loops, lengths, index, beyond);
}

// Unsigned integers by their width, and 16 bytes as four words.
template <int BYTES> struct Word;
template <> struct Word<1> { typedef u8 T; };
template <> struct Word<2> { typedef u16 T; };
template <> struct Word<4> { typedef u32 T; };
template <> struct Word<8> { typedef u64 T; };
template <> struct Word<16> { typedef uint4 T; };

template <typename T>
__device__ __forceinline__ T zero_of() { return (T)0; }
template <>
__device__ __forceinline__ uint4 zero_of<uint4>() { return make_uint4(0, 0, 0, 0); }
