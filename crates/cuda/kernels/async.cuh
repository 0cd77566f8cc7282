// Asynchronous copies from global to shared memory, on chips that have them.
#pragma once
#include "vector.cuh"

// Prefetches the 128 bytes around it into L2: neighbouring threads need them soon.
__device__ __forceinline__ void copy_async16(u8* shared, const u8* global, u64 policy) {
#if __CUDA_ARCH__ >= 800
    u32 to = (u32)__cvta_generic_to_shared(shared);
    asm volatile("cp.async.cg.shared.global.L2::cache_hint.L2::128B [%0], [%1], 16, %2;"
                 :: "r"(to), "l"(global), "l"(policy) : "memory");
#else
    *(uint4*)shared = load16(global);
#endif
}

// The same for 4 or 8 aligned bytes, without a cache policy.
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

// Commits this thread's copies since the last call as one group.
__device__ __forceinline__ void end_of_part() {
#if __CUDA_ARCH__ >= 800
    asm volatile("cp.async.commit_group;" ::: "memory");
#endif
}

// Waits for all of this thread's groups except the last BUT.
template <int BUT>
__device__ __forceinline__ void wait_for_parts() {
#if __CUDA_ARCH__ >= 800
    asm volatile("cp.async.wait_group %0;" :: "n"(BUT) : "memory");
#endif
}

// Waits for this thread's copies; those of other threads need a barrier as well.
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
// Keeps the blocks of a cluster in step. No block reads what another wrote.
__device__ __forceinline__ void cluster_pace() {
    asm volatile("barrier.cluster.arrive.relaxed.aligned;\n"
                 "barrier.cluster.wait.aligned;" ::: "memory");
}

// A barrier for all threads of all blocks of a cluster.
__device__ __forceinline__ void cluster_sync() {
    asm volatile("barrier.cluster.arrive.release.aligned;\n"
                 "barrier.cluster.wait.acquire.aligned;" ::: "memory");
}
#endif
