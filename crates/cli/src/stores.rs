//! Zarr stores, HDF5 files and URLs: they belong to a second program, `retrograde-zarr`, which has
//! the same command line. The codecs that it needs would multiply the size of this one.
//!
//! This runs before arguments are parsed, because the other program has options of its own.

use crate::program::Program;
use anyhow::{Result, bail};
use retrograde_io::Location;
use std::ffi::{OsStr, OsString};
use std::io::Read;
use std::iter;
use std::path::Path;

/// The other program.
const PROGRAM: Program = Program { name: "retrograde-zarr", install: "cargo install --path zarr" };
/// Commands that it has.
const COMMANDS: [&str; 3] = ["reverse", "reverse-sequence", "info"];
/// Commands of this program that take a tensor, and so might be given a store.
const OTHERS: [&str; 5] = ["reverse-subsequences", "reverse-segments", "rot90", "show", "explain"];
/// Options whose values are neither inputs nor outputs.
const VALUES: [&str; 16] = [
    "--axes",
    "--mask",
    "--duplicates",
    "--memory",
    "--threads",
    "--dtype",
    "--shape",
    "--from",
    "--to",
    "--device",
    "--lengths",
    "--time-axis",
    "--batch-axis",
    "--policy",
    "--align",
    "--tail",
];
const URLS: [&str; 3] = ["s3://", "http://", "https://"];
const EXTENSIONS: [&str; 6] = ["zarr", "h5", "hdf5", "nc", "nc4", "he5"];
/// How HDF5 files begin.
const SIGNATURE: &[u8; 8] = b"\x89HDF\r\n\x1a\n";

/// Runs the other program if the input or output is a store, and returns its exit code. On Unix a
/// program that was found replaces this one and does not return.
pub(crate) fn dispatch(arguments: &[OsString]) -> Result<Option<u8>> {
    let words = || arguments.iter().skip(1);
    let Some(name) = words().find(|word| !word.to_string_lossy().starts_with('-')) else {
        return Ok(None);
    };
    let Some(store) = files(arguments).into_iter().find(|file| is_store(file)) else {
        return Ok(None);
    };
    let shown = store.to_string_lossy();
    if OTHERS.iter().any(|other| name == other) {
        let name = name.to_string_lossy();
        let known = COMMANDS.join(", ");
        bail!("{shown}: {name} does not take Zarr stores, HDF5 files or URLs; these do: {known}");
    }
    if !COMMANDS.iter().any(|known| name == known) {
        return Ok(None);
    }
    let needed = format!("{shown}: Zarr stores, HDF5 files and URLs need");
    PROGRAM.run(&needed, arguments).map(Some)
}

/// Arguments that may be inputs or outputs.
fn files(arguments: &[OsString]) -> Vec<OsString> {
    let mut found = Vec::new();
    let mut words = arguments.iter().skip(1);
    while let Some(word) = words.next() {
        let text = word.to_string_lossy();
        if VALUES.contains(&text.as_ref()) {
            words.next();
        } else if let Some(output) = text.strip_prefix("--output=") {
            found.push(output.into());
        } else if let Some(output) = text.strip_prefix("-o").filter(|rest| !rest.is_empty()) {
            found.push(output.into());
        } else if !text.starts_with('-') {
            found.push(word.clone());
        }
    }
    found
}

/// Whether a text names a store: by its content if it exists, or by its ending.
fn is_store(text: &OsStr) -> bool {
    let Some(text) = text.to_str() else { return is_store_at(Path::new(text)) };
    if URLS.iter().any(|scheme| text.starts_with(scheme)) || text.contains(".zarr:") {
        return true;
    }
    // As for any file, the whole text comes first and then the first colon behind something that
    // exists.
    let paths = || iter::once(text).chain(Location::splits(text).map(|(path, _)| path));
    match paths().map(Path::new).find(|path| path.exists()) {
        Some(path) => is_store_at(path),
        None => paths().any(|path| is_store_at(Path::new(path))),
    }
}

fn is_store_at(path: &Path) -> bool {
    if path.is_dir() {
        return ["zarr.json", ".zarray", ".zgroup"].iter().any(|name| path.join(name).exists());
    }
    if path.is_file() {
        let mut start = [0; 8];
        let read = std::fs::File::open(path).and_then(|mut file| file.read_exact(&mut start));
        return read.is_ok() && start == *SIGNATURE;
    }
    let extension = path.extension();
    extension.is_some_and(|found| EXTENSIONS.iter().any(|known| found.eq_ignore_ascii_case(known)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inputs_and_outputs_are_found_among_options() {
        let found = |line: &str| -> Vec<String> {
            let words: Vec<OsString> = line.split(' ').map(OsString::from).collect();
            files(&words).into_iter().map(|file| file.into_string().unwrap()).collect()
        };
        let all = ["reverse", "a.zarr", "b.zarr"];
        assert_eq!(found("retrograde reverse a.zarr --axes x -o b.zarr"), all);
        assert_eq!(found("retrograde -q reverse a.zarr --output=b.zarr --memory 1G"), all);
        assert_eq!(found("retrograde reverse a.zarr -ob.zarr --axes=0"), all);
        let all = ["reverse-sequence", "a.npy", "b.npy"];
        assert_eq!(found("retrograde reverse-sequence a.npy --lengths l.zarr:x -o b.npy"), all);
    }

    #[test]
    fn datasets_may_have_colons_in_their_names() {
        let folder = tempfile::tempdir().unwrap();
        let is = |name: &str| is_store(folder.path().join(name).as_os_str());
        assert!(is("k.h5:dense/kernel:0") && is("k:0.h5:dense/kernel:0"));
        // What exists decides, not the name of a tensor in it.
        std::fs::write(folder.path().join("k.npz"), b"").unwrap();
        std::fs::write(folder.path().join("k"), SIGNATURE).unwrap();
        assert!(is("k:dense/kernel:0") && !is("k.npz:dense/kernel.h5:0"));
    }

    #[test]
    fn stores_are_known_by_their_names_and_contents() {
        let is = |text: &str| is_store(OsStr::new(text));
        for store in ["a.zarr", "a.ZARR", "a.zarr:x/y", "s3://b/c", "http://h/x", "no.nc:t", "x.h5"]
        {
            assert!(is(store), "{store}");
        }
        for other in ["a.npy", "a.npz:zarr", "reverse", "-", "src", "zarr", "src/lib.rs"] {
            assert!(!is(other), "{other}");
        }
    }
}
