//! Rust types that are tensor elements: which [`DType`] each one is, and which hold lengths.

use crate::dtype::DType;
use bytemuck::NoUninit;
use std::any::TypeId;

mod sealed {
    pub trait Sealed {}
}

/// An integer type for lengths and offsets.
pub trait LengthElement: sealed::Sealed + NoUninit {
    /// The element type.
    const DTYPE: DType;
}

macro_rules! lengths {
    ($($rust:ty => $dtype:ident),*) => {$(
        impl sealed::Sealed for $rust {}
        impl LengthElement for $rust {
            const DTYPE: DType = DType::$dtype;
        }
    )*};
}

lengths!(
    u8 => U8, i8 => I8, u16 => U16, i16 => I16,
    u32 => U32, i32 => I32, u64 => U64, i64 => I64
);

macro_rules! named {
    ($id:ident: $($rust:ty => $dtype:ident),* $(,)?) => {
        $(if $id == TypeId::of::<$rust>() {
            return DType::$dtype;
        })*
    };
}

impl DType {
    /// The element type of a Rust type: by its name in the table, or [`DType::Bytes`] for any other,
    /// such as a record. The names of `half` and `num-complex` are known with these features.
    ///
    /// ```
    /// use retrograde::DType;
    ///
    /// assert_eq!(DType::of::<f32>(), DType::F32);
    /// assert_eq!(DType::of::<[u8; 3]>(), DType::Bytes(3));
    /// ```
    #[inline]
    pub fn of<T: 'static>() -> DType {
        let id = TypeId::of::<T>();
        named!(id: f32 => F32, f64 => F64, bool => Bool);
        named!(id: u8 => U8, i8 => I8, u16 => U16, i16 => I16);
        named!(id: u32 => U32, i32 => I32, u64 => U64, i64 => I64);
        #[cfg(feature = "half")]
        named!(id: half::f16 => F16, half::bf16 => BF16);
        #[cfg(feature = "num-complex")]
        named!(id: num_complex::Complex<f32> => C64, num_complex::Complex<f64> => C128);
        DType::Bytes(size_of::<T>())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether a type has a name, and the width of its row.
    fn is_named<T: NoUninit>() -> bool {
        let dtype = DType::of::<T>();
        assert_eq!(dtype.bits(), Some(size_of::<T>() * 8), "{dtype}");
        dtype.names().is_some()
    }

    #[test]
    fn rust_types_have_the_widths_of_the_table() {
        assert!(is_named::<bool>());
        assert!(is_named::<u8>() && is_named::<i8>() && is_named::<u16>() && is_named::<i16>());
        assert!(is_named::<u32>() && is_named::<i32>() && is_named::<u64>() && is_named::<i64>());
        assert!(is_named::<f32>() && is_named::<f64>());
        #[cfg(feature = "half")]
        assert!(is_named::<half::f16>() && is_named::<half::bf16>());
        #[cfg(feature = "num-complex")]
        {
            use num_complex::Complex;
            assert!(is_named::<Complex<f32>>() && is_named::<Complex<f64>>());
        }
        assert!(!is_named::<char>() && !is_named::<[u16; 3]>() && !is_named::<()>());
    }

    #[test]
    fn lengths_are_of_the_type_that_their_elements_are() {
        fn agrees<L: LengthElement>() {
            assert_eq!(L::DTYPE, DType::of::<L>());
            assert!(L::DTYPE.is_integer());
        }
        agrees::<u8>();
        agrees::<i8>();
        agrees::<u16>();
        agrees::<i16>();
        agrees::<u32>();
        agrees::<i32>();
        agrees::<u64>();
        agrees::<i64>();
    }
}
