//! Squares of units, transposed in registers: one to a register, or one to each 16 bytes of it.

use crate::cpu::simd::{SIXTEEN, Simd};
use std::mem::MaybeUninit;

/// Squares of `N` by `N` units, a vector for each row.
pub(in crate::cpu) type Square<V, const N: usize> = [MaybeUninit<V>; N];

/// A square with nothing in it yet.
#[inline(always)]
pub(in crate::cpu) fn no_square<V, const N: usize>() -> Square<V, N> {
    [const { MaybeUninit::uninit() }; N]
}

/// How many units of `W` bytes the side of a square has in registers of `bytes`: of narrow units,
/// whose squares would not stay in registers, as many as fit 16 bytes.
pub(in crate::cpu) const fn side<const W: usize>(bytes: usize) -> usize {
    if W <= 2 { SIXTEEN / W } else { bytes / W }
}

/// Transposes a square, if `N` is the number of units of `W` bytes in a vector; or squares side by
/// side, if it is the number of units in 16 bytes.
///
/// Interleaving the first half of the rows with the second half moves one bit of each unit's
/// row number into its column number; after all bits have moved, rows are columns.
///
/// # Safety
/// All rows are initialised.
#[inline(always)]
pub(in crate::cpu) unsafe fn transpose<V: Simd, const W: usize, const N: usize>(
    mut square: Square<V, N>,
) -> Square<V, N> {
    const { assert!(matches!(N, 1 | 2 | 4 | 8 | 16)) };
    debug_assert!(N * W == V::BYTES || N * W == SIXTEEN);
    // No loops: compilers do not unroll as many steps as 16 rows take, and rows that a loop numbers
    // are in memory, not in registers.
    // SAFETY: passed on.
    unsafe {
        if N > 1 {
            square = round::<V, W, N>(&square);
        }
        if N > 2 {
            square = round::<V, W, N>(&square);
        }
        if N > 4 {
            square = round::<V, W, N>(&square);
        }
        if N > 8 {
            square = round::<V, W, N>(&square);
        }
    }
    square
}

/// Moves one bit.
///
/// # Safety
/// As for [`transpose`].
#[inline(always)]
unsafe fn round<V: Simd, const W: usize, const N: usize>(square: &Square<V, N>) -> Square<V, N> {
    let mut next = no_square::<V, N>();
    // SAFETY: passed on.
    unsafe {
        pair::<V, W, N, 0>(square, &mut next);
        if N > 2 {
            pair::<V, W, N, 1>(square, &mut next);
        }
        if N > 4 {
            pair::<V, W, N, 2>(square, &mut next);
            pair::<V, W, N, 3>(square, &mut next);
        }
        if N > 8 {
            pair::<V, W, N, 4>(square, &mut next);
            pair::<V, W, N, 5>(square, &mut next);
            pair::<V, W, N, 6>(square, &mut next);
            pair::<V, W, N, 7>(square, &mut next);
        }
    }
    next
}

/// Interleaves row `R` with the one that is half a square further on.
///
/// # Safety
/// As for [`transpose`].
#[inline(always)]
unsafe fn pair<V: Simd, const W: usize, const N: usize, const R: usize>(
    square: &Square<V, N>,
    next: &mut Square<V, N>,
) {
    // SAFETY: all rows are initialised, as required.
    unsafe {
        let (a, b) = (square[R].assume_init(), square[R + N / 2].assume_init());
        let (low, high) = match const { N * W == V::BYTES } {
            true => V::interleave::<W>(a, b),
            false => V::interleave_sixteens::<W>(a, b),
        };
        next[2 * R].write(low);
        next[2 * R + 1].write(high);
    }
}
