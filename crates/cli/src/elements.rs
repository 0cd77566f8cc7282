//! Formats one element as text: short numbers, strings without quotes, everything else in hex.

use half::{bf16, f16};
use retrograde::DType;
use retrograde_io::ElementType;
use retrograde_io::npy::{Field, Kind};
use retrograde_picture::{Elements, number, printable};
use std::fmt::Write;

/// The most elements shown of an array field.
const SHOWN: usize = 4;

/// How pictures show elements.
pub(crate) fn shown_as(element: &ElementType) -> Elements {
    match element.kind() {
        Kind::Bytes | Kind::Text => Elements::Text,
        Kind::Uint if element.dtype().bits() == Some(8) => Elements::Bytes,
        _ => Elements::Numbers,
    }
}

/// One element.
pub(crate) fn text(element: &ElementType, bytes: &[u8]) -> String {
    let big = element.is_big_endian();
    if let Some(text) = small(element.dtype(), bytes, big) {
        return text;
    }
    match element.kind() {
        Kind::Bool => if bytes.iter().any(|&byte| byte != 0) { "true" } else { "false" }.to_owned(),
        Kind::Uint => unsigned(bytes, big).map_or_else(|| hex(bytes), |value| value.to_string()),
        Kind::Int => signed(bytes, big).map_or_else(|| hex(bytes), |value| value.to_string()),
        Kind::Date | Kind::Span => match signed(bytes, big) {
            Some(i64::MIN) => "NaT".to_owned(),
            Some(count) => count.to_string(),
            None => hex(bytes),
        },
        Kind::Float => float(bytes, big).unwrap_or_else(|| hex(bytes)),
        Kind::Complex => complex(bytes, big).unwrap_or_else(|| hex(bytes)),
        Kind::Bytes => {
            let end = bytes.iter().rposition(|&byte| byte != 0).map_or(0, |last| last + 1);
            printable(&String::from_utf8_lossy(&bytes[..end]))
        }
        Kind::Text => printable(&characters(bytes, big)),
        Kind::Void => hex(bytes),
        Kind::Record => record(element, bytes),
    }
}

/// The fields of a record, without its padding: `(1.5, [1 2 3])`.
fn record(element: &ElementType, bytes: &[u8]) -> String {
    let ElementType::Numpy(descr) = element else { return hex(bytes) };
    let field = |field: &Field| {
        let kind = ElementType::Numpy(field.descr.clone());
        let width = kind.dtype().bits().unwrap_or(0) / 8;
        // The layout was checked to have room for all fields.
        let at = |index: usize| bytes.get(field.offset + index * width..)?.get(..width);
        let one = |index| at(index).map_or_else(String::new, |bytes| text(&kind, bytes));
        match &field.shape[..] {
            [] => one(0),
            shape => {
                let count = if shape.contains(&0) { 0 } else { shape.iter().product() };
                let more = if count > SHOWN { " ..." } else { "" };
                let elements: Vec<_> = (0..count.min(SHOWN)).map(one).collect();
                format!("[{}{more}]", elements.join(" "))
            }
        }
    };
    let fields = descr.fields().iter().filter(|field| !field.name.is_empty());
    format!("({})", fields.map(field).collect::<Vec<_>>().join(", "))
}

/// Types that Rust does not have: packed integers, and floats of 16 bits and fewer.
fn small(dtype: DType, bytes: &[u8], big: bool) -> Option<String> {
    use DType::*;
    let bits = unsigned(bytes, big)?;
    let (exponent, mantissa, bias) = match dtype {
        U4 | U2 | U1 => return Some(bits.to_string()),
        I4 => return Some((((bits as i8) << 4) >> 4).to_string()),
        I2 => return Some((((bits as i8) << 6) >> 6).to_string()),
        BF16 => {
            let value = bf16::from_bits(bits as u16);
            return Some(number(value.to_f64(), |short| bf16::from_f64(short) == value));
        }
        F8E8M0 if bits == 0xFF => return Some("nan".to_owned()),
        F8E8M0 => return Some(number((bits as f64 - 127.0).exp2(), |_| false)),
        F8E4M3FN => (4, 3, 7),
        F8E4M3FNUZ => (4, 3, 8),
        F8E5M2 => (5, 2, 15),
        F8E5M2FNUZ => (5, 2, 16),
        F4E2M1 => (2, 1, 1),
        _ => return None,
    };
    let sign = if bits >> (exponent + mantissa) & 1 == 1 { -1.0 } else { 1.0 };
    let (power, fraction) =
        (bits >> mantissa & ((1 << exponent) - 1), bits & ((1 << mantissa) - 1));
    let special = match dtype {
        F8E4M3FN => (bits & 0x7F == 0x7F).then_some("nan"),
        F8E4M3FNUZ | F8E5M2FNUZ => (bits == 0x80).then_some("nan"),
        F8E5M2 if power == 31 && fraction != 0 => Some("nan"),
        F8E5M2 if power == 31 => Some(if sign < 0.0 { "-inf" } else { "inf" }),
        _ => None,
    };
    if let Some(special) = special {
        return Some(special.to_owned());
    }
    let part = fraction as f64 / f64::from(1 << mantissa);
    let value = match power {
        0 => part * f64::from(1 - bias).exp2(),
        _ => (1.0 + part) * (power as f64 - f64::from(bias)).exp2(),
    };
    let value = sign * value;
    Some(number(value, |short| short == value))
}

/// Up to eight bytes as a number.
fn unsigned(bytes: &[u8], big: bool) -> Option<u64> {
    if !(1..=8).contains(&bytes.len()) {
        return None;
    }
    let join = |number: u64, byte: &u8| number << 8 | u64::from(*byte);
    Some(if big { bytes.iter().fold(0, join) } else { bytes.iter().rev().fold(0, join) })
}

fn signed(bytes: &[u8], big: bool) -> Option<i64> {
    let number = unsigned(bytes, big)?;
    let unused = 64 - 8 * bytes.len();
    // Shifting left and arithmetically right again extends the sign.
    Some((number << unused) as i64 >> unused)
}

fn float(bytes: &[u8], big: bool) -> Option<String> {
    let bits = unsigned(bytes, big)?;
    Some(match bytes.len() {
        2 => {
            let value = f16::from_bits(bits as u16);
            number(value.to_f64(), |short| f16::from_f64(short) == value)
        }
        4 => {
            let value = f32::from_bits(bits as u32);
            number(value.into(), |short| short as f32 == value)
        }
        8 => {
            let value = f64::from_bits(bits);
            number(value, |short| short == value)
        }
        _ => return None,
    })
}

fn complex(bytes: &[u8], big: bool) -> Option<String> {
    let (real, imaginary) = bytes.split_at(bytes.len() / 2);
    let (real, imaginary) = (float(real, big)?, float(imaginary, big)?);
    let plus = if imaginary.starts_with('-') { "" } else { "+" };
    Some(format!("{real}{plus}{imaginary}j"))
}

/// UTF-32 without its trailing zeros.
fn characters(bytes: &[u8], big: bool) -> String {
    let code = |four: &[u8]| unsigned(four, big).unwrap_or(0) as u32;
    let codes: Vec<u32> = bytes.chunks(4).map(code).collect();
    let end = codes.iter().rposition(|&code| code != 0).map_or(0, |last| last + 1);
    codes[..end].iter().map(|&code| char::from_u32(code).unwrap_or('\u{fffd}')).collect()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        // Writing to a string cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(descr: &str, bytes: &[u8]) -> String {
        text(&ElementType::Numpy(descr.parse().unwrap()), bytes)
    }

    #[test]
    fn small_numbers_mean_what_their_formats_say() {
        let cases: &[(DType, &[u8], &str)] = &[
            (DType::BF16, &[0x80, 0x3f], "1"),
            (DType::BF16, &[0xcd, 0x3d], "0.1"),
            (DType::I4, &[0x0f], "-1"),
            (DType::U4, &[0x0f], "15"),
            (DType::I2, &[2], "-2"),
            (DType::U1, &[1], "1"),
            (DType::F8E4M3FN, &[0x7e], "448"),
            (DType::F8E4M3FN, &[0x7f], "nan"),
            (DType::F8E4M3FN, &[0x01], "0.0019531"),
            (DType::F8E4M3FNUZ, &[0x7f], "240"),
            (DType::F8E5M2, &[0x7b], "57344"),
            (DType::F8E5M2, &[0xfc], "-inf"),
            (DType::F8E5M2FNUZ, &[0x80], "nan"),
            (DType::F8E8M0, &[0x80], "2"),
            (DType::F4E2M1, &[0x07], "6"),
            (DType::F4E2M1, &[0x09], "-0.5"),
            (DType::F32, &[0, 0, 0x80, 0x3f], "1"),
        ];
        for (dtype, bytes, shown) in cases {
            assert_eq!(text(&ElementType::Plain(*dtype), bytes), *shown, "{dtype}");
        }
    }

    #[test]
    fn integers_of_every_width_and_order() {
        assert_eq!(shown("|u1", &[200]), "200");
        assert_eq!(shown("|i1", &[200]), "-56");
        assert_eq!(shown("<i2", &[0xfe, 0xff]), "-2");
        assert_eq!(shown(">i2", &[0xff, 0xfe]), "-2");
        assert_eq!(shown(">u4", &[0, 0, 1, 0]), "256");
        assert_eq!(shown("<i8", &i64::MIN.to_le_bytes()), i64::MIN.to_string());
        assert_eq!(shown(">u8", &u64::MAX.to_be_bytes()), u64::MAX.to_string());
        assert_eq!(shown("|b1", &[0]), "false");
        assert_eq!(shown("|b1", &[1]), "true");
    }

    #[test]
    fn floats_are_short() {
        let cases = [
            (0.0f32, "0"),
            (-0.0, "-0"),
            (12.0, "12"),
            (0.1, "0.1"),
            (-1.5, "-1.5"),
            (1.0 / 3.0, "0.33333"),
            (1234567.9, "1234568"),
            (16777216.0, "16777216"),
            (1e30, "1e30"),
            (1.25e-7, "1.25e-7"),
            (f32::NAN, "nan"),
            (f32::NEG_INFINITY, "-inf"),
            (f32::MIN_POSITIVE, "1.1755e-38"),
        ];
        for (value, text) in cases {
            assert_eq!(shown("<f4", &value.to_le_bytes()), text);
            assert_eq!(shown(">f4", &value.to_be_bytes()), text);
        }
        assert_eq!(shown("<f8", &0.1f64.to_le_bytes()), "0.1");
        assert_eq!(shown("<f2", &f16::from_f32(0.1).to_le_bytes()), "0.1");
        assert_eq!(shown(">f2", &f16::from_f32(65504.0).to_be_bytes()), "65504");
    }

    #[test]
    fn complex_numbers_have_a_sign_between() {
        let bytes =
            |real: f32, imaginary: f32| [real.to_le_bytes(), imaginary.to_le_bytes()].concat();
        assert_eq!(shown("<c8", &bytes(1.0, 2.5)), "1+2.5j");
        assert_eq!(shown("<c8", &bytes(-1.0, -0.5)), "-1-0.5j");
    }

    #[test]
    fn strings_are_bare_and_cannot_steer_the_terminal() {
        assert_eq!(shown("|S5", b"ab\0c\0"), "ab\\u{0}c");
        assert_eq!(shown("|S2", b"\xff\0"), "\u{fffd}");
        assert_eq!(shown("|S4", b"\x1b[2J"), "\\u{1b}[2J");
        assert_eq!(shown("<U2", &[0xe9, 0, 0, 0, 0, 0, 0, 0]), "é");
        assert_eq!(shown(">U1", &[0, 0, 0x26, 0x3a]), "☺");
        assert_eq!(shown("<U1", &[0, 0xd8, 0, 0]), "\u{fffd}");
        assert_eq!(shown("<U1", &[0x2e, 0x20, 0, 0]), "\\u{202e}");
        assert_eq!(shown("|S0", b""), "");
    }

    #[test]
    fn the_rest_is_hex_or_a_count() {
        assert_eq!(shown("<V2", &[0x80, 0x3f]), "803f");
        assert_eq!(shown("<f1", &[0x3c]), "3c");
        assert_eq!(shown("<f16", &[1; 16]), "01".repeat(16));
        assert_eq!(shown("<M8[ns]", &5i64.to_le_bytes()), "5");
        assert_eq!(shown("<m8[s]", &i64::MIN.to_le_bytes()), "NaT");
    }
}
