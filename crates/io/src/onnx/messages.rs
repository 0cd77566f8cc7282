//! The ONNX messages, with only the fields that are used. Field numbers are those of `onnx.proto`.
//!
//! Repeated messages are declared as repeated bytes, which is the same on the wire. They are
//! decoded one by one where they are needed, so that a file of a million empty messages does not
//! become a million large structs. Undeclared fields are skipped.

use bytes::Bytes;

#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct ModelProto {
    #[prost(int64, optional, tag = "1")]
    pub(super) ir_version: Option<i64>,
    /// A GraphProto.
    #[prost(bytes = "bytes", optional, tag = "7")]
    pub(super) graph: Option<Bytes>,
    #[prost(bytes = "bytes", repeated, tag = "8")]
    pub(super) opset_import: Vec<Bytes>,
    #[prost(bytes = "bytes", repeated, tag = "25")]
    pub(super) functions: Vec<Bytes>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct OperatorSetIdProto {
    #[prost(string, tag = "1")]
    pub(super) domain: String,
    #[prost(int64, tag = "2")]
    pub(super) version: i64,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct FunctionProto {
    #[prost(string, tag = "1")]
    pub(super) name: String,
    #[prost(string, tag = "10")]
    pub(super) domain: String,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct GraphProto {
    #[prost(bytes = "bytes", repeated, tag = "1")]
    pub(super) node: Vec<Bytes>,
    #[prost(bytes = "bytes", repeated, tag = "5")]
    pub(super) initializer: Vec<Bytes>,
    #[prost(bytes = "bytes", repeated, tag = "11")]
    pub(super) input: Vec<Bytes>,
    #[prost(bytes = "bytes", repeated, tag = "12")]
    pub(super) output: Vec<Bytes>,
    #[prost(bytes = "bytes", repeated, tag = "13")]
    pub(super) value_info: Vec<Bytes>,
    #[prost(bytes = "bytes", repeated, tag = "15")]
    pub(super) sparse_initializer: Vec<Bytes>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct SparseTensorProto {
    /// A TensorProto, which also has the name.
    #[prost(bytes = "bytes", optional, tag = "1")]
    pub(super) values: Option<Bytes>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct NodeProto {
    #[prost(string, repeated, tag = "1")]
    pub(super) input: Vec<String>,
    #[prost(string, repeated, tag = "2")]
    pub(super) output: Vec<String>,
    #[prost(string, tag = "3")]
    pub(super) name: String,
    #[prost(string, tag = "4")]
    pub(super) op_type: String,
    #[prost(bytes = "bytes", repeated, tag = "5")]
    pub(super) attribute: Vec<Bytes>,
    #[prost(string, tag = "7")]
    pub(super) domain: String,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct AttributeProto {
    #[prost(string, tag = "1")]
    pub(super) name: String,
    #[prost(float, optional, tag = "2")]
    pub(super) f: Option<f32>,
    #[prost(int64, optional, tag = "3")]
    pub(super) i: Option<i64>,
    #[prost(bytes = "bytes", optional, tag = "4")]
    pub(super) s: Option<Bytes>,
    /// A TensorProto.
    #[prost(bytes = "bytes", optional, tag = "5")]
    pub(super) t: Option<Bytes>,
    /// Which field holds the value.
    #[prost(int32, optional, tag = "20")]
    pub(super) kind: Option<i32>,
    /// The attribute of the enclosing function whose value this is.
    #[prost(string, tag = "21")]
    pub(super) ref_attr_name: String,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct ValueInfoProto {
    #[prost(string, tag = "1")]
    pub(super) name: String,
    #[prost(message, optional, tag = "2")]
    pub(super) kind: Option<TypeProto>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct TypeProto {
    #[prost(message, optional, tag = "1")]
    pub(super) tensor_type: Option<TensorType>,
    /// A sequence, a map, an optional value or a sparse tensor: only its presence matters.
    #[prost(bytes = "bytes", optional, tag = "4")]
    pub(super) sequence_type: Option<Bytes>,
    #[prost(bytes = "bytes", optional, tag = "5")]
    pub(super) map_type: Option<Bytes>,
    #[prost(bytes = "bytes", optional, tag = "8")]
    pub(super) sparse_tensor_type: Option<Bytes>,
    #[prost(bytes = "bytes", optional, tag = "9")]
    pub(super) optional_type: Option<Bytes>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct TensorType {
    #[prost(int32, tag = "1")]
    pub(super) elem_type: i32,
    #[prost(message, optional, tag = "2")]
    pub(super) shape: Option<TensorShapeProto>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct TensorShapeProto {
    #[prost(bytes = "bytes", repeated, tag = "1")]
    pub(super) dim: Vec<Bytes>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct Dimension {
    #[prost(int64, optional, tag = "1")]
    pub(super) dim_value: Option<i64>,
    #[prost(string, optional, tag = "2")]
    pub(super) dim_param: Option<String>,
}

/// The start of a TensorProto, for writing. [`Survey`](super::survey::Survey) reads one.
#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct TensorHead {
    #[prost(int64, repeated, packed = "false", tag = "1")]
    pub(super) dims: Vec<i64>,
    #[prost(int32, optional, tag = "2")]
    pub(super) data_type: Option<i32>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct StringStringEntryProto {
    #[prost(string, tag = "1")]
    pub(super) key: String,
    #[prost(string, tag = "2")]
    pub(super) value: String,
}

/// A complete TensorProto, as other programs write it.
#[cfg(test)]
#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct TensorProto {
    #[prost(int64, repeated, packed = "false", tag = "1")]
    pub(super) dims: Vec<i64>,
    #[prost(int32, optional, tag = "2")]
    pub(super) data_type: Option<i32>,
    #[prost(bytes = "bytes", optional, tag = "3")]
    pub(super) segment: Option<Bytes>,
    #[prost(float, repeated, tag = "4")]
    pub(super) float_data: Vec<f32>,
    #[prost(int32, repeated, tag = "5")]
    pub(super) int32_data: Vec<i32>,
    #[prost(bytes = "bytes", repeated, tag = "6")]
    pub(super) string_data: Vec<Bytes>,
    #[prost(int64, repeated, tag = "7")]
    pub(super) int64_data: Vec<i64>,
    #[prost(string, tag = "8")]
    pub(super) name: String,
    #[prost(bytes = "bytes", optional, tag = "9")]
    pub(super) raw_data: Option<Bytes>,
    #[prost(double, repeated, tag = "10")]
    pub(super) double_data: Vec<f64>,
    #[prost(uint64, repeated, tag = "11")]
    pub(super) uint64_data: Vec<u64>,
    #[prost(message, repeated, tag = "13")]
    pub(super) external_data: Vec<StringStringEntryProto>,
    #[prost(int32, optional, tag = "14")]
    pub(super) data_location: Option<i32>,
}
