//! No special instructions: two 64-bit words stand for a vector.
//!
//! Elements may have padding, which is uninitialised, or be pointers, whose provenance an integer
//! would lose. So words and bytes are `MaybeUninit` here, which moves them unchanged; the
//! compiler makes the same loads, stores and byte swaps of it as of integers.

use super::{
    BitVector, BytePermute, OddVector, PackedLanes, PartialVector, Simd, SquareVector, Vector,
    copy_unit,
};
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
    unsafe fn reversed<const W: usize>(self) -> Self {
        if W == 16 {
            return self;
        }
        if W == 8 {
            return Pair(self.1, self.0);
        }
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
}

impl PartialVector for Pair {}

impl PackedLanes for Pair {}

impl BitVector for Pair {}

impl SquareVector for Pair {
    type Part = Self;
}

impl BytePermute for Pair {}

impl Simd for Pair {
    type Odd = Self;
    type Lanes = Self;
}

impl OddVector for Pair {
    #[inline(always)]
    unsafe fn reversed_odd<const W: usize>(self) -> Self {
        // Zeros behind the last unit keep all of it in registers; left alone, those bytes would
        // have to come from memory.
        let (mut from, mut to) = ([MaybeUninit::<u8>::zeroed(); 16], [MaybeUninit::zeroed(); 16]);
        // SAFETY: both arrays are as wide as a vector.
        unsafe {
            self.store(from.as_mut_ptr().cast());
            let mut done = 0;
            while done + W <= 16 {
                let unit = 16 - done - W;
                to[done..done + W].copy_from_slice(&from[unit..unit + W]);
                done += W;
            }
            Self::load(to.as_ptr().cast())
        }
    }
}
