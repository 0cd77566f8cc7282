//! Arrays from one format to another, reversed on the way: HDF5 to Zarr or `.npy`, and Zarr to `.npy`.

use crate::array::Array;
use crate::element::Element;
use crate::error::Error;
use crate::grid::Grid;
use crate::hdf5::{Contents, Dataset};
use crate::job::Summary;
use crate::journal::{Journal, Pages, checksum};
use crate::movement::Movement;
use crate::npy::NpySink;
use crate::operation::Operation;
use crate::output::{Output, Target};
use crate::stage::Stage;
use crate::store::{Store, join, version_of};
use crate::tree::Tree;
use crate::work::{Counts, Read, Settings, Sink, Source, Work};
use crate::zarr::{Chunks, ZarrSink};
use serde_json::{Map, Value, json};
use std::io::Read as _;
use std::path::{Path, PathBuf};

/// Arrays that are read by one format and written by another.
pub struct Conversion<'a> {
    /// The name of the input.
    name: String,
    parts: Vec<Part<'a>>,
    /// The groups of a whole file with their attributes; none for one array.
    groups: Vec<(String, Map<String, Value>)>,
    /// What identifies the input, besides its name.
    stamp: Value,
    /// The file or folder that is read.
    from: Option<PathBuf>,
}

/// One array.
struct Part<'a> {
    /// Where it is in the output; empty for one array.
    path: String,
    name: String,
    grid: Grid,
    element: Element,
    movement: Movement,
    input: Input<'a>,
}

enum Input<'a> {
    Dataset(Box<Dataset>),
    Zarr { store: &'a dyn Store, array: Box<Array> },
}

impl<'a> Conversion<'a> {
    /// A dataset of an HDF5 or NetCDF4 file, or the whole file if `inside` is empty.
    pub fn of_hdf5(
        path: &Path,
        inside: &str,
        operation: &Operation,
    ) -> Result<Conversion<'a>, Error> {
        let (datasets, groups) = match inside {
            "" => {
                let Contents { datasets, groups } = Contents::open(path)?;
                (datasets, groups)
            }
            inside => (vec![(String::new(), Dataset::open(path, inside)?)], Vec::new()),
        };
        let subjects: Vec<_> =
            datasets.iter().map(|(path, dataset)| dataset.subject(path)).collect();
        let name = path.display().to_string();
        let movements = operation.resolve(&name, &subjects)?;
        let part = |((path, dataset), movement): ((String, Dataset), Movement)| Part {
            path,
            name: dataset.name.clone(),
            grid: dataset.grid.clone(),
            element: dataset.element.clone(),
            movement,
            input: Input::Dataset(Box::new(dataset)),
        };
        let parts = datasets.into_iter().zip(movements).map(part).collect();
        let stamp = std::fs::metadata(path).map(|found| json!(version_of(&found)));
        let from = Some(path.to_owned());
        Ok(Conversion { name, parts, groups, stamp: stamp.unwrap_or_default(), from })
    }

    /// The only array of a Zarr store, to be written to an `.npy` file.
    pub fn of_zarr(store: &'a dyn Store, operation: &Operation) -> Result<Conversion<'a>, Error> {
        let mut tree = Tree::read(store)?;
        let (count, is_array) = (tree.arrays.len(), tree.is_array());
        let (Some(array), true) = (tree.arrays.pop(), is_array) else {
            let what = format!("a group of {count} arrays; an .npy file holds one: STORE:PATH");
            return Err(Error::Unsupported { at: store.name(""), what });
        };
        let mut movements = operation.resolve(&array.name, &[array.subject()])?;
        let kind = array.type_name();
        let (Some(element), Some(movement)) = (array.element(), movements.pop()) else {
            let what = format!("an .npy file cannot hold elements of the type {kind}");
            return Err(Error::Unsupported { at: array.name.clone(), what });
        };
        let (name, stamp) = (array.name.clone(), array.metadata.clone());
        let part = Part {
            path: String::new(),
            name: name.clone(),
            grid: array.grid.clone(),
            element,
            movement,
            input: Input::Zarr { store, array: Box::new(array) },
        };
        let from = store.path("");
        Ok(Conversion { name, parts: vec![part], groups: Vec::new(), stamp, from })
    }

    /// The bytes of all chunks.
    pub fn bytes(&self) -> u64 {
        self.parts.iter().map(Part::bytes).fold(0, u64::saturating_add)
    }

    /// What is converted and reversed, a line for each array.
    pub fn described(&self) -> String {
        self.parts.iter().map(Part::described).collect::<Vec<_>>().join("\n")
    }

    /// Writes the result, an `.npy` file or a Zarr store.
    pub fn write(&self, target: &Target, settings: &Settings<'_>) -> Result<Summary, Error> {
        let remote = self.parts.iter().find_map(|part| match &part.input {
            Input::Dataset(_) => None,
            Input::Zarr { store, .. } => store.remote(),
        });
        target.refuse_overlap(self.from.as_deref(), remote)?;
        if let (true, Some(first)) =
            (target.is_npy() && !self.groups.is_empty(), self.parts.first())
        {
            let what = format!("an .npy file holds one array: FILE:{}, for example", first.path);
            return Err(Error::Unsupported { at: self.name.clone(), what });
        }
        let is_file = self.parts.iter().any(|part| matches!(part.input, Input::Dataset(_)));
        let stamp = match &self.from {
            Some(path) if is_file && settings.verify => json!(content(path)?),
            _ => self.stamp.clone(),
        };
        let arrays: Vec<_> =
            self.parts.iter().map(|part| json!([part.name, part.movement.identity()])).collect();
        let identity = json!({
            "retrograde": 2, "input": self.name, "stamp": stamp, "arrays": arrays,
        });
        let (arrays, bytes) = (self.parts.len(), self.bytes());
        let summary = |counts, complete| Summary { counts, arrays, bytes, complete };
        let Some(output) = target.begin(&identity.to_string(), 3, settings)? else {
            return Ok(summary(Counts::default(), true));
        };
        let filled = match (&output, &self.parts[..]) {
            (Output::Stage { stage, journal, .. }, [only]) if target.is_npy() => {
                only.fill_file(stage, journal, settings)
            }
            (output, _) => self.fill_store(output, settings),
        };
        output.finish(filled).map(|counts| summary(counts, false))
    }

    /// Writes all chunks, then all metadata, that of the root last.
    fn fill_store(&self, output: &Output, settings: &Settings<'_>) -> Result<Counts, Error> {
        let (store, journal) = (output.store(), output.journal());
        let (mut counts, mut nodes) = (Counts::default(), Vec::new());
        let total = self.parts.iter().map(|part| part.grid.chunks()).sum();
        for (number, part) in self.parts.iter().enumerate() {
            let metadata = part.metadata()?;
            match part.fill(store, &metadata, journal.of(number)?, settings) {
                Ok(done) => counts.add(&done),
                Err(Error::Interrupted { done, .. }) => {
                    return Err(Error::Interrupted { done: counts.chunks + done, total });
                }
                Err(error) => return Err(error),
            }
            nodes.push((part.path.as_str(), metadata));
        }
        let group = |attributes: &Map<String, Value>| json!({ "zarr_format": 3, "node_type": "group", "attributes": attributes });
        nodes.extend(
            self.groups.iter().map(|(path, attributes)| (path.as_str(), group(attributes))),
        );
        if let Some(root) = nodes.iter().position(|(path, _)| path.is_empty()) {
            let (path, mut metadata) = nodes.remove(root);
            if !nodes.is_empty() {
                let known: Map<_, _> =
                    nodes.iter().map(|(path, node)| ((*path).to_owned(), node.clone())).collect();
                metadata["consolidated_metadata"] =
                    json!({ "kind": "inline", "must_understand": false, "metadata": known });
            }
            nodes.push((path, metadata));
        }
        output.check()?;
        for (path, metadata) in nodes {
            let (key, text) = (join(path, "zarr.json"), serde_json::to_vec_pretty(&metadata));
            let written = store.write(&key, text.unwrap_or_default());
            written.map_err(|source| Error::Write { at: store.name(&key), source })?;
        }
        Ok(counts)
    }
}

impl Part<'_> {
    fn bytes(&self) -> u64 {
        self.grid.chunk_bytes(self.element.width).saturating_mul(self.grid.chunks())
    }

    fn described(&self) -> String {
        let (shape, chunk) = (self.grid.shape(), self.grid.chunk());
        let kind = self.element.zarr_name();
        let chunks = self.grid.chunks();
        format!(
            "{}: {kind} {shape:?} in {chunks} chunks of {chunk:?}; {}",
            self.name,
            self.movement.described(&self.grid)
        )
    }

    fn fill_file(
        &self,
        stage: &Stage,
        journal: &Journal,
        settings: &Settings<'_>,
    ) -> Result<Counts, Error> {
        let sink = NpySink::open(stage, &self.grid, &self.element);
        let at = || stage.store().display().to_string();
        let sink = sink.map_err(|source| Error::Write { at: at(), source })?;
        let (missing, done) = (&self.element.missing[..], journal.of(0)?);
        match &self.input {
            Input::Dataset(dataset) => self.run(dataset.as_ref(), &sink, missing, done, settings),
            Input::Zarr { store, array } => {
                let source = Chunks::new(*store, array, settings);
                self.run(&source, &sink, missing, done, settings)
            }
        }
    }

    /// Writes the chunks of a new Zarr array.
    fn fill(
        &self,
        store: &dyn Store,
        metadata: &Value,
        done: Pages<'_>,
        settings: &Settings<'_>,
    ) -> Result<Counts, Error> {
        let dataset = self.dataset()?;
        let key = join(&self.path, "zarr.json");
        let array = Array::new(store, &self.path, &key, metadata.clone(), Value::Null)?;
        let sink = ZarrSink { output: Chunks::new(store, &array, settings), input: None };
        let missing = &array.codec.missing;
        // Elements of a file stay in its byte order, which is that of plain chunks; codecs take
        // those of the machine.
        let native = cfg!(target_endian = "big") == self.element.big || self.element.width == 1;
        if array.is_plain() || native {
            return self.run(dataset, &sink, missing, done, settings);
        }
        let swapped = Swapped { dataset, width: self.element.width };
        self.run(&swapped, &sink, missing, done, settings)
    }

    fn dataset(&self) -> Result<&Dataset, Error> {
        match &self.input {
            Input::Dataset(dataset) => Ok(dataset),
            Input::Zarr { .. } => {
                let what = "only an HDF5 dataset becomes a new Zarr array".to_owned();
                Err(Error::Unsupported { at: self.name.clone(), what })
            }
        }
    }

    /// The metadata of a new Zarr array.
    fn metadata(&self) -> Result<Value, Error> {
        let dataset = self.dataset()?;
        let endian = if self.element.big { "big" } else { "little" };
        let mut codecs = vec![match self.element.width {
            1 => json!({ "name": "bytes" }),
            _ => json!({ "name": "bytes", "configuration": { "endian": endian } }),
        }];
        if dataset.compressed {
            let configuration = json!({ "level": 3, "checksum": false });
            codecs.push(json!({ "name": "zstd", "configuration": configuration }));
        }
        let mut metadata = json!({
            "zarr_format": 3,
            "node_type": "array",
            "shape": self.grid.shape(),
            "data_type": self.element.zarr_name(),
            "chunk_grid": {
                "name": "regular", "configuration": { "chunk_shape": self.grid.chunk() },
            },
            "chunk_key_encoding": { "name": "default", "configuration": { "separator": "/" } },
            "fill_value": self.element.zarr_fill(),
            "codecs": codecs,
            "attributes": dataset.attributes,
        });
        if dataset.axes.iter().any(Option::is_some) || dataset.axes.is_empty() {
            metadata["dimension_names"] = json!(dataset.axes);
        }
        Ok(metadata)
    }

    fn run(
        &self,
        source: &dyn Source,
        sink: &dyn Sink,
        missing: &[u8],
        done: Pages<'_>,
        settings: &Settings<'_>,
    ) -> Result<Counts, Error> {
        let width = Some(self.element.width);
        let (name, grid, movement) = (&self.name, &self.grid, &self.movement);
        Work { name, grid, movement, width, missing, source, sink, together: None }
            .run(settings, done)
    }
}

/// A checksum of a file.
fn content(path: &Path) -> Result<String, Error> {
    let failed = |source| Error::Read { at: path.display().to_string(), source };
    let mut file = std::fs::File::open(path).map_err(failed)?;
    let (mut sums, mut part) = (String::new(), vec![0; 1 << 20]);
    loop {
        match file.read(&mut part).map_err(failed)? {
            0 => return Ok(sums),
            len => sums = checksum(format!("{sums} {}", checksum(&part[..len])).as_bytes()),
        }
    }
}

/// A dataset with the bytes of its elements in the other order.
struct Swapped<'a> {
    dataset: &'a Dataset,
    width: usize,
}

impl Source for Swapped<'_> {
    fn chunk(&self, index: &[u64]) -> Result<Read, Error> {
        let mut read = self.dataset.chunk(index)?;
        if let Some(elements) = &mut read.elements {
            elements.chunks_exact_mut(self.width).for_each(<[u8]>::reverse);
        }
        Ok(read)
    }

    fn version(&self, unit: &[u64]) -> Result<Option<String>, Error> {
        self.dataset.version(unit)
    }

    fn room(&self) -> u64 {
        self.dataset.room()
    }
}
