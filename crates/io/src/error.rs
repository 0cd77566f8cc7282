//! What can be wrong with a file, each as a variant that carries the values.
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

/// A file that could not be read or written.
#[derive(Debug, ThisError)]
#[non_exhaustive]
pub enum Error {
    /// The system refused to open or read it.
    #[error("cannot read {}: {}", path.display(), reason(source))]
    Read {
        /// The file.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// The system refused to create or write it. What was there before is still there.
    #[error("cannot write {}: {}", path.display(), reason(source))]
    Write {
        /// The file.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// What is read cannot be memory-mapped, and there was no room for a copy that can.
    #[error(
        "cannot read {}: cannot copy it to a temporary file in {}: {}",
        path.display(), folder.display(), reason(source)
    )]
    Spool {
        /// The file.
        path: PathBuf,
        /// Where the copy should have gone.
        folder: PathBuf,
        /// Why it did not.
        source: io::Error,
    },
    /// Nothing came from the standard input.
    #[error("cannot read -: standard input is empty")]
    EmptyInput,
    /// A file that is marked read-only, or that this user may not write.
    #[error("cannot write {}: it is read-only", path.display())]
    ReadOnly {
        /// The file.
        path: PathBuf,
    },
    /// An output that would replace one of the files it is made from.
    #[error("cannot write {}: it is an input{}", path.display(), called(path, input))]
    IsInput {
        /// The output.
        path: PathBuf,
        /// The path that the same file was read under.
        input: PathBuf,
    },
    /// A file that another process is changing in place.
    #[error("cannot write {}: another process is changing it in place", path.display())]
    Locked {
        /// The file.
        path: PathBuf,
    },
    /// Only regular files can be changed or replaced where they are.
    #[error("cannot change {} in place: it is not a regular file", path.display())]
    NotRegular {
        /// The path.
        path: PathBuf,
    },
    /// Text that should be integers.
    #[error("{}: line {line}: expected {expected}, found {found}", path.display())]
    Text {
        /// The file.
        path: PathBuf,
        /// Counted from 1.
        line: usize,
        /// What should be there.
        expected: &'static str,
        /// What is there, quoted and shortened.
        found: String,
    },
    /// One of several outputs could not get its name, after others had got theirs.
    #[error("cannot write {}: {}{}", path.display(), reason(source), undone(removed, kept))]
    Together {
        /// The file.
        path: PathBuf,
        /// Why not.
        source: io::Error,
        /// Outputs that were new, and are gone again.
        removed: Vec<PathBuf>,
        /// Outputs that have replaced older files.
        kept: Vec<PathBuf>,
    },
    /// It is no TensorProto, or none that can be taken in.
    #[error("{}: {source}", path.display())]
    TensorProto {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        source: Box<TensorError>,
    },
    /// It is no model, or none that can be run.
    #[error("{}: {source}", path.display())]
    Model {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        source: Box<ModelError>,
    },
    /// It is no `.npy` file, or none that can be taken in.
    #[error("{}: {source}", path.display())]
    Npy {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        source: NpyError,
    },
    /// It is no `.npz` archive, or none that can be taken in.
    #[error("{}: {source}", path.display())]
    Npz {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        source: Box<NpzError>,
    },
    /// It is no `.safetensors` file, or none that can be taken in.
    #[error("{}: {source}", path.display())]
    Safetensors {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        source: SafetensorsError,
    },
    /// Raw bytes that are not what was said about them.
    #[error("{}: {source}", path.display())]
    Raw {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        source: RawError,
    },
    /// Neither its name nor its content says what it is.
    #[error(
        "{}: cannot tell what kind of file this is: expected a name that ends in .npy, .npz, \
         .safetensors or .pb", path.display()
    )]
    UnknownFormat {
        /// The file.
        path: PathBuf,
    },
    /// The name of an output says nothing about its format.
    #[error(
        "{}: cannot tell which format to write: expected a name that ends in .npy, .npz, \
         .safetensors, .pb, .raw or .bin", path.display()
    )]
    UnknownOutput {
        /// The file.
        path: PathBuf,
    },
    /// A name for a tensor in a file of only one.
    #[error(
        "{}:{name}: {format} files hold one tensor, which needs no name: leave out {:?}",
        path.display(), format!(":{name}")
    )]
    NoNames {
        /// The file.
        path: PathBuf,
        /// The name.
        name: String,
        /// The format.
        format: Format,
    },
    /// There is no tensor of that name, or there are several and none was named.
    #[error("{}: {}", path.display(), which(name, names, *more))]
    WhichTensor {
        /// The file.
        path: PathBuf,
        /// The name that was asked for.
        name: Option<String>,
        /// Some of the names that there are.
        names: Vec<String>,
        /// How many more there are.
        more: usize,
    },
    /// The type that was said contradicts the file.
    #[error("{}: its elements are {element}, not {dtype}", path.display())]
    OtherType {
        /// The file.
        path: PathBuf,
        /// What the file says.
        element: String,
        /// What was asked for.
        dtype: DType,
    },
    /// The shape that was said contradicts the file.
    #[error("{}: its shape is {shape:?}, not {asked:?}", path.display())]
    OtherShape {
        /// The file.
        path: PathBuf,
        /// What the file says.
        shape: Vec<usize>,
        /// What was asked for.
        asked: Vec<usize>,
    },
    /// The output's format has no such elements.
    #[error("{}: {format} files have no {element} elements; {}", path.display(), instead(*format, element))]
    CannotHold {
        /// The file.
        path: PathBuf,
        /// The format.
        format: Format,
        /// The type.
        element: String,
    },
    /// Strings that cannot be taken in, or not in this format.
    #[error("{}: {reason}", path.display())]
    Strings {
        /// The file.
        path: PathBuf,
        /// Why not.
        reason: String,
    },
    /// A name that an archive should not have.
    #[error(
        "{}: {name:?} is no name for a tensor: expected one that is not empty and, as a path, \
         stays inside the archive", path.display()
    )]
    BadName {
        /// The file.
        path: PathBuf,
        /// The name.
        name: String,
    },
    /// Writing would remove other tensors.
    #[error(
        "{}: holds other tensors ({}), which would be lost: write to a new file",
        path.display(), listed(names, *more)
    )]
    OthersWouldGo {
        /// The file.
        path: PathBuf,
        /// Some of them.
        names: Vec<String>,
        /// How many more there are.
        more: usize,
    },
    /// A file that cannot be changed where it is.
    #[error("{}: {format} files cannot be changed in place, only npy and raw ones", path.display())]
    NotInPlace {
        /// The file.
        path: PathBuf,
        /// The format.
        format: Format,
    },
}

impl Error {
    pub(crate) fn read(path: &Path, source: io::Error) -> Error {
        Error::Read { path: path.to_owned(), source }
    }

    pub(crate) fn write(path: &Path, source: io::Error) -> Error {
        Error::Write { path: path.to_owned(), source }
    }
}

/// What became of the outputs before the one that failed.
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

/// The other name of a file, if it has one.
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

/// Where else the elements could go.
fn instead(format: Format, element: &str) -> &'static str {
    match format {
        Format::Safetensors if element == "string" => "write .pb, .npy or .npz",
        _ if element.starts_with('(') => "write .npy or .npz",
        Format::Safetensors => "write .npy or .npz, or say what they are",
        Format::Pb => "write .npy, .npz or .raw, or say what they are",
        _ => "write .pb, .safetensors or .raw",
    }
}
