// Rows whose lengths determine where vectors come from. A thread processes several vectors of one
// row, so that it waits once for the length and once for all of them.
#pragma once
#include "rows.cuh"

struct Share {
    Place at;
    i64 first;  // bytes of the row before its first vector
    i64 step;

    __device__ __forceinline__ Share(const Rows& p, u64 thread) {
        const u64 row = divide(thread, p.per_row);
        at = place(p.rows, row);
        first = (i64)(thread - row * p.per_row.len) * 16;
        step = (i64)p.per_row.len * 16;
    }
};

// Copies whole rows forward; lengths change the order of the rows.
__device__ __forceinline__ void rows_blocks(const Rows& p) {
    const u64 thread = thread_index();
    if (thread >= p.threads) return;
    const Share share(p, thread);
    const i64 bytes = (i64)p.units * 16;
    const u64 length = length_at(p.lengths, share.at.lengths), from = mirrored(share.at.step, length);
    const bool beyond = p.lengths.zero && share.at.step >= length;
    const u8* in = kept(p.src, p.policy) + share.at.src + (i64)from * p.rows.axis[p.rows.prefix].src;
    uint4 v[MOVED];
#pragma unroll
    for (int k = 0; k < MOVED; ++k) {
        const i64 at = share.first + k * share.step;
        v[k] = make_uint4(0, 0, 0, 0);
        if (!beyond && (k == 0 || at < bytes)) v[k] = load16(in + at);
    }
    if (stopped(p.lengths)) return;
#pragma unroll
    for (int k = 0; k < MOVED; ++k) {
        const i64 at = share.first + k * share.step;
        if (k == 0 || at < bytes) store16(p.dst + share.at.dst + at, v[k]);
    }
}

// Sixteen bytes of a row of vectors, from either side of the end of its prefix. Vectors outside the
// row are neither read nor needed; of a row without bytes, all are zero.
template <int W>
struct Cutting {
    uint4 a, b;
    u32 shift;
    bool back;

    __device__ __forceinline__ void open(const u8* in, i32 bytes, i32 start, i32 from, bool is_back) {
        const i32 at = is_back ? from * W - start + W - 16 : from * W + start;
        back = is_back;
        shift = W == 16 ? 0 : (u32)at & 15;
        const i32 low = at - (i32)shift;
        a = b = make_uint4(0, 0, 0, 0);
        // The unsigned comparison also excludes addresses below the row.
        if ((u32)low < (u32)bytes) a = load16(in + low);
        if (shift && (u32)(low + 16) < (u32)bytes) b = load16(in + low + 16);
    }

    __device__ __forceinline__ uint4 shut() const { return turned<W>(a, b, shift, back); }
};

// Rows of whole vectors, each with a length.
template <int W>
__device__ __forceinline__ void rows_cut(const Rows& p) {
    const u64 thread = thread_index();
    if (thread >= p.threads) return;
    const Share share(p, thread);
    const i32 bytes = (i32)p.units * W;
    const Cut c = cut((i64)p.units, (i64)length_at(p.lengths, share.at.lengths), p.src_back, p.dst_back);
    const i32 middle = (i32)c.at * W;
    const u8* in = kept(p.src, p.policy) + share.at.src;
    // Parts that become zero have no bytes.
    const bool zero = p.lengths.zero;
    const i32 low_bytes = zero && p.dst_back ? 0 : bytes, high_bytes = zero && !p.dst_back ? 0 : bytes;
    Cutting<W> first[CUT];
#pragma unroll
    for (int k = 0; k < CUT; ++k) {
        const i32 start = (i32)(share.first + k * share.step);
        const bool front = start < middle;
        const Way way = c.way(!front);
        first[k].open(in, front ? low_bytes : high_bytes, start, (i32)way.from, way.back);
    }
    if (stopped(p.lengths)) return;
#pragma unroll
    for (int k = 0; k < CUT; ++k) {
        const i32 start = (i32)(share.first + k * share.step), left = middle - start;
        uint4 v = first[k].shut();
        if (left > 0 && left < 16) {
            Cutting<W> second;
            second.open(in, high_bytes, start, (i32)c.behind.from, c.behind.back);
            v = joined(v, second.shut(), left);
        }
        if (k == 0 || start < bytes) store16(p.dst + share.at.dst + start, v);
    }
}

ROWS_BY(8, rows_blocks_0, rows_blocks)
ROWS_BY(4, rows_cut_1, rows_cut<1>)
ROWS_BY(4, rows_cut_2, rows_cut<2>)
ROWS_BY(4, rows_cut_4, rows_cut<4>)
ROWS_BY(4, rows_cut_8, rows_cut<8>)
ROWS_BY(4, rows_cut_16, rows_cut<16>)
