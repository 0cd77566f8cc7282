//! Writing a file so that it is either complete or not there at all.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use tempfile::{Builder, NamedTempFile};

/// Lets `fill` write a temporary file beside `path`, then renames it over `path`.
///
/// A target that is no regular file (`/dev/null`, a pipe) is written to as it is, since a
/// rename would replace it; a symbolic link is followed.
pub(crate) fn atomically(
    path: &Path,
    fill: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    let target = match fs::metadata(path) {
        Ok(found) if found.is_file() => fs::canonicalize(path)?,
        Ok(found) if found.is_dir() => return Err(io::ErrorKind::IsADirectory.into()),
        Ok(_) => return fill_buffered(File::options().write(true).open(path)?, fill),
        Err(error) if error.kind() == io::ErrorKind::NotFound => new_file(path)?,
        Err(error) => return Err(error),
    };
    let folder = match target.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    let temporary = temporary_in(folder)?;
    fill_buffered(temporary.as_file(), fill)?;
    // Before the old file goes, the new one must have arrived: the two may be the same.
    temporary.as_file().sync_all()?;
    temporary.persist(target).map_err(|failed| failed.error)?;
    Ok(())
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
