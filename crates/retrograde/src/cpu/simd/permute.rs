//! Byte permutations of two registers, for units whose width does not divide one.

use super::vector::{Vector, WIDEST};
use std::mem::MaybeUninit;

/// A byte permutation of two registers.
///
/// # Safety
/// See the [contract](super#contract) of this module.
pub(in crate::cpu) trait BytePermute: Vector {
    /// Whether [`permute`](Self::permute) is an instruction (or two). Kernels use it only then:
    /// the default is right, but slow.
    const HAS_PERMUTE: bool = false;

    /// For each byte of the result, byte `order[i]` of the pair: `first` has the numbers below
    /// `BYTES`, `second` those from there to `2 * BYTES`. `order` holds `BYTES` numbers.
    #[inline(always)]
    unsafe fn permute(first: Self, second: Self, order: *const u8) -> Self {
        // SAFETY: passed on.
        unsafe { by_bytes(first, second, order) }
    }
}

/// [`BytePermute::permute`] byte by byte.
///
/// # Safety
/// As for [`BytePermute::permute`].
#[inline(always)]
pub(super) unsafe fn by_bytes<V: Vector>(first: V, second: V, order: *const u8) -> V {
    let mut pair = [MaybeUninit::<u8>::uninit(); 2 * WIDEST];
    let mut result = [MaybeUninit::<u8>::uninit(); WIDEST];
    // SAFETY: contract 1, and 2 for `BYTES` numbers at `order`; the arrays hold two
    // registers and one.
    unsafe {
        first.store(pair.as_mut_ptr().cast());
        second.store(pair.as_mut_ptr().cast::<u8>().add(V::BYTES));
        for (at, byte) in result[..V::BYTES].iter_mut().enumerate() {
            *byte = pair[usize::from(order.add(at).read())];
        }
        V::load(result.as_ptr().cast())
    }
}
