//! Rust types that are tensor elements: which [`DType`] each one is.

use crate::dtype::DType;
use half::{bf16, f16};
use num_complex::Complex;

mod sealed {
    pub trait Sealed {}
}

/// A Rust type that corresponds to a [`DType`].
///
/// # Safety
/// The type is exactly as wide as its `DTYPE` and has no padding bytes.
pub unsafe trait Element: sealed::Sealed + Copy + Send + Sync + 'static {
    /// The element type.
    const DTYPE: DType;
}

/// An [`Element`] for which every bit pattern is a value, so that arbitrary bytes may be written to
/// it. All except `bool`.
///
/// # Safety
/// Every bit pattern of the type's width is a valid value.
pub unsafe trait AnyBits: Element {}

/// An integer type for lengths.
pub trait LengthElement: AnyBits {}

macro_rules! elements {
    ($($rust:ty => $dtype:ident),* $(,)?) => {$(
        impl sealed::Sealed for $rust {}
        // SAFETY: a primitive number (or `repr(C)` pair, or `repr(transparent)`
        // wrapper of one): no padding, and the table gives its width (tested below).
        unsafe impl Element for $rust {
            const DTYPE: DType = DType::$dtype;
        }
        // SAFETY: integers and floats have no invalid bit patterns.
        unsafe impl AnyBits for $rust {}
    )*};
}

elements! {
    u8 => U8, i8 => I8, u16 => U16, i16 => I16,
    u32 => U32, i32 => I32, u64 => U64, i64 => I64,
    f16 => F16, bf16 => BF16, f32 => F32, f64 => F64,
    Complex<f32> => C64, Complex<f64> => C128,
}

impl sealed::Sealed for bool {}
// SAFETY: `bool` is one byte without padding. It is not `AnyBits`.
unsafe impl Element for bool {
    const DTYPE: DType = DType::Bool;
}

macro_rules! lengths {
    ($($rust:ty),*) => {$(impl LengthElement for $rust {})*};
}

lengths!(u8, i8, u16, i16, u32, i32, u64, i64);

#[cfg(test)]
mod tests {
    use super::*;

    fn width_agrees<T: Element>() {
        assert_eq!(T::DTYPE.bits(), Some(size_of::<T>() * 8), "{}", T::DTYPE);
    }

    #[test]
    fn rust_widths_agree_with_the_table() {
        width_agrees::<bool>();
        width_agrees::<u8>();
        width_agrees::<i8>();
        width_agrees::<u16>();
        width_agrees::<i16>();
        width_agrees::<u32>();
        width_agrees::<i32>();
        width_agrees::<u64>();
        width_agrees::<i64>();
        width_agrees::<f16>();
        width_agrees::<bf16>();
        width_agrees::<f32>();
        width_agrees::<f64>();
        width_agrees::<Complex<f32>>();
        width_agrees::<Complex<f64>>();
    }
}
