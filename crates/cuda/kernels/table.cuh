// A table that elements are looked up in while they are reversed: what each byte becomes, in shared
// memory, where the threads of a warp may look up different bytes at the same time.
#pragma once
#include "common.cuh"

__device__ __forceinline__ u32* entries() {
    __shared__ u32 held[TABLE_WORDS];
    return held;
}

// Keeps the table, by all threads of a block, before any of them returns or looks something up.
__device__ __forceinline__ void keep(const Table& table) {
#pragma unroll 1
    for (u32 k = threadIdx.x; k < TABLE_WORDS; k += blockDim.x) entries()[k] = table.word[k];
    __syncthreads();
}

__device__ __forceinline__ u32 looked_up(u32 word) {
    const u8* entry = (const u8*)entries();
    const u32 low = entry[word & 255] | (u32)entry[word >> 8 & 255] << 8;
    return low | (u32)entry[word >> 16 & 255] << 16 | (u32)entry[word >> 24] << 24;
}

__device__ __forceinline__ uint4 looked_up(uint4 v) {
    return make_uint4(looked_up(v.x), looked_up(v.y), looked_up(v.z), looked_up(v.w));
}
