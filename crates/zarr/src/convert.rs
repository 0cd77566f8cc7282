//! One array from one format to another, reversed on the way: HDF5 to Zarr or `.npy`, and Zarr to
//! `.npy`.

use crate::array::Array;
use crate::element::Element;
use crate::error::Error;
use crate::grid::Grid;
use crate::hdf5::Dataset;
use crate::job::Summary;
use crate::journal::{Journal, checksum};
use crate::movement::Movement;
use crate::npy::NpySink;
use crate::operation::Operation;
use crate::output::{Output, Target};
use crate::stage::Stage;
use crate::store::{Store, version_of};
use crate::tree::Tree;
use crate::work::{Counts, Read, Settings, Sink, Source, Work};
use crate::zarr::{Chunks, ZarrSink};
use serde_json::{Value, json};
use std::io::Read as _;
use std::path::{Path, PathBuf};

/// An array that is read by one format and written by another.
pub struct Conversion<'a> {
    name: String,
    grid: Grid,
    element: Element,
    movement: Movement,
    /// What identifies the input, besides its name.
    stamp: Value,
    /// The file or folder that is read.
    from: Option<PathBuf>,
    input: Input<'a>,
}

enum Input<'a> {
    Dataset(Box<Dataset>),
    Zarr { store: &'a dyn Store, array: Box<Array> },
}

impl<'a> Conversion<'a> {
    /// A dataset of an HDF5 or NetCDF4 file.
    pub fn of_hdf5(
        path: &Path,
        inside: &str,
        operation: &Operation,
    ) -> Result<Conversion<'a>, Error> {
        let dataset = Dataset::open(path, inside)?;
        let movement = operation.of(&dataset.name, &dataset.grid, &dataset.axes)?;
        let stamp = std::fs::metadata(path).map(|found| json!(version_of(&found)));
        let (name, grid) = (dataset.name.clone(), dataset.grid.clone());
        Ok(Conversion {
            name,
            grid,
            element: dataset.element.clone(),
            movement,
            stamp: stamp.unwrap_or_default(),
            from: Some(path.to_owned()),
            input: Input::Dataset(Box::new(dataset)),
        })
    }

    /// The only array of a Zarr store, to be written to an `.npy` file.
    pub fn of_zarr(store: &'a dyn Store, operation: &Operation) -> Result<Conversion<'a>, Error> {
        let mut tree = Tree::read(store)?;
        let (count, is_array) = (tree.arrays.len(), tree.is_array());
        let (Some(array), true) = (tree.arrays.pop(), is_array) else {
            let what = format!("a group of {count} arrays; an .npy file holds one: STORE:PATH");
            return Err(Error::Unsupported { at: store.name(""), what });
        };
        let movement = operation.of(&array.name, &array.grid, &array.axes)?;
        let kind = array.type_name();
        let element = array.element().ok_or_else(|| {
            let what = format!("an .npy file cannot hold elements of the type {kind}");
            Error::Unsupported { at: array.name.clone(), what }
        })?;
        Ok(Conversion {
            name: array.name.clone(),
            grid: array.grid.clone(),
            element,
            movement,
            stamp: array.metadata.clone(),
            from: store.path(""),
            input: Input::Zarr { store, array: Box::new(array) },
        })
    }

    /// The bytes of all chunks.
    pub fn bytes(&self) -> u64 {
        self.grid.chunk_bytes(self.element.width).saturating_mul(self.grid.chunks())
    }

    /// What is converted and reversed, in one line.
    pub fn described(&self) -> String {
        let (shape, chunk) = (self.grid.shape(), self.grid.chunk());
        let kind = self.element.zarr_name();
        let chunks = self.grid.chunks();
        format!(
            "{}: {kind} {shape:?} in {chunks} chunks of {chunk:?}; {}",
            self.name,
            self.movement.described(&self.grid)
        )
    }

    /// Writes the result, an `.npy` file or a Zarr store.
    pub fn write(&self, target: &Target, settings: &Settings<'_>) -> Result<Summary, Error> {
        let remote = match &self.input {
            Input::Dataset(_) => None,
            Input::Zarr { store, .. } => store.remote(),
        };
        target.refuse_overlap(self.from.as_deref(), remote)?;
        let stamp = match (&self.input, &self.from) {
            (Input::Dataset(_), Some(path)) if settings.verify => json!(content(path)?),
            _ => self.stamp.clone(),
        };
        let identity = json!({
            "retrograde": 2, "input": self.name, "stamp": stamp, "axes": self.movement.identity(),
        });
        let summary =
            |counts, complete| Summary { counts, arrays: 1, bytes: self.bytes(), complete };
        let Some(output) = target.begin(&identity.to_string(), 3, settings)? else {
            return Ok(summary(Counts::default(), true));
        };
        let filled = match &output {
            Output::Stage { stage, journal, .. } if target.is_npy() => {
                self.fill_file(stage, journal, settings)
            }
            output => self.fill_store(output, settings),
        };
        output.finish(filled).map(|counts| summary(counts, false))
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
        self.run(&sink, &self.element.missing, journal, settings)
    }

    fn fill_store(&self, output: &Output, settings: &Settings<'_>) -> Result<Counts, Error> {
        let (store, journal) = (output.store(), output.journal());
        let Input::Dataset(dataset) = &self.input else {
            let what = "only an HDF5 dataset becomes a new Zarr array".to_owned();
            return Err(Error::Unsupported { at: self.name.clone(), what });
        };
        let metadata = self.metadata(dataset);
        let array = Array::new(store, "", "zarr.json", metadata.clone(), Value::Null)?;
        let sink = ZarrSink { output: Chunks::new(store, &array, settings), input: None };
        // Elements of a file stay in its byte order, which is that of plain chunks; codecs take
        // those of the machine.
        let native = cfg!(target_endian = "big") == self.element.big || self.element.width == 1;
        let counts = if array.is_plain() || native {
            self.run(&sink, &array.codec.missing, journal, settings)?
        } else {
            let swapped = Swapped { dataset, width: self.element.width };
            self.run_from(&swapped, &sink, &array.codec.missing, journal, settings)?
        };
        let text = serde_json::to_vec_pretty(&metadata).unwrap_or_default();
        output.check()?;
        let written = store.write("zarr.json", text);
        written.map_err(|source| Error::Write { at: store.name("zarr.json"), source })?;
        Ok(counts)
    }

    /// The metadata of a new Zarr array.
    fn metadata(&self, dataset: &Dataset) -> Value {
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
        if dataset.axes.iter().any(Option::is_some) {
            metadata["dimension_names"] = json!(dataset.axes);
        }
        metadata
    }

    fn run(
        &self,
        sink: &dyn Sink,
        missing: &[u8],
        journal: &Journal,
        settings: &Settings<'_>,
    ) -> Result<Counts, Error> {
        match &self.input {
            Input::Dataset(dataset) => {
                self.run_from(dataset.as_ref(), sink, missing, journal, settings)
            }
            Input::Zarr { store, array } => {
                let source = Chunks::new(*store, array, settings);
                self.run_from(&source, sink, missing, journal, settings)
            }
        }
    }

    fn run_from(
        &self,
        source: &dyn Source,
        sink: &dyn Sink,
        missing: &[u8],
        journal: &Journal,
        settings: &Settings<'_>,
    ) -> Result<Counts, Error> {
        let width = Some(self.element.width);
        let (name, grid, movement) = (&self.name, &self.grid, &self.movement);
        Work { name, grid, movement, width, missing, source, sink, together: None }
            .run(settings, journal.of(0)?)
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
