// Columns of bytes, where a strip of 64 fills the shared memory of a multiprocessor: to gather them one by one takes too
// long. What is staged is turned, so that a word there is four steps of one column; four of those are turned back into
// words of four rows. Every thread turns what it asked for itself, as soon as that is there and while the rest still
// comes.
#pragma once
#include "columns.cuh"
#include "tiles.cuh"

// `src/jobs/columns.rs` has the same.
const u32 BYTE_THREADS = 1024;
const i32 BYTE_STRIP = 64;
// Parts that a thread asks for, at most: all that shared memory may hold.
const int MOST_PARTS = 4;

// Four rows of a strip.
const i32 GROUP_BYTES = 4 * BYTE_STRIP;

// A part is 16 bytes of each row of a group. In every other group rows, and then columns, trade places in pairs: those
// of groups beside each other would lie in the same banks.
__device__ __forceinline__ void ask_part(const Columns& p, const Strip& s, u32 part) {
    const u32 group = part / 4, byte = part % 4 * 16, odd = group & 1;
    if (byte < s.width) {
        const u8* from = s.src + (i64)(group * 4) * p.src_step + byte;
        u8* to = (u8*)staged + group * GROUP_BYTES + byte;
#pragma unroll
        for (u32 j = 0; j < 4; ++j, from += p.src_step)
            if (group * 4 + j < (u32)p.steps) copy_async16(to + (j ^ odd) * BYTE_STRIP, from, p.policy);
    }
    end_of_part();
}

// Where it lies: then every word is one column's.
__device__ __forceinline__ void turn_part(u32 part) {
    const u32 group = part / 4, odd = group & 1;
    u8* at = (u8*)staged + group * GROUP_BYTES + part % 4 * 16;
    uint4 r[4];
#pragma unroll
    for (u32 j = 0; j < 4; ++j) r[j] = *(const uint4*)(at + (j ^ odd) * BYTE_STRIP);
    u32 x[4] = {r[0].x, r[1].x, r[2].x, r[3].x}, y[4] = {r[0].y, r[1].y, r[2].y, r[3].y};
    u32 z[4] = {r[0].z, r[1].z, r[2].z, r[3].z}, w[4] = {r[0].w, r[1].w, r[2].w, r[3].w};
    transpose(x), transpose(y), transpose(z), transpose(w);
#pragma unroll
    for (u32 k = 0; k < 4; ++k) *(uint4*)(at + (k ^ odd) * BYTE_STRIP) = make_uint4(x[k], y[k], z[k], w[k]);
}

// All of a thread's, as they come; LEFT of them are still under way.
template <int LEFT>
__device__ __forceinline__ void turn_parts_of(i32 parts) {
    wait_for_parts<LEFT>();
    if (parts > LEFT) turn_part(threadIdx.x + (u32)(parts - 1 - LEFT) * BYTE_THREADS);
    if constexpr (LEFT > 0) turn_parts_of<LEFT - 1>(parts);
}

// Where four steps of a column lie then: column `k` of those that a word of a row has.
__device__ __forceinline__ i32 turned_place(i32 group, u32 word, u32 k) {
    return group * GROUP_BYTES + (i32)((k ^ (group & 1)) * BYTE_STRIP + word * 4);
}

#ifdef __CUDA_ARCH__
// Bytes of two words; `__byte_perm` would also take care of orders that nobody asks for.
__device__ __forceinline__ u32 permuted(u32 a, u32 b, u32 order) {
    u32 v;
    asm("prmt.b32 %0, %1, %2, %3;" : "=r"(v) : "r"(a), "r"(b), "r"(order));
    return v;
}

// The word at `mirror`, put together with the one `rest` behind it, if that is not below `bound`; otherwise the one at
// `here`. AT bytes behind each. Six instructions, which the compiler makes ten of.
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

// Kept in a register, and not worked out again each time.
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

template <typename T>
inline void hold(T&) {}
#endif

// A thread's four columns in a group of the output, and in the next one that it writes.
struct FourColumns {
    static const i32 WORDS = BYTE_STRIP / 4, EACH = (i32)BYTE_THREADS / WORDS;  // groups from one to the next
    static const i32 STEP = EACH * GROUP_BYTES;
    i32 here[2];  // where the group lies, if it stays, for even columns and for odd ones
    // Where their mirror images begin, less as much as they themselves lie behind `here`; below what they stay, in this
    // group and in the next; how far away the rest of those images is; and the order to take bytes in.
    i32 mirror[4], bound[2][4], rest[4];
    u32 order[4];

    __device__ __forceinline__ void set(i32 base, i32 group, u32 word, u32 k, i32 length) {
        const i32 from = (length >> 2) - 1 - group, low = turned_place(from, word, k), phase = length & 3;
        mirror[k] = base + low - (i32)k * BYTE_STRIP;
        bound[0][k] = base - (i32)k * BYTE_STRIP;
        bound[1][k] = bound[0][k] + STEP;
        rest[k] = phase ? turned_place(from + 1, word, k) - low : 0;
        order[k] = 0x0123 + 0x1111 * (u32)phase;
        hold(bound[0][k]), hold(bound[1][k]), hold(rest[k]), hold(order[k]);
    }

    template <int AT, int K>
    __device__ __forceinline__ u32 four_steps() const {
        return mirrored_or_here<K * BYTE_STRIP - AT * STEP>(
            mirror[K], bound[AT][K], here[K & 1] + 2 * AT * STEP, rest[K], order[K]);
    }

    // Of this group, or of the next.
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

// Four steps of four columns as words of rows.
__device__ __forceinline__ void put_rows(u8* out, i64 step, u32 (&v)[4], i32 rows) {
    transpose(v);
#pragma unroll
    for (int j = 0; j < 4; ++j, out += step)
        if (j < rows) *(u32*)out = v[j];
}

__device__ __forceinline__ void columns_bytes(const Columns& p) {
    typedef FourColumns C;
    const Strip s = strip_of(p, blockIdx.x);
    const i32 steps = (i32)p.steps, groups = (steps + 3) / 4, thread = (i32)threadIdx.x;
    const i32 parts = (groups * 4 - thread + (i32)BYTE_THREADS - 1) / (i32)BYTE_THREADS;
#pragma unroll 1
    for (i32 i = 0; i < parts; ++i) ask_part(p, s, threadIdx.x + (u32)i * BYTE_THREADS);
    // Lengths come while rows do: those of four columns, and that of one whose last group this thread makes.
    const u32 word = threadIdx.x % C::WORDS;
    i32 group = thread / C::WORDS;
    const bool inside = word * 4 < s.width;
    const i32 base = shared_address();
    C c;
    c.here[0] = base + turned_place(group, word, 0);
    c.here[1] = base + turned_place(group, word, 1) - BYTE_STRIP;
    u32 few[4];  // the order of the first group, if less than all of it is reversed
#pragma unroll
    for (u32 k = 0; k < 4; ++k) {
        const i32 length = inside ? (i32)column_length<1>(p, s, word * 4 + k) : 0;
        c.set(base, group, word, k, length);
        few[k] = length == 2 ? 0x3201 : length == 3 ? 0x3012 : 0x3210;
    }
    const u32 length = threadIdx.x < s.width ? (u32)column_length<1>(p, s, threadIdx.x) : 0, more = length & 3;
    const bool stop = stopped(p.lengths);
    turn_parts_of<MOST_PARTS - 1>(parts);
    __syncthreads();
    // The group in which a length lies is reversed in part: it is made anew, and then stays like all behind it. Only the
    // first group wants it as it was.
    const i32 last = turned_place((i32)(length >> 2), threadIdx.x / 4, threadIdx.x & 3);
    u32 v[4], made;
    if (group == 0) {
        c.gather<0>(v);
#pragma unroll
        for (int k = 0; k < 4; ++k) v[k] = permuted(v[k], v[k], few[k]);
    }
    if (more) {
        u32 first, stays;
        load_shared(first, base + turned_place(0, threadIdx.x / 4, threadIdx.x & 3));
        load_shared(stays, base + last);
        made = permuted(first, stays, more == 1 ? 0x7650 : more == 2 ? 0x7601 : 0x7012);
    }
    __syncthreads();
    if (more) *(u32*)((u8*)staged + last) = made;
    __syncthreads();
    if (stop || !inside) return;
    u8* out = s.dst + word * 4 + (i64)(group * 4) * p.dst_step;
    const i64 step = p.dst_step, skip = (i64)(C::EACH * 4) * step;
    if (group == 0) {
        put_rows(out, step, v, steps);
        group += C::EACH, out += skip;
        c.go_on(1);
    }
#pragma unroll 1
    for (; (group + C::EACH) * 4 + 4 <= steps; group += 2 * C::EACH, out += 2 * skip) {
        u32 w[4];
        c.gather<0>(v);
        c.gather<1>(w);
        c.go_on(2);
        put_rows(out, step, v, 4);
        put_rows(out + skip, step, w, 4);
    }
#pragma unroll 1
    for (; group < groups; group += C::EACH, out += skip) {
        c.gather<0>(v);
        c.go_on(1);
        put_rows(out, step, v, steps - group * 4);
    }
}

KERNEL(BYTE_THREADS) columns_bytes_1(const __grid_constant__ Columns p) { columns_bytes(p); }
