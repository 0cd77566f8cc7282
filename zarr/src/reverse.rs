//! Runs `reverse` on stores.

use crate::args::{ReverseArguments, Size};
use crate::location::{Location, NO_URLS};
use crate::progress::Progress;
use crate::{interrupt, report};
use anyhow::{Result, bail};
use retrograde_zarr::{Conversion, Error, Job, Settings, Summary};
use std::path::Path;

/// Reverses the arrays of a store into another.
pub(crate) fn run(arguments: &ReverseArguments, quiet: bool) -> Result<()> {
    let (input, axes) = (&arguments.input, arguments.axes());
    interrupt::handle()?;
    let npy = arguments.output.as_ref().is_some_and(|output| output.has_extension(&["npy"]));
    if input.is_hdf5() {
        let path = Path::new(&input.place);
        let conversion = Conversion::of_hdf5(path, &input.inside, &axes)?;
        return convert(&conversion, arguments, quiet);
    }
    let store = input.open()?;
    if npy {
        return convert(&Conversion::of_zarr(store.as_ref(), &axes)?, arguments, quiet);
    }
    let job = Job::new(store.as_ref(), &axes)?;
    let Some(output) = &arguments.output else { return report::plan(&job) };
    let write = |target: &Path, settings: &Settings<'_>| job.write(target, settings);
    save(output, job.bytes(), arguments, quiet, write)
}

/// Reverses one array into another format.
fn convert(conversion: &Conversion<'_>, arguments: &ReverseArguments, quiet: bool) -> Result<()> {
    let Some(output) = &arguments.output else { return report::print(&conversion.described()) };
    let write = |target: &Path, settings: &Settings<'_>| conversion.write(target, settings);
    save(output, conversion.bytes(), arguments, quiet, write)
}

/// Lets `write` write the output, shows its progress, and says what was written.
fn save(
    output: &Location,
    bytes: u64,
    arguments: &ReverseArguments,
    quiet: bool,
    write: impl FnOnce(&Path, &Settings<'_>) -> Result<Summary, Error>,
) -> Result<()> {
    if output.is_url() {
        bail!("-o {output}: {NO_URLS}");
    }
    if !output.inside.is_empty() {
        bail!("-o {output}: an output is a whole store, without a path inside");
    }
    let progress = Progress::until(bytes, quiet);
    let Size(memory) = arguments.memory;
    let threads = arguments.threads.map_or_else(retrograde::cpu::num_threads, |n| n.get());
    let settings = Settings {
        memory,
        threads,
        force: arguments.force,
        stop: &interrupt::STOP,
        progress: &|bytes| progress.advance(bytes),
    };
    let done = write(Path::new(&output.place), &settings);
    drop(progress);
    let summary = done?;
    if !quiet {
        report::say(&report::saved(output, &summary));
    }
    Ok(())
}
