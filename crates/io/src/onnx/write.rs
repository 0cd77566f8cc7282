//! Writing a TensorProto: raw data, or strings, which are written one after the other.

use super::error::TensorError;
use super::messages::TensorHead;
use prost::Message;
use prost::encoding::{WireType, encode_key, encode_varint, encoded_len_varint};
use retrograde::DType;
use std::io::{self, BufWriter, Write};

/// What a protocol buffer may have at most.
const MOST_BYTES: usize = i32::MAX as usize;
const STRING_DATA: u32 = 6;
const NAME: u32 = 8;
const RAW_DATA: u32 = 9;

/// A message of this many raw bytes, up to them: their field comes last.
pub(crate) fn raw_head(
    name: &str,
    dtype: DType,
    shape: &[usize],
    raw: usize,
) -> Result<Vec<u8>, TensorError> {
    let mut head = [start(dtype, shape)?, named(name)].concat();
    check_size(head.len().saturating_add(raw))?;
    encode_key(RAW_DATA, WireType::LengthDelimited, &mut head);
    encode_varint(raw as u64, &mut head);
    Ok(head)
}

/// A message of strings, all but the strings: fields are written in the order of their numbers.
#[derive(Debug)]
pub(crate) struct StringsMessage {
    before: Vec<u8>,
    after: Vec<u8>,
}

impl StringsMessage {
    /// For strings of these lengths.
    pub(crate) fn of(
        name: &str,
        shape: &[usize],
        lengths: impl Iterator<Item = usize>,
    ) -> Result<StringsMessage, TensorError> {
        let (before, after) = (start(DType::String, shape)?, named(name));
        let taken = |len: usize| len.saturating_add(1 + encoded_len_varint(len as u64));
        let ends = before.len() + after.len();
        check_size(lengths.map(taken).fold(ends, usize::saturating_add))?;
        Ok(StringsMessage { before, after })
    }

    /// Writes it with its strings.
    pub(crate) fn write<S: AsRef<[u8]>>(
        &self,
        out: &mut impl Write,
        strings: impl Iterator<Item = S>,
    ) -> io::Result<()> {
        let mut out = BufWriter::with_capacity(1 << 16, out);
        out.write_all(&self.before)?;
        let mut key = Vec::with_capacity(16);
        for string in strings {
            let string = string.as_ref();
            key.clear();
            encode_key(STRING_DATA, WireType::LengthDelimited, &mut key);
            encode_varint(string.len() as u64, &mut key);
            out.write_all(&key)?;
            out.write_all(string)?;
        }
        out.write_all(&self.after)?;
        out.flush()
    }
}

/// Sizes and type.
fn start(dtype: DType, shape: &[usize]) -> Result<Vec<u8>, TensorError> {
    let Some((code, _)) = dtype.names().and_then(|names| names.onnx) else {
        return Err(TensorError::NotTensor { reason: format!("ONNX has no {dtype}") });
    };
    // Beside an axis of size 0 a size may be anything.
    let dims: Result<_, _> = shape.iter().map(|&size| i64::try_from(size)).collect();
    let dims = dims.map_err(|_| TensorError::NotTensor {
        reason: format!("shape {shape:?} has a size beyond {}", i64::MAX),
    })?;
    Ok(TensorHead { dims, data_type: Some(code) }.encode_to_vec())
}

/// The name, where there is one.
fn named(name: &str) -> Vec<u8> {
    let mut field = Vec::new();
    if !name.is_empty() {
        prost::encoding::string::encode(NAME, &name.to_owned(), &mut field);
    }
    field
}

fn check_size(bytes: usize) -> Result<(), TensorError> {
    if bytes > MOST_BYTES - 16 {
        let reason = format!("{bytes} bytes are more than the format can hold (2 GiB)");
        return Err(TensorError::NotTensor { reason });
    }
    Ok(())
}
