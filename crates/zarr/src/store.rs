//! Keys and bytes: what a Zarr store is made of. A folder is one, and a bucket or server.

mod local;
mod names;
#[cfg_attr(not(feature = "remote"), path = "store/no_remote.rs")]
mod remote;

pub use local::Local;
pub(crate) use local::version_of;
pub(crate) use names::check as check_key;
pub use remote::Remote;

use std::io;
use std::ops::Range;

/// What is directly in a folder of a store.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Listing {
    /// Names of files or objects, sorted.
    pub files: Vec<String>,
    /// Names of folders, sorted.
    pub folders: Vec<String>,
}

/// What is known about a key without its bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// Its size in bytes.
    pub size: u64,
    /// A text that differs if the content does: of a file its size, times and inode, of an object its
    /// ETag or version.
    pub version: String,
}

/// Which bytes of a key are wanted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Extent {
    /// All of them; more than so many are an error of the kind `InvalidData`, and are not read.
    AtMost(u64),
    /// Those of a range, as far as they exist.
    Range(Range<u64>),
}

impl Extent {
    /// The bytes to read of a key of this size.
    fn of(&self, size: u64) -> io::Result<Range<u64>> {
        match self {
            Extent::AtMost(most) if size > *most => {
                let why = format!("has {size} bytes, at most {most} are possible here");
                Err(io::Error::new(io::ErrorKind::InvalidData, why))
            }
            Extent::AtMost(_) => Ok(0..size),
            Extent::Range(range) => Ok(range.start.min(size)..range.end.min(size)),
        }
    }
}

/// Bytes by key. Keys are relative paths with `/` between names; the root is the empty key.
pub trait Store: Send + Sync {
    /// The name of a key for messages.
    fn name(&self, key: &str) -> String;

    /// Replaces `into` with bytes of a key, if it exists.
    fn read(&self, key: &str, extent: Extent, into: &mut Vec<u8>) -> io::Result<Option<Found>>;

    /// What is known about a key, if it exists.
    fn stat(&self, key: &str) -> io::Result<Option<Found>>;

    /// Writes a key, which is complete or absent. Returns memory to use again, perhaps none.
    fn write(&self, key: &str, bytes: Vec<u8>) -> io::Result<Vec<u8>>;

    /// Removes a key, which may be absent.
    fn remove(&self, key: &str) -> io::Result<()>;

    /// Whether it can say what is in a folder.
    fn lists(&self) -> bool {
        true
    }

    /// What is in a folder; nothing if there is no such folder.
    fn list(&self, folder: &str) -> io::Result<Listing>;

    /// The path of a key, if the store is a folder of this machine.
    fn path(&self, key: &str) -> Option<std::path::PathBuf> {
        let _ = key;
        None
    }

    /// The store, if it is a folder of this machine.
    fn local(&self) -> Option<&Local> {
        None
    }

    /// The store, if it has a URL.
    fn remote(&self) -> Option<&Remote> {
        None
    }

    /// Copies a key from another store, unchanged; of a key that has to pass through memory, `most`
    /// bytes. Returns what was found there, from before it was copied.
    fn copy(
        &self,
        key: &str,
        from: &dyn Store,
        source: &str,
        most: u64,
    ) -> io::Result<Option<Found>>;
}

/// Copies a key between any two stores.
fn copy(
    to: &dyn Store,
    key: &str,
    from: &dyn Store,
    source: &str,
    most: u64,
) -> io::Result<Option<Found>> {
    let mut bytes = Vec::new();
    let found = from.read(source, Extent::AtMost(most), &mut bytes)?;
    if found.is_some() {
        to.write(key, bytes)?;
    }
    Ok(found)
}

/// A key in a folder of the store.
pub(crate) fn join(folder: &str, name: &str) -> String {
    match (folder, name) {
        ("", name) => name.to_owned(),
        (folder, "") => folder.to_owned(),
        (folder, name) => format!("{folder}/{name}"),
    }
}
