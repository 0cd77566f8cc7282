//! Several short lanes in one register, each reversed up to its own length.

use super::vector::{Vector, WIDEST, copy_unit};
use std::mem::MaybeUninit;

/// Where lanes of equal length are in a register: integers as wide as a unit, one per unit.
#[repr(align(64))]
pub(in crate::cpu) struct LaneMap {
    /// Which lane the unit belongs to.
    pub(in crate::cpu) lane: [u8; WIDEST],
    /// Its index in the lane; all ones, which is more than any length, if it belongs to none.
    pub(in crate::cpu) within: [u8; WIDEST],
    /// What to add to the lane's length to get the index that the unit comes from.
    pub(in crate::cpu) base: [u8; WIDEST],
}

impl LaneMap {
    /// Lanes of `len` units of `unit` bytes in a register of `bytes`. Inlined where the compiler knows the
    /// unit: calls of few lanes make one each.
    #[inline(always)]
    pub(in crate::cpu) fn new(bytes: usize, unit: usize, len: usize) -> Self {
        let mut map = LaneMap { lane: [0; WIDEST], within: [0xFF; WIDEST], base: [0; WIDEST] };
        // As wide as the widest unit, on 32-bit machines too.
        let [mut lane, mut within] = [0i64; 2];
        for own in 0..bytes / unit / len * len {
            let base = (own as i64 - 1 - 2 * within).to_le_bytes();
            let place = own * unit..(own + 1) * unit;
            map.lane[place.clone()].copy_from_slice(&lane.to_le_bytes()[..unit]);
            map.within[place.clone()].copy_from_slice(&within.to_le_bytes()[..unit]);
            map.base[place].copy_from_slice(&base[..unit]);
            within += 1;
            if within == len as i64 {
                (lane, within) = (lane + 1, 0);
            }
        }
        map
    }

    /// The unit that unit `own` comes from, if `prefix_len_of` gives the length of each lane.
    fn source(&self, own: usize, unit: usize, prefix_len_of: impl Fn(usize) -> usize) -> usize {
        // The lowest byte is enough: no register has more than 64 units. Units of no lane are
        // all ones.
        let (lane, within) = (self.lane[own * unit], self.within[own * unit]);
        let prefix_len = prefix_len_of(usize::from(lane));
        if usize::from(within) >= prefix_len {
            return own;
        }
        usize::from(self.base[own * unit].wrapping_add(prefix_len as u8))
    }
}

/// [`PartialVector::packed_lanes`](super::PartialVector::packed_lanes) unit by unit, for widths
/// that have no permutation.
///
/// # Safety
/// As for that.
#[inline(always)]
pub(super) unsafe fn by_units<V: Vector, const W: usize>(
    src: *const u8,
    prefix_lens: *const u8,
    map: &LaneMap,
) -> V {
    let mut mixed = MaybeUninit::<[u8; WIDEST]>::uninit();
    let mixed = mixed.as_mut_ptr().cast::<u8>();
    // SAFETY: contract 1, and 2 for a register at `src` and a prefix per unit; contract 3: no
    // prefix is longer than its lane, so units come from inside the register.
    unsafe {
        for own in 0..V::BYTES / W {
            let from = map.source(own, W, |lane| usize::from(prefix_lens.add(lane).read()));
            copy_unit::<W>(src.add(from * W), mixed.add(own * W));
        }
        V::load(mixed)
    }
}
