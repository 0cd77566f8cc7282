//! Opens what a place names.

use crate::Target;
use crate::store::{Local, Remote, Store};
use anyhow::{Result, anyhow, bail};
use retrograde_program::place::Place;
use std::path::Path;

/// Whether it is an HDF5 file.
pub(crate) fn is_hdf5(place: &Place) -> bool {
    !place.is_url() && crate::is_hdf5(Path::new(&place.place))
}

/// The store that a place names.
pub(crate) fn store(place: &Place) -> Result<Box<dyn Store>> {
    if place.is_url() {
        return Ok(Box::new(remote(place)?));
    }
    let path = Path::new(&place.place);
    if let Err(error) = path.metadata() {
        bail!("cannot read {}: {error}", place.place);
    }
    Ok(Box::new(Local::new(path.join(&place.inside))))
}

fn remote(place: &Place) -> Result<Remote> {
    let opened = Remote::open(&place.place, &place.inside);
    opened.map_err(|error| anyhow!("cannot use {place}: {error}"))
}

/// Refuses an output of a format that is not written, before anything is read.
pub(crate) fn check_output(place: &Place) -> Result<()> {
    if place.inside.is_empty()
        && place.has_extension(&["nc", "nc4", "h5", "hdf5", "he5", "hdf", "cdf"])
    {
        bail!(
            "-o {place}: NetCDF and HDF5 files are read and not written; name a Zarr store (OUT.zarr), \
             which xarray.open_zarr(\"OUT.zarr\").to_netcdf(...) makes a file of, or an .npy file"
        );
    }
    Ok(())
}

/// The output that a place names.
pub(crate) fn target(place: &Place) -> Result<Target> {
    if place.is_url() {
        if !place.inside.is_empty() {
            bail!("-o {place}: in an object store, an output is a whole store");
        }
        if place.has_extension(&["npy"]) {
            bail!("-o {place}: an .npy file cannot be written to a URL; write a file or a store");
        }
        return Ok(Target::Remote(remote(place)?));
    }
    let path = Path::new(&place.place);
    Ok(match place.inside.as_str() {
        "" => Target::from(path),
        inside => Target::Inside(path.to_owned(), inside.to_owned()),
    })
}
