//! `--device gpu`: reverses a file on any GPU. The library for that is large, so it belongs to a
//! second program, `retrograde-wgpu`, which is this command with a GPU ([`main`](crate::main)).

use crate::task::Task;
use anyhow::Result;
use retrograde::Prepared;
use retrograde_io::{Output, Tensor};
use retrograde_program::interrupt;
use retrograde_program::progress::Progress;
use std::time::{Duration, Instant};

/// A GPU that runs calls on host memory.
pub trait AnyGpu {
    /// What it is called.
    fn name(&self) -> String;

    /// Runs a call; all lengths were checked. `done` is told how many bytes each piece wrote.
    fn reverse(
        &self,
        prepared: &Prepared<'_>,
        input: &[u8],
        output: &mut [u8],
        done: &mut dyn FnMut(u64),
    ) -> Result<()>;
}

/// Opens a GPU: by its number, or the fastest.
pub type OpenGpu = fn(Option<usize>) -> Result<Box<dyn AnyGpu>>;

/// Reverses one tensor into another and returns the elapsed time.
pub(crate) fn reverse(
    gpu: &dyn AnyGpu,
    task: &Task,
    input: &Tensor,
    output: &mut Output,
) -> Result<Duration> {
    let (src, dst) = (input.layout().clone(), output.layout().clone());
    let start = Instant::now();
    let done = task.call(&src, &dst, |prepared| {
        prepared.check()?;
        let progress = Progress::of(prepared.plan());
        output.prepare(0..output.data_bytes());
        interrupt::stop_here();
        let mut advance = |bytes| {
            interrupt::stop_here();
            progress.advance(bytes);
        };
        Ok(gpu.reverse(prepared, input.data(), output.data_mut(), &mut advance))
    })?;
    done?;
    Ok(start.elapsed())
}
