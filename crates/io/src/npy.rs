//! NumPy's `.npy` files: a short text header, then the elements as in memory.
//!
//! [`read`] accepts versions 1.0 to 3.0 and every dtype of fixed width. [`write()`] formats its
//! header exactly as `np.save` does.

mod array;
mod descr;
pub(crate) mod error;
mod header;

pub use array::NpyArray;
pub use descr::{Descr, Field, Kind};
pub(crate) use error::Failure;
pub use error::NpyError;

use crate::error::Error;
use crate::save::{self, Saving};
use header::Header;
use retrograde::Layout;
use std::fs::File;
use std::io::Read;
use std::path::Path;

/// Reads a whole file.
pub fn read(path: impl AsRef<Path>) -> Result<NpyArray, Error> {
    let path = path.as_ref();
    decode_file(path).map_err(|failure| match failure {
        Failure::Io(error) => Error::read(path, error),
        Failure::Npy(error) => Error::npy(path, error),
    })
}

/// Writes a whole file, which appears under its name only when it is complete.
pub fn write(path: impl AsRef<Path>, array: &NpyArray) -> Result<(), Error> {
    save::atomically(path.as_ref(), &Saving::default(), |out| {
        out.write_all(&header::encode(array.descr(), array.fortran_order(), array.shape()))?;
        out.write_all(array.data())
    })
}

/// The header of a row-major array, from the magic to the final newline: what stands before the
/// elements in a file.
///
/// ```
/// let header = retrograde_io::npy::header("<f4", &[2, 3])?;
/// assert_eq!(header.len(), 128);
/// assert!(header.starts_with(b"\x93NUMPY\x01\x00v\x00{'descr': '<f4', "));
/// # Ok::<(), retrograde_io::NpyError>(())
/// ```
pub fn header(descr: &str, shape: &[usize]) -> Result<Vec<u8>, NpyError> {
    Ok(header::encode(&descr.parse()?, false, shape))
}

impl NpyArray {
    /// Reads the content of a whole file.
    ///
    /// ```
    /// use retrograde_io::npy::NpyArray;
    ///
    /// let x = NpyArray::new("<i2", &[2], false, vec![1, 0, 2, 0])?;
    /// assert_eq!(NpyArray::from_bytes(&x.to_bytes())?, x);
    /// assert!(NpyArray::from_bytes(&x.to_bytes()[..9]).is_err());
    /// # Ok::<(), retrograde_io::NpyError>(())
    /// ```
    pub fn from_bytes(file: &[u8]) -> Result<Self, NpyError> {
        let size = file.len() as u64;
        decode(&mut &file[..], Some(size)).map_err(|failure| match failure {
            Failure::Npy(error) => error,
            // Reading from memory fails only for lack of memory.
            Failure::Io(_) => NpyError::OutOfMemory { bytes: size },
        })
    }

    /// The content of a whole file: what [`write()`] writes.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut file = header::encode(self.descr(), self.fortran_order(), self.shape());
        file.extend_from_slice(self.data());
        file
    }
}

/// An array in a file whose data has not been read: its header, and where the data is.
#[derive(Debug)]
pub(crate) struct Located {
    pub(crate) descr: Descr,
    pub(crate) fortran_order: bool,
    pub(crate) layout: Layout,
    /// Bytes before the data.
    pub(crate) offset: u64,
}

/// Reads the header of an input of `size` bytes, which must be exactly what the shape needs.
pub(crate) fn locate(reader: &mut impl Read, size: u64) -> Result<Located, Failure> {
    locate_in(reader, size, false)
}

/// As [`locate`], but more data may follow.
pub(crate) fn locate_in(
    reader: &mut impl Read,
    size: u64,
    goes_on: bool,
) -> Result<Located, Failure> {
    let (header, offset) = header::read(reader)?;
    let layout = array::layout_of(&header.descr, &header.shape, header.fortran_order)?;
    let (expected, available) = (layout.byte_len() as u64, size.saturating_sub(offset));
    check_size(&header, expected, (available <= expected || !goes_on).then_some(available))?;
    let Header { descr, fortran_order, .. } = header;
    Ok(Located { descr, fortran_order, layout, offset })
}

/// The size of the whole file that begins with these bytes; `None` if its header is invalid.
pub(crate) fn size_of(start: &[u8]) -> Option<u64> {
    let (header, offset) = header::read(&mut &start[..]).ok()?;
    let layout = array::layout_of(&header.descr, &header.shape, header.fortran_order).ok()?;
    offset.checked_add(layout.byte_len() as u64)
}

/// The layout of an array's elements, and the header for it.
pub(crate) fn lay_out(
    descr: &Descr,
    fortran_order: bool,
    shape: &[usize],
) -> Result<(Vec<u8>, Layout), NpyError> {
    let layout = array::layout_of(descr, shape, fortran_order)?;
    Ok((header::encode(descr, fortran_order, shape), layout))
}

fn decode_file(path: &Path) -> Result<NpyArray, Failure> {
    let mut file = File::open(path)?;
    let found = file.metadata()?;
    // Pipes and devices have no size.
    let size = found.is_file().then_some(found.len());
    decode(&mut file, size)
}

/// Reads an array from an input of this many bytes, if the size is known.
fn decode(reader: &mut impl Read, size: Option<u64>) -> Result<NpyArray, Failure> {
    let (header, header_bytes) = header::read(reader)?;
    let layout = array::layout_of(&header.descr, &header.shape, header.fortran_order)?;
    let expected = layout.byte_len() as u64;
    if let Some(size) = size {
        check_size(&header, expected, Some(size.saturating_sub(header_bytes)))?;
    }
    let data = read_data(reader, expected, size.is_some())?;
    // Checked again: the size may have been unknown, or the file may have changed meanwhile.
    let available = data.len() as u64;
    check_size(&header, expected, (available <= expected).then_some(available))?;
    Ok(NpyArray::new(header.descr.as_str(), &header.shape, header.fortran_order, data)?)
}

/// Reads `expected` bytes, and one more if there is one, to detect trailing data.
fn read_data(
    reader: &mut impl Read,
    expected: u64,
    size_is_known: bool,
) -> Result<Vec<u8>, Failure> {
    let mut data = Vec::new();
    if size_is_known {
        // The file has this size, so this is no more than it takes on disk.
        let out_of_memory = || NpyError::OutOfMemory { bytes: expected };
        let bytes = usize::try_from(expected).map_err(|_| out_of_memory())?;
        data.try_reserve_exact(bytes).map_err(|_| out_of_memory())?;
    }
    reader.take(expected.saturating_add(1)).read_to_end(&mut data)?;
    Ok(data)
}

/// `available` is `None` if it is only known to be more than expected.
fn check_size(header: &Header, expected: u64, available: Option<u64>) -> Result<(), NpyError> {
    let (shape, descr) = (|| header.shape.clone(), || header.descr.to_string());
    match available {
        Some(available) if available == expected => Ok(()),
        Some(available) if available < expected => {
            Err(NpyError::DataTooShort { shape: shape(), descr: descr(), expected, available })
        }
        _ => Err(NpyError::DataTooLong { shape: shape(), descr: descr(), expected, available }),
    }
}

#[cfg(test)]
mod tests;
