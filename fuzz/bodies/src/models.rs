//! Models: outlines and reads them, runs them on generated inputs that match their declarations,
//! and writes the results and reads them back.

use crate::files::{Folder, checked};
use bytes::Bytes;
use retrograde::{DType, Layout};
use retrograde_io::graph::{Declared, Dim, Graph};
use retrograde_io::{
    FilesRead, Location, Opening, Output, Saving, Value, open_value, outline, read_model_in,
};
use std::path::Path;

/// The maximum size of a generated input in bytes.
const MOST: usize = 64 << 10;
/// Models with more inputs are not run.
const MOST_INPUTS: usize = 16;

/// A ModelProto. The same folder contains `beside.bin`, a file of 64 bytes for external data.
pub(crate) fn onnx_model(data: &[u8]) {
    let folder = Folder::new();
    folder.write("beside.bin", &(0..64).collect::<Vec<u8>>());
    let at = folder.write("x.onnx", data);
    let temporary = folder.path();
    model(&at.path, temporary);
}

/// An OpenVINO IR: the XML document, and after the first zero byte the content of the `.bin` file.
pub(crate) fn ir(data: &[u8]) {
    let folder = Folder::new();
    let mut parts = data.splitn(2, |byte| *byte == 0);
    let at = folder.write("x.xml", parts.next().unwrap_or_default());
    if let Some(weights) = parts.next() {
        folder.write("x.bin", weights);
    }
    let temporary = folder.path();
    model(&at.path, temporary);
}

fn model(path: &Path, folder: &Path) {
    let outline = checked(outline(path));
    let Some(graph) = checked(read_model_in(path, folder, &FilesRead::default())) else { return };
    let (_, outline) = outline.expect("a model that can be read can be outlined");
    assert_eq!(outline.inputs.len(), graph.inputs().len());
    assert_eq!(outline.outputs.len(), graph.outputs().len());
    for pattern in [Pattern::Ones, Pattern::Few] {
        let Some(inputs) = inputs(&graph, pattern) else { return };
        let Some(results) = checked(graph.run_in(inputs.clone(), &folder.to_owned(), None)) else {
            continue;
        };
        assert_eq!(results.len(), graph.outputs().len());
        let again =
            graph.run_in(inputs, &folder.to_owned(), None).expect("the first run succeeded");
        assert_eq!(results, again);
        results.iter().take(2).for_each(|result| written(result, folder));
    }
}

/// Writes a result as a TensorProto, which supports every type that a model can produce, and reads
/// it back.
fn written(result: &Value, folder: &Path) {
    let at = Location::file(folder.join("y.pb"));
    let Some(output) =
        checked(Output::of_value(result, "y", at.clone(), &Saving::default(), &mut |_| {}))
    else {
        return;
    };
    output.finish().expect("cannot write a temporary file");
    let back = open_value(&at, &Opening::default(), None).expect("cannot read what was written");
    assert_eq!(back, *result);
}

/// The values of an input. They are small, because some inputs are lengths or axes.
#[derive(Clone, Copy)]
enum Pattern {
    Ones,
    /// 0, 1, 2, 0, 1, 2, ...
    Few,
}

impl Pattern {
    fn number(self, at: usize) -> u8 {
        match self {
            Pattern::Ones => 1,
            Pattern::Few => (at % 3) as u8,
        }
    }
}

/// Inputs that match the declarations of a model; `None` if there are too many or they are too
/// large. Only one of the two patterns overrides inputs that have a default.
fn inputs(graph: &Graph, pattern: Pattern) -> Option<Vec<(String, Value)>> {
    if graph.inputs().len() > MOST_INPUTS {
        return None;
    }
    let given =
        graph.inputs().iter().filter(|input| !input.has_default || matches!(pattern, Pattern::Few));
    given
        .map(|input| Some((input.names.first()?.clone(), value(&input.declared, pattern)?)))
        .collect()
}

fn value(declared: &Declared, pattern: Pattern) -> Option<Value> {
    let dims = declared.dims.clone().unwrap_or_else(|| vec![Dim::Any, Dim::Fixed(3)]);
    let size = |dim: &Dim| match dim {
        Dim::Any => 2,
        Dim::Fixed(size) => *size,
        // Equal names get equal sizes.
        Dim::Named(name) => 1 + name.len() % 4,
        Dim::Between(low, high) => (*low).max(2).min(*high),
    };
    let shape: Vec<usize> = dims.iter().map(size).collect();
    let count = Layout::dense(DType::U8, &shape).ok()?.len();
    match declared.dtype.unwrap_or(DType::F32) {
        DType::String if count <= MOST / 16 => {
            let text = |at| Bytes::from(vec![b'a'; usize::from(pattern.number(at))]);
            Value::strings(&shape, (0..count).map(text).collect()).ok()
        }
        DType::String => None,
        dtype => {
            let bytes = Layout::dense(dtype, &shape).ok()?.byte_len();
            let width = dtype.bits()?.div_ceil(8).max(1);
            let byte =
                |at: usize| if at.is_multiple_of(width) { pattern.number(at / width) } else { 0 };
            (bytes <= MOST)
                .then(|| Value::new(dtype, &shape, (0..bytes).map(byte).collect::<Vec<_>>()).ok())?
        }
    }
}
