//! An `.npy` file as a sink: chunks are written at their places, in any order.

use crate::element::Element;
use crate::error::Error;
use crate::flip;
use crate::grid::Grid;
use crate::journal::lock;
use crate::stage::Stage;
use crate::work::Sink;
use retrograde_io::npy;
use std::fs::{File, OpenOptions};
use std::io;
use std::sync::Mutex;

/// An array in a file.
pub(crate) struct NpySink<'a> {
    name: String,
    grid: &'a Grid,
    element: &'a Element,
    file: Mutex<File>,
    /// The size of the header.
    start: u64,
}

impl<'a> NpySink<'a> {
    /// Opens the file of a stage.
    pub(crate) fn open(stage: &Stage, grid: &'a Grid, element: &'a Element) -> io::Result<Self> {
        let open = |path| {
            OpenOptions::new().create(true).write(true).read(true).truncate(false).open(path)
        };
        let file = open(stage.store())?;
        let header = header(grid.shape(), element)?;
        let elements =
            grid.shape().iter().try_fold(1u64, |product, &size| product.checked_mul(size));
        let size = elements.and_then(|count| count.checked_mul(element.width as u64));
        let size = size.and_then(|size| size.checked_add(header.len() as u64));
        file.set_len(size.ok_or_else(too_large)?)?;
        write_at(&file, 0, &header)?;
        let start = header.len() as u64;
        let (file, name) = (Mutex::new(file), stage.store().display().to_string());
        Ok(NpySink { name, grid, element, file, start })
    }

    /// Writes the part of a chunk that is inside the array.
    fn place(&self, index: &[u64], elements: &[u8]) -> io::Result<()> {
        let (shape, chunk) = (self.grid.shape(), self.grid.chunk());
        let inside = self.grid.inside(index);
        let width = self.element.width as u64;
        // Axes from here on are contiguous in the chunk and in the file.
        let mut first = shape.len();
        let mut run = width;
        while first > 0 {
            first -= 1;
            run *= inside[first];
            if inside[first] != shape[first] || inside[first] != chunk[first] {
                break;
            }
        }
        let runs: u64 = inside[..first].iter().product();
        let mut at = vec![0; shape.len()];
        let file = lock(&self.file);
        for mut number in 0..runs {
            for axis in (0..first).rev() {
                at[axis] = number % inside[axis];
                number /= inside[axis];
            }
            let place = |sizes: &[u64], base: &[u64], scale: &[u64]| {
                (0..sizes.len())
                    .fold(0, |sum, axis| sum * sizes[axis] + at[axis] + base[axis] * scale[axis])
            };
            let from = (place(chunk, &vec![0; shape.len()], chunk) * width) as usize;
            let to = self.start + place(shape, index, chunk) * width;
            write_at(&file, to, &elements[from..from + run as usize])?;
        }
        Ok(())
    }
}

impl Sink for NpySink<'_> {
    /// The file has a place for every chunk; the journal knows which are filled.
    fn has(&self, _unit: &[u64]) -> Result<bool, Error> {
        Ok(true)
    }

    fn leaves_out(&self) -> bool {
        false
    }

    fn write(&self, index: &[u64], elements: Vec<u8>) -> Result<Vec<u8>, Error> {
        let placed = self.place(index, &elements);
        placed.map_err(|source| Error::Write { at: self.name.clone(), source })?;
        Ok(elements)
    }

    fn leave_out(&self, index: &[u64], _resumed: bool) -> Result<(), Error> {
        let count = self.grid.chunk_len().unwrap_or(0) as usize;
        let mut elements = vec![0; count * self.element.width];
        flip::fill(&mut elements, &self.element.missing);
        self.write(index, elements).map(|_| ())
    }

    fn room(&self) -> u64 {
        self.grid.chunk_bytes(self.element.width)
    }
}

#[cfg(unix)]
fn write_at(file: &File, at: u64, bytes: &[u8]) -> io::Result<()> {
    std::os::unix::fs::FileExt::write_all_at(file, bytes, at)
}

#[cfg(not(unix))]
fn write_at(mut file: &File, at: u64, bytes: &[u8]) -> io::Result<()> {
    use std::io::{Seek, SeekFrom, Write};
    file.seek(SeekFrom::Start(at))?;
    file.write_all(bytes)
}

/// The header of a row-major array.
fn header(shape: &[u64], element: &Element) -> io::Result<Vec<u8>> {
    let sizes: Result<Vec<usize>, _> = shape.iter().map(|&size| size.try_into()).collect();
    let sizes = sizes.map_err(|_| too_large())?;
    npy::header(&element.descr(), &sizes).map_err(io::Error::other)
}

fn too_large() -> io::Error {
    io::Error::new(io::ErrorKind::FileTooLarge, "the array is too large")
}
