//! The element type of a tensor in a file: what retrograde calls it, and how the file
//! spells it.

use crate::npy::{Descr, Kind};
use retrograde::DType;
use std::fmt;

/// An element type, with everything that the file says about it beyond its width.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ElementType {
    /// As NumPy spells it, verbatim.
    Numpy(Descr),
    /// A named type, little-endian: safetensors and raw files.
    Plain(DType),
}

impl ElementType {
    /// Retrograde's type; [`DType::Bytes`] if it has none for these elements.
    pub fn dtype(&self) -> DType {
        match self {
            ElementType::Numpy(descr) => descr.dtype(),
            ElementType::Plain(dtype) => *dtype,
        }
    }

    /// The kind of value that an element is.
    pub fn kind(&self) -> Kind {
        use DType::*;
        match self {
            ElementType::Numpy(descr) => descr.kind(),
            ElementType::Plain(dtype) => match dtype {
                Bool => Kind::Bool,
                U8 | U16 | U32 | U64 | U4 | U2 | U1 => Kind::Uint,
                I8 | I16 | I32 | I64 | I4 | I2 => Kind::Int,
                C64 | C128 => Kind::Complex,
                Bytes(_) => Kind::Void,
                String => Kind::Bytes,
                _ => Kind::Float,
            },
        }
    }

    /// Whether numbers are big-endian.
    pub fn is_big_endian(&self) -> bool {
        match self {
            ElementType::Numpy(descr) => descr.is_big_endian(),
            ElementType::Plain(_) => false,
        }
    }

    /// Bytes of the numbers that an element is made of; 1 if their order does not matter.
    pub fn number_bytes(&self) -> usize {
        let bytes = self.dtype().bits().unwrap_or(0) / 8;
        match self.kind() {
            // The fields of a record each have a byte order, and are never byte-swapped.
            Kind::Bool | Kind::Bytes | Kind::Void | Kind::Record => 1,
            Kind::Text => 4,
            Kind::Complex => bytes / 2,
            Kind::Int | Kind::Uint | Kind::Float | Kind::Date | Kind::Span => bytes.max(1),
        }
    }

    /// The type as a `.npy` header spells it; `None` for packed types, which NumPy does not have.
    pub(crate) fn to_descr(&self) -> Option<Descr> {
        let dtype = match self {
            ElementType::Numpy(descr) => return Some(descr.clone()),
            ElementType::Plain(dtype) => *dtype,
        };
        use DType::*;
        let bytes = dtype.bits()? / 8;
        let text = match dtype {
            packed if packed.is_packed() => return None,
            Bool => "|b1".to_owned(),
            U8 => "|u1".to_owned(),
            I8 => "|i1".to_owned(),
            U16 | U32 | U64 => format!("<u{bytes}"),
            I16 | I32 | I64 => format!("<i{bytes}"),
            F16 | F32 | F64 => format!("<f{bytes}"),
            C64 | C128 => format!("<c{bytes}"),
            // As `ml_dtypes` writes them, except its '<f1' for F8E5M2, which NumPy itself cannot
            // read.
            BF16 | F8E4M3FN | F8E4M3FNUZ | F8E5M2 | F8E5M2FNUZ | F8E8M0 => format!("<V{bytes}"),
            _ => format!("|V{bytes}"),
        };
        text.parse().ok()
    }

    /// The same type, little-endian.
    pub(crate) fn to_little_endian(&self) -> ElementType {
        match self {
            ElementType::Numpy(descr) => ElementType::Numpy(descr.to_order(false)),
            plain => plain.clone(),
        }
    }

    /// The same type in the native byte order.
    pub(crate) fn to_native(&self) -> ElementType {
        match self {
            ElementType::Numpy(descr) => ElementType::Numpy(descr.to_native()),
            ElementType::Plain(dtype) if cfg!(target_endian = "big") => {
                let little = ElementType::Plain(*dtype).to_descr();
                little.map_or(self.clone(), |descr| ElementType::Numpy(descr.to_native()))
            }
            plain => plain.clone(),
        }
    }
}

/// Retrograde's own name if there is one, otherwise NumPy's.
impl fmt::Display for ElementType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bits = self.dtype().bits().unwrap_or(0);
        let name = match (self, self.dtype(), self.kind()) {
            (_, DType::Bytes(_), Kind::Float) => format!("float{bits}"),
            (_, DType::Bytes(_), Kind::Complex) => format!("complex{bits}"),
            (ElementType::Numpy(descr), _, Kind::Record) => record_name(descr),
            (ElementType::Numpy(descr), DType::Bytes(_), _) => descr.as_str()[1..].to_owned(),
            (_, dtype, _) => dtype.to_string(),
        };
        if self.number_bytes() > 1 && self.is_big_endian() {
            f.pad(&format!("{name} (big-endian)"))
        } else {
            f.pad(&name)
        }
    }
}

/// The fields of a record, shortened to a printable number of them: `(x f32, y i16[3])`.
fn record_name(descr: &Descr) -> String {
    const MOST: usize = 60;
    let mut name = String::from("(");
    // Without its padding.
    let named = descr.fields().iter().filter(|field| !field.name.is_empty());
    for (at, field) in named.enumerate() {
        let comma = if at == 0 { "" } else { ", " };
        let kind = ElementType::Numpy(field.descr.clone());
        let shape =
            if field.shape.is_empty() { String::new() } else { format!("{:?}", field.shape) };
        name += &format!("{comma}{} {kind}{shape}", field.name);
        if name.chars().count() > MOST {
            return format!("{}...)", name.chars().take(MOST).collect::<String>());
        }
    }
    name + ")"
}

/// Swaps the byte order of every number.
pub(crate) fn swap_numbers(data: &mut [u8], number_bytes: usize) {
    if number_bytes > 1 {
        data.chunks_exact_mut(number_bytes).for_each(<[u8]>::reverse);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_whole_byte_type_has_a_spelling_of_its_width() {
        for &dtype in DType::ALL.iter().chain(&[DType::Bytes(5)]) {
            let descr = ElementType::Plain(dtype).to_descr();
            let Some(bits) = dtype.bits().filter(|_| !dtype.is_packed()) else {
                assert_eq!(descr, None, "{dtype}");
                continue;
            };
            assert_eq!(descr.unwrap().dtype().bits(), Some(bits), "{dtype}");
        }
    }

    #[test]
    fn numbers_are_turned_around_inside_elements() {
        let number = |descr: &str| ElementType::Numpy(descr.parse().unwrap()).number_bytes();
        assert_eq!((number(">c16"), number("<U3"), number("|S9"), number(">M8[s]")), (8, 4, 1, 8));
        assert_eq!((number("|b1"), number("<f16"), number("<V2")), (1, 16, 1));
        let mut data = [1, 2, 3, 4];
        swap_numbers(&mut data, 2);
        assert_eq!(data, [2, 1, 4, 3]);
    }

    #[test]
    fn types_are_named() {
        let name = |descr: &str| ElementType::Numpy(descr.parse().unwrap()).to_string();
        assert_eq!(name("<f4"), "f32");
        assert_eq!(name(">f4"), "f32 (big-endian)");
        assert_eq!(name("<U3"), "U3");
        assert_eq!(name(">S3"), "S3");
        assert_eq!(name("<f16"), "float128");
        assert_eq!(name("<c32"), "complex256");
        assert_eq!(name("<M8[ns]"), "M8[ns]");
        assert_eq!(
            name("[('x', '>f4'), ('y', '<i2', (2, 3))]"),
            "(x f32 (big-endian), y i16[2, 3])"
        );
        let many = format!("[{}]", "('field', '<f4'), ".repeat(50));
        assert!(name(&many).ends_with("...)") && name(&many).len() < 70);
    }
}
