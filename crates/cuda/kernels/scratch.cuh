// Adjacent columns, each with a length, too long to be staged: two passes through scratch memory. The
// first transposes strips of columns into scratch, where each column is contiguous. The second reads
// them back, reversed up to their lengths, and transposes them into the output. Works in place too.
//
// One grid does both. Even blocks write a tile of a strip to scratch, odd blocks read a tile of an
// earlier strip. Scratch is a ring of strips, small enough for the L2 cache if columns allow that. A
// block waits only for blocks with lower numbers. Hardware starts blocks in the order of their
// numbers, so these run already, and every wait ends.
#pragma once
#include "columns.cuh"
#include "tiles.cuh"

// Waits until a counter has a value. One thread calls it, before a barrier.
__device__ __forceinline__ void await(const u32* counter, u32 value) {
#ifdef __CUDA_ARCH__
    u32 now;
    do {
        asm volatile("ld.acquire.gpu.u32 %0, [%1];" : "=r"(now) : "l"(counter) : "memory");
    } while (now < value);
#else
    look_for(*counter == value);
#endif
}

// Counts a tile that this block has finished. One thread calls it, after a barrier.
__device__ __forceinline__ void publish(u32* counter) {
    __threadfence();
#ifdef __CUDA_ARCH__
    asm volatile("red.relaxed.gpu.global.add.u32 [%0], 1;" :: "l"(counter) : "memory");
#else
    ++*counter;
#endif
}

// Loads a piece of the input; vectors with a cache policy.
template <typename S>
__device__ __forceinline__ S load_by(const S& at, u64 policy) { return at; }

template <>
__device__ __forceinline__ uint4 load_by<uint4>(const uint4& at, u64 policy) {
#if __CUDA_ARCH__ >= 800
    uint4 v;
    asm volatile("ld.global.L2::cache_hint.v4.u32 {%0, %1, %2, %3}, [%4], %5;"
                 : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w) : "l"(&at), "l"(policy));
    return v;
#else
    return load16((const u8*)&at);
#endif
}

// Not from L1, which may have what the ring held before.
__device__ __forceinline__ uint4 load_scratch(const u8* at) {
#ifdef __CUDA_ARCH__
    uint4 v;
    asm volatile("ld.global.cg.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w) : "l"(at) : "memory");
    return v;
#else
    return *(const uint4*)at;
#endif
}

__device__ __forceinline__ void store_by(u8* at, uint4 v, u64 policy) {
#if __CUDA_ARCH__ >= 800
    asm volatile("st.global.L2::cache_hint.v4.u32 [%0], {%1, %2, %3, %4}, %5;"
                 :: "l"(at), "r"(v.x), "r"(v.y), "r"(v.z), "r"(v.w), "l"(policy) : "memory");
#else
    store16(at, v);
#endif
}

// Granules of G bytes, strips of W bytes.
template <int G, int W>
struct Pass {
    typedef typename Word<G>::T T;
    static const u32 V = 16 / G;  // steps of a vector in scratch
    static const u32 P = G < 4 ? 8 : 16;  // bytes of a row that a thread transposes at a time
    static const u32 MOST = TILE_ROWS / V;  // vectors of a column in a tile
    // One vector fewer: a range of steps that is not aligned touches one more.
    static const u32 ROWS = (MOST - (G < 16 ? 1 : 0)) * V;

    const Strips& p;

    // Where a byte of a tile is. Vectors are swizzled, so that neither rows nor columns, however far
    // these are shifted, have bank conflicts.
    static __device__ __forceinline__ u32 place(u32 row, u32 byte) {
        return (row * W + byte) ^ ((row / V & 7) * 16);
    }

    __device__ __forceinline__ u8* column(u64 strip, u32 number) const {
        const u64 slot = strip - divide(strip, p.ring) * p.ring.len;
        return p.scratch + (slot * (W / G) + number) * p.pitch;
    }

    // Rows of the tile that begins with this step.
    __device__ __forceinline__ u32 rows_from(u32 first) const {
        const u32 left = (u32)p.columns.steps - first, most = ROWS;
        return left < most ? left : most;
    }

    // Copies rows of a tile to shared memory, in pieces of type S, so many of them at a time.
    template <typename S, u32 MANY>
    __device__ __forceinline__ void stage_by(const Strip& s, u32 first, u32 rows) const {
        const Columns& c = p.columns;
        const u32 per_row = W / sizeof(S), byte = threadIdx.x % per_row * sizeof(S), apart = PASS_THREADS / per_row;
        if (byte >= s.width) return;
        u8* held = (u8*)staged;
        const u8* in = s.src + (i64)first * c.src_step + byte;
#pragma unroll 1
        for (u32 row = threadIdx.x / per_row; row < rows; row += MANY * apart) {
            S v[MANY];
#pragma unroll
            for (u32 k = 0; k < MANY; ++k)
                if (row + k * apart < rows) v[k] = load_by(*(const S*)(in + (i64)(row + k * apart) * c.src_step), c.policy);
#pragma unroll
            for (u32 k = 0; k < MANY; ++k)
                if (row + k * apart < rows) *(S*)(held + place(row + k * apart, byte)) = v[k];
        }
    }

    // Not by asynchronous copies: for swizzled addresses, compilers of CUDA 12.9 and 13.0 generate
    // some that are illegal instructions.
    __device__ __forceinline__ void stage(const Strip& s, u32 first, u32 rows) const {
        if (p.columns.vectors) stage_by<uint4, 4>(s, first, rows);
        else stage_by<T, 8>(s, first, rows);
    }

    // Stores V steps of the columns in P bytes to scratch.
    __device__ __forceinline__ void put(u8* to, u32 (&w)[P / 4][V]) const {
        if constexpr (G < 4) {
            const u32 K = 4 / G;  // columns in a word
#pragma unroll
            for (u32 j = 0; j < P / 4; ++j) {
                u32 v[4][K];
#pragma unroll
                for (u32 i = 0; i < 4; ++i) {
#pragma unroll
                    for (u32 k = 0; k < K; ++k) v[i][k] = w[j][i * K + k];
                    transpose(v[i]);
                }
#pragma unroll
                for (u32 k = 0; k < K; ++k, to += p.pitch)
                    store16(to, make_uint4(v[0][k], v[1][k], v[2][k], v[3][k]));
            }
        } else if constexpr (G == 4) {
#pragma unroll
            for (u32 j = 0; j < 4; ++j, to += p.pitch) store16(to, make_uint4(w[j][0], w[j][1], w[j][2], w[j][3]));
        } else if constexpr (G == 8) {
            store16(to, make_uint4(w[0][0], w[1][0], w[0][1], w[1][1]));
            store16(to + p.pitch, make_uint4(w[2][0], w[3][0], w[2][1], w[3][1]));
        } else {
            store16(to, make_uint4(w[0][0], w[1][0], w[2][0], w[3][0]));
        }
    }

    // The first pass.
    __device__ __forceinline__ void write(u64 strip, u32 first) const {
        const Columns& c = p.columns;
        const Strip s = strip_of(c, strip);
        const u32 rows = rows_from(first);
        stage(s, first, rows);
        if (threadIdx.x == 0 && strip >= p.ring.len) await(p.read + (strip - p.ring.len), (u32)p.tiles.len);
        __syncthreads();
        const u8* held = (const u8*)staged;
#pragma unroll 2
        for (u32 task = threadIdx.x; task < W / P * MOST; task += PASS_THREADS) {
            const u32 x = task % MOST, byte = task / MOST * P;
            if (x * V >= rows || byte >= s.width) continue;
            u32 w[P / 4][V];
#pragma unroll
            for (u32 k = 0; k < V; ++k) {
                const u8* from = held + place(x * V + k, byte);
                if constexpr (P == 8) {
                    const uint2 v = *(const uint2*)from;
                    w[0][k] = v.x, w[1][k] = v.y;
                } else {
                    const uint4 v = *(const uint4*)from;
                    w[0][k] = v.x, w[1][k] = v.y, w[2][k] = v.z, w[3][k] = v.w;
                }
            }
            put(column(strip, byte / G) + (u64)(first + x * V) * G, w);
        }
        __syncthreads();
        if (threadIdx.x == 0) publish(p.written + strip);
    }

    // What a tile needs of a column: vectors that are reversed, then vectors that are not.
    struct Lane {
        const u8* from;
        u32 byte;  // of a row
        u32 length;
        u32 bound;  // rows of the tile that are reversed
        u32 first;  // vector of those that are reversed
        u32 back;  // how many
        u32 next;  // the first of the others
        u32 all;
    };

    __device__ __forceinline__ Lane lane(const Strip& s, u64 strip, u32 first, u32 rows, u32 number) const {
        Lane l;
        l.from = column(strip, number);
        l.byte = number * G;
        l.length = l.byte < s.width ? (u32)column_length<G>(p.columns, s, l.byte) : 0;
        const u32 end = first + rows, low = l.length > end ? l.length - end : 0;
        l.bound = l.length > first ? l.length - first - low : 0;
        l.first = low / V;
        l.back = l.bound ? (l.length - first + V - 1) / V - l.first : 0;
        l.next = (first + l.bound) / V;
        l.all = l.back + (l.bound < rows ? (end + V - 1) / V - l.next : 0);
        return l;
    }

    __device__ __forceinline__ uint4 fetch(const Lane& l, u32 i) const {
        if (i >= l.back && p.columns.lengths.zero) return make_uint4(0, 0, 0, 0);
        return load_scratch(l.from + (u64)(i < l.back ? l.first + i : l.next + (i - l.back)) * 16);
    }

    // Stores the steps of a vector that belong to the tile, where they belong.
    __device__ __forceinline__ void scatter(const Lane& l, u32 first, u32 rows, u32 i, uint4 v) const {
        const bool back = i < l.back;
        const u32 step = (back ? l.first + i : l.next + (i - l.back)) * V;
        const i32 row = (i32)((back ? l.length - 1 - step : step) - first);
        const i32 low = back ? 0 : (i32)l.bound, high = back ? (i32)l.bound : (i32)rows;
        const u32 word[4] = {v.x, v.y, v.z, v.w};
        u8* held = (u8*)staged;
#pragma unroll
        for (i32 k = 0; k < (i32)V; ++k) {
            const i32 r = back ? row - k : row + k;
            if (r < low || r >= high) continue;
            u8* to = held + place((u32)r, l.byte);
            if constexpr (G == 16) *(uint4*)to = v;
            else if constexpr (G == 8) *(u64*)to = word[2 * k] | (u64)word[2 * k + 1] << 32;
            else *(T*)to = (T)(word[k * G / 4] >> (8 * (k * G % 4)));
        }
    }

    // Columns, groups of eight lanes that each take one at a time, and how often they do; groups that
    // share a column if there are fewer.
    static const u32 COUNT = W / G, GROUPS = PASS_THREADS / 8;
    static const u32 TIMES = COUNT > GROUPS ? COUNT / GROUPS : 1, SHARE = COUNT < GROUPS ? GROUPS / COUNT : 1;

    // The column of a group. The groups of a warp take columns in different banks.
    static __device__ __forceinline__ u32 number(u32 group, u32 time) {
        const u32 K = G < 4 ? 4 / G : 1;  // columns in a word
        if constexpr (TIMES == 1) return group % COUNT;
        return (group + time / K * GROUPS) * K + time % K;
    }

    // The second pass.
    __device__ __forceinline__ void read(u64 strip, u32 first) const {
        const Columns& c = p.columns;
        const Strip s = strip_of(c, strip);
        const u32 rows = rows_from(first);
        const u32 group = threadIdx.x / 8, i = group / COUNT * 8 + threadIdx.x % 8;
        // Vectors that a lane loads before it stores the first.
        const u32 WHOLE = MOST / (8 * SHARE), EACH = WHOLE < 4 ? WHOLE : 4;
        Lane l = lane(s, strip, first, rows, number(group, 0));
        if (threadIdx.x == 0) await(p.written + strip, (u32)p.tiles.len);
        __syncthreads();
#pragma unroll 1
        for (u32 time = 0; time < TIMES; ++time) {
            if (time) l = lane(s, strip, first, rows, number(group, time));
#pragma unroll 1
            for (u32 at = i; at < l.all; at += EACH * 8 * SHARE) {
                uint4 v[EACH];
#pragma unroll
                for (u32 k = 0; k < EACH; ++k)
                    if (at + k * 8 * SHARE < l.all) v[k] = fetch(l, at + k * 8 * SHARE);
#pragma unroll
                for (u32 k = 0; k < EACH; ++k)
                    if (at + k * 8 * SHARE < l.all) scatter(l, first, rows, at + k * 8 * SHARE, v[k]);
            }
        }
        __syncthreads();
        if (threadIdx.x == 0) publish(p.read + strip);
        const u32 byte = threadIdx.x % (W / 16) * 16;
        if (byte >= s.width) return;
        const u8* held = (const u8*)staged;
#pragma unroll 4
        for (u32 row = threadIdx.x / (W / 16); row < rows; row += PASS_THREADS / (W / 16)) {
            const uint4 v = *(const uint4*)(held + place(row, byte));
            u8* to = s.dst + (i64)(first + row) * c.dst_step + byte;
            if (c.words) store_by(to, v, p.store_policy);
            else store_some<G>(to, v, 0, s.width - byte);
        }
    }
};

template <int G, int W>
__device__ __forceinline__ void columns_scratch(const Strips& p) {
    typedef Pass<G, W> Tile;
    if (stopped(p.columns.lengths)) return;
    const bool reads = blockIdx.x & 1;
    u64 tile = blockIdx.x / 2;
    if (reads && tile < p.behind) return;
    if (reads) tile -= p.behind;
    if (tile >= p.columns.strips * p.tiles.len) return;
    const u64 strip = divide(tile, p.tiles);
    const u32 first = (u32)(tile - strip * p.tiles.len) * Tile::ROWS;
    const Tile pass = {p};
    if (reads) pass.read(strip, first);
    else pass.write(strip, first);
}

// Strips as wide as a cache line, and twice as wide, as many blocks as fit into shared memory.
#define COLUMNS_SCRATCH(G)                                                                                          \
    KERNEL_BY(PASS_THREADS, 4) columns_scratch_##G(const __grid_constant__ Strips p) { columns_scratch<G, 128>(p); } \
    KERNEL_BY(PASS_THREADS, 3) columns_scratch_wide_##G(const __grid_constant__ Strips p) { columns_scratch<G, 256>(p); }

COLUMNS_SCRATCH(1) COLUMNS_SCRATCH(2) COLUMNS_SCRATCH(4) COLUMNS_SCRATCH(8) COLUMNS_SCRATCH(16)
