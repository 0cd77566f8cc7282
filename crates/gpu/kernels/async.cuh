// Copies from memory to shared memory that threads need not wait for, where chips have them.
#pragma once
#include "vector.cuh"

// MORE: others will soon want what shares its 128 bytes, so all of them may come.
template <bool MORE = false>
__device__ __forceinline__ void copy_async16(u8* shared, const u8* global) {
#if __CUDA_ARCH__ >= 800
    u32 to = (u32)__cvta_generic_to_shared(shared);
    if (MORE) asm volatile("cp.async.cg.shared.global.L2::128B [%0], [%1], 16;" :: "r"(to), "l"(global) : "memory");
    else asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" :: "r"(to), "l"(global) : "memory");
#else
    *(uint4*)shared = load16(global);
#endif
}

// For those of this thread; others' need a barrier as well.
__device__ __forceinline__ void wait_for_own_copies() {
#if __CUDA_ARCH__ >= 800
    asm volatile("cp.async.wait_all;" ::: "memory");
#endif
}

__device__ __forceinline__ void wait_for_copies() {
    wait_for_own_copies();
    __syncthreads();
}
