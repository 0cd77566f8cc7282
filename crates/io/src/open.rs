//! Opens a tensor by its location, and lists what a file holds. Dispatches on the format.

use crate::element::ElementType;
use crate::error::Error;
use crate::external::Folder;
use crate::format::{Format, Location};
use crate::identity::FilesRead;
use crate::integers;
use crate::npy::{self, Failure};
use crate::npz::{Archive, Member, NpzFailure, Place};
use crate::onnx::{self, Located, NamedTensor, Place as InMessage};
use crate::raw;
use crate::safetensors::{self, Described};
use crate::spool::{self, CopyError, Map};
use crate::tensor::{Data, Tensor};
use crate::value::{Elements, Value};
use bytes::Bytes;
use retrograde::{DType, Layout};
use std::fs::File;
use std::io::{self, BufReader, Read, Seek};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Names listed in an error.
const SHOWN: usize = 8;
/// Bytes of a stream that are read to identify it: more than any `.npy` header.
const START: u64 = (1 << 20) + 64;
/// Bytes of a file that are read to identify its format.
const SNIFFED: u64 = 512;
/// The largest size of a protocol buffer message.
const MOST_PROTO: u64 = 1 << 31;

/// What the caller knows about a file that the file itself may not say.
#[derive(Debug, Clone, Default)]
pub struct Opening {
    /// Its format, if neither name nor content identifies it.
    pub format: Option<Format>,
    /// The element type of raw bytes, or of opaque elements.
    pub dtype: Option<DType>,
    /// The shape of raw bytes; one axis if it is not given.
    pub shape: Option<Vec<usize>>,
    /// The output. Temporary files go to its folder, or to the system's folder for them if `None`.
    pub output: Option<PathBuf>,
    /// Other files that are read (external data) are added here.
    pub read: FilesRead,
}

/// The content of a file.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Listing {
    /// Its format.
    pub format: Format,
    /// Its size in bytes.
    pub file_bytes: u64,
    /// Its tensors.
    pub tensors: Vec<Listed>,
}

/// A tensor in a file.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Listed {
    /// Its name, if the format has names.
    pub name: Option<String>,
    /// Its element type.
    pub element: ElementType,
    /// Sizes of the axes.
    pub shape: Vec<usize>,
    /// Whether the elements are in column-major order.
    pub fortran_order: bool,
    /// Size of its elements in bytes.
    pub bytes: usize,
    /// Offset of its data in the file, unless it is deflated.
    pub offset: Option<u64>,
    /// Its compressed size in bytes, if it is deflated.
    pub deflated: Option<u64>,
}

impl Listed {
    /// A tensor in row-major order, whose place in the file is not known.
    fn new(name: Option<&str>, element: ElementType, layout: &Layout) -> Listed {
        Listed {
            name: name.map(str::to_owned),
            element,
            shape: layout.shape().to_vec(),
            fortran_order: false,
            bytes: layout.byte_len(),
            offset: None,
            deflated: None,
        }
    }
}

/// Opens one tensor.
///
/// ```
/// use retrograde_io::{Location, Opening, npy, open};
///
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("x.npy");
/// npy::write(&path, &npy::NpyArray::new("<u2", &[3], false, vec![1, 0, 2, 0, 3, 0])?)?;
/// let x = open(&Location::file(&path), &Opening::default())?;
/// assert_eq!((x.shape(), x.integer(&[2])), (&[3][..], Some(3)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn open(location: &Location, opening: &Opening) -> Result<Tensor, Error> {
    Source::of(location, opening)?.open(location, opening)
}

/// Opens one tensor as a value for models: see [`Tensor::to_value`]. Strings keep their lengths.
pub fn open_value(
    location: &Location,
    opening: &Opening,
    declared: Option<DType>,
) -> Result<Value, Error> {
    let source = Source::of(location, opening)?;
    match source.format {
        Format::Pb => Ok(source.proto(opening)?.0.value),
        _ => {
            let folder = spool::folder_beside(opening.output.as_deref());
            source.open(location, opening)?.to_value_in(declared, &folder)
        }
    }
}

/// Opens integers in the native byte order: a tensor of any format, or text (`.csv`, `.txt`, or a
/// file that looks like numbers) with one or several numbers per line.
///
/// ```
/// use retrograde_io::{Location, Opening, open_integers};
///
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("lengths.csv");
/// std::fs::write(&path, "4\n3\n2\n")?;
/// let lengths = open_integers(&Location::file(&path), &Opening::default())?;
/// assert_eq!((lengths.shape(), lengths.integer(&[0])), (&[3][..], Some(4)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn open_integers(location: &Location, opening: &Opening) -> Result<Tensor, Error> {
    open_or_parse(location, opening)?.to_native_integers()
}

/// Opens a tensor of any format, or the integers in a text, as [`open_integers`] does: they are a
/// tensor of rank 1 and of format [`Format::Raw`].
pub fn open_or_parse(location: &Location, opening: &Opening) -> Result<Tensor, Error> {
    let found = Found::of(location, opening)?;
    let named = integers::is_named(&location.path) && !location.is_stream();
    let text = opening.format.is_none() && (named || found.format.is_none());
    if text && (named || integers::is_text(&found.start)) && location.name.is_none() {
        let path = &location.path;
        let map = match found.size {
            0 => None,
            _ => Some(spool::map(&found.file, path).map_err(|error| Error::read(path, error))?),
        };
        let numbers = integers::parse(map.as_deref().unwrap_or_default(), path)?;
        return Tensor::from_integers(&numbers);
    }
    Source::known(found, location)?.open(location, opening)
}

/// Lists what a file holds, without reading the elements.
pub fn list(location: &Location, opening: &Opening) -> Result<Listing, Error> {
    let source = Source::of(location, opening)?;
    let path = source.path.clone();
    let file_bytes = source.size;
    let format = source.format;
    let tensors = match format {
        Format::Npy | Format::Raw => {
            let tensor = if format == Format::Npy { source.npy() } else { source.raw(opening) }?;
            let Tensor { element, layout, fortran_order, .. } = tensor.with_dtype(opening.dtype)?;
            let offset = Some(file_bytes - layout.byte_len() as u64);
            vec![Listed { fortran_order, offset, ..Listed::new(None, element, &layout) }]
        }
        Format::Pb => {
            let (content, map, mut folder) = source.message(opening)?;
            let located = onnx::locate(&content, &mut folder);
            let Located { name, dtype, shape, place } =
                located.map_err(|error| Error::proto(&source.path, error))?;
            let (bytes, offset) = match place {
                InMessage::Strings(_) => (onnx::string_bytes(&content), None),
                InMessage::Numbers(_, bytes) => (bytes, None),
                InMessage::Bytes(bytes) => match Data::found(&map, bytes.clone()) {
                    Data::Mapped(_, range) => (bytes.len(), Some(range.start as u64)),
                    Data::Held(_) => (bytes.len(), None),
                },
            };
            vec![Listed {
                name: Some(name).filter(|name| !name.is_empty()),
                element: ElementType::Plain(dtype),
                shape,
                fortran_order: false,
                bytes,
                offset,
                deflated: None,
            }]
        }
        Format::Npz => {
            let mut archive =
                Archive::open(&source.file).map_err(|error| npz_error(&path, error))?;
            let names = archive.names().to_vec();
            let wanted = wanted(&path, &location.name, &names)?;
            let describe = |index: usize| {
                let Member { located, deflated } =
                    archive.describe(index).map_err(|error| npz_error(&path, error))?;
                let (fortran_order, element) =
                    (located.fortran_order, ElementType::Numpy(located.descr));
                let listed = Listed::new(Some(&names[index]), element, &located.layout);
                Ok(Listed { fortran_order, deflated, ..listed })
            };
            wanted.into_iter().map(describe).collect::<Result<_, Error>>()?
        }
        Format::Safetensors => {
            let tensors = source.described()?;
            let names: Vec<_> = tensors.iter().map(|tensor| &*tensor.name).collect();
            let wanted = wanted(&path, &location.name, &names)?;
            let listed = |index: usize| {
                let (tensor, layout) = (&tensors[index], source.layout(&tensors[index])?);
                let element = ElementType::Plain(layout.dtype());
                let listed = Listed::new(Some(&tensor.name), element, &layout);
                Ok(Listed { offset: Some(tensor.offset), ..listed })
            };
            wanted.into_iter().map(listed).collect::<Result<_, Error>>()?
        }
    };
    Ok(Listing { format, file_bytes, tensors })
}

/// The names of the tensors in a file; empty if it is not a file of this format.
pub(crate) fn names_in(path: &Path, format: Format) -> Vec<String> {
    let listing =
        list(&Location::file(path), &Opening { format: Some(format), ..Opening::default() });
    let tensors = listing.map(|listing| listing.tensors).unwrap_or_default();
    tensors.into_iter().filter_map(|tensor| tensor.name).collect()
}

/// The first few names, and how many more there are.
pub(crate) fn shown<S: AsRef<str>>(names: &[S]) -> (Vec<String>, usize) {
    let shown = names.iter().take(SHOWN).map(|name| name.as_ref().to_owned());
    (shown.collect(), names.len().saturating_sub(SHOWN))
}

/// The requested tensors: the named one, or all.
fn wanted<S: AsRef<str>>(
    path: &Path,
    name: &Option<String>,
    names: &[S],
) -> Result<Vec<usize>, Error> {
    match name {
        None => Ok((0..names.len()).collect()),
        Some(_) => the_one(path, name, names).map(|index| vec![index]),
    }
}

/// The requested tensor: the named one, or the only one.
fn the_one<S: AsRef<str>>(path: &Path, name: &Option<String>, names: &[S]) -> Result<usize, Error> {
    let found = match name {
        // The last entry of a name counts, as in Python.
        Some(name) => names.iter().rposition(|own| {
            let own = own.as_ref();
            own == name || name.strip_suffix(".npy") == Some(own)
        }),
        None => (names.len() == 1).then_some(0),
    };
    found.ok_or_else(|| {
        let (names, more) = shown(names);
        Error::WhichTensor { path: path.to_owned(), name: name.clone(), names, more }
    })
}

/// A file that can be mapped.
struct Found {
    file: File,
    size: u64,
    /// The given format, or the one that the name or the first bytes imply.
    format: Option<Format>,
    /// Its first bytes.
    start: Vec<u8>,
    /// Whether it is the start of a longer stream whose rest is not needed.
    goes_on: bool,
}

impl Found {
    /// Opens a file. A pipe or a device cannot be mapped and is copied to a temporary file.
    fn of(location: &Location, opening: &Opening) -> Result<Found, Error> {
        let path = &location.path;
        let failed = |error| Error::read(path, error);
        if location.is_stream() {
            return Found::stream(io::stdin().lock(), location, opening);
        }
        let mut file = File::open(path).map_err(failed)?;
        let found = file.metadata().map_err(failed)?;
        if found.is_dir() {
            return Err(failed(io::ErrorKind::IsADirectory.into()));
        }
        if !found.is_file() {
            return Found::stream(file, location, opening);
        }
        let mut start = Vec::new();
        (&file).take(SNIFFED).read_to_end(&mut start).map_err(failed)?;
        file.rewind().map_err(failed)?;
        let format = format_of(location, opening, &start);
        Ok(Found { file, size: found.len(), format, start, goes_on: false })
    }

    /// Copies a stream up to the size that its header implies, since it may never end.
    fn stream(
        mut reader: impl Read,
        location: &Location,
        opening: &Opening,
    ) -> Result<Found, Error> {
        let path = &location.path;
        let failed = |error| Error::read(path, error);
        let is_raw = |format| format == Some(Format::Raw);
        // Raw bytes have no header: only the caller knows their size.
        let said = raw::said(opening.dtype, opening.shape.as_deref())
            .ok()
            .flatten()
            .map(|layout| layout.byte_len() as u64);
        let first = if is_raw(format_of(location, opening, &[])) { said } else { None };
        let mut start = Vec::new();
        let wanted = first.map_or(START, |bytes| START.min(bytes.saturating_add(1)));
        (&mut reader).take(wanted).read_to_end(&mut start).map_err(failed)?;
        let format = format_of(location, opening, &start);
        if start.is_empty() && location.is_stream() && !(is_raw(format) && said == Some(0)) {
            return Err(Error::EmptyInput);
        }
        let all = match format {
            Some(Format::Raw) => said.unwrap_or(u64::MAX),
            // An invalid header is reported when the copy is opened.
            Some(Format::Npy) => npy::size_of(&start).unwrap_or(0),
            Some(Format::Pb) => MOST_PROTO,
            // These formats state their size at the end, or do not state it.
            Some(_) if Format::sniff(&start) == format => u64::MAX,
            None if integers::is_text(&start) => u64::MAX,
            Some(_) | None => 0,
        };
        let most = all.saturating_add(1).max(start.len() as u64);
        let folder = spool::folder_beside(opening.output.as_deref());
        let mut whole = start.as_slice().chain(reader).take(most);
        let file = spool::file_of(&mut whole, &folder).map_err(|error| match error {
            CopyError::Read(source) => failed(source),
            CopyError::Write(source) => Error::Spool { path: path.clone(), folder, source },
        })?;
        let size = file.metadata().map_err(failed)?.len();
        (&file).rewind().map_err(failed)?;
        Ok(Found { file, size, format, start, goes_on: size > all })
    }
}

/// The given format, or the one that the name or the first bytes imply.
fn format_of(location: &Location, opening: &Opening, start: &[u8]) -> Option<Format> {
    let said = opening.format.or(location.format()).or(opening.dtype.map(|_| Format::Raw));
    said.or_else(|| Format::sniff(start))
}

/// A file that can be mapped, with a known format.
struct Source {
    path: PathBuf,
    file: File,
    size: u64,
    goes_on: bool,
    format: Format,
}

impl Source {
    fn of(location: &Location, opening: &Opening) -> Result<Source, Error> {
        Source::known(Found::of(location, opening)?, location)
    }

    fn known(found: Found, location: &Location) -> Result<Source, Error> {
        let path = location.path.clone();
        let Found { file, size, format, goes_on, .. } = found;
        let Some(format) = format else { return Err(Error::UnknownFormat { path }) };
        if let Some(name) = location.name.clone().filter(|_| !format.has_names()) {
            return Err(Error::NoNames { path, name, format });
        }
        Ok(Source { path, file, size, goes_on, format })
    }

    fn open(self, location: &Location, opening: &Opening) -> Result<Tensor, Error> {
        let path = &location.path;
        let tensor = match self.format {
            Format::Npy => self.npy(),
            Format::Npz => self.npz(location, opening),
            Format::Safetensors => self.safetensors(location),
            Format::Pb => self.pb(opening),
            Format::Raw => return self.raw(opening),
        }?;
        if let Some(asked) = opening.shape.as_ref().filter(|shape| shape[..] != *tensor.shape()) {
            let (path, shape, asked) = (path.clone(), tensor.shape().to_vec(), asked.clone());
            return Err(Error::OtherShape { path, shape, asked });
        }
        tensor.with_dtype(opening.dtype)
    }

    fn failed(&self, error: io::Error) -> Error {
        Error::read(&self.path, error)
    }

    fn map(&self) -> Result<Map, Error> {
        spool::map(&self.file, &self.path).map_err(|error| self.failed(error))
    }

    /// The tensor whose data starts here. The map may be shorter than the file was.
    fn tensor(
        &self,
        name: Option<String>,
        element: ElementType,
        (layout, fortran_order): (Layout, bool),
        data: Option<Data>,
    ) -> Result<Tensor, Error> {
        let shortened =
            || self.failed(io::Error::other("the file was truncated while it was being read"));
        let data = data.ok_or_else(shortened)?;
        let (path, format) = (self.path.clone(), self.format);
        Ok(Tensor { path, format, name, element, fortran_order, layout, data, strings: None })
    }

    fn npy(&self) -> Result<Tensor, Error> {
        let mut reader = BufReader::new(&self.file);
        let located = npy::locate_in(&mut reader, self.size, self.goes_on);
        let located = located.map_err(|failure| match failure {
            Failure::Io(error) => self.failed(error),
            Failure::Npy(error) => Error::npy(&self.path, error),
        })?;
        let data = Data::part(self.map()?, located.offset, located.layout.byte_len());
        let element = ElementType::Numpy(located.descr);
        self.tensor(None, element, (located.layout, located.fortran_order), data)
    }

    fn npz(&self, location: &Location, opening: &Opening) -> Result<Tensor, Error> {
        let failed = |error| npz_error(&self.path, error);
        let mut archive = Archive::open(&self.file).map_err(failed)?;
        let names = archive.names().to_vec();
        let index = the_one(&self.path, &location.name, &names)?;
        let folder = spool::folder_beside(opening.output.as_deref());
        let (member, place) = archive.load(index, &folder).map_err(failed)?;
        let located = member.located;
        let data = match place {
            Place::Stored(start) => Data::part(self.map()?, start, located.layout.byte_len()),
            Place::Unpacked(map) => Some(Data::whole(map)),
        };
        let element = ElementType::Numpy(located.descr);
        let order = (located.layout, located.fortran_order);
        self.tensor(Some(names[index].clone()), element, order, data)
    }

    fn described(&self) -> Result<Vec<Described>, Error> {
        let read = safetensors::read(&mut BufReader::new(&self.file), self.size);
        let path = self.path.clone();
        read.map_err(|error| self.failed(error))?
            .map_err(|source| Error::Safetensors { path, source })
    }

    fn layout(&self, described: &Described) -> Result<Layout, Error> {
        let path = || self.path.clone();
        described.layout().map_err(|source| Error::Safetensors { path: path(), source })
    }

    fn safetensors(&self, location: &Location) -> Result<Tensor, Error> {
        let tensors = self.described()?;
        let names: Vec<_> = tensors.iter().map(|tensor| &*tensor.name).collect();
        let tensor = &tensors[the_one(&self.path, &location.name, &names)?];
        let (name, layout) = (tensor.name.to_string(), self.layout(tensor)?);
        let data = Data::part(self.map()?, tensor.offset, layout.byte_len());
        self.tensor(Some(name), ElementType::Plain(layout.dtype()), (layout, false), data)
    }

    /// A message, the map that holds it, and the folder for its external data.
    fn message(&self, opening: &Opening) -> Result<(Bytes, Arc<Map>, Folder), Error> {
        let map = Arc::new(self.map()?);
        let content = Bytes::from_owner(Data::Mapped(map.clone(), 0..map.len()));
        let spool = spool::folder_beside(opening.output.as_deref());
        let folder = Folder::of(&self.path).spooling_in(&spool).noting(&opening.read);
        Ok((content, map, folder))
    }

    /// The tensor in a message; raw elements share the map.
    fn proto(&self, opening: &Opening) -> Result<(NamedTensor, Arc<Map>), Error> {
        let (content, map, mut folder) = self.message(opening)?;
        let tensor = onnx::value_of(&content, &mut folder);
        Ok((tensor.map_err(|error| Error::proto(&self.path, error))?, map))
    }

    fn pb(&self, opening: &Opening) -> Result<Tensor, Error> {
        let (NamedTensor { name, value }, map) = self.proto(opening)?;
        let mut tensor = Tensor::from_value(&value, &name, (&self.path, self.format))?;
        if let Elements::Bytes(bytes) = value.elements() {
            tensor.data = Data::found(&map, bytes.clone());
        }
        Ok(tensor)
    }

    fn raw(&self, opening: &Opening) -> Result<Tensor, Error> {
        let layout = raw::layout(opening.dtype, opening.shape.as_deref(), self.size, self.goes_on)
            .map_err(|error| Error::raw(&self.path, error))?;
        let data = Data::part(self.map()?, 0, layout.byte_len());
        self.tensor(None, ElementType::Plain(layout.dtype()), (layout, false), data)
    }
}

fn npz_error(path: &Path, error: NpzFailure) -> Error {
    match error {
        NpzFailure::Io(error) => Error::read(path, error),
        NpzFailure::Npz(source) => Error::Npz { path: path.to_owned(), source: Box::new(source) },
    }
}
