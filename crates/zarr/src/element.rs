//! Element types that have a name in Zarr, NumPy and HDF5 alike.

use serde_json::{Value, json};

/// What an element is, apart from its size.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Class {
    Bool,
    Signed,
    Unsigned,
    Float,
    Complex,
}

/// An element type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Element {
    pub(crate) class: Class,
    /// Bytes.
    pub(crate) width: usize,
    /// Whether the most significant byte is first.
    pub(crate) big: bool,
    /// A missing element, in this byte order.
    pub(crate) missing: Vec<u8>,
}

impl Element {
    /// The type that a Zarr array of version 2 (`<f4`) or 3 (`float32`) names. The byte order is
    /// that of the machine if the name has none.
    pub(crate) fn from_zarr(name: &str, missing: &[u8]) -> Option<Element> {
        let big = match name.as_bytes().first()? {
            b'<' | b'|' => false,
            b'>' => true,
            _ => cfg!(target_endian = "big"),
        };
        let (class, width) = match name.trim_start_matches(['<', '>', '|']) {
            "b1" | "bool" => (Class::Bool, 1),
            "i1" | "int8" => (Class::Signed, 1),
            "i2" | "int16" => (Class::Signed, 2),
            "i4" | "int32" => (Class::Signed, 4),
            "i8" | "int64" => (Class::Signed, 8),
            "u1" | "uint8" => (Class::Unsigned, 1),
            "u2" | "uint16" => (Class::Unsigned, 2),
            "u4" | "uint32" => (Class::Unsigned, 4),
            "u8" | "uint64" => (Class::Unsigned, 8),
            "f2" | "float16" => (Class::Float, 2),
            "f4" | "float32" => (Class::Float, 4),
            "f8" | "float64" => (Class::Float, 8),
            "c8" | "complex64" => (Class::Complex, 8),
            "c16" | "complex128" => (Class::Complex, 16),
            _ => return None,
        };
        Some(Element { class, width, big, missing: missing.to_vec() })
    }

    /// The name in an `.npy` header.
    pub(crate) fn descr(&self) -> String {
        let order = match (self.width, self.big) {
            (1, _) => '|',
            (_, true) => '>',
            (_, false) => '<',
        };
        let class = match self.class {
            Class::Bool => 'b',
            Class::Signed => 'i',
            Class::Unsigned => 'u',
            Class::Float => 'f',
            Class::Complex => 'c',
        };
        format!("{order}{class}{}", self.width)
    }

    /// The name in the metadata of Zarr version 3.
    pub(crate) fn zarr_name(&self) -> String {
        let bits = 8 * self.width;
        match self.class {
            Class::Bool => "bool".to_owned(),
            Class::Signed => format!("int{bits}"),
            Class::Unsigned => format!("uint{bits}"),
            Class::Float => format!("float{bits}"),
            Class::Complex => format!("complex{bits}"),
        }
    }

    /// The value of an integer element; none if 64 bits cannot hold it.
    pub(crate) fn integer(&self, bytes: &[u8]) -> Option<i64> {
        let digit = |value: u64, &byte: &u8| value << 8 | u64::from(byte);
        let value = match self.big {
            true => bytes.iter().fold(0, digit),
            false => bytes.iter().rev().fold(0, digit),
        };
        let unused = 64 - 8 * (self.width.clamp(1, 8) as u32);
        match self.class {
            Class::Signed => Some(((value << unused) as i64) >> unused),
            _ => i64::try_from(value).ok(),
        }
    }

    /// The missing element in the metadata of Zarr version 3.
    pub(crate) fn zarr_fill(&self) -> Value {
        let mut bytes = [0; 16];
        for (at, byte) in self.missing.iter().take(16).enumerate() {
            bytes[if self.big { self.missing.len() - 1 - at } else { at }] = *byte;
        }
        let raw = u64::from_le_bytes(bytes[..8].try_into().unwrap_or_default());
        match (self.class, self.width) {
            (Class::Bool, _) => json!(raw != 0),
            (Class::Unsigned, _) => json!(raw),
            (Class::Signed, 1) => json!(raw as i8),
            (Class::Signed, 2) => json!(raw as i16),
            (Class::Signed, 4) => json!(raw as i32),
            (Class::Signed, _) => json!(raw as i64),
            // The bits in hexadecimal are exact for every float, including each NaN.
            (Class::Float, width) if raw != 0 => {
                json!(format!("0x{raw:0digits$x}", digits = 2 * width))
            }
            (Class::Float, _) => json!(0.0),
            (Class::Complex, _) => json!([0.0, 0.0]),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_have_names_everywhere() {
        for (name, descr, zarr) in [
            ("<f4", "<f4", "float32"),
            (">i2", ">i2", "int16"),
            ("|u1", "|u1", "uint8"),
            ("complex128", "<c16", "complex128"),
            ("|b1", "|b1", "bool"),
        ] {
            let element = Element::from_zarr(name, &[]).unwrap();
            assert_eq!((element.descr().as_str(), element.zarr_name().as_str()), (descr, zarr));
        }
        assert_eq!(Element::from_zarr("|S3", &[]), None);
        assert_eq!(Element::from_zarr("string", &[]), None);
    }

    #[test]
    fn integers_have_a_sign_and_an_order() {
        let value = |name, bytes: &[u8]| Element::from_zarr(name, &[]).unwrap().integer(bytes);
        assert_eq!(value("<i2", &[0xfe, 0xff]), Some(-2));
        assert_eq!(value(">u2", &[0x01, 0x02]), Some(258));
        assert_eq!(value("|i1", &[0x80]), Some(-128));
        assert_eq!(value("<i8", &[0xff; 8]), Some(-1));
        assert_eq!(value("<u8", &[0xff; 8]), None);
    }

    #[test]
    fn fill_values_are_exact() {
        let fill = |name, bytes: &[u8]| Element::from_zarr(name, bytes).unwrap().zarr_fill();
        assert_eq!(fill("<i2", &[0xfe, 0xff]), json!(-2));
        assert_eq!(fill(">i2", &[0xff, 0xfe]), json!(-2));
        assert_eq!(fill("<f4", &[0, 0, 0xc0, 0x7f]), json!("0x7fc00000"));
        assert_eq!(fill("<f4", &[0; 4]), json!(0.0));
    }
}
