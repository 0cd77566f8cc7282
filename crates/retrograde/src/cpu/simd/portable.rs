//! No special instructions: two 64-bit words stand for a vector.
//!
//! Elements may have padding, which is uninitialised, or be pointers, whose provenance an integer
//! would lose. So words and bytes are `MaybeUninit` here, which moves them unchanged; the
//! compiler makes the same loads, stores and byte swaps of it as of integers.

use super::{PartialVector, Simd, Vector, copy_narrow, copy_unit};
use std::mem::MaybeUninit;

/// A word of an element, or of several.
type Word = MaybeUninit<u64>;

/// Sixteen bytes; `0` holds the lower addresses.
#[derive(Clone, Copy)]
pub(in crate::cpu) struct Pair(Word, Word);

/// The bytes of a [`Pair`].
type Bytes = MaybeUninit<[u8; 16]>;

impl Vector for Pair {
    const BYTES: usize = 16;
    /// The width of a unit.
    type Order = usize;

    #[inline(always)]
    unsafe fn load(src: *const u8) -> Self {
        let words = src.cast::<Word>();
        // SAFETY: contract 1 and 2.
        unsafe { Pair(words.read_unaligned(), words.add(1).read_unaligned()) }
    }

    #[inline(always)]
    unsafe fn store(self, dst: *mut u8) {
        let words = dst.cast::<Word>();
        // SAFETY: contract 1 and 2.
        unsafe {
            words.write_unaligned(self.0);
            words.add(1).write_unaligned(self.1);
        }
    }

    #[inline(always)]
    unsafe fn store_nontemporal(self, dst: *mut u8) {
        // SAFETY: contract 1 and 2. There is no non-temporal store.
        unsafe { self.store(dst) };
    }

    #[inline(always)]
    unsafe fn splat(byte: u8) -> Self {
        let word = Word::new(0x0101_0101_0101_0101 * u64::from(byte));
        Pair(word, word)
    }

    #[inline(always)]
    unsafe fn broadcast(sixteen: *const u8) -> Self {
        // SAFETY: contract 1 and 2.
        unsafe { Self::load(sixteen) }
    }

    #[inline(always)]
    unsafe fn and(self, other: Self) -> Self {
        // SAFETY: packed elements are initialised.
        unsafe { self.by_words(other, |a, b| a & b) }
    }

    #[inline(always)]
    unsafe fn or(self, other: Self) -> Self {
        // SAFETY: packed elements are initialised.
        unsafe { self.by_words(other, |a, b| a | b) }
    }

    #[inline(always)]
    unsafe fn xor(self, other: Self) -> Self {
        // SAFETY: packed elements are initialised.
        unsafe { self.by_words(other, |a, b| a ^ b) }
    }

    #[inline(always)]
    unsafe fn select(mask: Self, set: Self, clear: Self) -> Self {
        // SAFETY: packed elements and masks are initialised.
        unsafe { mask.and(set).or(mask.by_words(clear, |mask, clear| !mask & clear)) }
    }

    #[inline(always)]
    unsafe fn shl(self, bits: usize) -> Self {
        // SAFETY: packed elements are initialised.
        unsafe { self.by_words(self, |word, _| word << bits) }
    }

    #[inline(always)]
    unsafe fn shr(self, bits: usize) -> Self {
        // SAFETY: packed elements are initialised.
        unsafe { self.by_words(self, |word, _| word >> bits) }
    }

    /// None: processors that run this are slower with it.
    #[inline(always)]
    fn prefetch(_address: *const u8) {}

    #[inline(always)]
    unsafe fn interleave<const W: usize>(a: Self, b: Self) -> (Self, Self) {
        let (mut one, mut two) = (Bytes::uninit(), Bytes::uninit());
        let mut out = [Bytes::uninit(); 2];
        let (one, two) = (one.as_mut_ptr().cast::<u8>(), two.as_mut_ptr().cast::<u8>());
        let out = out.as_mut_ptr().cast::<u8>();
        // SAFETY: the buffers are one and two vectors wide, and `W` divides that.
        unsafe {
            a.store(one);
            b.store(two);
            for unit in 0..16 / W {
                copy_unit::<W>(one.add(unit * W), out.add(2 * unit * W));
                copy_unit::<W>(two.add(unit * W), out.add((2 * unit + 1) * W));
            }
            (Self::load(out), Self::load(out.add(16)))
        }
    }

    #[inline(always)]
    unsafe fn order(unit: usize) -> usize {
        unit
    }

    #[inline(always)]
    unsafe fn reversed(self, unit: usize) -> Self {
        match unit {
            1 => self.reversed_units::<1>(),
            2 => self.reversed_units::<2>(),
            4 => self.reversed_units::<4>(),
            8 => Pair(self.1, self.0),
            16 => self,
            _ => self.reversed_odd(unit),
        }
    }
}

impl Pair {
    /// # Safety
    /// Both are initialised.
    #[inline(always)]
    unsafe fn by_words(self, other: Self, of: impl Fn(u64, u64) -> u64) -> Self {
        // SAFETY: as required.
        let of = |a: Word, b: Word| Word::new(unsafe { of(a.assume_init(), b.assume_init()) });
        Pair(of(self.0, other.0), of(self.1, other.1))
    }

    #[inline(always)]
    fn reversed_units<const W: usize>(self) -> Self {
        let (mut from, mut to) = (Bytes::uninit(), Bytes::uninit());
        let (from, to) = (from.as_mut_ptr().cast::<u8>(), to.as_mut_ptr().cast::<u8>());
        // SAFETY: both buffers are as wide as a vector, and `W` divides that.
        unsafe {
            self.store(from);
            for unit in 0..16 / W {
                copy_unit::<W>(from.add(16 - (unit + 1) * W), to.add(unit * W));
            }
            Self::load(to)
        }
    }

    /// The last whole units first, then zeros.
    #[inline(never)]
    fn reversed_odd(self, unit: usize) -> Self {
        let (mut from, mut to) = (Bytes::uninit(), Bytes::zeroed());
        let (from, to) = (from.as_mut_ptr().cast::<u8>(), to.as_mut_ptr().cast::<u8>());
        let mut done = 0;
        // SAFETY: both buffers are as wide as a vector; units are inside them.
        unsafe {
            self.store(from);
            while done + unit <= 16 {
                copy_narrow(from.add(16 - done - unit), to.add(done), unit);
                done += unit;
            }
            Self::load(to)
        }
    }
}

impl PartialVector for Pair {
    #[inline(always)]
    fn unit(unit: usize) -> usize {
        unit
    }
}

impl Simd for Pair {
    type Sixteen = Self;
    type Half = Self;
    type Lanes = Self;
}
