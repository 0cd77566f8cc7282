//! Which output chunks are complete, and what they were made of. The next run goes on with those
//! whose inputs are still the same: a chunk that was replaced, restored or removed is noticed by
//! what identifies its content, not by comparing times.
//!
//! Of an output in a folder, a file for each array has 8 bytes per chunk, at its place. An object
//! cannot be written in part: there, objects with the latest entries are added one after the other.

use crate::error::Error;
use crate::store::{Extent, Remote, Store};
use std::collections::{BTreeMap, HashMap};
use std::fs::{File, OpenOptions};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard};
use std::time::{Duration, Instant};

/// New entries are written to an object after this time, or if they are this many, or an eighth of
/// all: then there are few objects, and a run that was killed loses little.
const PAUSE: Duration = Duration::from_secs(5);
const FEW: usize = 16;
/// The bytes of an entry in an object: the array, the chunk and the stamp.
const ENTRY: usize = 24;
/// The most bytes of an object with entries.
const OBJECT: u64 = 1 << 30;

/// What an output chunk is made of: input chunks and their versions, `None` for missing ones.
#[derive(Debug, Default)]
pub(crate) struct Origins {
    versions: BTreeMap<Vec<u64>, Option<String>>,
    /// Whether an input changed while it was read.
    unsteady: bool,
}

impl Origins {
    /// Adds an input chunk.
    pub(crate) fn add(&mut self, index: Vec<u64>, version: Option<&str>) {
        let known = self.versions.entry(index).or_insert_with(|| version.map(str::to_owned));
        self.unsteady |= known.as_deref() != version;
    }

    /// A number for all of it, never zero; `None` if inputs changed meanwhile. `written` is whether
    /// the output chunk exists.
    pub(crate) fn stamp(&self, written: bool) -> Option<u64> {
        let mut hasher = DefaultHasher::new();
        (&self.versions, written).hash(&mut hasher);
        (!self.unsteady).then(|| hasher.finish().max(1))
    }
}

/// A text that identifies bytes, for inputs whose times say nothing.
pub(crate) fn checksum(bytes: &[u8]) -> String {
    let mut hasher = DefaultHasher::new();
    hasher.write(bytes);
    format!("{} {:016x}", bytes.len(), hasher.finish())
}

/// The journal of an output.
#[derive(Debug)]
pub(crate) struct Journal {
    /// Whether an earlier run began the output.
    pub(crate) resumed: bool,
    place: Place,
}

#[derive(Debug)]
enum Place {
    /// A folder with a file for each array.
    Folder(PathBuf),
    Objects(Mutex<Objects>),
}

impl Journal {
    /// The journal in a folder, which exists.
    pub(crate) fn in_folder(folder: PathBuf, resumed: bool) -> Journal {
        Journal { resumed, place: Place::Folder(folder) }
    }

    /// The journal in objects of a store. Reads what earlier runs have written, if there were any.
    pub(crate) fn in_objects(store: Remote, resumed: bool) -> io::Result<Journal> {
        let mut objects = Objects {
            store,
            known: HashMap::new(),
            fresh: Vec::new(),
            next: 0,
            last: Instant::now(),
        };
        if resumed {
            objects.load()?;
        }
        Ok(Journal { resumed, place: Place::Objects(Mutex::new(objects)) })
    }

    /// The part of one array.
    pub(crate) fn of(&self, array: usize) -> Result<Pages<'_>, Error> {
        let file = match &self.place {
            Place::Folder(folder) => {
                let path = folder.join(array.to_string());
                let mut options = OpenOptions::new();
                let opened =
                    options.create(true).truncate(false).read(true).write(true).open(&path);
                let failed = |source| Error::Write { at: path.display().to_string(), source };
                Some(Mutex::new(opened.map_err(failed)?))
            }
            Place::Objects(_) => None,
        };
        Ok(Pages { journal: self, array: array as u64, file })
    }

    /// Writes entries that are only in memory.
    pub(crate) fn flush(&self) -> io::Result<()> {
        match &self.place {
            Place::Folder(_) => Ok(()),
            Place::Objects(objects) => lock(objects).flush(),
        }
    }
}

/// The journal of one array.
pub(crate) struct Pages<'a> {
    journal: &'a Journal,
    array: u64,
    file: Option<Mutex<File>>,
}

impl Pages<'_> {
    /// Whether an earlier run began the output.
    pub(crate) fn resumed(&self) -> bool {
        self.journal.resumed
    }

    /// The stamp of a chunk, if there is one.
    pub(crate) fn get(&self, chunk: u64) -> Result<Option<u64>, Error> {
        let stamp = match (&self.journal.place, &self.file) {
            (Place::Objects(objects), _) => lock(objects).known.get(&(self.array, chunk)).copied(),
            (Place::Folder(_), Some(file)) => {
                let mut bytes = Vec::new();
                let mut file = lock(file);
                let mut read = || {
                    file.seek(SeekFrom::Start(place(chunk)?))?;
                    Read::by_ref(&mut *file).take(8).read_to_end(&mut bytes)
                };
                read().map_err(|source| self.failed(source))?;
                bytes.try_into().ok().map(u64::from_le_bytes)
            }
            (Place::Folder(_), None) => None,
        };
        Ok(stamp.filter(|&stamp| stamp != 0))
    }

    /// Notes that a chunk is complete, or with zero that it is not.
    pub(crate) fn set(&self, chunk: u64, stamp: u64) -> Result<(), Error> {
        let written = match (&self.journal.place, &self.file) {
            (Place::Objects(objects), _) => lock(objects).add((self.array, chunk), stamp),
            (Place::Folder(_), Some(file)) => {
                let mut file = lock(file);
                let mut write = || {
                    file.seek(SeekFrom::Start(place(chunk)?))?;
                    file.write_all(&stamp.to_le_bytes())
                };
                write()
            }
            (Place::Folder(_), None) => Ok(()),
        };
        written.map_err(|source| self.failed(source))
    }

    fn failed(&self, source: io::Error) -> Error {
        let at = match &self.journal.place {
            Place::Folder(folder) => folder.display().to_string(),
            Place::Objects(objects) => lock(objects).store.name(""),
        };
        Error::Write { at, source }
    }
}

/// Where the stamp of a chunk is in a file.
fn place(chunk: u64) -> io::Result<u64> {
    chunk.checked_mul(8).ok_or_else(|| io::Error::from(io::ErrorKind::FileTooLarge))
}

/// Entries in objects with the names 0, 1, 2 and so on. Later ones replace earlier ones.
#[derive(Debug)]
struct Objects {
    store: Remote,
    known: HashMap<(u64, u64), u64>,
    fresh: Vec<((u64, u64), u64)>,
    next: u64,
    last: Instant,
}

impl Objects {
    fn load(&mut self) -> io::Result<()> {
        let files = self.store.list("")?.files;
        let mut numbers: Vec<u64> = files.iter().filter_map(|name| name.parse().ok()).collect();
        numbers.sort_unstable();
        for number in numbers {
            let mut bytes = Vec::new();
            self.store.read(&number.to_string(), Extent::AtMost(OBJECT), &mut bytes)?;
            for entry in bytes.chunks_exact(ENTRY) {
                let part = |at: usize| {
                    u64::from_le_bytes(entry[at..at + 8].try_into().unwrap_or_default())
                };
                self.known.insert((part(0), part(8)), part(16));
            }
            self.next = number + 1;
        }
        Ok(())
    }

    fn add(&mut self, chunk: (u64, u64), stamp: u64) -> io::Result<()> {
        self.known.insert(chunk, stamp);
        self.fresh.push((chunk, stamp));
        let enough = FEW.max(self.known.len() / 8);
        if self.fresh.len() >= enough || self.last.elapsed() > PAUSE {
            self.flush()
        } else {
            Ok(())
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        self.last = Instant::now();
        if self.fresh.is_empty() {
            return Ok(());
        }
        let entries = self.fresh.iter().flat_map(|&((array, chunk), stamp)| [array, chunk, stamp]);
        let bytes: Vec<u8> = entries.flat_map(u64::to_le_bytes).collect();
        self.store.write(&self.next.to_string(), bytes)?;
        self.next += 1;
        self.fresh.clear();
        Ok(())
    }
}

/// A lock whose poison is ignored: each change under it is complete.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(|error| error.into_inner())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stamp_names_every_input() {
        let stamp = |inputs: &[(u64, Option<&str>)], written| {
            let mut origins = Origins::default();
            inputs.iter().for_each(|&(index, version)| origins.add(vec![index], version));
            origins.stamp(written)
        };
        let known = stamp(&[(1, Some("a")), (2, None)], true).unwrap();
        assert_eq!(stamp(&[(2, None), (1, Some("a")), (1, Some("a"))], true), Some(known));
        for (inputs, written) in [
            (&[(1, Some("b")), (2, None)][..], true),
            (&[(1, Some("a")), (2, Some(""))], true),
            (&[(1, None), (2, None)], true),
            (&[(1, Some("a"))], true),
            (&[(1, Some("a")), (3, None)], true),
            (&[(1, Some("a")), (2, None)], false),
        ] {
            assert_ne!(stamp(inputs, written), Some(known), "{inputs:?} {written}");
        }
        assert_eq!(stamp(&[(1, Some("a")), (1, Some("b"))], true), None);
    }

    #[test]
    fn a_folder_keeps_stamps_at_their_places() {
        let folder = tempfile::tempdir().unwrap();
        let journal = Journal::in_folder(folder.path().to_owned(), false);
        let (first, second) = (journal.of(0).unwrap(), journal.of(1).unwrap());
        first.set(1000, 7).unwrap();
        second.set(0, 9).unwrap();
        second.set(0, 0).unwrap();
        let again = Journal::in_folder(folder.path().to_owned(), true);
        let at = |array: usize, chunk| again.of(array).unwrap().get(chunk).unwrap();
        assert_eq!([at(0, 1000), at(0, 999), at(0, 1001), at(1, 0)], [Some(7), None, None, None]);
    }
}
