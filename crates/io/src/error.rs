//! What can be wrong with a file, each as a variant that carries the values.
//!
//! [`Error`] says which file; the error of its format ([`NpyError`]) says what about it.

use crate::graph::GraphError;
use crate::onnx::TensorError;
use retrograde::LayoutError;
use std::io;
use std::path::PathBuf;
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
}

/// What is wrong with a model.
#[derive(Debug, ThisError)]
#[non_exhaustive]
pub enum ModelError {
    /// It is no ONNX model.
    #[error("not an ONNX model: {reason}")]
    NotOnnx {
        /// What the decoder says.
        reason: String,
    },
    /// An operator set that is not known.
    #[error(
        "its opset is {}, expected {low} to {high}",
        version.map_or("missing".to_owned(), |version| version.to_string())
    )]
    Opset {
        /// The version, if there is one.
        version: Option<i64>,
        /// The first that is known.
        low: i64,
        /// The last that is known.
        high: i64,
    },
    /// A tensor in it is wrong.
    #[error("{what}: {source}")]
    Tensor {
        /// Which one.
        what: String,
        /// What is wrong with it.
        source: Box<TensorError>,
    },
    /// A value that is no tensor.
    #[error("{what} {name:?} is no tensor, but a sequence, a map or the like")]
    NoTensor {
        /// What it is in the graph.
        what: &'static str,
        /// Its name.
        name: String,
    },
    /// It is no OpenVINO IR.
    #[error("not an OpenVINO IR: {reason}")]
    NotIr {
        /// What is wrong with it.
        reason: String,
    },
    /// The graph is wrong.
    #[error(transparent)]
    Graph(#[from] GraphError),
}

/// What is wrong with the content of a `.npy` file.
#[derive(Debug, Clone, PartialEq, Eq, ThisError)]
#[non_exhaustive]
pub enum NpyError {
    /// It begins with something else.
    #[error("not a .npy file: it begins with {start}, not with \\x93NUMPY{}", kind_hint(start))]
    NotNpy {
        /// The first bytes, printable.
        start: String,
    },
    /// A version of the format that does not exist yet.
    #[error(".npy version {major}.{minor} is unknown, expected 1.0, 2.0 or 3.0")]
    Version {
        /// Major version.
        major: u8,
        /// Minor version.
        minor: u8,
    },
    /// The file ends inside its header.
    #[error(
        "the file is cut short: its header should have {declared} bytes but only {available} follow"
    )]
    HeaderCut {
        /// Bytes the header should have.
        declared: u64,
        /// Bytes there are.
        available: u64,
    },
    /// The header says it is longer than any sensible header.
    #[error("the header says it has {declared} bytes, more than the {limit} that are accepted")]
    HeaderTooLong {
        /// Bytes the header should have.
        declared: u64,
        /// The most that is accepted.
        limit: u64,
    },
    /// The header is not the Python dictionary it should be.
    #[error("malformed header: expected {expected} at byte {position}, found {found}")]
    HeaderSyntax {
        /// Where in the header.
        position: usize,
        /// What should be there.
        expected: &'static str,
        /// What is there, printable and shortened.
        found: String,
    },
    /// A key that a header does not have.
    #[error(
        "malformed header: key {key} is unknown, expected 'descr', 'fortran_order' and 'shape'"
    )]
    UnknownKey {
        /// The key, printable and shortened.
        key: String,
    },
    /// A key that comes twice.
    #[error("malformed header: key '{key}' comes twice")]
    DuplicateKey {
        /// The key.
        key: &'static str,
    },
    /// A key that is not there.
    #[error("malformed header: key '{key}' is missing")]
    MissingKey {
        /// The key.
        key: &'static str,
    },
    /// A negative size.
    #[error("axis {axis} has the negative size {size}")]
    NegativeSize {
        /// The axis.
        axis: usize,
        /// The size, shortened.
        size: String,
    },
    /// A size that no memory could have.
    #[error("axis {axis} has size {size}, more than {} that can be addressed", usize::MAX)]
    SizeTooLarge {
        /// The axis.
        axis: usize,
        /// The size, shortened.
        size: String,
    },
    /// The shape as a whole is impossible.
    #[error("impossible shape: {0}")]
    Shape(#[from] LayoutError),
    /// The elements are records.
    #[error(
        "structured array (its dtype is a list of fields): save its fields one by one, \
         or the whole as plain records with x.view('V' + str(x.itemsize))"
    )]
    Structured,
    /// The elements are small arrays.
    #[error("subarray dtype (its dtype is a tuple): save it as an array with more axes")]
    Subarray,
    /// The elements are pickled Python objects.
    #[error(
        "object array ({descr:?}): its elements are pickled Python objects, not fixed-width data; \
         save it with a plain dtype, such as x.astype('U') for strings"
    )]
    Objects {
        /// The `descr` of the header.
        descr: String,
    },
    /// An element type that NumPy does not have.
    #[error("unknown dtype {descr:?}, expected one such as '<f4', '>i8', '|u1', '<U5' or '|V16'")]
    UnknownType {
        /// The `descr` of the header, shortened.
        descr: String,
    },
    /// Less data than the shape says.
    #[error(
        "shape {shape:?} of {descr:?} takes {expected} bytes but the file has {available}: \
         it is cut short"
    )]
    DataTooShort {
        /// The shape.
        shape: Vec<usize>,
        /// The element type.
        descr: String,
        /// Bytes the shape takes.
        expected: u64,
        /// Bytes there are.
        available: u64,
    },
    /// More data than the shape says.
    #[error(
        "shape {shape:?} of {descr:?} takes {expected} bytes but the file has {}: \
         either the shape is wrong or something was appended",
        available.map_or("more".to_owned(), |bytes| bytes.to_string())
    )]
    DataTooLong {
        /// The shape.
        shape: Vec<usize>,
        /// The element type.
        descr: String,
        /// Bytes the shape takes.
        expected: u64,
        /// Bytes there are; `None` if the file (a pipe) does not know its size.
        available: Option<u64>,
    },
    /// The machine does not have the memory.
    #[error("not enough memory for the {bytes} bytes of the file")]
    OutOfMemory {
        /// Bytes asked for.
        bytes: u64,
    },
    /// Integers were asked for.
    #[error("its elements are {descr:?}, expected integers such as '<i8' or '|u1'")]
    NotIntegers {
        /// The element type.
        descr: String,
    },
}

/// What the system said, without the number that Rust appends.
pub(crate) fn reason(error: &io::Error) -> String {
    let text = error.to_string();
    match text.rfind(" (os error ") {
        Some(end) => text[..end].to_owned(),
        None => text,
    }
}

/// What else the file might be.
fn kind_hint(start: &str) -> &'static str {
    if start.starts_with("\"PK") {
        " (an .npz archive? unzip it: every member is a .npy file)"
    } else {
        ""
    }
}

/// Some bytes of a file, quoted and printable, at most `limit` of them.
pub(crate) fn excerpt(bytes: &[u8], limit: usize) -> String {
    if bytes.is_empty() {
        return "nothing".to_owned();
    }
    let shown = &bytes[..bytes.len().min(limit)];
    let more = if bytes.len() > limit { "..." } else { "" };
    // Inside double quotes, single ones need no escape.
    format!("\"{}{more}\"", shown.escape_ascii().to_string().replace("\\'", "'"))
}
