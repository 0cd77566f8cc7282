//! TensorProto: a tensor whose elements are raw bytes, numbers in one of five typed fields,
//! strings, or external data.

use super::error::TensorError;
use super::survey::{Field, MOST_AXES, Survey};
use super::wire;
use crate::external::Folder;
use crate::spool;
use crate::strings::Strings;
use crate::value::{Elements, Value};
use crate::words::{excerpt, short};
use bytes::Bytes;
use retrograde::{DType, Layout};
use std::io;
use std::path::Path;

/// `TensorProto.DataLocation.EXTERNAL`.
const EXTERNAL: i32 = 1;

/// A tensor and its name in the file, which may be empty.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamedTensor {
    /// Its name.
    pub name: String,
    /// The tensor.
    pub value: Value,
}

/// Decodes a TensorProto from memory; external data is looked up in the current folder.
pub fn decode_tensor(content: impl Into<Bytes>) -> Result<NamedTensor, TensorError> {
    value_of(&content.into(), &mut Folder::of(Path::new("x")))
}

/// Reads a tensor and its name from a message, with external data. Raw elements share the mapped
/// file; others are unpacked, to a temporary file if they are large.
pub(crate) fn value_of(content: &Bytes, folder: &mut Folder) -> Result<NamedTensor, TensorError> {
    let Located { name, dtype, shape, place } = locate(content, folder)?;
    let value = value_at(content, place, dtype, &shape, folder).map_err(|error| match error {
        TensorError::NoRoom { reason, .. } => {
            TensorError::NoRoom { folder: folder.spool().to_owned(), reason }
        }
        error => error,
    })?;
    Ok(NamedTensor { name, value })
}

/// As [`value_of`], for a constant of a model, whose strings are text.
pub(super) fn constant_of(
    content: &Bytes,
    folder: &mut Folder,
) -> Result<NamedTensor, TensorError> {
    let tensor = value_of(content, folder)?;
    check_text(&tensor.value, Field::String.name())?;
    Ok(tensor)
}

/// Checks that strings are UTF-8, as ONNX requires.
pub(super) fn check_text(value: &Value, field: &'static str) -> Result<(), TensorError> {
    let Elements::Strings(strings) = value.elements() else { return Ok(()) };
    match strings.iter().enumerate().find(|(_, string)| std::str::from_utf8(string).is_err()) {
        Some((position, string)) => {
            Err(TensorError::NotText { field, position, text: excerpt(string, 40) })
        }
        None => Ok(()),
    }
}

/// Unpacks elements if that is necessary.
fn value_at(
    content: &Bytes,
    place: Place,
    dtype: DType,
    shape: &[usize],
    folder: &Folder,
) -> Result<Value, TensorError> {
    let value = match place {
        Place::Bytes(bytes) => Value::new(dtype, shape, bytes)?,
        Place::Strings(count) => {
            let strings = strings(content, Field::String.number(), count, folder.spool())?;
            Value::strings(shape, strings)?
        }
        Place::Numbers(field, bytes) => {
            let data = numbers(content, field, dtype, bytes, folder.spool())?;
            Value::new(dtype, shape, data)?
        }
    };
    Ok(value)
}

/// A tensor whose elements have been located but not read.
pub(crate) struct Located {
    pub(crate) name: String,
    pub(crate) dtype: DType,
    pub(crate) shape: Vec<usize>,
    pub(crate) place: Place,
}

/// Where elements are.
pub(crate) enum Place {
    /// In these bytes, in their final form.
    Bytes(Bytes),
    /// In `string_data`, this many.
    Strings(usize),
    /// In a typed field; the size is that of the unpacked elements in bytes.
    Numbers(Field, usize),
}

/// The total size of all strings in a message, in bytes.
pub(crate) fn string_bytes(content: &[u8]) -> usize {
    let fields = wire::fields(content).filter_map(Result::ok);
    let strings = fields.filter(|field| field.number == Field::String.number());
    strings.map(|field| field.content.len()).sum()
}

/// Locates the elements of a tensor.
pub(crate) fn locate(content: &Bytes, folder: &mut Folder) -> Result<Located, TensorError> {
    let survey = Survey::of(content)?;
    let code = survey.data_type.unwrap_or(0);
    let dtype = DType::from_onnx(code).ok_or(TensorError::Type { code })?;
    let shape = shape_of(&survey)?;
    if survey.segment {
        return Err(TensorError::Segment);
    }
    let typed = only_list(&survey)?;
    let raw = survey.raw_data.clone().filter(|raw| !raw.is_empty());
    let place = if survey.data_location == Some(EXTERNAL) {
        match (typed, raw, dtype) {
            (Some(list), ..) => Err(TensorError::Twice("external_data", list.name())),
            (_, Some(_), _) => Err(TensorError::Twice("external_data", "raw_data")),
            (.., DType::String) => Err(TensorError::WrongField {
                dtype,
                field: "external_data",
                expected: "string_data",
            }),
            _ => external(&survey, dtype, &shape, folder),
        }
    } else {
        match (typed, raw) {
            (Some(list), Some(_)) => Err(TensorError::Twice("raw_data", list.name())),
            (None, Some(_)) if dtype == DType::String => {
                Err(TensorError::WrongField { dtype, field: "raw_data", expected: "string_data" })
            }
            (None, Some(raw)) => {
                let bytes = content.slice(raw);
                Value::new(dtype, &shape, bytes.clone())?;
                Ok(Place::Bytes(bytes))
            }
            (typed, None) => in_typed(content, &survey, typed, dtype, &shape),
        }
    }?;
    Ok(Located { name: survey.name, dtype, shape, place })
}

fn shape_of(survey: &Survey) -> Result<Vec<usize>, TensorError> {
    if survey.rank > MOST_AXES {
        return Err(TensorError::TooManyAxes { rank: survey.rank, limit: MOST_AXES });
    }
    let size = |(axis, &size): (usize, &i64)| {
        usize::try_from(size).map_err(|_| TensorError::NegativeSize { axis, size })
    };
    survey.dims.iter().enumerate().map(size).collect()
}

/// The only typed field with entries.
fn only_list(survey: &Survey) -> Result<Option<Field>, TensorError> {
    let mut used = Field::ALL.into_iter().filter(|field| survey.list(*field).entries > 0);
    match (used.next(), used.next()) {
        (Some(first), Some(second)) => Err(TensorError::Twice(first.name(), second.name())),
        (first, _) => Ok(first),
    }
}

/// The typed field for elements of this type.
fn field_for(dtype: DType) -> Field {
    match dtype {
        DType::F32 | DType::C64 => Field::Float,
        DType::F64 | DType::C128 => Field::Double,
        DType::I64 => Field::Int64,
        DType::U32 | DType::U64 => Field::Uint64,
        DType::String => Field::String,
        _ => Field::Int32,
    }
}

/// Elements from typed fields. A tensor without entries is empty.
fn in_typed(
    content: &Bytes,
    survey: &Survey,
    used: Option<Field>,
    dtype: DType,
    shape: &[usize],
) -> Result<Place, TensorError> {
    let field = field_for(dtype);
    if let Some(used) = used.filter(|used| *used != field) {
        let (field, expected) = (used.name(), field.name());
        return Err(TensorError::WrongField { dtype, field, expected });
    }
    let stand_in = if dtype == DType::String { DType::U8 } else { dtype };
    let layout = Layout::dense(stand_in, shape)?;
    let expected = match field {
        Field::Float => layout.byte_len() / 4,
        Field::Double => layout.byte_len() / 8,
        // Packed elements share an entry as they share a byte.
        Field::Int32 if dtype.is_packed() => layout.byte_len(),
        _ => layout.len(),
    };
    let list = survey.list(field);
    let available = list.entries;
    if available != expected {
        let (shape, field) = (shape.to_vec(), field.name());
        return Err(TensorError::Count { shape, dtype, field, expected, available });
    }
    if field == Field::String {
        return Ok(Place::Strings(available));
    }
    if let (Field::Float | Field::Double, Some(whole)) = (field, &list.whole) {
        // A contiguous field has the same bytes as raw data.
        return Ok(Place::Bytes(content.slice(whole.clone())));
    }
    Ok(Place::Numbers(field, layout.byte_len()))
}

/// `count` strings, each in a field of this number.
pub(super) fn strings(
    content: &Bytes,
    number: u32,
    count: usize,
    folder: &Path,
) -> Result<Strings, TensorError> {
    let places = wire::fields(content).filter_map(|field| match field {
        Ok(field) if field.number != number => None,
        field => Some(field.and_then(|field| field.bytes()).map_err(TensorError::from)),
    });
    Strings::at(content.clone(), count, places, folder)
}

/// The numbers of a field as little-endian elements of a type, `bytes` in all.
fn numbers(
    content: &Bytes,
    field: Field,
    dtype: DType,
    bytes: usize,
    folder: &Path,
) -> Result<Bytes, TensorError> {
    let (low, high, width): (i128, i128, usize) = match (field, dtype) {
        // The bits, whatever their value.
        (Field::Float, _) => (0, u32::MAX.into(), 4),
        (Field::Double | Field::Int64, _) => (0, u64::MAX.into(), 8),
        (_, DType::Bool) => (0, 1, 1),
        (_, DType::I8) => (i8::MIN.into(), i8::MAX.into(), 1),
        (_, DType::I16) => (i16::MIN.into(), i16::MAX.into(), 2),
        (_, DType::I32) => (i32::MIN.into(), i32::MAX.into(), 4),
        (_, DType::U32) => (0, u32::MAX.into(), 4),
        (_, DType::U64) => (0, u64::MAX.into(), 8),
        // Bit patterns, which some programs write with a sign.
        (_, packed) if packed.is_packed() => (i8::MIN.into(), u8::MAX.into(), 1),
        (_, wide) if wide.bits() == Some(16) => (0, u16::MAX.into(), 2),
        _ => (0, u8::MAX.into(), 1),
    };
    let mut data = spool::zeroed(bytes, folder)?;
    let mut places = data.chunks_exact_mut(width);
    let mut position = 0;
    for found in wire::fields(content) {
        let found = found?;
        if found.number != field.number() {
            continue;
        }
        field.numbers().each(content, &found, |bits| {
            // An int32 is encoded in the same way as an int64.
            let value = match field {
                Field::Int32 => i128::from(bits as i32),
                _ => i128::from(bits),
            };
            if !(low..=high).contains(&value) {
                let field = field.name();
                return Err(TensorError::Range { field, position, value, low, high, dtype });
            }
            // They were counted, but the file may have changed since then.
            let place = places
                .next()
                .ok_or_else(|| io::Error::other("the file changed while it was being read"))?;
            let bytes = value.to_le_bytes();
            match place {
                [only] => *only = bytes[0],
                place => place.copy_from_slice(&bytes[..width]),
            }
            position += 1;
            Ok(())
        })?;
    }
    Ok(Bytes::from_owner(data.freeze()?))
}

fn external(
    survey: &Survey,
    dtype: DType,
    shape: &[usize],
    folder: &mut Folder,
) -> Result<Place, TensorError> {
    let number = |key: &'static str, text: &Option<String>| match text {
        None => Ok(None),
        Some(text) => text.parse::<u64>().map(Some).map_err(|_| {
            let value = short(text);
            TensorError::ExternalKey { key, value, expected: "a number of bytes" }
        }),
    };
    let missing = TensorError::ExternalKey {
        key: "location",
        value: String::new(),
        expected: "the name of a file",
    };
    let location = survey.external.location.as_ref().ok_or(missing)?;
    let expected = Layout::dense(dtype, shape)?.byte_len();
    let offset = number("offset", &survey.external.offset)?.unwrap_or(0);
    let length = number("length", &survey.external.length)?;
    if let Some(length) = length.filter(|&length| length != expected as u64) {
        let shape = shape.to_vec();
        return Err(TensorError::ExternalLength { length, shape, dtype, expected });
    }
    Ok(Place::Bytes(folder.bytes(location, offset, expected as u64)?))
}

#[cfg(test)]
mod tests {
    use super::super::messages::TensorProto;
    use super::*;
    use crate::{Location, Output, Saving};
    use prost::Message;

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
                let (at, saving) = (Location::file(&path), Saving::default());
                let output = Output::of_value(&written, "name", at, &saving, &mut |_| {}).unwrap();
                output.finish().unwrap();
                let read = decode_tensor(std::fs::read(&path).unwrap()).unwrap();
                assert_eq!(read, NamedTensor { name: "name".to_owned(), value: written });
            }
        }
        let refused = super::super::raw_head("", DType::U1, &[8], 1).unwrap_err().to_string();
        assert_eq!(refused, "not a TensorProto: ONNX has no u1");
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
