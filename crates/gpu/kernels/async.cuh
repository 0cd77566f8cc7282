// Copies from memory to shared memory that threads need not wait for, where chips have them.
#pragma once
#include "vector.cuh"

// What shares its 128 bytes may come too: others will soon want it.
__device__ __forceinline__ void copy_async16(u8* shared, const u8* global, u64 policy) {
#if __CUDA_ARCH__ >= 800
    u32 to = (u32)__cvta_generic_to_shared(shared);
    asm volatile("cp.async.cg.shared.global.L2::cache_hint.L2::128B [%0], [%1], 16, %2;"
                 :: "r"(to), "l"(global), "l"(policy) : "memory");
#else
    *(uint4*)shared = load16(global);
#endif
}

// The same of 4 or 8 bytes that begin at a multiple of as many, and ask the cache for nothing.
template <int BYTES>
__device__ __forceinline__ void copy_async(u8* shared, const u8* global) {
#if __CUDA_ARCH__ >= 800
    u32 to = (u32)__cvta_generic_to_shared(shared);
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" :: "r"(to), "l"(global), "n"(BYTES) : "memory");
#else
    typedef typename Word<BYTES>::T T;
    *(T*)shared = *(const T*)global;
#endif
}

// What a thread asked for since the last time is one part.
__device__ __forceinline__ void end_of_part() {
#if __CUDA_ARCH__ >= 800
    asm volatile("cp.async.commit_group;" ::: "memory");
#endif
}

// For all of this thread's parts but the last ones.
template <int BUT>
__device__ __forceinline__ void wait_for_parts() {
#if __CUDA_ARCH__ >= 800
    asm volatile("cp.async.wait_group %0;" :: "n"(BUT) : "memory");
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

#if __CUDA_ARCH__ >= 900
// So that the blocks of a cluster keep pace: none needs what another wrote.
__device__ __forceinline__ void cluster_pace() {
    asm volatile("barrier.cluster.arrive.relaxed.aligned;\n"
                 "barrier.cluster.wait.aligned;" ::: "memory");
}

// For all threads of all blocks of a cluster.
__device__ __forceinline__ void cluster_sync() {
    asm volatile("barrier.cluster.arrive.release.aligned;\n"
                 "barrier.cluster.wait.acquire.aligned;" ::: "memory");
}
#endif
