//! Errors of reading and writing files, each a variant that carries the values.
//!
//! [`Error`] says which file; the error of its format ([`NpyError`], [`NpzError`],
//! [`SafetensorsError`], [`TensorError`], [`RawError`], [`ModelError`]) says what about it.

use crate::format::Format;
use crate::model::ModelError;
use crate::npy::error::NpyError;
use crate::npz::error::NpzError;
use crate::onnx::error::TensorError;
use crate::raw::RawError;
use crate::safetensors::error::SafetensorsError;
use crate::words::{listed, reason};
use retrograde::DType;
use std::io;
use std::path::{Path, PathBuf};
use thiserror::Error as ThisError;

/// A file that could not be read or written. Text of the file is shortened and printable.
#[derive(Debug, ThisError)]
#[non_exhaustive]
#[expect(missing_docs, reason = "the messages say what the fields are")]
pub enum Error {
    /// The system could not open or read it.
    #[error("cannot read {}: {}", path.display(), reason(source))]
    Read { path: PathBuf, source: io::Error },
    /// The system could not create or write it. The previous file is unchanged.
    #[error("cannot write {}: {}", path.display(), reason(source))]
    Write { path: PathBuf, source: io::Error },
    /// The input cannot be memory-mapped, and there was no space for a temporary copy of it.
    #[error(
        "cannot read {}: cannot copy it to a temporary file in {}: {}",
        path.display(), folder.display(), reason(source)
    )]
    Spool { path: PathBuf, folder: PathBuf, source: io::Error },
    /// The standard input is empty.
    #[error("cannot read -: standard input is empty")]
    EmptyInput,
    /// A file that is marked read-only, or that this user may not write.
    #[error("cannot write {}: it is read-only", path.display())]
    ReadOnly { path: PathBuf },
    /// An output that would replace one of its inputs.
    #[error("cannot write {}: it is an input{}", path.display(), called(path, input))]
    IsInput {
        path: PathBuf,
        /// The path that the same file was read under.
        input: PathBuf,
    },
    /// A file that another process is changing in place.
    #[error("cannot write {}: another process is changing it in place", path.display())]
    Locked { path: PathBuf },
    /// Only regular files can be edited or replaced in place.
    #[error("cannot change {} in place: it is not a regular file", path.display())]
    NotRegular { path: PathBuf },
    /// Text that should be integers.
    #[error("{}: line {line}: expected {expected}, found {found}", path.display())]
    Text { path: PathBuf, line: usize, expected: &'static str, found: String },
    /// One of several outputs could not be renamed to its final name after others had been.
    #[error("cannot write {}: {}{}", path.display(), reason(source), undone(removed, kept))]
    Together { path: PathBuf, source: io::Error, removed: Vec<PathBuf>, kept: Vec<PathBuf> },
    /// It is not a TensorProto, or not a supported one.
    #[error("{}: {source}", path.display())]
    TensorProto { path: PathBuf, source: Box<TensorError> },
    /// It is not a model, or not one that can be run.
    #[error("{}: {source}", path.display())]
    Model { path: PathBuf, source: Box<ModelError> },
    /// It is not a `.npy` file, or not a supported one.
    #[error("{}: {source}", path.display())]
    Npy { path: PathBuf, source: NpyError },
    /// It is not an `.npz` archive, or not a supported one.
    #[error("{}: {source}", path.display())]
    Npz { path: PathBuf, source: Box<NpzError> },
    /// It is not a `.safetensors` file, or not a supported one.
    #[error("{}: {source}", path.display())]
    Safetensors { path: PathBuf, source: SafetensorsError },
    /// Raw bytes that do not match the given type and shape.
    #[error("{}: {source}", path.display())]
    Raw { path: PathBuf, source: RawError },
    /// Neither its name nor its content identifies the format.
    #[error(
        "{}: cannot tell what kind of file this is: expected a name that ends in .npy, .npz, \
         .safetensors or .pb", path.display()
    )]
    UnknownFormat { path: PathBuf },
    /// The name of an output does not identify a format.
    #[error(
        "{}: cannot tell which format to write: expected a name that ends in .npy, .npz, \
         .safetensors, .pb, .raw or .bin", path.display()
    )]
    UnknownOutput { path: PathBuf },
    /// A tensor name for a file that holds a single tensor.
    #[error(
        "{}:{name}: {format} files hold one tensor, which needs no name: leave out {:?}",
        path.display(), format!(":{name}")
    )]
    NoNames { path: PathBuf, name: String, format: Format },
    /// There is no tensor of that name, or there are several and none was named.
    #[error("{}: {}", path.display(), which(name, names, *more))]
    WhichTensor { path: PathBuf, name: Option<String>, names: Vec<String>, more: usize },
    /// The requested element type contradicts the file.
    #[error("{}: its elements are {element}, not {dtype}", path.display())]
    OtherType { path: PathBuf, element: String, dtype: DType },
    /// The requested shape contradicts the file.
    #[error("{}: its shape is {shape:?}, not {asked:?}", path.display())]
    OtherShape { path: PathBuf, shape: Vec<usize>, asked: Vec<usize> },
    /// The output's format does not support this element type.
    #[error("{}: {format} files have no {element} elements; {}", path.display(), instead(*format, element))]
    CannotHold { path: PathBuf, format: Format, element: String },
    /// Strings that cannot be read, or cannot be stored in this format.
    #[error("{}: {reason}", path.display())]
    Strings { path: PathBuf, reason: String },
    /// A name that is not allowed in an archive.
    #[error(
        "{}: {name:?} is not a valid tensor name: expected one that is not empty and, as a path, \
         stays inside the archive", path.display()
    )]
    BadName { path: PathBuf, name: String },
    /// Writing would remove other tensors.
    #[error(
        "{}: holds other tensors ({}), which would be lost: write to a new file",
        path.display(), listed(names, *more)
    )]
    OthersWouldGo { path: PathBuf, names: Vec<String>, more: usize },
    /// A file whose format cannot be edited in place.
    #[error("{}: {format} files cannot be changed in place, only npy and raw ones", path.display())]
    NotInPlace { path: PathBuf, format: Format },
}

impl Error {
    pub(crate) fn read(path: &Path, source: io::Error) -> Error {
        Error::Read { path: path.to_owned(), source }
    }

    pub(crate) fn write(path: &Path, source: io::Error) -> Error {
        Error::Write { path: path.to_owned(), source }
    }

    pub(crate) fn npy(path: &Path, source: impl Into<NpyError>) -> Error {
        Error::Npy { path: path.to_owned(), source: source.into() }
    }

    pub(crate) fn raw(path: &Path, source: impl Into<RawError>) -> Error {
        Error::Raw { path: path.to_owned(), source: source.into() }
    }

    pub(crate) fn proto(path: &Path, source: TensorError) -> Error {
        Error::TensorProto { path: path.to_owned(), source: Box::new(source) }
    }
}

/// What happened to the outputs before the one that failed.
fn undone(removed: &[PathBuf], kept: &[PathBuf]) -> String {
    let names = |paths: &[PathBuf]| {
        paths.iter().map(|path| path.display().to_string()).collect::<Vec<_>>().join(", ")
    };
    let mut text = String::new();
    if !removed.is_empty() {
        text += &format!("; removed again: {}", names(removed));
    }
    if !kept.is_empty() {
        text += &format!("; already replaced: {}", names(kept));
    }
    text
}

/// The path that the file was read under, if it differs.
fn called(path: &Path, input: &Path) -> String {
    match path == input {
        true => String::new(),
        false => format!(" ({})", input.display()),
    }
}

/// Which tensors there are to choose from.
fn which(name: &Option<String>, names: &[String], more: usize) -> String {
    match (name, names) {
        (_, []) => "it holds no tensor".to_owned(),
        (Some(name), _) => format!("it has no tensor {name:?}, only {}", listed(names, more)),
        (None, _) => {
            format!("it holds several tensors: name one of {} as FILE:NAME", listed(names, more))
        }
    }
}

/// Formats that support the elements.
fn instead(format: Format, element: &str) -> &'static str {
    match format {
        Format::Safetensors if element == "string" => "write .pb, .npy or .npz",
        _ if element.starts_with('(') => "write .npy or .npz",
        Format::Safetensors => "write .npy or .npz, or give their type",
        Format::Pb => "write .npy, .npz or .raw, or give their type",
        _ => "write .pb, .safetensors or .raw",
    }
}
