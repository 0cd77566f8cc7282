//! Writing a file so that it is either complete or not there at all.

use crate::error::Error;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use tempfile::{Builder, NamedTempFile, TempPath};

/// Temporary files that have not got their names yet.
static UNFINISHED: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());
/// Whether an output has its name.
static APPEARED: AtomicBool = AtomicBool::new(false);

/// Removes what has been begun and not finished: for whoever ends the process early.
///
/// Outputs that are being written then never appear, and no other is begun: whoever tries waits
/// for the end of the process, which may take a while. Says whether one had appeared before.
pub fn abandon_outputs() -> bool {
    let mut paths = UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner);
    for path in paths.drain(..) {
        // If it cannot be removed, nothing is left to do about it.
        let _ = fs::remove_file(path);
    }
    // Never unlocked.
    std::mem::forget(paths);
    APPEARED.load(Ordering::SeqCst)
}

/// Where a file is to appear.
pub(crate) enum Target {
    /// A regular file, or none yet: written beside, then renamed. True if it replaces one.
    File(PathBuf, bool),
    /// A device or a pipe, which a rename would replace: written to as it is.
    Device(File),
}

impl Target {
    /// Follows symbolic links.
    pub(crate) fn of(path: &Path) -> io::Result<Target> {
        match fs::metadata(path) {
            Ok(found) if found.is_file() => Ok(Target::File(fs::canonicalize(path)?, true)),
            Ok(found) if found.is_dir() => Err(io::ErrorKind::IsADirectory.into()),
            Ok(_) => Ok(Target::Device(File::options().write(true).open(path)?)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                Ok(Target::File(new_file(path)?, false))
            }
            Err(error) => Err(error),
        }
    }
}

/// A file that is being written, beside where it will appear.
#[derive(Debug)]
pub(crate) struct Pending {
    file: File,
    path: Option<TempPath>,
    target: PathBuf,
    replaces: bool,
}

impl Pending {
    /// Begins one.
    pub(crate) fn new(target: PathBuf, replaces: bool) -> io::Result<Pending> {
        let folder = match target.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => parent,
            _ => Path::new("."),
        };
        let mut unfinished = UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner);
        let (file, path) = temporary_in(folder)?.into_parts();
        unfinished.push(path.to_path_buf());
        Ok(Pending { file, path: Some(path), target, replaces })
    }

    /// The file.
    pub(crate) fn file(&self) -> &File {
        &self.file
    }

    /// Has everything ready, so that only its name is missing.
    pub(crate) fn complete(&self) -> io::Result<()> {
        match self.replaces {
            // Before the old file goes, the new one must have arrived: the two may be the same.
            true => self.file.sync_all(),
            false => Ok(()),
        }
    }

    /// Gives it its name.
    pub(crate) fn finish(self) -> io::Result<()> {
        self.complete()?;
        publish(vec![self]).map_err(|failed| failed.source)
    }
}

/// Files of which one could not get its name.
#[derive(Debug)]
pub(crate) struct Unpublished {
    /// Which one.
    pub(crate) at: usize,
    pub(crate) source: io::Error,
    /// Those before it that were new, and are gone again.
    pub(crate) removed: Vec<PathBuf>,
    /// Those before it that have replaced others, or could not be removed.
    pub(crate) kept: Vec<PathBuf>,
}

/// Gives complete files their names: all of them, or (as far as the system allows) none.
pub(crate) fn publish(files: Vec<Pending>) -> Result<(), Unpublished> {
    // Held to the end, so that an interruption finds all of them or none.
    let mut unfinished = UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner);
    let mut published: Vec<(PathBuf, bool)> = Vec::new();
    let mut failed = None;
    for (at, mut file) in files.into_iter().enumerate() {
        let Some(path) = file.path.take() else { continue };
        unfinished.retain(|other| other != &*path);
        if failed.is_some() {
            // Dropping its path removes it.
            continue;
        }
        match path.persist(&file.target) {
            Ok(()) => published.push((file.target.clone(), file.replaces)),
            Err(error) => failed = Some((at, error.error)),
        }
    }
    let Some((at, source)) = failed else {
        APPEARED.fetch_or(!published.is_empty(), Ordering::SeqCst);
        return Ok(());
    };
    let gone = |(path, replaces): &(PathBuf, bool)| !replaces && fs::remove_file(path).is_ok();
    let (removed, kept): (Vec<_>, Vec<_>) = published.into_iter().partition(gone);
    let paths = |files: Vec<(PathBuf, bool)>| files.into_iter().map(|(path, _)| path).collect();
    Err(Unpublished { at, source, removed: paths(removed), kept: paths(kept) })
}

impl Drop for Pending {
    fn drop(&mut self) {
        if let Some(path) = self.path.take() {
            let mut unfinished = UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner);
            unfinished.retain(|other| other != &*path);
        }
    }
}

/// Gives a file this size with all its blocks, so that a full disk is an error now and not a
/// signal while mapped memory is written.
pub(crate) fn allocate(file: &File, len: u64) -> io::Result<()> {
    if len == 0 {
        return Ok(());
    }
    #[cfg(target_os = "linux")]
    {
        use rustix::fs::{FallocateFlags, fallocate};
        use rustix::io::Errno;
        match fallocate(file, FallocateFlags::empty(), 0, len) {
            Ok(()) => return Ok(()),
            // A file system that cannot: by hand.
            Err(Errno::OPNOTSUPP | Errno::NOSYS | Errno::INVAL) => {}
            Err(error) => return Err(error.into()),
        }
    }
    let mut zeros = io::Read::take(io::repeat(0), len);
    io::copy(&mut zeros, &mut BufWriter::with_capacity(1 << 20, file)).map(|_| ())
}

/// Lets `fill` write a temporary file beside `path`, then renames it over `path`.
///
/// A target that is no regular file (`/dev/null`, a pipe) is written to as it is; a symbolic
/// link is followed.
pub(crate) fn atomically(
    path: &Path,
    fill: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    let (target, replaces) = match Target::of(path)? {
        Target::File(target, replaces) => (target, replaces),
        Target::Device(device) => return fill_buffered(device, fill),
    };
    let pending = Pending::new(target, replaces)?;
    fill_buffered(pending.file(), fill)?;
    pending.finish()
}

/// Writes a text file, which appears under its name only when it is complete.
pub fn write_text(path: impl AsRef<Path>, text: &str) -> Result<(), Error> {
    let path = path.as_ref();
    atomically(path, |out| out.write_all(text.as_bytes()))
        .map_err(|source| Error::write(path, source))
}

/// Where a file that does not exist yet is to be made.
fn new_file(path: &Path) -> io::Result<PathBuf> {
    if path.file_name().is_none() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "the path names no file"));
    }
    Ok(path.to_owned())
}

fn temporary_in(folder: &Path) -> io::Result<NamedTempFile> {
    let mut builder = Builder::new();
    builder.prefix(".retrograde-").suffix(".tmp");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        // As any new file, less the umask; temporary files are private otherwise.
        builder.permissions(fs::Permissions::from_mode(0o666));
    }
    builder.tempfile_in(folder).map_err(systems_own)
}

/// The system's error without the name of a temporary file that nobody asked for.
fn systems_own(error: io::Error) -> io::Error {
    let named = error.get_ref().and_then(|named| named.source());
    match named.and_then(|source| source.downcast_ref::<io::Error>()?.raw_os_error()) {
        Some(code) => io::Error::from_raw_os_error(code),
        None => error,
    }
}

fn fill_buffered(
    file: impl Write,
    fill: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    let mut writer = BufWriter::new(file);
    fill(&mut writer)?;
    writer.flush()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).unwrap();
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
    }

    #[test]
    fn failure_leaves_the_old_file_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x");
        atomically(&path, |out| out.write_all(b"old")).unwrap();
        let failed = atomically(&path, |out| {
            out.write_all(b"new")?;
            Err(io::Error::other("no"))
        });
        assert!(failed.is_err());
        assert_eq!(fs::read(&path).unwrap(), b"old");
        assert_eq!(names(folder.path()), ["x"]);
    }

    #[test]
    fn abandoned_files_are_gone() {
        let folder = tempfile::tempdir().unwrap();
        let pending = Pending::new(folder.path().join("x"), false).unwrap();
        allocate(pending.file(), 1000).unwrap();
        assert_eq!(pending.file().metadata().unwrap().len(), 1000);
        let begun = pending.path.as_ref().unwrap().to_path_buf();
        assert!(begun.exists() && UNFINISHED.lock().unwrap().contains(&begun));
        // Not `abandon_outputs` itself, which would take the files of other tests along.
        drop(pending);
        assert!(!begun.exists() && !UNFINISHED.lock().unwrap().contains(&begun));
        assert!(names(folder.path()).is_empty());
    }

    #[test]
    fn names_are_given_together() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::write(at("old"), b"old").unwrap();
        let pending = |name: &str, replaces| {
            let pending = Pending::new(at(name), replaces).unwrap();
            pending.file().write_all(name.as_bytes()).unwrap();
            pending
        };
        let files = vec![
            pending("new", false),
            pending("old", true),
            pending("blocked", false),
            pending("never", false),
        ];
        // Something that cannot be replaced has come meanwhile.
        fs::create_dir_all(at("blocked/x")).unwrap();
        let failed = publish(files).unwrap_err();
        assert_eq!(failed.at, 2);
        assert_eq!((failed.removed, failed.kept), (vec![at("new")], vec![at("old")]));
        let mut left = names(folder.path());
        left.sort();
        assert_eq!(left, ["blocked", "old"]);
        assert_eq!(fs::read(at("old")).unwrap(), b"old");
        publish(vec![pending("a", false), pending("b", false)]).unwrap();
        assert_eq!(fs::read(at("b")).unwrap(), b"b");
        assert!(UNFINISHED.lock().unwrap().iter().all(|path| !path.starts_with(folder.path())));
    }

    #[test]
    fn impossible_targets_are_errors() {
        let folder = tempfile::tempdir().unwrap();
        for target in [folder.path().to_owned(), folder.path().join("no/x"), PathBuf::new()] {
            assert!(atomically(&target, |out| out.write_all(b"new")).is_err(), "{target:?}");
        }
        assert!(names(folder.path()).is_empty());
    }

    #[cfg(unix)]
    #[test]
    fn permissions_are_ordinary_links_are_followed_devices_stay() {
        use std::os::unix::fs::{FileTypeExt, PermissionsExt, symlink};
        let folder = tempfile::tempdir().unwrap();
        let (plain, target, link) =
            (folder.path().join("a"), folder.path().join("b"), folder.path().join("c"));
        File::create(&plain).unwrap();
        fs::write(&target, b"old").unwrap();
        symlink(&target, &link).unwrap();
        atomically(&link, |out| out.write_all(b"new")).unwrap();
        assert_eq!(fs::read(&target).unwrap(), b"new");
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        let mode = |path| fs::metadata(path).unwrap().permissions().mode();
        assert_eq!(mode(&target), mode(&plain));

        atomically(Path::new("/dev/null"), |out| out.write_all(b"new")).unwrap();
        assert!(fs::metadata("/dev/null").unwrap().file_type().is_char_device());
    }
}
