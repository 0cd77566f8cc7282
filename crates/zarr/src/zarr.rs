//! Chunks of Zarr arrays as sources and sinks.

use crate::array::Array;
use crate::error::Error;
use crate::journal::checksum;
use crate::store::{Extent, Found, Store};
use crate::work::{Copied, Read, Settings, Sink, Source};
use std::io;
use std::ops::Range;

/// The chunks of an array in a store.
#[derive(Clone, Copy)]
pub(crate) struct Chunks<'a> {
    store: &'a dyn Store,
    array: &'a Array,
    /// The most bytes of an encoded chunk whose elements have different sizes.
    memory: u64,
    /// Whether versions are checksums of the content.
    verify: bool,
}

impl<'a> Chunks<'a> {
    pub(crate) fn new(store: &'a dyn Store, array: &'a Array, settings: &Settings<'_>) -> Self {
        Chunks { store, array, memory: settings.memory, verify: settings.verify }
    }

    /// The chunks of an array, each of which may take so much memory.
    pub(crate) fn within(store: &'a dyn Store, array: &'a Array, memory: u64) -> Self {
        Chunks { store, array, memory, verify: false }
    }

    fn bad(&self, index: &[u64], why: impl ToString) -> Error {
        let at = self.store.name(&self.array.key(index));
        Error::Chunk { at, index: index.to_vec(), why: why.to_string() }
    }

    fn check_size(&self, index: &[u64], size: u64) -> Result<(), Error> {
        let expected = self.array.chunk_bytes();
        if size == expected {
            return Ok(());
        }
        Err(self.bad(index, format!("has {size} bytes, expected {expected}")))
    }

    /// The most bytes of an encoded chunk.
    fn most(&self) -> u64 {
        self.array.codec.most().unwrap_or(self.memory)
    }

    fn failed(&self, index: &[u64], source: io::Error) -> Error {
        match source.kind() {
            io::ErrorKind::InvalidData => self.bad(index, source),
            _ => Error::Read { at: self.store.name(&self.array.key(index)), source },
        }
    }

    fn stat(&self, index: &[u64]) -> Result<Option<Found>, Error> {
        let found = self.store.stat(&self.array.key(index));
        found.map_err(|source| self.failed(index, source))
    }

    fn read(
        &self,
        index: &[u64],
        extent: Extent,
        into: &mut Vec<u8>,
    ) -> Result<Option<Found>, Error> {
        let read = self.store.read(&self.array.key(index), extent, into);
        read.map_err(|source| self.failed(index, source))
    }

    /// Reads a whole chunk as it is stored.
    fn encoded(&self, index: &[u64]) -> Result<Option<(Vec<u8>, String)>, Error> {
        let mut bytes = Vec::new();
        if self.array.is_plain() {
            // An error that says what is expected, before anything is read.
            match self.stat(index)? {
                Some(found) => self.check_size(index, found.size)?,
                None => return Ok(None),
            }
        }
        let Some(found) = self.read(index, Extent::AtMost(self.most()), &mut bytes)? else {
            return Ok(None);
        };
        let version = if self.verify { checksum(&bytes) } else { found.version };
        Ok(Some((bytes, version)))
    }
}

impl Source for Chunks<'_> {
    fn chunk(&self, index: &[u64]) -> Result<Read, Error> {
        let Some((bytes, version)) = self.encoded(index)? else { return Ok(Read::default()) };
        let elements = match self.array.is_plain() {
            true => {
                self.check_size(index, bytes.len() as u64)?;
                bytes
            }
            false => self.array.codec.decode(&bytes).map_err(|why| self.bad(index, why))?,
        };
        Ok(Read { elements: Some(elements), version: Some(version) })
    }

    fn has_parts(&self) -> bool {
        self.array.is_plain() && !self.verify
    }

    fn part(
        &self,
        index: &[u64],
        range: Range<u64>,
        into: &mut Vec<u8>,
    ) -> Result<Option<String>, Error> {
        let wanted = range.end - range.start;
        let Some(found) = self.read(index, Extent::Range(range), into)? else { return Ok(None) };
        self.check_size(index, found.size)?;
        match into.len() as u64 == wanted {
            true => Ok(Some(found.version)),
            false => Err(self.bad(index, "was truncated while it was read")),
        }
    }

    fn version(&self, unit: &[u64]) -> Result<Option<String>, Error> {
        match self.verify {
            true => Ok(self.encoded(unit)?.map(|(_, version)| version)),
            false => Ok(self.stat(unit)?.map(|found| found.version)),
        }
    }

    fn room(&self) -> u64 {
        let chunk = self.array.chunk_bytes();
        match (self.array.is_plain(), self.array.codec.most()) {
            (true, _) => chunk,
            (false, Some(_)) => self.array.codec.room(),
            // Only copied.
            (false, None) => chunk.saturating_mul(2),
        }
    }

    fn connection(&self) -> u64 {
        // Buffers of the connection and of TLS.
        if self.store.remote().is_some() { 1 << 20 } else { 0 }
    }
}

/// The chunks of an output array, and the input that they come from.
pub(crate) struct ZarrSink<'a> {
    pub(crate) output: Chunks<'a>,
    /// The input, if it is a Zarr array with the same metadata.
    pub(crate) input: Option<Chunks<'a>>,
}

impl ZarrSink<'_> {
    fn failed(&self, key: &str, source: io::Error) -> Error {
        Error::Write { at: self.output.store.name(key), source }
    }
}

impl Sink for ZarrSink<'_> {
    fn has(&self, unit: &[u64]) -> Result<bool, Error> {
        self.output.stat(unit).map(|found| found.is_some())
    }

    fn write(&self, index: &[u64], elements: Vec<u8>) -> Result<Vec<u8>, Error> {
        let Chunks { store, array, .. } = self.output;
        let key = array.key(index);
        if array.is_plain() {
            return store.write(&key, elements).map_err(|source| self.failed(&key, source));
        }
        let encoded = array.codec.encode(elements).map_err(|why| self.output.bad(index, why))?;
        store.write(&key, encoded).map_err(|source| self.failed(&key, source))?;
        Ok(Vec::new())
    }

    fn leave_out(&self, index: &[u64], resumed: bool) -> Result<(), Error> {
        if !resumed {
            return Ok(());
        }
        let key = self.output.array.key(index);
        self.output.store.remove(&key).map_err(|source| self.failed(&key, source))
    }

    fn copy(&self, index: &[u64], source: &[u64]) -> Result<Copied, Error> {
        let Some(input) = self.input else { return Ok(Copied::MustDecode) };
        let (from, to) = (input.array.key(source), self.output.array.key(index));
        if input.verify {
            let Some((bytes, version)) = input.encoded(source)? else { return Ok(Copied::Missing) };
            let written = self.output.store.write(&to, bytes);
            written.map_err(|source| self.failed(&to, source))?;
            return Ok(Copied::Done(version));
        }
        if input.array.is_plain() {
            match input.stat(source)? {
                Some(found) => input.check_size(source, found.size)?,
                None => return Ok(Copied::Missing),
            }
        }
        let copied = self.output.store.copy(&to, input.store, &from, input.most());
        match copied {
            Ok(Some(found)) => Ok(Copied::Done(found.version)),
            Ok(None) => Ok(Copied::Missing),
            Err(error) if error.kind() == io::ErrorKind::InvalidData => {
                Err(input.bad(source, error))
            }
            Err(error) => Err(self.failed(&to, error)),
        }
    }

    fn room(&self) -> u64 {
        let array = self.output.array;
        let chunk = array.chunk_bytes();
        if array.is_plain() {
            return chunk;
        }
        chunk.saturating_add(array.codec.most().unwrap_or(chunk))
    }

    fn connection(&self) -> u64 {
        self.output.connection()
    }
}
