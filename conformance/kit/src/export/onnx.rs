//! ONNX backend tests: a model and its tensors as protocol buffers, written by hand.
//!
//! Only a dozen fields are needed. A writer of its own keeps the kit independent of the readers that
//! it tests.

use super::{Files, place};
use retrograde_truth::call::Call;
use retrograde_truth::case::{Case, Expected};
use retrograde_truth::tensor::{Data, Tensor};

/// The files of a case: `reversal/test_CASE/model.onnx` and `test_data_set_0`, which ONNX's runner loads.
pub(super) fn files(case: &Case, opset: u64) -> Option<Files> {
    if case.input.dtype.name == "bf16" && opset < 28 {
        return None;
    }
    let ranks = (case.input.shape.len(), case.argument.shape.len());
    let kinds = (case.input.dtype.onnx?, case.argument.dtype.onnx?);
    let folder = place(case);
    let folder = if case.is_refusal() { folder } else { format!("reversal/test_{folder}") };
    let set = format!("{folder}/test_data_set_0");
    let mut files = vec![
        (format!("{folder}/model.onnx"), model(&case.call, kinds, ranks, opset)?),
        (format!("{set}/input_0.pb"), tensor("x", &case.input)?),
        (format!("{set}/input_1.pb"), tensor("lens", &case.argument)?),
    ];
    if let Expected::Value(expected) = &case.expected {
        files.push((format!("{set}/output_0.pb"), tensor("y", expected)?));
    }
    Some(files)
}

/// A model of one ReverseSequence, for tensors of these types and ranks; `None` for other operators.
fn model(call: &Call, kinds: (u64, u64), ranks: (usize, usize), opset: u64) -> Option<Vec<u8>> {
    let (Call::Sequence { time, batch } | Call::AnySequence { time, batch }) = *call else {
        return None;
    };
    let mut node = Message::default();
    node.text(1, "x").text(1, "lens").text(2, "y").text(4, "ReverseSequence");
    for (name, axis) in [("batch_axis", batch), ("time_axis", time)] {
        // 2 is AttributeProto.INT.
        node.message(5, attribute(name, 2, &[axis as u64]));
    }
    let value = |name, kind, prefix: &str, rank| {
        let names: Vec<_> = (0..rank).map(|axis| format!("{prefix}{axis}")).collect();
        let dims = names.iter().map(|name| Dim::Open(Some(name))).collect();
        Value { name, kind, dims }.message()
    };
    let mut graph = Message::default();
    graph.message(1, node).text(2, "case");
    graph.message(11, value("x", kinds.0, "d", ranks.0));
    graph.message(11, value("lens", kinds.1, "n", ranks.1));
    graph.message(12, value("y", kinds.0, "d", ranks.0));
    Some(file(graph, opset))
}

/// What a model declares about a tensor.
#[derive(Debug)]
pub(crate) struct Value<'a> {
    pub(crate) name: &'a str,
    /// `TensorProto.DataType`.
    pub(crate) kind: u64,
    pub(crate) dims: Vec<Dim<'a>>,
}

/// The size of an axis: a number, or a name if it has one.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Dim<'a> {
    Fixed(usize),
    Open(Option<&'a str>),
}

impl Value<'_> {
    /// A ValueInfoProto.
    pub(crate) fn message(&self) -> Message {
        let mut shape = Message::default();
        for one in &self.dims {
            let mut dim = Message::default();
            match one {
                Dim::Fixed(size) => {
                    dim.number(1, *size as u64);
                }
                Dim::Open(Some(name)) => {
                    dim.text(2, name);
                }
                Dim::Open(None) => {}
            }
            shape.message(1, dim);
        }
        let (mut tensor, mut of, mut value) =
            (Message::default(), Message::default(), Message::default());
        tensor.number(1, self.kind).message(2, shape);
        of.message(1, tensor);
        value.text(1, self.name).message(2, of);
        value
    }
}

/// An AttributeProto: an integer (kind 2), or a list of integers (kind 7).
pub(crate) fn attribute(name: &str, kind: u64, values: &[u64]) -> Message {
    let mut attribute = Message::default();
    attribute.text(1, name);
    for &value in values {
        attribute.number(if kind == 2 { 3 } else { 8 }, value);
    }
    attribute.number(20, kind);
    attribute
}

/// A ModelProto.
pub(crate) fn file(graph: Message, opset: u64) -> Vec<u8> {
    let (mut version, mut out) = (Message::default(), Message::default());
    version.text(1, "").number(2, opset);
    // IR version 10 is the oldest that has opset 21 and later.
    out.number(1, 10).text(2, "retrograde-kit").message(7, graph).message(8, version);
    out.bytes
}

/// A TensorProto.
pub(crate) fn tensor(name: &str, tensor: &Tensor) -> Option<Vec<u8>> {
    let mut out = Message::default();
    for &size in &tensor.shape {
        out.number(1, size as u64);
    }
    out.number(2, tensor.dtype.onnx?);
    match &tensor.data {
        Data::Text(texts) => {
            for text in texts {
                out.bytes(6, text);
            }
            out.text(8, name);
        }
        Data::Bytes(bytes) => {
            out.text(8, name).bytes(9, bytes);
        }
    }
    Some(out.bytes)
}

/// A message under construction.
#[derive(Debug, Default)]
pub(crate) struct Message {
    bytes: Vec<u8>,
}

impl Message {
    fn varint(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.bytes.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.bytes.push(value as u8);
    }

    pub(crate) fn number(&mut self, field: u64, value: u64) -> &mut Self {
        self.varint(field << 3);
        self.varint(value);
        self
    }

    pub(crate) fn bytes(&mut self, field: u64, content: &[u8]) -> &mut Self {
        self.varint(field << 3 | 2);
        self.varint(content.len() as u64);
        self.bytes.extend_from_slice(content);
        self
    }

    pub(crate) fn text(&mut self, field: u64, text: &str) -> &mut Self {
        self.bytes(field, text.as_bytes())
    }

    pub(crate) fn message(&mut self, field: u64, message: Message) -> &mut Self {
        self.bytes(field, &message.bytes)
    }
}
