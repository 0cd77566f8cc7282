//! Files are complete or absent; attributes of replaced files; files that may not be replaced.

use super::temporary::Temporary;
use super::*;
use std::fs;
use std::path::PathBuf;

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let mut names: Vec<_> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

fn write(path: &Path, text: &str, saving: &Saving) -> Result<(), Error> {
    write_text(path, text, saving)
}

fn saved(path: &Path, text: &str) -> Result<(), Error> {
    write(path, text, &Saving::default())
}

#[test]
fn failure_leaves_the_old_file_and_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x");
    saved(&path, "old").unwrap();
    let failed = atomically(&path, &Saving::default(), |out| {
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
    // Not `abandon_outputs` itself, which would also remove the files of other tests.
    drop(pending);
    assert!(names(folder.path()).is_empty());
}

#[test]
#[cfg(target_os = "linux")]
fn a_file_has_no_name_before_it_is_complete() {
    let folder = tempfile::tempdir().unwrap();
    let pending = Pending::new(folder.path().join("x"), false).unwrap();
    pending.file().write_all(b"new").unwrap();
    assert!(names(folder.path()).is_empty());
    pending.finish().unwrap();
    assert_eq!(fs::read(folder.path().join("x")).unwrap(), b"new");
}

/// As a process has them that another thread forks meanwhile.
#[cfg(unix)]
#[test]
fn copies_of_descriptors_keep_no_lock() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x");
    for name in ["new", "its successor"] {
        let pending = Pending::new(path.clone(), path.exists()).unwrap();
        pending.file().write_all(name.as_bytes()).unwrap();
        let copy = pending.file().try_clone().unwrap();
        pending.finish().unwrap();
        File::open(&path).unwrap().try_lock().unwrap();
        drop(copy);
    }
}

#[test]
fn names_are_given_together() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    fs::write(at("old"), b"as it was").unwrap();
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
    // Something that cannot be replaced has appeared meanwhile.
    fs::create_dir_all(at("blocked/x")).unwrap();
    let failed = publish(files).unwrap_err();
    assert_eq!((failed.at, failed.removed), (2, vec![at("new")]));
    if failed.kept.is_empty() {
        assert_eq!(fs::read(at("old")).unwrap(), b"as it was");
    } else {
        // A system that cannot swap names.
        assert_eq!(failed.kept, [at("old")]);
    }
    assert_eq!(failed.kept.is_empty(), cfg!(target_os = "linux"));
    assert_eq!(names(folder.path()), ["blocked", "old"]);
    publish(vec![pending("a", false), pending("b", false), pending("old", true)]).unwrap();
    assert_eq!(fs::read(at("b")).unwrap(), b"b");
    assert_eq!(fs::read(at("old")).unwrap(), b"old");
    assert_eq!(names(folder.path()), ["a", "b", "blocked", "old"]);
}

#[test]
fn a_new_file_replaces_none_that_came_meanwhile() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x");
    let pending = Pending::new(path.clone(), false).unwrap();
    fs::write(&path, b"somebody's").unwrap();
    let error = pending.finish().unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::AlreadyExists);
    assert_eq!(fs::read(&path).unwrap(), b"somebody's");
    assert_eq!(names(folder.path()), ["x"]);
}

#[test]
fn impossible_targets_are_errors() {
    let folder = tempfile::tempdir().unwrap();
    for target in [folder.path().to_owned(), folder.path().join("no/x"), PathBuf::new()] {
        assert!(saved(&target, "new").is_err(), "{target:?}");
    }
    assert!(names(folder.path()).is_empty());
}

#[test]
fn temporary_files_of_dead_processes_are_removed_and_of_living_ones_are_not() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    fs::write(at(".retrograde-dead00.tmp"), b"left over").unwrap();
    fs::write(at(".retrograde-notes"), b"somebody's").unwrap();
    fs::create_dir(at(".retrograde-folder.tmp")).unwrap();
    let mut living = Temporary::new(folder.path(), true).unwrap();
    let living = living.make_name().unwrap().to_owned();
    assert!(living.exists() && !at(".retrograde-dead00.tmp").exists());
    fs::write(at(".retrograde-dead01.tmp"), b"left over").unwrap();
    // Locked, as if by another process.
    let locked = fs::File::create(at(".retrograde-alive0.tmp")).unwrap();
    locked.lock().unwrap();
    saved(&at("x"), "new").unwrap();
    let own = living.file_name().unwrap().to_str();
    let mut left = names(folder.path());
    left.retain(|name| Some(name.as_str()) != own);
    assert_eq!(
        left,
        [".retrograde-alive0.tmp", ".retrograde-folder.tmp", ".retrograde-notes", "x"]
    );
}

#[cfg(unix)]
mod unix {
    use super::*;
    use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt, symlink};

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).unwrap().mode() & 0o7777
    }

    fn chmod(path: &Path, mode: u32) {
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    }

    #[test]
    fn links_are_followed_and_devices_stay() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::write(at("target"), b"old").unwrap();
        symlink(at("target"), at("link")).unwrap();
        fs::create_dir(at("below")).unwrap();
        symlink("below/new", at("dangling")).unwrap();
        symlink("dangling", at("further")).unwrap();
        symlink("circle", at("circle")).unwrap();
        for (link, target) in [("link", "target"), ("further", "below/new")] {
            saved(&at(link), "new").unwrap();
            assert_eq!(fs::read(at(target)).unwrap(), b"new");
            assert!(fs::symlink_metadata(at(link)).unwrap().is_symlink(), "{link}");
        }
        assert!(fs::symlink_metadata(at("dangling")).unwrap().is_symlink());
        assert!(saved(&at("circle"), "new").is_err());
        saved(Path::new("/dev/null"), "new").unwrap();
        assert!(fs::metadata("/dev/null").unwrap().file_type().is_char_device());
    }

    #[test]
    fn a_file_that_takes_the_name_of_a_device_is_not_written_over() {
        use crate::racing::while_exchanged;
        use crate::save::target::Target;
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::write(at("file"), b"old").unwrap();
        symlink("/dev/null", at("x")).unwrap();
        while_exchanged(&at("x"), &at("file"), || {
            for _ in 0..20_000 {
                if let Ok(Target::Device(device)) = Target::of(&at("x"), &Saving::default()) {
                    assert!(device.metadata().unwrap().file_type().is_char_device());
                }
            }
        });
    }

    #[test]
    fn new_files_follow_the_umask_and_replaced_ones_keep_their_mode() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        File::create(at("plain")).unwrap();
        saved(&at("new"), "new").unwrap();
        assert_eq!(mode(&at("new")), mode(&at("plain")));
        for kept in [0o600, 0o640, 0o666, 0o700, 0o4755, 0o2710] {
            chmod(&at("new"), kept);
            saved(&at("new"), "newer").unwrap();
            assert_eq!(mode(&at("new")), kept, "{kept:o}");
        }
    }

    #[test]
    fn what_replaces_a_private_file_is_never_public() {
        let folder = tempfile::tempdir().unwrap();
        let private = Temporary::new(folder.path(), true).unwrap();
        assert_eq!(private.file.metadata().unwrap().mode() & 0o077, 0);
    }

    #[test]
    fn read_only_files_stay_unless_forced() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x");
        fs::write(&path, b"old").unwrap();
        chmod(&path, 0o444);
        let refused = saved(&path, "new").unwrap_err();
        assert!(matches!(refused, Error::ReadOnly { .. }), "{refused}");
        assert_eq!(fs::read(&path).unwrap(), b"old");
        write(&path, "new", &Saving { force: true, ..Saving::default() }).unwrap();
        assert_eq!((fs::read(&path).unwrap(), mode(&path)), (b"new".to_vec(), 0o444));
    }

    #[test]
    fn inputs_stay_whatever_they_are_called() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::write(at("x"), b"old").unwrap();
        fs::hard_link(at("x"), at("hard")).unwrap();
        symlink("x", at("soft")).unwrap();
        let saving = Saving { force: true, ..Saving::default() };
        saving.keep.add(at("x"));
        for name in ["x", "hard", "soft"] {
            let refused = write(&at(name), "new", &saving).unwrap_err();
            assert!(matches!(refused, Error::IsInput { .. }), "{name}: {refused}");
            assert_eq!(fs::read(at("x")).unwrap(), b"old");
        }
        write(&at("y"), "new", &saving).unwrap();
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn extended_attributes_and_owners_are_kept() {
        use rustix::fs::{XattrFlags, getxattr, setxattr};
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x");
        fs::write(&path, b"old").unwrap();
        let value = vec![7u8; 1000];
        match setxattr(&path, "user.retrograde", &value, XattrFlags::empty()) {
            Err(rustix::io::Errno::OPNOTSUPP) => {
                eprintln!("skipped: the file system has no extended attributes");
                return;
            }
            result => result.unwrap(),
        }
        // The owner, another user and nobody else, as setfacl would write it: version 2, then
        // entries of tag, permissions and id.
        let entry = |tag: u16, permissions: u16, id: u32| {
            [&tag.to_le_bytes()[..], &permissions.to_le_bytes(), &id.to_le_bytes()].concat()
        };
        let acl = [
            2u32.to_le_bytes().to_vec(),
            entry(0x01, 6, u32::MAX),
            entry(0x02, 4, 12345),
            entry(0x04, 0, u32::MAX),
            entry(0x10, 4, u32::MAX),
            entry(0x20, 0, u32::MAX),
        ]
        .concat();
        let with_acl =
            setxattr(&path, "system.posix_acl_access", &acl, XattrFlags::empty()).is_ok();
        // Only root can change the owner of a file.
        let given = std::os::unix::fs::chown(&path, Some(12345), Some(12346)).is_ok();
        let before = fs::metadata(&path).unwrap();
        saved(&path, "new").unwrap();
        let get = |name: &str| {
            let mut value = vec![0; 4096];
            getxattr(&path, name, &mut value[..]).map(|len| value[..len].to_vec())
        };
        assert_eq!(get("user.retrograde").unwrap(), value);
        if with_acl {
            assert_eq!(get("system.posix_acl_access").unwrap(), acl);
        }
        let after = fs::metadata(&path).unwrap();
        assert_eq!((after.uid(), after.gid()), (before.uid(), before.gid()));
        assert_eq!(after.mode(), before.mode());
        assert_eq!(given, after.uid() == 12345);
    }
}

/// On file systems and systems without `fallocate`.
#[test]
fn blocks_that_were_allocated_by_writing_are_written_again() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x");
    let mut file = File::create(&path).unwrap();
    write_zeros(&file, 5).unwrap();
    assert_eq!(fs::read(&path).unwrap(), [0; 5]);
    file.write_all(b"first").unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"first");
}
