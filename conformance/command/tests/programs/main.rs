//! Runs the real programs on what they export and on files made here.

mod cases;
mod conformance;
mod lowering;

use retrograde_deadline::{Outcome, fed, output, program};
use retrograde_program::programs::Programs;
use std::ffi::OsString;
use std::path::Path;
use std::process::Command;

/// A program in this folder: the first of these words is its name.
fn command(folder: &Path, words: &[&str]) -> Command {
    let path = match words[0] {
        "conformance" => env!("CARGO_BIN_EXE_retrograde-conformance"),
        "lower" => env!("CARGO_BIN_EXE_retrograde-lower"),
        "verify" => env!("CARGO_BIN_EXE_retrograde-verify"),
        other => panic!("there is no program {other}"),
    };
    program(path, folder, &words[1..])
}

fn run(mut command: Command) -> Outcome {
    output(&mut command).unwrap().into()
}

/// Runs the `retrograde` command in this process; returns its exit code.
fn retrograde(words: Vec<OsString>) -> u8 {
    retrograde_cli::main(words, None, &Programs::new(&[], Vec::new()))
}

/// Runs a model with the `retrograde` command; inputs are pairs of a name and a file.
fn run_model(folder: &Path, model: &str, inputs: &[(&str, &str)], output: &str) {
    let at = |name: &str| folder.join(name).display().to_string();
    let mut words: Vec<String> = ["retrograde", "-q", "run"].map(String::from).into();
    words.extend([at(model), "--output".to_owned(), at(output)]);
    for (name, file) in inputs {
        words.extend(["-i".to_owned(), format!("{name}={}", at(file))]);
    }
    assert_eq!(retrograde(words.iter().map(Into::into).collect()), 0, "{words:?}");
}

#[test]
fn help_names_the_command_and_the_programs_have_a_version() {
    let folder = tempfile::tempdir().unwrap();
    for (name, said) in [
        ("conformance", "Usage: retrograde conformance [OPTIONS] <COMMAND>"),
        ("lower", "Usage: retrograde lower [OPTIONS] --to <LANGUAGE> <MODEL>"),
        ("verify", "Usage: retrograde verify [OPTIONS] <COMMAND>"),
    ] {
        let help = run(command(folder.path(), &[name, "--help"]));
        assert_eq!((help.code, help.stderr.as_str()), (Some(0), ""), "{name}");
        assert!(help.stdout.contains(said), "{}", help.stdout);
        let version = run(command(folder.path(), &[name, "--version"]));
        let expected = format!("retrograde-{name} {}\n", env!("CARGO_PKG_VERSION"));
        assert_eq!((version.code, version.stdout), (Some(0), expected));
        assert_eq!(run(command(folder.path(), &[name, "--no-such-option"])).code, Some(2));
    }
}
