//! Opens tensors and lengths, and adds hints to errors.

use crate::args::TableName;
use crate::model;
use anyhow::{Result, anyhow, bail};
use retrograde::{DType, Reversal, Reverse, Table};
use retrograde_io::{
    Error, FilesRead, Format, Location, Opening, RawError, Tensor, open, open_integers,
    open_or_parse,
};
use retrograde_program::lists::{LengthsArgument, Mask, MaskArgument};

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
            check_exists(option, location, "a list of integers")?;
            let opening = Opening { read: read.clone(), ..Opening::default() };
            Ok(open_integers(location, &opening)?)
        }
    }
}

/// The booleans of `--where` in row-major order, and their shape: lists, text and raw bytes have none.
pub(crate) fn mask(
    argument: &MaskArgument,
    read: &FilesRead,
) -> Result<(Vec<bool>, Option<Vec<usize>>)> {
    let location = match argument {
        MaskArgument::List(Mask(mask)) => return Ok((mask.clone(), None)),
        MaskArgument::File(location) => location,
    };
    check_exists("--where", location, "a list of booleans such as 1,0,1")?;
    let raw = location.format() == Some(Format::Raw);
    let opening =
        Opening { dtype: raw.then_some(DType::Bool), read: read.clone(), ..Opening::default() };
    let found = open_or_parse(location, &opening)?;
    if found.format() == Format::Raw && !raw {
        let flag = |at: usize| match found.integer(&[at]) {
            Some(0) => Ok(false),
            Some(1) => Ok(true),
            number => {
                let number = number.unwrap_or_default();
                bail!("--where {location}: number {at} is {number}, expected 0 or 1")
            }
        };
        return Ok(((0..found.layout().len()).map(flag).collect::<Result<_>>()?, None));
    }
    if found.layout().dtype() != DType::Bool {
        let element = found.element_type();
        bail!("--where {location}: its elements are {element}, expected bool: save x != 0");
    }
    let bytes = Reverse::axes([]).to_bytes(&found.view()?)?;
    let mask = bytes.iter().map(|&byte| byte != 0).collect();
    Ok((mask, (!raw).then(|| found.shape().to_vec())))
}

/// The table of `--table`.
pub(crate) fn table(name: &TableName, read: &FilesRead) -> Result<Table> {
    let location = match name {
        TableName::Dna => return Ok(Table::dna()),
        TableName::Rna => return Ok(Table::rna()),
        TableName::File(location) => location,
    };
    check_exists("--table", location, "dna, rna")?;
    let opening = Opening { read: read.clone(), ..Opening::default() };
    let found = match open(location, &opening) {
        // What no other format is.
        Err(Error::UnknownFormat { .. } | Error::Raw { source: RawError::NoType, .. })
            if !location.is_stream() =>
        {
            let (format, dtype) = (Some(Format::Raw), Some(DType::U8));
            open(location, &Opening { format, dtype, ..opening })
        }
        found => found,
    }?;
    if found.layout().dtype() != DType::U8 {
        let element = found.element_type();
        bail!(
            "--table {location}: its elements are {element}, expected u8: save x.astype(np.uint8)"
        );
    }
    if let shape @ ([] | [_, _, ..]) = found.shape() {
        bail!("--table {location}: has shape {shape:?}, expected [256], [16] or [4]");
    }
    let entries = Reverse::axes([]).to_bytes(&found.view()?)?;
    Table::new(&entries).map_err(|error| anyhow!("--table {location}: {error}"))
}

/// Refuses what `option` gives if it is neither one of these nor a file.
fn check_exists(option: &str, location: &Location, others: &str) -> Result<()> {
    if !location.is_stream() && !location.path.try_exists().unwrap_or(true) {
        bail!("{option} {location}: neither {others} nor a file");
    }
    Ok(())
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
