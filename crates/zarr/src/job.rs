//! A whole store: reads it, decides what is reversed, and writes the output, new or begun.

use crate::array::Array;
use crate::error::Error;
use crate::movement::Movement;
use crate::ome;
use crate::operation::Operation;
use crate::output::{Output, Target};
use crate::shards::{ShardSink, ShardSource, Shards};
use crate::store::{Local, Store};
use crate::tree::Tree;
use crate::work::{Counts, Settings, Work};
use crate::zarr::{Chunks, ZarrSink};
use serde_json::json;
use std::collections::BTreeMap;

/// A store whose arrays are to be reversed.
pub struct Job<'a> {
    input: &'a dyn Store,
    tree: Tree,
    movements: Vec<Movement>,
    /// Metadata that changes.
    edits: BTreeMap<String, Vec<u8>>,
}

/// What a job has done.
#[derive(Debug, Clone)]
pub struct Summary {
    /// Chunks.
    pub counts: Counts,
    /// Arrays.
    pub arrays: usize,
    /// The decoded bytes of all arrays.
    pub bytes: u64,
    /// Whether an earlier run had completed the output.
    pub complete: bool,
}

impl<'a> Job<'a> {
    /// Reads the metadata of a store and checks the arguments.
    pub fn new(input: &'a dyn Store, operation: &Operation) -> Result<Job<'a>, Error> {
        let mut tree = Tree::read(input)?;
        ome::name_axes(&mut tree);
        let movements = {
            let subjects: Vec<_> = tree.arrays.iter().map(Array::subject).collect();
            operation.resolve(&input.name(""), &subjects)?
        };
        let flipped: Vec<_> = movements.iter().map(Movement::flipped).collect();
        let edits = match operation {
            Operation::Reverse(_) => ome::mend(input, &tree, &flipped)?,
            Operation::Sequences(_) => BTreeMap::new(),
        };
        Ok(Job { input, tree, movements, edits })
    }

    /// The arrays, and what becomes of each.
    pub fn arrays(&self) -> impl Iterator<Item = (&Array, &Movement)> {
        self.tree.arrays.iter().zip(&self.movements)
    }

    /// The decoded bytes of all chunks.
    pub fn bytes(&self) -> u64 {
        let size = |array: &Array| array.grid.chunks().saturating_mul(array.chunk_bytes());
        self.tree.arrays.iter().map(size).fold(0, u64::saturating_add)
    }

    /// What identifies the job: another one may not go on with its output.
    fn identity(&self) -> String {
        let arrays: Vec<_> = self
            .arrays()
            .map(|(array, movement)| json!([array.path, movement.identity(), array.metadata]))
            .collect();
        json!({ "retrograde": 2, "input": self.input.name(""), "arrays": arrays }).to_string()
    }

    /// The version of the store.
    fn version(&self) -> u8 {
        let new = |key: &String| key == "zarr.json";
        if self.tree.files.iter().any(new) { 3 } else { 2 }
    }

    /// Writes the output.
    pub fn write(&self, target: &Target, settings: &Settings<'_>) -> Result<Summary, Error> {
        target.refuse_overlap(self.input.path("").as_deref(), self.input.remote())?;
        let (arrays, bytes) = (self.tree.arrays.len(), self.bytes());
        let summary = |counts, complete| Summary { counts, arrays, bytes, complete };
        // Before an output that is replaced is touched.
        let folder = Local::new("");
        let place: &dyn Store = match target {
            Target::Remote(remote) => remote,
            Target::Path(_) | Target::Inside(..) => &folder,
        };
        self.each(place, settings, |_, work| work.workers(settings).map(|_| ()))?;
        let begun = target.begin(&self.identity(), self.version(), settings)?;
        let Some(output) = begun else { return Ok(summary(Counts::default(), true)) };
        let filled = self.fill(&output, settings);
        output.finish(filled).map(|counts| summary(counts, false))
    }

    /// Calls a function with the work on each array, to be written to a store. Shards that do not
    /// fit in memory are written one inner chunk after the other, to folders.
    fn each(
        &self,
        output: &dyn Store,
        settings: &Settings<'_>,
        mut act: impl FnMut(usize, &Work<'_>) -> Result<(), Error>,
    ) -> Result<(), Error> {
        for (number, (array, movement)) in self.arrays().enumerate() {
            let source = Chunks::new(self.input, array, settings);
            let chunks = Chunks::new(output, array, settings);
            let sink = ZarrSink { output: chunks, input: Some(source) };
            let whole = Work {
                name: &array.name,
                grid: &array.grid,
                movement,
                width: array.width(),
                missing: &array.codec.missing,
                source: &source,
                sink: &sink,
                together: None,
            };
            let too_large = matches!(whole.workers(settings), Err(Error::Memory { .. }));
            let shards = too_large.then(|| Shards::of(self.input, array)).flatten();
            match (shards.filter(|_| array.width().is_some()), output.local()) {
                (Some(shards), Some(folder)) => {
                    let source = ShardSource::new(self.input, &shards, settings.verify);
                    let sink = ShardSink::new(folder, &shards);
                    let work = Work {
                        grid: &shards.inner.grid,
                        missing: &shards.inner.codec.missing,
                        source: &source,
                        sink: &sink,
                        together: Some(&shards.ratio),
                        ..whole
                    };
                    act(number, &work)?;
                }
                _ => act(number, &whole)?,
            }
        }
        Ok(())
    }

    /// Writes all chunks, then all metadata: a store without metadata is not yet one.
    fn fill(&self, output: &Output, settings: &Settings<'_>) -> Result<Counts, Error> {
        let (store, journal) = (output.store(), output.journal());
        let mut counts = Counts::default();
        let total = self.tree.arrays.iter().map(|array| array.grid.chunks()).sum();
        self.each(store, settings, |array, work| match work.run(settings, journal.of(array)?) {
            Ok(done) => {
                counts.add(&done);
                Ok(())
            }
            Err(Error::Interrupted { done, .. }) => {
                Err(Error::Interrupted { done: counts.chunks + done, total })
            }
            Err(error) => Err(error),
        })?;
        output.check()?;
        // What opens the root is last: with it, the store is one.
        let opens = |key: &&String| {
            ["zarr.json", ".zarray", ".zgroup", ".zmetadata"].contains(&key.as_str())
        };
        let (last, first): (Vec<_>, Vec<_>) = self.tree.files.iter().rev().partition(opens);
        for key in first.into_iter().chain(last) {
            let written = match self.edits.get(key) {
                Some(bytes) => store.write(key, bytes.clone()).map(|_| ()),
                None => store.copy(key, self.input, key, settings.memory).map(|_| ()),
            };
            written.map_err(|source| Error::Write { at: store.name(key), source })?;
        }
        Ok(counts)
    }
}
