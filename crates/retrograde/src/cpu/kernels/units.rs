//! Units that are not contiguous: copied and swapped one at a time.

use super::rows::Rows;
use super::swaps::swap_runs;
use crate::cpu::simd::copy_unit;
use std::mem::MaybeUninit;

/// Copies rows of one unit each, if they have one of the usual widths; otherwise returns false.
///
/// # Safety
/// Kernel contract 1 and 2, with `len == 1`.
pub(in crate::cpu) unsafe fn copy(rows: &Rows) -> bool {
    // SAFETY: kernel contract 1 and 2.
    unsafe {
        match rows.unit {
            1 => copy_units::<1>(rows),
            2 => copy_units::<2>(rows),
            3 => copy_units::<3>(rows),
            4 => copy_units::<4>(rows),
            6 => copy_units::<6>(rows),
            8 => copy_units::<8>(rows),
            12 => copy_units::<12>(rows),
            16 => copy_units::<16>(rows),
            _ => return false,
        }
    }
    true
}

/// # Safety
/// As for [`copy`], with `unit == W`.
unsafe fn copy_units<const W: usize>(rows: &Rows) {
    for row in 0..rows.count {
        // SAFETY: kernel contract 1 and 2.
        unsafe {
            let (src, dst) = rows.row(row);
            copy_unit::<W>(src, dst);
        }
    }
}

/// Swaps `len` units, walking by `steps` on the two sides.
///
/// # Safety
/// All units are inside memory valid for reads and writes, and none of one side meets one of
/// the other.
pub(in crate::cpu) unsafe fn swap(
    a: *mut u8,
    b: *mut u8,
    steps: [isize; 2],
    len: usize,
    unit: usize,
) {
    // SAFETY: kernel contract 1 and 2.
    unsafe {
        match unit {
            1 => swap_units::<1>(a, b, steps, len),
            2 => swap_units::<2>(a, b, steps, len),
            4 => swap_units::<4>(a, b, steps, len),
            8 => swap_units::<8>(a, b, steps, len),
            16 => swap_units::<16>(a, b, steps, len),
            _ => {
                for step in 0..len as isize {
                    swap_runs(a.offset(steps[0] * step), b.offset(steps[1] * step), unit);
                }
            }
        }
    }
}

/// # Safety
/// As for [`swap`], with `unit == W`.
unsafe fn swap_units<const W: usize>(a: *mut u8, b: *mut u8, steps: [isize; 2], len: usize) {
    for step in 0..len as isize {
        // SAFETY: kernel contract 1 and 2. `MaybeUninit` carries padding bytes along unread.
        unsafe {
            let (a, b) = (a.offset(steps[0] * step), b.offset(steps[1] * step));
            let mut held = MaybeUninit::<[u8; W]>::uninit();
            copy_unit::<W>(a, held.as_mut_ptr().cast());
            copy_unit::<W>(b, a);
            copy_unit::<W>(held.as_ptr().cast(), b);
        }
    }
}
