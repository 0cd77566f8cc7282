//! The value of a Constant node, in one of the attributes that may hold it.

use super::attributes::{Attributes, Kind, unknown};
use super::error::TensorError;
use super::messages::AttributeProto;
use super::tensor::{check_text, constant_of, strings};
use super::wire::{self, Numbers};
use crate::external::Folder;
use crate::graph::{GraphError, NodeName};
use crate::model::ModelError;
use crate::spool;
use crate::value::Value;
use bytes::Bytes;
use retrograde::{DType, Layout};
use std::io;
use std::path::Path;

/// The value of a Constant.
pub(super) fn value(
    name: &NodeName,
    attributes: &Attributes<'_>,
    folder: &mut Folder,
) -> Result<Value, ModelError> {
    let [(attribute, content)] = attributes.list() else {
        let given = format!("given {} times", attributes.list().len());
        return Err(GraphError::attribute(name, "value", given, "exactly one value").into());
    };
    let (kind, attribute_name) = match attribute.name.as_str() {
        "value" => (Kind::Tensor, "value"),
        "value_float" => (Kind::Float, "value_float"),
        "value_int" => (Kind::Int, "value_int"),
        "value_string" => (Kind::String, "value_string"),
        "value_floats" => (Kind::Floats, "value_floats"),
        "value_ints" => (Kind::Ints, "value_ints"),
        "value_strings" => (Kind::Strings, "value_strings"),
        _ => return Err(unknown(name, attribute)),
    };
    attributes.check(attribute, content, kind)?;
    let wrong = |source: TensorError| ModelError::tensor(&name.to_string(), source);
    let AttributeProto { f, i, s, t, .. } = attribute;
    let value = match kind {
        Kind::Tensor => {
            let tensor = t.clone().unwrap_or_default();
            return Ok(constant_of(&tensor, folder).map_err(wrong)?.value);
        }
        Kind::Float => Value::new(DType::F32, &[], f.unwrap_or(0.0).to_le_bytes().to_vec()),
        Kind::Int => Value::new(DType::I64, &[], i.unwrap_or(0).to_le_bytes().to_vec()),
        Kind::String => {
            Value::strings(&[], std::iter::once(s.clone().unwrap_or_default()).collect())
        }
        kind => list(kind, content, folder.spool()).map_err(wrong).map(Ok)?,
    };
    let value = value.map_err(|source| GraphError::Layout { node: name.clone(), source })?;
    check_text(&value, attribute_name).map_err(wrong)?;
    Ok(value)
}

/// A list attribute: `value_floats` and similar.
fn list(list: Kind, content: &Bytes, folder: &Path) -> Result<Value, TensorError> {
    let number = list.field();
    let (kind, dtype) = match list {
        Kind::Floats => (Numbers::Fixed32, DType::F32),
        Kind::Ints => (Numbers::Varint, DType::I64),
        _ => (Numbers::Varint, DType::String),
    };
    let mine = || {
        wire::fields(content).filter(|field| !matches!(field, Ok(field) if field.number != number))
    };
    let mut count = 0;
    for field in mine() {
        let field = field?;
        count += if dtype == DType::String { 1 } else { kind.count(content, &field)? };
    }
    if dtype == DType::String {
        return Ok(Value::strings(&[count], strings(content, number, count, folder)?)?);
    }
    let width = dtype.bits().unwrap_or(0) / 8;
    let mut data = spool::zeroed(Layout::dense(dtype, &[count])?.byte_len(), folder)?;
    let mut places = data.chunks_exact_mut(width);
    for field in mine() {
        kind.each::<TensorError>(content, &field?, |bits| {
            let place = places
                .next()
                .ok_or_else(|| io::Error::other("the file changed while it was being read"))?;
            place.copy_from_slice(&bits.to_le_bytes()[..width]);
            Ok(())
        })?;
    }
    Ok(Value::new(dtype, &[count], Bytes::from_owner(data.freeze()?))?)
}
