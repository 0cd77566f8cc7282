//! Writes the cases as files for test runners of other projects.
//!
//! Every format has a `manifest.json` that ties each case to its rule. Cases that a format cannot
//! express are left out and counted.

mod npy;
mod onnx;
mod openvino;
mod stablehlo;
mod webnn;

pub use onnx::model as onnx_model;
pub use openvino::model as openvino_model;
pub use stablehlo::reverse as stablehlo_reverse;

use crate::call::Call;
use crate::case::{Case, Expected};
use crate::cases;
use crate::types::Type;
use serde_json::{Value, json};
use std::fs;
use std::path::Path;

/// What to write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// `.npy` files of every case.
    Npy,
    /// ONNX backend tests: `model.onnx` and `test_data_set_0/*.pb`.
    Onnx,
    /// OpenVINO IR and `.npy` files.
    OpenVino,
    /// StableHLO text with constants.
    StableHlo,
    /// The JSON form of the web-platform tests of WebNN.
    WebNn,
    /// `.npy` files of the cases that DirectML can run, with its names.
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
    for case in all.iter().filter(|case| applies(case, format)) {
        let files = match format {
            Format::Npy | Format::DirectMl => npy::files(case),
            Format::Onnx => onnx::files(case, opset),
            Format::OpenVino => openvino::files(case),
            Format::StableHlo => stablehlo::files(case),
            Format::WebNn => webnn::files(case),
        };
        let Some(files) = files else { continue };
        let mut names = Vec::new();
        for (name, content) in files {
            let path = folder.join(&name);
            let parent = path.parent().unwrap_or(folder);
            let written = fs::create_dir_all(parent).and_then(|()| fs::write(&path, content));
            written.map_err(|error| format!("{}: {error}", path.display()))?;
            names.push(name);
        }
        entries.push(entry(case, format, &names));
    }
    let written = Written { cases: entries.len(), left_out: all.len() - entries.len() };
    let manifest = json!({ "kit": cases::VERSION, "seed": seed, "cases": entries });
    let path = folder.join("manifest.json");
    let text = format!("{manifest:#}\n");
    fs::create_dir_all(folder)
        .and_then(|()| fs::write(&path, text))
        .map_err(|error| format!("{}: {error}", path.display()))?;
    Ok(written)
}

/// Whether a format has the operator of a case.
fn applies(case: &Case, format: Format) -> bool {
    match format {
        Format::Npy => true,
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
    let tensor = |one: &crate::tensor::Tensor| {
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
    json!({
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
    })
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
