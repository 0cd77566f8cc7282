//! `--device cuda`: reverses a file on a GPU, one piece at a time.
//!
//! Every piece is copied from the mapped input to pinned memory, which the GPU accesses by DMA, and
//! its result from pinned memory to the mapped output. So outputs are as on the CPU: complete or
//! absent.

use crate::task::Task;
use crate::work::{PIECE, in_parts, in_parts_mut};
use anyhow::Result;
use retrograde_cuda::{Cuda, Error, Host, Route};
use retrograde_io::{Output, Tensor};
use retrograde_program::interrupt;
use retrograde_program::progress::Progress;
use std::ops::Range;
use std::time::{Duration, Instant};

/// Overrides the size of a piece in bytes, so that tests need no large files.
const PIECE_VARIABLE: &str = "RETROGRADE_CUDA_PIECE";

/// Size of a piece of the output in bytes.
pub(crate) fn piece() -> usize {
    let set = std::env::var(PIECE_VARIABLE).ok().and_then(|bytes| bytes.parse().ok());
    set.filter(|&bytes| bytes > 0).unwrap_or(PIECE)
}

/// Reverses one tensor into another and returns the elapsed time.
pub(crate) fn reverse(
    cuda: &Cuda,
    task: &Task,
    input: &Tensor,
    output: &mut Output,
) -> Result<Duration> {
    let (src, dst) = (input.layout().clone(), output.layout().clone());
    let start = Instant::now();
    let done = task.prepared(&src, &dst, |checked| {
        let mut host = Mapped { input, output, progress: Progress::of(checked.plan()) };
        let run = |route: Route<'_>| {
            route.looking_up(task.table()).run(cuda, checked.lengths(), &mut host)
        };
        match Route::of(checked.plan(), piece()).and_then(run) {
            Err(Error::Execute(error)) => Err(error),
            other => Ok(other),
        }
    })?;
    done?;
    Ok(start.elapsed())
}

/// The mapped files.
struct Mapped<'a> {
    input: &'a Tensor,
    output: &'a mut Output,
    progress: Progress,
}

impl Host for Mapped<'_> {
    fn read(&mut self, range: Range<usize>, bytes: &mut [u8]) {
        interrupt::stop_here();
        let input = self.input;
        in_parts_mut(bytes, |start, part| {
            let start = range.start + start;
            let range = start..start + part.len();
            input.fetch(range.clone());
            part.copy_from_slice(&input.data()[range]);
        });
    }

    fn write(&mut self, range: Range<usize>, bytes: &[u8]) {
        interrupt::stop_here();
        let output = &*self.output;
        in_parts(range.clone(), |part| output.prepare(part));
        in_parts_mut(&mut self.output.data_mut()[range], |start, to| {
            to.copy_from_slice(&bytes[start..start + to.len()]);
        });
        self.progress.advance(bytes.len() as u64);
    }
}
