// Columns too long for the shared memory of one block: a cluster of 16 blocks holds a strip of them
// together. Needs compute capability 9.
//
// A column is stored as words, each of which holds 4 / G consecutive steps, so that a warp reads 32
// consecutive words of a column at once, from the shared memory of one or two blocks: accesses to
// another block's memory have to be coalesced. Words are distributed over the blocks round-robin in
// groups of 32, so that the whole cluster reads and writes the same pages.
#pragma once
#include "columns.cuh"

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

// Loads a word from the shared memory of any block of the cluster.
__device__ __forceinline__ u32 load_remote(u32 at) {
    u32 value;
    asm volatile("ld.shared::cluster.u32 %0, [%1];" : "=r"(value) : "r"(at) : "memory");
    return value;
}

// Sixteen bytes of a row narrower than a cache line, the rest of which other clusters need soon.
__device__ __forceinline__ uint4 load_line(const u8* at, u64 policy) {
    uint4 v;
    asm volatile("ld.global.L2::cache_hint.L2::128B.v4.u32 {%0, %1, %2, %3}, [%4], %5;"
                 : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w) : "l"(at), "l"(policy));
    return v;
}

// Transposes K x K granules of 4 / K bytes, a row of them in each word.
template <int K>
__device__ __forceinline__ void transpose(u32 (&w)[K]) {
    if constexpr (K == 2) {
        const u32 a = w[0], b = w[1];
        w[0] = __byte_perm(a, b, 0x5410);
        w[1] = __byte_perm(a, b, 0x7632);
    } else if constexpr (K == 4) {
        const u32 a = __byte_perm(w[0], w[1], 0x5140), b = __byte_perm(w[0], w[1], 0x7362);
        const u32 c = __byte_perm(w[2], w[3], 0x5140), d = __byte_perm(w[2], w[3], 0x7362);
        w[0] = __byte_perm(a, c, 0x5410);
        w[1] = __byte_perm(a, c, 0x7632);
        w[2] = __byte_perm(b, d, 0x5410);
        w[3] = __byte_perm(b, d, 0x7632);
    }
}

template <int G>
struct Cluster {
    static const u32 K = 4 / G;  // steps of a word
    static const u32 PER_VECTOR = 16 / G;  // columns
    static const u32 AT_ONCE = 32 / G;  // columns of a sector, which a warp writes at a time
    static const u32 AHEAD = K == 1 ? 8 : 4 / K;  // words that a thread loads before it stores the first

    const Columns& p;
    Strip s;
    u32 base, rank, vectors_log2;

    // The word of the tensor that corresponds to a word of a block.
    __device__ __forceinline__ u32 tensor_word(u32 word) const {
        return (word / CLUSTER_GROUP * CLUSTER + rank) * CLUSTER_GROUP + word % CLUSTER_GROUP;
    }

    // Where a word of a column is in its block. Vectors of a row begin in different banks.
    __device__ __forceinline__ u32 address(u32 column, u32 word) const {
        const u32 skew = (column / PER_VECTOR) << (5 - vectors_log2);
        return base + (column * p.block_words + (word ^ skew)) * 4;
    }

    __device__ __forceinline__ void load(u32* held) const {
        const u32 vector = threadIdx.x & ((1u << vectors_log2) - 1);
        if (vector * 16 >= s.width) return;
        const u32 stride = CLUSTER_THREADS >> vectors_log2, steps = (u32)p.steps;
        const u8* in = s.src + vector * 16;
        const u32 skew = vector << (5 - vectors_log2);
        u32* to = held + vector * PER_VECTOR * p.block_words;
#pragma unroll 1
        for (u32 first = threadIdx.x >> vectors_log2; first < p.block_words; first += AHEAD * stride) {
            uint4 v[AHEAD][K];
#pragma unroll
            for (u32 i = 0; i < AHEAD; ++i)
#pragma unroll
                for (u32 k = 0; k < K; ++k) {
                    const u32 word = first + i * stride, t = tensor_word(word) * K + k;
                    v[i][k] = make_uint4(0, 0, 0, 0);
                    if (word < p.block_words && t < steps) v[i][k] = load_line(in + (i64)t * p.src_step, p.policy);
                }
#pragma unroll
            for (u32 i = 0; i < AHEAD; ++i) {
                const u32 word = first + i * stride;
                if (word >= p.block_words) break;
                u32 w[4][K];
#pragma unroll
                for (u32 k = 0; k < K; ++k) {
                    w[0][k] = v[i][k].x;
                    w[1][k] = v[i][k].y;
                    w[2][k] = v[i][k].z;
                    w[3][k] = v[i][k].w;
                }
#pragma unroll
                for (u32 j = 0; j < 4; ++j) {
                    transpose<K>(w[j]);
#pragma unroll
                    for (u32 k = 0; k < K; ++k) to[(j * K + k) * p.block_words + (word ^ skew)] = w[j][k];
                }
            }
        }
    }

    // The block that holds a word of a column, and where it is there.
    __device__ __forceinline__ u32 place_of(u32 column, u32 word) const {
        const u32 group = word / CLUSTER_GROUP;
        return remote(address(column, group / CLUSTER * CLUSTER_GROUP + word % CLUSTER_GROUP), group % CLUSTER);
    }

    // Loads the word from which this word of a column comes: the one that begins with its last step,
    // or itself.
    __device__ __forceinline__ u32 fetch(u32 column, u32 whole, u32 own, u32 word) const {
        const bool moves = word < whole;
        const u32 from = whole - 1 - word, group = from / CLUSTER_GROUP;
        const u32 there = group / CLUSTER * CLUSTER_GROUP + from % CLUSTER_GROUP;
        return load_remote(remote(address(column, moves ? there : own), moves ? group % CLUSTER : rank));
    }

    // The same steps in their new order. `above` is what the lane before this one has.
    __device__ __forceinline__ u32 turned(u32 whole, u32 rest, u32 word, u32 v, u32 above) const {
        if (p.lengths.zero && word >= whole) v = 0;
        if constexpr (K == 1) return v;
        const u32 bits = rest * (8 * G);
        const u32 back = __byte_perm(__funnelshift_r(v, above, bits), 0, K == 4 ? 0x0123 : 0x1032);
        const u32 kept = word < whole ? back : v;
        // The word in which the prefix ends, if it does in this group of them.
        if (whole / CLUSTER_GROUP != word / CLUSTER_GROUP) return kept;
        const u32 mask = word == whole ? (1u << bits) - 1 : 0;
        return (back & mask) | (kept & ~mask);
    }

    // Writes a sector of each of the K rows of all lanes. Two lanes exchange halves, so that both
    // write to the same sector.
    __device__ __forceinline__ void put(u32 sector, u32 word, const u32 (&v)[8][K]) const {
        const bool odd = threadIdx.x & 1;
        const u32 byte = sector * 32 + odd * 16;
        const bool inside = byte < s.width;
        u8* out = s.dst + byte;
#pragma unroll
        for (u32 k = 0; k < K; ++k) {
            u32 other[4];
#pragma unroll
            for (u32 j = 0; j < 4; ++j) other[j] = __shfl_xor_sync(~0u, odd ? v[j][k] : v[j + 4][k], 1);
            const uint4 mine = odd ? make_uint4(v[4][k], v[5][k], v[6][k], v[7][k])
                                   : make_uint4(v[0][k], v[1][k], v[2][k], v[3][k]);
            const uint4 theirs = make_uint4(other[0], other[1], other[2], other[3]);
            const u32 t = (word & ~1u) * K + k;
            if (inside && t < p.steps) store16(out + (i64)t * p.dst_step, odd ? theirs : mine);
            if (inside && t + K < p.steps) store16(out + (i64)(t + K) * p.dst_step, odd ? mine : theirs);
        }
    }

    __device__ __forceinline__ void store(const u32* lengths) const {
        const u32 lane = threadIdx.x % 32, warp = threadIdx.x / 32;
        const u32 sectors_log2 = vectors_log2 - 1, sector = warp & ((1u << sectors_log2) - 1);
        const u32 first = sector * AT_ONCE, apart = CLUSTER_THREADS / 32 >> sectors_log2;
#pragma unroll 1
        for (u32 group = warp >> sectors_log2; group < p.block_words / CLUSTER_GROUP; group += apart) {
            const u32 own = group * CLUSTER_GROUP + lane, word = tensor_word(own);
            if (tensor_word(group * CLUSTER_GROUP) * K >= p.steps) break;
            u32 v[8][K];
            // What the lane before the first one would have, of one column each.
            u32 before = 0;
            if constexpr (K > 1) {
                const u32 column = first + lane % AT_ONCE, length = lengths[column], top = word - lane;
                if (top <= length / K && length % K) before = load_remote(place_of(column, length / K - top));
            }
            // More loads in flight would need more registers than there are.
            const u32 MANY = K > 2 ? 4 : 8;
#pragma unroll
            for (u32 part = 0; part < 8; part += MANY) {
#pragma unroll
                for (u32 j = part; j < part + MANY; ++j)
#pragma unroll
                    for (u32 k = 0; k < K; ++k) {
                        const u32 column = first + j * K + k;
                        v[j][k] = fetch(column, lengths[column] / K, own, word);
                    }
#pragma unroll
                for (u32 j = part; j < part + MANY; ++j) {
#pragma unroll
                    for (u32 k = 0; k < K; ++k) {
                        const u32 length = lengths[first + j * K + k];
                        u32 above = 0;
                        if constexpr (K > 1) {
                            above = __shfl_up_sync(~0u, v[j][k], 1);
                            const u32 top = __shfl_sync(~0u, before, j * K + k);
                            if (lane == 0) above = top;
                        }
                        v[j][k] = turned(length / K, length % K, word, v[j][k], above);
                    }
                    transpose<K>(v[j]);
                }
            }
            put(sector, word, v);
        }
    }
};

template <int G>
__device__ __forceinline__ void columns_cluster(const Columns& p) {
    typedef Cluster<G> C;
    u32* held = (u32*)staged;
    const C c = {p, strip_of(p, blockIdx.x / CLUSTER), (u32)__cvta_generic_to_shared(held), cluster_rank(),
                 p.strip_shift - 4};
    u32* lengths = held + p.block_words * ((1u << p.strip_shift) / G);
    c.load(held);
    // Lengths are loaded while rows are in flight.
    for (u32 column = threadIdx.x; column < (1u << p.strip_shift) / G; column += CLUSTER_THREADS)
        lengths[column] = column * G < c.s.width ? (u32)column_length<G>(p, c.s, column * G) : 0;
    // The same for all blocks of a cluster.
    const bool stop = stopped(p.lengths);
    cluster_sync();
    if (!stop) c.store(lengths);
    // No block may exit while others can still read its shared memory.
    cluster_sync();
}

#define CLUSTERED(G)                                                                               \
    KERNEL_BY(CLUSTER_THREADS, 3) __cluster_dims__(CLUSTER, 1, 1) columns_cluster_##G(const __grid_constant__ Columns p) { \
        columns_cluster<G>(p);                                                                     \
    }

CLUSTERED(1) CLUSTERED(2) CLUSTERED(4)
#endif
