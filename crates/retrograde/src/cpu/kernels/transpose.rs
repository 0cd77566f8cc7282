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
    debug_assert!(N * W == V::BYTES || N * W == SIXTEEN);
    let mut rounds = 1;
    while rounds < N {
        let mut next = no_square::<V, N>();
        let mut row = 0;
        while row < N / 2 {
            // SAFETY: all rows are initialised, as required.
            unsafe {
                let (a, b) = (square[row].assume_init(), square[row + N / 2].assume_init());
                let (low, high) = match const { N * W == V::BYTES } {
                    true => V::interleave::<W>(a, b),
                    false => V::interleave_sixteens::<W>(a, b),
                };
                next[2 * row].write(low);
                next[2 * row + 1].write(high);
            }
            row += 1;
        }
        square = next;
        rounds *= 2;
    }
    square
}
