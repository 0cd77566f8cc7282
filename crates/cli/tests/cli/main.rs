//! Runs the real `retrograde` command on the shipped examples and on files made here.

mod bench;
mod cuda;
mod errors;
mod exported;
mod faults;
mod files;
mod formats;
mod models;
mod pictures;
mod programs;
mod ragged;
mod replacing;
mod reports;
mod rot90;
mod signals;

use retrograde_deadline::{Outcome, Process, fed, output, program};
use retrograde_io::npy::{self, NpyArray};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use tempfile::TempDir;

/// The command in this folder, without environment variables that change its output.
fn command(folder: &Path, arguments: &[&str]) -> Command {
    program(env!("CARGO_BIN_EXE_retrograde"), folder, arguments)
}

fn run(mut command: Command) -> Outcome {
    output(&mut command).unwrap().into()
}

/// Starts a command whose output and errors are pipes.
fn piped(mut command: Command) -> Process {
    Process::start(command.stdout(Stdio::piped()).stderr(Stdio::piped())).unwrap()
}

/// Runs it in the repository's root, without errors; returns its stdout.
fn shown(arguments: &[&str]) -> String {
    shown_in(&repository(), arguments)
}

fn shown_in(folder: &Path, arguments: &[&str]) -> String {
    let Outcome { code, stdout, stderr } = run(command(folder, arguments));
    assert_eq!((code, stderr.as_str()), (Some(0), ""), "{arguments:?}");
    stdout
}

/// Runs it in a folder without an error; returns what it said on stderr.
fn done(folder: &Path, arguments: &[&str]) -> String {
    let Outcome { code, stderr, .. } = run(command(folder, arguments));
    assert_eq!(code, Some(0), "{arguments:?}: {stderr}");
    stderr
}

/// An array that was written to a folder.
fn read(folder: &TempDir, name: &str) -> NpyArray {
    npy::read(folder.path().join(name)).unwrap()
}

/// An `.npy` file with this header and data, valid or not.
fn raw(header: &str, data: &[u8]) -> Vec<u8> {
    let size = (header.len() as u16).to_le_bytes();
    [b"\x93NUMPY\x01\x00", &size[..], header.as_bytes(), data].concat()
}

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn example(name: &str) -> PathBuf {
    repository().join("examples").join(name)
}

/// A temporary folder with these arrays.
fn folder_with(arrays: &[(&str, NpyArray)]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, array) in arrays {
        npy::write(folder.path().join(name), array).unwrap();
    }
    folder
}

fn array(descr: &str, shape: &[usize], data: impl IntoIterator<Item = u8>) -> NpyArray {
    NpyArray::new(descr, shape, false, data.into_iter().collect()).unwrap()
}

/// The rows of a table: `WORDS => TEXT`, of which the text may go on in indented lines. `''` is an empty
/// word, and `#` begins a comment.
fn cases(table: &str) -> Vec<(Vec<&str>, String)> {
    let mut cases: Vec<(Vec<&str>, String)> = Vec::new();
    for line in table.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        if let Some((words, text)) = line.split_once(" =>") {
            let words = words.split(' ').map(|word| if word == "''" { "" } else { word });
            cases.push((words.collect(), text.trim_start().to_owned()));
        } else {
            let (_, text) = cases.last_mut().unwrap();
            text.push_str(if text.is_empty() { "" } else { " " });
            text.push_str(line.trim_start());
        }
    }
    cases
}

/// The names in a folder, sorted.
fn names(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).unwrap();
    let mut names: Vec<_> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}
