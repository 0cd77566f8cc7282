//! Builds the common graph from layers and edges.

use super::ports::{declared_at, dims_of, element_type, split_names};
use super::wires::{Wires, value_name};
use super::xml::{self, Document, Layer, Port};
use super::{constant, layers};
use crate::external::Folder;
use crate::graph::{
    Declared, Graph, GraphError, Input, Node, NodeName, Outline, Output, Parts, Source,
};
use crate::model::ModelError;
use crate::words::short;
use std::collections::HashSet;
use std::path::Path;

/// The largest accepted document; no graph of reversals needs more.
const MOST_BYTES: usize = 1 << 26;

fn document_of(content: &[u8]) -> Result<Document, ModelError> {
    if content.len() > MOST_BYTES {
        return Err(ModelError::not_ir(format!("it has more than {MOST_BYTES} bytes")));
    }
    // A copy: the text must stay valid UTF-8 once it is checked, and a mapped file may change.
    let text = String::from_utf8(content.to_vec()).map_err(|error| {
        ModelError::not_ir(format!("byte {} is not valid UTF-8", error.utf8_error().valid_up_to()))
    })?;
    let document = xml::read(&text).map_err(ModelError::not_ir)?;
    match document.version.as_deref() {
        Some("10" | "11") => {}
        Some(version) => {
            return Err(ModelError::not_ir(format!(
                "its version is {:?}, expected 10 or 11",
                short(version)
            )));
        }
        None => return Err(ModelError::not_ir("there is no <net> with a version")),
    }
    Ok(document)
}

/// Describes the IR of an `.xml` file, whether it can be run or not.
pub(crate) fn outline_of(content: &[u8], path: &Path) -> Result<Outline, ModelError> {
    let document = &document_of(content)?;
    let mut reader = Reader::new(document, path, Folder::of(path))?;
    let mut nodes = Vec::new();
    for layer in &document.layers {
        let standard = layer.version.starts_with("opset");
        let name = NodeName { name: layer.name.clone(), kind: layer.kind.clone() };
        match layer.kind.as_str() {
            "Const" if standard => {}
            "Parameter" if standard => reader.parameter(layer, &name, true)?,
            "Result" if standard => reader.result(layer, &name)?,
            _ if layers::is_known(layer) => nodes.push((name, true)),
            _ => nodes.push((NodeName { kind: full_kind(layer), ..name }, false)),
        }
    }
    // It was checked to be a number.
    let ir_version = document.version.as_deref().unwrap_or("").parse().unwrap_or(0);
    let Parts { inputs, outputs, .. } = reader.parts;
    Ok(Outline { ir_version, opsets: Vec::new(), inputs, outputs, nodes })
}

/// A layer's type, with its operator set unless that is OpenVINO's own.
fn full_kind(layer: &Layer) -> String {
    match layer.version.starts_with("opset") {
        true => layer.kind.clone(),
        false => format!("{}.{}", layer.version, layer.kind),
    }
}

/// Reads the IR of an `.xml` file, and the `.bin` file next to it if there are constants.
pub(crate) fn graph_of(content: &[u8], path: &Path, folder: Folder) -> Result<Graph, ModelError> {
    let document = &document_of(content)?;
    let mut reader = Reader::new(document, path, folder)?;
    // All layers first, so that the error for unsupported operators lists all of them.
    let mut wrong = None;
    for layer in &document.layers {
        match reader.layer(layer) {
            Err(error @ ModelError::Graph(GraphError::Attribute { .. })) => {
                wrong.get_or_insert(error);
            }
            done => done?,
        }
    }
    match wrong.filter(|_| reader.parts.foreign.is_empty()) {
        Some(error) => Err(error),
        None => Ok(reader.parts.check()?),
    }
}

struct Reader<'a> {
    wires: Wires<'a>,
    folder: Folder,
    weights: String,
    parts: Parts,
    /// Preferred names of the outputs so far.
    taken: HashSet<String>,
}

impl<'a> Reader<'a> {
    fn new(document: &'a Document, path: &Path, folder: Folder) -> Result<Reader<'a>, ModelError> {
        let weights = path.with_extension("bin");
        let weights = weights.file_name().unwrap_or_default().to_string_lossy().into_owned();
        Ok(Reader {
            wires: Wires::of(document)?,
            folder,
            weights,
            parts: Parts::default(),
            taken: HashSet::new(),
        })
    }

    fn layer(&mut self, layer: &'a Layer) -> Result<(), ModelError> {
        let name = NodeName { name: layer.name.clone(), kind: layer.kind.clone() };
        if !layer.version.starts_with("opset") {
            self.parts.foreign.push(NodeName { kind: full_kind(layer), ..name });
            return Ok(());
        }
        match layer.kind.as_str() {
            "Parameter" => self.parameter(layer, &name, false),
            "Const" => self.constant(layer, &name),
            "Result" => self.result(layer, &name),
            _ if layers::is_known(layer) => self.node(layer, name),
            _ => {
                self.parts.foreign.push(name);
                Ok(())
            }
        }
    }

    fn node(&mut self, layer: &'a Layer, name: NodeName) -> Result<(), ModelError> {
        let inputs = layer.inputs.iter().map(|port| {
            let source = self.wires.source(layer, port)?;
            Ok(Source::Value(value_name(source.0, source.1)))
        });
        let inputs = inputs.collect::<Result<_, ModelError>>()?;
        let (op, inputs) = layers::operator(layer, &name, inputs)?;
        let port = only(&layer.outputs, &name, "output")?;
        let output = value_name(&layer.id, &port.id);
        self.parts.declared.insert(output.clone(), declared_at(port));
        self.parts.nodes.push(Node { name, op, inputs, output });
        Ok(())
    }

    /// With `any`, an unknown type counts as undeclared; otherwise it is an error.
    fn parameter(&mut self, layer: &Layer, name: &NodeName, any: bool) -> Result<(), ModelError> {
        let port = only(&layer.outputs, name, "output")?;
        let dims = layer.data.get("shape").map_or(Ok(None), |shape| dims_of(shape, name))?;
        let dtype = match element_type(layer, name) {
            Err(_) if any => None,
            dtype => Some(dtype?),
        };
        let declared = Declared { dtype, dims, ..Declared::default() };
        let mut names = split_names(&port.names);
        names.push(layer.name.clone());
        let value = value_name(&layer.id, &port.id);
        self.parts.inputs.push(Input { names, value, declared, has_default: false });
        Ok(())
    }

    fn constant(&mut self, layer: &Layer, name: &NodeName) -> Result<(), ModelError> {
        let port = only(&layer.outputs, name, "output")?;
        let value = constant::value(layer, name, &self.weights, &mut self.folder)?;
        self.parts.constants.push((value_name(&layer.id, &port.id), value));
        Ok(())
    }

    fn result(&mut self, layer: &'a Layer, name: &NodeName) -> Result<(), ModelError> {
        let port = only(&layer.inputs, name, "input")?;
        let source = self.wires.source(layer, port)?;
        let at_source = self.wires.ports.get(&source).map_or("", |port| port.names.as_str());
        let mut names = split_names(&layer.output_names);
        names.extend(split_names(at_source));
        names.push(layer.name.clone());
        // In version 10 an output has the name of the layer that produces it.
        names.extend(self.wires.layers.get(source.0).map(|&name| name.to_owned()));
        // The preferred name is the first one that no other output has.
        let usual = names.iter().position(|name| !self.taken.contains(name)).unwrap_or(0);
        names.swap(0, usual);
        self.taken.insert(names[0].clone());
        let (value, declared) = (value_name(source.0, source.1), declared_at(port));
        self.parts.outputs.push(Output { names, value, declared });
        Ok(())
    }
}

/// The only port on one side of a layer.
fn only<'p>(ports: &'p [Port], name: &NodeName, side: &str) -> Result<&'p Port, ModelError> {
    match ports {
        [port] => Ok(port),
        ports => {
            Err(ModelError::not_ir(format!("{name}: has {} {side} ports, expected 1", ports.len())))
        }
    }
}
