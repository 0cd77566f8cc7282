//! The `retrograde` command: reverses tensors in files and shows what moved.
//!
//! This is the outline; each step has a module of its own.

mod args;
mod bench;
mod elements;
mod load;
mod moved;
mod picture;
mod report;
mod run;
mod task;

use anyhow::Result;
use args::{Arguments, Command, Operation};
use clap::Parser;
use moved::Moved;
use std::process::ExitCode;
use task::Task;

fn main() -> ExitCode {
    let result = match Arguments::parse().command {
        Command::Run(operation) => run(&operation),
        Command::Bench(arguments) => bench::run(&arguments),
        Command::Model(arguments) => run::run(&arguments),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            report::error(&error);
            ExitCode::FAILURE
        }
    }
}

fn run(operation: &Operation) -> Result<()> {
    let files = operation.files();
    let before = load::tensor(&files.input)?;
    let task = Task::prepare(operation, before.layout())?;
    let after = task.reverse(&before)?;

    if let Some(output) = &files.output {
        retrograde_io::npy::write(output, &after)?;
    }
    match &files.output {
        Some(output) if !files.show => report::saved(output, &after, &task),
        _ => {
            let moved = Moved::find(&task, before.shape(), report::has_colours())?;
            let name = report::file_name(&files.input);
            let picture = picture::draw(&name, &before, &after, &task, &moved, report::columns());
            report::print(&picture)?;
        }
    }
    Ok(())
}
