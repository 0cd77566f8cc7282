// Columns too long for the shared memory of one block: a cluster of 16 blocks holds a strip of them
// together, each column in one piece per block. Rows are distributed over the blocks round-robin in
// groups of 32, so that the whole cluster reads and writes the same pages. Needs compute capability
// 9.
#pragma once
#include "columns.cuh"

const u32 CLUSTER = 16;
const u32 GROUP = 32;

#if __CUDA_ARCH__ >= 900
__device__ __forceinline__ u32 cluster_rank() {
    u32 rank;
    asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    return rank;
}

__device__ __forceinline__ u32 remote(u32 shared, u32 rank) {
    u32 at;
    asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(at) : "r"(shared), "r"(rank));
    return at;
}

// Loads a granule from the shared memory of any block of the cluster.
template <int G>
__device__ __forceinline__ u32 load_remote(u32 at) {
    u32 value;
    if (G == 1) asm volatile("ld.shared::cluster.u8 %0, [%1];" : "=r"(value) : "r"(at) : "memory");
    else if (G == 2) {
        u16 half;
        asm volatile("ld.shared::cluster.u16 %0, [%1];" : "=h"(half) : "r"(at) : "memory");
        value = half;
    } else asm volatile("ld.shared::cluster.u32 %0, [%1];" : "=r"(value) : "r"(at) : "memory");
    return value;
}

// The row of the tensor that corresponds to a row of a block.
__device__ __forceinline__ u32 tensor_row(u32 row, u32 rank) {
    return (row / GROUP * CLUSTER + rank) * GROUP + row % GROUP;
}

template <int G>
__device__ __forceinline__ void columns_cluster(const Columns& p) {
    u32* held = (u32*)staged;
    const int count = 4 / G;  // granules of a word
    const u32 rank = cluster_rank(), steps = (u32)p.steps;
    const u32 pitch = p.pitch;  // words from one column of words to the next
    const u32 base = (u32)__cvta_generic_to_shared(held);
    // The vector within a row, and the first row.
    const u32 per_row = p.strip_shift - 4;
    const u32 vector = threadIdx.x & ((1u << per_row) - 1), first = threadIdx.x >> per_row;
    const u32 stride = blockDim.x >> per_row;
    Strip s = strip_of(p, blockIdx.x / CLUSTER);
    const bool inside = vector * 16 < s.width;
    const u8* in = s.src + vector * 16;
    // Four rows at a time, so that four loads are in flight.
    for (u32 row = first; row < p.rows; row += 4 * stride) {
        uint4 v[4];
#pragma unroll
        for (int k = 0; k < 4; ++k) {
            u32 at = row + k * stride, t = tensor_row(at, rank);
            if (at < p.rows && t < steps && inside) v[k] = load16(in + (i64)t * p.src_step);
        }
#pragma unroll
        for (int k = 0; k < 4; ++k) {
            u32 at = row + k * stride;
            if (at < p.rows) {
                u32* to = held + vector * 4 * pitch + at;
                to[0] = v[k].x;
                to[pitch] = v[k].y;
                to[2 * pitch] = v[k].z;
                to[3 * pitch] = v[k].w;
            }
        }
    }
    u32 length[4 * count];
#pragma unroll
    for (int k = 0; k < 4 * count; ++k)
        length[k] = inside ? (u32)column_length<G>(p, s, vector * 16 + G * k) : 0;
    // The same for all blocks of a cluster.
    const bool stop = stopped(p.lengths);
    cluster_sync();
    u8* out = s.dst + vector * 16;
#pragma unroll 2
    for (u32 row = first; row < p.rows; row += stride) {
        u32 t = tensor_row(row, rank);
        if (t < steps && inside && !stop) {
            u32 v[4] = {0, 0, 0, 0};
#pragma unroll
            for (int k = 0; k < 4 * count; ++k) {
                u32 from = t < length[k] ? length[k] - 1 - t : t;
                u32 group = from / GROUP, owner = group % CLUSTER;
                u32 word = (vector * 4 + k / count) * pitch + group / CLUSTER * GROUP + from % GROUP;
                u32 at = base + word * 4 + k % count * G;
                if (owner != rank) at = remote(at, owner);
                v[k / count] |= load_remote<G>(at) << (8 * G * (k % count));
            }
            store16(out + (i64)t * p.dst_step, make_uint4(v[0], v[1], v[2], v[3]));
        }
    }
    // No block may exit while others can still read its shared memory.
    cluster_sync();
}

#define CLUSTERED(G)                                                                               \
    KERNEL(512) __cluster_dims__(16, 1, 1) columns_cluster_##G(const __grid_constant__ Columns p) { \
        columns_cluster<G>(p);                                                                     \
    }

CLUSTERED(1) CLUSTERED(2) CLUSTERED(4)
#endif
