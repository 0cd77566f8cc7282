//! `.npz` archives: zip files whose members are `.npy` files, stored or deflated.
//!
//! The archive's directory is read one entry at a time. Nothing is extracted under a member's name,
//! so a malicious name does no harm.

pub(crate) mod error;

pub use error::NpzError;
pub(crate) use error::NpzFailure;

use crate::npy::{self, Failure, Located};
use crate::spool::{self, Map};
use crate::words::one_line;
use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::Path;
use zip::CompressionMethod;
use zip::read::{Config, ZipFile, ZipFileEntry, ZipReadOptions};
use zip::unstable::read::ZipIterable;

/// Archives with more members than this are refused.
const MOST_MEMBERS: usize = 100_000;
/// Deflate produces at most 1032 bytes from one.
const MOST_INFLATED: u64 = 1032;

type Entry = ZipFileEntry<'static>;
type Reader = BufReader<File>;

/// An archive whose directory has been read.
pub(crate) struct Archive {
    names: Vec<String>,
    entries: Vec<Option<Entry>>,
    reader: Reader,
}

/// Where the data of a member is.
pub(crate) enum Place {
    /// In the archive itself, at this offset.
    Stored(u64),
    /// Inflated.
    Unpacked(Map),
}

/// A member's header, and its compressed size if it is deflated.
pub(crate) struct Member {
    pub(crate) located: Located,
    pub(crate) deflated: Option<u64>,
}

impl Archive {
    /// Reads the directory.
    pub(crate) fn open(file: &File) -> Result<Archive, NpzFailure> {
        let broken = |error: zip::result::ZipError| NpzError::Archive { reason: one_line(&error) };
        let reader = BufReader::new(file.try_clone()?);
        let mut zip = ZipIterable::try_new(reader, Config::default()).map_err(broken)?;
        let count = zip.len();
        if count > MOST_MEMBERS {
            return Err(NpzError::TooMany { count, limit: MOST_MEMBERS }.into());
        }
        let (mut names, mut entries) = (Vec::new(), Vec::new());
        for entry in zip.files().map_err(broken)? {
            let entry = entry.map_err(broken)?;
            let member = String::from_utf8_lossy(entry.name_raw()).into_owned();
            if let Some(name) = member.strip_suffix(".npy") {
                names.push(name.to_owned());
                entries.push(Some(entry));
            }
        }
        Ok(Archive { names, entries, reader: BufReader::new(file.try_clone()?) })
    }

    /// The names of its arrays.
    pub(crate) fn names(&self) -> &[String] {
        &self.names
    }

    /// Reads a member's header.
    pub(crate) fn describe(&mut self, index: usize) -> Result<Member, NpzFailure> {
        self.member(index).map(|(member, _)| member)
    }

    /// Reads a member's header and data, and verifies the checksum. Deflated data is inflated to a
    /// temporary file in this folder.
    pub(crate) fn load(
        &mut self,
        index: usize,
        folder: &Path,
    ) -> Result<(Member, Place), NpzFailure> {
        let name = format!("{}.npy", self.names[index]);
        let (Member { located, deflated }, mut member) = self.member(index)?;
        let (start, size) = (member.data_start(), member.size());
        let wrong = |error: io::Error| unreadable(&name, one_line(&error));
        let (place, rest) = match (deflated, start) {
            (None, Some(start)) => {
                // Reads the rest to verify the checksum; the data is used in place.
                io::copy(&mut member, &mut io::sink()).map_err(wrong)?;
                (Place::Stored(start.saturating_add(located.offset)), 0)
            }
            _ => {
                let bytes = located.layout.byte_len();
                let mut data = spool::zeroed(bytes, folder).map_err(|error| {
                    unreadable(&name, format!("no space to unpack its {bytes} bytes: {error}"))
                })?;
                member.read_exact(&mut data).map_err(|error| match error.kind() {
                    io::ErrorKind::UnexpectedEof => unreadable(
                        &name,
                        format!("it unpacks to fewer bytes than {size}, its size"),
                    ),
                    _ => wrong(error),
                })?;
                // The checksum is verified at the end.
                let rest = member.read(&mut [0]).map_err(wrong)?;
                (Place::Unpacked(data.freeze()?), rest)
            }
        };
        if rest > 0 {
            let reason = format!("it unpacks to more bytes than {size}, its size");
            return Err(unreadable(&name, reason));
        }
        Ok((Member { located, deflated }, place))
    }

    /// Reads a member's header and leaves the reader at its data. Each member can be read once.
    fn member(&mut self, index: usize) -> Result<(Member, ZipFile<'_, Reader>), NpzFailure> {
        let name = format!("{}.npy", self.names[index]);
        let entry = self.entries[index].take();
        let entry = entry.ok_or_else(|| unreadable(&name, "it was read before".to_owned()))?;
        let deflated = checked(&name, &entry)?;
        let size = entry.size();
        let opened = entry.with_reader(&mut self.reader, ZipReadOptions::new());
        let mut member = opened.map_err(|error| unreadable(&name, one_line(&error)))?;
        let located = npy::locate(&mut member, size).map_err(|error| explain(&name, error))?;
        Ok((Member { located, deflated }, member))
    }
}

/// Refuses encrypted members, impossible sizes and unknown compression methods; returns the
/// compressed size of a deflated member.
fn checked(name: &str, entry: &Entry) -> Result<Option<u64>, NpzFailure> {
    let (size, packed) = (entry.size(), entry.compressed_size());
    let lies = |kind: &str| {
        unreadable(name, format!("it says that it has {size} bytes, {kind} in {packed}"))
    };
    if entry.encrypted() {
        return Err(unreadable(name, "it is encrypted".to_owned()));
    }
    match entry.compression() {
        CompressionMethod::Stored if size == packed => Ok(None),
        CompressionMethod::Stored => Err(lies("stored")),
        CompressionMethod::Deflated if size > packed.saturating_mul(MOST_INFLATED) => {
            Err(lies("which cannot be deflated"))
        }
        CompressionMethod::Deflated => Ok(Some(packed)),
        other => {
            Err(unreadable(name, format!("compressed with {other}, expected stored or deflated")))
        }
    }
}

fn unreadable(member: &str, reason: String) -> NpzFailure {
    NpzError::Member { member: member.to_owned(), reason }.into()
}

fn explain(member: &str, failure: Failure) -> NpzFailure {
    let member = member.to_owned();
    match failure {
        Failure::Npy(source) => NpzError::Npy { member, source }.into(),
        Failure::Io(error) => unreadable(&member, one_line(&error)),
    }
}
