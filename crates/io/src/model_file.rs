//! Model files: which format one has; maps it, resolves its folder, and adds its path to errors.

use crate::error::Error;
use crate::external::Folder;
use crate::graph::{Graph, Outline};
use crate::identity::FilesRead;
use crate::map;
use crate::model::ModelError;
use crate::{onnx, openvino};
use bytes::Bytes;
use std::fs::File;
use std::io::Read;
use std::path::Path;

/// The format of a model file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ModelFormat {
    /// A ModelProto.
    Onnx,
    /// OpenVINO IR: an `.xml` file, with its constants in the `.bin` file next to it.
    OpenVino,
}

impl ModelFormat {
    /// An IR is XML, whatever its name; everything else is read as ONNX.
    fn of(path: &Path) -> ModelFormat {
        let is_xml =
            path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("xml"));
        if is_xml || begins_like_xml(path) { ModelFormat::OpenVino } else { ModelFormat::Onnx }
    }
}

/// Whether the first byte is `<`. In a ModelProto it would be an unknown field.
fn begins_like_xml(path: &Path) -> bool {
    let is_file = path.metadata().is_ok_and(|found| found.is_file());
    let mut first = [0; 1];
    is_file
        && File::open(path)
            .is_ok_and(|mut file| file.read_exact(&mut first).is_ok() && first == *b"<")
}

/// Reads a model and its constants.
///
/// ```no_run
/// let graph = retrograde_io::read_model("model.onnx")?;
/// for input in graph.inputs() {
///     println!("{:?}: {}", input.names, input.declared);
/// }
/// # Ok::<(), retrograde_io::Error>(())
/// ```
pub fn read_model(path: impl AsRef<Path>) -> Result<Graph, Error> {
    read_model_in(path, std::env::temp_dir(), &FilesRead::default())
}

/// As [`read_model`], with a folder for temporary files: large tensors that cannot be used in the
/// mapped file are unpacked there. Every file that is read is added to `read`, and the `.bin` file
/// of an IR always.
pub fn read_model_in(
    path: impl AsRef<Path>,
    temporary: impl AsRef<Path>,
    read: &FilesRead,
) -> Result<Graph, Error> {
    let path = path.as_ref();
    let folder = Folder::of(path).spooling_in(temporary.as_ref()).noting(read);
    match ModelFormat::of(path) {
        ModelFormat::Onnx => parsed(path, read, |content| onnx::graph_of(content, folder)),
        ModelFormat::OpenVino => {
            read.add(path.with_extension("bin"));
            parsed(path, read, |content| openvino::graph_of(&content, path, folder))
        }
    }
}

/// Describes a model, whether it can be run or not.
pub fn outline(path: impl AsRef<Path>) -> Result<(ModelFormat, Outline), Error> {
    let path = path.as_ref();
    let (format, read) = (ModelFormat::of(path), FilesRead::default());
    let outline = parsed(path, &read, |content| match format {
        ModelFormat::Onnx => onnx::outline_of(content),
        ModelFormat::OpenVino => openvino::outline_of(&content, path),
    })?;
    Ok((format, outline))
}

/// Parses the content of a model file, which is memory-mapped and added to `read`.
fn parsed<T>(
    path: &Path,
    read: &FilesRead,
    parse: impl FnOnce(Bytes) -> Result<T, ModelError>,
) -> Result<T, Error> {
    let failed = |error| Error::read(path, error);
    let file = map::open(path).map_err(failed)?;
    read.add_open(path, &file);
    parse(map::content(&file, path).map_err(failed)?)
        .map_err(|source| Error::Model { path: path.to_owned(), source: Box::new(source) })
}
