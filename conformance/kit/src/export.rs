//! Writes the cases as files for test runners of other projects.
//!
//! Every format has a `manifest.json` that ties each case to its rule. Cases that a format cannot
//! express are left out and counted.

mod npy;
pub(crate) mod onnx;
pub(crate) mod openvino;
mod stablehlo;
mod webnn;

pub(crate) use stablehlo::reverse as stablehlo_reverse;

use retrograde_truth::call::Call;
use retrograde_truth::case::{Case, Expected};
use retrograde_truth::cases;
use retrograde_truth::types::Type;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Cursor, Write};
use std::path::Path;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

/// What to write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// An `.npz` archive for each rule, with the tensors of its cases.
    Npy,
    /// ONNX backend tests: `model.onnx` and `test_data_set_0/*.pb`.
    Onnx,
    /// OpenVINO IR and `.npy` files.
    OpenVino,
    /// StableHLO text with constants.
    StableHlo,
    /// The JSON form of the web-platform tests of WebNN.
    WebNn,
    /// The same with the cases that DirectML can run, and its names.
    DirectMl,
}

/// How many cases were written and left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Written {
    /// Written.
    pub cases: usize,
    /// Not expressible in the format.
    pub left_out: usize,
}

/// Writes cases to a folder, which may exist. `opset` is for ONNX.
pub fn export(
    all: &[Case],
    seed: u64,
    format: Format,
    opset: u64,
    folder: &Path,
) -> Result<Written, String> {
    let mut entries = Vec::new();
    // Stored, as `.npz` files are; the date is the first of the format, not that of today.
    let stored = SimpleFileOptions::default()
        .compression_method(CompressionMethod::Stored)
        .last_modified_time(zip::DateTime::default());
    let mut archives: BTreeMap<String, ZipWriter<Cursor<Vec<u8>>>> = BTreeMap::new();
    for case in all.iter().filter(|case| applies(case, format)) {
        let files = match format {
            Format::Npy | Format::DirectMl => {
                let name = format!("{}.npz", case.rule);
                let empty = || ZipWriter::new(Cursor::default());
                let archive = archives.entry(name.clone()).or_insert_with(empty);
                for (member, content) in npy::members(case) {
                    let added = archive.start_file(member, stored).map_err(io::Error::from);
                    let added = added.and_then(|()| archive.write_all(&content));
                    added.map_err(|error| format!("{name}: {error}"))?;
                }
                entries.push(entry(case, format, &[name]));
                continue;
            }
            Format::Onnx => onnx::files(case, opset),
            Format::OpenVino => openvino::files(case),
            Format::StableHlo => stablehlo::files(case),
            Format::WebNn => webnn::files(case),
        };
        let Some(files) = files else { continue };
        let mut names = Vec::new();
        for (name, content) in files {
            write(folder, &name, &content)?;
            names.push(name);
        }
        entries.push(entry(case, format, &names));
    }
    for (name, archive) in archives {
        let content = archive.finish().map_err(|error| format!("{name}: {error}"))?;
        write(folder, &name, content.get_ref())?;
    }
    let written = Written { cases: entries.len(), left_out: all.len() - entries.len() };
    // One line for each case.
    let lines: Vec<_> = entries.iter().map(Value::to_string).collect();
    let manifest = format!(
        "{{\"kit\":{},\"seed\":{seed},\"cases\":[\n{}\n]}}\n",
        cases::VERSION,
        lines.join(",\n")
    );
    write(folder, "manifest.json", manifest.as_bytes())?;
    Ok(written)
}

fn write(folder: &Path, name: &str, content: &[u8]) -> Result<(), String> {
    let path = folder.join(name);
    let parent = path.parent().unwrap_or(folder);
    let written = fs::create_dir_all(parent).and_then(|()| fs::write(&path, content));
    written.map_err(|error| format!("{}: {error}", path.display()))
}

/// Whether a format has the operator of a case.
fn applies(case: &Case, format: Format) -> bool {
    match format {
        Format::Npy => true,
        _ if !case.extras.is_empty() => false,
        Format::Onnx => matches!(case.call, Call::Sequence { .. }),
        Format::OpenVino => matches!(case.call, Call::Reverse { .. } | Call::AnySequence { .. }),
        Format::StableHlo | Format::WebNn => case.call == Call::Flip,
        Format::DirectMl => {
            let listed = |one: &Type| one.directml.is_some();
            matches!(case.call, Call::Subsequences { .. })
                && listed(case.input.dtype)
                && listed(case.argument.dtype)
        }
    }
}

/// A case in the manifest.
fn entry(case: &Case, format: Format, files: &[String]) -> Value {
    let tensor = |one: &retrograde_truth::tensor::Tensor| {
        let mut out = json!({ "dtype": one.dtype.name, "shape": one.shape });
        if one.dtype.is_text() {
            out["data"] = one.to_json()["data"].clone();
        }
        if format == Format::DirectMl {
            out["DataType"] =
                json!(one.dtype.directml.map(|name| format!("DML_TENSOR_DATA_TYPE_{name}")));
        }
        out
    };
    let mut out = json!({
        "id": case.id,
        "rule": case.rule,
        "operator": case.call.operator(),
        "attributes": case.call.attributes(),
        "input": tensor(&case.input),
        case.call.argument_name(): tensor(&case.argument),
        "expected": match &case.expected {
            Expected::Value(value) => tensor(value),
            Expected::Refusal(reason) => json!({ "refused": reason }),
        },
        "files": files,
    });
    for (name, extra) in case.extras.named() {
        out[name] = tensor(extra);
    }
    out
}

/// Files of a case: names with `/` between folders, and contents.
type Files = Vec<(String, Vec<u8>)>;

/// The folder of a case: those that must be refused are apart, since runners of other projects
/// expect an output.
fn place(case: &Case) -> String {
    match case.is_refusal() {
        true => format!("refused/{}", case.id),
        false => case.id.clone(),
    }
}

/// The axes of a list as indices from the start, if they are all in range.
fn resolved_axes(case: &Case) -> Option<Vec<usize>> {
    let rank = case.input.shape.len() as i128;
    let axis = |value: i128| {
        let inside = value >= -rank && value < rank;
        inside.then(|| if value < 0 { value + rank } else { value } as usize)
    };
    case.argument.to_integers().into_iter().map(axis).collect()
}
