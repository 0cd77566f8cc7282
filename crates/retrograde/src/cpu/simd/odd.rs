//! Units whose width does not divide a register.

use super::vector::{Vector, WIDEST};
use std::mem::MaybeUninit;

/// A register that can reverse units of 3, 6 or 12 bytes.
///
/// # Safety
/// See the [contract](super#contract) of this module.
pub(in crate::cpu) trait OddVector: Vector {
    /// Reverses the order of the last units of `W` bytes that fit, into the front of the
    /// register. The bytes behind them are unspecified.
    unsafe fn reversed_odd<const W: usize>(self) -> Self;
}

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
        let mut pair = [MaybeUninit::<u8>::uninit(); 2 * WIDEST];
        let mut result = [MaybeUninit::<u8>::uninit(); WIDEST];
        // SAFETY: contract 1, and 2 for `BYTES` numbers at `order`; the arrays hold two
        // registers and one.
        unsafe {
            first.store(pair.as_mut_ptr().cast());
            second.store(pair.as_mut_ptr().cast::<u8>().add(Self::BYTES));
            for (at, byte) in result[..Self::BYTES].iter_mut().enumerate() {
                *byte = pair[usize::from(order.add(at).read())];
            }
            Self::load(result.as_ptr().cast())
        }
    }
}
