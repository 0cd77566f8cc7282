// Columns of bytes whose strip of 64 fills the shared memory of a multiprocessor, where gathering
// single bytes is too slow. The staged strip is transposed, so that a word holds four steps of one
// column; four such words are transposed back into words of four rows. Every thread transposes the
// part that it copied itself as soon as it has arrived, while other copies are still in flight.
// Only that and one barrier are between the last row that is loaded and the first that is stored.
#pragma once
#include "columns.cuh"
#include "tiles.cuh"

const i32 BYTE_WORDS = BYTE_STRIP / 4;  // of a row

// Four rows of a strip.
const i32 GROUP_BYTES = 4 * BYTE_STRIP;
// Groups between two groups that a thread writes.
const i32 GROUPS_APART = (i32)BYTE_THREADS / BYTE_WORDS;
// The most parts (see below) that a thread copies: all that shared memory can hold.
const int MOST_PARTS = (MOST_SHARED / BYTE_STRIP + BYTE_THREADS - 1) / BYTE_THREADS;

// The start of shared memory.
struct Held {
    u64 raw[BYTE_STRIP];  // lengths as stored in memory
    // Where the groups of a column come from, computed from its length, for even and for odd
    // groups: the address of the mirror image of the group before the first (one group less for
    // every group); the offset from there to the rest of the image, 0 if there is none; the `prmt`
    // selector that combines both; and which threads (the group modulo GROUPS_APART) write the group
    // in which the prefix ends, plus GROUP_BYTES, or 0 if it ends between two groups.
    uint4 turning[2][4][BYTE_WORDS];
    // Before the first group: the bytes that stay of the group in which the prefix ends, stored so
    // that they look like a mirror image whose rest is the first group.
    u32 before[BYTE_STRIP];
};
static_assert(sizeof(Held) == BYTES_HELD, "must match the host");

__device__ __forceinline__ Held& held() { return *(Held*)staged; }
__device__ __forceinline__ u8* first_group() { return (u8*)staged + sizeof(Held); }

// Starts an asynchronous copy of a length.
__device__ __forceinline__ void ask_length(const Lengths& lengths, i64 offset) {
    const u8* from = lengths.first + offset;
    u8* to = (u8*)&held().raw[threadIdx.x];
    const u32 type = lengths.kind & (UNALIGNED | 3);
    if (type == 3) {
        copy_async<8>(to, from);
    } else if (type == 2) {
        copy_async<4>(to, from);
    } else {
#pragma unroll 1
        for (u32 k = 0; k < 1u << (type & 3); ++k) to[k] = from[k];
    }
}

// Must be called by the thread that started the copy.
__device__ __forceinline__ void read_length(Lengths lengths) {
    lengths.first = (const u8*)&held().raw[threadIdx.x];
    lengths.kind &= ~UNALIGNED;
    const u32 length = (u32)length_at(lengths, 0), group = length >> 2, phase = length & 3, k = threadIdx.x & 3;
    const i32 aside = k & 1 ? -BYTE_STRIP : BYTE_STRIP;
#pragma unroll
    for (u32 odd = 0; odd < 2; ++odd) {
        const bool image_odd = (group - 1 - odd) & 1;
        const i32 mirror = (i32)group * GROUP_BYTES + (image_odd ? aside : 0);
        const i32 rest = phase ? GROUP_BYTES + (image_odd ? -aside : aside) : 0;
        const u32 owner = phase ? GROUP_BYTES + group % GROUPS_APART : 0;
        held().turning[odd][k][threadIdx.x / 4] = make_uint4((u32)mirror, (u32)rest, 0x0123 + 0x1111 * phase, owner);
    }
}

// A part is 16 bytes of each row of a group. In odd groups, rows and then columns are swapped in
// pairs, since neighbouring groups would otherwise use the same banks.
__device__ __forceinline__ void ask_part(const Columns& p, const Strip& s, u32 part) {
    const u32 group = part / 4, byte = part % 4 * 16, odd = group & 1;
    if (byte < s.width) {
        const u8* from = s.src + (i64)(group * 4) * p.src_step + byte;
        u8* to = first_group() + group * GROUP_BYTES + byte;
#pragma unroll
        for (u32 j = 0; j < 4; ++j, from += p.src_step)
            if (group * 4 + j < (u32)p.steps) copy_async16(to + (j ^ odd) * BYTE_STRIP, from, p.policy);
    }
    end_of_part();
}

// Transposes a part in place: afterwards every word belongs to one column.
__device__ __forceinline__ void turn_part(u32 part) {
    const u32 group = part / 4, odd = group & 1;
    u8* at = first_group() + group * GROUP_BYTES + part % 4 * 16;
    uint4 r[4];
#pragma unroll
    for (u32 j = 0; j < 4; ++j) r[j] = *(const uint4*)(at + (j ^ odd) * BYTE_STRIP);
    u32 x[4] = {r[0].x, r[1].x, r[2].x, r[3].x}, y[4] = {r[0].y, r[1].y, r[2].y, r[3].y};
    u32 z[4] = {r[0].z, r[1].z, r[2].z, r[3].z}, w[4] = {r[0].w, r[1].w, r[2].w, r[3].w};
    transpose(x), transpose(y), transpose(z), transpose(w);
#pragma unroll
    for (u32 k = 0; k < 4; ++k) *(uint4*)(at + (k ^ odd) * BYTE_STRIP) = make_uint4(x[k], y[k], z[k], w[k]);
}

// Transposes all parts of a thread as they arrive, while LEFT of them are in flight. A length
// arrives with the first.
template <int LEFT>
__device__ __forceinline__ void turn_parts_of(const Columns& p, i32 parts, bool has_length) {
    wait_for_parts<LEFT>();
    if (has_length && (parts == LEFT + 1 || (parts == 0 && LEFT == 0))) read_length(p.lengths);
    if (parts > LEFT) turn_part(threadIdx.x + (u32)(parts - 1 - LEFT) * BYTE_THREADS);
    if constexpr (LEFT > 0) turn_parts_of<LEFT - 1>(p, parts, has_length);
}

#ifdef __CUDA_ARCH__
// Permutes bytes of two words; `__byte_perm` would add a mask for selectors that do not occur.
__device__ __forceinline__ u32 permuted(u32 a, u32 b, u32 order) {
    u32 v;
    asm("prmt.b32 %0, %1, %2, %3;" : "=r"(v) : "r"(a), "r"(b), "r"(order));
    return v;
}

// If `mirror` is not below `bound`, combines the word there with the one `rest` bytes after it;
// otherwise loads the word at `here`. AT is added to every address. Six instructions; the compiler
// generates ten.
template <i32 AT>
__device__ __forceinline__ u32 mirrored_or_here(i32 mirror, i32 bound, i32 here, i32 rest, u32 order) {
    u32 v;
    asm volatile("{\n"
                 ".reg .pred back;\n"
                 ".reg .b32 at, more;\n"
                 "setp.ge.s32 back, %1, %2;\n"
                 "selp.b32 at, %1, %3, back;\n"
                 "ld.shared.u32 %0, [at + %6];\n"
                 "@back add.s32 at, at, %4;\n"
                 "@back ld.shared.u32 more, [at + %6];\n"
                 "@back prmt.b32 %0, %0, more, %5;\n"
                 "}" : "=&r"(v) : "r"(mirror), "r"(bound), "r"(here), "r"(rest), "r"(order), "n"(AT));
    return v;
}

// Predicated instead of branching: few threads take it, and all would wait.
__device__ __forceinline__ u32 load_shared_if(bool so, i32 at) {
    u32 v = 0;
    asm volatile("{\n"
                 ".reg .pred so;\n"
                 "setp.ne.u32 so, %2, 0;\n"
                 "@so ld.shared.u32 %0, [%1];\n"
                 "}" : "+r"(v) : "r"(at), "r"((u32)so));
    return v;
}

__device__ __forceinline__ void store_shared_if(bool so, i32 at, u32 v) {
    asm volatile("{\n"
                 ".reg .pred so;\n"
                 "setp.ne.u32 so, %2, 0;\n"
                 "@so st.shared.u32 [%1], %0;\n"
                 "}" :: "r"(v), "r"(at), "r"((u32)so) : "memory");
}

// Keeps the value in a register, so that it is not recomputed every time.
template <typename T>
__device__ __forceinline__ void hold(T& value) { asm volatile("" : "+r"(value)); }
#else
inline u32 permuted(u32 a, u32 b, u32 order) { return __byte_perm(a, b, order); }

template <i32 AT>
inline u32 mirrored_or_here(i32 mirror, i32 bound, i32 here, i32 rest, u32 order) {
    u32 v, more;
    load_shared(v, (mirror >= bound ? mirror : here) + AT);
    if (mirror < bound) return v;
    load_shared(more, mirror + rest + AT);
    return __byte_perm(v, more, order);
}

inline u32 load_shared_if(bool so, i32 at) {
    u32 v = 0;
    if (so) load_shared(v, at);
    return v;
}

inline void store_shared_if(bool so, i32 at, u32 v) {
    if (so) *(u32*)((u8*)staged + at) = v;
}

template <typename T>
inline void hold(T&) {}
#endif

// A thread's four columns in a group of the output, and in the next group that it writes.
struct FourColumns {
    static const i32 STEP = GROUPS_APART * GROUP_BYTES;
    i32 here[2];  // address of the group if it stays, for even and for odd columns
    // Where their mirror images begin, minus the offset of the columns from `here`; the address
    // below which they stay, in this group and in the next; the offset of the rest of those images;
    // and the permutation.
    i32 mirror[4], bound[2][4], rest[4];
    u32 order[4];

    // Starts at a group; `inside` if the columns exist.
    __device__ __forceinline__ FourColumns(i32 group, u32 word, bool inside) {
        const i32 base = shared_address() + (i32)sizeof(Held), column = base + (i32)word * 4;
        const i32 odd = group & 1, swapped = odd ? BYTE_STRIP : 0;
        here[0] = column + group * GROUP_BYTES + swapped;
        here[1] = column + group * GROUP_BYTES - swapped;
        uint4 t[4];
#pragma unroll
        for (u32 k = 0; k < 4; ++k) t[k] = held().turning[odd][k][word];
        // The group in which a prefix ends. If it is a later group of this thread, it has the same
        // parity as this one.
        const u32 own = inside ? (u32)(GROUP_BYTES + group) : ~0u;
        u32 stays[4];
#pragma unroll
        for (i32 k = 0; k < 4; ++k) {
            const i32 aside = odd ? 0 : k & 1 ? BYTE_STRIP : -BYTE_STRIP;
            stays[k] = load_shared_if(t[k].w == own, column + (i32)t[k].x + aside + k * BYTE_STRIP);
        }
#pragma unroll
        for (i32 k = 0; k < 4; ++k) {
            mirror[k] = column + (i32)t[k].x - (group + 1) * GROUP_BYTES;
            rest[k] = (i32)t[k].y;
            order[k] = t[k].z;
            bound[0][k] = base - k * BYTE_STRIP - (i32)(t[k].w & GROUP_BYTES);
            bound[1][k] = bound[0][k] + STEP;
            hold(mirror[k]), hold(bound[0][k]), hold(bound[1][k]), hold(rest[k]), hold(order[k]);
        }
#pragma unroll
        for (i32 k = 0; k < 4; ++k)
            store_shared_if(t[k].w == own, column - GROUP_BYTES + (k ^ 1) * BYTE_STRIP,
                            permuted(stays[k], stays[k], order[k]));
    }

    template <int AT, int K>
    __device__ __forceinline__ u32 four_steps() const {
        return mirrored_or_here<K * BYTE_STRIP - AT * STEP>(
            mirror[K], bound[AT][K], here[K & 1] + 2 * AT * STEP, rest[K], order[K]);
    }

    // For this group, or for the next.
    template <int AT>
    __device__ __forceinline__ void gather(u32 (&v)[4]) const {
        v[0] = four_steps<AT, 0>();
        v[1] = four_steps<AT, 1>();
        v[2] = four_steps<AT, 2>();
        v[3] = four_steps<AT, 3>();
    }

    __device__ __forceinline__ void go_on(i32 groups) {
        here[0] += groups * STEP, here[1] += groups * STEP;
#pragma unroll
        for (int k = 0; k < 4; ++k) mirror[k] -= groups * STEP;
    }
};

// Stores four steps of four columns as words of rows.
__device__ __forceinline__ void put_rows(u8* out, i64 step, u32 (&v)[4], i32 rows) {
    transpose(v);
#pragma unroll
    for (int j = 0; j < 4; ++j, out += step)
        if (j < rows) *(u32*)out = v[j];
}

__device__ __forceinline__ void columns_bytes(const Columns& p) {
    const Strip s = strip_of(p, blockIdx.x);
    const i32 steps = (i32)p.steps, groups = (steps + 3) / 4, thread = (i32)threadIdx.x;
    const i32 parts = (groups * 4 - thread + (i32)BYTE_THREADS - 1) / (i32)BYTE_THREADS;
    const bool has_length = threadIdx.x < s.width;
    if (has_length) ask_length(p.lengths, length_place<1>(p, s, threadIdx.x));
#pragma unroll 1
    for (i32 i = 0; i < parts; ++i) ask_part(p, s, threadIdx.x + (u32)i * BYTE_THREADS);
    const bool stop = stopped(p.lengths);
    turn_parts_of<MOST_PARTS - 1>(p, parts, has_length);
    __syncthreads();
    const u32 word = threadIdx.x % BYTE_WORDS;
    const bool inside = word * 4 < s.width;
    i32 group = thread / BYTE_WORDS;
    FourColumns c(group, word, inside);
    if (stop || !inside) return;
    const i64 step = p.dst_step, skip = (i64)(GROUPS_APART * 4) * step;
    u8* out = s.dst + word * 4 + (i64)(group * 4) * step;
    u32 v[4];
#pragma unroll 1
    for (; (group + GROUPS_APART) * 4 + 4 <= steps; group += 2 * GROUPS_APART, out += 2 * skip) {
        u32 w[4];
        c.gather<0>(v);
        c.gather<1>(w);
        c.go_on(2);
        put_rows(out, step, v, 4);
        put_rows(out + skip, step, w, 4);
    }
#pragma unroll 1
    for (; group < groups; group += GROUPS_APART, out += skip) {
        c.gather<0>(v);
        c.go_on(1);
        put_rows(out, step, v, steps - group * 4);
    }
}

// Blocks of adjacent strips start at the same time, because memory is accessed in 128-byte lines.
#if __CUDA_ARCH__ >= 900
#define STRIPS_IN_PAIRS __cluster_dims__(BYTE_BLOCKS, 1, 1)
#else
#define STRIPS_IN_PAIRS
#endif
KERNEL(BYTE_THREADS) STRIPS_IN_PAIRS columns_bytes_1(const __grid_constant__ Columns p) { columns_bytes(p); }
