//! Numbers in values: the axes, indices, shapes and lengths that operators read, and conversion
//! between integer types.

use super::operand::OperandError;
use crate::packed;
use crate::value::{Elements, Value};
use retrograde::{DType, Grain, Layout};

/// The most entries of a list that is an argument of an operator.
pub(super) const MOST: usize = 1 << 20;
const INTEGERS: &str = "an integer type";

/// Whether the elements are integers, packed ones included.
pub(super) fn is_integer(dtype: DType) -> bool {
    use DType::*;
    dtype.is_integer() || matches!(dtype, I4 | U4 | I2 | U2 | U1)
}

fn is_signed(dtype: DType) -> bool {
    use DType::*;
    matches!(dtype, I8 | I16 | I32 | I64 | I4 | I2)
}

/// One integer or boolean; zero beyond the end.
fn read(dtype: DType, bytes: &[u8], at: usize) -> i128 {
    let bits = dtype.bits().unwrap_or(8);
    let number = match dtype.grain() {
        Some(Grain::Packed { .. }) => packed::element(bytes, dtype, at).unwrap_or(0).into(),
        _ => {
            let width = bits / 8;
            let bytes = bytes.get(at * width..(at + 1) * width).unwrap_or(&[]);
            bytes.iter().rev().fold(0, |number, byte| number << 8 | i128::from(*byte))
        }
    };
    let negative = is_signed(dtype) && number >> (bits - 1) & 1 == 1;
    if negative { number - (1 << bits) } else { number }
}

/// All integers of a dense value of any shape, in order.
pub(super) fn indices(argument: &'static str, value: &Value) -> Result<Vec<i128>, OperandError> {
    let dtype = value.dtype();
    check_integers(argument, Some(dtype))?;
    let Elements::Bytes(bytes) = value.elements() else {
        return Err(OperandError::Type { argument, dtype, allowed: INTEGERS });
    };
    check_entries(argument, value.shape())?;
    let count = Layout::dense(dtype, value.shape())?.len();
    Ok((0..count).map(|at| read(dtype, bytes, at)).collect())
}

/// The entries of a list: 1-D, or one number.
pub(super) fn list(argument: &'static str, value: &Value) -> Result<Vec<i128>, OperandError> {
    check_list(argument, Some(value.dtype()), Some(value.shape().len()))?;
    indices(argument, value)
}

/// Refuses more integers than arguments of an operator have.
pub(super) fn check_entries(argument: &'static str, shape: &[usize]) -> Result<(), OperandError> {
    let count = shape.iter().try_fold(1usize, |all, &size| all.checked_mul(size));
    let (count, limit) = (count.unwrap_or(usize::MAX), MOST);
    if count > limit { Err(OperandError::TooMany { argument, count, limit }) } else { Ok(()) }
}

/// Checks that a type, if it is known, is an integer one.
pub(super) fn check_integers(
    argument: &'static str,
    dtype: Option<DType>,
) -> Result<(), OperandError> {
    match dtype.filter(|&dtype| !is_integer(dtype)) {
        Some(dtype) => Err(OperandError::Type { argument, dtype, allowed: INTEGERS }),
        None => Ok(()),
    }
}

/// Checks the type and the rank of a list, as far as they are known.
pub(super) fn check_list(
    argument: &'static str,
    dtype: Option<DType>,
    rank: Option<usize>,
) -> Result<(), OperandError> {
    check_integers(argument, dtype)?;
    match rank {
        Some(rank) if rank > 1 => Err(OperandError::NoList { argument, rank }),
        _ => Ok(()),
    }
}

/// A list of integers as a value.
pub(super) fn from_list(numbers: impl Iterator<Item = i64>, dtype: DType) -> Value {
    let width = dtype.bits().unwrap_or(64) / 8;
    let numbers: Vec<i64> = numbers.collect();
    let bytes = numbers.iter().flat_map(|number| number.to_le_bytes().into_iter().take(width));
    let bytes: Vec<u8> = bytes.collect();
    Value::new(dtype, &[numbers.len()], bytes).expect("there are as many bytes as the list needs")
}

/// Integers as a value of this shape; higher bits are dropped.
pub(super) fn from_integers(
    numbers: impl Iterator<Item = i128>,
    dtype: DType,
    shape: &[usize],
) -> Result<Value, OperandError> {
    let width = dtype.bits().unwrap_or(8) / 8;
    let bytes = numbers.flat_map(|number| number.to_le_bytes().into_iter().take(width));
    Ok(Value::new(dtype, shape, bytes.collect::<Vec<u8>>())?)
}

/// Checks that integers or booleans can be converted to this type.
pub(super) fn check_cast(from: DType, to: DType) -> Result<(), OperandError> {
    let allowed = "integers or booleans (other numbers are never converted)";
    let whole = |dtype: DType| is_integer(dtype) || dtype == DType::Bool;
    for (argument, dtype) in [("the input", from), ("the result", to)] {
        if from != to && !whole(dtype) {
            return Err(OperandError::Arithmetic { argument, dtype, allowed });
        }
    }
    Ok(())
}

/// Integers converted to another type; higher bits are dropped. A boolean is whether a number is
/// not zero.
pub(super) fn cast(value: &Value, to: DType) -> Result<Value, OperandError> {
    let from = value.dtype();
    check_cast(from, to)?;
    let Elements::Bytes(bytes) = value.elements() else { return Ok(value.clone()) };
    if from == to {
        return Ok(value.clone());
    }
    let layout = Layout::dense(to, value.shape())?;
    // Packed elements get a byte each at first.
    let width = (to.bits().unwrap_or(8) / 8).max(1);
    let len = layout.len().saturating_mul(width);
    let mut output = Vec::new();
    output.try_reserve_exact(len).map_err(|_| OperandError::NoRoom { len })?;
    for at in 0..layout.len() {
        let number = read(from, bytes, at);
        let number = if to == DType::Bool { i128::from(number != 0) } else { number };
        output.extend_from_slice(&number.to_le_bytes()[..width]);
    }
    match to.is_packed() {
        true => Ok(Value::of_bytes(to, value.shape(), &output)?),
        false => Ok(Value::new(to, value.shape(), output)?),
    }
}

/// Lengths as integers: floats that are whole numbers become `i64`, packed integers too.
pub(super) fn whole(argument: &'static str, value: &Value) -> Result<Value, OperandError> {
    let dtype = value.dtype();
    if dtype.is_packed() && is_integer(dtype) {
        return cast(value, DType::I64);
    }
    let (Elements::Bytes(bytes), true) = (value.elements(), is_float(dtype)) else {
        return Ok(value.clone());
    };
    let width = dtype.bits().unwrap_or(64) / 8;
    let len = value.shape().iter().product::<usize>().saturating_mul(8);
    let mut output = Vec::new();
    output.try_reserve_exact(len).map_err(|_| OperandError::NoRoom { len })?;
    for (position, bytes) in bytes.chunks_exact(width).enumerate() {
        let number = float(dtype, bytes);
        // A length beyond this is out of range of any axis; the engine reports it.
        if number.fract() != 0.0 || !number.is_finite() {
            return Err(OperandError::Fraction { argument, position, value: number });
        }
        output.extend_from_slice(&(number as i64).to_le_bytes());
    }
    Ok(Value::new(DType::I64, value.shape(), output)?)
}

/// Whether lengths may have this type although the engine reads only integers.
pub(super) fn is_float(dtype: DType) -> bool {
    matches!(dtype, DType::F16 | DType::BF16 | DType::F32 | DType::F64)
}

fn float(dtype: DType, bytes: &[u8]) -> f64 {
    let bits = bytes.iter().rev().fold(0u64, |number, byte| number << 8 | u64::from(*byte));
    match dtype {
        DType::F64 => f64::from_bits(bits),
        DType::F32 => f32::from_bits(bits as u32).into(),
        DType::BF16 => f32::from_bits((bits as u32) << 16).into(),
        _ => half::f16::from_bits(bits as u16).to_f64(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_of_every_width_are_read() {
        let numbers = |dtype, count, bytes: &[u8]| {
            list("n", &Value::new(dtype, &[count], bytes.to_vec()).unwrap()).unwrap()
        };
        assert_eq!(numbers(DType::I4, 3, &[0xF1, 0x08]), [1, -1, -8]);
        assert_eq!(numbers(DType::U4, 2, &[0xF1]), [1, 15]);
        assert_eq!(numbers(DType::I2, 4, &[0b11_10_01_00]), [0, 1, -2, -1]);
        assert_eq!(numbers(DType::U1, 2, &[0b0100_0000]), [0, 1]);
        assert_eq!(numbers(DType::I16, 2, &[0xFF, 0xFF, 0, 0x80]), [-1, -32768]);
        assert_eq!(numbers(DType::U64, 1, &[0xFF; 8]), [u64::MAX.into()]);
        assert_eq!(numbers(DType::I64, 1, &i64::MIN.to_le_bytes()), [i64::MIN.into()]);
        let scalar = Value::new(DType::I8, &[], vec![0xFE]).unwrap();
        assert_eq!(list("n", &scalar).unwrap(), [-2]);
        let wrong = |value: Value| list("axes", &value).unwrap_err().to_string();
        assert_eq!(
            wrong(Value::new(DType::F32, &[1], vec![0; 4]).unwrap()),
            "axes has type f32, expected an integer type"
        );
        assert_eq!(
            wrong(Value::new(DType::I8, &[2, 1], vec![0; 2]).unwrap()),
            "axes has 2 axes, expected a list"
        );
        assert_eq!(
            wrong(Value::new(DType::I8, &[MOST + 1], vec![0; MOST + 1]).unwrap()),
            "axes has 1048577 entries, more than the 1048576 that are accepted"
        );
    }

    #[test]
    fn integers_are_converted_and_nothing_else() {
        let from = |dtype, bytes: &[u8], to| {
            let value =
                Value::new(dtype, &[bytes.len() * 8 / dtype.bits().unwrap()], bytes.to_vec());
            match cast(&value.unwrap(), to).unwrap().elements() {
                Elements::Bytes(bytes) => bytes.to_vec(),
                Elements::Strings(_) => vec![],
            }
        };
        assert_eq!(from(DType::I8, &[0xFF], DType::I32), [0xFF; 4]);
        assert_eq!(from(DType::U8, &[0xFF], DType::I16), [0xFF, 0]);
        // 200 of i16 is -56 of i8.
        assert_eq!(from(DType::I16, &[200, 0], DType::I8), [200]);
        assert_eq!(from(DType::I16, &[0, 1, 0, 0], DType::Bool), [1, 0]);
        assert_eq!(from(DType::Bool, &[1], DType::U16), [1, 0]);
        assert_eq!(from(DType::F32, &[1, 2, 3, 4], DType::F32), [1, 2, 3, 4]);
        assert_eq!(from(DType::I8, &[1, 0xFE, 0x7F], DType::I4), [0xE1, 0x0F]);
        assert_eq!(from(DType::I4, &[0xE1], DType::U2), [0b1001]);
        for (from, to) in [(DType::F32, DType::I64), (DType::I64, DType::F32)] {
            assert!(check_cast(from, to).is_err(), "{from} to {to}");
        }
    }

    #[test]
    fn whole_floats_are_lengths() {
        let lengths = |dtype, bytes: &[u8]| {
            let value = Value::new(dtype, &[1], bytes.to_vec()).unwrap();
            whole("lengths", &value).map(|value| list("lengths", &value).unwrap()[0])
        };
        assert_eq!(lengths(DType::F32, &3f32.to_le_bytes()), Ok(3));
        assert_eq!(lengths(DType::F64, &(-0.0f64).to_le_bytes()), Ok(0));
        assert_eq!(lengths(DType::BF16, &[0x40, 0x40]), Ok(3));
        assert_eq!(lengths(DType::F16, &[0x00, 0x42]), Ok(3));
        assert_eq!(lengths(DType::F16, &[0x00, 0xC2]), Ok(-3));
        assert_eq!(lengths(DType::F64, &1e30f64.to_le_bytes()), Ok(i64::MAX.into()));
        for bytes in [[0x00, 0x41], [0x01, 0x00], [0x00, 0x7C], [0x01, 0x7C]] {
            assert!(lengths(DType::F16, &bytes).is_err(), "{bytes:?}");
        }
        assert_eq!(
            lengths(DType::F32, &2.5f32.to_le_bytes()).unwrap_err().to_string(),
            "lengths[0] is 2.5, expected a whole number"
        );
    }
}
