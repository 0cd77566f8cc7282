//! Opening tensors and lengths, and what to do where that fails.

use crate::args::LengthsArgument;
use crate::run;
use anyhow::{Result, anyhow, bail};
use retrograde_io::{Error, FilesRead, Location, Opening, Tensor, open, open_integers};

/// The tensor that an operator works on.
pub(crate) fn tensor(location: &Location, opening: &Opening) -> Result<Tensor> {
    let (path, unsaid) = (&location.path, opening.format.is_none() && opening.dtype.is_none());
    if unsaid && run::is_model(path) && path.is_file() {
        let path = path.display();
        bail!("{path}: is a model: `retrograde run {path}` runs it, `info` says what it holds");
    }
    Ok(open(location, opening)?)
}

/// Lengths as integers in this machine's byte order; a list is a tensor of one axis.
pub(crate) fn lengths(argument: &LengthsArgument, read: &FilesRead) -> Result<Tensor> {
    match argument {
        LengthsArgument::List(list) => Ok(Tensor::from_integers(list)?.to_native_integers()?),
        LengthsArgument::File(location) => {
            if !location.is_stream() && !location.path.try_exists().unwrap_or(true) {
                bail!("--lengths {location}: neither a list of integers nor a file");
            }
            let opening = Opening { read: read.clone(), ..Opening::default() };
            Ok(open_integers(location, &opening)?)
        }
    }
}

/// Adds the option that helps, where there is one.
pub(crate) fn with_hint(error: anyhow::Error) -> anyhow::Error {
    match error.downcast_ref::<Error>() {
        Some(Error::ReadOnly { .. }) => anyhow!("{error}: --force writes to it all the same"),
        Some(Error::IsInput { .. }) => anyhow!("{error}: name another file"),
        _ => error,
    }
}
