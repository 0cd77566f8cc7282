// Columns too long for one block's shared memory: a cluster of 16 blocks holds a strip of 64
// bytes together, each column in one piece per block. Rows go around the blocks in groups of 32,
// so that the whole cluster reads and writes the same pages. Needs compute capability 9.
#pragma once
#include "columns.cuh"

const u32 CLUSTER = 16;
const u32 GROUP = 32;
const u32 STRIP_WORDS = 16;

#if __CUDA_ARCH__ >= 900
__device__ __forceinline__ u32 cluster_rank() {
    u32 rank;
    asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    return rank;
}

__device__ __forceinline__ void cluster_sync() {
    asm volatile("barrier.cluster.arrive.release.aligned;\n"
                 "barrier.cluster.wait.acquire.aligned;" ::: "memory");
}

__device__ __forceinline__ u32 load_remote(u32 shared, u32 rank) {
    u32 at, value;
    asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(at) : "r"(shared), "r"(rank));
    asm volatile("ld.shared::cluster.u32 %0, [%1];" : "=r"(value) : "r"(at) : "memory");
    return value;
}

// Which row of the tensor a block's row is.
__device__ __forceinline__ u32 tensor_row(u32 row, u32 rank) {
    return (row / GROUP * CLUSTER + rank) * GROUP + row % GROUP;
}

KERNEL(512) __cluster_dims__(16, 1, 1) columns_cluster_4(const __grid_constant__ Columns p) {
    // The same for all blocks of a cluster: none waits for one that has left.
    if (stopped(p.lengths)) return;
    u32* held = (u32*)staged;
    const u32 rank = cluster_rank(), steps = (u32)p.steps;
    const u32 pitch = p.rows + 2;  // words; keeps the four columns of a vector in separate banks
    const u32 base = (u32)__cvta_generic_to_shared(held);
    const u32 quarter = threadIdx.x % 4, first = threadIdx.x / 4, stride = blockDim.x / 4;
    Strip s = strip_of(p, blockIdx.x / CLUSTER);
    const bool inside = quarter * 16 < s.width;
    const u8* in = s.src + quarter * 16;
#pragma unroll 4
    for (u32 row = first; row < p.rows; row += stride) {
        u32 t = tensor_row(row, rank);
        if (t < steps && inside) {
            uint4 v = load16(in + (i64)t * p.src_step);
            u32* to = held + quarter * 4 * pitch + row;
            to[0] = v.x;
            to[pitch] = v.y;
            to[2 * pitch] = v.z;
            to[3 * pitch] = v.w;
        }
    }
    u32 length[4];
#pragma unroll
    for (int k = 0; k < 4; ++k)
        length[k] = inside ? (u32)column_length<4>(p, s, quarter * 16 + 4 * k) : 0;
    cluster_sync();
    u8* out = s.dst + quarter * 16;
#pragma unroll 4
    for (u32 row = first; row < p.rows; row += stride) {
        u32 t = tensor_row(row, rank);
        if (t < steps && inside) {
            u32 v[4];
#pragma unroll
            for (int k = 0; k < 4; ++k) {
                u32 from = t < length[k] ? length[k] - 1 - t : t;
                u32 group = from / GROUP, owner = group % CLUSTER;
                u32 at = (quarter * 4 + k) * pitch + group / CLUSTER * GROUP + from % GROUP;
                v[k] = owner == rank ? held[at] : load_remote(base + at * 4, owner);
            }
            store16(out + (i64)t * p.dst_step, make_uint4(v[0], v[1], v[2], v[3]));
        }
    }
    // Nobody leaves while others may still read from it.
    cluster_sync();
}
#endif
