//! Conversion between files and the values of a model: the only place where `run` reads and writes
//! tensors.

use anyhow::{Result, anyhow, bail};
use retrograde_io::graph::{Declared, Dim};
use retrograde_io::{
    Error, FilesRead, Format, Location, Opening, Output, Saving, Value, onnx, open_value,
};
use std::io::{self, IsTerminal};
use std::path::Path;

/// Reads a tensor for an input with this declaration.
pub(super) fn load(
    location: &Location,
    declared: &Declared,
    from: Option<Format>,
    temporary: &Path,
    read: &FilesRead,
) -> Result<Value> {
    let format = location.format().or(from);
    if let Some(container) = declared.container {
        if location.is_stream() || format != Some(Format::Pb) {
            bail!("{location}: the input is {declared}, which only a .pb file can hold");
        }
        return Ok(onnx::read_message(&location.path, container)?);
    }
    let known = match format {
        Some(Format::Raw) => raw_opening(location, declared)?,
        _ => Opening::default(),
    };
    let beside = Some(temporary.join("x"));
    let opening = Opening { format, output: beside, read: read.clone(), ..known };
    Ok(open_value(location, &opening, declared.dtype)?)
}

/// Raw bytes have no header, so the model's declaration defines them. One unknown size is computed
/// from the size of the file.
fn raw_opening(location: &Location, declared: &Declared) -> Result<Opening> {
    let path = &location.path;
    let unknown = || {
        anyhow!(
            "{location}: raw bytes, but the model does not declare their type and shape ({declared}): use another format"
        )
    };
    let (Some(dtype), Some(dims)) = (declared.dtype, &declared.dims) else { return Err(unknown()) };
    let size = |dim: &Dim| if let Dim::Fixed(size) = dim { Some(*size) } else { None };
    let mut sizes: Vec<_> = dims.iter().map(size).collect();
    let known: u128 =
        sizes.iter().flatten().fold(1, |product: u128, &size| product.saturating_mul(size as u128));
    let bits = dtype.bits().unwrap_or(0) as u128;
    let open = sizes.iter().filter(|size| size.is_none()).count();
    // Only a regular file has a known size.
    let open_size = sizes.iter_mut().find(|size| size.is_none());
    if let Some(size) = open_size.filter(|_| !location.is_stream()) {
        let available =
            path.metadata().map_err(|source| Error::Read { path: path.to_owned(), source })?.len();
        let left = (u128::from(available) * 8).checked_div(known.saturating_mul(bits));
        *size = left.and_then(|left| usize::try_from(left).ok());
    }
    let shape: Option<Vec<usize>> = sizes.into_iter().collect();
    let shape = shape.filter(|_| open < 2).ok_or_else(unknown)?;
    Ok(Opening { dtype: Some(dtype), shape: Some(shape), ..Opening::default() })
}

/// Begins a file in the format that its name implies; nothing appears before it is finished.
pub(super) fn begin(
    location: &Location,
    name: &str,
    value: &Value,
    saving: &Saving,
    watch: &mut dyn FnMut(usize),
) -> Result<Output> {
    let mut saving = Saving { format: location.format().or(saving.format), ..saving.clone() };
    if value.is_message() {
        if saving.format != Some(Format::Pb) {
            bail!("{location}: the output is a sequence or an optional value: choose a .pb file");
        }
        // The bytes of the message are the file.
        saving.format = Some(Format::Raw);
    }
    Ok(Output::of_value(value, name, location.clone(), &saving, watch)?)
}

/// Begins a file in a folder, in the given format, or else in the default one or one that supports
/// the tensor.
pub(super) fn begin_in(
    folder: &Path,
    stem: &str,
    name: &str,
    value: &Value,
    saving: &Saving,
    watch: &mut dyn FnMut(usize),
) -> Result<Output> {
    let at = |format: Format| Location::file(folder.join(format!("{stem}.{format}")));
    if value.is_message() {
        let saving = Saving { format: saving.format.or(Some(Format::Pb)), ..saving.clone() };
        return begin(&at(Format::Pb), name, value, &saving, watch);
    }
    if let Some(format) = saving.format {
        return Ok(Output::of_value(value, name, at(format), saving, watch)?);
    }
    for format in [Format::Npy, Format::Pb] {
        match Output::of_value(value, name, at(format), saving, watch) {
            Err(Error::CannotHold { .. } | Error::Strings { .. }) => {}
            result => return Ok(result?),
        }
    }
    Ok(Output::of_value(value, name, at(Format::Raw), saving, watch)?)
}

/// Checks that a file of that name can be written.
pub(super) fn check_target(location: &Location, to: Option<Format>) -> Result<()> {
    if location.is_stream() {
        if io::stdout().is_terminal() {
            bail!("--output - writes bytes, and stdout is a terminal: redirect it, or give a file");
        }
    } else if location.format().or(to).is_none() {
        bail!(
            "{location}: expected a name that ends in .npy, .npz, .safetensors, .pb, .raw or .bin, \
             or --to FORMAT; -d DIR writes all outputs to a folder"
        );
    }
    Ok(())
}
