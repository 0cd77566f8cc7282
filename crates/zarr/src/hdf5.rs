//! Datasets of HDF5 and NetCDF4 files as sources, read by `hdf5-pure`.
//!
//! Chunks with the usual filters (deflate, shuffle, fletcher32) are read one by one, by any thread.
//! Other layouts are read by rows of the first axis.

mod attributes;
mod filters;

use crate::element::{Class, Element};
use crate::error::Error;
use crate::flip;
use crate::grid::{Grid, Piece};
use crate::journal::lock;
use crate::store::join;
use crate::subject::Subject;
use crate::work::{Read as Chunk, Source};
use filters::Filters;
use hdf5_pure::{Datatype, DatatypeByteOrder, File, Group, Layout};
use serde_json::{Map, Value};
use std::collections::HashMap;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

/// Datasets without chunks are read in rows of about this many bytes.
const ROWS: u64 = 8 << 20;

/// A dataset of a file.
pub(crate) struct Dataset {
    path: PathBuf,
    /// The name for messages.
    pub(crate) name: String,
    /// Its chunks, or rows that serve as such.
    pub(crate) grid: Grid,
    pub(crate) element: Element,
    pub(crate) axes: Vec<Option<String>>,
    pub(crate) attributes: Map<String, Value>,
    /// Whether the file stores it compressed.
    pub(crate) compressed: bool,
    stored: Stored,
}

/// Where the elements are in the file.
enum Stored {
    /// In chunks: address, size and skipped filters by their position in the grid.
    Chunks { chunks: HashMap<Vec<u64>, (u64, u64, u32)>, filters: Filters },
    /// One after the other from this address.
    Contiguous(u64),
    /// Only `hdf5-pure` knows: read rows.
    Rows(Mutex<hdf5_pure::Dataset>),
}

/// Whether a file is HDF5, by its first bytes.
pub fn is_hdf5(path: &Path) -> bool {
    path.is_file() && hdf5_pure::is_hdf5(path).unwrap_or(false)
}

/// The datasets of a file with their types and shapes, a line each.
pub fn list(path: &Path) -> Result<Vec<String>, Error> {
    let bad = |error: hdf5_pure::Error| bad(path, "", error);
    let mut lines = Vec::new();
    for (prefix, group) in groups(&open(path)?).map_err(bad)? {
        for name in group.datasets().map_err(bad)? {
            let dataset = group.dataset(&name).map_err(bad)?;
            let (shape, dtype) = (dataset.shape().map_err(bad)?, dataset.dtype().map_err(bad)?);
            let chunk = dataset.chunk_shape().map_err(bad)?;
            let chunk =
                chunk.map_or("contiguous".to_owned(), |chunk| format!("chunks of {chunk:?}"));
            lines.push(format!("{}: {dtype} {shape:?} in {chunk}", join(&prefix, &name)));
        }
    }
    lines.sort();
    Ok(lines)
}

/// The groups of a file and their paths; the first is the root.
fn groups(file: &File) -> Result<Vec<(String, Group)>, hdf5_pure::Error> {
    let (mut found, mut next) = (Vec::new(), vec![(String::new(), file.root(), 0)]);
    while let Some((path, group, depth)) = next.pop() {
        // Links may form a circle.
        for name in group.groups()?.into_iter().filter(|_| depth < 64) {
            next.push((join(&path, &name), group.group(&name)?, depth + 1));
        }
        found.push((path, group));
    }
    Ok(found)
}

/// What a file holds.
pub(crate) struct Contents {
    /// The datasets and their paths, in the order of these.
    pub(crate) datasets: Vec<(String, Dataset)>,
    /// The groups and their attributes; the first is the root.
    pub(crate) groups: Vec<(String, Map<String, Value>)>,
}

impl Contents {
    /// Opens all datasets of a file. Every axis has a name then, as xarray needs it.
    pub(crate) fn open(path: &Path) -> Result<Contents, Error> {
        let file = open(path)?;
        let wrong = |error: hdf5_pure::Error| bad(path, "", error);
        let netcdf = attributes::is_netcdf(&file);
        let mut contents = Contents { datasets: Vec::new(), groups: Vec::new() };
        for (prefix, group) in groups(&file).map_err(wrong)? {
            let attributes = attributes::to_json(&group.attrs().map_err(wrong)?, netcdf);
            for name in group.datasets().map_err(wrong)? {
                let known = group.dataset(&name).and_then(|dataset| dataset.attrs());
                // NetCDF4 stores a dimension without a variable as a dataset without elements.
                if !attributes::is_bare_dimension(&known.map_err(wrong)?) {
                    let inside = join(&prefix, &name);
                    let dataset = Dataset::open(path, &inside)?;
                    contents.datasets.push((inside, dataset));
                }
            }
            contents.groups.push((prefix, attributes));
        }
        contents.datasets.sort_by(|one, other| one.0.cmp(&other.0));
        contents.groups.sort_by(|one, other| one.0.cmp(&other.0));
        contents.name_axes(netcdf)?;
        Ok(contents)
    }

    /// Names the axes that have no name: by their sizes, as libraries for NetCDF name them. In a NetCDF4
    /// file, such an axis is one of several dimensions of its size.
    fn name_axes(&mut self, netcdf: bool) -> Result<(), Error> {
        let mut sizes: Vec<u64> = Vec::new();
        for (_, dataset) in &mut self.datasets {
            for (axis, name) in dataset.axes.iter_mut().enumerate() {
                let size = dataset.grid.shape()[axis];
                if name.is_some() {
                    continue;
                }
                if netcdf {
                    let why = format!(
                        "axis {axis} has the size {size} of several dimensions, and which it is cannot be \
                         read from this file: reverse one dataset by number, FILE:NAME --axes {axis}"
                    );
                    return Err(Error::Metadata { at: dataset.name.clone(), why });
                }
                let known = sizes.iter().position(|&known| known == size);
                let number = known.unwrap_or_else(|| {
                    sizes.push(size);
                    sizes.len() - 1
                });
                *name = Some(format!("phony_dim_{number}"));
            }
        }
        Ok(())
    }
}

fn open(path: &Path) -> Result<File, Error> {
    File::open_streaming(path).map_err(|error| bad(path, "", error))
}

fn bad(path: &Path, inside: &str, why: impl ToString) -> Error {
    let colon = if inside.is_empty() { "" } else { ":" };
    Error::Metadata { at: format!("{}{colon}{inside}", path.display()), why: why.to_string() }
}

impl Dataset {
    /// Opens a dataset by its path in the file.
    pub(crate) fn open(path: &Path, inside: &str) -> Result<Dataset, Error> {
        let file = open(path)?;
        let bad = |why: String| bad(path, inside, why);
        let text = |error: hdf5_pure::Error| bad(error.to_string());
        let dataset = file.dataset(inside).map_err(text)?;
        let shape = dataset.shape().map_err(text)?;
        let mut element = element_of(&dataset.datatype().map_err(text)?).map_err(bad)?;
        let width = element.width as u64;
        let layout = dataset.layout().map_err(text)?;
        let chunk = match &layout {
            Layout::Chunked { chunk_shape, .. } => chunk_shape.clone(),
            _ => rows(&shape, width),
        };
        let described = format!("shape {shape:?} in chunks of {chunk:?}");
        let grid =
            Grid::new(shape, chunk).ok_or_else(|| bad(format!("{described} is not a grid")))?;
        let pipeline = dataset.filter_pipeline();
        let attributes = dataset.attrs().map_err(text)?;
        let axes = attributes::axes(&file, inside, &attributes, &grid);
        let fill = attributes::fill_value(&attributes, element.class);
        let mut attributes = attributes::to_json(&attributes, attributes::is_netcdf(&file));
        if let Some(fill) = fill {
            attributes.insert("_FillValue".to_owned(), fill);
        }
        let stored = match (&layout, Filters::new(&pipeline, element.width)) {
            (Layout::Chunked { .. }, Some(filters)) => match dataset.chunks() {
                Ok(found) => {
                    let position = |chunk: &hdf5_pure::Chunk| {
                        let at = chunk.offset.iter().zip(grid.chunk()).map(|(at, size)| at / size);
                        (at.collect(), (chunk.address, chunk.storage_size, chunk.filter_mask))
                    };
                    Stored::Chunks { chunks: found.iter().map(position).collect(), filters }
                }
                Err(_) => Stored::Rows(Mutex::new(dataset)),
            },
            (Layout::Contiguous { address: Some(address), .. }, _) => Stored::Contiguous(*address),
            _ => Stored::Rows(Mutex::new(dataset)),
        };
        // A chunk that was never written reads as the fill value.
        if let Stored::Chunks { chunks, .. } = &stored {
            let order: Vec<usize> = (0..grid.rank()).collect();
            let absent = (0..grid.chunks()).map(|number| grid.index(number, &order));
            if let Some(index) = absent.into_iter().find(|index| !chunks.contains_key(index)) {
                let again = file.dataset(inside).map_err(text)?;
                element.missing = missing(&again, &grid, &index, &element).map_err(bad)?;
            }
        }
        let name = format!("{}:{inside}", path.display());
        let compressed = pipeline.iter().any(|filter| filter.id != 2 && filter.id != 3);
        let path = path.to_owned();
        Ok(Dataset { path, name, grid, element, axes, attributes, compressed, stored })
    }

    /// What an operator asks about it.
    pub(crate) fn subject<'a>(&'a self, path: &'a str) -> Subject<'a> {
        let Dataset { name, grid, axes, .. } = self;
        Subject { name, path, grid, axes }
    }

    /// Reads part of the file.
    fn bytes(&self, at: u64, len: u64) -> io::Result<Vec<u8>> {
        let mut file = std::fs::File::open(&self.path)?;
        file.seek(SeekFrom::Start(at))?;
        let mut bytes = Vec::new();
        file.take(len).read_to_end(&mut bytes)?;
        match bytes.len() as u64 == len {
            true => Ok(bytes),
            false => Err(io::Error::new(io::ErrorKind::UnexpectedEof, "the file is truncated")),
        }
    }

    fn chunk_bytes(&self) -> u64 {
        self.grid.chunk_bytes(self.element.width)
    }
}

/// The bytes of an element of a chunk that was never written.
fn missing(
    dataset: &hdf5_pure::Dataset,
    grid: &Grid,
    index: &[u64],
    element: &Element,
) -> Result<Vec<u8>, String> {
    let (shape, width) = (grid.shape(), element.width as u64);
    let row = shape.iter().skip(1).try_fold(width, |product, &size| product.checked_mul(size));
    if row.is_some_and(|row| row <= ROWS) {
        // As the library reads it, whatever the file says about fill values.
        let first = index.first().map_or(0, |at| at * grid.chunk()[0]);
        let raw = dataset.read_raw_rows(first, 1).map_err(|error| error.to_string())?;
        let axes = index.iter().enumerate().skip(1);
        let start = axes.fold(0, |sum, (axis, at)| sum * shape[axis] + at * grid.chunk()[axis]);
        let start = (start * width) as usize;
        let found = raw.get(start..start + element.width);
        return Ok(found.ok_or("a row is too short")?.to_vec());
    }
    macro_rules! value {
        ($type:ty) => {
            dataset
                .fill_value::<$type>()
                .map(|value| value.map(|value| value.to_le_bytes().to_vec()))
        };
    }
    let value = match (element.class, element.width) {
        (Class::Unsigned, 1) => value!(u8),
        (Class::Unsigned, 2) => value!(u16),
        (Class::Unsigned, 4) => value!(u32),
        (Class::Unsigned, 8) => value!(u64),
        (Class::Signed, 1) => value!(i8),
        (Class::Signed, 2) => value!(i16),
        (Class::Signed, 4) => value!(i32),
        (Class::Signed, 8) => value!(i64),
        (Class::Float, 4) => value!(f32),
        (Class::Float, 8) => value!(f64),
        _ => return Err("rows are too large to look for the value of missing chunks".to_owned()),
    };
    let mut bytes = value.map_err(|error| error.to_string())?.unwrap_or(vec![0; element.width]);
    if element.big {
        bytes.reverse();
    }
    Ok(bytes)
}

/// A chunk of whole rows.
fn rows(shape: &[u64], width: u64) -> Vec<u64> {
    let inner = shape.iter().skip(1).fold(width, |product, &size| product.saturating_mul(size));
    let mut chunk: Vec<u64> = shape.iter().map(|&size| size.max(1)).collect();
    if let Some(first) = chunk.first_mut() {
        *first = (ROWS / inner.max(1)).clamp(1, *first);
    }
    chunk
}

/// The element type, if Zarr and NumPy have it.
fn element_of(datatype: &Datatype) -> Result<Element, String> {
    let of = |class, size: u32, order: &DatatypeByteOrder| match order {
        DatatypeByteOrder::Vax => Err("the byte order is that of a VAX".to_owned()),
        order => {
            let (width, big) = (size as usize, *order == DatatypeByteOrder::BigEndian);
            Ok(Element { class, width, big, missing: vec![0; width] })
        }
    };
    match datatype {
        Datatype::FixedPoint { size: size @ (1 | 2 | 4 | 8), byte_order, layout } => {
            let class = if layout.signed { Class::Signed } else { Class::Unsigned };
            of(class, *size, byte_order)
        }
        Datatype::FloatingPoint { size: size @ (2 | 4 | 8), byte_order, .. } => {
            of(Class::Float, *size, byte_order)
        }
        // How h5py stores booleans.
        Datatype::Enumeration { size: 1, members, .. }
            if members.len() == 2 && members.iter().any(|member| member.name == "TRUE") =>
        {
            of(Class::Bool, 1, &DatatypeByteOrder::LittleEndian)
        }
        Datatype::Enumeration { base_type, .. } => element_of(base_type),
        other => {
            let shown: String = format!("{other:?}").chars().take(80).collect();
            Err(format!("elements are {shown}, expected integers, floats or booleans"))
        }
    }
}

impl Source for Dataset {
    fn chunk(&self, index: &[u64]) -> Result<Chunk, Error> {
        // The whole file is compared before a run goes on.
        let read = |elements| Chunk { elements, version: Some(String::new()) };
        self.elements(index).map(read)
    }

    fn version(&self, _unit: &[u64]) -> Result<Option<String>, Error> {
        Ok(Some(String::new()))
    }

    fn room(&self) -> u64 {
        let chunk = self.chunk_bytes();
        match &self.stored {
            // Stored, inflated and in order; two of them at once.
            Stored::Chunks { .. } => chunk.saturating_add(stored_most(chunk)),
            Stored::Contiguous(_) => chunk.saturating_mul(2),
            Stored::Rows(_) => {
                let counts = (1..self.grid.rank()).map(|axis| self.grid.count(axis));
                let rows = counts.fold(1, u64::saturating_mul);
                chunk.saturating_mul(rows.saturating_add(1))
            }
        }
    }
}

/// The most bytes of a stored chunk with this many bytes of elements.
fn stored_most(chunk: u64) -> u64 {
    chunk.saturating_add(chunk / 4).saturating_add(1 << 10)
}

impl Dataset {
    /// The elements of a chunk; `None` if it is missing.
    fn elements(&self, index: &[u64]) -> Result<Option<Vec<u8>>, Error> {
        let bad = |why: String| Error::Chunk { at: self.name.clone(), index: index.to_vec(), why };
        let size = self.chunk_bytes();
        match &self.stored {
            Stored::Chunks { chunks, filters } => {
                let Some(&(address, stored, mask)) = chunks.get(index) else { return Ok(None) };
                let most = stored_most(size);
                if stored > most {
                    return Err(bad(format!("has {stored} bytes, at most {most} are possible")));
                }
                let bytes = self.bytes(address, stored).map_err(|error| bad(error.to_string()))?;
                filters.undo(bytes, mask, size).map(Some).map_err(bad)
            }
            Stored::Contiguous(address) => {
                // All axes but the first are whole.
                let inside: u64 = self.grid.inside(index).iter().product();
                let at = index.first().map_or(Some(0), |at| at.checked_mul(size));
                let len = inside * self.element.width as u64;
                let start = at.and_then(|at| address.checked_add(at));
                let start = start.ok_or_else(|| bad("is past the end".to_owned()))?;
                let mut bytes = self.bytes(start, len).map_err(|error| bad(error.to_string()))?;
                bytes.resize(size as usize, 0);
                Ok(Some(bytes))
            }
            Stored::Rows(dataset) => {
                let (first, count) = match (index.first(), self.grid.chunk().first()) {
                    (Some(at), Some(&count)) => (at * count, count),
                    _ => (0, 1),
                };
                let raw = lock(dataset).read_raw_rows(first, count);
                let raw = raw.map_err(|error| bad(error.to_string()))?;
                cut(&raw, &self.grid, index, self.element.width).map(Some).map_err(bad)
            }
        }
    }
}

/// Cuts a chunk out of rows, which are whole along all axes but the first.
fn cut(raw: &[u8], grid: &Grid, index: &[u64], width: usize) -> Result<Vec<u8>, String> {
    let inside = grid.inside(index);
    let rows: Vec<u64> =
        inside.iter().take(1).chain(grid.shape().iter().skip(1)).copied().collect();
    let needed = rows.iter().try_fold(width as u64, |bytes, &size| bytes.checked_mul(size));
    if needed.is_none_or(|needed| needed > raw.len() as u64) {
        return Err("the rows are too short".to_owned());
    }
    let (mut from, none) = (vec![0; rows.len()], vec![false; rows.len()]);
    for (axis, from) in from.iter_mut().enumerate().skip(1) {
        *from = index[axis] * grid.chunk()[axis];
    }
    let piece = Piece { chunk: index.to_vec(), from, to: vec![0; rows.len()], len: inside };
    let source = flip::Chunk { shape: &rows, width, begin: 0 };
    let target = flip::Chunk { shape: grid.chunk(), ..source };
    let mut out = vec![0; grid.chunk_len().unwrap_or(0) as usize * width];
    flip::flip(&piece, &none, (source, raw), (target, &mut out)).map_err(|e| e.to_string())?;
    Ok(out)
}
