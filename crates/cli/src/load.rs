//! Opens tensors and lengths, and adds hints to errors.

use crate::model;
use anyhow::{Result, anyhow, bail};
use retrograde_io::{Error, FilesRead, Location, Opening, RawError, Tensor, open, open_integers};
use retrograde_program::lists::LengthsArgument;

/// The tensor that an operator works on.
pub fn tensor(location: &Location, opening: &Opening) -> Result<Tensor> {
    let (path, unsaid) = (&location.path, opening.format.is_none() && opening.dtype.is_none());
    if unsaid && model::is_model(path) && path.is_file() {
        let path = path.display();
        bail!("{path}: is a model: `retrograde run {path}` runs it, `info` lists what it holds");
    }
    Ok(open(location, opening)?)
}

/// Lengths or offsets, which `option` gives, as integers in the native byte order; a list is a
/// tensor of rank 1.
pub(crate) fn lengths(
    option: &str,
    argument: &LengthsArgument,
    read: &FilesRead,
) -> Result<Tensor> {
    match argument {
        LengthsArgument::List(list) => Ok(Tensor::from_integers(list)?.to_native_integers()?),
        LengthsArgument::File(location) => {
            if !location.is_stream() && !location.path.try_exists().unwrap_or(true) {
                bail!("{option} {location}: neither a list of integers nor a file");
            }
            let opening = Opening { read: read.clone(), ..Opening::default() };
            Ok(open_integers(location, &opening)?)
        }
    }
}

/// Adds the option that solves the problem, if there is one: the library does not know the options.
pub fn with_hint(error: anyhow::Error) -> anyhow::Error {
    let hint = match error.downcast_ref::<Error>() {
        Some(Error::Raw { path, source: RawError::NoType }) => {
            let (path, raw) = (path.display(), "raw bytes have no header: give");
            let options = "--dtype (such as f32) and --shape (such as 480,640,3)";
            return anyhow!("{path}: {raw} {options}");
        }
        Some(Error::ReadOnly { .. }) => ": --force overrides this",
        Some(Error::IsInput { .. }) => ": choose another file",
        Some(Error::UnknownFormat { .. }) => "; for raw bytes, give --dtype and --shape",
        Some(Error::UnknownOutput { .. }) => ", or --to FORMAT",
        Some(Error::OtherType { .. }) => {
            ": --dtype is for raw bytes, and for opaque elements of the same width (such as bf16 \
             for V2)"
        }
        Some(Error::OtherShape { .. }) => ": --shape is for raw bytes",
        Some(Error::NotInPlace { .. }) => ": use -o",
        Some(error @ Error::CannotHold { .. }) if asks_for_type(error) => " with --dtype",
        _ => return error,
    };
    anyhow!("{error}{hint}")
}

/// Whether the error asks for a type.
fn asks_for_type(error: &Error) -> bool {
    error.to_string().ends_with("give their type")
}
