//! Loads an ONNX model with a ReverseSequence node and runs it.
//!
//!     cargo run --example reverse-sequence [MODEL]
//!
//! Without an argument, the model is a single node on a batch of any size. A model from a file is
//! only loaded and optimised, and its nodes are printed.

use tract_onnx::pb::tensor_proto::DataType;
use tract_onnx::pb::tensor_shape_proto::{Dimension, dimension};
use tract_onnx::pb::type_proto::{Tensor as TensorType, Value};
use tract_onnx::pb::*;
use tract_onnx::prelude::*;

fn main() -> TractResult<()> {
    let mut onnx = tract_onnx::onnx();
    retrograde_tract::register(&mut onnx);
    if let Some(path) = std::env::args_os().nth(1) {
        println!("{}", onnx.model_for_path(path)?.into_optimized()?);
        return Ok(());
    }
    let model = onnx.model_for_proto_model(&one_node())?.into_optimized()?.into_runnable()?;
    let batch = tensor2(&[[1f32, 2., 3., 4.], [5., 6., 0., 0.], [7., 8., 9., 0.]]);
    let lengths = tensor1(&[4i64, 2, 3]);
    let outputs = model.run(tvec!(batch.into(), lengths.into()))?;
    println!("{:?}", outputs[0].to_plain_array_view::<f32>()?);
    Ok(())
}

/// `y = ReverseSequence(x, lengths)`: sequences of four steps, in the rows of `x`.
fn one_node() -> ModelProto {
    let named =
        || Dimension { value: Some(dimension::Value::DimParam("N".into())), ..Default::default() };
    let four = Dimension { value: Some(dimension::Value::DimValue(4)), ..Default::default() };
    let input = |name: &str, of: DataType, dim: Vec<Dimension>| {
        let tensor = TensorType { elem_type: of as i32, shape: Some(TensorShapeProto { dim }) };
        let value = Some(Value::TensorType(tensor));
        let r#type = Some(TypeProto { value, ..Default::default() });
        ValueInfoProto { name: name.into(), r#type, ..Default::default() }
    };
    let axis = |name: &str, i| AttributeProto {
        name: name.into(),
        r#type: attribute_proto::AttributeType::Int as i32,
        i,
        ..Default::default()
    };
    let node = NodeProto {
        op_type: "ReverseSequence".into(),
        input: vec!["x".into(), "lengths".into()],
        output: vec!["y".into()],
        attribute: vec![axis("time_axis", 1), axis("batch_axis", 0)],
        ..Default::default()
    };
    let graph = GraphProto {
        node: vec![node],
        input: vec![
            input("x", DataType::Float, vec![named(), four]),
            input("lengths", DataType::Int64, vec![named()]),
        ],
        output: vec![ValueInfoProto { name: "y".into(), ..Default::default() }],
        ..Default::default()
    };
    let opset = OperatorSetIdProto { domain: String::new(), version: 17 };
    let opset_import = vec![opset];
    ModelProto { ir_version: 8, opset_import, graph: Some(graph), ..Default::default() }
}
