//! Builds the common graph from layers and edges.

use super::xml::{self, Document, Layer, Port};
use crate::error::Error;
use crate::external::Folder;
use crate::graph::{
    Declared, Dim, Graph, GraphError, Input, Node, NodeName, Op, Outline, Output, Parts,
};
use crate::identity::FilesRead;
use crate::model::ModelError;
use crate::model_file;
use crate::onnx::TensorError;
use crate::strings::Strings;
use crate::value::Value;
use crate::words::short;
use bytes::Bytes;
use retrograde::{DType, ReverseMode};
use std::collections::{HashMap, HashSet};
use std::io;
use std::path::Path;

/// The largest accepted document; no graph of reversals needs more.
const MOST_BYTES: usize = 1 << 26;

/// Reads an `.xml` file, and the `.bin` file next to it if there are constants.
///
/// ```no_run
/// let graph = retrograde_io::openvino::read_model("model.xml")?;
/// for output in graph.outputs() {
///     println!("{:?}: {}", output.names, output.declared);
/// }
/// # Ok::<(), retrograde_io::Error>(())
/// ```
pub fn read_model(path: impl AsRef<Path>) -> Result<Graph, Error> {
    read_model_in(path, std::env::temp_dir(), &FilesRead::default())
}

/// As [`read_model`], with a folder for temporary files, which hold the handles of large string
/// tensors. Every file that is read is added to `read`, and the `.bin` file always.
pub fn read_model_in(
    path: impl AsRef<Path>,
    temporary: impl AsRef<Path>,
    read: &FilesRead,
) -> Result<Graph, Error> {
    let path = path.as_ref();
    read.add(path.with_extension("bin"));
    model_file::read_in(path, temporary.as_ref(), read, |content, folder| {
        graph_of(&document_of(&content)?, path, folder)
    })
}

/// Describes an `.xml` file, whether it can be run or not.
pub fn outline(path: impl AsRef<Path>) -> Result<Outline, Error> {
    let path = path.as_ref();
    model_file::read(path, |content| outline_of(&document_of(&content)?, path))
}

fn not_ir(reason: impl Into<String>) -> ModelError {
    ModelError::NotIr { reason: reason.into() }
}

fn document_of(content: &[u8]) -> Result<Document, ModelError> {
    if content.len() > MOST_BYTES {
        return Err(not_ir(format!("it has more than {MOST_BYTES} bytes")));
    }
    // A copy: the text must stay valid UTF-8 once it is checked, and a mapped file may change.
    let text = String::from_utf8(content.to_vec()).map_err(|error| {
        not_ir(format!("byte {} is not valid UTF-8", error.utf8_error().valid_up_to()))
    })?;
    let document = xml::read(&text).map_err(not_ir)?;
    match document.version.as_deref() {
        Some("10" | "11") => {}
        Some(version) => {
            return Err(not_ir(format!("its version is {:?}, expected 10 or 11", short(version))));
        }
        None => return Err(not_ir("there is no <net> with a version")),
    }
    Ok(document)
}

fn outline_of(document: &Document, path: &Path) -> Result<Outline, ModelError> {
    let mut reader = Reader::new(document, path, Folder::of(path))?;
    let mut nodes = Vec::new();
    for layer in &document.layers {
        let standard = layer.version.starts_with("opset");
        let name = NodeName { name: layer.name.clone(), kind: layer.kind.clone() };
        match layer.kind.as_str() {
            "Const" if standard => {}
            "Parameter" if standard => reader.parameter(layer, &name, true)?,
            "Result" if standard => reader.result(layer, &name)?,
            "Reverse" | "ReverseSequence" if standard => nodes.push((name, true)),
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

fn graph_of(document: &Document, path: &Path, folder: Folder) -> Result<Graph, ModelError> {
    let mut reader = Reader::new(document, path, folder)?;
    for layer in &document.layers {
        reader.layer(layer)?;
    }
    Ok(reader.parts.check()?)
}
/// The output port that each input port is connected to.
struct Wires<'a> {
    sources: HashMap<(&'a str, &'a str), (&'a str, &'a str)>,
    ports: HashMap<(&'a str, &'a str), &'a Port>,
    /// Names of layers by id.
    layers: HashMap<&'a str, &'a str>,
}

impl<'a> Wires<'a> {
    fn of(document: &'a Document) -> Result<Wires<'a>, ModelError> {
        let (mut sources, mut ports) = (HashMap::new(), HashMap::new());
        let mut layers = HashMap::new();
        for layer in &document.layers {
            if layers.insert(layer.id.as_str(), layer.name.as_str()).is_some() {
                return Err(not_ir(format!("two layers have the id {:?}", short(&layer.id))));
            }
            for port in &layer.outputs {
                ports.insert((layer.id.as_str(), port.id.as_str()), port);
            }
        }
        for edge in &document.edges {
            let from = (edge.from.0.as_str(), edge.from.1.as_str());
            let to = (edge.to.0.as_str(), edge.to.1.as_str());
            if sources.insert(to, from).is_some() {
                let (layer, port) = (short(to.0), short(to.1));
                return Err(not_ir(format!("two edges lead to port {port:?} of layer {layer:?}")));
            }
        }
        Ok(Wires { sources, ports, layers })
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

/// The name of an output port's value in the graph.
fn value_name(layer: &str, port: &str) -> String {
    format!("{layer}:{port}")
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
            "Reverse" => {
                let mode = layer.data.get("mode").map_or("", String::as_str);
                let mode: ReverseMode = mode.parse().map_err(|source| GraphError::Node {
                    node: name.clone(),
                    source: Box::new(source),
                })?;
                self.node(layer, name, Op::Reverse(mode))
            }
            "ReverseSequence" => {
                let axis = |key: &'static str, default: i64| match layer.data.get(key) {
                    None => Ok(default),
                    Some(text) => text.trim().parse::<i64>().map_err(|_| {
                        let (attribute, value) = (key.to_owned(), format!("{:?}", short(text)));
                        let expected = "an integer";
                        GraphError::Attribute { node: name.clone(), attribute, value, expected }
                    }),
                };
                let op = Op::Sequence {
                    time: axis("seq_axis", 1)?,
                    batch: axis("batch_axis", 0)?,
                    opset: None,
                };
                self.node(layer, name, op)
            }
            _ => {
                self.parts.foreign.push(name);
                Ok(())
            }
        }
    }

    fn node(&mut self, layer: &'a Layer, name: NodeName, op: Op) -> Result<(), ModelError> {
        let inputs = layer.inputs.iter().map(|port| {
            let source = self.source(layer, port)?;
            Ok(value_name(source.0, source.1))
        });
        let inputs = inputs.collect::<Result<_, ModelError>>()?;
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
        let declared = Declared { dtype, dims };
        let mut names = split_names(&port.names);
        names.push(layer.name.clone());
        let value = value_name(&layer.id, &port.id);
        self.parts.inputs.push(Input { names, value, declared, has_default: false });
        Ok(())
    }

    fn constant(&mut self, layer: &Layer, name: &NodeName) -> Result<(), ModelError> {
        let port = only(&layer.outputs, name, "output")?;
        let dtype = element_type(layer, name)?;
        let wrong =
            |source| ModelError::Tensor { what: name.to_string(), source: Box::new(source) };
        let number = |key: &'static str| match layer.data.get(key).map(|text| text.trim().parse()) {
            Some(Ok(number)) => Ok(number),
            found => Err(ModelError::from(GraphError::Attribute {
                node: name.clone(),
                attribute: key.to_owned(),
                value: if found.is_some() { "something else" } else { "missing" }.to_owned(),
                expected: "a number of bytes",
            })),
        };
        let (offset, size): (u64, u64) = (number("offset")?, number("size")?);
        let dims = dims_of(layer.data.get("shape").map_or("", String::as_str), name)?;
        let shape: Option<Vec<usize>> = dims.and_then(|dims| {
            let fixed = dims.into_iter().map(|dim| match dim {
                Dim::Fixed(size) => Some(size),
                _ => None,
            });
            fixed.collect()
        });
        let Some(shape) = shape else { return Err(shape_error(layer, name)) };
        let data = self
            .folder
            .bytes(&self.weights, offset, size)
            .map_err(|source| wrong(TensorError::External(source)))?;
        let value = match dtype {
            DType::String => {
                let strings = strings_in(&data, self.folder.spool())
                    .map_err(|reason| not_ir(format!("{name}: its strings: {reason}")))?;
                Value::strings(&shape, strings)
            }
            dtype => Value::new(dtype, &shape, data),
        };
        let value = value.map_err(|source| wrong(TensorError::Shape(source)))?;
        self.parts.constants.push((value_name(&layer.id, &port.id), value));
        Ok(())
    }

    fn result(&mut self, layer: &'a Layer, name: &NodeName) -> Result<(), ModelError> {
        let port = only(&layer.inputs, name, "input")?;
        let source = self.source(layer, port)?;
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

    /// The output port that an input port is connected to.
    fn source(&self, layer: &'a Layer, port: &'a Port) -> Result<(&'a str, &'a str), ModelError> {
        let at = (layer.id.as_str(), port.id.as_str());
        self.wires.sources.get(&at).copied().ok_or_else(|| {
            not_ir(format!(
                "layer {:?}: no edge leads to its port {:?}",
                short(&layer.name),
                short(&port.id)
            ))
        })
    }
}

/// The only port on one side of a layer.
fn only<'p>(ports: &'p [Port], name: &NodeName, side: &str) -> Result<&'p Port, ModelError> {
    match ports {
        [port] => Ok(port),
        ports => Err(not_ir(format!("{name}: has {} {side} ports, expected 1", ports.len()))),
    }
}

fn element_type(layer: &Layer, name: &NodeName) -> Result<DType, ModelError> {
    let text = layer.data.get("element_type").map_or("", String::as_str);
    DType::from_openvino(text).ok_or_else(|| {
        GraphError::Attribute {
            node: name.clone(),
            attribute: "element_type".to_owned(),
            value: format!("{:?}", short(text)),
            expected: "a type that retrograde has (not u3, u6 or a dynamic one)",
        }
        .into()
    })
}

fn shape_error(layer: &Layer, name: &NodeName) -> ModelError {
    let text = layer.data.get("shape").map_or("", String::as_str);
    GraphError::Attribute {
        node: name.clone(),
        attribute: "shape".to_owned(),
        value: format!("{:?}", short(text)),
        expected: "sizes such as 2,3 (of a Parameter also ?, 1..4 or ...)",
    }
    .into()
}

/// A `shape` attribute; `None` for any rank.
fn dims_of(text: &str, name: &NodeName) -> Result<Option<Vec<Dim>>, ModelError> {
    let text = text.trim().trim_start_matches('[').trim_end_matches(']');
    match text {
        "" => return Ok(Some(vec![])),
        "..." => return Ok(None),
        _ => {}
    }
    let bound = |text: &str, open: usize| match text {
        "" => Some(open),
        text => text.parse().ok(),
    };
    let dim = |entry: &str| match entry.trim() {
        "?" | "-1" => Some(Dim::Any),
        entry => match entry.split_once("..") {
            Some((low, high)) => Some(Dim::Between(bound(low, 0)?, bound(high, usize::MAX)?)),
            None => entry.parse().ok().map(Dim::Fixed),
        },
    };
    let dims: Option<Vec<Dim>> = text.split(',').map(dim).collect();
    dims.map(Some).ok_or_else(|| {
        GraphError::Attribute {
            node: name.clone(),
            attribute: "shape".to_owned(),
            value: format!("{:?}", short(text)),
            expected: "sizes such as 2,3 (of a Parameter also ?, 1..4 or ...)",
        }
        .into()
    })
}

/// What a port declares about its value. A port without sizes is a scalar or has any rank.
fn declared_at(port: &Port) -> Declared {
    let name = port.precision.to_ascii_lowercase();
    let dtype = match name.as_str() {
        "bool" => Some(DType::Bool),
        "bin" => Some(DType::U1),
        name => DType::from_openvino(&name.replacen("fp", "f", 1)),
    };
    let size = |&size: &i64| usize::try_from(size).map_or(Dim::Any, Dim::Fixed);
    let dims = (!port.dims.is_empty()).then(|| port.dims.iter().map(size).collect());
    Declared { dtype, dims }
}

/// Comma-separated names; a comma inside a name is escaped with a backslash.
fn split_names(text: &str) -> Vec<String> {
    let mut names = vec![String::new()];
    let mut escaped = false;
    for letter in text.chars() {
        match (letter, escaped) {
            ('\\', false) => escaped = true,
            (',', false) => names.push(String::new()),
            (letter, _) => {
                let name = names.last_mut().expect("there is one from the start");
                if escaped && letter != ',' {
                    name.push('\\');
                }
                name.push(letter);
                escaped = false;
            }
        }
    }
    names.retain(|name| !name.is_empty());
    names
}

/// Packed strings: the count, the start of each and the end of the last, and their bytes.
fn strings_in(data: &Bytes, folder: &Path) -> io::Result<Strings> {
    let outside = || io::Error::other("they are outside its data");
    let word = |at: usize| {
        let start = at.checked_mul(4)?;
        let bytes = data.get(start..start.checked_add(4)?)?;
        Some(u32::from_le_bytes(bytes.try_into().ok()?) as usize)
    };
    let count = word(0).ok_or_else(outside)?;
    // Each string has an offset word, so `count` cannot exceed what the data can hold.
    count.checked_add(1).and_then(word).ok_or_else(outside)?;
    let text = data.slice(4 * (count + 2)..);
    let place = |at: usize| {
        let place = word(at + 1)?..word(at + 2)?;
        text.get(place.clone()).map(|_| place)
    };
    let places = (0..count).map(|at| place(at).ok_or_else(outside));
    Strings::at(text.clone(), count, places, folder)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_shapes_are_read() {
        assert_eq!(split_names("a,b\\,c,,d\\e"), ["a", "b,c", "d\\e"]);
        assert!(split_names("").is_empty());
        let name = NodeName { name: "p".to_owned(), kind: "Parameter".to_owned() };
        let dims = |text: &str| dims_of(text, &name);
        assert_eq!(dims("").unwrap(), Some(vec![]));
        assert_eq!(dims("...").unwrap(), None);
        assert_eq!(
            dims("2,?,1..4,..9,3..").unwrap(),
            Some(vec![
                Dim::Fixed(2),
                Dim::Any,
                Dim::Between(1, 4),
                Dim::Between(0, 9),
                Dim::Between(3, usize::MAX)
            ])
        );
        for text in ["x", "1,", "-2", "1..x", "99999999999999999999"] {
            assert!(dims(text).is_err(), "{text}");
        }
    }

    #[test]
    fn strings_stay_inside_their_data() {
        let words = |words: &[u32], text: &[u8]| {
            let mut data: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
            data.extend_from_slice(text);
            strings_in(&Bytes::from(data), &std::env::temp_dir()).ok()
        };
        let found = words(&[2, 0, 1, 3], b"abc").unwrap();
        assert_eq!(found.iter().collect::<Vec<_>>(), [&b"a"[..], b"bc"]);
        assert!(words(&[0, 0], b"").unwrap().is_empty());
        for bad in [&[][..], &[1], &[u32::MAX, 0, 0], &[1, 0, 4], &[1, 2, 1], &[2, 0, 1]] {
            assert_eq!(words(bad, b"abc"), None, "{bad:?}");
        }
    }
}
