//! Runs `reverse-sequence` on stores.

use crate::args::{Alignment, Policy, Rest, SequenceArguments};
use crate::location::Location;
use crate::reverse::operate;
use anyhow::{Context, Result, anyhow, bail};
use retrograde::{Align, LengthPolicy, Tail};
use retrograde_io::{Opening, open_integers};
use retrograde_zarr::{Operation, Padded, integers_of_hdf5, integers_of_zarr};
use std::ffi::OsStr;
use std::path::Path;

/// Reverses the sequences of an array.
pub(crate) fn run(arguments: &SequenceArguments, quiet: bool) -> Result<()> {
    let padded = Padded {
        time_axis: arguments.time_axis,
        batch_axis: arguments.batch_axis,
        lengths: lengths(&arguments.lengths)?,
        policy: match arguments.policy {
            Policy::Strict => LengthPolicy::Strict,
            Policy::Clamp => LengthPolicy::Clamp,
        },
        align: match arguments.align {
            Alignment::Start => Align::Start,
            Alignment::End => Align::End,
        },
        tail: match arguments.tail {
            Rest::Keep => Tail::Keep,
            Rest::Zero => Tail::Zero,
        },
    };
    let SequenceArguments { input, output, how, .. } = arguments;
    operate(input, output.as_ref(), &Operation::Sequences(padded), how, quiet)
}

/// A list of integers, or those of a store or file.
fn lengths(text: &str) -> Result<Vec<i64>> {
    let entries = || text.split(',').map(str::trim);
    let listed: Option<Vec<i64>> = entries().map(|entry| entry.parse().ok()).collect();
    if let Some(list) = listed {
        return Ok(list);
    }
    if text.trim().is_empty() {
        return Ok(Vec::new());
    }
    let Ok(location) = text.parse::<Location>();
    let path = Path::new(&location.place);
    if location.is_hdf5() {
        return Ok(integers_of_hdf5(path, &location.inside)?);
    }
    if location.is_url() || path.is_dir() {
        return Ok(integers_of_zarr(location.open()?.as_ref())?);
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
