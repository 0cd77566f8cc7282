//! Lengths that are in a store or an HDF5 file: an array of rank 1 with integers of any type.

use crate::array::Array;
use crate::element::{Class, Element};
use crate::error::Error;
use crate::grid::Grid;
use crate::hdf5::Dataset;
use crate::store::Store;
use crate::work::Source;
use crate::zarr::Chunks;
use std::path::Path;

/// The most memory for lengths.
const LIMIT: u64 = 1 << 30;

/// The integers of an array of a store.
pub fn integers_of_zarr(store: &dyn Store) -> Result<Vec<i64>, Error> {
    let found = Array::open(store, "")?;
    let array = found.ok_or_else(|| Error::NotZarr { at: store.name("") })?;
    let element = array.element();
    let source = Chunks::within(store, &array, LIMIT);
    integers(&array.name, &array.grid, element.as_ref(), &source)
}

/// The integers of a dataset of an HDF5 or NetCDF4 file.
pub fn integers_of_hdf5(path: &Path, inside: &str) -> Result<Vec<i64>, Error> {
    if inside.is_empty() {
        let at = path.display().to_string();
        return Err(Error::Unsupported {
            at,
            what: "name the dataset of lengths: FILE:NAME".to_owned(),
        });
    }
    let dataset = Dataset::open(path, inside)?;
    integers(&dataset.name, &dataset.grid, Some(&dataset.element), &dataset)
}

fn integers(
    at: &str,
    grid: &Grid,
    element: Option<&Element>,
    source: &dyn Source,
) -> Result<Vec<i64>, Error> {
    let bad = |what: String| Error::Unsupported { at: at.to_owned(), what };
    let is_integer = |element: &&Element| matches!(element.class, Class::Signed | Class::Unsigned);
    let Some(element) = element.filter(is_integer) else {
        return Err(bad("lengths are integers, these have another type".to_owned()));
    };
    if grid.rank() != 1 {
        let shape = grid.shape();
        return Err(bad(format!("lengths have rank 1, these have the shape {shape:?}")));
    }
    let count = grid.shape()[0];
    if source.room().max(count.saturating_mul(8)) > LIMIT {
        let most = LIMIT >> 20;
        return Err(bad(format!(
            "{count} lengths in chunks of {:?} take more than {most} MiB",
            grid.chunk()
        )));
    }
    let mut numbers = Vec::new();
    for index in 0..grid.chunks() {
        let count = grid.inside(&[index])[0] as usize;
        let number = |bytes: &[u8]| {
            element.integer(bytes).ok_or_else(|| bad("a length is beyond 64 bits".to_owned()))
        };
        match source.chunk(&[index])?.elements {
            Some(bytes) => {
                for bytes in bytes.chunks_exact(element.width).take(count) {
                    numbers.push(number(bytes)?);
                }
            }
            None => numbers.extend(vec![number(&element.missing)?; count]),
        }
    }
    Ok(numbers)
}
