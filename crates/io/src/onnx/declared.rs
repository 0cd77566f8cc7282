//! Declarations of values: ValueInfoProto.

use super::decode::Decoder;
use super::error::TensorError;
use super::messages::{Dimension, ValueInfoProto};
use crate::graph::{Container, Declared, Dim};
use crate::model::ModelError;
use crate::words::short;
use bytes::Bytes;
use prost::Message;
use retrograde::DType;

/// A name and its declaration. A map, a sparse tensor, and a tensor of an unknown type are errors;
/// with `any` it counts as undeclared.
pub(super) fn declared_in(
    decoder: &mut Decoder,
    bytes: &Bytes,
    what: &'static str,
    any: bool,
) -> Result<(String, Declared), ModelError> {
    let info: ValueInfoProto = decoder.declaration(bytes, what)?;
    let kind = info.kind.unwrap_or_default();
    let container = match (&kind.sequence_type, &kind.optional_type) {
        (Some(_), _) => Some(Container::Sequence),
        (None, Some(_)) => Some(Container::Optional),
        (None, None) => None,
    };
    if let Some(container) = container {
        let declared = Declared { container: Some(container), ..Declared::default() };
        return Ok((info.name, declared));
    }
    if (kind.map_type.is_some() || kind.sparse_tensor_type.is_some()) && !any {
        return Err(ModelError::NoTensor { what, name: short(&info.name) });
    }
    let Some(tensor) = kind.tensor_type else { return Ok((info.name, Declared::default())) };
    let dtype = match (tensor.elem_type, DType::from_onnx(tensor.elem_type)) {
        (0, _) => None,
        (code, None) if !any => {
            let what = format!("{what} {:?}", short(&info.name));
            return Err(ModelError::tensor(&what, TensorError::Type { code }));
        }
        (_, dtype) => dtype,
    };
    let dims = match tensor.shape {
        None => None,
        Some(shape) => {
            decoder.spend(std::mem::size_of::<Dim>() * shape.dim.len())?;
            Some(shape.dim.iter().map(dim_of).collect::<Result<_, _>>()?)
        }
    };
    Ok((info.name, Declared { dtype, dims, container: None }))
}

fn dim_of(bytes: &Bytes) -> Result<Dim, ModelError> {
    let dim = Dimension::decode(bytes.clone())
        .map_err(|error| ModelError::NotOnnx { reason: format!("dim: {error}") })?;
    Ok(match (dim.dim_value, dim.dim_param) {
        // Some exporters write -1 for an unknown size.
        (Some(size), _) => usize::try_from(size).map_or(Dim::Any, Dim::Fixed),
        (None, Some(name)) if !name.is_empty() => Dim::Named(name),
        _ => Dim::Any,
    })
}
