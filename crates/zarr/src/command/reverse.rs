//! Runs an operator on stores; `reverse` is one.

use super::args::{HowArguments, ReverseArguments};
use super::{open, report};
use crate::{Conversion, Error, Job, Operation, Settings, Summary, Target};
use anyhow::Result;
use retrograde_program::interrupt;
use retrograde_program::place::Place;
use retrograde_program::progress::Progress;
use retrograde_program::report::say;
use retrograde_program::stores::Size;
use std::path::Path;

/// Threads, if most of them wait for a server and memory allows.
const WAITING: usize = 16;

/// Reverses the arrays of a store into another.
pub(crate) fn run(arguments: &ReverseArguments) -> Result<()> {
    let ReverseArguments { input, output, how, .. } = arguments;
    operate(input, output.as_ref(), &arguments.axes().into(), how)
}

/// Applies an operator to a store or file, or prints what it would do without an output.
pub(crate) fn operate(
    input: &Place,
    output: Option<&Place>,
    operation: &Operation,
    how: &HowArguments,
) -> Result<()> {
    if let Some(output) = output {
        open::check_output(output)?;
    }
    let run = Run { input, output, how };
    let npy = output.is_some_and(|output| output.has_extension(&["npy"]));
    if open::is_hdf5(input) {
        let path = Path::new(&input.place);
        return run.convert(&Conversion::of_hdf5(path, &input.inside, operation)?);
    }
    let store = open::store(input)?;
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
    input: &'a Place,
    output: Option<&'a Place>,
    how: &'a HowArguments,
}

impl Run<'_> {
    /// Writes one array in another format.
    fn convert(&self, conversion: &Conversion<'_>) -> Result<()> {
        if self.output.is_none() {
            return report::print_line(&conversion.described());
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
        let target = open::target(output)?;
        let progress = Progress::until(bytes);
        let store = &self.how.store;
        let most = retrograde::cpu::num_threads();
        // Threads that wait for a server do not need a processor.
        let remote = self.input.is_url() || output.is_url();
        let most = if remote { most.max(WAITING) } else { most };
        let threads = self.how.threads.checked()?.unwrap_or(most);
        let usual = Settings::default();
        let settings = Settings {
            memory: store.memory.map_or(usual.memory, |Size(bytes)| bytes),
            threads,
            force: self.how.force,
            sync: !store.no_sync,
            verify: store.verify,
            stop: interrupt::stop_between_steps(),
            progress: &|bytes, earlier| match earlier {
                true => progress.skip(bytes),
                false => progress.advance(bytes),
            },
        };
        let done = write(&target, &settings);
        drop(progress);
        let summary = done?;
        say(&report::saved(output, &summary));
        Ok(())
    }
}
