// What every kernel shares: types, division by numbers known before the launch, walking over
// dimensions, and lengths. `src/params.rs` has the same structs; keep them alike.
#pragma once

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef signed char i8;
typedef short i16;
typedef int i32;
typedef long long i64;

#define KERNEL(threads) extern "C" __global__ void __launch_bounds__(threads)
// So few registers that this many blocks fit at once: what waits for memory wants many threads. Blocks may be smaller.
#define KERNEL_BY(threads, blocks) extern "C" __global__ void __launch_bounds__(threads, blocks)

// Threads of a block, but for squares, columns and checks of lengths: up to 2 % faster than 256, and 64 were much
// slower. `src/jobs.rs` has the same.
const i32 THREADS = 128;

// One dimension. `src` and `dst` count bytes (grains, in packed.cu), `lengths` bytes.
struct Axis {
    u64 len;
    u64 mul;  // for divide(): by `len`, or by `dst` in packed.cu
    i64 src;
    i64 dst;
    i64 lengths;
    u32 shift;
    u32 mul32;  // for divide32(): by `len`
};

const u32 NONE = ~0u;

// Dimensions, outermost first. `prefix` is the one whose start is reversed, or NONE.
template <int N>
struct Loops {
    u32 rank;
    u32 prefix;
    Axis axis[N];
};

// Lengths, one per lane. `first` is null where a plan has none.
struct Lengths {
    const u8* first;
    const u32* stop;  // not zero: a length of this call is wrong, leave the output alone
    u64 limit;
    u32 type;
    u32 unused;
};

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

// Types of lengths: log2 of the bytes; 4 more if signed; 8 more if not aligned.
const u32 SIGNED = 4;
const u32 UNALIGNED = 8;

// A length as its type has it; u64 beyond i64 looks negative, which callers tell by the type.
__device__ __forceinline__ i64 raw_length(const u8* at, u32 type) {
    // Questions, the likely ones first, and no jump through a table, which is slow to fetch.
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

// A length as a number of steps: whatever is in memory, never more than the axis has.
__device__ __forceinline__ u64 length_at(const Lengths& lengths, i64 offset) {
    i64 value = raw_length(lengths.first + offset, lengths.type);
    if (value < 0 && lengths.type & SIGNED) return 0;
    return (u64)value < lengths.limit ? (u64)value : lengths.limit;
}

// The same as a call, where many copies would make a kernel large.
__device__ __noinline__ u64 length_called(const Lengths& lengths, i64 offset) {
    return length_at(lengths, offset);
}

// Kernels ask this before they write anything. Those that have lengths to check may have begun while the check still
// runs (`src/stream.rs`), and wait for its end here.
__device__ __forceinline__ bool stopped(const Lengths& lengths) {
    if (!lengths.stop) return false;
#if __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
    return *lengths.stop;
}

// Where step `t` of a lane comes from.
__device__ __forceinline__ u64 mirrored(u64 t, u64 length) {
    return t < length ? length - 1 - t : t;
}

// Offsets of one index; along the prefix dimension only the output's, and the step itself.
struct Place {
    i64 src;
    i64 dst;
    i64 lengths;
    u64 step;
};

template <int N>
__device__ __forceinline__ Place place(const Loops<N>& loops, u64 index) {
    Place at = {0, 0, 0, 0};
    // Mostly there is one: nothing to divide, and no loop over what is known before the launch.
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

// The same with the input's offset complete.
template <int N>
__device__ __forceinline__ Place settled(const Loops<N>& loops, const Lengths& lengths, u64 index) {
    Place at = place(loops, index);
    if (loops.prefix != NONE) {
        u64 from = mirrored(at.step, length_at(lengths, at.lengths));
        at.src += (i64)from * loops.axis[loops.prefix].src;
    }
    return at;
}

// Unsigned integers by their width, and 16 bytes as four words.
template <int BYTES> struct Word;
template <> struct Word<1> { typedef u8 T; };
template <> struct Word<2> { typedef u16 T; };
template <> struct Word<4> { typedef u32 T; };
template <> struct Word<8> { typedef u64 T; };
template <> struct Word<16> { typedef uint4 T; };
