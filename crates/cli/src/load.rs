//! Getting tensors and lengths into memory.

use crate::args::LengthsArgument;
use anyhow::{Result, anyhow, bail};
use retrograde_io::npy::{self, NpyArray};
use std::path::Path;

/// The tensor in a file.
pub(crate) fn tensor(path: &Path) -> Result<NpyArray> {
    Ok(npy::read(path)?)
}

/// Lengths as integers in this machine's byte order; a list is a tensor of one axis.
pub(crate) fn lengths(argument: &LengthsArgument) -> Result<NpyArray> {
    match argument {
        LengthsArgument::List(list) => {
            let descr = if cfg!(target_endian = "big") { ">i8" } else { "<i8" };
            let bytes = list.iter().flat_map(|length| length.to_ne_bytes()).collect();
            Ok(NpyArray::new(descr, &[list.len()], false, bytes)?)
        }
        LengthsArgument::File(path) => {
            if !path.try_exists().unwrap_or(true) {
                bail!("--lengths {}: neither a list of integers nor a file", path.display());
            }
            let array = npy::read(path)?;
            let name = path.display();
            array.to_native_integers().map_err(|error| anyhow!("{name}: {error}"))
        }
    }
}
