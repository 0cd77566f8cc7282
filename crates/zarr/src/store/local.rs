//! A store that is a folder.

use super::{Extent, Found, Listing, Store};
use std::fs::{self, File, Metadata};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

/// A store in a folder. Files are written to a second folder and renamed.
#[derive(Debug)]
pub struct Local {
    root: PathBuf,
    scratch: Option<PathBuf>,
    next: AtomicU64,
}

impl Local {
    /// A store that is only read.
    pub fn new(root: impl Into<PathBuf>) -> Local {
        Local { root: root.into(), scratch: None, next: AtomicU64::new(0) }
    }

    /// A store that is written. Incomplete files are in `scratch`, on the same file system.
    pub fn writable(root: impl Into<PathBuf>, scratch: impl Into<PathBuf>) -> Local {
        Local { scratch: Some(scratch.into()), ..Local::new(root) }
    }

    fn at(&self, key: &str) -> PathBuf {
        if key.is_empty() { self.root.clone() } else { self.root.join(key) }
    }

    /// The path of a new file that is not complete.
    fn scratch_path(&self) -> io::Result<PathBuf> {
        let Some(scratch) = &self.scratch else {
            return Err(io::Error::new(io::ErrorKind::PermissionDenied, "the store is read-only"));
        };
        Ok(scratch.join(self.next.fetch_add(1, Ordering::Relaxed).to_string()))
    }

    /// A new file, which [`Local::name_file`] gives its name.
    pub(crate) fn scratch_file(&self) -> io::Result<(PathBuf, File)> {
        let path = self.scratch_path()?;
        let file = File::create(&path)?;
        Ok((path, file))
    }

    /// Gives a complete file its name.
    pub(crate) fn name_file(&self, complete: &Path, key: &str) -> io::Result<()> {
        let target = self.at(key);
        match fs::rename(complete, &target) {
            // The first chunk in its folder.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                target.parent().map_or(Ok(()), fs::create_dir_all)?;
                fs::rename(complete, &target)
            }
            result => result,
        }
    }

    /// Lets `fill` create a file, which then gets its name.
    fn place(&self, key: &str, fill: impl FnOnce(&Path) -> io::Result<()>) -> io::Result<()> {
        let incomplete = self.scratch_path()?;
        fill(&incomplete)?;
        self.name_file(&incomplete, key)
    }
}

fn found(metadata: &Metadata) -> Found {
    Found { size: metadata.len(), version: version_of(metadata) }
}

/// What differs if a file was changed or replaced. Tools that restore the time of the last change
/// (`cp -p`, `rsync -t`) cannot set that of the inode, and `mv` brings another inode.
#[cfg(unix)]
pub(crate) fn version_of(metadata: &Metadata) -> String {
    use std::os::unix::fs::MetadataExt;
    let (size, inode) = (metadata.len(), metadata.ino());
    let (changed, nanos) = (metadata.ctime(), metadata.ctime_nsec());
    let (modified, parts) = (metadata.mtime(), metadata.mtime_nsec());
    format!("{size} {inode} {changed}.{nanos} {modified}.{parts}")
}

/// What differs if a file was changed or replaced, as far as the system tells.
#[cfg(not(unix))]
pub(crate) fn version_of(metadata: &Metadata) -> String {
    let times = [metadata.modified().ok(), metadata.created().ok()];
    format!("{} {times:?}", metadata.len())
}

/// An absent file is no error. Neither is a file where a folder was expected.
fn absent<T>(result: io::Result<T>) -> io::Result<Option<T>> {
    match result {
        Ok(found) => Ok(Some(found)),
        Err(error) => match error.kind() {
            io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => Ok(None),
            _ => Err(error),
        },
    }
}

impl Store for Local {
    fn name(&self, key: &str) -> String {
        self.at(key).display().to_string()
    }

    fn read(&self, key: &str, extent: Extent, into: &mut Vec<u8>) -> io::Result<Option<Found>> {
        let Some(mut file) = absent(File::open(self.at(key)))? else { return Ok(None) };
        // Before the bytes: whatever changes them later also changes this.
        let found = found(&file.metadata()?);
        let range = extent.of(found.size)?;
        if range.start > 0 {
            file.seek(SeekFrom::Start(range.start))?;
        }
        into.clear();
        let len = range.end - range.start;
        let there = usize::try_from(len).map_err(io::Error::other)?;
        into.try_reserve_exact(there).map_err(io::Error::other)?;
        file.take(len).read_to_end(into)?;
        Ok(Some(found))
    }

    fn stat(&self, key: &str) -> io::Result<Option<Found>> {
        let metadata = absent(fs::metadata(self.at(key)))?.filter(Metadata::is_file);
        Ok(metadata.as_ref().map(found))
    }

    fn write(&self, key: &str, bytes: Vec<u8>) -> io::Result<Vec<u8>> {
        self.place(key, |path| File::create(path)?.write_all(&bytes))?;
        Ok(bytes)
    }

    fn remove(&self, key: &str) -> io::Result<()> {
        absent(fs::remove_file(self.at(key))).map(|_| ())
    }

    fn list(&self, folder: &str) -> io::Result<Listing> {
        let mut listing = Listing::default();
        for entry in absent(fs::read_dir(self.at(folder)))?.into_iter().flatten() {
            let entry = entry?;
            let name = entry.file_name().into_string().map_err(|name| {
                let why = format!("the name {name:?} is not UTF-8");
                io::Error::new(io::ErrorKind::InvalidData, why)
            })?;
            // Follows links, as opening a chunk would.
            match fs::metadata(entry.path())?.is_dir() {
                true => listing.folders.push(name),
                false => listing.files.push(name),
            }
        }
        listing.files.sort();
        listing.folders.sort();
        Ok(listing)
    }

    fn local(&self) -> Option<&Local> {
        Some(self)
    }

    fn path(&self, key: &str) -> Option<PathBuf> {
        Some(self.at(key))
    }

    fn copy(
        &self,
        key: &str,
        from: &dyn Store,
        source: &str,
        most: u64,
    ) -> io::Result<Option<Found>> {
        let Some(path) = from.path(source) else {
            return super::copy(self, key, from, source, most);
        };
        let Some(mut file) = absent(File::open(path))? else { return Ok(None) };
        let found = found(&file.metadata()?);
        // The system copies between the files, or shares their blocks.
        self.place(key, |path| io::copy(&mut file, &mut File::create(path)?).map(|_| ()))?;
        Ok(Some(found))
    }
}
