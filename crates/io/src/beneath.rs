//! Opens files below a folder, and none outside it, even if somebody exchanges files and links
//! meanwhile.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

/// Why a file below a folder is not opened.
#[derive(Debug)]
pub(crate) enum Refusal {
    /// Symbolic links lead out of the folder.
    Outside,
    /// A symbolic link took the place of a file or folder after it was found.
    #[cfg_attr(not(target_os = "linux"), expect(dead_code, reason = "only openat2 tells"))]
    Replaced,
    /// Any other error.
    Failed(io::Error),
}

impl From<io::Error> for Refusal {
    fn from(error: io::Error) -> Self {
        Refusal::Failed(error)
    }
}

/// A file that was found below a folder and is yet to be opened.
#[derive(Debug)]
pub(crate) struct Found {
    /// The folder itself, whatever its name leads to by now.
    #[cfg(target_os = "linux")]
    folder: rustix::fd::OwnedFd,
    /// From the folder, without symbolic links.
    #[cfg(target_os = "linux")]
    below: PathBuf,
    /// From the root, without symbolic links.
    path: PathBuf,
}

impl Found {
    /// Follows symbolic links, which may lead to other places in the folder only.
    pub(crate) fn of(folder: &Path, name: &Path) -> Result<Found, Refusal> {
        #[cfg(target_os = "linux")]
        let opened = {
            use rustix::fs::{Mode, OFlags, open};
            let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
            rustix::io::retry_on_intr(|| open(folder, flags, Mode::empty()))
                .map_err(io::Error::from)?
        };
        let path = folder.join(name).canonicalize()?;
        let whole = folder.canonicalize()?;
        let below = path.strip_prefix(&whole).map_err(|_| Refusal::Outside)?.to_owned();
        if below.as_os_str().is_empty() {
            return Err(io::Error::from(io::ErrorKind::IsADirectory).into());
        }
        Ok(Found {
            #[cfg(target_os = "linux")]
            folder: opened,
            #[cfg(target_os = "linux")]
            below,
            path,
        })
    }

    /// Its path, without symbolic links.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Opens it for reading. The path had no symbolic links, so none is followed: one in it was put
    /// there since.
    #[cfg(target_os = "linux")]
    pub(crate) fn open(&self) -> Result<File, Refusal> {
        use rustix::fs::{Mode, OFlags, ResolveFlags, openat2};
        use rustix::io::{Errno, retry_on_intr};
        let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS;
        match retry_on_intr(|| openat2(&self.folder, &self.below, flags, Mode::empty(), resolve)) {
            Ok(file) => Ok(file.into()),
            Err(Errno::LOOP | Errno::XDEV) => Err(Refusal::Replaced),
            // Kernels before 5.6 do not have the call, and some containers forbid it.
            Err(Errno::NOSYS | Errno::PERM) => Ok(crate::map::open(&self.path)?),
            Err(error) => Err(io::Error::from(error).into()),
        }
    }

    /// Opens it for reading, by its name: there is no call that follows no symbolic links.
    #[cfg(not(target_os = "linux"))]
    pub(crate) fn open(&self) -> Result<File, Refusal> {
        Ok(crate::map::open(&self.path)?)
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;
    use crate::racing::while_exchanged;
    use std::fs;
    use std::io::Read;
    use std::os::unix::fs::symlink;

    /// A folder `models` with `data/w`, links inside it and out of it, and `secret/w` beside it.
    fn folders() -> tempfile::TempDir {
        let root = tempfile::tempdir().unwrap();
        let at = |name: &str| root.path().join(name);
        fs::create_dir_all(at("models/data")).unwrap();
        fs::create_dir(at("secret")).unwrap();
        fs::write(at("models/data/w"), b"inside").unwrap();
        fs::write(at("secret/w"), b"secret").unwrap();
        symlink("data/w", at("models/near")).unwrap();
        symlink(at("models/data"), at("models/absolute")).unwrap();
        symlink(at("secret/w"), at("models/far")).unwrap();
        symlink("../secret", at("models/up")).unwrap();
        symlink("models", at("alias")).unwrap();
        root
    }

    /// Whether the kernel, or an emulator in its place, has the call that follows no links.
    fn follows_no_links(folder: &Path) -> bool {
        use rustix::fs::{CWD, Mode, OFlags, ResolveFlags, openat2};
        let opened =
            openat2(CWD, folder, OFlags::RDONLY, Mode::empty(), ResolveFlags::empty()).is_ok();
        if !opened {
            println!("skipped: no openat2 here");
        }
        opened
    }

    fn content(found: &Found) -> Result<String, Refusal> {
        let mut text = String::new();
        found.open()?.read_to_string(&mut text)?;
        Ok(text)
    }

    #[test]
    fn links_may_lead_inside_the_folder_only() {
        let root = folders();
        for folder in ["models", "alias"].map(|name| root.path().join(name)) {
            for name in ["data/w", "./data/w", "near", "absolute/w"] {
                let found = Found::of(&folder, Path::new(name)).unwrap();
                assert_eq!(content(&found).unwrap(), "inside", "{name}");
            }
            for name in ["far", "up/w"] {
                let refused = Found::of(&folder, Path::new(name)).unwrap_err();
                assert!(matches!(refused, Refusal::Outside), "{name}: {refused:?}");
            }
            for name in [".", "none"] {
                let refused = Found::of(&folder, Path::new(name)).unwrap_err();
                assert!(matches!(refused, Refusal::Failed(_)), "{name}: {refused:?}");
            }
        }
    }

    #[test]
    fn a_link_that_takes_the_place_of_a_file_is_not_followed() {
        let root = folders();
        if !follows_no_links(root.path()) {
            return;
        }
        let (models, data) = (root.path().join("models"), root.path().join("models/data"));
        let found = Found::of(&models, Path::new("data/w")).unwrap();
        fs::remove_file(data.join("w")).unwrap();
        symlink("../../secret/w", data.join("w")).unwrap();
        assert!(matches!(content(&found), Err(Refusal::Replaced)));
        // The folder that it is in.
        fs::rename(&data, root.path().join("gone")).unwrap();
        symlink("../secret", &data).unwrap();
        assert!(matches!(content(&found), Err(Refusal::Replaced)));
        // The whole folder: the file is still looked for in the one that it was found in.
        fs::rename(&models, root.path().join("moved")).unwrap();
        fs::create_dir_all(&data).unwrap();
        fs::write(data.join("w"), b"another").unwrap();
        assert!(matches!(content(&found), Err(Refusal::Replaced)));
    }

    #[test]
    fn links_that_change_all_the_time_never_lead_out() {
        let root = folders();
        if !follows_no_links(root.path()) {
            return;
        }
        let (models, data) = (root.path().join("models"), root.path().join("models/data"));
        let link = root.path().join("link");
        symlink("../secret", &link).unwrap();
        while_exchanged(&data, &link, || {
            for _ in 0..5000 {
                let found = Found::of(&models, Path::new("data/w"));
                if let Ok(text) = found.and_then(|found| content(&found)) {
                    assert_eq!(text, "inside");
                }
            }
        });
    }
}
