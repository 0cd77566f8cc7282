//! `.safetensors` files: the header's length in eight bytes, a JSON header, then the tensors one
//! after the other, row-major and little-endian.
//!
//! We parse the header ourselves (the JSON with `serde_json`): the format's own crate (0.8.0) adds
//! offsets without overflow checks, holds the whole header in memory, and does not say which tensor
//! is invalid.

pub(crate) mod error;

pub use error::SafetensorsError;

use crate::words::one_line;
use retrograde::{DType, Layout};
use serde::Deserialize;
use serde::de::{Deserializer as _, IgnoredAny, MapAccess, Visitor};
use std::fmt;
use std::io::{self, Read};

/// The longest header that the format allows.
const LIMIT: u64 = 100_000_000;
/// Data begins at a multiple of this many bytes.
const ALIGNMENT: usize = 8;
/// A reserved name, which is not a tensor.
const METADATA: &str = "__metadata__";

/// A tensor in the header, checked against the file. The struct is small, since a header may
/// describe a million of them.
#[derive(Debug, Clone)]
pub(crate) struct Described {
    pub(crate) name: Box<str>,
    dtype: DType,
    shape: Box<[usize]>,
    /// Offset of its data in the file.
    pub(crate) offset: u64,
    bytes: u64,
}

impl Described {
    /// The layout of its elements in the data.
    pub(crate) fn layout(&self) -> Result<Layout, SafetensorsError> {
        let wrong = |source| SafetensorsError::Shape { name: self.name.to_string(), source };
        Layout::dense(self.dtype, &self.shape).map_err(wrong)
    }
}

/// The header's entry for one tensor.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    dtype: String,
    shape: Vec<u64>,
    data_offsets: [u64; 2],
}

/// Reads a header entry by entry and checks each one, including for duplicate names.
struct Entries {
    /// Offset of the data in the file.
    first: u64,
    /// Bytes of data in the file.
    available: u64,
}

impl<'de> Visitor<'de> for Entries {
    /// The first invalid entry, if there is one; invalid JSON takes precedence.
    type Value = Result<Vec<Described>, SafetensorsError>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object of tensors")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut described = Ok(Vec::new());
        while let Some(name) = map.next_key::<String>()? {
            if name == METADATA {
                map.next_value::<IgnoredAny>()?;
                continue;
            }
            let entry = map.next_value()?;
            if let Ok(tensors) = &mut described {
                match describe(name, entry, self.first, self.available) {
                    Ok(tensor) => tensors.push(tensor),
                    Err(error) => described = Err(error),
                }
            }
        }
        Ok(described)
    }
}

/// Reads the header of a file of `size` bytes and checks every tensor in it.
pub(crate) fn read(
    reader: &mut impl Read,
    size: u64,
) -> io::Result<Result<Vec<Described>, SafetensorsError>> {
    let mut length = Vec::new();
    reader.take(8).read_to_end(&mut length)?;
    let Ok(length) = <[u8; 8]>::try_from(&length[..]) else {
        return Ok(Err(SafetensorsError::NoLength { available: length.len() as u64 }));
    };
    let declared = u64::from_le_bytes(length);
    if declared > LIMIT {
        return Ok(Err(SafetensorsError::HeaderTooLong { declared, limit: LIMIT }));
    }
    let available = size.saturating_sub(8);
    if available < declared {
        return Ok(Err(SafetensorsError::HeaderCut { declared, available }));
    }
    // Parsed while it is read, since it may be long. It is read and not mapped, so that another
    // process cannot change it after the check.
    let parsed = parse(&mut reader.take(declared), 8 + declared, size);
    Ok(match parsed {
        Err(error) if error.is_io() => return Err(error.into()),
        Err(error) => Err(SafetensorsError::Json { reason: one_line(&error) }),
        Ok(tensors) => tensors.and_then(|tensors| in_order(tensors, 8 + declared, size)),
    })
}

/// Parses the header; `first` is the offset of the data.
fn parse(
    text: &mut impl Read,
    first: u64,
    size: u64,
) -> serde_json::Result<Result<Vec<Described>, SafetensorsError>> {
    let entries = Entries { first, available: size.saturating_sub(first) };
    let mut json = serde_json::Deserializer::from_reader(text);
    let tensors = json.deserialize_map(entries)?;
    json.end()?;
    Ok(tensors)
}

/// Checks that the tensors fill the data without gaps, and sorts them by name.
fn in_order(
    mut tensors: Vec<Described>,
    first: u64,
    size: u64,
) -> Result<Vec<Described>, SafetensorsError> {
    tensors.sort_unstable_by_key(|tensor| (tensor.offset, tensor.bytes));
    let mut end = first;
    for tensor in &tensors {
        if tensor.offset != end {
            let (name, expected) = (tensor.name.to_string(), end - first);
            return Err(SafetensorsError::Gap { name, start: tensor.offset - first, expected });
        }
        end += tensor.bytes;
    }
    if end < size {
        return Err(SafetensorsError::Trailing { extra: size - end });
    }
    tensors.sort_unstable_by(|a, b| a.name.cmp(&b.name));
    match tensors.windows(2).find(|pair| pair[0].name == pair[1].name) {
        Some(pair) => {
            let reason = format!("tensor {:?} appears twice", pair[0].name);
            Err(SafetensorsError::Json { reason })
        }
        None => Ok(tensors),
    }
}

/// One tensor, if its entry is consistent.
fn describe(
    name: String,
    entry: Entry,
    first: u64,
    available: u64,
) -> Result<Described, SafetensorsError> {
    let [start, end] = entry.data_offsets;
    let Some(dtype) = DType::from_safetensors(&entry.dtype) else {
        let dtype = entry.dtype.chars().take(40).collect();
        return Err(SafetensorsError::UnknownType { name, dtype });
    };
    // A size above `usize::MAX` is as impossible as `usize::MAX` itself.
    let shape: Vec<_> =
        entry.shape.iter().map(|&size| usize::try_from(size).unwrap_or(usize::MAX)).collect();
    let layout = match Layout::dense(dtype, &shape) {
        Ok(layout) => layout,
        Err(source) => return Err(SafetensorsError::Shape { name, source }),
    };
    let expected = layout.byte_len() as u64;
    // Packed tensors must fill their last byte: the format allows no others.
    let fills = !dtype.is_packed() || layout.len().is_multiple_of(layout.grain().per_byte());
    if end.checked_sub(start) != Some(expected) || !fills {
        return Err(SafetensorsError::Size { name, shape, dtype, expected, start, end });
    }
    if end > available {
        return Err(SafetensorsError::Outside { name, start, end, available });
    }
    let (name, shape) = (name.into_boxed_str(), shape.into_boxed_slice());
    Ok(Described { name, dtype, shape, offset: first + start, bytes: expected })
}

/// The header of a file with one tensor, including its length prefix.
pub(crate) fn encode(name: &str, dtype: &str, layout: &Layout) -> Vec<u8> {
    let entry = serde_json::json!({
        "dtype": dtype, "shape": layout.shape(), "data_offsets": [0, layout.byte_len()],
    });
    let mut text = serde_json::json!({ name: entry }).to_string().into_bytes();
    text.resize(text.len().next_multiple_of(ALIGNMENT), b' ');
    let mut header = (text.len() as u64).to_le_bytes().to_vec();
    header.extend(text);
    header
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_all(header: &str, data: usize) -> Result<Vec<Described>, SafetensorsError> {
        let mut file = (header.len() as u64).to_le_bytes().to_vec();
        file.extend(header.as_bytes());
        let size = (file.len() + data) as u64;
        read(&mut &file[..], size).unwrap()
    }

    #[test]
    fn what_is_written_is_read() {
        for shape in [&[][..], &[3], &[0, 2], &[2, 3, 4]] {
            let layout = Layout::dense(DType::BF16, shape).unwrap();
            let mut file = encode("a \"b\"", "BF16", &layout);
            assert_eq!(file.len() % ALIGNMENT, 0);
            let offset = file.len() as u64;
            file.resize(file.len() + layout.byte_len(), 0);
            let tensors = read(&mut &file[..], file.len() as u64).unwrap().unwrap();
            assert_eq!(tensors.len(), 1);
            assert_eq!((&*tensors[0].name, tensors[0].offset), ("a \"b\"", offset));
            assert_eq!(tensors[0].layout().unwrap(), layout);
        }
    }

    #[test]
    fn lies_are_found() {
        let one = |dtype: &str, shape: &str, offsets: &str| {
            format!(r#"{{"x":{{"dtype":"{dtype}","shape":{shape},"data_offsets":{offsets}}}}}"#)
        };
        // Type, shape, offsets and bytes of data.
        let cases = r#"
F32 [2] [0,8] 7: tensor "x": its data_offsets are [0, 8] but the file has 7 bytes of data: it is cut short, or the header is wrong
F32 [2] [0,8] 9: 1 byte follows the last tensor: either the header is wrong or something was appended
F32 [2] [0,8] 10: 2 bytes follow the last tensor: either the header is wrong or something was appended
F32 [2] [4,12] 12: tensor "x": its data starts at 4, expected 0: tensors must follow each other without gaps
F32 [2] [8,0] 8: tensor "x": shape [2] of f32 takes 8 bytes but its data_offsets are [8, 0]
F32 [3] [0,8] 8: tensor "x": shape [3] of f32 takes 12 bytes but its data_offsets are [0, 8]
F4 [3] [0,2] 2: tensor "x": shape [3] of f4e2m1 takes 2 bytes but its data_offsets are [0, 2]
F32 [4294967296,4294967296] [0,8] 8: tensor "x": impossible shape: shape [4294967296, 4294967296] of f32 needs more than 9223372036854775807 bytes
U8 [18446744073709551615] [0,18446744073709551615] 8: tensor "x": impossible shape: shape [18446744073709551615] of u8 needs more than 9223372036854775807 bytes
U8 [4] [18446744073709551611,18446744073709551615] 4: tensor "x": its data_offsets are [18446744073709551611, 18446744073709551615] but the file has 4 bytes of data: it is cut short, or the header is wrong
U8 [-1] [0,1] 1: malformed header: invalid value: integer `-1`, expected u64
"#;
        // The parser adds the position in the JSON.
        let said = |header: &str, data: usize| {
            let error = read_all(header, data).unwrap_err().to_string();
            error.split(" at line").next().unwrap().to_owned()
        };
        for (call, message) in cases.trim().lines().map(|line| line.split_once(": ").unwrap()) {
            let [dtype, shape, offsets, data] = call.split(' ').collect::<Vec<_>>()[..] else {
                panic!("{call}");
            };
            assert_eq!(said(&one(dtype, shape, offsets), data.parse().unwrap()), message, "{call}");
        }
        let sequence = "malformed header: invalid type: sequence, expected an object of tensors";
        assert_eq!(said("[]", 0), sequence);
        assert_eq!(said(r#"{"x":{"dtype":"U8"}}"#, 0), "malformed header: missing field `shape`");
        let unknown = read_all(&one("F6_E2M3", "[4]", "[0,3]"), 3).unwrap_err().to_string();
        assert!(unknown.starts_with("tensor \"x\" has dtype \"F6_E2M3\", which is not supported; expected one of BOOL, U8"), "{unknown}");
        let entry = r#""x":{"dtype":"U8","shape":[0],"data_offsets":[0,0]}"#;
        let twice = read_all(&format!("{{{entry},{entry}}}"), 0).unwrap_err().to_string();
        assert_eq!(twice, "malformed header: tensor \"x\" appears twice");
        // Skipping does not recurse, so nesting takes no stack.
        let deep = format!(r#"{{"__metadata__":{}}}"#, "[".repeat(100_000));
        assert!(read_all(&deep, 0).unwrap_err().to_string().starts_with("malformed header: "));
        assert!(read_all("{}", 0).unwrap().is_empty());
        assert_eq!(read_all(r#"{"__metadata__":{"format":"pt"}}"#, 0).unwrap().len(), 0);
    }

    #[test]
    fn headers_may_be_as_long_as_the_format_allows() {
        let padding = "x".repeat(20 << 20);
        let header = format!(
            r#"{{"__metadata__":{{"note":"{padding}"}},"x":{{"dtype":"U8","shape":[3],"data_offsets":[0,3]}}}}"#
        );
        let tensors = read_all(&header, 3).unwrap();
        assert_eq!((&*tensors[0].name, tensors[0].offset), ("x", 8 + header.len() as u64));
        let mut file = (LIMIT + 1).to_le_bytes().to_vec();
        file.extend(b"{}");
        let message = read(&mut &file[..], LIMIT + 9).unwrap().unwrap_err().to_string();
        assert!(message.contains("more than the 100000000 that are accepted"), "{message}");
    }

    #[test]
    fn lengths_are_not_trusted() {
        let mut file = u64::MAX.to_le_bytes().to_vec();
        file.extend(b"{}");
        let message = read(&mut &file[..], 10).unwrap().unwrap_err().to_string();
        assert!(message.starts_with("the header says it has 18446744073709551615 bytes"));
        file[..8].copy_from_slice(&100u64.to_le_bytes());
        let cut = SafetensorsError::HeaderCut { declared: 100, available: 2 };
        assert_eq!(read(&mut &file[..], 10).unwrap().unwrap_err(), cut);
        let none = SafetensorsError::NoLength { available: 3 };
        assert_eq!(read(&mut &file[..3], 3).unwrap().unwrap_err(), none);
    }
}
