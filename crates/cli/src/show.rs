//! `retrograde show`: draws what an operator does and writes nothing else.

use crate::args::ShowArguments;
use crate::task::Task;
use crate::{load, picture, report};
use anyhow::{Result, bail};
use retrograde_io::{Saving, write_text};
use std::path::Path;

/// Prints the picture, or writes it as an image.
pub(crate) fn run(arguments: &ShowArguments) -> Result<()> {
    let (input, force) = (arguments.operation.files(), arguments.force);
    let keep = arguments.operation.arguments_read();
    keep.add(&input.input.path);
    let saving = Saving { force, keep, format: None };
    if let Some(path) = &arguments.svg {
        check_name(path)?;
    }
    let before = load::tensor(&input.input, &input.opening(None, &saving.keep))?;
    let task = Task::prepare(&arguments.operation, before.layout(), before.data(), &saving.keep)?;
    let image = || picture::draw_svg(&input.input, &before, &task);
    match &arguments.svg {
        Some(path) if path.as_os_str() == "-" => Ok(report::print(&image())?),
        Some(path) => Ok(write_text(path, &image(), &saving)?),
        None => Ok(report::print(&picture::draw(&input.input, &before, &task))?),
    }
}

/// Refuses other extensions, since programs identify images by them.
fn check_name(path: &Path) -> Result<()> {
    let named = path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("svg"));
    let device = path.metadata().is_ok_and(|found| !found.is_file() && !found.is_dir());
    if !named && !device && path.as_os_str() != "-" {
        bail!("--svg {}: expected a name that ends in .svg, or - for stdout", path.display());
    }
    Ok(())
}
