//! Edits a tensor in its file, without a second file.

use crate::element::ElementType;
use crate::error::Error;
use crate::format::{Format, Location};
use crate::identity::FileId;
use crate::map::Registered;
use crate::open::{Opening, open};
use crate::save::{Saving, has_no_locks, refuse_read_only};
use crate::unlocking::Unlocking;
use memmap2::MmapMut;
use retrograde::Layout;
use std::fs::{File, TryLockError};
use std::io;

/// A tensor whose memory is the mapped file itself, opened for writing.
///
/// There is no rollback: if the process stops halfway, the file is left half changed. The file is
/// locked until then (`flock` on Unix), so that no other [`Edit`] changes it at the same time.
#[derive(Debug)]
pub struct Edit {
    // Declared before the memory, so dropped first: the addresses may be reused once the map is
    // gone.
    _registered: Registered,
    /// Holds the lock.
    _file: Unlocking,
    location: Location,
    element: ElementType,
    layout: Layout,
    memory: MmapMut,
    start: usize,
}

impl Edit {
    /// Opens an `.npy` or raw file for editing. `saving` says whether that is allowed; its format
    /// is ignored.
    pub fn open(location: &Location, opening: &Opening, saving: &Saving) -> Result<Edit, Error> {
        let path = location.path.clone();
        let failed = |error| Error::write(&path, error);
        if location.is_stream() {
            return Err(Error::NotRegular { path });
        }
        // Checked before it is opened: opening a pipe would block until somebody writes to it.
        let found = path.metadata().map_err(|error| Error::read(&path, error))?;
        if !found.is_file() {
            return Err(Error::NotRegular { path });
        }
        let id = FileId::with(&path, &found);
        if let Some(input) = id.as_ref().and_then(|id| saving.keep.find_id(id)) {
            return Err(Error::IsInput { path, input });
        }
        if !saving.force {
            refuse_read_only(&path, &found)?;
        }
        // Editing changes elements only, so the header can be read before the file is locked. On
        // Windows it could not be read afterwards.
        let tensor = open(location, opening)?;
        let format = tensor.format();
        if !matches!(format, Format::Npy | Format::Raw) {
            return Err(Error::NotInPlace { path, format });
        }
        let file = File::options().read(true).write(true).open(&path).map_err(failed)?;
        let changed = || failed(io::Error::other("the file changed while it was being opened"));
        // What was checked above is this file, and not another that took its name.
        let opened = file.metadata().map_err(failed)?;
        if FileId::with(&path, &opened) != id {
            return Err(changed());
        }
        match file.try_lock() {
            Err(TryLockError::WouldBlock) => return Err(Error::Locked { path }),
            // A file system without locks.
            Err(TryLockError::Error(error)) if has_no_locks(&error) => {}
            Err(TryLockError::Error(error)) => return Err(failed(error)),
            Ok(()) => {}
        }
        let file = Unlocking(file);
        // SAFETY: the memory is bytes of any value. A process that writes to the file meanwhile
        // (the lock excludes only other edits) changes what is read; one that truncates it stops
        // this process with a signal.
        let memory = unsafe { MmapMut::map_mut(&*file) }.map_err(failed)?;
        // The data of both formats is the end of the file.
        let start = memory.len().checked_sub(tensor.layout().byte_len()).ok_or_else(changed)?;
        let (element, layout) = (tensor.element_type().clone(), tensor.layout().clone());
        let (location, _registered) = (location.clone(), Registered::new(&memory, &path));
        Ok(Edit { _registered, _file: file, location, element, layout, memory, start })
    }

    /// Its location.
    pub fn location(&self) -> &Location {
        &self.location
    }

    /// Its element type.
    pub fn element_type(&self) -> &ElementType {
        &self.element
    }

    /// The layout of the elements in the data.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// The elements.
    pub fn data(&self) -> &[u8] {
        &self.memory[self.start..]
    }

    /// The elements, for writing.
    pub fn data_mut(&mut self) -> &mut [u8] {
        &mut self.memory[self.start..]
    }

    /// Flushes all changes to disk before it returns.
    pub fn finish(self) -> Result<(), Error> {
        self.memory.flush().map_err(|error| Error::write(&self.location.path, error))
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use crate::racing::while_exchanged;
    use retrograde::DType;
    use std::fs;

    /// As a process has them that another thread forks meanwhile.
    #[test]
    fn copies_of_descriptors_keep_no_lock() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.bin");
        fs::write(&path, [1]).unwrap();
        let opening =
            Opening { dtype: Some(DType::U8), shape: Some(vec![1]), ..Opening::default() };
        let edit = || Edit::open(&Location::file(path.clone()), &opening, &Saving::default());
        let first = edit().unwrap();
        let copy = first._file.try_clone().unwrap();
        assert!(matches!(edit().unwrap_err(), Error::Locked { .. }));
        drop(first);
        edit().unwrap();
        drop(copy);
    }

    #[test]
    fn a_file_that_takes_the_name_meanwhile_is_not_edited() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::write(at("x.bin"), [1]).unwrap();
        fs::write(at("input"), [2]).unwrap();
        let location = Location::file(at("x.bin"));
        let opening =
            Opening { dtype: Some(DType::U8), shape: Some(vec![1]), ..Opening::default() };
        let saving = Saving::default();
        saving.keep.add(at("input"));
        let edited =
            || Edit::open(&location, &opening, &saving).map(|mut edit| edit.data_mut().to_vec());
        while_exchanged(&at("x.bin"), &at("input"), || {
            for _ in 0..3000 {
                if let Ok(data) = edited() {
                    assert_eq!(data, [1], "the input is edited");
                }
            }
        });
        assert_eq!(edited().unwrap(), [1]);
    }
}
