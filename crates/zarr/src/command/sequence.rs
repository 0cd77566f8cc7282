//! Runs `reverse-sequence` on stores.

use super::args::SequenceArguments;
use super::open;
use super::reverse::operate;
use crate::{Operation, Padded, integers_of_hdf5, integers_of_zarr};
use anyhow::{Context, Result, anyhow, bail};
use retrograde_io::{Opening, open_integers};
use retrograde_program::lists::integers;
use retrograde_program::place::Place;
use std::ffi::OsStr;
use std::path::Path;

/// Reverses the sequences of an array.
pub(crate) fn run(arguments: &SequenceArguments) -> Result<()> {
    let SequenceArguments { input, output, how, sequence, .. } = arguments;
    let padded = Padded {
        time_axis: sequence.time_axis,
        batch_axis: sequence.batch_axis,
        lengths: lengths(&arguments.lengths)?,
        policy: sequence.policy.into(),
        align: sequence.padding.align.into(),
        tail: sequence.padding.tail.into(),
    };
    operate(input, output.as_ref(), &Operation::Sequences(padded), how)
}

/// A list of integers, or those of a store or file.
fn lengths(text: &str) -> Result<Vec<i64>> {
    if let Some(list) = integers(text) {
        return Ok(list);
    }
    let Ok(location) = text.parse::<Place>();
    let path = Path::new(&location.place);
    if open::is_hdf5(&location) {
        return Ok(integers_of_hdf5(path, &location.inside)?);
    }
    if location.is_url() || path.is_dir() {
        return Ok(integers_of_zarr(open::store(&location)?.as_ref())?);
    }
    if !path.exists() {
        bail!("--lengths {text}: neither a list of integers nor a file or store");
    }
    let found = open_integers(&OsStr::new(text).into(), &Opening::default());
    let tensor = found.map_err(|error| anyhow!("--lengths {text}: {error}"))?;
    let [count] = tensor.shape() else {
        let shape = tensor.shape();
        bail!("--lengths {text}: lengths have rank 1, these have the shape {shape:?}");
    };
    let length = |at| tensor.integer(&[at]).and_then(|length| i64::try_from(length).ok());
    let lengths: Option<_> = (0..*count).map(length).collect();
    lengths.with_context(|| format!("--lengths {text}: a length is beyond 64 bits"))
}
