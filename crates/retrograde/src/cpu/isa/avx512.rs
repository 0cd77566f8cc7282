//! AVX-512 (F, BW, VL): 64-byte registers, permutations across all of it, masks.

use super::entries;
use super::ssse3::Sse;
use crate::cpu::vector::Vector;
use std::arch::x86_64::*;

entries!(Avx512, "avx512f,avx512bw,avx512vl,avx2");

/// Sixty-four bytes.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub(super) struct Avx512(pub(super) __m512i);

/// A mask of the lowest `count` bits.
#[inline(always)]
pub(super) fn low(count: usize) -> u64 {
    if count >= 64 { !0 } else { (1 << count) - 1 }
}

impl Vector for Avx512 {
    type Odd = Sse;
    const BYTES: usize = 64;

    #[inline(always)]
    unsafe fn load(src: *const u8) -> Self {
        // SAFETY: the caller's promise.
        Avx512(unsafe { _mm512_loadu_si512(src.cast()) })
    }

    #[inline(always)]
    unsafe fn store(self, dst: *mut u8) {
        // SAFETY: the caller's promise.
        unsafe { _mm512_storeu_si512(dst.cast(), self.0) }
    }

    #[inline(always)]
    unsafe fn stream(self, dst: *mut u8) {
        // SAFETY: the caller's promise.
        unsafe { _mm512_stream_si512(dst.cast(), self.0) }
    }

    #[inline(always)]
    unsafe fn store_part(self, dst: *mut u8, from: usize, to: usize) {
        // SAFETY: masked-off bytes are not written.
        unsafe { _mm512_mask_storeu_epi8(dst.cast(), low(to) & !low(from), self.0) }
    }

    #[inline(always)]
    unsafe fn reversed<const W: usize>(self) -> Self {
        // SAFETY: the caller's promise.
        unsafe {
            Avx512(match W {
                16 => _mm512_shuffle_i64x2::<0b00_01_10_11>(self.0, self.0),
                8 => {
                    let order = _mm512_setr_epi64(7, 6, 5, 4, 3, 2, 1, 0);
                    _mm512_permutexvar_epi64(order, self.0)
                }
                4 => {
                    let order =
                        _mm512_setr_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
                    _mm512_permutexvar_epi32(order, self.0)
                }
                _ => {
                    // Quarters in reverse order, then bytes within each.
                    let quarters = _mm512_shuffle_i64x2::<0b00_01_10_11>(self.0, self.0);
                    let within = if W == 1 {
                        _mm_setr_epi8(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0)
                    } else {
                        _mm_setr_epi8(14, 15, 12, 13, 10, 11, 8, 9, 6, 7, 4, 5, 2, 3, 0, 1)
                    };
                    _mm512_shuffle_epi8(quarters, _mm512_broadcast_i32x4(within))
                }
            })
        }
    }

    #[inline(always)]
    unsafe fn reverse_short<const W: usize>(end: *const u8, dst: *mut u8, bytes: usize) {
        // SAFETY: masked-off bytes are neither read nor written, so only the caller's are.
        unsafe {
            let last = low(bytes).rotate_right(bytes as u32);
            let start = end.wrapping_sub(64);
            let row = _mm512_maskz_loadu_epi8(last, start.cast());
            let row = Avx512(row).reversed::<W>();
            _mm512_mask_storeu_epi8(dst.cast(), low(bytes), row.0);
        }
    }

    #[inline(always)]
    unsafe fn lane_short<const W: usize>(src: *const u8, dst: *mut u8, head: usize, units: usize) {
        // SAFETY: masked-off bytes are neither read nor written.
        unsafe {
            if W < 2 {
                // No permutation of single bytes at this level: two masked rows.
                Self::reverse_short::<W>(src.add(head * W), dst, head * W);
                let rest = low(units * W) & !low(head * W);
                let row = _mm512_maskz_loadu_epi8(rest, src.cast());
                _mm512_mask_storeu_epi8(dst.cast(), rest, row);
                return;
            }
            let whole = low(units * W);
            let row = _mm512_maskz_loadu_epi8(whole, src.cast());
            let turned = lane_order::<W>(row, head);
            _mm512_mask_storeu_epi8(dst.cast(), whole, turned);
        }
    }

    #[inline(always)]
    fn fetch(address: *const u8) {
        // SAFETY: a prefetch has no effect that a program can see, whatever the address.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(address.cast()) }
    }
}

/// Reverses the first `head` units of a register, `W` of 2, 4, 8 or 16 bytes.
///
/// # Safety
/// As for [`Vector`].
#[inline(always)]
unsafe fn lane_order<const W: usize>(row: __m512i, head: usize) -> __m512i {
    // SAFETY: the caller's promise.
    unsafe {
        match W {
            2 => {
                let own = _mm512_set_epi16(
                    31, 30, 29, 28, 27, 26, 25, 24, 23, 22, 21, 20, 19, 18, 17, 16, 15, 14, 13, 12,
                    11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0,
                );
                let turned = _mm512_sub_epi16(_mm512_set1_epi16(head as i16 - 1), own);
                let order = _mm512_mask_mov_epi16(own, low(head) as u32, turned);
                _mm512_permutexvar_epi16(order, row)
            }
            4 => {
                let own = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
                let turned = _mm512_sub_epi32(_mm512_set1_epi32(head as i32 - 1), own);
                let order = _mm512_mask_mov_epi32(own, low(head) as u16, turned);
                _mm512_permutexvar_epi32(order, row)
            }
            _ => {
                // Units of 8 bytes, or pairs of them.
                let own = _mm512_setr_epi64(0, 1, 2, 3, 4, 5, 6, 7);
                let pairs = (W / 8) as i64;
                let within = _mm512_and_epi64(own, _mm512_set1_epi64(pairs - 1));
                let start = _mm512_set1_epi64((head as i64 - 1) * pairs);
                let turned = _mm512_sub_epi64(
                    _mm512_add_epi64(start, _mm512_add_epi64(within, within)),
                    own,
                );
                let order = _mm512_mask_mov_epi64(own, low(head * W / 8) as u8, turned);
                _mm512_permutexvar_epi64(order, row)
            }
        }
    }
}
