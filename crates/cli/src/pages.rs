//! Completions and manual pages, generated from the definition of the command line.

use crate::args;
use crate::report;
use anyhow::Result;
use clap::Command;
use clap_complete::Shell;
use clap_mangen::Man;
use retrograde_io::{Error, Saving, write_files};
use retrograde_program::programs::{KNOWN, Programs};
use std::path::Path;

/// The command line with those of the other programs, which describe their own if they are there.
fn whole(programs: &Programs) -> Result<Command> {
    let add = |all: Command, one| Ok(all.subcommand(programs.described(one)?));
    KNOWN.iter().try_fold(args::command(None), add)
}

/// Prints completions for a shell.
pub(crate) fn completions(shell: Shell, programs: &Programs) -> Result<()> {
    let mut text = Vec::new();
    clap_complete::generate(shell, &mut whole(programs)?, "retrograde", &mut text);
    Ok(report::print(&String::from_utf8(text)?)?)
}

/// Prints the manual page, or writes those of all commands to a folder.
pub(crate) fn manual(folder: Option<&Path>, programs: &Programs) -> Result<()> {
    match folder {
        Some(folder) => {
            let mut pages = Vec::new();
            let mut command = whole(programs)?.disable_help_subcommand(true);
            command.build();
            all_pages(&command, &mut pages)?;
            let new = !folder.exists();
            let failed = |source| Error::Write { path: folder.to_owned(), source };
            std::fs::create_dir_all(folder).map_err(failed)?;
            let pages: Vec<_> =
                pages.into_iter().map(|(name, text)| (folder.join(name), text)).collect();
            let written = write_files(&pages, &Saving::default());
            if written.is_err() && new {
                // Removed only if it is empty.
                let _ = std::fs::remove_dir(folder);
            }
            Ok(written?)
        }
        None => {
            let mut page = Vec::new();
            Man::new(whole(programs)?).render(&mut page)?;
            Ok(report::print(&String::from_utf8(page)?)?)
        }
    }
}

/// The pages of a command and its subcommands, each with its file name.
fn all_pages(command: &Command, pages: &mut Vec<(String, String)>) -> Result<()> {
    for below in command.get_subcommands().filter(|below| !below.is_hide_set()) {
        all_pages(below, pages)?;
    }
    let page = Man::new(command.clone());
    let mut text = Vec::new();
    page.render(&mut text)?;
    pages.push((page.get_filename(), String::from_utf8(text)?));
    Ok(())
}
