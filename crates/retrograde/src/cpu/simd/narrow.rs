//! Registers of 16 bytes with a table look-up: rows and lanes shorter than one, written once for
//! the instruction sets that have them.

use super::lanes::{LaneMap, by_units};
use super::orders;
use super::words::{load_few, store_few};
use super::{PartialVector, Simd, Vector};

/// What such a register has besides the primitives of all.
///
/// # Safety
/// See the [contract](super#contract) of this module.
pub(in crate::cpu) trait Narrow: Vector<Order = NarrowOrder<Self>> {
    /// Loads 8 bytes; those of the upper half are zero.
    unsafe fn load_half(src: *const u8) -> Self;

    /// Stores the lower half.
    unsafe fn store_half(self, dst: *mut u8);

    /// Stores the upper half.
    unsafe fn store_upper_half(self, dst: *mut u8);

    /// A register with this in its lower half, in little-endian order.
    unsafe fn from_word(word: u64) -> Self;

    /// The lower half, in little-endian order.
    unsafe fn word(self) -> u64;

    /// Adds bytes, which wrap.
    unsafe fn add(self, other: Self) -> Self;

    /// All bits of the bytes that are greater than those of `other`, as signed numbers.
    unsafe fn greater(self, other: Self) -> Self;

    /// [`shuffle`](Vector::shuffle), with bytes of `kept` instead of zero.
    #[inline(always)]
    unsafe fn shuffle_or(self, order: Self, kept: Self) -> Self {
        // SAFETY: contract 1 and 3.
        unsafe { self.shuffle(order).or(kept.and(Self::splat(0).greater(order))) }
    }
}

/// How units of one width are reversed.
#[derive(Clone, Copy)]
pub(in crate::cpu) struct NarrowOrder<V> {
    pub(super) unit: usize,
    /// As [`Vector::shuffle`] has it.
    pub(super) bytes: V,
}

static REVERSED: [[u8; 16]; 17] = orders::reversed();

impl<V: Vector> NarrowOrder<V> {
    /// For units of up to 16 bytes.
    ///
    /// # Safety
    /// Contract 1.
    #[inline(always)]
    pub(super) unsafe fn new(unit: usize) -> Self {
        // SAFETY: contract 1; the array is as wide as a register.
        NarrowOrder { unit, bytes: unsafe { V::load(REVERSED[unit].as_ptr()) } }
    }
}

/// Two halves of a register.
///
/// # Safety
/// Contract 1, and 2 for 8 bytes at both addresses.
#[inline(always)]
unsafe fn halves<V: Narrow>(low: *const u8, high: *const u8) -> V {
    // SAFETY: contract 1 and 2.
    unsafe { V::interleave::<8>(V::load_half(low), V::load_half(high)).0 }
}

impl<V: Narrow> PartialVector for V {
    const MIXES: bool = true;

    #[inline(always)]
    fn unit(order: NarrowOrder<V>) -> usize {
        order.unit
    }

    #[inline(always)]
    unsafe fn reverse_short(end: *const u8, dst: *mut u8, bytes: usize, order: NarrowOrder<V>) {
        // SAFETY: contract 1 and 2: everything is loaded from the `bytes` bytes before `end` and
        // stored to those from `dst` on; where there are 8 or more, by two halves that overlap.
        unsafe {
            // The order of half a register: numbers less 8.
            let order = order.bytes.add(V::splat(248));
            match bytes {
                8.. => {
                    let last = V::load_half(end.sub(8)).shuffle(order);
                    let first = V::load_half(end.sub(bytes)).shuffle(order);
                    last.store_half(dst);
                    first.store_half(dst.add(bytes - 8));
                }
                1.. => {
                    let few = V::from_word(load_few(end.sub(bytes), bytes)).shuffle(order).word();
                    // The bytes were the lowest and are now the highest.
                    store_few(few >> (64 - 8 * bytes), dst, bytes);
                }
                _ => {}
            }
        }
    }

    #[inline(always)]
    unsafe fn lane_short<const W: usize>(
        src: *const u8,
        dst: *mut u8,
        prefix_len: usize,
        units: usize,
    ) {
        let bytes = units * W;
        // SAFETY: contract 1; contract 2 for the `bytes` bytes from `src` and from `dst` on, and
        // nothing else is loaded or stored; contract 3: `prefix_len <= units <= 16 / W`, for which
        // there is an order, and the bytes of an order from `bytes - 8` on are 8 or more.
        unsafe {
            let order =
                const { &orders::prefixes::<W, 16, 17>() }.get_unchecked(prefix_len).as_ptr();
            match bytes {
                16.. => {
                    let row = V::load(src);
                    row.shuffle_or(V::load(order), row).store(dst);
                }
                8.. => {
                    // The first eight bytes and the last eight, which overlap: byte `i` of the
                    // lane is also byte `i + 16 - bytes` of the register.
                    let row = halves::<V>(src, src.add(bytes - 8));
                    let order = halves::<V>(order, order.add(bytes - 8));
                    let second = order.greater(V::splat(7));
                    let further = second.and(V::splat(16 - bytes as u8));
                    let row = row.shuffle_or(order.add(further), row);
                    row.store_half(dst);
                    row.store_upper_half(dst.add(bytes - 8));
                }
                1.. => {
                    let few = V::from_word(load_few(src, bytes));
                    let few = few.shuffle_or(V::load_half(order), few);
                    store_few(few.word(), dst, bytes);
                }
                _ => {}
            }
        }
    }

    #[inline(always)]
    unsafe fn partly_reversed<const W: usize>(
        reversed: *const u8,
        straight: *const u8,
        mirrored: usize,
    ) -> Self {
        // SAFETY: contract 1, contract 2 for a register at both addresses, contract 3: there is an
        // order for `mirrored <= 16 / W`.
        unsafe {
            let order = const { &orders::prefixes::<W, 16, 17>() }.get_unchecked(mirrored);
            V::load(reversed).shuffle_or(V::load(order.as_ptr()), V::load(straight))
        }
    }

    #[inline(always)]
    unsafe fn load_either<const W: usize>(src: *const u8, reversed: bool) -> Self {
        let order = &const { orders::either::<W>() }[usize::from(reversed)];
        // SAFETY: contract 1 and 2.
        unsafe { V::load(src).shuffle(V::load(order.as_ptr())) }
    }

    #[inline(always)]
    fn packs(unit: usize) -> bool {
        // Two lanes of wider units do not fit, unless each is a single unit.
        matches!(unit, 1 | 2 | 4)
    }

    #[inline(always)]
    unsafe fn packed_lanes<const W: usize>(
        src: *const u8,
        prefix_lens: *const u8,
        map: &LaneMap,
    ) -> Self {
        // SAFETY: contract 1, and 2 for a register at `src` and a prefix per unit; the arrays of
        // the map and of `places` are as wide as a register or wider. Numbers that are not below 16
        // are those of units that keep their place.
        unsafe {
            let prefix_lens = match W {
                1 => V::load(prefix_lens),
                2 => V::load_half(prefix_lens),
                4 => V::from_word(load_few(prefix_lens, 4)),
                _ => return by_units::<V, W>(src, prefix_lens, map),
            };
            let [first, place] = const { &orders::places::<W>() };
            let (first, place) = (V::load(first.as_ptr()), V::load(place.as_ptr()));
            // The map counts units, in integers as wide as they are: to each byte of a unit, the
            // lowest byte of its integer.
            let lane = V::load(map.lane.as_ptr()).shuffle(first);
            let within = V::load(map.within.as_ptr()).shuffle(first);
            let base = V::load(map.base.as_ptr()).shuffle(first);
            let prefix_len = prefix_lens.shuffle(lane);
            // Units of no lane may become anything.
            let inside = prefix_len.greater(within);
            let unit = base.add(prefix_len);
            // Numbers of units are small, so no bit crosses a byte.
            let byte = match W {
                1 => unit,
                2 => place.add(unit.shl(1)),
                _ => place.add(unit.shl(2)),
            };
            let row = V::load(src);
            V::select(inside, row.shuffle(byte), row)
        }
    }
}

impl<V: Narrow> Simd for V {
    type Sixteen = V;
    type Half = V;
    type Lanes = V;
}
