//! `retrograde info`: lists what a file or a model holds, as text or JSON.

use crate::args::InfoArguments;
use crate::{model, report};
use anstyle::{AnsiColor, Style};
use anyhow::Result;
use retrograde::DType;
use retrograde_io::graph::{Declared, Dim, NodeName, Outline};
use retrograde_io::{
    ElementType, FilesRead, Listed, Listing, ModelFormat, list, outline, read_model,
};
use retrograde_picture::printable;
use serde::Serialize;
use std::fmt::Write;
use std::path::Path;
use unicode_width::UnicodeWidthStr;

/// A file, as JSON.
#[derive(Serialize)]
struct FileRecord {
    file: String,
    format: &'static str,
    file_bytes: u64,
    tensors: Vec<TensorRecord>,
}

/// A tensor, as JSON.
#[derive(Serialize)]
struct TensorRecord {
    name: Option<String>,
    dtype: String,
    numpy: Option<String>,
    shape: Vec<usize>,
    elements: usize,
    bytes: usize,
    order: &'static str,
    byte_order: Option<&'static str>,
    offset: Option<u64>,
    deflated_bytes: Option<u64>,
}

/// A model, as JSON.
#[derive(Serialize)]
struct ModelRecord {
    file: String,
    format: &'static str,
    file_bytes: u64,
    ir_version: i64,
    opsets: Vec<OpsetRecord>,
    /// Why `run` refuses it, if it does.
    cannot_run: Option<String>,
    inputs: Vec<PortRecord>,
    outputs: Vec<PortRecord>,
    nodes: Vec<NodeRecord>,
}

/// An operator set of an ONNX model, as JSON.
#[derive(Serialize)]
struct OpsetRecord {
    domain: String,
    version: i64,
}

/// An input or an output of a model, as JSON.
#[derive(Serialize)]
struct PortRecord {
    /// Its names, the preferred one first.
    names: Vec<String>,
    dtype: Option<String>,
    /// A number, a name, a range or `?` for each axis.
    shape: Option<Vec<serde_json::Value>>,
    /// Whether the model has a default value for it.
    has_default: bool,
}

#[derive(Serialize)]
struct NodeRecord {
    name: String,
    kind: String,
    /// Whether `run` supports its operator.
    runs: bool,
}

/// Prints what the file holds.
pub(crate) fn run(arguments: &InfoArguments) -> Result<()> {
    let location = &arguments.input.input;
    if arguments.input.from.is_none() && model::is_model(&location.path) {
        return print_model(&location.path, arguments.json);
    }
    let listing = list(location, &arguments.input.opening(None, &FilesRead::default()))?;
    let file = location.path.display().to_string();
    let text = if arguments.json { json(file, &listing)? } else { words(&file, &listing) };
    Ok(report::print(&text)?)
}

/// Prints the inputs, outputs and nodes of a model.
fn print_model(path: &Path, json: bool) -> Result<()> {
    let (format, outline) = outline(path)?;
    // Why `run` would refuse the model is reported as well, and is not a failure of this command.
    let cannot_run = read_model(path).err().map(|error| {
        let text = error.to_string();
        let own = format!("{}: ", path.display());
        text.strip_prefix(&own).map_or(text.clone(), str::to_owned)
    });
    let file = path.display().to_string();
    let file_bytes = path.metadata().map_or(0, |found| found.len());
    if !json {
        let text = model_words(&file, format, file_bytes, &outline, cannot_run.as_deref());
        return Ok(report::print(&text)?);
    }
    let port = |names: &[String], declared: &Declared, has_default| PortRecord {
        names: distinct(names),
        dtype: declared.dtype.map(|dtype| dtype.to_string()),
        shape: declared.dims.as_ref().map(|dims| {
            let entry = |dim: &Dim| match dim {
                Dim::Fixed(size) => (*size).into(),
                other => other.to_string().into(),
            };
            dims.iter().map(entry).collect()
        }),
        has_default,
    };
    let Outline { ir_version, inputs, outputs, .. } = &outline;
    let opset = |(domain, version): &(String, i64)| OpsetRecord {
        domain: domain.clone(),
        version: *version,
    };
    let node = |(node, runs): &(NodeName, bool)| NodeRecord {
        name: node.name.clone(),
        kind: node.kind.clone(),
        runs: *runs,
    };
    let record = ModelRecord {
        file,
        format: match format {
            ModelFormat::Onnx => "onnx",
            ModelFormat::OpenVino => "openvino",
        },
        file_bytes,
        ir_version: *ir_version,
        opsets: outline.opsets.iter().map(opset).collect(),
        cannot_run,
        inputs: inputs.iter().map(|o| port(&o.names, &o.declared, o.has_default)).collect(),
        outputs: outputs.iter().map(|own| port(&own.names, &own.declared, false)).collect(),
        nodes: outline.nodes.iter().map(node).collect(),
    };
    Ok(report::print(&(serde_json::to_string_pretty(&record)? + "\n"))?)
}

/// Removes duplicates: names of a tensor may repeat that of its layer.
fn distinct(names: &[String]) -> Vec<String> {
    let first = |at: &usize| !names[..*at].contains(&names[*at]);
    (0..names.len()).filter(first).map(|at| names[at].clone()).collect()
}

fn model_words(
    file: &str,
    format: ModelFormat,
    file_bytes: u64,
    outline: &Outline,
    cannot_run: Option<&str>,
) -> String {
    let (bold, yellow) = (Style::new().bold(), AnsiColor::Yellow.on_default());
    let size = report::bytes(file_bytes);
    let kind = match format {
        ModelFormat::Onnx => "ONNX model, IR",
        ModelFormat::OpenVino => "OpenVINO IR",
    };
    let mut text =
        format!("{bold}{}{bold:#}  {kind} version {}", printable(file), outline.ir_version);
    for (domain, version) in &outline.opsets {
        let space = if domain.is_empty() { "" } else { " " };
        let _ = write!(text, ", {}{space}opset {version}", printable(domain));
    }
    let _ = writeln!(text, ", {size}");
    let first = |names: &[String]| names.first().map(|name| printable(name)).unwrap_or_default();
    let mut rows = Vec::new();
    for input in &outline.inputs {
        let default = if input.has_default { ", has a default" } else { "" };
        rows.push((
            "input",
            first(&input.names),
            printable(&format!("{}{default}", input.declared)),
        ));
    }
    for (node, runs) in &outline.nodes {
        let foreign = format!("  {yellow}cannot be run{yellow:#}");
        let mark = if *runs { "" } else { &foreign };
        rows.push(("node", printable(&node.name), format!("{}{mark}", printable(&node.kind))));
    }
    for output in &outline.outputs {
        rows.push(("output", first(&output.names), printable(&output.declared.to_string())));
    }
    let widest = rows.iter().map(|(_, name, _)| name.width()).max().unwrap_or(0);
    for (what, name, about) in rows {
        text.push_str("  ");
        pad(&mut text, what, 8);
        pad(&mut text, &name, widest + 2);
        text.push_str(&about);
        text.push('\n');
    }
    if let Some(reason) = cannot_run {
        let _ = writeln!(
            text,
            "  {yellow}`retrograde run` refuses it:{yellow:#} {}",
            printable(reason)
        );
    }
    text
}

fn json(file: String, listing: &Listing) -> Result<String> {
    let record = |tensor: &Listed| TensorRecord {
        name: tensor.name.clone(),
        dtype: match tensor.element.dtype() {
            DType::Bytes(_) => tensor.element.to_string(),
            dtype => dtype.to_string(),
        },
        numpy: match &tensor.element {
            ElementType::Numpy(descr) => Some(descr.to_string()),
            ElementType::Plain(_) => None,
        },
        shape: tensor.shape.clone(),
        elements: elements(tensor),
        bytes: tensor.bytes,
        order: if tensor.fortran_order { "F" } else { "C" },
        byte_order: (tensor.element.number_bytes() > 1)
            .then_some(if tensor.element.is_big_endian() { "big" } else { "little" }),
        offset: tensor.offset,
        deflated_bytes: tensor.deflated,
    };
    let record = FileRecord {
        file,
        format: listing.format.name(),
        file_bytes: listing.file_bytes,
        tensors: listing.tensors.iter().map(record).collect(),
    };
    Ok(serde_json::to_string_pretty(&record)? + "\n")
}

fn words(file: &str, listing: &Listing) -> String {
    let bold = Style::new().bold();
    let size = report::bytes(listing.file_bytes);
    let mut text = format!("{bold}{}{bold:#}  {}, {size}\n", printable(file), listing.format);
    let name = |tensor: &Listed| tensor.name.as_deref().map(printable).unwrap_or_default();
    let kind = |tensor: &Listed| format!("{} {:?}", tensor.element, tensor.shape);
    let widest = |of: &dyn Fn(&Listed) -> String| {
        listing.tensors.iter().map(|tensor| of(tensor).width()).max().unwrap_or(0)
    };
    let (names, kinds) = (widest(&name), widest(&kind));
    for tensor in &listing.tensors {
        text.push_str("  ");
        if names > 0 {
            pad(&mut text, &name(tensor), names + 2);
        }
        pad(&mut text, &kind(tensor), kinds + 2);
        let order = if tensor.fortran_order { "column-major" } else { "row-major" };
        let _ = write!(text, "{}, {order}", report::bytes(tensor.bytes as u64));
        if let Some(offset) = tensor.offset {
            let _ = write!(text, ", from byte {offset}");
        }
        if let Some(bytes) = tensor.deflated {
            let bytes = report::bytes(bytes);
            let _ = write!(text, ", deflated to {bytes}");
        }
        text.push('\n');
    }
    if listing.tensors.is_empty() {
        text.push_str("  (no tensors)\n");
    }
    text
}

/// Appends the text, padded with spaces.
fn pad(out: &mut String, text: &str, width: usize) {
    out.push_str(text);
    out.push_str(&" ".repeat(width.saturating_sub(text.width())));
}

fn elements(tensor: &Listed) -> usize {
    // A product that overflows has an empty axis, since the file was checked to hold the tensor.
    if tensor.shape.contains(&0) { 0 } else { tensor.shape.iter().product() }
}
