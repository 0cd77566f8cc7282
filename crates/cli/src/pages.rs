//! Completions and manual pages, made from the command line's own definition.

use crate::args::Arguments;
use crate::report;
use anyhow::Result;
use clap::CommandFactory;
use clap_complete::Shell;
use clap_mangen::Man;
use retrograde_io::Error;
use std::path::Path;

/// Prints the completions for a shell.
pub(crate) fn completions(shell: Shell) -> Result<()> {
    let mut text = Vec::new();
    clap_complete::generate(shell, &mut Arguments::command(), "retrograde", &mut text);
    Ok(report::print(&String::from_utf8(text)?)?)
}

/// Prints the manual page, or writes those of all commands to a folder.
pub(crate) fn manual(folder: Option<&Path>) -> Result<()> {
    match folder {
        Some(folder) => std::fs::create_dir_all(folder)
            .and_then(|()| clap_mangen::generate_to(Arguments::command(), folder))
            .map_err(|source| {
                let path = folder.to_owned();
                Error::Write { path, source }.into()
            }),
        None => {
            let mut page = Vec::new();
            Man::new(Arguments::command()).render(&mut page)?;
            Ok(report::print(&String::from_utf8(page)?)?)
        }
    }
}
