//! A file that is being written. On Linux it has no name until it is complete, so that even `kill
//! -9` leaves nothing behind. Where the file system does not support that, it has a temporary name.
//!
//! A temporary name belongs to a process for as long as the process holds the file's lock. Unlocked
//! files with such names are left over from processes that died, and are removed.

use crate::unlocking::Unlocking;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use tempfile::{Builder, TempPath};

const PREFIX: &str = ".retrograde-";
const SUFFIX: &str = ".tmp";
/// The most directory entries to search for files that were left over.
const MOST_ENTRIES: usize = 1 << 16;

/// A file without its final name.
#[derive(Debug)]
pub(super) struct Temporary {
    pub(super) file: Unlocking,
    folder: PathBuf,
    /// Removed on drop.
    name: Option<TempPath>,
}

impl Temporary {
    /// Creates a file. A private one is readable by its owner only; the permissions of a public one
    /// follow the umask.
    pub(super) fn new(folder: &Path, private: bool) -> io::Result<Temporary> {
        remove_left_over(folder);
        let folder = folder.to_owned();
        if let Some(file) = nameless(&folder, private)? {
            return Ok(Temporary { file: Unlocking(file), folder, name: None });
        }
        loop {
            let (file, name) = named(&folder, private)?.into_parts();
            let file = Unlocking(file);
            if owned(&file, &name)? {
                return Ok(Temporary { file, folder, name: Some(name) });
            }
        }
    }

    /// The temporary name, if it currently has one.
    pub(super) fn name(&self) -> Option<&Path> {
        self.name.as_deref()
    }

    /// Gives it a temporary name, if it has none.
    pub(super) fn make_name(&mut self) -> io::Result<&Path> {
        if self.name.is_none() {
            // Locked first, so that no other process considers the name left over.
            owned(&self.file, &self.folder)?;
            let name = builder(false).make_in(&self.folder, |path| link(&self.file, path));
            self.name = Some(name.map_err(without_path)?.into_temp_path());
        }
        self.name().ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    /// Gives it a name; fails if a file of that name exists.
    pub(super) fn appear(mut self, target: &Path) -> io::Result<()> {
        match self.name.take() {
            Some(name) => name.persist_noclobber(target).map_err(|error| error.error),
            None => link(&self.file, target),
        }
    }

    /// Gives it the name of another file, which is replaced.
    pub(super) fn replace(mut self, target: &Path) -> io::Result<()> {
        self.make_name()?;
        match self.name.take() {
            Some(name) => name.persist(target).map_err(|error| error.error),
            None => Err(io::ErrorKind::NotFound.into()),
        }
    }

    /// Swaps names with another file; a second call undoes it. `None` if the system does not
    /// support that.
    pub(super) fn trade(&mut self, target: &Path) -> io::Result<Option<()>> {
        self.make_name()?;
        #[cfg(target_os = "linux")]
        {
            use rustix::fs::{CWD, RenameFlags, renameat_with};
            use rustix::io::{Errno, retry_on_intr};
            let Some(name) = self.name() else { return Ok(None) };
            let traded =
                retry_on_intr(|| renameat_with(CWD, name, CWD, target, RenameFlags::EXCHANGE));
            match traded {
                Ok(()) => Ok(Some(())),
                Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) => Ok(None),
                Err(error) => Err(error.into()),
            }
        }
        #[cfg(not(target_os = "linux"))]
        {
            let _ = target;
            Ok(None)
        }
    }
}

/// A file without a name; `None` if the system does not support that.
#[cfg(target_os = "linux")]
fn nameless(folder: &Path, private: bool) -> io::Result<Option<File>> {
    use rustix::fs::{Mode, OFlags, open};
    use rustix::io::{Errno, retry_on_intr};
    // `linkat` needs it to give the file a name.
    if !Path::new("/proc/self/fd").is_dir() {
        return Ok(None);
    }
    let flags = OFlags::TMPFILE | OFlags::RDWR | OFlags::CLOEXEC;
    let mode = Mode::from_raw_mode(mode(private));
    match retry_on_intr(|| open(folder, flags, mode)) {
        Ok(file) => Ok(Some(file.into())),
        // The file system does not support it, or the kernel interprets the flag as `O_DIRECTORY`.
        Err(Errno::OPNOTSUPP | Errno::ISDIR | Errno::INVAL | Errno::NOENT) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

#[cfg(not(target_os = "linux"))]
fn nameless(_: &Path, _: bool) -> io::Result<Option<File>> {
    Ok(None)
}

/// Gives an unnamed file a name; fails if a file of that name exists.
#[cfg(target_os = "linux")]
fn link(file: &File, path: &Path) -> io::Result<()> {
    use rustix::fs::{AtFlags, CWD, linkat};
    use std::os::fd::AsRawFd;
    let own = format!("/proc/self/fd/{}", file.as_raw_fd());
    let linked =
        rustix::io::retry_on_intr(|| linkat(CWD, own.as_str(), CWD, path, AtFlags::SYMLINK_FOLLOW));
    Ok(linked?)
}

#[cfg(not(target_os = "linux"))]
fn link(_: &File, _: &Path) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

fn named(folder: &Path, private: bool) -> io::Result<tempfile::NamedTempFile> {
    builder(private).tempfile_in(folder).map_err(without_path)
}

fn builder(private: bool) -> Builder<'static, 'static> {
    let mut builder = Builder::new();
    builder.prefix(PREFIX).suffix(SUFFIX);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        builder.permissions(fs::Permissions::from_mode(mode(private)));
    }
    #[cfg(not(unix))]
    let _ = private;
    builder
}

/// The permissions of any new file, before the umask applies.
#[cfg(unix)]
fn mode(private: bool) -> u32 {
    if private { 0o600 } else { 0o666 }
}

/// Takes the lock. False if another process considered the file left over and removed it before it
/// was locked.
fn owned(file: &File, name: &Path) -> io::Result<bool> {
    loop {
        match file.lock() {
            Ok(()) => break,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            // A file system without locks: no other process can lock it either, so none removes it.
            Err(error) if has_no_locks(&error) => return Ok(true),
            Err(error) => return Err(error),
        }
    }
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        let _ = name;
        Ok(file.metadata()?.nlink() > 0)
    }
    #[cfg(not(unix))]
    Ok(name.exists())
}

/// Whether the error means that the file system does not support locks.
pub(crate) fn has_no_locks(error: &io::Error) -> bool {
    #[cfg(unix)]
    let without_server = error.raw_os_error() == Some(libc::ENOLCK);
    #[cfg(not(unix))]
    let without_server = false;
    error.kind() == io::ErrorKind::Unsupported || without_server
}

/// Removes temporary files of processes that died. Files that cannot be inspected or removed stay.
fn remove_left_over(folder: &Path) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.take(MOST_ENTRIES).flatten() {
        let name = entry.file_name();
        let Some(name) = name.to_str() else { continue };
        let ours = name.starts_with(PREFIX) && name.ends_with(SUFFIX);
        if ours && entry.file_type().is_ok_and(|kind| kind.is_file()) {
            let _ = remove_if_left_over(&entry.path());
        }
    }
}

fn remove_if_left_over(path: &Path) -> io::Result<()> {
    let mut options = File::options();
    options.read(true).write(true);
    #[cfg(unix)]
    {
        use rustix::fs::OFlags;
        use std::os::unix::fs::OpenOptionsExt;
        // Another kind of file may have taken the name meanwhile.
        options.custom_flags((OFlags::NOFOLLOW | OFlags::NONBLOCK).bits() as i32);
    }
    let file = options.open(path)?;
    // If it is locked, its process is alive.
    file.try_lock()?;
    fs::remove_file(path)
}

/// The system's error, without the name of the temporary file.
fn without_path(error: io::Error) -> io::Error {
    let named = error.get_ref().and_then(|named| named.source());
    match named.and_then(|source| source.downcast_ref::<io::Error>()?.raw_os_error()) {
        Some(code) => io::Error::from_raw_os_error(code),
        None => error,
    }
}
