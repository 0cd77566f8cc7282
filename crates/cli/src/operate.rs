//! Runs an operator on files: reverses, writes and draws, as requested.

use crate::args::{Device, Files, InPlace, Operation};
use crate::device::Opened;
use crate::gpu::OpenGpu;
use crate::task::Task;
use crate::{bench, load, picture, report, work};
use anyhow::{Result, bail};
use retrograde_io::{Edit, Error, Format, Location, Output, Saving};
use retrograde_program::interrupt;
use std::time::Duration;

/// Files up to this size are drawn to be looked at. Of larger ones, a picture shows only the ends, and
/// an output may have been forgotten.
const SMALL: usize = 4 << 10;

/// Runs one of the operators; `gpu` opens GPUs other than CUDA's, if this program has that.
pub(crate) fn run(operation: &Operation<Files>, gpu: Option<OpenGpu>) -> Result<()> {
    let files = operation.files();
    let (output, format) = destination(files)?;
    let saving = Saving { format, force: files.force, keep: operation.arguments_read() };
    if files.in_place == Some(InPlace::Direct) {
        return in_place(operation, &saving);
    }
    let opening = files.input.opening(output.as_ref(), &saving.keep);
    let before = load::tensor(&files.input.input, &opening)?;
    let task = Task::prepare(operation, before.layout(), before.data(), &saving.keep)?;
    let device = Opened::of(files, before.element_type(), &task, gpu)?;
    let picture = || picture::draw(&files.input.input, &before, &task);
    let Some(output) = output else {
        report::print(&picture())?;
        if !files.show && before.layout().byte_len() > SMALL {
            report::say(&unwritten(&files.input.input));
        }
        return Ok(());
    };

    if files.in_place.is_some() && !matches!(before.format(), Format::Npy | Format::Raw) {
        let (path, format) = (output.path, before.format());
        return Err(Error::NotInPlace { path, format }.into());
    }
    let own_format = files.in_place.map(|_| before.format());
    let saving = Saving { format: saving.format.or(own_format), ..saving };
    let mut after = Output::like_swapped(&before, task.swapped(), output, &saving)?;
    let took = device.reverse(&task, &before, &mut after)?;
    // Drawn now: the output may be about to replace the input.
    let picture = files.show.then(picture);
    let (size, how) = (after.data_bytes(), report::reversed(&task));
    let saved = report::saved(after.location(), after.element_type(), after.layout(), size, &how);
    let completed = Output::complete_all(vec![after])?;
    // Windows cannot replace a file that is mapped.
    drop(before);
    completed.publish()?;
    told(picture, &saved)?;
    if let Some(took) = took {
        let copy = Duration::from_secs_f64(size as f64 / bench::copy_speed(size)?);
        report::say(&report::took(&device.name(), took, copy));
    }
    Ok(())
}

/// Reverses a file in place.
fn in_place(operation: &Operation<Files>, saving: &Saving) -> Result<()> {
    let files = operation.files();
    if files.device != Device::Cpu {
        bail!("--in-place=direct runs on the CPU only: omit --device, or use --in-place=copy");
    }
    let input = &files.input.input;
    let opening = files.input.opening(None, &saving.keep);
    let picture = match files.show {
        true => {
            let before = load::tensor(input, &opening)?;
            let task = Task::prepare(operation, before.layout(), before.data(), &saving.keep)?;
            Some(picture::draw(input, &before, &task))
        }
        false => None,
    };
    let mut tensor = Edit::open(input, &opening, saving)?;
    let task = Task::prepare(operation, tensor.layout(), tensor.data(), &saving.keep)?;
    interrupt::hold_back();
    work::reverse_in_place(&task, &mut tensor)?;
    let (layout, how) = (tensor.layout(), report::reversed(&task));
    let size = layout.byte_len();
    let saved = report::saved(tensor.location(), tensor.element_type(), layout, size, &how);
    tensor.finish()?;
    told(picture, &saved)
}

/// What to say if nothing was written, although that may have been meant.
fn unwritten(input: &Location) -> String {
    let replace = if input.is_stream() { "" } else { ", --in-place replaces the input" };
    format!(
        "nothing was written: -o OUT writes the result{replace} (--show says that the picture is \
         what you want)"
    )
}

/// Prints the picture or, without one, what was written.
fn told(picture: Option<String>, saved: &str) -> Result<()> {
    match picture {
        Some(picture) => report::print(&picture)?,
        None => report::say(saved),
    }
    Ok(())
}

/// Where the result goes, if anywhere, and its format if one was given.
fn destination(files: &Files) -> Result<(Option<Location>, Option<Format>)> {
    if files.in_place.is_some() {
        let input = &files.input.input;
        // Checked before it is opened: opening a pipe would block until somebody writes to it.
        let other = |path: &std::path::Path| path.metadata().is_ok_and(|found| !found.is_file());
        if input.is_stream() || other(&input.path) {
            return Err(Error::NotRegular { path: input.path.clone() }.into());
        }
        return Ok((Some(input.clone()), None));
    }
    if files.output.as_ref().is_some_and(Location::is_stream) && files.show {
        bail!("--show and -o - both write to stdout: use one of them, or -o FILE");
    }
    files.output.as_ref().map_or(Ok(()), report::check_stdout)?;
    Ok((files.output.clone(), files.to))
}
