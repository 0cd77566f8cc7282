//! Opening a tensor by its location, and listing what a file holds. Here the formats meet.

use crate::element::ElementType;
use crate::error::{Error, RawError};
use crate::external::Folder;
use crate::format::{Format, Location};
use crate::npy::{self, Failure};
use crate::npz::{Archive, NpzFailure, Place};
use crate::onnx::{self, Located, NamedTensor, Place as InMessage, TensorError};
use crate::safetensors::{self, Described};
use crate::spool::{self, Map};
use crate::tensor::{Data, Tensor};
use crate::value::{Elements, Value};
use bytes::Bytes;
use retrograde::{DType, Layout};
use std::fs::File;
use std::io::{self, BufReader, Read, Seek};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Names that an error lists.
const SHOWN: usize = 8;

/// What is known about a file besides what it says itself.
#[derive(Debug, Clone, Default)]
pub struct Opening {
    /// Its format, if neither name nor content says it.
    pub format: Option<Format>,
    /// The element type of raw bytes, or of opaque elements.
    pub dtype: Option<DType>,
    /// The shape of raw bytes; one axis if it is not given.
    pub shape: Option<Vec<usize>>,
    /// The output, beside which temporary files go; else they go where the system keeps such.
    pub output: Option<PathBuf>,
}

/// What a file holds.
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
    /// Its name, where tensors have names.
    pub name: Option<String>,
    /// Its element type.
    pub element: ElementType,
    /// Sizes of the axes.
    pub shape: Vec<usize>,
    /// Whether the elements lie in column-major order.
    pub fortran_order: bool,
    /// Bytes its elements take.
    pub bytes: usize,
    /// Where its data is in the file, unless it is deflated.
    pub offset: Option<u64>,
    /// Bytes it takes in the file, if it is deflated.
    pub deflated: Option<u64>,
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

/// Opens one tensor as models have it: see [`Tensor::to_value`]. Strings come as they are.
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

/// Lists what a file holds, without a look at the elements.
pub fn list(location: &Location, opening: &Opening) -> Result<Listing, Error> {
    let mut source = Source::of(location, opening)?;
    let path = source.path.clone();
    let file_bytes = source.size;
    let format = source.format;
    let tensors = match format {
        Format::Npy | Format::Raw => {
            let tensor = if format == Format::Npy { source.npy() } else { source.raw(opening) }?;
            let tensor = tensor.with_dtype(opening.dtype)?;
            let bytes = tensor.layout.byte_len();
            vec![Listed {
                name: None,
                element: tensor.element,
                shape: tensor.layout.shape().to_vec(),
                fortran_order: tensor.fortran_order,
                bytes,
                offset: Some(file_bytes - bytes as u64),
                deflated: None,
            }]
        }
        Format::Pb => {
            let (content, map, mut folder) = source.message(opening)?;
            let located = onnx::locate(&content, &mut folder);
            let Located { name, dtype, shape, place } =
                located.map_err(|error| source.not_proto(error))?;
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
                let member = archive.describe(index).map_err(|error| npz_error(&path, error))?;
                let located = member.located;
                Ok(Listed {
                    name: Some(names[index].clone()),
                    shape: located.layout.shape().to_vec(),
                    fortran_order: located.fortran_order,
                    bytes: located.layout.byte_len(),
                    element: ElementType::Numpy(located.descr),
                    offset: None,
                    deflated: member.deflated,
                })
            };
            wanted.into_iter().map(describe).collect::<Result<_, Error>>()?
        }
        Format::Safetensors => {
            let tensors = source.described()?;
            let names: Vec<_> = tensors.iter().map(|tensor| tensor.name.clone()).collect();
            let wanted = wanted(&path, &location.name, &names)?;
            let listed = |index: usize| {
                let Described { name, layout, offset } = tensors[index].clone();
                Listed {
                    name: Some(name),
                    element: ElementType::Plain(layout.dtype()),
                    shape: layout.shape().to_vec(),
                    fortran_order: false,
                    bytes: layout.byte_len(),
                    offset: Some(offset),
                    deflated: None,
                }
            };
            wanted.into_iter().map(listed).collect()
        }
    };
    Ok(Listing { format, file_bytes, tensors })
}

/// The names of the tensors in a file that has names; of none, if it is no such file.
pub(crate) fn names_in(path: &Path, format: Format) -> Vec<String> {
    let listing =
        list(&Location::file(path), &Opening { format: Some(format), ..Opening::default() });
    let tensors = listing.map(|listing| listing.tensors).unwrap_or_default();
    tensors.into_iter().filter_map(|tensor| tensor.name).collect()
}

/// Some names, and how many more there are.
pub(crate) fn shown(mut names: Vec<String>) -> (Vec<String>, usize) {
    let more = names.len().saturating_sub(SHOWN);
    names.truncate(SHOWN);
    (names, more)
}

/// The tensors that are meant: the named one, or all.
fn wanted(path: &Path, name: &Option<String>, names: &[String]) -> Result<Vec<usize>, Error> {
    match name {
        None => Ok((0..names.len()).collect()),
        Some(_) => the_one(path, name, names).map(|index| vec![index]),
    }
}

/// The tensor that is meant: the named one, or the only one.
fn the_one(path: &Path, name: &Option<String>, names: &[String]) -> Result<usize, Error> {
    let found = match name {
        // The last of a name is the one that counts, as in Python.
        Some(name) => names.iter().rposition(|own| own == name || format!("{own}.npy") == *name),
        None => (names.len() == 1).then_some(0),
    };
    found.ok_or_else(|| {
        let (names, more) = shown(names.to_vec());
        Error::WhichTensor { path: path.to_owned(), name: name.clone(), names, more }
    })
}

/// A file that can be mapped, whose format is known.
struct Source {
    path: PathBuf,
    file: File,
    size: u64,
    format: Format,
}

impl Source {
    fn of(location: &Location, opening: &Opening) -> Result<Source, Error> {
        let path = &location.path;
        let failed = |error| Error::read(path, error);
        let folder = spool::folder_beside(opening.output.as_deref());
        let mut file = if location.is_stream() {
            spool::file_of(&mut io::stdin().lock(), &folder).map_err(failed)?
        } else {
            let mut file = File::open(path).map_err(failed)?;
            let found = file.metadata().map_err(failed)?;
            if found.is_dir() {
                return Err(failed(io::ErrorKind::IsADirectory.into()));
            }
            if found.is_file() {
                file
            } else {
                spool::file_of(&mut file, &folder).map_err(failed)?
            }
        };
        let size = file.metadata().map_err(failed)?.len();
        let named = Format::of(path).filter(|_| !location.is_stream());
        let said = opening.format.or(named).or(opening.dtype.map(|_| Format::Raw));
        let format = match said {
            Some(format) => format,
            None => {
                let mut start = Vec::new();
                file.rewind().map_err(failed)?;
                (&file).take(9).read_to_end(&mut start).map_err(failed)?;
                let unknown = || Error::UnknownFormat { path: path.clone() };
                Format::sniff(&start).ok_or_else(unknown)?
            }
        };
        if let Some(name) = location.name.clone().filter(|_| !format.has_names()) {
            return Err(Error::NoNames { path: path.clone(), name, format });
        }
        file.rewind().map_err(failed)?;
        Ok(Source { path: path.clone(), file, size, format })
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
        spool::map(&self.file).map_err(|error| self.failed(error))
    }

    /// The tensor whose data starts here. The map may be shorter than the file was.
    fn tensor(
        &self,
        name: Option<String>,
        element: ElementType,
        (layout, fortran_order): (Layout, bool),
        data: Option<Data>,
    ) -> Result<Tensor, Error> {
        let shortened = || self.failed(io::Error::other("it became shorter meanwhile"));
        let data = data.ok_or_else(shortened)?;
        let (path, format) = (self.path.clone(), self.format);
        Ok(Tensor { path, format, name, element, fortran_order, layout, data, strings: None })
    }

    fn npy(&self) -> Result<Tensor, Error> {
        let located = npy::locate(&mut BufReader::new(&self.file), self.size).map_err(
            |failure| match failure {
                Failure::Io(error) => self.failed(error),
                Failure::Npy(source) => Error::Npy { path: self.path.clone(), source },
            },
        )?;
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

    fn described(&mut self) -> Result<Vec<Described>, Error> {
        let read = safetensors::read(&mut BufReader::new(&self.file), self.size);
        let path = self.path.clone();
        read.map_err(|error| self.failed(error))?
            .map_err(|source| Error::Safetensors { path, source })
    }

    fn safetensors(mut self, location: &Location) -> Result<Tensor, Error> {
        let mut tensors = self.described()?;
        let names: Vec<_> = tensors.iter().map(|tensor| tensor.name.clone()).collect();
        let index = the_one(&self.path, &location.name, &names)?;
        let Described { name, layout, offset } = tensors.swap_remove(index);
        let data = Data::part(self.map()?, offset, layout.byte_len());
        self.tensor(Some(name), ElementType::Plain(layout.dtype()), (layout, false), data)
    }

    /// A message, the map that it is in, and what lies beside it.
    fn message(&self, opening: &Opening) -> Result<(Bytes, Arc<Map>, Folder), Error> {
        let map = Arc::new(self.map()?);
        let content = Bytes::from_owner(Data::Mapped(map.clone(), 0..map.len()));
        let spool = spool::folder_beside(opening.output.as_deref());
        Ok((content, map, Folder::of(&self.path).spooling_in(&spool)))
    }

    fn not_proto(&self, source: TensorError) -> Error {
        Error::TensorProto { path: self.path.clone(), source: Box::new(source) }
    }

    /// The tensor in a message, whose elements are the map's where they are raw.
    fn proto(&self, opening: &Opening) -> Result<(NamedTensor, Arc<Map>), Error> {
        let (content, map, mut folder) = self.message(opening)?;
        let tensor = onnx::value_of(&content, &mut folder);
        Ok((tensor.map_err(|error| self.not_proto(error))?, map))
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
        let layout = raw_layout(opening, self.size)
            .map_err(|source| Error::Raw { path: self.path.clone(), source })?;
        let data = Data::part(self.map()?, 0, layout.byte_len());
        self.tensor(None, ElementType::Plain(layout.dtype()), (layout, false), data)
    }
}

/// What raw bytes are: the shape that was said, or one axis of all there is.
fn raw_layout(opening: &Opening, available: u64) -> Result<Layout, RawError> {
    let Some(dtype) = opening.dtype else { return Err(RawError::NoType) };
    let one_axis = || {
        let bits = dtype.bits().filter(|&bits| bits > 0).unwrap_or(8) as u128;
        let count = u128::from(available) * 8 / bits;
        vec![usize::try_from(count).unwrap_or(usize::MAX)]
    };
    let shape = opening.shape.clone().unwrap_or_else(one_axis);
    let layout = Layout::dense(dtype, &shape)?;
    let expected = layout.byte_len() as u64;
    match (expected == available, &opening.shape) {
        (true, _) => Ok(layout),
        (false, Some(_)) => Err(RawError::Size { shape, dtype, expected, available }),
        (false, None) => Err(RawError::Rest { dtype, available }),
    }
}

fn npz_error(path: &Path, error: NpzFailure) -> Error {
    match error {
        NpzFailure::Io(error) => Error::read(path, error),
        NpzFailure::Npz(source) => Error::Npz { path: path.to_owned(), source },
    }
}
