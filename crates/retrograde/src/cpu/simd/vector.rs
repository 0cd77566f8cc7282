//! The primitives of a vector register: loads, stores, bits, interleaving, reversal, permutation.

use std::mem::MaybeUninit;

/// No register is wider than this many bytes.
pub(in crate::cpu) const WIDEST: usize = 64;

/// A register of `BYTES` bytes.
///
/// # Safety
/// See the [contract](super#contract) of this module.
pub(in crate::cpu) trait Vector: Copy {
    /// Width; a power of two from 16 to [`WIDEST`].
    const BYTES: usize;

    /// Loads from any address.
    unsafe fn load(src: *const u8) -> Self;

    /// Stores to any address.
    unsafe fn store(self, dst: *mut u8);

    /// Non-temporal store to an address that is a multiple of `BYTES`; an ordinary one where
    /// the instruction set has none.
    unsafe fn store_nontemporal(self, dst: *mut u8);

    /// Stores only bytes `from..to` of the register to `dst + from..dst + to`; `dst` itself
    /// need not be valid.
    #[inline(always)]
    unsafe fn store_range(self, dst: *mut u8, from: usize, to: usize) {
        let mut bytes = MaybeUninit::<[u8; WIDEST]>::uninit();
        let bytes = bytes.as_mut_ptr().cast::<u8>();
        // SAFETY: contract 1 and 2 (the caller names valid bytes); no register is wider than
        // the array, and `from <= to <= BYTES` by contract 3.
        unsafe {
            self.store(bytes);
            bytes.add(from).copy_to_nonoverlapping(dst.wrapping_add(from), to - from);
        }
    }

    /// A register full of one byte.
    unsafe fn splat(byte: u8) -> Self;

    /// The same 16 bytes as often as they fit.
    unsafe fn broadcast(sixteen: *const u8) -> Self;

    /// The bits that both have.
    unsafe fn and(self, other: Self) -> Self;

    /// The bits that either has.
    unsafe fn or(self, other: Self) -> Self;

    /// The bits that one of them has and the other has not.
    unsafe fn xor(self, other: Self) -> Self;

    /// The bits that `mask` has from `set`, the others from `clear`.
    unsafe fn select(mask: Self, set: Self, clear: Self) -> Self;

    /// Shifts words of 16 bits or more to the left by fewer than 16. What crosses the borders of
    /// bytes is for the caller to mask.
    unsafe fn shl(self, bits: usize) -> Self;

    /// The same to the right.
    unsafe fn shr(self, bits: usize) -> Self;

    /// Whether [`reversed_bits`](Self::reversed_bits) is one instruction.
    const REVERSES_BITS: bool = false;

    /// Reverses the order of bits within each byte.
    #[inline(always)]
    unsafe fn reversed_bits(self) -> Self {
        // SAFETY: passed on.
        unsafe { swapped(swapped(swapped(self, 4, 0xF0), 2, 0xCC), 1, 0xAA) }
    }

    /// Whether [`shuffle`](Self::shuffle) is an instruction.
    const SHUFFLES: bool = false;

    /// Looks bytes up in each 16: of them, those with the numbers that the same 16 of `order` have.
    /// A number from 128 on gives zero, and one from 16 to 127 any byte.
    #[inline(always)]
    unsafe fn shuffle(self, order: Self) -> Self {
        let mut pair = MaybeUninit::<[[u8; WIDEST]; 2]>::uninit();
        let own = pair.as_mut_ptr().cast::<u8>();
        // SAFETY: contract 1; the arrays hold a register each.
        unsafe {
            let numbers = own.add(WIDEST);
            self.store(own);
            order.store(numbers);
            for at in 0..Self::BYTES {
                let number = numbers.add(at).read();
                let place = at / 16 * 16 + usize::from(number % 16);
                numbers.add(at).write(if number < 128 { own.add(place).read() } else { 0 });
            }
            Self::load(numbers)
        }
    }

    /// Whether [`permute`](Self::permute) is a few instructions. Kernels use it only then: the
    /// default is right, but slow.
    const HAS_PERMUTE: bool = false;

    /// For each byte of the result, byte `order[i]` of the pair: `first` has the numbers below
    /// `BYTES`, `second` those from there to `2 * BYTES`.
    #[inline(always)]
    unsafe fn permute(first: Self, second: Self, order: Self) -> Self {
        // SAFETY: passed on.
        unsafe { permuted_bytes(first, second, order) }
    }

    /// Interleaves units of `W` bytes of two registers: the result's lower half and its upper
    /// half.
    unsafe fn interleave<const W: usize>(a: Self, b: Self) -> (Self, Self);

    /// How units of one width are reversed. Made once for many registers: the width is data, and the
    /// kernels are compiled once for all of them.
    type Order: Copy;

    /// Whether units of this width have an [order](Self::order): those whose width divides a register
    /// do, and others of up to 16 bytes.
    #[inline(always)]
    fn orders(unit: usize) -> bool {
        (1..=16).contains(&unit)
    }

    /// The order of units of this width, which [it has](Self::orders).
    unsafe fn order(unit: usize) -> Self::Order;

    /// Reverses the order of units. If their width does not divide a register, the last whole ones
    /// come first, and the bytes behind them are unspecified.
    unsafe fn reversed(self, order: Self::Order) -> Self;

    /// Loads from any address, with units in reverse order.
    #[inline(always)]
    unsafe fn load_reversed(src: *const u8, order: Self::Order) -> Self {
        // SAFETY: passed on.
        unsafe { Self::load(src).reversed(order) }
    }

    /// Software prefetch of a cache line; the address need not be valid.
    #[inline(always)]
    fn prefetch(address: *const u8) {
        prefetch(address);
    }
}

/// Software prefetch of a cache line, where Rust has an intrinsic for it; the address need not be
/// valid.
#[inline(always)]
pub(in crate::cpu) fn prefetch(address: *const u8) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: a prefetch has no effect that a program can see, whatever the address.
    unsafe {
        std::arch::x86_64::_mm_prefetch::<{ std::arch::x86_64::_MM_HINT_T0 }>(address.cast());
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = address;
}

/// Groups of `bits` bits change places with their neighbours; `upper` has the upper one of each two
/// in a byte.
///
/// # Safety
/// Contract 1.
#[inline(always)]
pub(super) unsafe fn swapped<V: Vector>(vector: V, bits: usize, upper: u8) -> V {
    // SAFETY: contract 1.
    unsafe { V::select(V::splat(upper), vector.shl(bits), vector.shr(bits)) }
}

/// [`Vector::permute`] byte by byte.
///
/// # Safety
/// As for [`Vector::permute`].
#[inline(always)]
pub(super) unsafe fn permuted_bytes<V: Vector>(first: V, second: V, order: V) -> V {
    let mut pair = [MaybeUninit::<u8>::uninit(); 2 * WIDEST];
    let mut result = [MaybeUninit::<u8>::uninit(); WIDEST];
    let mut numbers = [0u8; WIDEST];
    // SAFETY: contract 1; the arrays hold two registers, one and one.
    unsafe {
        first.store(pair.as_mut_ptr().cast());
        second.store(pair.as_mut_ptr().cast::<u8>().add(V::BYTES));
        order.store(numbers.as_mut_ptr());
        for (byte, number) in result[..V::BYTES].iter_mut().zip(numbers) {
            *byte = pair[usize::from(number)];
        }
        V::load(result.as_ptr().cast())
    }
}

/// What belongs at each position of a row: a vector of output bytes, `offset` bytes into it.
pub(in crate::cpu) trait Source<V: Vector>: Copy {
    /// # Safety
    /// `offset + V::BYTES` is at most the row's bytes, `offset` is a multiple of the unit, and
    /// the processor has `V`'s instructions.
    unsafe fn at(&self, offset: usize) -> V;
}

/// Copies one unit of at most 16 bytes; by two moves that overlap where its width is no power of two.
///
/// # Safety
/// `src` is valid for reads and `dst` for writes of `unit` bytes, and the two do not overlap.
#[inline(always)]
pub(in crate::cpu) unsafe fn copy_narrow(src: *const u8, dst: *mut u8, unit: usize) {
    // SAFETY: both moves stay inside the unit.
    unsafe {
        match unit {
            8.. => copy_ends::<8>(src, dst, unit),
            4.. => copy_ends::<4>(src, dst, unit),
            2.. => copy_ends::<2>(src, dst, unit),
            _ => copy_unit::<1>(src, dst),
        }
    }
}

/// Copies `bytes` bytes by two moves that overlap.
///
/// # Safety
/// As for [`copy_narrow`], with `N <= bytes <= 2 * N`.
#[inline(always)]
pub(in crate::cpu) unsafe fn copy_ends<const N: usize>(src: *const u8, dst: *mut u8, bytes: usize) {
    // SAFETY: both moves stay inside the bytes.
    unsafe {
        copy_unit::<N>(src, dst);
        copy_unit::<N>(src.add(bytes - N), dst.add(bytes - N));
    }
}

/// Copies one unit of a width known at compile time.
///
/// # Safety
/// `src` is valid for reads and `dst` for writes of `W` bytes.
#[inline(always)]
pub(in crate::cpu) unsafe fn copy_unit<const W: usize>(src: *const u8, dst: *mut u8) {
    // SAFETY: both pointers are valid for `W` bytes, as required. `MaybeUninit` carries padding
    // bytes along without reading them.
    unsafe {
        let unit = src.cast::<MaybeUninit<[u8; W]>>().read_unaligned();
        dst.cast::<MaybeUninit<[u8; W]>>().write_unaligned(unit);
    }
}
