//! Opening tensors and lengths.

use crate::args::LengthsArgument;
use anyhow::{Result, bail};
use retrograde_io::{Opening, Tensor, open};

/// Lengths as integers in this machine's byte order; a list is a tensor of one axis.
pub(crate) fn lengths(argument: &LengthsArgument) -> Result<Tensor> {
    match argument {
        LengthsArgument::List(list) => Ok(Tensor::from_integers(list)?.to_native_integers()?),
        LengthsArgument::File(location) => {
            if !location.is_stream() && !location.path.try_exists().unwrap_or(true) {
                bail!("--lengths {location}: neither a list of integers nor a file");
            }
            Ok(open(location, &Opening::default())?.to_native_integers()?)
        }
    }
}
