//! Registers of which only a part is reversed, and rows shorter than a register.

use super::lanes::{LaneMap, by_units};
use super::vector::{Vector, WIDEST, copy_narrow, copy_unit};
use std::mem::MaybeUninit;

/// A register that can be reversed in part.
///
/// The defaults go unit by unit; instruction sets with masks or permutations override them.
///
/// # Safety
/// See the [contract](super#contract) of this module.
pub(in crate::cpu) trait PartialVector: Vector {
    /// Whether [`partly_reversed`](Self::partly_reversed) takes a few instructions, without branches.
    const MIXES: bool = false;

    /// The width of an order's units.
    fn unit(order: Self::Order) -> usize;

    /// Reverses `bytes < BYTES` bytes, whole units, from those that end at `end`. Their width divides a
    /// register, unless that is the [widest](WIDEST).
    #[inline(always)]
    unsafe fn reverse_short(end: *const u8, dst: *mut u8, bytes: usize, order: Self::Order) {
        let unit = Self::unit(order);
        let mut done = 0;
        while done < bytes {
            // SAFETY: contract 2: the `bytes` bytes before `end` and from `dst` on are valid,
            // and `bytes` is a multiple of the unit.
            unsafe { copy_narrow(end.sub(done + unit), dst.add(done), unit) };
            done += unit;
        }
    }

    /// One lane of `units * W <= BYTES` bytes: the first `prefix_len` units reversed, the rest
    /// kept.
    #[inline(always)]
    unsafe fn lane_short<const W: usize>(
        src: *const u8,
        dst: *mut u8,
        prefix_len: usize,
        units: usize,
    ) {
        // SAFETY: contract 2 for `units` units on both sides, contract 3: `prefix_len <= units`.
        unsafe {
            Self::reverse_short(src.add(prefix_len * W), dst, prefix_len * W, Self::order(W));
            let mut at = prefix_len;
            while at < units {
                copy_unit::<W>(src.add(at * W), dst.add(at * W));
                at += 1;
            }
        }
    }

    /// A register whose first `mirrored` units are those at `reversed`, in reverse order, and
    /// whose other units are those at the same positions of `straight`.
    #[inline(always)]
    unsafe fn partly_reversed<const W: usize>(
        reversed: *const u8,
        straight: *const u8,
        mirrored: usize,
    ) -> Self {
        // SAFETY: contract 1 and 2 for a register at both addresses, contract 3:
        // `mirrored * W <= BYTES`. No register is wider than the array.
        unsafe {
            if mirrored == 0 {
                return Self::load(straight);
            }
            if mirrored * W == Self::BYTES {
                return Self::load_reversed(reversed, Self::order(W));
            }
            let mut mixed = MaybeUninit::<[u8; WIDEST]>::uninit();
            let mixed = mixed.as_mut_ptr().cast::<u8>();
            Self::load(straight).store(mixed);
            let mut unit = 0;
            while unit < mirrored {
                copy_unit::<W>(reversed.add((mirrored - 1 - unit) * W), mixed.add(unit * W));
                unit += 1;
            }
            Self::load(mixed)
        }
    }

    /// Whether [`packed_lanes`](Self::packed_lanes) is worth calling for units of this width.
    /// The default of that is right, but slow.
    #[inline(always)]
    fn packs(_unit: usize) -> bool {
        false
    }

    /// A register full of consecutive short lanes: of each, as many units as `prefix_lens` says are
    /// reversed. As many prefixes are loaded as the register has units.
    #[inline(always)]
    unsafe fn packed_lanes<const W: usize>(
        src: *const u8,
        prefix_lens: *const u8,
        map: &LaneMap,
    ) -> Self {
        // SAFETY: passed on.
        unsafe { by_units::<Self, W>(src, prefix_lens, map) }
    }

    /// Loads from any address, with units of `W` bytes in reverse order if `reversed`.
    #[inline(always)]
    unsafe fn load_either<const W: usize>(src: *const u8, reversed: bool) -> Self {
        // SAFETY: contract 1 and 2, passed on.
        unsafe {
            match reversed {
                true => Self::load_reversed(src, Self::order(W)),
                false => Self::load(src),
            }
        }
    }
}
