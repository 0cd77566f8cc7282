//! OpenVINO IR version 11: Reverse-1 with constant axes, ReverseSequence-1 with lengths as an input.
//! [`Ir`] writes any chain of such layers.

use super::{Files, npy, place};
use retrograde_truth::call::Call;
use retrograde_truth::case::{Case, Expected};
use retrograde_truth::tensor::{Data, Tensor};
use retrograde_truth::types::Type;
use std::fmt::Write;

/// The files of a case.
pub(super) fn files(case: &Case) -> Option<Files> {
    let (xml, bin) = model(&case.call, case.input.dtype, &case.input.shape, &case.argument)?;
    let folder = place(case);
    let mut files = vec![
        (format!("{folder}/model.xml"), xml.into_bytes()),
        (format!("{folder}/model.bin"), bin),
    ];
    let mut tensors = vec![("input_0", &case.input)];
    if !matches!(case.call, Call::Reverse { .. }) {
        tensors.push(("input_1", &case.argument));
    }
    if let Expected::Value(expected) = &case.expected {
        tensors.push(("output_0", expected));
    }
    for (name, tensor) in tensors {
        files.extend(npy::encode(tensor).map(|bytes| (format!("{folder}/{name}.npy"), bytes)));
    }
    Some(files)
}

/// The text and the weights of a model; `None` if OpenVINO has no such operator or type.
fn model(
    call: &Call,
    dtype: &Type,
    shape: &[usize],
    argument: &Tensor,
) -> Option<(String, Vec<u8>)> {
    let (kind, other) = (dtype.openvino?, argument.dtype.openvino?);
    let dims = |shape: &[usize]| shape.iter().map(|&size| size as i64).collect::<Vec<_>>();
    let mut ir = Ir::default();
    let x = ir.parameter("x", kind, &dims(shape));
    let (name, attributes, second) = match *call {
        Call::Reverse { mask } => {
            let mode = format!("mode=\"{}\"", if mask { "mask" } else { "index" });
            ("Reverse", mode, ir.constant("axes", argument)?)
        }
        Call::AnySequence { time, batch } => {
            let axes = format!("batch_axis=\"{batch}\" seq_axis=\"{time}\"");
            ("ReverseSequence", axes, ir.parameter("lengths", other, &dims(&argument.shape)))
        }
        _ => return None,
    };
    let y = ir.layer("y", name, &attributes, &[x, second]);
    ir.result(&y);
    Some(ir.finish())
}

/// An IR under construction: layers and edges as text, and the weights.
#[derive(Debug, Default)]
pub(crate) struct Ir {
    layers: String,
    edges: String,
    weights: Vec<u8>,
    count: usize,
}

/// An output of a layer. Sizes that are not known are -1.
#[derive(Debug, Clone)]
pub(crate) struct Edge {
    layer: usize,
    port: usize,
    kind: &'static str,
    name: String,
    dims: Vec<i64>,
}

impl Edge {
    /// The port of a layer that reads or makes it; what makes it also names it.
    fn port(&self, id: usize, named: bool) -> String {
        let dims: String = self.dims.iter().map(|size| format!("<dim>{size}</dim>")).collect();
        let kind = precision(self.kind);
        let names =
            if named { format!(" names=\"{}\"", tensor_name(&self.name)) } else { String::new() };
        format!("<port id=\"{id}\" precision=\"{kind}\"{names}>{dims}</port>")
    }
}

impl Ir {
    /// A layer with this text between its name and its end; returns its number.
    fn add(&mut self, name: &str, kind: &str, content: &str) -> usize {
        let (id, name) = (self.count, escaped(name));
        let _ = writeln!(
            self.layers,
            "<layer id=\"{id}\" name=\"{name}\" type=\"{kind}\" version=\"opset1\">{content}</layer>"
        );
        self.count += 1;
        id
    }

    /// An input of the model.
    pub(crate) fn parameter(&mut self, name: &str, kind: &'static str, dims: &[i64]) -> Edge {
        let mut edge = Edge { layer: 0, port: 0, kind, name: name.to_owned(), dims: dims.to_vec() };
        let size = |&size: &i64| if size < 0 { "?".to_owned() } else { size.to_string() };
        let sizes: Vec<_> = dims.iter().map(size).collect();
        let (sizes, port) = (sizes.join(","), edge.port(0, true));
        let content =
            format!("<data shape=\"{sizes}\" element_type=\"{kind}\"/><output>{port}</output>");
        edge.layer = self.add(name, "Parameter", &content);
        edge
    }

    /// A constant; `None` if OpenVINO does not have the type.
    pub(crate) fn constant(&mut self, name: &str, tensor: &Tensor) -> Option<Edge> {
        let (kind, Data::Bytes(bytes)) = (tensor.dtype.openvino?, &tensor.data) else {
            return None;
        };
        let dims: Vec<_> = tensor.shape.iter().map(|&size| size as i64).collect();
        let mut edge = Edge { layer: 0, port: 0, kind, name: name.to_owned(), dims };
        let sizes: Vec<_> = tensor.shape.iter().map(usize::to_string).collect();
        let (offset, size) = (self.weights.len(), bytes.len());
        self.weights.extend_from_slice(bytes);
        self.weights.resize(self.weights.len().next_multiple_of(64), 0);
        let (sizes, port) = (sizes.join(","), edge.port(0, true));
        let content = format!(
            "<data element_type=\"{kind}\" shape=\"{sizes}\" offset=\"{offset}\" \
             size=\"{size}\"/><output>{port}</output>"
        );
        edge.layer = self.add(name, "Const", &content);
        Some(edge)
    }

    /// A layer whose result has the type and the shape of its first input.
    pub(crate) fn layer(
        &mut self,
        name: &str,
        kind: &str,
        attributes: &str,
        inputs: &[Edge],
    ) -> Edge {
        let mut edge = Edge { port: inputs.len(), name: name.to_owned(), ..inputs[0].clone() };
        let ports: String =
            inputs.iter().enumerate().map(|(at, input)| input.port(at, false)).collect();
        let port = edge.port(inputs.len(), true);
        let content = format!("<data {attributes}/><input>{ports}</input><output>{port}</output>");
        edge.layer = self.add(name, kind, &content);
        for (at, input) in inputs.iter().enumerate() {
            self.connect(input, edge.layer, at);
        }
        edge
    }

    /// Makes a value the result of the model.
    pub(crate) fn result(&mut self, value: &Edge) {
        let content = format!("<input>{}</input>", value.port(0, false));
        let layer = self.add(&format!("{}/result", value.name), "Result", &content);
        self.connect(value, layer, 0);
    }

    fn connect(&mut self, from: &Edge, layer: usize, port: usize) {
        let _ = writeln!(
            self.edges,
            "<edge from-layer=\"{}\" from-port=\"{}\" to-layer=\"{layer}\" to-port=\"{port}\"/>",
            from.layer, from.port
        );
    }

    /// The text and the weights.
    pub(crate) fn finish(mut self) -> (String, Vec<u8>) {
        // OpenVINO does not read an empty file.
        self.weights.resize(self.weights.len().max(8), 0);
        let (layers, edges) = (self.layers, self.edges);
        let text = format!(
            "<?xml version=\"1.0\"?>\n<net name=\"case\" version=\"11\">\n<layers>\n{layers}</layers>\n\
             <edges>\n{edges}</edges>\n</net>\n"
        );
        (text, self.weights)
    }
}

/// Text inside an attribute of XML.
fn escaped(text: &str) -> String {
    let mut out = String::new();
    for character in text.chars() {
        match character {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            // XML has no other control characters, and would read these as spaces.
            '\t' | '\n' | '\r' => drop(write!(out, "&#{};", character as u32)),
            other if other.is_control() => out.push('_'),
            other => out.push(other),
        }
    }
    out
}

/// A name in the list of names of a tensor, in which a comma separates two.
fn tensor_name(name: &str) -> String {
    escaped(&name.replace('\\', "\\\\").replace(',', "\\,"))
}

/// The older spelling of a type, which ports have.
fn precision(kind: &str) -> String {
    match kind {
        "f16" | "f32" | "f64" => kind.replace('f', "FP"),
        "boolean" => "BOOL".to_owned(),
        other => other.to_uppercase(),
    }
}
