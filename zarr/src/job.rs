//! A whole store: reads it, decides what is reversed, and writes the output, new or begun.

use crate::array::Array;
use crate::axes::Axes;
use crate::error::Error;
use crate::ome;
use crate::stage::{Begun, Kind, Stage};
use crate::store::Store;
use crate::tree::Tree;
use crate::work::{Counts, Settings, Work};
use crate::zarr::{Chunks, ZarrSink};
use serde_json::json;
use std::collections::BTreeMap;
use std::path::Path;

/// A store whose arrays are to be reversed.
pub struct Job<'a> {
    input: &'a dyn Store,
    tree: Tree,
    flipped: Vec<Vec<bool>>,
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
    /// Reads the metadata of a store and checks the axes.
    pub fn new(input: &'a dyn Store, axes: &Axes) -> Result<Job<'a>, Error> {
        let mut tree = Tree::read(input)?;
        ome::name_axes(&mut tree);
        let flipped = axes.resolve(&tree.arrays)?;
        let edits = ome::mend(input, &tree, &flipped)?;
        Ok(Job { input, tree, flipped, edits })
    }

    /// The arrays, each with the axes that are reversed.
    pub fn arrays(&self) -> impl Iterator<Item = (&Array, &[bool])> {
        self.tree.arrays.iter().zip(self.flipped.iter().map(Vec::as_slice))
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
            .map(|(array, flipped)| json!([array.path, flipped, array.metadata]))
            .collect();
        json!({ "retrograde": 1, "input": self.input.name(""), "arrays": arrays }).to_string()
    }

    /// Writes the output to a folder.
    pub fn write(&self, target: &Path, settings: &Settings<'_>) -> Result<Summary, Error> {
        if let Some(input) = self.input.path("") {
            refuse_overlap(&input, target)?;
        }
        let done = |counts, complete| {
            let arrays = self.tree.arrays.len();
            Ok(Summary { counts, arrays, bytes: self.bytes(), complete })
        };
        let begun = Stage::begin(target, &self.identity(), Kind::Folder, settings.force)?;
        let Begun::Stage(stage) = begun else { return done(Counts::default(), true) };
        match self.fill(&stage.local(), stage.resumed, settings) {
            Ok(counts) => stage.publish().and_then(|()| done(counts, false)),
            Err(error) => {
                if !error.can_resume() {
                    stage.discard();
                }
                Err(error)
            }
        }
    }

    /// Writes all chunks, then all metadata: a store without metadata is not yet one.
    fn fill(
        &self,
        output: &dyn Store,
        resumed: bool,
        settings: &Settings<'_>,
    ) -> Result<Counts, Error> {
        let mut counts = Counts::default();
        let total = self.tree.arrays.iter().map(|array| array.grid.chunks()).sum();
        for (array, flipped) in self.arrays() {
            let source = Chunks { store: self.input, array };
            let sink = ZarrSink { output: Chunks { store: output, array }, input: Some(source) };
            let work = Work {
                name: &array.name,
                grid: &array.grid,
                flipped,
                width: array.width(),
                missing: &array.codec.missing,
                source: &source,
                sink: &sink,
            };
            match work.run(settings, resumed) {
                Ok(done) => counts.add(&done),
                Err(Error::Interrupted { done, .. }) => {
                    let done = counts.chunks + done;
                    return Err(Error::Interrupted { done, total });
                }
                Err(error) => return Err(error),
            }
        }
        // The metadata of the root is last: with it, the store can be opened.
        for key in self.tree.files.iter().rev() {
            let written = match self.edits.get(key) {
                Some(bytes) => output.write(key, bytes),
                None => output.copy(key, self.input, key).map(|_| ()),
            };
            written.map_err(|source| Error::Write { at: output.name(key), source })?;
        }
        Ok(counts)
    }
}

/// Refuses an output that is the input, or inside it, or around it.
pub(crate) fn refuse_overlap(input: &Path, target: &Path) -> Result<(), Error> {
    let canonical = |path: &Path| {
        let whole = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
        // The output need not exist; its folder must.
        let parent = whole.parent().and_then(|parent| parent.canonicalize().ok());
        match (whole.canonicalize(), parent, whole.file_name()) {
            (Ok(found), ..) => found,
            (_, Some(parent), Some(name)) => parent.join(name),
            _ => whole,
        }
    };
    let (from, to) = (canonical(input), canonical(target));
    if from.starts_with(&to) || to.starts_with(&from) {
        let (input, output) = (input.display().to_string(), target.display().to_string());
        return Err(Error::Overlap { input, output });
    }
    Ok(())
}
