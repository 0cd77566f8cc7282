//! Nodes of a graph: which operators are supported, and how their attributes and inputs become an
//! operator of the common form. Attributes that later opsets made inputs become operands.

use super::attributes::Attributes;
use super::messages::NodeProto;
use super::tensor::constant_of;
use crate::external::Folder;
use crate::graph::{Function, GraphError, NodeName, Op, Source};
use crate::model::ModelError;
use crate::value::{Elements, Value};
use retrograde::DType;

/// Operators and the first opset in which they can be used.
const OPERATORS: [(&str, u32); 26] = [
    ("Add", 7),
    ("Cast", 6),
    ("Concat", 4),
    ("Constant", 1),
    ("ConstantOfShape", 9),
    ("Equal", 7),
    ("Expand", 8),
    ("Gather", 1),
    ("GatherElements", 11),
    ("GatherND", 11),
    ("Greater", 9),
    ("GreaterOrEqual", 12),
    ("Identity", 1),
    ("Less", 9),
    ("LessOrEqual", 12),
    ("Mul", 7),
    ("Range", 11),
    ("Reshape", 5),
    ("ReverseSequence", 10),
    ("Shape", 1),
    ("Slice", 1),
    ("Squeeze", 1),
    ("Sub", 7),
    ("Transpose", 1),
    ("Unsqueeze", 1),
    ("Where", 9),
];

/// Whether the operator is supported.
pub(super) fn is_known(kind: &str, opset: u32) -> bool {
    OPERATORS.iter().any(|(name, first)| *name == kind && opset >= *first)
}

/// The form of a supported operator that is not supported itself.
pub(super) fn foreign_form(
    kind: &str,
    attributes: &Attributes<'_>,
) -> Result<Option<&'static str>, ModelError> {
    Ok(match kind {
        "Constant" if attributes.has("sparse_value") => Some("Constant with sparse_value"),
        "GatherND" if attributes.int("batch_dims")?.unwrap_or(0) != 0 => {
            Some("GatherND with batch_dims")
        }
        _ => None,
    })
}

/// The operator of a node, and its operands.
pub(super) fn operator(
    name: &NodeName,
    node: &NodeProto,
    attributes: &Attributes<'_>,
    opset: u32,
    folder: &mut Folder,
) -> Result<(Op, Vec<Source>), ModelError> {
    let source = |input: &String| match input.as_str() {
        "" => Source::Absent,
        value => Source::Value(value.to_owned()),
    };
    let mut inputs: Vec<Source> = node.input.iter().map(source).collect();
    let list = |name: &str| attributes.ints(name).map(|list| list.map(Source::Integers));
    let op = match name.kind.as_str() {
        "ReverseSequence" => {
            attributes.only(&["time_axis", "batch_axis"])?;
            let time = attributes.int("time_axis")?.unwrap_or(0);
            let batch = attributes.int("batch_axis")?.unwrap_or(1);
            Op::Sequence { time, batch, opset: Some(opset) }
        }
        "Slice" if opset < 10 => {
            attributes.only(&["starts", "ends", "axes"])?;
            check_inputs(name, node, 1)?;
            inputs.push(required(name, "starts", list("starts")?)?);
            inputs.push(required(name, "ends", list("ends")?)?);
            inputs.extend(list("axes")?);
            Op::Slice
        }
        "Slice" => {
            attributes.only(&[])?;
            Op::Slice
        }
        "Transpose" => {
            attributes.only(&["perm"])?;
            check_inputs(name, node, 1)?;
            inputs.extend(list("perm")?);
            Op::Transpose("perm")
        }
        "Squeeze" | "Unsqueeze" => {
            let squeezes = name.kind == "Squeeze";
            if opset < 13 {
                attributes.only(&["axes"])?;
                check_inputs(name, node, 1)?;
                let axes = list("axes")?;
                inputs.extend(if squeezes { axes } else { Some(required(name, "axes", axes)?) });
            } else {
                attributes.only(&[])?;
            }
            if squeezes { Op::Squeeze { skips: false } } else { Op::Unsqueeze }
        }
        "Shape" => {
            attributes.only(if opset < 15 { &[] } else { &["start", "end"] })?;
            let start = attributes.int("start")?.unwrap_or(0);
            Op::Shape { start, end: attributes.int("end")?, dtype: DType::I64 }
        }
        "Gather" => {
            attributes.only(&["axis"])?;
            check_inputs(name, node, 2)?;
            inputs.push(Source::Integers(vec![attributes.int("axis")?.unwrap_or(0)]));
            Op::Gather
        }
        "Concat" => {
            attributes.only(&["axis"])?;
            Op::Concat { axis: required(name, "axis", attributes.int("axis")?)? }
        }
        "Cast" => {
            let names = ["to", "saturate", "round_mode"];
            attributes.only(match opset {
                ..19 => &names[..1],
                19..25 => &names[..2],
                _ => &names,
            })?;
            Op::Cast(cast_type(name, required(name, "to", attributes.int("to")?)?)?)
        }
        "ConstantOfShape" => {
            attributes.only(&["value"])?;
            Op::Fill(Box::new(element(name, attributes, folder)?))
        }
        "GatherElements" => {
            attributes.only(&["axis"])?;
            Op::GatherElements { axis: attributes.int("axis")?.unwrap_or(0) }
        }
        "GatherND" => {
            attributes.only(if opset < 12 { &[] } else { &["batch_dims"] })?;
            Op::GatherNd
        }
        "Reshape" => {
            attributes.only(if opset < 14 { &[] } else { &["allowzero"] })?;
            let zero_keeps = attributes.int("allowzero")?.unwrap_or(0) == 0;
            Op::Reshape { zero_keeps, infers_zero: zero_keeps }
        }
        kind => {
            attributes.only(&[])?;
            match Function::named(kind) {
                Some(function) => Op::Arithmetic(function),
                None if kind == "Expand" => Op::Expand { both: true },
                None if kind == "Range" => Op::Range(None),
                None if kind == "Where" => Op::Select,
                None => Op::Identity,
            }
        }
    };
    Ok((op, inputs))
}

/// Checks the number of inputs where operands are added to them.
pub(super) fn check_inputs(
    name: &NodeName,
    node: &NodeProto,
    expected: usize,
) -> Result<(), ModelError> {
    match node.input.len() {
        given if given == expected => Ok(()),
        given => Err(GraphError::inputs(name, given, expected.to_string()).into()),
    }
}

fn required<T>(node: &NodeName, attribute: &str, found: Option<T>) -> Result<T, ModelError> {
    found.ok_or_else(|| GraphError::attribute(node, attribute, "missing", "a value").into())
}

fn cast_type(node: &NodeName, code: i64) -> Result<DType, ModelError> {
    let dtype = i32::try_from(code).ok().and_then(DType::from_onnx);
    dtype.ok_or_else(|| {
        let expected = "one of 1 (FLOAT) to 26 (INT2)";
        GraphError::attribute(node, "to", code.to_string(), expected).into()
    })
}

/// The element that a ConstantOfShape repeats.
fn element(
    node: &NodeName,
    attributes: &Attributes<'_>,
    folder: &mut Folder,
) -> Result<Value, ModelError> {
    let layout = |source| GraphError::Layout { node: node.clone(), source };
    let Some(tensor) = attributes.tensor("value")? else {
        return Ok(Value::new(DType::F32, &[], vec![0; 4]).map_err(layout)?);
    };
    let value = constant_of(&tensor, folder)
        .map_err(|source| ModelError::tensor(&node.to_string(), source))?
        .value;
    if value.shape().iter().any(|&size| size != 1) {
        let is = format!("{} {:?}", value.dtype(), value.shape());
        return Err(GraphError::attribute(node, "value", is, "one element").into());
    }
    let element = match value.elements() {
        Elements::Bytes(bytes) => Value::new(value.dtype(), &[], bytes.clone()),
        Elements::Strings(strings) => Value::strings(&[], strings.clone()),
    };
    Ok(element.map_err(layout)?)
}

/// The only output of a node.
pub(super) fn output_of(node: &NodeProto, name: &NodeName) -> Result<String, ModelError> {
    match &node.output[..] {
        [output] if !output.is_empty() => Ok(output.clone()),
        outputs => {
            let (node, given) = (name.clone(), outputs.len());
            Err(GraphError::OutputCount { node, given }.into())
        }
    }
}
