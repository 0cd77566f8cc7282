//! ModelProto: reads the graph of a `.onnx` file into the common form.

use super::decode::{Decoder, check_counts};
use super::error::TensorError;
use super::messages::{
    AttributeProto, Dimension, FunctionProto, GraphProto, ModelProto, NodeProto,
    OperatorSetIdProto, ValueInfoProto,
};
use super::survey::Survey;
use super::tensor::{NamedTensor, strings, value_of};
use super::wire::{self, Numbers};
use crate::error::Error;
use crate::external::Folder;
use crate::graph::{
    Declared, Dim, Graph, GraphError, Input, Node, NodeName, Op, Outline, Output, Parts,
};
use crate::identity::FilesRead;
use crate::model::ModelError;
use crate::model_file;
use crate::spool;
use crate::value::Value;
use crate::words::short;
use bytes::Bytes;
use prost::Message;
use retrograde::{DType, Layout};
use std::collections::{HashMap, HashSet};
use std::io;
use std::ops::RangeInclusive;
use std::path::Path;

/// Opsets whose ReverseSequence, Constant and Identity are supported.
const OPSETS: RangeInclusive<i64> = 10..=28;
/// More attributes than any supported operator has.
const MOST_ATTRIBUTES: usize = 64;

/// Reads a `.onnx` file and its external data.
///
/// ```no_run
/// let graph = retrograde_io::onnx::read_model("model.onnx")?;
/// for input in graph.inputs() {
///     println!("{:?}: {}", input.names, input.declared);
/// }
/// # Ok::<(), retrograde_io::Error>(())
/// ```
pub fn read_model(path: impl AsRef<Path>) -> Result<Graph, Error> {
    read_model_in(path, std::env::temp_dir(), &FilesRead::default())
}

/// As [`read_model`], with a folder for temporary files: large tensors that cannot be used in the
/// mapped file are unpacked there. Every file that is read is added to `read`.
pub fn read_model_in(
    path: impl AsRef<Path>,
    temporary: impl AsRef<Path>,
    read: &FilesRead,
) -> Result<Graph, Error> {
    model_file::read_in(path.as_ref(), temporary.as_ref(), read, decode_model)
}

/// Describes a `.onnx` file, whether it can be run or not.
pub fn outline(path: impl AsRef<Path>) -> Result<Outline, Error> {
    model_file::read(path.as_ref(), outline_of)
}

/// A model whose graph has yet to be read, node by node.
struct Opened {
    ir_version: i64,
    opsets: Vec<(String, i64)>,
    /// Functions that the model defines: they take precedence over operators of the same name.
    functions: HashSet<String>,
    graph: GraphProto,
    decoder: Decoder,
}

impl Opened {
    fn new(content: &Bytes) -> Result<Opened, ModelError> {
        let mut decoder = Decoder::new();
        let what = "ModelProto";
        check_counts(content, what, &[(8, "opsets"), (25, "functions")])?;
        let model: ModelProto = decoder.decode(content, what, &[])?;
        let missing = |what: &str| ModelError::NotOnnx { reason: format!("it has no {what}") };
        let graph = model.graph.as_ref().ok_or_else(|| missing("graph"))?;
        let ir_version = model.ir_version.ok_or_else(|| missing("ir_version"))?;
        let lists = [
            (1, "nodes"),
            (5, "initializers"),
            (11, "inputs"),
            (12, "outputs"),
            (13, "declared values"),
        ];
        check_counts(graph, "GraphProto", &lists)?;
        let mut opsets = Vec::new();
        for bytes in &model.opset_import {
            let opset: OperatorSetIdProto = decoder.decode(bytes, "opset_import", &[1])?;
            opsets.push((opset.domain, opset.version));
        }
        let mut functions = HashSet::new();
        for bytes in &model.functions {
            let function: FunctionProto = decoder.decode(bytes, "function", &[1, 10])?;
            functions.insert(full_name(&function.domain, &function.name));
        }
        let graph = decoder.decode(graph, "GraphProto", &[])?;
        Ok(Opened { ir_version, opsets, functions, graph, decoder })
    }

    /// The version of the default operator set.
    fn opset(&self) -> Result<u32, ModelError> {
        let usual = self.opsets.iter().rfind(|(domain, _)| is_usual(domain));
        match usual.map(|(_, version)| *version) {
            Some(version) if OPSETS.contains(&version) => Ok(version as u32),
            version => {
                Err(ModelError::Opset { version, low: *OPSETS.start(), high: *OPSETS.end() })
            }
        }
    }
}

fn decode_model(content: Bytes, mut folder: Folder) -> Result<Graph, ModelError> {
    let opened = Opened::new(&content)?;
    let opset = opened.opset()?;
    let Opened { functions, graph, decoder, .. } = opened;
    let folder = &mut folder;
    let mut reader = Reader { opset, functions, folder, decoder, parts: Parts::default() };
    // Nodes first, so that the error for unsupported operators lists all of them, whatever else is
    // wrong.
    for bytes in &graph.node {
        reader.node(bytes)?;
    }
    if reader.parts.foreign.is_empty() {
        reader.values(&graph)?;
    }
    Ok(reader.parts.check()?)
}

fn outline_of(content: Bytes) -> Result<Outline, ModelError> {
    let opened = Opened::new(&content)?;
    let known = opened.opset().is_ok();
    let Opened { ir_version, opsets, functions, graph, mut decoder } = opened;
    let mut outline = Outline { ir_version, opsets, ..Outline::default() };
    for bytes in &graph.node {
        let node: NodeProto = decoder.decode(bytes, "node", NODE_TEXTS)?;
        let kind = full_name(&node.domain, &node.op_type);
        let own = functions.contains(&kind);
        if kind == "Constant" && !own {
            continue;
        }
        let runs = known && !own && matches!(kind.as_str(), "Identity" | "ReverseSequence");
        outline.nodes.push((NodeName { name: node.name, kind }, runs));
    }
    let mut initialized = HashSet::new();
    for bytes in &graph.initializer {
        // An initializer that cannot be parsed has no name.
        initialized.extend(Survey::of(bytes).map(|survey| survey.name));
    }
    for bytes in &graph.input {
        let (name, declared) = declared_in(&mut decoder, bytes, "input", true)?;
        let has_default = initialized.contains(&name);
        outline.inputs.push(Input {
            names: vec![name.clone()],
            value: name,
            declared,
            has_default,
        });
    }
    for bytes in &graph.output {
        let (name, declared) = declared_in(&mut decoder, bytes, "output", true)?;
        outline.outputs.push(Output { names: vec![name.clone()], value: name, declared });
    }
    Ok(outline)
}

fn is_usual(domain: &str) -> bool {
    matches!(domain, "" | "ai.onnx")
}

fn full_name(domain: &str, name: &str) -> String {
    if is_usual(domain) { name.to_owned() } else { format!("{domain}.{name}") }
}

/// Fields of a NodeProto that hold text.
const NODE_TEXTS: &[u32] = &[1, 2, 3, 4, 7];

struct Reader<'a> {
    opset: u32,
    functions: HashSet<String>,
    folder: &'a mut Folder,
    decoder: Decoder,
    parts: Parts,
}

impl Reader<'_> {
    fn node(&mut self, bytes: &Bytes) -> Result<(), ModelError> {
        let node: NodeProto = self.decoder.decode(bytes, "node", NODE_TEXTS)?;
        let node = &node;
        let kind = full_name(&node.domain, &node.op_type);
        let name = NodeName { name: node.name.clone(), kind: kind.clone() };
        if self.functions.contains(&kind) {
            self.parts.foreign.push(name);
            return Ok(());
        }
        let mut attributes = Vec::new();
        for bytes in node.attribute.iter().take(MOST_ATTRIBUTES) {
            let attribute: AttributeProto = self.decoder.decode(bytes, "attribute", &[1])?;
            attributes.push((attribute, bytes));
        }
        let op = match kind.as_str() {
            "Identity" => Op::Identity,
            "ReverseSequence" => {
                let (mut time, mut batch) = (0, 1);
                for (attribute, _) in attributes {
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
        attributes: &[(AttributeProto, &Bytes)],
    ) -> Result<Option<Value>, ModelError> {
        let [(attribute, content)] = attributes else {
            return Err(GraphError::Attribute {
                node: name.clone(),
                attribute: "value".to_owned(),
                value: format!("given {} times", attributes.len()),
                expected: "exactly one value",
            }
            .into());
        };
        let wrong = |source: TensorError| tensor_error(&name.to_string(), source);
        let AttributeProto { f, i, s, t, .. } = attribute;
        let value = match attribute.name.as_str() {
            "sparse_value" => return Ok(None),
            "value" => {
                let tensor = t.clone().unwrap_or_default();
                return Ok(Some(value_of(&tensor, self.folder).map_err(wrong)?.value));
            }
            "value_float" => Value::new(DType::F32, &[], f.unwrap_or(0.0).to_le_bytes().to_vec()),
            "value_int" => Value::new(DType::I64, &[], i.unwrap_or(0).to_le_bytes().to_vec()),
            "value_string" => {
                Value::strings(&[], std::iter::once(s.clone().unwrap_or_default()).collect())
            }
            "value_floats" | "value_ints" | "value_strings" => {
                return list(&attribute.name, content, self.folder.spool())
                    .map(Some)
                    .map_err(wrong);
            }
            _ => return Err(unknown(name.clone(), attribute)),
        };
        value.map(Some).map_err(|source| GraphError::Layout { node: name.clone(), source }.into())
    }

    /// Reads initializers, inputs, outputs and the declarations of all other values.
    fn values(&mut self, graph: &GraphProto) -> Result<(), ModelError> {
        let mut initialized = HashSet::new();
        for bytes in &graph.initializer {
            let NamedTensor { name, value } = value_of(bytes, self.folder).map_err(|source| {
                // The name itself may be invalid.
                let name = Survey::of(bytes).map(|survey| survey.name).unwrap_or_default();
                tensor_error(&format!("initializer {:?}", short(&name)), source)
            })?;
            initialized.insert(name.clone());
            self.parts.constants.push((name, value));
        }
        for bytes in &graph.input {
            let (name, declared) = declared_in(&mut self.decoder, bytes, "input", false)?;
            let has_default = initialized.contains(&name);
            let names = vec![name.clone()];
            self.parts.inputs.push(Input { names, value: name, declared, has_default });
        }
        let mut outputs = HashMap::new();
        for bytes in &graph.output {
            let (name, declared) = declared_in(&mut self.decoder, bytes, "output", false)?;
            if outputs.insert(name.clone(), ()).is_some() {
                return Err(GraphError::MadeTwice { value: short(&name) }.into());
            }
            self.parts.outputs.push(Output { names: vec![name.clone()], value: name, declared });
        }
        for bytes in &graph.value_info {
            let (name, declared) = declared_in(&mut self.decoder, bytes, "value_info", false)?;
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

/// The only output of a node.
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

/// A list attribute: `value_floats` and similar.
fn list(name: &str, content: &Bytes, folder: &Path) -> Result<Value, TensorError> {
    let (number, kind, dtype) = match name {
        "value_floats" => (7, Numbers::Fixed32, DType::F32),
        "value_ints" => (8, Numbers::Varint, DType::I64),
        _ => (9, Numbers::Varint, DType::String),
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

/// A name and its declaration. A value that is not a tensor, or has an unknown type, is an error;
/// with `any` it counts as undeclared.
fn declared_in(
    decoder: &mut Decoder,
    bytes: &Bytes,
    what: &'static str,
    any: bool,
) -> Result<(String, Declared), ModelError> {
    let info: ValueInfoProto = decoder.declaration(bytes, what)?;
    let kind = info.kind.unwrap_or_default();
    let other = [kind.sequence_type, kind.map_type, kind.sparse_tensor_type, kind.optional_type];
    if other.iter().any(Option::is_some) && !any {
        return Err(ModelError::NoTensor { what, name: short(&info.name) });
    }
    let Some(tensor) = kind.tensor_type else { return Ok((info.name, Declared::default())) };
    let dtype = match (tensor.elem_type, DType::from_onnx(tensor.elem_type)) {
        (0, _) => None,
        (code, None) if !any => {
            let what = format!("{what} {:?}", short(&info.name));
            return Err(tensor_error(&what, TensorError::Type { code }));
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
    Ok((info.name, Declared { dtype, dims }))
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
