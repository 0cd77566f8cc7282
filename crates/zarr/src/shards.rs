//! Shards that do not fit in memory: their inner chunks are read and written one by one.
//!
//! The inner chunks of a shard are an array of their own, with the inner codecs. A shard is a file
//! of encoded inner chunks, and a table of where each of them is. One worker writes a whole shard, in
//! the order of its inner chunks, so that the bytes are the same in every run.

use crate::array::Array;
use crate::error::Error;
use crate::journal::{checksum, lock};
use crate::store::{Extent, Found, Local, Store};
use crate::work::{Read, Sink, Source};
use serde_json::{Value, json};
use std::collections::HashMap;
use std::fs::File;
use std::io::{self, BufWriter, Seek, SeekFrom, Write};
use std::ops::Range;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

/// How many tables of shards a source keeps.
const TABLES: usize = 16;
/// A shard is read in parts of this many bytes where all of it is compared.
const PART: u64 = 1 << 20;
/// The entry of an inner chunk that is missing.
const MISSING: (u64, u64) = (u64::MAX, u64::MAX);

/// How the shards of an array are laid out.
pub(crate) struct Shards<'a> {
    outer: &'a Array,
    /// The same elements, chunk by inner chunk.
    pub(crate) inner: Array,
    /// Inner chunks of a shard, per axis.
    pub(crate) ratio: Vec<u64>,
    /// Whether the table is at the end of the file, and followed by a checksum.
    at_end: bool,
    checked: bool,
}

impl<'a> Shards<'a> {
    /// The layout, if shards are all that the array consists of and the table is plain.
    pub(crate) fn of(store: &dyn Store, outer: &'a Array) -> Option<Shards<'a>> {
        let [only] = &outer.metadata.get("codecs")?.as_array()?[..] else { return None };
        if only.get("name")?.as_str()? != "sharding_indexed" {
            return None;
        }
        let settings = only.get("configuration")?;
        let names: Vec<&str> = settings
            .get("index_codecs")?
            .as_array()?
            .iter()
            .map(|codec| codec.get("name").and_then(Value::as_str).unwrap_or("?"))
            .collect();
        let endian = settings.pointer("/index_codecs/0/configuration/endian");
        let checked = match names[..] {
            ["bytes"] => false,
            ["bytes", "crc32c"] => true,
            _ => return None,
        };
        if endian.and_then(Value::as_str) != Some("little") {
            return None;
        }
        let at_end = match settings.get("index_location").and_then(Value::as_str) {
            None | Some("end") => true,
            Some("start") => false,
            Some(_) => return None,
        };
        let mut metadata = outer.metadata.clone();
        metadata["chunk_grid"] = json!({
            "name": "regular",
            "configuration": { "chunk_shape": settings.get("chunk_shape")? },
        });
        metadata["codecs"] = settings.get("codecs")?.clone();
        let inner = Array::new(store, &outer.path, &outer.path, metadata, Value::Null).ok()?;
        let sizes = outer.grid.chunk().iter().zip(inner.grid.chunk());
        let ratio = sizes.map(|(shard, chunk)| shard.is_multiple_of(*chunk).then(|| shard / chunk));
        let ratio = ratio.collect::<Option<Vec<u64>>>()?;
        Some(Shards { outer, inner, ratio, at_end, checked })
    }

    /// Inner chunks of a shard, also those outside the array.
    fn count(&self) -> u64 {
        self.ratio.iter().product()
    }

    fn table_bytes(&self) -> u64 {
        16 * self.count() + if self.checked { 4 } else { 0 }
    }

    /// Memory for an inner chunk while it is read or written, and for a table.
    fn room(&self) -> u64 {
        let (chunk, codec) = (self.inner.chunk_bytes(), &self.inner.codec);
        let encoded = codec.most().map_or(chunk, |most| codec.room().max(most));
        chunk.saturating_add(encoded).saturating_add(self.table_bytes().saturating_mul(2))
    }

    /// The shard of an inner chunk, and the number of the chunk in it.
    fn split(&self, index: &[u64]) -> (Vec<u64>, usize) {
        let shard = index.iter().zip(&self.ratio).map(|(at, ratio)| at / ratio).collect();
        let parts = index.iter().zip(&self.ratio);
        let number = parts.fold(0, |number, (at, ratio)| number * ratio + at % ratio);
        (shard, number as usize)
    }

    /// How many inner chunks of a shard are inside the array.
    fn inside(&self, shard: &[u64]) -> u64 {
        let grid = &self.inner.grid;
        let axes = 0..grid.rank();
        axes.map(|axis| {
            let first = shard[axis] * self.ratio[axis];
            self.ratio[axis].min(grid.count(axis) - first)
        })
        .product()
    }

    fn parse(&self, bytes: &[u8]) -> Result<Vec<(u64, u64)>, String> {
        let expected = self.table_bytes();
        if bytes.len() as u64 != expected {
            return Err(format!("has no room for its table of {expected} bytes"));
        }
        let (table, sum) = bytes.split_at(16 * self.count() as usize);
        if self.checked && crc32c::crc32c(table).to_le_bytes() != sum {
            return Err("the checksum of its table does not match".to_owned());
        }
        let number = |bytes: &[u8]| u64::from_le_bytes(bytes.try_into().unwrap_or_default());
        let entry = |bytes: &[u8]| (number(&bytes[..8]), number(&bytes[8..]));
        Ok(table.chunks_exact(16).map(entry).collect())
    }

    fn print(&self, table: &[(u64, u64)]) -> Vec<u8> {
        let entry = |(at, size): &(u64, u64)| [at.to_le_bytes(), size.to_le_bytes()].concat();
        let mut bytes: Vec<u8> = table.iter().flat_map(entry).collect();
        if self.checked {
            let sum = crc32c::crc32c(&bytes);
            bytes.extend(sum.to_le_bytes());
        }
        bytes
    }
}

/// Where the inner chunks of a shard are, and its version; `None` if it does not exist.
type Table = Option<Arc<(Vec<(u64, u64)>, String)>>;

/// The inner chunks of the shards of a store.
pub(crate) struct ShardSource<'a> {
    store: &'a dyn Store,
    shards: &'a Shards<'a>,
    tables: Mutex<Vec<(Vec<u64>, Table)>>,
    /// Whether versions are checksums of the content.
    verify: bool,
}

impl<'a> ShardSource<'a> {
    pub(crate) fn new(store: &'a dyn Store, shards: &'a Shards<'a>, verify: bool) -> Self {
        ShardSource { store, shards, tables: Mutex::new(Vec::new()), verify }
    }

    fn bad(&self, shard: &[u64], why: impl ToString) -> Error {
        let at = self.store.name(&self.shards.outer.key(shard));
        Error::Chunk { at, index: shard.to_vec(), why: why.to_string() }
    }

    fn read(
        &self,
        shard: &[u64],
        range: Range<u64>,
        into: &mut Vec<u8>,
    ) -> Result<Option<Found>, Error> {
        let key = self.shards.outer.key(shard);
        let read = self.store.read(&key, Extent::Range(range), into);
        read.map_err(|source| Error::Read { at: self.store.name(&key), source })
    }

    fn stat(&self, shard: &[u64]) -> Result<Option<Found>, Error> {
        let key = self.shards.outer.key(shard);
        let found = self.store.stat(&key);
        found.map_err(|source| Error::Read { at: self.store.name(&key), source })
    }

    fn table(&self, shard: &[u64]) -> Result<Table, Error> {
        let mut tables = lock(&self.tables);
        if let Some((_, table)) = tables.iter().find(|(known, _)| known == shard) {
            return Ok(table.clone());
        }
        let table = match self.stat(shard)? {
            None => None,
            Some(found) => {
                let len = self.shards.table_bytes();
                let start = if self.shards.at_end { found.size.saturating_sub(len) } else { 0 };
                let mut bytes = Vec::new();
                self.read(shard, start..start + len, &mut bytes)?;
                let table = self.shards.parse(&bytes).map_err(|why| self.bad(shard, why))?;
                let version = self.content(shard, found)?;
                Some(Arc::new((table, version)))
            }
        };
        if tables.len() == TABLES {
            tables.remove(0);
        }
        tables.push((shard.to_vec(), table.clone()));
        Ok(table)
    }

    /// The version of a shard that was found.
    fn content(&self, shard: &[u64], found: Found) -> Result<String, Error> {
        if !self.verify {
            return Ok(found.version);
        }
        let (mut sums, mut bytes) = (String::new(), Vec::new());
        for start in (0..found.size).step_by(PART as usize) {
            self.read(shard, start..start + PART, &mut bytes)?;
            sums = checksum(format!("{sums} {}", checksum(&bytes)).as_bytes());
        }
        Ok(sums)
    }
}

impl Source for ShardSource<'_> {
    fn chunk(&self, index: &[u64]) -> Result<Read, Error> {
        let (shard, number) = self.shards.split(index);
        let Some(known) = self.table(&shard)? else { return Ok(Read::default()) };
        let (table, version) = known.as_ref();
        let (at, size) = table[number];
        if (at, size) == MISSING {
            return Ok(Read { elements: None, version: Some(version.clone()) });
        }
        let inner = &self.shards.inner;
        let bad = |why: String| self.bad(&shard, format!("inner chunk {number}: {why}"));
        let end = at.checked_add(size).ok_or_else(|| bad("its place is no place".to_owned()))?;
        let most = inner.codec.most().unwrap_or(u64::MAX);
        if size > most {
            return Err(bad(format!("has {size} bytes, at most {most} are possible")));
        }
        let mut bytes = Vec::new();
        let found = self.read(&shard, at..end, &mut bytes)?;
        if !self.verify && found.is_none_or(|found| found.version != *version) {
            return Err(bad("the shard was changed while it was read".to_owned()));
        }
        if bytes.len() as u64 != size {
            return Err(bad(format!("has {} bytes, expected {size}", bytes.len())));
        }
        let elements = match inner.is_plain() {
            false => inner.codec.decode(&bytes).map_err(bad)?,
            true if size == inner.chunk_bytes() => bytes,
            true => {
                return Err(bad(format!("has {size} bytes, expected {}", inner.chunk_bytes())));
            }
        };
        Ok(Read { elements: Some(elements), version: Some(version.clone()) })
    }

    fn version(&self, unit: &[u64]) -> Result<Option<String>, Error> {
        match self.stat(unit)? {
            Some(found) => self.content(unit, found).map(Some),
            None => Ok(None),
        }
    }

    fn room(&self) -> u64 {
        self.shards.room()
    }
}

/// A shard that is being written.
struct Writing {
    path: PathBuf,
    file: BufWriter<File>,
    table: Vec<(u64, u64)>,
    at: u64,
    seen: u64,
}

/// The shards of an output in a folder.
pub(crate) struct ShardSink<'a> {
    output: &'a Local,
    shards: &'a Shards<'a>,
    writing: Mutex<HashMap<Vec<u64>, Writing>>,
}

impl<'a> ShardSink<'a> {
    pub(crate) fn new(output: &'a Local, shards: &'a Shards<'a>) -> Self {
        ShardSink { output, shards, writing: Mutex::new(HashMap::new()) }
    }

    fn failed(&self, shard: &[u64], source: io::Error) -> Error {
        Error::Write { at: self.output.name(&self.shards.outer.key(shard)), source }
    }

    fn begin(&self) -> io::Result<Writing> {
        let (path, file) = self.output.scratch_file()?;
        let mut file = BufWriter::new(file);
        let at = if self.shards.at_end { 0 } else { self.shards.table_bytes() };
        file.seek(SeekFrom::Start(at))?;
        let table = vec![MISSING; self.shards.count() as usize];
        Ok(Writing { path, file, table, at, seen: 0 })
    }

    /// Adds an inner chunk, or notes that it is missing. After the last one the shard gets its name.
    fn add(&self, index: &[u64], encoded: Option<&[u8]>) -> Result<(), Error> {
        let (shard, number) = self.shards.split(index);
        // A worker has a shard for itself, but not the list of them.
        let taken = lock(&self.writing).remove(&shard);
        let add = || -> io::Result<()> {
            let mut writing = taken.map_or_else(|| self.begin(), Ok)?;
            writing.seen += 1;
            if let Some(encoded) = encoded {
                writing.file.write_all(encoded)?;
                writing.table[number] = (writing.at, encoded.len() as u64);
                writing.at += encoded.len() as u64;
            }
            if writing.seen < self.shards.inside(&shard) {
                lock(&self.writing).insert(shard.clone(), writing);
                return Ok(());
            }
            self.finish(&shard, writing)
        };
        add().map_err(|source| self.failed(&shard, source))
    }

    fn finish(&self, shard: &[u64], mut writing: Writing) -> io::Result<()> {
        if writing.table.iter().all(|&entry| entry == MISSING) {
            // An earlier run may have written it, from other inputs.
            self.output.remove(&self.shards.outer.key(shard))?;
            return std::fs::remove_file(&writing.path);
        }
        if !self.shards.at_end {
            writing.file.seek(SeekFrom::Start(0))?;
        }
        writing.file.write_all(&self.shards.print(&writing.table))?;
        writing.file.flush()?;
        self.output.name_file(&writing.path, &self.shards.outer.key(shard))
    }
}

impl Sink for ShardSink<'_> {
    fn has(&self, unit: &[u64]) -> Result<bool, Error> {
        let found = self.output.stat(&self.shards.outer.key(unit));
        found.map(|found| found.is_some()).map_err(|source| self.failed(unit, source))
    }

    fn write(&self, index: &[u64], elements: Vec<u8>) -> Result<Vec<u8>, Error> {
        let inner = &self.shards.inner;
        if inner.is_plain() {
            self.add(index, Some(&elements))?;
            return Ok(elements);
        }
        let encoded = inner.codec.encode(elements).map_err(|why| {
            let at = self.output.name(&self.shards.outer.key(&self.shards.split(index).0));
            Error::Chunk { at, index: index.to_vec(), why }
        })?;
        self.add(index, Some(&encoded))?;
        Ok(Vec::new())
    }

    fn leave_out(&self, index: &[u64], _resumed: bool) -> Result<(), Error> {
        self.add(index, None)
    }

    fn room(&self) -> u64 {
        self.shards.room()
    }
}
