//! The `retrograde` command: reverses tensors in files and shows what moved.
//!
//! This is the outline; each step has a module of its own.

mod args;
mod bench;
mod cuda;
mod elements;
mod explain;
mod info;
mod interrupt;
mod load;
mod pages;
mod picture;
mod progress;
mod report;
mod run;
mod task;
mod work;

use anyhow::{Result, bail};
use args::{Arguments, Command, Device, Files, InPlace, Operation, ShowArguments};
use clap::Parser;
use retrograde_io::{Edit, Error, Format, Location, Output, Tensor, open};
use std::io::{self, IsTerminal};
use std::process::ExitCode;
use std::time::Duration;
use task::Task;

fn main() -> ExitCode {
    let result = match Arguments::parse().command {
        Command::Operate(operation) => operate(&operation),
        Command::Info(arguments) => info::run(&arguments),
        Command::Explain(arguments) => explain::run(&arguments),
        Command::Show(arguments) => show(&arguments),
        Command::Bench(arguments) => bench::run(&arguments),
        Command::Model(arguments) => run::run(&arguments),
        Command::Completions { shell } => pages::completions(shell),
        Command::Man { dir } => pages::manual(dir.as_deref()),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            report::error(&error);
            ExitCode::FAILURE
        }
    }
}

/// Reverses, writes and shows, whatever was asked for.
fn operate(operation: &Operation<Files>) -> Result<()> {
    let files = operation.files();
    interrupt::handle()?;
    if files.in_place == Some(InPlace::Direct) {
        return operate_in_place(operation);
    }
    let (output, format) = destination(files)?;
    let opening = files.input.opening(output.as_ref());
    let before = open(&files.input.input, &opening)?;
    let task = Task::prepare(operation, before.layout())?;
    let cuda = match files.device {
        Device::Cpu => None,
        Device::Cuda(number) => Some(cuda::open(number, files, before.element_type())?),
    };
    let picture = || draw(&files.input.input, &before, &task);
    let Some(output) = output else { return Ok(report::print(&picture())?) };

    if files.in_place.is_some() && !matches!(before.format(), Format::Npy | Format::Raw) {
        let (path, format) = (output.path, before.format());
        return Err(Error::NotInPlace { path, format }.into());
    }
    let format = format.or(files.in_place.map(|_| before.format()));
    let mut after = Output::like(&before, output, format)?;
    let took = match &cuda {
        Some(cuda) => Some((cuda, cuda::reverse(cuda, &task, &before, &mut after)?)),
        None => work::reverse(&task, &before, &mut after).map(|()| None)?,
    };
    // Drawn now: the output may be about to replace the input.
    let picture = files.show.then(picture);
    let (shape, size) = (after.layout().shape(), after.data_bytes());
    let saved = report::saved(after.location(), after.element_type(), shape, size, &task);
    match after.finish() {
        // A reader that has seen enough is no error.
        Err(Error::Write { path, source })
            if path.as_os_str() == "-" && source.kind() == io::ErrorKind::BrokenPipe => {}
        result => result?,
    }
    match picture {
        Some(picture) => report::print(&picture)?,
        None => report::say(&saved),
    }
    if let Some((cuda, took)) = took {
        let copy = Duration::from_secs_f64(size as f64 / bench::copy_speed(size)?);
        report::say(&report::took(cuda.ordinal(), cuda.name(), took, copy));
    }
    Ok(())
}

/// Reverses a file where it is.
fn operate_in_place(operation: &Operation<Files>) -> Result<()> {
    let files = operation.files();
    if files.device != Device::Cpu {
        bail!("--in-place=direct is done by the CPU: leave --device out, or use --in-place=copy");
    }
    let opening = files.input.opening(None);
    let mut tensor = Edit::open(&files.input.input, &opening)?;
    let task = Task::prepare(operation, tensor.layout())?;
    let picture = match files.show {
        true => Some(draw(&files.input.input, &open(&files.input.input, &opening)?, &task)),
        false => None,
    };
    interrupt::hold_back();
    work::reverse_in_place(&task, &mut tensor)?;
    let (shape, size) = (tensor.layout().shape(), tensor.layout().byte_len());
    let saved = report::saved(tensor.location(), tensor.element_type(), shape, size, &task);
    tensor.finish()?;
    match picture {
        Some(picture) => report::print(&picture)?,
        None => report::say(&saved),
    }
    Ok(())
}

/// Where the result goes, if anywhere, and in which format if that was said.
fn destination(files: &Files) -> Result<(Option<Location>, Option<Format>)> {
    if files.in_place.is_some() {
        return Ok((Some(files.input.input.clone()), None));
    }
    if files.output.as_ref().is_some_and(Location::is_stream) {
        if files.show {
            bail!("--show and -o - both write to stdout: use one of them, or -o FILE");
        }
        if io::stdout().is_terminal() {
            bail!("-o - writes bytes, and stdout is a terminal: redirect it, or use -o FILE");
        }
    }
    Ok((files.output.clone(), files.to))
}

/// Shows what an operator does, and writes nothing but the picture.
fn show(arguments: &ShowArguments) -> Result<()> {
    let input = arguments.operation.files();
    let before = open(&input.input, &input.opening(None))?;
    let task = Task::prepare(&arguments.operation, before.layout())?;
    match &arguments.svg {
        Some(path) => {
            let image = picture::draw_svg(&report::name(&input.input), &before, &task);
            Ok(retrograde_io::write_text(path, &image)?)
        }
        None => Ok(report::print(&draw(&input.input, &before, &task))?),
    }
}

fn draw(location: &Location, before: &Tensor, task: &Task) -> String {
    picture::draw(&report::name(location), before, task, report::columns())
}
