//! Runs an operator on stores; `reverse` is one.

use crate::args::{HowArguments, ReverseArguments, Size};
use crate::location::Location;
use crate::progress::Progress;
use crate::{interrupt, report};
use anyhow::Result;
use retrograde_zarr::{Conversion, Error, Job, Operation, Settings, Summary, Target};
use std::path::Path;

/// Threads, if most of them wait for a server and memory allows.
const WAITING: usize = 16;

/// Reverses the arrays of a store into another.
pub(crate) fn run(arguments: &ReverseArguments, quiet: bool) -> Result<()> {
    let ReverseArguments { input, output, how, .. } = arguments;
    operate(input, output.as_ref(), &arguments.axes().into(), how, quiet)
}

/// Applies an operator to a store or file, or prints what it would do without an output.
pub(crate) fn operate(
    input: &Location,
    output: Option<&Location>,
    operation: &Operation,
    how: &HowArguments,
    quiet: bool,
) -> Result<()> {
    interrupt::handle()?;
    let run = Run { input, output, how, quiet };
    let npy = output.is_some_and(|output| output.has_extension(&["npy"]));
    if input.is_hdf5() {
        let path = Path::new(&input.place);
        return run.convert(&Conversion::of_hdf5(path, &input.inside, operation)?);
    }
    let store = input.open()?;
    if npy {
        return run.convert(&Conversion::of_zarr(store.as_ref(), operation)?);
    }
    let job = Job::new(store.as_ref(), operation)?;
    if output.is_none() {
        return report::plan(&job);
    }
    run.save(job.bytes(), |target, settings| job.write(target, settings))
}

/// From where to where, and how.
struct Run<'a> {
    input: &'a Location,
    output: Option<&'a Location>,
    how: &'a HowArguments,
    quiet: bool,
}

impl Run<'_> {
    /// Writes one array in another format.
    fn convert(&self, conversion: &Conversion<'_>) -> Result<()> {
        if self.output.is_none() {
            return report::print(&conversion.described());
        }
        self.save(conversion.bytes(), |target, settings| conversion.write(target, settings))
    }

    /// Lets `write` write the output, shows its progress, and says what was written.
    fn save(
        &self,
        bytes: u64,
        write: impl FnOnce(&Target, &Settings<'_>) -> Result<Summary, Error>,
    ) -> Result<()> {
        let Some(output) = self.output else { return Ok(()) };
        let target = output.target()?;
        let progress = Progress::until(bytes, self.quiet);
        let Size(memory) = self.how.memory;
        let most = retrograde::cpu::num_threads();
        // Threads that wait for a server do not need a processor.
        let remote = self.input.is_url() || output.is_url();
        let most = if remote { most.max(WAITING) } else { most };
        let threads = self.how.threads.map_or(most, |n| n.get());
        let settings = Settings {
            memory,
            threads,
            force: self.how.force,
            sync: !self.how.no_sync,
            verify: self.how.verify,
            stop: &interrupt::STOP,
            progress: &|bytes| progress.advance(bytes),
        };
        let done = write(&target, &settings);
        drop(progress);
        let summary = done?;
        if !self.quiet {
            report::say(&report::saved(output, &summary));
        }
        Ok(())
    }
}
