//! Keys and bytes: what a Zarr store is made of. A folder is one, and a bucket or server.

mod local;
mod remote;

pub use local::Local;
pub use remote::Remote;

use std::io;
use std::ops::Range;
use std::time::SystemTime;

/// What is directly in a folder of a store.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Listing {
    /// Names of files or objects, sorted.
    pub files: Vec<String>,
    /// Names of folders, sorted.
    pub folders: Vec<String>,
}

/// Bytes by key. Keys are relative paths with `/` between names; the root is the empty key.
pub trait Store: Send + Sync {
    /// The name of a key for messages.
    fn name(&self, key: &str) -> String;

    /// Replaces `into` with the bytes of a key, all or a range of them, as far as they exist.
    /// Returns the size of the key, if it exists.
    fn read(
        &self,
        key: &str,
        range: Option<Range<u64>>,
        into: &mut Vec<u8>,
    ) -> io::Result<Option<u64>>;

    /// The size of a key and when it was changed, if it exists.
    fn stat(&self, key: &str) -> io::Result<Option<(u64, Option<SystemTime>)>>;

    /// Writes a key, which is complete or absent. Returns memory to use again, perhaps none.
    fn write(&self, key: &str, bytes: Vec<u8>) -> io::Result<Vec<u8>>;

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

    /// Copies a key from another store, unchanged. Returns whether it exists there.
    fn copy(&self, key: &str, from: &dyn Store, source: &str) -> io::Result<bool>;
}

/// Copies a key between any two stores.
fn copy(to: &dyn Store, key: &str, from: &dyn Store, source: &str) -> io::Result<bool> {
    let mut bytes = Vec::new();
    if from.read(source, None, &mut bytes)?.is_none() {
        return Ok(false);
    }
    to.write(key, bytes)?;
    Ok(true)
}

/// A key in a folder of the store.
pub(crate) fn join(folder: &str, name: &str) -> String {
    match (folder, name) {
        ("", name) => name.to_owned(),
        (folder, "") => folder.to_owned(),
        (folder, name) => format!("{folder}/{name}"),
    }
}
