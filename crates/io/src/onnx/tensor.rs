//! TensorProto: a tensor whose elements are raw bytes, numbers in one of five typed fields,
//! strings, or in a file beside it.

use super::messages::TensorProto;
use crate::error::Error;
use crate::external::{ExternalError, Folder, short};
use crate::save;
use crate::value::{Elements, Value};
use bytes::Bytes;
use prost::Message;
use retrograde::{DType, Layout, LayoutError};
use std::path::Path;
use thiserror::Error as ThisError;

/// `TensorProto.DataLocation.EXTERNAL`.
const EXTERNAL: i32 = 1;
/// What a protocol buffer may have at most.
const MOST_BYTES: usize = i32::MAX as usize;

/// A tensor and what its file calls it, which may be nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamedTensor {
    /// Its name.
    pub name: String,
    /// The tensor.
    pub value: Value,
}

/// What is wrong with a TensorProto.
#[derive(Debug, Clone, PartialEq, Eq, ThisError)]
#[non_exhaustive]
pub enum TensorError {
    /// It is none.
    #[error("not a TensorProto: {reason}")]
    NotTensor {
        /// What the decoder says.
        reason: String,
    },
    /// An element type that is unknown, or none of ours.
    #[error("element type {code} is not supported, expected one of 1 (FLOAT) to 26 (INT2)")]
    Type {
        /// The `data_type`.
        code: i32,
    },
    /// A negative size.
    #[error("axis {axis} has the negative size {size}")]
    NegativeSize {
        /// The axis.
        axis: usize,
        /// The size.
        size: i64,
    },
    /// More axes than any sensible tensor has.
    #[error("it has {rank} axes, more than the {limit} that are accepted")]
    TooManyAxes {
        /// Axes.
        rank: usize,
        /// The most that is accepted.
        limit: usize,
    },
    /// The shape as a whole is impossible, or the raw data has another size.
    #[error("{0}")]
    Shape(#[from] LayoutError),
    /// It is in pieces.
    #[error("it is one segment of a tensor, expected a whole one")]
    Segment,
    /// It says where its elements are more than once.
    #[error("its elements are in both {0} and {1}, expected one of them")]
    Twice(&'static str, &'static str),
    /// Elements in a field that is not for their type.
    #[error("elements of {dtype} are in {field}, expected {expected}")]
    WrongField {
        /// The element type.
        dtype: DType,
        /// Where they are.
        field: &'static str,
        /// Where they should be.
        expected: &'static str,
    },
    /// More or fewer numbers than the shape says.
    #[error(
        "shape {shape:?} of {dtype} takes {expected} entries of {field} but there are {available}"
    )]
    Count {
        /// The shape.
        shape: Vec<usize>,
        /// The element type.
        dtype: DType,
        /// The field.
        field: &'static str,
        /// Entries the shape takes.
        expected: usize,
        /// Entries there are.
        available: usize,
    },
    /// A number that the type does not have.
    #[error("{field}[{position}] is {value}, outside [{low}, {high}] of {dtype}")]
    Range {
        /// The field.
        field: &'static str,
        /// Which entry.
        position: usize,
        /// The number.
        value: i128,
        /// The lowest number of the type.
        low: i128,
        /// The highest number of the type.
        high: i128,
        /// The element type.
        dtype: DType,
    },
    /// External data that does not say where.
    #[error("external data: {key} is {value:?}, expected {expected}")]
    ExternalKey {
        /// The key.
        key: &'static str,
        /// Its value, shortened.
        value: String,
        /// What it should be.
        expected: &'static str,
    },
    /// External data of another size.
    #[error(
        "external data: length is {length} but shape {shape:?} of {dtype} takes {expected} bytes"
    )]
    ExternalLength {
        /// What it says.
        length: u64,
        /// The shape.
        shape: Vec<usize>,
        /// The element type.
        dtype: DType,
        /// What it should say.
        expected: usize,
    },
    /// External data that cannot be had.
    #[error(transparent)]
    External(#[from] ExternalError),
}

/// Reads a `.pb` file.
pub fn read_tensor(path: impl AsRef<Path>) -> Result<NamedTensor, Error> {
    let path = path.as_ref();
    let content =
        crate::map::file(path).map_err(|source| Error::Read { path: path.to_owned(), source })?;
    decode_beside(content, path)
        .map_err(|source| Error::TensorProto { path: path.to_owned(), source: Box::new(source) })
}

/// Decodes a TensorProto from memory; external data is looked for in the current folder.
pub fn decode_tensor(content: impl Into<Bytes>) -> Result<NamedTensor, TensorError> {
    decode_beside(content.into(), Path::new("x"))
}

/// Decodes a TensorProto; external data is looked for in the folder of this file.
pub(crate) fn decode_beside(content: Bytes, path: &Path) -> Result<NamedTensor, TensorError> {
    let message = TensorProto::decode(content)
        .map_err(|error| TensorError::NotTensor { reason: error.to_string() })?;
    let value = value_of(&message, &mut Folder::of(path))?;
    Ok(NamedTensor { name: message.name, value })
}

/// Writes a `.pb` file, which appears under its name only when it is complete.
pub fn write_tensor(path: impl AsRef<Path>, name: &str, value: &Value) -> Result<(), Error> {
    let path = path.as_ref();
    let refused = |source| Error::TensorProto { path: path.to_owned(), source: Box::new(source) };
    let (dtype, shape) = (value.dtype(), value.shape());
    let write = |source| Error::Write { path: path.to_owned(), source };
    match value.elements() {
        Elements::Bytes(raw) => {
            let head = encode_head(name, dtype, shape, raw.len()).map_err(refused)?;
            save::atomically(path, |out| {
                out.write_all(&head)?;
                out.write_all(raw)
            })
            .map_err(write)
        }
        Elements::Strings(strings) => {
            let message = encode_strings(name, shape, strings.clone()).map_err(refused)?;
            save::atomically(path, |out| out.write_all(&message)).map_err(write)
        }
    }
}

/// A message of this many raw bytes, up to them: their field comes last.
pub(crate) fn encode_head(
    name: &str,
    dtype: DType,
    shape: &[usize],
    raw: usize,
) -> Result<Vec<u8>, TensorError> {
    /// Key of field 9, `raw_data`, length-delimited.
    const RAW_DATA: u8 = 9 << 3 | 2;
    let message = message_of(name, dtype, shape)?;
    check_size(message.encoded_len(), raw)?;
    let mut head = message.encode_to_vec();
    head.push(RAW_DATA);
    // A vector grows, so there is room for all of it.
    prost::encode_length_delimiter(raw, &mut head)
        .map_err(|error| TensorError::NotTensor { reason: error.to_string() })?;
    Ok(head)
}

/// A message of strings.
pub(crate) fn encode_strings(
    name: &str,
    shape: &[usize],
    strings: Vec<Bytes>,
) -> Result<Vec<u8>, TensorError> {
    let mut message = message_of(name, DType::String, shape)?;
    message.string_data = strings;
    check_size(message.encoded_len(), 0)?;
    Ok(message.encode_to_vec())
}

/// A message without elements.
fn message_of(name: &str, dtype: DType, shape: &[usize]) -> Result<TensorProto, TensorError> {
    let Some((code, _)) = dtype.names().and_then(|names| names.onnx) else {
        return Err(TensorError::NotTensor { reason: format!("ONNX has no {dtype}") });
    };
    Ok(TensorProto {
        dims: shape.iter().map(|&size| size as i64).collect(),
        data_type: Some(code),
        name: name.to_owned(),
        ..TensorProto::default()
    })
}

fn check_size(message: usize, raw: usize) -> Result<(), TensorError> {
    let bytes = message.saturating_add(raw);
    if bytes > MOST_BYTES - 16 {
        let reason = format!("{bytes} bytes are more than the format can hold (2 GiB)");
        return Err(TensorError::NotTensor { reason });
    }
    Ok(())
}

/// A tensor from its message, with what lies beside the model.
pub(super) fn value_of(message: &TensorProto, folder: &mut Folder) -> Result<Value, TensorError> {
    let code = message.data_type.unwrap_or(0);
    let dtype = DType::from_onnx(code).ok_or(TensorError::Type { code })?;
    let shape = shape_of(&message.dims)?;
    if message.segment.is_some() {
        return Err(TensorError::Segment);
    }
    let typed = only_field(message)?;
    let raw = message.raw_data.as_ref().filter(|raw| !raw.is_empty());
    if message.data_location == Some(EXTERNAL) {
        return match (typed, raw, dtype) {
            (Some(field), ..) => Err(TensorError::Twice("external_data", field)),
            (_, Some(_), _) => Err(TensorError::Twice("external_data", "raw_data")),
            (.., DType::String) => Err(TensorError::WrongField {
                dtype,
                field: "external_data",
                expected: "string_data",
            }),
            _ => external(message, dtype, &shape, folder),
        };
    }
    match (typed, raw) {
        (Some(field), Some(_)) => Err(TensorError::Twice("raw_data", field)),
        (None, Some(_)) if dtype == DType::String => {
            Err(TensorError::WrongField { dtype, field: "raw_data", expected: "string_data" })
        }
        (None, Some(raw)) => Ok(Value::new(dtype, &shape, raw.clone())?),
        (typed, None) => from_typed(message, typed, dtype, &shape),
    }
}

fn shape_of(dims: &[i64]) -> Result<Vec<usize>, TensorError> {
    const LIMIT: usize = 1 << 10;
    if dims.len() > LIMIT {
        return Err(TensorError::TooManyAxes { rank: dims.len(), limit: LIMIT });
    }
    let size = |(axis, &size): (usize, &i64)| {
        usize::try_from(size).map_err(|_| TensorError::NegativeSize { axis, size })
    };
    dims.iter().enumerate().map(size).collect()
}

/// The one typed field that has entries.
fn only_field(message: &TensorProto) -> Result<Option<&'static str>, TensorError> {
    let fields = [
        ("float_data", message.float_data.is_empty()),
        ("int32_data", message.int32_data.is_empty()),
        ("string_data", message.string_data.is_empty()),
        ("int64_data", message.int64_data.is_empty()),
        ("double_data", message.double_data.is_empty()),
        ("uint64_data", message.uint64_data.is_empty()),
    ];
    let mut used = fields.into_iter().filter(|(_, empty)| !empty).map(|(field, _)| field);
    match (used.next(), used.next()) {
        (Some(first), Some(second)) => Err(TensorError::Twice(first, second)),
        (first, _) => Ok(first),
    }
}

/// The typed field for elements of a type.
fn field_for(dtype: DType) -> &'static str {
    match dtype {
        DType::F32 | DType::C64 => "float_data",
        DType::F64 | DType::C128 => "double_data",
        DType::I64 => "int64_data",
        DType::U32 | DType::U64 => "uint64_data",
        DType::String => "string_data",
        _ => "int32_data",
    }
}

/// Elements from typed fields; no entries at all are those of an empty tensor.
fn from_typed(
    message: &TensorProto,
    used: Option<&'static str>,
    dtype: DType,
    shape: &[usize],
) -> Result<Value, TensorError> {
    let field = field_for(dtype);
    if let Some(used) = used.filter(|used| *used != field) {
        return Err(TensorError::WrongField { dtype, field: used, expected: field });
    }
    let stand_in = if dtype == DType::String { DType::U8 } else { dtype };
    let layout = Layout::dense(stand_in, shape)?;
    let (available, entries) = match field {
        "float_data" => (message.float_data.len(), layout.byte_len() / 4),
        "double_data" => (message.double_data.len(), layout.byte_len() / 8),
        "int64_data" => (message.int64_data.len(), layout.len()),
        "uint64_data" => (message.uint64_data.len(), layout.len()),
        "string_data" => (message.string_data.len(), layout.len()),
        // Packed elements share an entry as they share a byte.
        _ if dtype.is_packed() => (message.int32_data.len(), layout.byte_len()),
        _ => (message.int32_data.len(), layout.len()),
    };
    if available != entries {
        let shape = shape.to_vec();
        return Err(TensorError::Count { shape, dtype, field, expected: entries, available });
    }
    let data: Vec<u8> = match field {
        "string_data" => return Ok(Value::strings(shape, message.string_data.clone())?),
        "float_data" => message.float_data.iter().flat_map(|v| v.to_le_bytes()).collect(),
        "double_data" => message.double_data.iter().flat_map(|v| v.to_le_bytes()).collect(),
        "int64_data" => message.int64_data.iter().flat_map(|v| v.to_le_bytes()).collect(),
        "uint64_data" => {
            let values = message.uint64_data.iter().map(|&v| i128::from(v));
            narrowed(values, dtype, field, layout.byte_len())?
        }
        _ => {
            let values = message.int32_data.iter().map(|&v| i128::from(v));
            narrowed(values, dtype, field, layout.byte_len())?
        }
    };
    Ok(Value::new(dtype, shape, data)?)
}

/// Integers as elements of a narrower type, little-endian.
fn narrowed(
    values: impl Iterator<Item = i128>,
    dtype: DType,
    field: &'static str,
    bytes: usize,
) -> Result<Vec<u8>, TensorError> {
    let (low, high, width): (i128, i128, usize) = match dtype {
        DType::Bool => (0, 1, 1),
        DType::I8 => (i8::MIN.into(), i8::MAX.into(), 1),
        DType::I16 => (i16::MIN.into(), i16::MAX.into(), 2),
        DType::I32 => (i32::MIN.into(), i32::MAX.into(), 4),
        DType::U32 => (0, u32::MAX.into(), 4),
        DType::U64 => (0, u64::MAX.into(), 8),
        // Bit patterns, some writers' with a sign.
        packed if packed.is_packed() => (i8::MIN.into(), u8::MAX.into(), 1),
        wide if wide.bits() == Some(16) => (0, u16::MAX.into(), 2),
        _ => (0, u8::MAX.into(), 1),
    };
    let mut data = Vec::with_capacity(bytes);
    for (position, value) in values.enumerate() {
        if !(low..=high).contains(&value) {
            return Err(TensorError::Range { field, position, value, low, high, dtype });
        }
        data.extend_from_slice(&value.to_le_bytes()[..width]);
    }
    Ok(data)
}

fn external(
    message: &TensorProto,
    dtype: DType,
    shape: &[usize],
    folder: &mut Folder,
) -> Result<Value, TensorError> {
    let entry = |key: &str| message.external_data.iter().find(|entry| entry.key == key);
    let number = |key: &'static str| match entry(key) {
        None => Ok(None),
        Some(entry) => entry.value.parse::<u64>().map(Some).map_err(|_| {
            let value = short(&entry.value);
            TensorError::ExternalKey { key, value, expected: "a number of bytes" }
        }),
    };
    let missing = TensorError::ExternalKey {
        key: "location",
        value: String::new(),
        expected: "the name of a file",
    };
    let location = &entry("location").ok_or(missing)?.value;
    let expected = Layout::dense(dtype, shape)?.byte_len();
    let offset = number("offset")?.unwrap_or(0);
    if let Some(length) = number("length")?.filter(|&length| length != expected as u64) {
        let shape = shape.to_vec();
        return Err(TensorError::ExternalLength { length, shape, dtype, expected });
    }
    Ok(Value::new(dtype, shape, folder.bytes(location, offset, expected as u64)?)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(dtype: DType, dims: &[i64]) -> TensorProto {
        let data_type = Some(dtype.names().unwrap().onnx.unwrap().0);
        TensorProto { dims: dims.to_vec(), data_type, ..TensorProto::default() }
    }

    fn value(message: &TensorProto) -> Result<Value, TensorError> {
        decode_tensor(message.encode_to_vec()).map(|tensor| tensor.value)
    }

    #[test]
    fn every_type_comes_back_as_it_was_written() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.pb");
        for &dtype in DType::ALL.iter().filter(|dtype| dtype.names().unwrap().onnx.is_some()) {
            for shape in [&[3, 5][..], &[], &[0, 7], &[2, 1, 9]] {
                let written = match Layout::dense(dtype, shape) {
                    Ok(layout) => {
                        let data: Vec<u8> = (0..layout.byte_len()).map(|at| at as u8).collect();
                        Value::new(dtype, shape, data).unwrap()
                    }
                    Err(_) => {
                        let count = shape.iter().product();
                        let text = |at: usize| Bytes::from(vec![at as u8; at % 4]);
                        Value::strings(shape, (0..count).map(text).collect()).unwrap()
                    }
                };
                write_tensor(&path, "name", &written).unwrap();
                let read = read_tensor(&path).unwrap();
                assert_eq!(read, NamedTensor { name: "name".to_owned(), value: written });
            }
        }
        let bits = Value::new(DType::U1, &[8], vec![1]).unwrap();
        assert_eq!(
            write_tensor(folder.path().join("y.pb"), "", &bits).unwrap_err().to_string(),
            format!("{}: not a TensorProto: ONNX has no u1", folder.path().join("y.pb").display())
        );
        assert!(!folder.path().join("y.pb").exists());
    }

    #[test]
    fn typed_fields_are_narrowed() {
        let mut halves = message(DType::BF16, &[2]);
        halves.int32_data = vec![0x3F80, 0xFFFF];
        assert_eq!(
            value(&halves),
            Ok(Value::new(DType::BF16, &[2], vec![0x80, 0x3F, 255, 255]).unwrap())
        );
        let mut nibbles = message(DType::I4, &[3]);
        nibbles.int32_data = vec![0x21, 0x0F];
        assert_eq!(value(&nibbles), Ok(Value::new(DType::I4, &[3], vec![0x21, 0x0F]).unwrap()));
        let mut bytes = message(DType::I8, &[2]);
        bytes.int32_data = vec![-128, 127];
        assert_eq!(value(&bytes), Ok(Value::new(DType::I8, &[2], vec![128, 127]).unwrap()));
        let mut wide = message(DType::U32, &[1]);
        wide.uint64_data = vec![u32::MAX.into()];
        assert_eq!(value(&wide), Ok(Value::new(DType::U32, &[1], vec![255; 4]).unwrap()));
        let mut pair = message(DType::C64, &[1]);
        pair.float_data = vec![0.0, -0.0];
        assert_eq!(
            value(&pair),
            Ok(Value::new(DType::C64, &[1], vec![0, 0, 0, 0, 0, 0, 0, 128]).unwrap())
        );
    }

    #[test]
    fn what_is_wrong_is_said() {
        let mut cases: Vec<(TensorProto, &str)> = Vec::new();
        let mut case = |dtype, dims: &[i64], change: &dyn Fn(&mut TensorProto), text| {
            let mut message = message(dtype, dims);
            change(&mut message);
            cases.push((message, text));
        };
        use DType::{Bool, F32, String, U8, U32};
        case(
            F32,
            &[2],
            &|m| m.data_type = Some(99),
            "element type 99 is not supported, expected one of 1 (FLOAT) to 26 (INT2)",
        );
        case(
            F32,
            &[2],
            &|m| m.data_type = None,
            "element type 0 is not supported, expected one of 1 (FLOAT) to 26 (INT2)",
        );
        case(F32, &[2, -1], &|_| {}, "axis 1 has the negative size -1");
        case(
            F32,
            &[1 << 62, 1 << 62],
            &|_| {},
            "shape [4611686018427387904, 4611686018427387904] of f32 needs more than 9223372036854775807 bytes",
        );
        case(F32, &[2], &|_| {}, "shape [2] of f32 takes 2 entries of float_data but there are 0");
        case(
            F32,
            &[2],
            &|m| m.int32_data = vec![1, 2],
            "elements of f32 are in int32_data, expected float_data",
        );
        case(
            F32,
            &[2],
            &|m| m.raw_data = Some(Bytes::from_static(&[0; 7])),
            "shape [2] of f32 takes 8 bytes but the buffer has 7",
        );
        case(
            F32,
            &[1 << 40],
            &|m| m.raw_data = Some(Bytes::from_static(&[0; 7])),
            "shape [1099511627776] of f32 takes 4398046511104 bytes but the buffer has 7",
        );
        case(
            F32,
            &[1],
            &|m| {
                m.float_data = vec![1.0];
                m.raw_data = Some(Bytes::from_static(&[0; 4]))
            },
            "its elements are in both raw_data and float_data, expected one of them",
        );
        case(
            F32,
            &[1],
            &|m| {
                m.float_data = vec![1.0];
                m.int64_data = vec![1]
            },
            "its elements are in both float_data and int64_data, expected one of them",
        );
        case(
            String,
            &[1],
            &|m| m.raw_data = Some(Bytes::from_static(b"x")),
            "elements of string are in raw_data, expected string_data",
        );
        case(
            String,
            &[1 << 40],
            &|m| m.string_data = vec![Bytes::new()],
            "shape [1099511627776] of string takes 1099511627776 entries of string_data but there are 1",
        );
        case(
            U8,
            &[1],
            &|m| m.int32_data = vec![256],
            "int32_data[0] is 256, outside [0, 255] of u8",
        );
        case(
            Bool,
            &[2],
            &|m| m.int32_data = vec![1, 2],
            "int32_data[1] is 2, outside [0, 1] of bool",
        );
        case(
            U32,
            &[1],
            &|m| m.uint64_data = vec![1 << 32],
            "uint64_data[0] is 4294967296, outside [0, 4294967295] of u32",
        );
        case(
            F32,
            &[1],
            &|m| m.segment = Some(Bytes::new()),
            "it is one segment of a tensor, expected a whole one",
        );
        case(
            F32,
            &[1],
            &|m| m.data_location = Some(1),
            "external data: location is \"\", expected the name of a file",
        );
        case(F32, &[1; 1025], &|_| {}, "it has 1025 axes, more than the 1024 that are accepted");
        for (message, text) in cases {
            assert_eq!(value(&message).unwrap_err().to_string(), text);
        }
        for bytes in [&b"\xff\xff\xff"[..], b"\x4a\xff\xff\xff\xff\x0f", b"hello, world"] {
            let error = decode_tensor(Bytes::from_static(bytes)).unwrap_err();
            assert!(matches!(error, TensorError::NotTensor { .. }), "{error}");
        }
    }
}
