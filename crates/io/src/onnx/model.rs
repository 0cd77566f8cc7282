//! ModelProto: reads the graph of a `.onnx` file into the common form.

use super::attributes::Attributes;
use super::constant;
use super::declared::declared_in;
use super::decode::{Decoder, check_counts};
use super::messages::{
    FunctionProto, GraphProto, ModelProto, NodeProto, OperatorSetIdProto, SparseTensorProto,
};
use super::nodes;
use super::survey::Survey;
use super::tensor::{NamedTensor, constant_of};
use crate::external::Folder;
use crate::graph::{Declared, Graph, GraphError, Input, Node, NodeName, Outline, Output, Parts};
use crate::model::ModelError;
use crate::words::short;
use bytes::Bytes;
use retrograde::DType;
use std::collections::HashSet;
use std::ops::RangeInclusive;
use std::path::Path;

/// Opsets whose operators are supported. ReverseSequence exists from opset 10 on.
const OPSETS: RangeInclusive<i64> = 7..=28;

/// Reads a ModelProto in memory. Its external data is read from this folder into memory, so that
/// the graph does not depend on any file.
pub fn decode_model(
    content: impl Into<Bytes>,
    folder: impl AsRef<Path>,
) -> Result<Graph, ModelError> {
    graph_of(content.into(), Folder::at(folder.as_ref()).in_memory())
}

/// The version of the default operator set of a ModelProto in memory, if it is supported.
pub fn decode_opset(content: impl Into<Bytes>) -> Result<u32, ModelError> {
    Opened::new(&content.into())?.opset()
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
            (15, "sparse initializers"),
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

/// Reads a ModelProto and its external data.
pub(crate) fn graph_of(content: Bytes, mut folder: Folder) -> Result<Graph, ModelError> {
    let opened = Opened::new(&content)?;
    let opset = opened.opset()?;
    let Opened { functions, graph, decoder, .. } = opened;
    let folder = &mut folder;
    let mut reader = Reader { opset, functions, folder, decoder, parts: Parts::default() };
    // All nodes first, so that the error for unsupported operators lists all of them, whatever else
    // is wrong.
    let mut wrong = None;
    for bytes in &graph.node {
        match reader.node(bytes) {
            Err(
                error @ ModelError::Graph(
                    GraphError::Attribute { .. }
                    | GraphError::InputCount { .. }
                    | GraphError::OutputCount { .. },
                ),
            ) => {
                wrong.get_or_insert(error);
            }
            done => done?,
        }
    }
    if reader.parts.foreign.is_empty() {
        wrong.map_or(Ok(()), Err)?;
        reader.values(&graph)?;
    } else {
        reader.types(&graph)?;
    }
    Ok(reader.parts.check()?)
}

/// Describes a ModelProto, whether it can be run or not.
pub(crate) fn outline_of(content: Bytes) -> Result<Outline, ModelError> {
    let opened = Opened::new(&content)?;
    let opset = opened.opset().ok();
    let Opened { ir_version, opsets, functions, graph, mut decoder } = opened;
    let mut outline = Outline { ir_version, opsets, ..Outline::default() };
    for bytes in &graph.node {
        let node: NodeProto = decoder.decode(bytes, "node", NODE_TEXTS)?;
        let kind = full_name(&node.domain, &node.op_type);
        let own = functions.contains(&kind);
        if kind == "Constant" && !own {
            continue;
        }
        let runs = !own && opset.is_some_and(|opset| nodes::is_known(&kind, opset));
        outline.nodes.push((NodeName { name: node.name, kind }, runs));
    }
    // An initializer that cannot be parsed has no name.
    let named = graph.initializer.iter().filter_map(|bytes| Survey::of(bytes).ok());
    let initialized = named.map(|survey| survey.name).collect();
    outline.inputs = inputs_of(&graph, &mut decoder, &initialized, true)?;
    outline.outputs = outputs_of(&graph, &mut decoder, true)?;
    Ok(outline)
}

/// The inputs of a graph; `any` as for [`declared_in`].
fn inputs_of(
    graph: &GraphProto,
    decoder: &mut Decoder,
    initialized: &HashSet<String>,
    any: bool,
) -> Result<Vec<Input>, ModelError> {
    let input = |bytes: &Bytes| {
        let (value, declared) = declared_in(decoder, bytes, "input", any)?;
        let has_default = initialized.contains(&value);
        Ok(Input { names: vec![value.clone()], value, declared, has_default })
    };
    graph.input.iter().map(input).collect()
}

/// The outputs of a graph.
fn outputs_of(
    graph: &GraphProto,
    decoder: &mut Decoder,
    any: bool,
) -> Result<Vec<Output>, ModelError> {
    let output = |bytes: &Bytes| {
        let (value, declared) = declared_in(decoder, bytes, "output", any)?;
        Ok(Output { names: vec![value.clone()], value, declared })
    };
    graph.output.iter().map(output).collect()
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
        let kind = full_name(&node.domain, &node.op_type);
        let own = self.functions.contains(&kind);
        let name = NodeName { name: node.name.clone(), kind };
        if own || !nodes::is_known(&name.kind, self.opset) {
            self.parts.foreign.push(name);
            return Ok(());
        }
        let attributes = Attributes::of(&name, &node, &mut self.decoder)?;
        if let Some(kind) = nodes::foreign_form(&name.kind, &attributes)? {
            self.parts.foreign.push(NodeName { name: node.name, kind: kind.to_owned() });
            return Ok(());
        }
        if name.kind == "Constant" {
            let value = constant::value(&name, &attributes, self.folder)?;
            let output = nodes::output_of(&node, &name)?;
            nodes::check_inputs(&name, &node, 0)?;
            self.parts.constants.push((output, value));
            return Ok(());
        }
        let (op, inputs) = nodes::operator(&name, &node, &attributes, self.opset, self.folder)?;
        let output = nodes::output_of(&node, &name)?;
        self.parts.nodes.push(Node { name, op, inputs, output });
        Ok(())
    }

    /// Reads all declared types, as far as they can be read: for a model that cannot be run.
    fn types(&mut self, graph: &GraphProto) -> Result<(), ModelError> {
        for bytes in &graph.initializer {
            let Ok(Survey { name, data_type: Some(code), .. }) = Survey::of(bytes) else {
                continue;
            };
            let dtype = DType::from_onnx(code);
            self.decoder.spend(name.len())?;
            self.parts.declared.insert(name, Declared { dtype, ..Declared::default() });
        }
        for bytes in graph.input.iter().chain(&graph.output).chain(&graph.value_info) {
            let (name, declared) = declared_in(&mut self.decoder, bytes, "value", true)?;
            self.parts.declared.insert(name, declared);
        }
        Ok(())
    }

    /// Reads initializers, inputs, outputs and the declarations of all other values.
    fn values(&mut self, graph: &GraphProto) -> Result<(), ModelError> {
        let mut initialized = HashSet::new();
        for bytes in &graph.initializer {
            let NamedTensor { name, value } =
                constant_of(bytes, self.folder).map_err(|source| {
                    // The name itself may be invalid.
                    let name = Survey::of(bytes).map(|survey| survey.name).unwrap_or_default();
                    ModelError::tensor(&format!("initializer {:?}", short(&name)), source)
                })?;
            initialized.insert(name.clone());
            self.parts.constants.push((name, value));
        }
        if let Some(bytes) = graph.sparse_initializer.first() {
            let sparse: SparseTensorProto =
                self.decoder.decode(bytes, "sparse_initializer", &[])?;
            let name = sparse.values.and_then(|values| Survey::of(&values).ok());
            let name = short(&name.map(|survey| survey.name).unwrap_or_default());
            return Err(ModelError::Sparse { name });
        }
        self.parts.inputs = inputs_of(graph, &mut self.decoder, &initialized, false)?;
        self.parts.outputs = outputs_of(graph, &mut self.decoder, false)?;
        let mut seen = HashSet::new();
        if let Some(twice) = self.parts.outputs.iter().find(|output| !seen.insert(&output.value)) {
            return Err(GraphError::MadeTwice { value: short(&twice.value) }.into());
        }
        for bytes in &graph.value_info {
            let (name, declared) = declared_in(&mut self.decoder, bytes, "value_info", false)?;
            self.parts.declared.insert(name, declared);
        }
        Ok(())
    }
}
