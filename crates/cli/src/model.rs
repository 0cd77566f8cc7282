//! Reading models: which files are models, and of which kind.

use anyhow::Result;
use retrograde_io::graph::{Graph, Outline};
use retrograde_io::{Error, FilesRead, onnx, openvino};
use std::fs::File;
use std::io::Read;
use std::path::Path;

/// Reads a model, with a folder for temporary files. Every file that is read is added to `read`.
pub fn read(path: &Path, temporary: &Path, read: &FilesRead) -> Result<Graph, Error> {
    match is_ir(path) {
        true => openvino::read_model_in(path, temporary, read),
        false => onnx::read_model_in(path, temporary, read),
    }
}

/// A description of a model, and its kind.
pub(crate) fn outline(path: &Path) -> Result<(&'static str, Outline)> {
    match is_ir(path) {
        true => Ok(("OpenVINO IR", openvino::outline(path)?)),
        false => Ok(("ONNX model, IR", onnx::outline(path)?)),
    }
}

/// An IR is XML, whatever its name; everything else is read as ONNX.
fn is_ir(path: &Path) -> bool {
    has_extension(path, "xml") || begins_like_xml(path)
}

/// Whether a file's extension is that of a model.
pub(crate) fn is_model(path: &Path) -> bool {
    has_extension(path, "onnx") || has_extension(path, "xml")
}

fn has_extension(path: &Path, expected: &str) -> bool {
    path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case(expected))
}

/// Whether the first byte is `<`. In a ModelProto it would be an unknown field.
fn begins_like_xml(path: &Path) -> bool {
    let is_file = path.metadata().is_ok_and(|found| found.is_file());
    let mut first = [0; 1];
    is_file
        && File::open(path)
            .is_ok_and(|mut file| file.read_exact(&mut first).is_ok() && first == *b"<")
}
