//! Chunks of Zarr arrays as sources and sinks.

use crate::array::Array;
use crate::error::Error;
use crate::needs::Needs;
use crate::store::Store;
use crate::work::{Copied, Sink, Source};
use std::ops::Range;

/// The chunks of an array in a store.
#[derive(Clone, Copy)]
pub(crate) struct Chunks<'a> {
    pub(crate) store: &'a dyn Store,
    pub(crate) array: &'a Array,
}

impl Chunks<'_> {
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

    fn read(
        &self,
        index: &[u64],
        range: Option<Range<u64>>,
        into: &mut Vec<u8>,
    ) -> Result<Option<u64>, Error> {
        let key = self.array.key(index);
        let read = self.store.read(&key, range, into);
        read.map_err(|source| Error::Read { at: self.store.name(&key), source })
    }
}

impl Source for Chunks<'_> {
    fn chunk(&self, index: &[u64]) -> Result<Option<Vec<u8>>, Error> {
        let mut bytes = Vec::new();
        if self.read(index, None, &mut bytes)?.is_none() {
            return Ok(None);
        }
        if self.array.is_plain() {
            self.check_size(index, bytes.len() as u64)?;
            return Ok(Some(bytes));
        }
        self.array.codec.decode(bytes).map(Some).map_err(|why| self.bad(index, why))
    }

    fn has_parts(&self) -> bool {
        self.array.is_plain()
    }

    fn part(&self, index: &[u64], range: Range<u64>, into: &mut Vec<u8>) -> Result<bool, Error> {
        let wanted = range.end - range.start;
        let Some(size) = self.read(index, Some(range), into)? else { return Ok(false) };
        self.check_size(index, size)?;
        match into.len() as u64 == wanted {
            true => Ok(true),
            false => Err(self.bad(index, "was truncated while it was read")),
        }
    }

    fn copies(&self) -> u64 {
        // The encoded chunk beside the decoded one.
        if self.array.is_plain() { 1 } else { 2 }
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
    fn failed(&self, key: &str, source: std::io::Error) -> Error {
        Error::Write { at: self.output.store.name(key), source }
    }
}

impl Sink for ZarrSink<'_> {
    fn is_done(&self, index: &[u64], needs: &Needs) -> Result<bool, Error> {
        let key = self.output.array.key(index);
        let found = self.output.store.stat(&key).map_err(|source| self.failed(&key, source))?;
        let Some((_, written)) = found else { return Ok(false) };
        let Some(input) = self.input else { return Ok(true) };
        for (chunk, _) in &needs.sources {
            let key = input.array.key(chunk);
            let found = input.store.stat(&key);
            let at = || input.store.name(&key);
            let found = found.map_err(|source| Error::Read { at: at(), source })?;
            if let Some((_, Some(changed))) = found
                && written.is_some_and(|written| changed > written)
            {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn write(&self, index: &[u64], elements: Vec<u8>) -> Result<Vec<u8>, Error> {
        let Chunks { store, array } = self.output;
        let key = array.key(index);
        if array.is_plain() {
            return store.write(&key, elements).map_err(|source| self.failed(&key, source));
        }
        let encoded = array.codec.encode(elements).map_err(|why| self.output.bad(index, why))?;
        store.write(&key, encoded).map_err(|source| self.failed(&key, source))?;
        Ok(Vec::new())
    }

    fn leave_out(&self, _index: &[u64]) -> Result<(), Error> {
        Ok(())
    }

    fn copy(&self, index: &[u64], source: &[u64]) -> Result<Copied, Error> {
        let Some(input) = self.input else { return Ok(Copied::MustDecode) };
        let (from, to) = (input.array.key(source), self.output.array.key(index));
        if input.array.is_plain() {
            let found = input.store.stat(&from);
            let at = || input.store.name(&from);
            match found.map_err(|source| Error::Read { at: at(), source })? {
                Some((size, _)) => input.check_size(source, size)?,
                None => return Ok(Copied::Missing),
            }
        }
        let copied = self.output.store.copy(&to, input.store, &from);
        match copied.map_err(|source| self.failed(&to, source))? {
            true => Ok(Copied::Done),
            false => Ok(Copied::Missing),
        }
    }

    fn copies(&self) -> u64 {
        // The output beside the encoded output.
        if self.output.array.is_plain() { 1 } else { 2 }
    }

    fn connection(&self) -> u64 {
        self.output.connection()
    }
}
