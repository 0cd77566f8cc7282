// In place: rows of whole vectors that trade places with others, each as a whole. A thread moves
// several vectors of two rows, and a warp a contiguous range of both.
#pragma once
#include "rows.cuh"

// `dst` is the address of a row of the lower half, and `src` that of its mirror image.
__device__ __forceinline__ void rows_trade(const Rows& p) {
    const u64 thread = thread_index();
    if (thread >= p.threads) return;
    const u64 row = divide(thread, p.per_row), number = thread - row * p.per_row.len;
    Place at = place(p.rows, row);
    if (p.rows.prefix != NONE) {
        const u64 length = length_at(p.lengths, at.lengths);
        if (at.step >= length / 2) return;
        at.src += (i64)(length - 1 - at.step) * p.rows.axis[p.rows.prefix].src;
    }
    u8* low = p.dst + at.dst;
    u8* high = (u8*)p.src + at.src;
    // In the middle of the halved dimension both orders occur; only one of them does the work.
    if (p.rows.prefix == NONE && low >= high) return;
    const i64 first = (i64)(number / 32 * (32 * TRADED) + number % 32) * 16, bytes = (i64)p.units * 16;
    uint4 a[TRADED], b[TRADED];
#pragma unroll
    for (int k = 0; k < TRADED; ++k) {
        const i64 byte = first + k * 512;
        if (byte < bytes) {
            a[k] = load16(kept(low, p.policy) + byte);
            b[k] = load16(kept(high, p.policy) + byte);
        }
    }
    if (stopped(p.lengths)) return;
#pragma unroll
    for (int k = 0; k < TRADED; ++k) {
        const i64 byte = first + k * 512;
        if (byte < bytes) {
            store16(low + byte, b[k]);
            store16(high + byte, a[k]);
        }
    }
}

KERNEL_BY(256, 4) rows_trade_0(const __grid_constant__ Rows p) { rows_trade(p); }
