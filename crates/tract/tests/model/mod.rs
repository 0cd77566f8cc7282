//! ONNX models, written as bytes.

use prost::Message;
use tract_onnx::pb::tensor_proto::DataType;
use tract_onnx::pb::tensor_shape_proto::{Dimension, dimension};
use tract_onnx::pb::type_proto::{Tensor as TensorType, Value};
use tract_onnx::pb::*;
use tract_onnx::prelude::*;

/// A size, or a symbol.
pub(crate) enum Size {
    Is(i64),
    Named(&'static str),
}

pub(crate) fn sizes(sizes: &[usize]) -> Vec<Size> {
    sizes.iter().map(|&size| Size::Is(size as i64)).collect()
}

/// An input or an output.
pub(crate) fn value(name: &str, of: DataType, shape: &[Size]) -> ValueInfoProto {
    let dim = shape.iter().map(|size| Dimension {
        denotation: String::new(),
        value: Some(match size {
            Size::Is(size) => dimension::Value::DimValue(*size),
            Size::Named(name) => dimension::Value::DimParam((*name).into()),
        }),
    });
    let shape = Some(TensorShapeProto { dim: dim.collect() });
    let tensor = TensorType { elem_type: of as i32, shape };
    let r#type = TypeProto { value: Some(Value::TensorType(tensor)), ..Default::default() };
    ValueInfoProto { name: name.into(), r#type: Some(r#type), ..Default::default() }
}

/// A constant of integers.
pub(crate) fn integers(name: &str, shape: &[usize], values: &[i64]) -> TensorProto {
    TensorProto {
        name: name.into(),
        dims: shape.iter().map(|&size| size as i64).collect(),
        data_type: DataType::Int64 as i32,
        int64_data: values.to_vec(),
        ..Default::default()
    }
}

/// A node with integer attributes; its output has the name of the node.
pub(crate) fn node(name: &str, op: &str, inputs: &[&str], attributes: &[(&str, i64)]) -> NodeProto {
    let attribute = |&(name, i): &(&str, i64)| AttributeProto {
        name: name.into(),
        r#type: attribute_proto::AttributeType::Int as i32,
        i,
        ..Default::default()
    };
    NodeProto {
        name: name.into(),
        op_type: op.into(),
        input: inputs.iter().map(|&input| input.into()).collect(),
        output: vec![name.into()],
        attribute: attributes.iter().map(attribute).collect(),
        ..Default::default()
    }
}

/// An attribute that is a list of integers.
pub(crate) fn list(name: &str, ints: &[i64]) -> AttributeProto {
    let r#type = attribute_proto::AttributeType::Ints as i32;
    AttributeProto { name: name.into(), r#type, ints: ints.to_vec(), ..Default::default() }
}

/// The bytes of a model whose outputs are nodes.
pub(crate) fn model(
    input: Vec<ValueInfoProto>,
    initializer: Vec<TensorProto>,
    node: Vec<NodeProto>,
    outputs: &[&str],
) -> Vec<u8> {
    let output = |&name: &&str| ValueInfoProto { name: name.into(), ..Default::default() };
    let output = outputs.iter().map(output).collect();
    let name = "test".into();
    let graph = GraphProto { node, name, initializer, input, output, ..Default::default() };
    let opset_import = vec![OperatorSetIdProto { domain: String::new(), version: 17 }];
    let model =
        ModelProto { ir_version: 8, opset_import, graph: Some(graph), ..Default::default() };
    model.encode_to_vec()
}

/// Loads with the operator registered.
pub(crate) fn load(bytes: &[u8]) -> TractResult<InferenceModel> {
    let mut onnx = tract_onnx::onnx();
    retrograde_tract::register(&mut onnx);
    onnx.model_for_read(&mut &bytes[..])
}

/// Loads, optimises and runs.
pub(crate) fn run(bytes: &[u8], inputs: &[Tensor]) -> TractResult<TVec<TValue>> {
    let inputs = || inputs.iter().map(|input| input.clone().into()).collect();
    let plain = load(bytes)?.into_typed()?.into_runnable()?.run(inputs())?;
    let optimised = load(bytes)?.into_optimized()?.into_runnable()?.run(inputs())?;
    assert_eq!(plain, optimised);
    Ok(optimised)
}

/// All messages of an error, outermost first.
pub(crate) fn text(error: TractError) -> String {
    format!("{error:#}")
}
