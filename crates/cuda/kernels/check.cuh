// Checks lengths or offsets before anything moves. The first invalid one, in row-major order, is
// stored in a report that subsequent kernels on the stream obey, and that the host may read later.
#pragma once
#include "common.cuh"

// Of an offset with a mark, what is above it.
__device__ __forceinline__ i64 checked_length(const Check& p, u64 ordinal) {
    return raw_length(p.first + place(p.loops, ordinal).lengths, p.kind) >> p.marked;
}

// Whether a length is out of range, or an offset is: the first is 0, and none is smaller than the
// one before it or larger than the axis. If that one is invalid, so that it says nothing about
// this, then this one is not the first.
__device__ __forceinline__ bool is_bad(const Check& p, u64 ordinal) {
    const i64 value = checked_length(p, ordinal);
    if ((value < 0 && p.kind & SIGNED) || (u64)value > p.most) return true;
    if (!p.offsets) return false;
    return ordinal == 0 ? value != 0 : (u64)value < (u64)checked_length(p, ordinal - 1);
}

// The first invalid length that a thread finds; ~0 if there is none. A thread visits indices in
// increasing order.
__device__ __forceinline__ u64 first_bad(const Check& p) {
    for (u64 i = thread_index(); i < p.count; i += (u64)gridDim.x * blockDim.x)
        if (is_bad(p, i)) return i;
    return ~0ull;
}

// The same for lengths of one dimension whose type is known, several at a time: millions of them are
// limited by the number of loads in flight.
template <u32 TYPE>
__device__ __forceinline__ u64 first_bad_of(const Check& p) {
    const u32 MANY = 4;
    const u64 apart = (u64)gridDim.x * blockDim.x;
    for (u64 first = thread_index(); first < p.count; first += MANY * apart) {
        i64 value[MANY];
#pragma unroll
        for (u32 k = 0; k < MANY; ++k) {
            const u64 i = first + k * apart;
            value[k] = i < p.count ? raw_length(p.first + (i64)i * p.loops.axis[0].lengths, TYPE) : 0;
        }
        u64 bad = ~0ull;
#pragma unroll
        for (i32 k = MANY - 1; k >= 0; --k)
            if ((value[k] < 0 && p.kind & SIGNED) || (u64)value[k] > p.most) bad = first + (u32)k * apart;
        if (bad != ~0ull) return bad;
    }
    return ~0ull;
}

__device__ __forceinline__ u64 first_bad_of_any(const Check& p) {
    if (!p.offsets && p.loops.rank == 1) {
        // Of 64 bits, both are loaded alike.
        if ((p.kind | SIGNED) == (3 | SIGNED)) return first_bad_of<3 | SIGNED>(p);
        if (p.kind == (2 | SIGNED)) return first_bad_of<2 | SIGNED>(p);
        if (p.kind == 2) return first_bad_of<2>(p);
    }
    return first_bad(p);
}

__device__ __forceinline__ void check(const Check& p) {
    __shared__ u64 least;
#if __CUDA_ARCH__ >= 900
    // The next kernel may start and read; it waits for the end of this one before it writes.
    asm volatile("griddepcontrol.launch_dependents;");
#endif
    if (threadIdx.x == 0) least = ~0ull;
    __syncthreads();
    const u64 mine = first_bad_of_any(p);
    if (mine != ~0ull) atomicMin(&least, mine);
    __syncthreads();
    if (threadIdx.x != 0) return;
    if (least != ~0ull) atomicMin(&p.report->least, least);
    __threadfence();
    if (atomicInc(&p.report->arrived, gridDim.x - 1) != gridDim.x - 1) return;
    // The last block to arrive; the counter wraps to 0.
    __threadfence();
    u64 worst = atomicExch(&p.report->least, ~0ull);
    p.report->stop = worst != ~0ull;
    if (worst == ~0ull || p.report->failed) return;
    p.report->ordinal = worst;
    p.report->value = checked_length(p, worst);
    p.report->limit = p.offsets && worst == 0 ? 0 : p.limit;
    p.report->low = p.offsets && worst != 0 ? (u64)checked_length(p, worst - 1) : 0;
    p.report->is_signed = (p.kind & SIGNED) != 0;
    p.report->is_offset = p.offsets;
    // Last, because the host may copy the report while this runs.
    __threadfence();
    p.report->failed = 1;
    if (!p.alarm) return;
    __threadfence_system();
    *(volatile u32*)p.alarm = 1;
}

KERNEL(256) check_lengths(const __grid_constant__ Check p) { check(p); }
