//! Squares of units, transposed in registers.

use crate::cpu::simd::{Vector, WIDEST};
use std::mem::MaybeUninit;

/// A square of `N` by `N` units, a vector for each row.
pub(in crate::cpu) type Square<V, const N: usize> = [MaybeUninit<V>; N];

/// A square with nothing in it yet.
#[inline(always)]
pub(in crate::cpu) fn no_square<V, const N: usize>() -> Square<V, N> {
    [const { MaybeUninit::uninit() }; N]
}

/// Transposes a square; `N` is the number of units of `W` bytes in a vector.
///
/// Interleaving the first half of the rows with the second half moves one bit of each unit's
/// row number into its column number; after all bits have moved, rows are columns.
///
/// # Safety
/// All rows are initialised.
#[inline(always)]
pub(in crate::cpu) unsafe fn transpose<V: Vector, const W: usize, const N: usize>(
    mut square: Square<V, N>,
) -> Square<V, N> {
    const { assert!(V::BYTES / W <= WIDEST) };
    let mut rounds = 1;
    while rounds < N {
        let mut next = no_square::<V, N>();
        let mut row = 0;
        while row < N / 2 {
            // SAFETY: all rows are initialised, as required.
            unsafe {
                let (a, b) = (square[row].assume_init(), square[row + N / 2].assume_init());
                let (low, high) = V::interleave::<W>(a, b);
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
