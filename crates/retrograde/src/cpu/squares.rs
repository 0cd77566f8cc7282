//! Squares of units, turned in registers: rows become columns.

use super::vector::Vector;
use std::mem::MaybeUninit;

/// The widest vector there is.
pub(super) const WIDEST: usize = 64;

/// Room for two squares: as many vectors each as a strip of single bytes has rows.
pub(super) type Squares<V> = [[MaybeUninit<V>; WIDEST]; 2];

/// Two squares with nothing in them yet.
#[inline(always)]
pub(super) fn no_squares<V>() -> Squares<V> {
    [const { [const { MaybeUninit::uninit() }; WIDEST] }; 2]
}

/// Turns the rows of the first square into columns: `V::BYTES / W` vectors of as many units.
///
/// Interleaving the first half of the rows with the second half moves one bit of each unit's
/// row number into its column number; after all bits have moved, rows are columns.
///
/// # Safety
/// That many vectors of the first square are initialised.
#[inline(always)]
pub(super) unsafe fn transpose<V: Vector, const W: usize>(
    squares: &mut Squares<V>,
) -> &[MaybeUninit<V>] {
    let wide = V::BYTES / W;
    let half = wide / 2;
    let [mut from, mut to] = squares.each_mut();
    let mut turns = 1;
    while turns < wide {
        for row in 0..half {
            // SAFETY: the caller's promise.
            unsafe {
                let (a, b) = (from[row].assume_init(), from[row + half].assume_init());
                let (low, high) = V::interleave::<W>(a, b);
                to[2 * row].write(low);
                to[2 * row + 1].write(high);
            }
        }
        (from, to) = (to, from);
        turns *= 2;
    }
    from
}
