//! Copies the metadata of a replaced file to its successor: permissions, owner, access control
//! lists and extended attributes.

use std::fs::{self, File};
use std::io;
use std::path::Path;

/// Copies the metadata of the file at `old` to `new`. If this user may not set the owner or the
/// group, the permissions that depend on it are dropped too.
#[cfg(unix)]
pub(super) fn inherit(old: &Path, new: &File) -> io::Result<()> {
    use std::os::unix::fs::{MetadataExt, PermissionsExt};
    let found = fs::metadata(old)?;
    let (user_kept, group_kept) = own(new, found.uid(), found.gid())?;
    let mut mode = found.mode() & 0o7777;
    if !user_kept || !group_kept {
        // Setuid and setgid would grant the rights of another user.
        mode &= 0o1777;
    }
    if !group_kept {
        // The new group gets only what everybody has.
        mode = mode & !0o070 | mode & (mode << 3) & 0o070;
    }
    new.set_permissions(fs::Permissions::from_mode(mode))?;
    extended(old, new)
}

#[cfg(not(unix))]
pub(super) fn inherit(old: &Path, new: &File) -> io::Result<()> {
    new.set_permissions(fs::metadata(old)?.permissions())
}

/// Sets user and group, and returns which of them could be set.
#[cfg(unix)]
fn own(file: &File, user: u32, group: u32) -> io::Result<(bool, bool)> {
    use std::os::unix::fs::{MetadataExt, fchown};
    let now = file.metadata()?;
    let (mut user_kept, mut group_kept) = (now.uid() == user, now.gid() == group);
    let refused = |error: &io::Error| error.kind() == io::ErrorKind::PermissionDenied;
    if !group_kept {
        group_kept = match fchown(file, None, Some(group)) {
            Err(error) if refused(&error) => false,
            result => result.map(|()| true)?,
        };
    }
    if !user_kept {
        user_kept = match fchown(file, Some(user), None) {
            Err(error) if refused(&error) => false,
            result => result.map(|()| true)?,
        };
    }
    Ok((user_kept, group_kept))
}

/// The name of the attribute that holds the access control list.
#[cfg(any(target_os = "linux", target_os = "android"))]
const ACL: &str = "system.posix_acl_access";

/// Copies extended attributes, which on Linux include access control lists.
#[cfg(any(target_os = "linux", target_os = "android", target_vendor = "apple"))]
fn extended(old: &Path, new: &File) -> io::Result<()> {
    use rustix::fs::{XattrFlags, fgetxattr, fremovexattr, fsetxattr, getxattr, listxattr};
    use rustix::io::{Errno, retry_on_intr};
    let list = |buffer: &mut [u8]| retry_on_intr(|| listxattr(old, &mut *buffer));
    let names = match grown(list) {
        Err(Errno::OPNOTSUPP | Errno::NOSYS) => return Ok(()),
        names => names?,
    };
    let names: Vec<&[u8]> =
        names.split(|&byte| byte == 0).filter(|name| !name.is_empty() && is_kept(name)).collect();
    #[cfg(any(target_os = "linux", target_os = "android"))]
    if !names.contains(&ACL.as_bytes()) {
        // A new file may have inherited one from its folder.
        match retry_on_intr(|| fremovexattr(new, ACL)) {
            Ok(()) | Err(Errno::NODATA | Errno::OPNOTSUPP | Errno::NOSYS) => {}
            Err(error) => return Err(error.into()),
        }
    }
    #[cfg(target_vendor = "apple")]
    let _ = fremovexattr::<&File, &str>;
    for name in names {
        let get = |buffer: &mut [u8]| retry_on_intr(|| getxattr(old, name, &mut *buffer));
        let value = match grown(get) {
            // Removed meanwhile, or not readable by us.
            Err(Errno::NODATA | Errno::ACCESS | Errno::PERM) if is_systems(name) => continue,
            value => value?,
        };
        let get = |buffer: &mut [u8]| retry_on_intr(|| fgetxattr(new, name, &mut *buffer));
        if grown(get).is_ok_and(|own| own == value) {
            continue;
        }
        match retry_on_intr(|| fsetxattr(new, name, &value, XattrFlags::empty())) {
            Ok(()) => {}
            Err(Errno::ACCESS | Errno::PERM | Errno::OPNOTSUPP) if is_systems(name) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}

#[cfg(all(unix, not(any(target_os = "linux", target_os = "android", target_vendor = "apple"))))]
fn extended(_: &Path, _: &File) -> io::Result<()> {
    Ok(())
}

/// Whether an attribute describes the file itself, not its content or its use as a program
/// (`security.capability`, `security.ima`, `security.evm`).
#[cfg(any(target_os = "linux", target_os = "android", target_vendor = "apple"))]
fn is_kept(name: &[u8]) -> bool {
    !name.starts_with(b"security.") || name == b"security.selinux"
}

/// Whether only a privileged process may set it.
#[cfg(any(target_os = "linux", target_os = "android", target_vendor = "apple"))]
fn is_systems(name: &[u8]) -> bool {
    name.starts_with(b"security.") || name.starts_with(b"trusted.")
}

/// Calls with growing buffers until the result fits.
#[cfg(any(target_os = "linux", target_os = "android", target_vendor = "apple"))]
fn grown(call: impl Fn(&mut [u8]) -> rustix::io::Result<usize>) -> rustix::io::Result<Vec<u8>> {
    let mut buffer = vec![0; 256];
    loop {
        match call(&mut buffer) {
            Ok(len) => {
                buffer.truncate(len);
                return Ok(buffer);
            }
            // Linux limits values to 64 KiB.
            Err(rustix::io::Errno::RANGE) if buffer.len() < 1 << 24 => {
                buffer = vec![0; buffer.len() * 4];
            }
            Err(error) => return Err(error),
        }
    }
}
