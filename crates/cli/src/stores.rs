//! Zarr stores, HDF5 files and URLs: they belong to the program `retrograde-zarr`, whose codecs would
//! multiply the size of this one.

use crate::args::{Arguments, Command, Operation};
use anyhow::{Result, bail};
use retrograde_io::Location;
use retrograde_program::place::is_store;

/// The input or output that is a store, if there is one. An error for commands that do not take
/// stores, and for options that only stores have.
pub(crate) fn among(arguments: &Arguments) -> Result<Option<String>> {
    let (command, files, taken): (_, [Option<&Location>; 2], _) = match &arguments.command {
        Command::Operate(operation) => {
            let files = operation.files();
            let taken = matches!(operation, Operation::Reverse(_) | Operation::ReverseSequence(_));
            (operation.name(), [Some(&files.input.input), files.output.as_ref()], taken)
        }
        Command::Info(info) => ("info", [Some(&info.input.input), None], true),
        Command::Show(show) => ("show", [Some(&show.operation.files().input), None], false),
        Command::Explain(explain) => {
            ("explain", [Some(&explain.operation.files().input), None], false)
        }
        _ => return Ok(None),
    };
    let store = files.into_iter().flatten().find(|file| is_store(file));
    if let (Some(store), Command::Operate(operation)) = (store, &arguments.command)
        && taken
        && let Some(option) =
            [operation.mask().map(|_| "--where"), operation.table().map(|_| "--table")]
                .into_iter()
                .flatten()
                .next()
    {
        bail!(
            "{store}: {option} is not for Zarr stores, HDF5 files or URLs: omit it, or give a file such \
             as .npy"
        );
    }
    match (store, &arguments.command) {
        (Some(store), _) if !taken => bail!(
            "{store}: {command} does not take Zarr stores, HDF5 files or URLs; these do: reverse, \
             reverse-sequence, info"
        ),
        (None, Command::Operate(operation)) => {
            let files = operation.files();
            files.store.refuse(&files.input.input.to_string())?;
        }
        _ => {}
    }
    Ok(store.map(Location::to_string))
}
