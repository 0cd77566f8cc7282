//! The element type as a header spells it: `'<f4'`, `'|S5'`, `'>M8[ns]'`, or the fields of a
//! record.

use super::error::NpyError;
use retrograde::DType;
use std::fmt;

/// The kind of value that an element is. It matters for printing and lengths, not for moving.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kind {
    /// `b`: boolean.
    Bool,
    /// `i`: signed integer.
    Int,
    /// `u`: unsigned integer.
    Uint,
    /// `f`: float of 1, 2, 4, 8, 12 or 16 bytes.
    Float,
    /// `c`: complex number of two floats.
    Complex,
    /// `S`: bytes, padded with zeros.
    Bytes,
    /// `U`: characters of four bytes each, padded with zeros.
    Text,
    /// `V`: opaque bytes; `ml_dtypes` are stored as these.
    Void,
    /// `M`: a date, in the unit in brackets.
    Date,
    /// `m`: a time span, in the unit in brackets.
    Span,
    /// An element of a structured array, with a list of fields.
    Record,
}

/// An element type as NumPy writes it, verbatim.
///
/// ```
/// use retrograde::DType;
/// use retrograde_io::npy::{Descr, Kind};
///
/// let descr: Descr = ">U5".parse()?;
/// assert_eq!((descr.kind(), descr.dtype()), (Kind::Text, DType::Bytes(20)));
/// assert!(descr.is_big_endian());
/// # Ok::<(), retrograde_io::NpyError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Descr {
    text: String,
    kind: Kind,
    dtype: DType,
    big_endian: bool,
    fields: Vec<Field>,
}

/// A field of a record.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Field {
    /// Its name; empty for padding.
    pub name: String,
    /// Its offset in the record, in bytes.
    pub offset: usize,
    /// Its type, or the type of its elements.
    pub descr: Descr,
    /// The shape of an array field; empty for others.
    pub shape: Vec<usize>,
}

impl Descr {
    /// A record of these fields, `bytes` wide; `text` is the Python list.
    pub(super) fn record(text: String, fields: Vec<Field>, bytes: usize) -> Descr {
        let big_endian = fields.iter().any(|field| field.descr.big_endian);
        Descr { text, kind: Kind::Record, dtype: DType::Bytes(bytes), big_endian, fields }
    }

    /// The fields of a record, in order; empty for other types.
    pub fn fields(&self) -> &[Field] {
        &self.fields
    }

    /// The text itself.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The kind of value that an element is.
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// Retrograde's type; [`DType::Bytes`] if it has none for these elements. It does not include
    /// the byte order.
    pub fn dtype(&self) -> DType {
        self.dtype
    }

    /// Whether numbers are big-endian; for a record, whether those of any field are.
    pub fn is_big_endian(&self) -> bool {
        self.big_endian
    }

    /// The same type in the native byte order.
    pub(crate) fn to_native(&self) -> Descr {
        self.to_order(cfg!(target_endian = "big"))
    }

    /// The same type in the given byte order.
    pub(crate) fn to_order(&self, big_endian: bool) -> Descr {
        // The fields of a record each have a byte order and are not changed.
        if self.big_endian == big_endian || self.kind == Kind::Record {
            return self.clone();
        }
        let order = if big_endian { '>' } else { '<' };
        Descr { text: format!("{order}{}", &self.text[1..]), big_endian, ..self.clone() }
    }
}

impl fmt::Display for Descr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.text)
    }
}

/// Parses a quoted type, which is not a record.
pub(super) fn plain(text: &str) -> Result<Descr, NpyError> {
    parse(text).ok_or_else(|| {
        // Python objects have no size: '|O'.
        if text.trim_start_matches(['<', '>', '|', '=']).starts_with('O') {
            return NpyError::Objects { descr: text.chars().take(40).collect() };
        }
        NpyError::UnknownType { descr: text.chars().take(40).collect() }
    })
}

fn parse(text: &str) -> Option<Descr> {
    let mut chars = text.chars();
    let big_endian = match chars.next()? {
        '<' => false,
        '>' => true,
        '|' | '=' => cfg!(target_endian = "big"),
        _ => return None,
    };
    let letter = chars.next()?;
    let rest = chars.as_str();
    let (size, unit) = rest.split_at(rest.find('[').unwrap_or(rest.len()));
    if !size.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let size: usize = size.parse().ok()?;
    let (kind, dtype) = match (letter, size) {
        ('b', 1) => (Kind::Bool, DType::Bool),
        ('i', 1) => (Kind::Int, DType::I8),
        ('i', 2) => (Kind::Int, DType::I16),
        ('i', 4) => (Kind::Int, DType::I32),
        ('i', 8) => (Kind::Int, DType::I64),
        ('u', 1) => (Kind::Uint, DType::U8),
        ('u', 2) => (Kind::Uint, DType::U16),
        ('u', 4) => (Kind::Uint, DType::U32),
        ('u', 8) => (Kind::Uint, DType::U64),
        ('f', 2) => (Kind::Float, DType::F16),
        ('f', 4) => (Kind::Float, DType::F32),
        ('f', 8) => (Kind::Float, DType::F64),
        // `ml_dtypes` writes float8_e5m2 as '<f1'; 12 and 16 are long doubles.
        ('f', 1 | 12 | 16) => (Kind::Float, DType::Bytes(size)),
        ('c', 8) => (Kind::Complex, DType::C64),
        ('c', 16) => (Kind::Complex, DType::C128),
        ('c', 24 | 32) => (Kind::Complex, DType::Bytes(size)),
        ('S' | 'a', _) => (Kind::Bytes, DType::Bytes(size)),
        ('U', _) => (Kind::Text, DType::Bytes(size.checked_mul(4)?)),
        ('V', _) => (Kind::Void, DType::Bytes(size)),
        ('M', 8) => (Kind::Date, DType::Bytes(8)),
        ('m', 8) => (Kind::Span, DType::Bytes(8)),
        _ => return None,
    };
    let takes_unit = matches!(kind, Kind::Date | Kind::Span);
    if !(unit.is_empty() || takes_unit && is_unit(unit)) {
        return None;
    }
    Some(Descr { text: text.to_owned(), kind, dtype, big_endian, fields: Vec::new() })
}

/// A unit such as `[ns]` or `[25us]`.
fn is_unit(text: &str) -> bool {
    let inner = text.strip_prefix('[').and_then(|text| text.strip_suffix(']'));
    inner.is_some_and(|unit| {
        !unit.is_empty() && unit.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'/')
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_fixed_width_type_is_known() {
        let cases = [
            ("|b1", DType::Bool),
            ("|i1", DType::I8),
            (">i4", DType::I32),
            ("<u8", DType::U64),
            ("=i2", DType::I16),
            ("<f2", DType::F16),
            ("<f1", DType::Bytes(1)),
            ("<f16", DType::Bytes(16)),
            ("<c8", DType::C64),
            (">c16", DType::C128),
            ("<c32", DType::Bytes(32)),
            ("|S0", DType::Bytes(0)),
            ("|S7", DType::Bytes(7)),
            ("<U3", DType::Bytes(12)),
            ("<V2", DType::Bytes(2)),
            ("<M8[ns]", DType::Bytes(8)),
            ("<m8[25us]", DType::Bytes(8)),
            ("<M8", DType::Bytes(8)),
        ];
        for (text, dtype) in cases {
            let descr: Descr = text.parse().unwrap();
            assert_eq!((descr.dtype(), descr.as_str()), (dtype, text));
        }
    }

    #[test]
    fn everything_else_is_an_error() {
        let unknown = [
            "",
            "<",
            "f4",
            "<f",
            "<f3",
            "<i16",
            "<x4",
            "<f+4",
            "<f-4",
            "<f 4",
            "<M8[",
            "<M8]",
            "<M8[]",
            "<M8[n s]",
            "<f4[ns]",
            "<U99999999999999999999",
            "<U9223372036854775807",
            "é4",
            "<é4",
        ];
        for text in unknown {
            let descr = text.to_owned();
            assert_eq!(text.parse::<Descr>(), Err(NpyError::UnknownType { descr }), "{text}");
        }
        assert_eq!("|O".parse::<Descr>(), Err(NpyError::Objects { descr: "|O".to_owned() }));
        assert_eq!("|O8".parse::<Descr>(), Err(NpyError::Objects { descr: "|O8".to_owned() }));
    }
}
