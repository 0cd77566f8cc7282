//! Changing a tensor in its file, without a second file.

use crate::element::ElementType;
use crate::error::Error;
use crate::format::{Format, Location};
use crate::open::{Opening, open};
use memmap2::MmapMut;
use retrograde::Layout;
use std::fs::File;
use std::io;

/// A tensor whose memory is the file itself, to be changed.
///
/// There is no way back: whoever stops halfway leaves a file that is half changed.
#[derive(Debug)]
pub struct Edit {
    location: Location,
    element: ElementType,
    layout: Layout,
    memory: MmapMut,
    start: usize,
}

impl Edit {
    /// Opens an `.npy` or raw file to change it.
    pub fn open(location: &Location, opening: &Opening) -> Result<Edit, Error> {
        let tensor = open(location, opening)?;
        let (path, format) = (location.path.clone(), tensor.format());
        if !matches!(format, Format::Npy | Format::Raw) || location.is_stream() {
            return Err(Error::NotInPlace { path, format });
        }
        let failed = |error| Error::write(&path, error);
        let file = File::options().read(true).write(true).open(&path).map_err(failed)?;
        if !file.metadata().map_err(failed)?.is_file() {
            return Err(Error::NotInPlace { path, format });
        }
        // SAFETY: the memory is bytes of any value. Whoever writes to the file meanwhile changes
        // what is read, whoever shortens it stops this process; no lock could prevent either.
        let memory = unsafe { MmapMut::map_mut(&file) }.map_err(failed)?;
        // The data of both formats is the end of the file.
        let changed = || failed(io::Error::other("it changed meanwhile"));
        let start = memory.len().checked_sub(tensor.layout().byte_len()).ok_or_else(changed)?;
        let (element, layout) = (tensor.element_type().clone(), tensor.layout().clone());
        Ok(Edit { location: location.clone(), element, layout, memory, start })
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
