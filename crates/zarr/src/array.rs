//! A Zarr array: its metadata, versions 2 and 3, and its grid.
//!
//! Metadata is parsed here but never written from what was parsed: outputs get the bytes of the
//! input, so that nothing that this crate does not know is lost.

use crate::codec::Codec;
use crate::element::Element;
use crate::error::Error;
use crate::grid::Grid;
use crate::store::{Extent, Store, join};
use crate::subject::Subject;
use serde_json::Value;
use std::sync::Arc;
use zarrs::array::ArrayMetadata;

/// The names of metadata files of an array or a group, as far as they exist.
pub(crate) const METADATA: [&str; 5] = ["zarr.json", ".zarray", ".zgroup", ".zattrs", ".zmetadata"];

/// The most bytes of a metadata file, and the most values in it: parsed, a value takes about 32 bytes
/// and a field of an object about 100.
const LONGEST: u64 = 64 << 20;
const VALUES: usize = 4 << 20;

/// An array in a store.
#[derive(Debug)]
pub struct Array {
    /// The folder of the array in the store.
    pub path: String,
    /// The name of the array for messages.
    pub(crate) name: String,
    /// Its chunks.
    pub grid: Grid,
    /// The names of its axes: `dimension_names`, or `_ARRAY_DIMENSIONS` of xarray.
    pub axes: Vec<Option<String>>,
    /// The metadata file of the array.
    pub(crate) metadata: Value,
    pub(crate) codec: Codec,
    parsed: zarrs::array::Array<()>,
}

impl Array {
    /// The array in this folder, if there is one.
    pub fn open(store: &dyn Store, path: &str) -> Result<Option<Array>, Error> {
        if let Some((key, metadata)) = json(store, path, "zarr.json")? {
            if metadata.get("node_type").and_then(Value::as_str) == Some("group") {
                return Ok(None);
            }
            let attributes = metadata.get("attributes").cloned().unwrap_or_default();
            return Array::new(store, path, &key, metadata, attributes).map(Some);
        }
        let Some((key, metadata)) = json(store, path, ".zarray")? else { return Ok(None) };
        let attributes = json(store, path, ".zattrs")?.map(|(_, attributes)| attributes);
        Array::new(store, path, &key, metadata, attributes.unwrap_or_default()).map(Some)
    }

    /// The array that this metadata describes; `key` is the metadata file.
    pub(crate) fn new(
        store: &dyn Store,
        path: &str,
        key: &str,
        metadata: Value,
        attributes: Value,
    ) -> Result<Array, Error> {
        let bad = |why: String| Error::Metadata { at: store.name(key), why };
        let known: ArrayMetadata = serde_json::from_value(metadata.clone())
            .map_err(|error| bad(format!("not the metadata of an array: {error}")))?;
        let grid = grid_of(&metadata).map_err(&bad)?;
        if let Some(transformers) = metadata.get("storage_transformers").and_then(Value::as_array)
            && !transformers.is_empty()
        {
            return Err(bad("storage transformers are not supported".to_owned()));
        }
        let node = format!("/{path}");
        let parsed = zarrs::array::Array::new_with_metadata(Arc::new(()), &node, known)
            .map_err(|error| bad(error.to_string()))?;
        let codec = Codec::new(&parsed, &grid, is_plain(&metadata)).map_err(&bad)?;
        let axes = axes_of(&metadata, &attributes, grid.rank());
        let name = store.name(path);
        let path = path.to_owned();
        Ok(Array { path, name, grid, axes, metadata, codec, parsed })
    }

    /// What an operator asks about it.
    pub(crate) fn subject(&self) -> Subject<'_> {
        let Array { name, path, grid, axes, .. } = self;
        Subject { name, path, grid, axes }
    }

    /// The key of a chunk.
    pub(crate) fn key(&self, index: &[u64]) -> String {
        self.parsed.chunk_key(index).as_str().to_owned()
    }

    /// The bytes of an element, if all elements have as many.
    pub fn width(&self) -> Option<usize> {
        self.codec.width
    }

    /// Whether chunks are the bytes of their elements and nothing else.
    pub fn is_plain(&self) -> bool {
        self.codec.plain
    }

    /// Whether plain elements have their most significant byte first.
    pub(crate) fn is_big(&self) -> bool {
        let two = self.metadata.get("dtype").and_then(Value::as_str);
        let three = self.metadata.pointer("/codecs/0/configuration/endian").and_then(Value::as_str);
        two.is_some_and(|name| name.starts_with('>')) || three == Some("big")
    }

    /// The type of elements as they are moved, if it has a name elsewhere too.
    pub(crate) fn element(&self) -> Option<Element> {
        let mut element = Element::from_zarr(&self.type_name(), &self.codec.missing)?;
        // Decoded elements have the byte order of the machine; plain ones that of the store.
        element.big = match self.is_plain() {
            true => self.is_big(),
            false => cfg!(target_endian = "big"),
        };
        Some(element)
    }

    /// The element type, as the metadata names it.
    pub fn type_name(&self) -> String {
        let found = self.metadata.get("data_type").or_else(|| self.metadata.get("dtype"));
        match found {
            Some(Value::String(name)) => name.clone(),
            Some(Value::Object(object)) if object.contains_key("name") => {
                object["name"].as_str().unwrap_or("?").to_owned()
            }
            Some(other) => other.to_string(),
            None => "?".to_owned(),
        }
    }

    /// The bytes of a decoded chunk.
    pub fn chunk_bytes(&self) -> u64 {
        self.grid.chunk_bytes(self.codec.width.unwrap_or(1))
    }
}

/// A JSON file of the store and its key, if it exists.
pub(crate) fn json(
    store: &dyn Store,
    folder: &str,
    name: &str,
) -> Result<Option<(String, Value)>, Error> {
    let key = join(folder, name);
    let mut bytes = Vec::new();
    let read = store.read(&key, Extent::AtMost(LONGEST), &mut bytes);
    if read.map_err(|source| Error::Read { at: store.name(&key), source })?.is_none() {
        return Ok(None);
    }
    if bytes.iter().filter(|byte| matches!(byte, b',' | b'[' | b'{')).count() > VALUES {
        let why = format!("has more than {VALUES} values");
        return Err(Error::Metadata { at: store.name(&key), why });
    }
    match serde_json::from_slice(&bytes) {
        Ok(value) => Ok(Some((key, value))),
        Err(error) => Err(Error::Metadata { at: store.name(&key), why: error.to_string() }),
    }
}

/// The grid, which must be regular.
fn grid_of(metadata: &Value) -> Result<Grid, String> {
    let sizes = |value: Option<&Value>, what: &str| -> Result<Vec<u64>, String> {
        let list = value.and_then(Value::as_array).ok_or(format!("{what} is not a list"))?;
        let size = |value: &Value| value.as_u64().ok_or(format!("{what} has the entry {value}"));
        list.iter().map(size).collect()
    };
    let shape = sizes(metadata.get("shape"), "shape")?;
    let chunk = match metadata.get("chunk_grid") {
        None => sizes(metadata.get("chunks"), "chunks")?,
        Some(grid) => match grid.get("name").and_then(Value::as_str) {
            Some("regular") => sizes(grid.pointer("/configuration/chunk_shape"), "chunk_shape")?,
            name => {
                let name = name.unwrap_or("?");
                return Err(format!("the chunk grid is {name:?}, only \"regular\" is supported"));
            }
        },
    };
    let described = format!("shape {shape:?} in chunks of {chunk:?}");
    Grid::new(shape, chunk).ok_or(format!("{described} is not a grid"))
}

/// Whether chunks are the bytes of their elements in row-major order, by their metadata.
fn is_plain(metadata: &Value) -> bool {
    if let Some(codecs) = metadata.get("codecs").and_then(Value::as_array) {
        let [only] = &codecs[..] else { return false };
        let name = only.as_str().or_else(|| only.get("name").and_then(Value::as_str));
        return name == Some("bytes");
    }
    let none = |name: &str| match metadata.get(name) {
        None | Some(Value::Null) => true,
        Some(Value::Array(list)) => list.is_empty(),
        Some(_) => false,
    };
    let rows = metadata.get("order").and_then(Value::as_str) == Some("C");
    rows && none("compressor") && none("filters")
}

/// The names of the axes.
fn axes_of(metadata: &Value, attributes: &Value, rank: usize) -> Vec<Option<String>> {
    let names = metadata.get("dimension_names").or_else(|| attributes.get("_ARRAY_DIMENSIONS"));
    match names.and_then(Value::as_array) {
        Some(names) if names.len() == rank => {
            names.iter().map(|name| name.as_str().map(str::to_owned)).collect()
        }
        _ => vec![None; rank],
    }
}
