//! A dense tensor of a case: shape and elements, as bytes or as text.
//!
//! Packed elements fill bytes from the low bits, `u1` from the high bit; unused bits are zero.

use crate::types::{Kind, Type};
use serde_json::{Value, json};
use std::fmt::Write as _;

/// The elements of a tensor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Data {
    /// Little-endian elements in row-major order, packed where the type is.
    Bytes(Vec<u8>),
    /// One byte string for each element.
    Text(Vec<Vec<u8>>),
}

/// A dense tensor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tensor {
    /// The element type.
    pub dtype: &'static Type,
    /// The sizes of its axes.
    pub shape: Vec<usize>,
    /// Its elements.
    pub data: Data,
}

impl Tensor {
    /// A tensor of elements given as bits (the lowest `bits` of each are used).
    pub fn from_bits(dtype: &'static Type, shape: &[usize], bits: &[u128]) -> Tensor {
        let mut bytes = vec![0; dtype.bytes_for(bits.len())];
        for (at, &element) in bits.iter().enumerate() {
            set_bits(dtype, &mut bytes, at, element);
        }
        Tensor { dtype, shape: shape.to_vec(), data: Data::Bytes(bytes) }
    }

    /// A tensor of integers of rank 1.
    pub fn integers(dtype: &'static Type, values: &[i128]) -> Tensor {
        let bits: Vec<_> = values.iter().map(|&value| value as u128).collect();
        Tensor::from_bits(dtype, &[bits.len()], &bits)
    }

    /// The same elements in another shape.
    pub fn reshaped(mut self, shape: &[usize]) -> Tensor {
        self.shape = shape.to_vec();
        self
    }

    /// The number of elements.
    pub fn len(&self) -> usize {
        self.shape.iter().product()
    }

    /// Whether there are no elements.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The size of the elements in bytes.
    pub fn byte_len(&self) -> usize {
        match &self.data {
            Data::Bytes(bytes) => bytes.len(),
            Data::Text(texts) => texts.iter().map(Vec::len).sum(),
        }
    }

    /// The bits of the element at a position in row-major order; 0 for text.
    pub fn bits(&self, at: usize) -> u128 {
        let Data::Bytes(bytes) = &self.data else { return 0 };
        get_bits(self.dtype, bytes, at)
    }

    /// The element at a position, as an integer.
    pub fn integer(&self, at: usize) -> i128 {
        let (bits, width) = (self.bits(at), self.dtype.bits as u32);
        match self.dtype.kind {
            Kind::Signed if bits >> (width - 1) & 1 == 1 => bits as i128 - (1i128 << width),
            _ => bits as i128,
        }
    }

    /// All elements as integers.
    pub fn to_integers(&self) -> Vec<i128> {
        (0..self.len()).map(|at| self.integer(at)).collect()
    }

    /// The tensor whose element at `i` is the element at `sources[i]` of this one.
    pub fn taken(&self, sources: &[usize]) -> Tensor {
        let data = match &self.data {
            Data::Text(texts) => {
                Data::Text(sources.iter().map(|&source| texts[source].clone()).collect())
            }
            Data::Bytes(_) => {
                let bits: Vec<_> = sources.iter().map(|&source| self.bits(source)).collect();
                Tensor::from_bits(self.dtype, &self.shape, &bits).data
            }
        };
        Tensor { data, ..self.clone() }
    }

    /// The element at a position, for people.
    pub fn text(&self, at: usize) -> String {
        if let Data::Text(texts) = &self.data {
            return shown(&texts[at]);
        }
        let bits = self.bits(at);
        match self.dtype.kind {
            Kind::Signed | Kind::Unsigned => self.integer(at).to_string(),
            Kind::Bool => if bits == 1 { "true" } else { "false" }.to_owned(),
            Kind::Float(exponent, fraction) => float_text(bits, exponent, fraction),
            Kind::Complex(exponent, fraction) => {
                let half = 1 + exponent + fraction;
                let real = float_text(bits & ((1 << half) - 1), exponent, fraction);
                let imaginary = float_text(bits >> half, exponent, fraction);
                format!("({real},{imaginary})")
            }
            Kind::Small | Kind::Text => format!("0x{bits:0width$x}", width = self.dtype.bits / 4),
        }
    }

    /// As JSON, in the form of the protocol.
    pub fn to_json(&self) -> Value {
        let data = match &self.data {
            Data::Bytes(bytes) => json!(hex(bytes)),
            Data::Text(texts) => json!(texts.iter().map(|text| hex(text)).collect::<Vec<_>>()),
        };
        json!({ "dtype": self.dtype.name, "shape": self.shape, "data": data })
    }

    /// Reads the form of the protocol. The error says what is wrong with it.
    pub fn from_json(value: &Value) -> Result<Tensor, String> {
        let name = value["dtype"].as_str().ok_or("\"dtype\" is not a string")?;
        let dtype = Type::named(name).ok_or_else(|| format!("\"dtype\": no type {name:?}"))?;
        let sizes = value["shape"].as_array().ok_or("\"shape\" is not a list")?;
        let size = |size: &Value| size.as_u64().map(|size| size as usize);
        let shape: Option<Vec<_>> = sizes.iter().map(size).collect();
        let shape = shape.ok_or("\"shape\" has an entry that is not a size")?;
        let count = shape.iter().try_fold(1usize, |product, &size| product.checked_mul(size));
        let count = count.ok_or("\"shape\" overflows")?;
        let data = match &value["data"] {
            Value::String(text) if !dtype.is_text() => {
                let bytes = unhex(text).ok_or("\"data\" is not hexadecimal")?;
                let expected = dtype.bytes_for(count);
                if bytes.len() != expected {
                    let got = bytes.len();
                    return Err(format!("\"data\" has {got} bytes, expected {expected}"));
                }
                Data::Bytes(bytes)
            }
            Value::Array(texts) if dtype.is_text() => {
                if texts.len() != count {
                    return Err(format!("\"data\" has {} texts, expected {count}", texts.len()));
                }
                let text = |text: &Value| text.as_str().and_then(unhex);
                let texts: Option<Vec<_>> = texts.iter().map(text).collect();
                Data::Text(texts.ok_or("\"data\" has an entry that is not hexadecimal")?)
            }
            _ if dtype.is_text() => return Err("\"data\" is not a list of texts".to_owned()),
            _ => return Err("\"data\" is not a string".to_owned()),
        };
        Ok(Tensor { dtype, shape, data })
    }
}

/// The bits of an element.
fn get_bits(dtype: &Type, bytes: &[u8], at: usize) -> u128 {
    let width = dtype.bits;
    if width >= 8 {
        let size = width / 8;
        let element = &bytes[at * size..][..size];
        return element.iter().rev().fold(0, |bits, &byte| bits << 8 | u128::from(byte));
    }
    let (byte, shift) = place(width, at);
    u128::from(bytes[byte] >> shift & ((1u16 << width) - 1) as u8)
}

/// Sets an element, in bytes that are zero there.
fn set_bits(dtype: &Type, bytes: &mut [u8], at: usize, bits: u128) {
    let width = dtype.bits;
    if width >= 8 {
        let size = width / 8;
        bytes[at * size..][..size].copy_from_slice(&bits.to_le_bytes()[..size]);
        return;
    }
    let (byte, shift) = place(width, at);
    bytes[byte] |= ((bits & ((1 << width) - 1)) as u8) << shift;
}

/// The byte of a packed element, and its lowest bit in it.
fn place(width: usize, at: usize) -> (usize, usize) {
    let (byte, inside) = (at * width / 8, at * width % 8);
    // OpenVINO's u1 begins at the most significant bit, all others at the least significant.
    (byte, if width == 1 { 7 - inside } else { inside })
}

/// A float as the shortest text of its value; NaNs show their bits.
fn float_text(bits: u128, exponent: u32, fraction: u32) -> String {
    let biased = bits >> fraction & ((1 << exponent) - 1);
    let mantissa = bits & ((1 << fraction) - 1);
    let negative = bits >> (exponent + fraction) & 1 == 1;
    let sign = if negative { "-" } else { "" };
    if biased == (1 << exponent) - 1 {
        return match mantissa {
            0 => format!("{sign}inf"),
            _ => format!("nan:{bits:x}"),
        };
    }
    let bias = (1i32 << (exponent - 1)) - 1;
    let unit = 2f64.powi(-(fraction as i32));
    let value = match biased {
        0 => mantissa as f64 * unit * 2f64.powi(1 - bias),
        _ => (1.0 + mantissa as f64 * unit) * 2f64.powi(biased as i32 - bias),
    };
    match value {
        0.0 => format!("{sign}0"),
        _ if !(1e-4..1e9).contains(&value) => format!("{sign}{value:e}"),
        _ => format!("{sign}{value}"),
    }
}

/// Text with everything escaped that could confuse a terminal, cut if long.
fn shown(text: &[u8]) -> String {
    let whole = String::from_utf8_lossy(text);
    let mut out = String::from("\"");
    for character in whole.chars().take(20) {
        match character.is_control() {
            true => out.extend(character.escape_default()),
            false => out.push(character),
        }
    }
    if whole.chars().count() > 20 {
        let _ = write!(out, "… {} bytes", text.len());
    }
    out.push('"');
    out
}

/// Bytes as hexadecimal digits.
pub fn hex(bytes: &[u8]) -> String {
    let mut out = String::with_capacity(bytes.len() * 2);
    for byte in bytes {
        let _ = write!(out, "{byte:02x}");
    }
    out
}

/// Hexadecimal digits as bytes.
pub fn unhex(text: &str) -> Option<Vec<u8>> {
    let digits: Option<Vec<_>> = text.chars().map(|digit| digit.to_digit(16)).collect();
    let digits = digits?;
    if digits.len() % 2 != 0 {
        return None;
    }
    Some(digits.chunks(2).map(|pair| (pair[0] << 4 | pair[1]) as u8).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::of;

    #[test]
    fn packed_elements_fill_bytes_in_their_order() {
        let low = Tensor::from_bits(of("u4"), &[3], &[1, 2, 3]);
        assert_eq!(low.data, Data::Bytes(vec![0x21, 0x03]));
        let high = Tensor::from_bits(of("u1"), &[3], &[1, 0, 1]);
        assert_eq!(high.data, Data::Bytes(vec![0xa0]));
        assert_eq!((0..3).map(|at| low.bits(at)).collect::<Vec<_>>(), [1, 2, 3]);
    }

    #[test]
    fn json_is_read_back() {
        for row in crate::types::TYPES {
            let tensor = match row.is_text() {
                true => {
                    let texts = vec![b"a".to_vec(), vec![], "ü\0".into()];
                    Tensor { dtype: row, shape: vec![3], data: Data::Text(texts) }
                }
                false => Tensor::from_bits(row, &[3], &[1, 0, 1]),
            };
            assert_eq!(Tensor::from_json(&tensor.to_json()), Ok(tensor));
        }
    }

    #[test]
    fn wrong_json_is_named() {
        let wrong = |text: &str| {
            let value = serde_json::from_str(text).unwrap();
            Tensor::from_json(&value).unwrap_err()
        };
        assert!(wrong(r#"{"dtype":"f3","shape":[],"data":""}"#).contains("f3"));
        let short = wrong(r#"{"dtype":"u8","shape":[2],"data":"00"}"#);
        assert_eq!(short, "\"data\" has 1 bytes, expected 2");
        assert!(wrong(r#"{"dtype":"u8","shape":[1],"data":"0g"}"#).contains("hexadecimal"));
    }

    #[test]
    fn floats_are_legible() {
        let text = |name: &str, bits| Tensor::from_bits(of(name), &[1], &[bits]).text(0);
        assert_eq!(text("f32", 0x3fc0_0000), "1.5");
        assert_eq!(text("f32", 0x8000_0000), "-0");
        assert_eq!(text("f16", 0x7e01), "nan:7e01");
        assert_eq!(text("bf16", 0xff80), "-inf");
        assert_eq!(text("i64", u128::from(u64::MAX)), "-1");
    }
}
