//! Element types by number. Strings are not among them: their elements have no fixed width.

use crate::status::Failure;
use retrograde::DType;

/// An element type. Moving elements needs only its width. There are no tensors of strings.
pub type ElementType = u32;

/// Boolean, one byte.
pub const RETROGRADE_BOOL: ElementType = 1;
/// Unsigned 8-bit integer.
pub const RETROGRADE_U8: ElementType = 2;
/// Signed 8-bit integer.
pub const RETROGRADE_I8: ElementType = 3;
/// Unsigned 16-bit integer.
pub const RETROGRADE_U16: ElementType = 4;
/// Signed 16-bit integer.
pub const RETROGRADE_I16: ElementType = 5;
/// Unsigned 32-bit integer.
pub const RETROGRADE_U32: ElementType = 6;
/// Signed 32-bit integer.
pub const RETROGRADE_I32: ElementType = 7;
/// Unsigned 64-bit integer.
pub const RETROGRADE_U64: ElementType = 8;
/// Signed 64-bit integer.
pub const RETROGRADE_I64: ElementType = 9;
/// IEEE half-precision float.
pub const RETROGRADE_F16: ElementType = 10;
/// Brain float, 16 bits.
pub const RETROGRADE_BF16: ElementType = 11;
/// IEEE single-precision float.
pub const RETROGRADE_F32: ElementType = 12;
/// IEEE double-precision float.
pub const RETROGRADE_F64: ElementType = 13;
/// Complex number of two F32.
pub const RETROGRADE_C64: ElementType = 14;
/// Complex number of two F64.
pub const RETROGRADE_C128: ElementType = 15;
/// 8-bit float, 4 exponent bits, no infinities.
pub const RETROGRADE_F8E4M3FN: ElementType = 16;
/// As F8E4M3FN, with one zero and one NaN.
pub const RETROGRADE_F8E4M3FNUZ: ElementType = 17;
/// 8-bit float, 5 exponent bits.
pub const RETROGRADE_F8E5M2: ElementType = 18;
/// As F8E5M2, with one zero and one NaN.
pub const RETROGRADE_F8E5M2FNUZ: ElementType = 19;
/// 8-bit power of two (a block's scale).
pub const RETROGRADE_F8E8M0: ElementType = 20;
/// 4-bit float, two to a byte, the first in the low bits.
pub const RETROGRADE_F4E2M1: ElementType = 21;
/// 4-bit normal float, two to a byte.
pub const RETROGRADE_NF4: ElementType = 22;
/// Unsigned 4-bit integer, two to a byte.
pub const RETROGRADE_U4: ElementType = 23;
/// Signed 4-bit integer, two to a byte.
pub const RETROGRADE_I4: ElementType = 24;
/// Unsigned 2-bit integer, four to a byte.
pub const RETROGRADE_U2: ElementType = 25;
/// Signed 2-bit integer, four to a byte.
pub const RETROGRADE_I2: ElementType = 26;
/// One bit, eight to a byte, the most significant bit first.
pub const RETROGRADE_U1: ElementType = 27;
/// Any other element, of `element_bytes` bytes: a record, a pixel.
pub const RETROGRADE_BYTES: ElementType = 255;

/// The engine's type of each number.
const TYPES: &[(ElementType, DType)] = &[
    (RETROGRADE_BOOL, DType::Bool),
    (RETROGRADE_U8, DType::U8),
    (RETROGRADE_I8, DType::I8),
    (RETROGRADE_U16, DType::U16),
    (RETROGRADE_I16, DType::I16),
    (RETROGRADE_U32, DType::U32),
    (RETROGRADE_I32, DType::I32),
    (RETROGRADE_U64, DType::U64),
    (RETROGRADE_I64, DType::I64),
    (RETROGRADE_F16, DType::F16),
    (RETROGRADE_BF16, DType::BF16),
    (RETROGRADE_F32, DType::F32),
    (RETROGRADE_F64, DType::F64),
    (RETROGRADE_C64, DType::C64),
    (RETROGRADE_C128, DType::C128),
    (RETROGRADE_F8E4M3FN, DType::F8E4M3FN),
    (RETROGRADE_F8E4M3FNUZ, DType::F8E4M3FNUZ),
    (RETROGRADE_F8E5M2, DType::F8E5M2),
    (RETROGRADE_F8E5M2FNUZ, DType::F8E5M2FNUZ),
    (RETROGRADE_F8E8M0, DType::F8E8M0),
    (RETROGRADE_F4E2M1, DType::F4E2M1),
    (RETROGRADE_NF4, DType::NF4),
    (RETROGRADE_U4, DType::U4),
    (RETROGRADE_I4, DType::I4),
    (RETROGRADE_U2, DType::U2),
    (RETROGRADE_I2, DType::I2),
    (RETROGRADE_U1, DType::U1),
];

/// The type of a number; `bytes` is the width of `RETROGRADE_BYTES`, and may be 0 for the others.
pub(crate) fn element_type(value: ElementType, bytes: usize) -> Result<DType, Failure> {
    if value == RETROGRADE_BYTES {
        return match bytes {
            0 => Err(Failure::argument("element_bytes is 0, RETROGRADE_BYTES needs at least 1")),
            _ => Ok(DType::Bytes(bytes)),
        };
    }
    let Some(&(_, dtype)) = TYPES.iter().find(|&&(number, _)| number == value) else {
        return Err(Failure::argument(format!("dtype is {value}, which is no element type")));
    };
    if bytes != 0 && dtype.bits() != bytes.checked_mul(8) {
        let text = format!("element_bytes is {bytes}, expected 0 or the width of {dtype}");
        return Err(Failure::argument(text));
    }
    Ok(dtype)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_type_but_strings_has_one_number() {
        let known: Vec<DType> = TYPES.iter().map(|&(_, dtype)| dtype).collect();
        let all: Vec<DType> =
            DType::ALL.iter().copied().filter(|&dtype| dtype != DType::String).collect();
        assert_eq!(known, all);
        for (place, &(number, dtype)) in TYPES.iter().enumerate() {
            assert_eq!(number as usize, place + 1);
            assert_eq!(element_type(number, 0), Ok(dtype));
        }
    }

    #[test]
    fn widths_must_agree() {
        assert_eq!(element_type(RETROGRADE_BYTES, 12), Ok(DType::Bytes(12)));
        assert_eq!(element_type(RETROGRADE_F32, 4), Ok(DType::F32));
        for (number, bytes) in [(RETROGRADE_BYTES, 0), (RETROGRADE_F32, 8), (0, 0), (28, 0)] {
            assert!(element_type(number, bytes).is_err(), "{number} {bytes}");
        }
        assert!(element_type(RETROGRADE_U4, 1).is_err());
    }
}
