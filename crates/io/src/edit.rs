//! Changing a tensor in its file, without a second file.

use crate::element::ElementType;
use crate::error::Error;
use crate::format::{Format, Location};
use crate::map::Registered;
use crate::open::{Opening, open};
use crate::save::{Saving, has_no_locks, refuse_read_only};
use memmap2::MmapMut;
use retrograde::Layout;
use std::fs::{File, TryLockError};
use std::io;

/// A tensor whose memory is the file itself, to be changed.
///
/// There is no way back: whoever stops halfway leaves a file that is half changed. The file is
/// locked meanwhile (`flock` on Unix), so that no other [`Edit`] changes it too.
#[derive(Debug)]
pub struct Edit {
    // Before the memory: that may be somebody else's as soon as the map is gone.
    _registered: Registered,
    /// Holds the lock.
    _file: File,
    location: Location,
    element: ElementType,
    layout: Layout,
    memory: MmapMut,
    start: usize,
}

impl Edit {
    /// Opens an `.npy` or raw file to change it. `saving` says whether that is allowed; its
    /// format has no meaning here.
    pub fn open(location: &Location, opening: &Opening, saving: &Saving) -> Result<Edit, Error> {
        let path = location.path.clone();
        let failed = |error| Error::write(&path, error);
        if location.is_stream() {
            return Err(Error::NotRegular { path });
        }
        // Before it is opened: opening a pipe would wait for whoever writes to it.
        let found = path.metadata().map_err(|error| Error::read(&path, error))?;
        if !found.is_file() {
            return Err(Error::NotRegular { path });
        }
        if let Some(input) = saving.keep.find(&path) {
            return Err(Error::IsInput { path, input });
        }
        if !saving.force {
            refuse_read_only(&path, &found)?;
        }
        // Only elements change in place, so the header can be read ahead of the lock; behind it
        // Windows would refuse to.
        let tensor = open(location, opening)?;
        let format = tensor.format();
        if !matches!(format, Format::Npy | Format::Raw) {
            return Err(Error::NotInPlace { path, format });
        }
        let file = File::options().read(true).write(true).open(&path).map_err(failed)?;
        match file.try_lock() {
            Err(TryLockError::WouldBlock) => return Err(Error::Locked { path }),
            // A file system without locks.
            Err(TryLockError::Error(error)) if has_no_locks(&error) => {}
            Err(TryLockError::Error(error)) => return Err(failed(error)),
            Ok(()) => {}
        }
        // SAFETY: the memory is bytes of any value. Whoever writes to the file meanwhile (the
        // lock keeps only other edits away) changes what is read, and whoever shortens it stops
        // this process.
        let memory = unsafe { MmapMut::map_mut(&file) }.map_err(failed)?;
        // The data of both formats is the end of the file.
        let changed = || failed(io::Error::other("it changed meanwhile"));
        let start = memory.len().checked_sub(tensor.layout().byte_len()).ok_or_else(changed)?;
        let (element, layout) = (tensor.element_type().clone(), tensor.layout().clone());
        let (location, _registered) = (location.clone(), Registered::new(&memory, &path));
        Ok(Edit { _registered, _file: file, location, element, layout, memory, start })
    }

    /// Where it is.
    pub fn location(&self) -> &Location {
        &self.location
    }

    /// Its element type.
    pub fn element_type(&self) -> &ElementType {
        &self.element
    }

    /// Where the elements lie in the data.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// The elements, to be changed.
    pub fn data_mut(&mut self) -> &mut [u8] {
        &mut self.memory[self.start..]
    }

    /// Returns when the disk has it all.
    pub fn finish(self) -> Result<(), Error> {
        self.memory.flush().map_err(|error| Error::write(&self.location.path, error))
    }
}
