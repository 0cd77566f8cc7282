//! What can be wrong with a file, each as a variant that carries the values.
//!
//! [`Error`] says which file; the error of its format ([`NpyError`], [`NpzError`],
//! [`SafetensorsError`], [`TensorError`], [`RawError`], [`ModelError`]) says what about it.

use crate::format::Format;
use crate::graph::GraphError;
use crate::onnx::TensorError;
use retrograde::{DType, LayoutError};
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
        source: NpzError,
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
         .safetensors or .pb; for raw bytes, say --dtype and --shape", path.display()
    )]
    UnknownFormat {
        /// The file.
        path: PathBuf,
    },
    /// The name of an output says nothing about its format.
    #[error(
        "{}: cannot tell which format to write: expected a name that ends in .npy, .npz, \
         .safetensors, .pb, .raw or .bin, or --to FORMAT", path.display()
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
    /// `--dtype` contradicts the file.
    #[error(
        "{}: its elements are {element}, not {dtype}: --dtype is for raw bytes, and for opaque \
         elements of the same width (such as bf16 for V2)", path.display()
    )]
    OtherType {
        /// The file.
        path: PathBuf,
        /// What the file says.
        element: String,
        /// What was asked for.
        dtype: DType,
    },
    /// `--shape` contradicts the file.
    #[error(
        "{}: its shape is {shape:?}, not {asked:?}: --shape is for raw bytes", path.display()
    )]
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
    #[error("{}: {format} files cannot be changed in place, only npy and raw ones: use -o", path.display())]
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

/// What is wrong with an `.npz` archive.
#[derive(Debug, Clone, PartialEq, Eq, ThisError)]
#[non_exhaustive]
pub enum NpzError {
    /// It cannot be read as an archive.
    #[error("not a readable .npz archive: {reason}")]
    Archive {
        /// What the archive's reader says.
        reason: String,
    },
    /// More entries than any sensible archive has.
    #[error("the archive says it has {count} members, more than the {limit} that are accepted")]
    TooMany {
        /// Members.
        count: usize,
        /// The most that is accepted.
        limit: usize,
    },
    /// A member that cannot be read.
    #[error("member {member:?}: {reason}")]
    Member {
        /// The member.
        member: String,
        /// Why not.
        reason: String,
    },
    /// A member that is no `.npy` file.
    #[error("member {member:?}: {source}")]
    Npy {
        /// The member.
        member: String,
        /// What is wrong with it.
        source: NpyError,
    },
}

/// What is wrong with a `.safetensors` file.
#[derive(Debug, Clone, PartialEq, Eq, ThisError)]
#[non_exhaustive]
pub enum SafetensorsError {
    /// Too short to say how long its header is.
    #[error(
        "not a .safetensors file: it has {available} bytes, fewer than the 8 that say how long its header is"
    )]
    NoLength {
        /// Bytes there are.
        available: u64,
    },
    /// The header says it is longer than any sensible header.
    #[error(
        "the header says it has {declared} bytes, more than the {limit} that are accepted (is this a .safetensors file?)"
    )]
    HeaderTooLong {
        /// Bytes the header should have.
        declared: u64,
        /// The most that is accepted.
        limit: u64,
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
    /// The header is not the JSON it should be.
    #[error("malformed header: {reason}")]
    Json {
        /// What the parser says.
        reason: String,
    },
    /// An element type that is not known.
    #[error("tensor {name:?} has dtype {dtype:?}, which is not supported; {}", known())]
    UnknownType {
        /// The tensor.
        name: String,
        /// Its type, shortened.
        dtype: String,
    },
    /// The shape is impossible.
    #[error("tensor {name:?}: impossible shape: {source}")]
    Shape {
        /// The tensor.
        name: String,
        /// Why.
        source: LayoutError,
    },
    /// The tensor's place is not the size of the tensor.
    #[error(
        "tensor {name:?}: shape {shape:?} of {dtype} takes {expected} bytes but its data_offsets are [{start}, {end}]"
    )]
    Size {
        /// The tensor.
        name: String,
        /// Its shape.
        shape: Vec<usize>,
        /// Its type.
        dtype: DType,
        /// Bytes that takes.
        expected: u64,
        /// Where it says its data starts.
        start: u64,
        /// Where it says its data ends.
        end: u64,
    },
    /// The tensor's place is outside the file.
    #[error(
        "tensor {name:?}: its data_offsets are [{start}, {end}] but the file has {available} bytes of data: it is cut short, or the header is wrong"
    )]
    Outside {
        /// The tensor.
        name: String,
        /// Where it says its data starts.
        start: u64,
        /// Where it says its data ends.
        end: u64,
        /// Bytes of data there are.
        available: u64,
    },
    /// Two tensors, or a tensor and a gap, where the format wants one after the other.
    #[error(
        "tensor {name:?}: its data starts at {start}, expected {expected}: tensors must follow each other without gaps"
    )]
    Gap {
        /// The tensor.
        name: String,
        /// Where its data starts.
        start: u64,
        /// Where the tensor before it ends.
        expected: u64,
    },
    /// Data behind the last tensor.
    #[error(
        "{extra} bytes follow the last tensor: either the header is wrong or something was appended"
    )]
    Trailing {
        /// How many.
        extra: u64,
    },
}

/// What is wrong with raw bytes.
#[derive(Debug, Clone, PartialEq, Eq, ThisError)]
#[non_exhaustive]
pub enum RawError {
    /// Nobody said what they are.
    #[error(
        "raw bytes: say what they are with --dtype (such as f32) and --shape (such as 480,640,3)"
    )]
    NoType,
    /// The shape is impossible.
    #[error("impossible shape: {0}")]
    Shape(#[from] LayoutError),
    /// Not the number of bytes that the shape takes.
    #[error(
        "shape {shape:?} of {dtype} takes {expected} bytes but the file has {}",
        available.map_or("more".to_owned(), |bytes| bytes.to_string())
    )]
    Size {
        /// The shape.
        shape: Vec<usize>,
        /// The type.
        dtype: DType,
        /// Bytes that takes.
        expected: u64,
        /// Bytes there are; `None` if a pipe or a device has more, and may go on for ever.
        available: Option<u64>,
    },
    /// Not a whole number of elements.
    #[error("the file has {available} bytes, which is no whole number of {dtype} elements")]
    Rest {
        /// The type.
        dtype: DType,
        /// Bytes there are.
        available: u64,
    },
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

fn listed(names: &[String], more: usize) -> String {
    let quoted: Vec<_> = names.iter().map(|name| format!("{name:?}")).collect();
    let rest = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("{}{rest}", quoted.join(", "))
}

/// Where else the elements could go.
fn instead(format: Format, element: &str) -> &'static str {
    match format {
        Format::Safetensors if element == "string" => "write .pb, .npy or .npz",
        _ if element.starts_with('(') => "write .npy or .npz",
        Format::Safetensors => "write .npy or .npz, or say what they are with --dtype",
        Format::Pb => "write .npy, .npz or .raw, or say what they are with --dtype",
        _ => "write .pb, .safetensors or .raw",
    }
}

fn known() -> String {
    let names = DType::ALL.iter().filter_map(|dtype| dtype.names()?.safetensors);
    format!("expected one of {}", names.collect::<Vec<_>>().join(", "))
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
    /// Records within records, deeper than any sensible dtype.
    #[error("its fields are nested more than {limit} deep")]
    FieldsTooDeep {
        /// The most that is accepted.
        limit: usize,
    },
    /// A record that no memory could hold.
    #[error("its fields take more bytes than can be addressed")]
    FieldsTooLarge,
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

/// What a library says, on one line.
pub(crate) fn one_line(error: &impl std::fmt::Display) -> String {
    error.to_string().split_whitespace().collect::<Vec<_>>().join(" ")
}

/// What else the file might be.
fn kind_hint(start: &str) -> &'static str {
    if start.starts_with("\"PK") { " (an .npz archive? name it .npz)" } else { "" }
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
