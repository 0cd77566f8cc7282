//! ModelProto: reads the graph of a `.onnx` file into the common form.

use super::messages::{
    AttributeProto, Dimension, FunctionProto, GraphProto, ModelProto, NodeProto,
    OperatorSetIdProto, TensorProto, ValueInfoProto,
};
use super::tensor::{TensorError, value_of};
use crate::error::{Error, ModelError};
use crate::external::{Folder, short};
use crate::graph::{Declared, Dim, Graph, GraphError, Input, Node, NodeName, Op, Output, Parts};
use crate::value::Value;
use bytes::Bytes;
use prost::Message;
use retrograde::DType;
use std::collections::{HashMap, HashSet};
use std::ops::RangeInclusive;
use std::path::Path;

/// Opsets whose ReverseSequence, Constant and Identity are known.
const OPSETS: RangeInclusive<i64> = 10..=28;
/// More of anything than a graph of reversals has.
const MOST: usize = 1 << 20;

/// Reads a `.onnx` file, with the data that lies in files beside it.
///
/// ```no_run
/// let graph = retrograde_io::onnx::read_model("model.onnx")?;
/// for input in graph.inputs() {
///     println!("{:?}: {}", input.names, input.declared);
/// }
/// # Ok::<(), retrograde_io::Error>(())
/// ```
pub fn read_model(path: impl AsRef<Path>) -> Result<Graph, Error> {
    let path = path.as_ref();
    let content =
        crate::map::file(path).map_err(|source| Error::Read { path: path.to_owned(), source })?;
    decode_model(content, &mut Folder::of(path))
        .map_err(|source| Error::Model { path: path.to_owned(), source: Box::new(source) })
}

/// Decodes one message out of a list.
fn decode<M: Message + Default>(bytes: &Bytes, what: &'static str) -> Result<M, ModelError> {
    M::decode(bytes.clone())
        .map_err(|error| ModelError::NotOnnx { reason: format!("{what}: {error}") })
}

fn decode_model(content: Bytes, folder: &mut Folder) -> Result<Graph, ModelError> {
    let model: ModelProto = decode(&content, "ModelProto")?;
    let missing = |what: &str| ModelError::NotOnnx { reason: format!("it has no {what}") };
    let graph = model.graph.as_ref().ok_or_else(|| missing("graph"))?;
    if model.ir_version.is_none() {
        return Err(missing("ir_version"));
    }
    for (what, count) in [
        ("nodes", graph.node.len()),
        ("initializers", graph.initializer.len()),
        ("inputs", graph.input.len()),
        ("outputs", graph.output.len()),
        ("declared values", graph.value_info.len()),
        ("opsets", model.opset_import.len()),
        ("functions", model.functions.len()),
    ] {
        if count > MOST {
            return Err(GraphError::TooMany { what, count, limit: MOST }.into());
        }
    }
    let opset = opset_of(&model)?;
    let functions = functions_of(&model)?;
    let mut reader = Reader { opset, functions, folder, parts: Parts::default() };
    // First, so that a model with foreign nodes is told all of them whatever else it has.
    for bytes in &graph.node {
        reader.node(&decode(bytes, "node")?)?;
    }
    if reader.parts.foreign.is_empty() {
        reader.values(graph)?;
    }
    Ok(reader.parts.check()?)
}

/// The version of the usual operator set.
fn opset_of(model: &ModelProto) -> Result<u32, ModelError> {
    let mut version = None;
    for bytes in &model.opset_import {
        let opset: OperatorSetIdProto = decode(bytes, "opset_import")?;
        if is_usual(&opset.domain) {
            version = Some(opset.version);
        }
    }
    match version {
        Some(version) if OPSETS.contains(&version) => Ok(version as u32),
        version => Err(ModelError::Opset { version, low: *OPSETS.start(), high: *OPSETS.end() }),
    }
}

fn is_usual(domain: &str) -> bool {
    matches!(domain, "" | "ai.onnx")
}

/// Functions that the model brings along: they go before operators of the same name.
fn functions_of(model: &ModelProto) -> Result<HashSet<String>, ModelError> {
    let mut functions = HashSet::new();
    for bytes in &model.functions {
        let function: FunctionProto = decode(bytes, "function")?;
        functions.insert(full_name(&function.domain, &function.name));
    }
    Ok(functions)
}

fn full_name(domain: &str, name: &str) -> String {
    if is_usual(domain) { name.to_owned() } else { format!("{domain}.{name}") }
}

struct Reader<'a> {
    opset: u32,
    functions: HashSet<String>,
    folder: &'a mut Folder,
    parts: Parts,
}

impl Reader<'_> {
    fn node(&mut self, node: &NodeProto) -> Result<(), ModelError> {
        let kind = full_name(&node.domain, &node.op_type);
        let name = NodeName { name: node.name.clone(), kind: kind.clone() };
        if self.functions.contains(&kind) {
            self.parts.foreign.push(name);
            return Ok(());
        }
        let attributes = node.attribute.iter().map(|bytes| decode(bytes, "attribute"));
        let op = match kind.as_str() {
            "Identity" => Op::Identity,
            "ReverseSequence" => {
                let (mut time, mut batch) = (0, 1);
                for attribute in attributes {
                    let attribute: AttributeProto = attribute?;
                    let axis = match attribute.name.as_str() {
                        "time_axis" => &mut time,
                        "batch_axis" => &mut batch,
                        _ => return Err(unknown(name, &attribute)),
                    };
                    *axis = attribute.i.unwrap_or(0);
                }
                Op::Sequence { time, batch, opset: Some(self.opset) }
            }
            "Constant" => {
                let attributes: Vec<AttributeProto> = attributes.collect::<Result<_, _>>()?;
                match self.constant(&name, &attributes)? {
                    Some(value) => {
                        let output = output_of(node, &name)?;
                        if !node.input.is_empty() {
                            let given = node.input.len();
                            return Err(
                                GraphError::InputCount { node: name, given, expected: 0 }.into()
                            );
                        }
                        self.parts.constants.push((output, value));
                    }
                    None => self.parts.foreign.push(name),
                }
                return Ok(());
            }
            _ => {
                self.parts.foreign.push(name);
                return Ok(());
            }
        };
        let output = output_of(node, &name)?;
        self.parts.nodes.push(Node { name, op, inputs: node.input.clone(), output });
        Ok(())
    }

    /// The value of a Constant; `None` for a sparse one.
    fn constant(
        &mut self,
        name: &NodeName,
        attributes: &[AttributeProto],
    ) -> Result<Option<Value>, ModelError> {
        let [attribute] = attributes else {
            return Err(GraphError::Attribute {
                node: name.clone(),
                attribute: "value".to_owned(),
                value: format!("given {} times", attributes.len()),
                expected: "exactly one value",
            }
            .into());
        };
        fn bytes<const N: usize>(numbers: impl Iterator<Item = [u8; N]>) -> Vec<u8> {
            numbers.flatten().collect()
        }
        let AttributeProto { f, i, s, t, floats, ints, strings, .. } = attribute;
        let (many, count) = (&attribute.name, [floats.len(), ints.len(), strings.len()]);
        let value = match many.as_str() {
            "sparse_value" => return Ok(None),
            "value" => {
                let tensor = t.clone().unwrap_or_default();
                let wrong = |source| self::tensor_error(&name.to_string(), source);
                return value_of(&tensor, self.folder).map(Some).map_err(wrong);
            }
            "value_float" => Value::new(DType::F32, &[], f.unwrap_or(0.0).to_le_bytes().to_vec()),
            "value_floats" => {
                let numbers = floats.iter().map(|number| number.to_le_bytes());
                Value::new(DType::F32, &count[..1], bytes(numbers))
            }
            "value_int" => Value::new(DType::I64, &[], i.unwrap_or(0).to_le_bytes().to_vec()),
            "value_ints" => {
                let numbers = ints.iter().map(|number| number.to_le_bytes());
                Value::new(DType::I64, &count[1..2], bytes(numbers))
            }
            "value_string" => Value::strings(&[], vec![s.clone().unwrap_or_default()]),
            "value_strings" => Value::strings(&count[2..], strings.clone()),
            _ => return Err(unknown(name.clone(), attribute)),
        };
        value.map(Some).map_err(|source| GraphError::Layout { node: name.clone(), source }.into())
    }

    /// Initializers, inputs, outputs, and what is declared about the rest.
    fn values(&mut self, graph: &GraphProto) -> Result<(), ModelError> {
        let mut initialized = HashSet::new();
        for bytes in &graph.initializer {
            let tensor: TensorProto = decode(bytes, "initializer")?;
            let what = format!("initializer {:?}", short(&tensor.name));
            let value =
                value_of(&tensor, self.folder).map_err(|source| tensor_error(&what, source))?;
            initialized.insert(tensor.name.clone());
            self.parts.constants.push((tensor.name, value));
        }
        for bytes in &graph.input {
            let (name, declared) = declared_in(bytes, "input")?;
            let has_default = initialized.contains(&name);
            let names = vec![name.clone()];
            self.parts.inputs.push(Input { names, value: name, declared, has_default });
        }
        let mut outputs = HashMap::new();
        for bytes in &graph.output {
            let (name, declared) = declared_in(bytes, "output")?;
            if outputs.insert(name.clone(), ()).is_some() {
                return Err(GraphError::MadeTwice { value: short(&name) }.into());
            }
            self.parts.outputs.push(Output { names: vec![name.clone()], value: name, declared });
        }
        for bytes in &graph.value_info {
            let (name, declared) = declared_in(bytes, "value_info")?;
            self.parts.declared.insert(name, declared);
        }
        Ok(())
    }
}

fn tensor_error(what: &str, source: TensorError) -> ModelError {
    ModelError::Tensor { what: short(what), source: Box::new(source) }
}

fn unknown(node: NodeName, attribute: &AttributeProto) -> ModelError {
    let attribute = short(&attribute.name);
    let (value, expected) = ("unknown".to_owned(), "one that the operator has");
    GraphError::Attribute { node, attribute, value, expected }.into()
}

/// The one output of a node.
fn output_of(node: &NodeProto, name: &NodeName) -> Result<String, ModelError> {
    match &node.output[..] {
        [output] if !output.is_empty() => Ok(output.clone()),
        outputs => Err(GraphError::Attribute {
            node: name.clone(),
            attribute: "output".to_owned(),
            value: format!("a list of {}", outputs.len()),
            expected: "one output with a name",
        }
        .into()),
    }
}

/// A name and what is declared about it.
fn declared_in(bytes: &Bytes, what: &'static str) -> Result<(String, Declared), ModelError> {
    let info: ValueInfoProto = decode(bytes, what)?;
    let kind = info.kind.unwrap_or_default();
    let other = [kind.sequence_type, kind.map_type, kind.sparse_tensor_type, kind.optional_type];
    if other.iter().any(Option::is_some) {
        return Err(ModelError::NoTensor { what, name: short(&info.name) });
    }
    let Some(tensor) = kind.tensor_type else { return Ok((info.name, Declared::default())) };
    let dtype = match tensor.elem_type {
        0 => None,
        code => Some(DType::from_onnx(code).ok_or_else(|| {
            let what = format!("{what} {:?}", short(&info.name));
            tensor_error(&what, TensorError::Type { code })
        })?),
    };
    let dims = match tensor.shape {
        None => None,
        Some(shape) => Some(shape.dim.iter().map(dim_of).collect::<Result<_, _>>()?),
    };
    Ok((info.name, Declared { dtype, dims }))
}

fn dim_of(bytes: &Bytes) -> Result<Dim, ModelError> {
    let dim: Dimension = decode(bytes, "dim")?;
    Ok(match (dim.dim_value, dim.dim_param) {
        // Some exporters write -1 for a size they do not know.
        (Some(size), _) => usize::try_from(size).map_or(Dim::Any, Dim::Fixed),
        (None, Some(name)) if !name.is_empty() => Dim::Named(name),
        _ => Dim::Any,
    })
}
