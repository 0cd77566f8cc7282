//! Other programs of the project: `retrograde NAME` runs the program NAME, which is held in the same
//! file, or `retrograde-NAME`, as git and cargo do. They do what would make the command large.

use crate::description;
use anyhow::{Result, anyhow};
use clap::{Command as Line, CommandFactory};
use std::collections::BTreeSet;
use std::env;
use std::ffi::{OsStr, OsString};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

/// A program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Program {
    /// Its name as a command: `NAME` of `retrograde-NAME`.
    pub name: &'static str,
    /// What it does.
    pub about: &'static str,
    /// The command that installs it.
    pub install: &'static str,
}

/// Zarr stores and HDF5 files.
pub const ZARR: Program = Program {
    name: "zarr",
    about: "Zarr stores, HDF5 files and URLs; reverse, reverse-sequence and info run it for them",
    install: "cargo install --path crates/zarr",
};
/// Any GPU.
pub const WGPU: Program = Program {
    name: "wgpu",
    about: "This command with any GPU; --device gpu runs it",
    install: "cargo install --path crates/wgpu-command",
};
/// The crate of three programs.
const KIT: &str = "cargo install --path conformance/command";
/// The programs of the project.
pub const KNOWN: [Program; 5] = [
    Program {
        name: "conformance",
        about: "Test runtimes against the rules of the reversal operators",
        install: KIT,
    },
    Program {
        name: "lower",
        about: "Write a model of reversals in another language: ONNX, OpenVINO, StableHLO, DirectML",
        install: KIT,
    },
    Program {
        name: "verify",
        about: "Compare the result of another program with ours, bit by bit",
        install: KIT,
    },
    WGPU,
    ZARR,
];
const PREFIX: &str = "retrograde-";

impl Program {
    /// The error without it; `needed` says what needs it.
    pub fn missing(&self, needed: &str) -> anyhow::Error {
        let Program { name, install, .. } = self;
        anyhow!(
            "{needed} the program {PREFIX}{name}, which is neither beside this one nor in PATH: \
             install it with `{install}`"
        )
    }
}

/// A program as a function: a file of its own calls it, and so does one that holds several.
#[derive(Debug, Clone, Copy)]
pub struct Held {
    /// Its name as a command.
    pub name: &'static str,
    run: Run,
    line: fn() -> Line,
}

/// Runs a program with arguments, of which the first is its own name, and returns its exit code. The
/// second are the words that start it again.
pub type Run = fn(Vec<OsString>, &[OsString]) -> u8;

impl Held {
    /// A program with the arguments `A`.
    pub const fn new<A: CommandFactory>(name: &'static str, run: Run) -> Held {
        Held { name, run, line: A::command }
    }

    /// Runs it as the only program of a file.
    pub fn main(&self) -> ExitCode {
        ExitCode::from((self.run)(env::args_os().collect(), &own()))
    }
}

/// The words that start this file again: its path, if that can be had.
pub fn own() -> Vec<OsString> {
    env::current_exe().map(OsString::from).into_iter().collect()
}

/// The programs that a command can run.
#[derive(Debug, Clone)]
pub struct Programs {
    held: &'static [Held],
    again: Vec<OsString>,
    folders: Vec<PathBuf>,
}

impl Programs {
    /// Those that are held in the same file, in the folder of what starts it, and in `PATH`. `again` are
    /// the words that start the command again.
    pub fn new(held: &'static [Held], again: Vec<OsString>) -> Programs {
        let beside = again.first().and_then(|first| Path::new(first).parent()).map(Path::to_owned);
        let path = env::var_os("PATH").unwrap_or_default();
        let folders = beside.into_iter().chain(env::split_paths(&path));
        // An empty entry would mean the current directory.
        let folders = folders.filter(|folder| !folder.as_os_str().is_empty()).collect();
        Programs { held, again, folders }
    }

    /// Whether there is a program of a name.
    pub fn has(&self, name: &str) -> bool {
        self.held(name).is_some() || self.find(name).is_some()
    }

    fn held(&self, name: &str) -> Option<&'static Held> {
        self.held.iter().find(|held| held.name == name)
    }

    /// The file of a program.
    fn find(&self, name: &str) -> Option<PathBuf> {
        let plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
        let file = format!("{PREFIX}{name}{}", env::consts::EXE_SUFFIX);
        let files = self.folders.iter().map(|folder| folder.join(&file));
        files.filter(|_| !name.is_empty() && name.chars().all(plain)).find(|path| is_program(path))
    }

    /// The names of all programs that are not [known](KNOWN), in order.
    pub fn others(&self) -> BTreeSet<String> {
        let entries =
            self.folders.iter().filter_map(|folder| folder.read_dir().ok()).flatten().flatten();
        let name = |entry: std::fs::DirEntry| {
            let file = entry.file_name();
            let name = file.to_str()?.strip_prefix(PREFIX)?;
            let name = name.strip_suffix(env::consts::EXE_SUFFIX)?.to_owned();
            let known = KNOWN.iter().any(|known| known.name == name);
            (!known && self.find(&name).is_some()).then_some(name)
        };
        entries.filter_map(name).collect()
    }

    /// The command line of a known program: as it describes it itself, or only its name.
    pub fn described(&self, program: &Program) -> Result<Line> {
        if let Some(held) = self.held(program.name) {
            return Ok((held.line)().name(program.name).about(program.about));
        }
        let answer = self.find(program.name).map(|path| answer(&path)).transpose()?;
        let read = answer.and_then(|found| serde_json::from_slice(&found).ok());
        let command = read.and_then(|value| description::read(&value));
        let command = command.unwrap_or_else(|| Line::new(program.name));
        Ok(command.name(program.name).about(program.about))
    }

    /// Runs a program and returns its exit code. On Unix one that is not held replaces this one and does
    /// not return, so that signals reach it. `None` if it is not there.
    pub fn run<S: AsRef<OsStr>>(
        &self,
        name: &str,
        arguments: impl IntoIterator<Item = S>,
    ) -> Option<Result<u8>> {
        if let Some(held) = self.held(name) {
            let own = OsString::from(format!("{PREFIX}{name}"));
            let words = arguments.into_iter().map(|word| word.as_ref().to_owned());
            let again: Vec<_> = self.again.iter().cloned().chain([name.into()]).collect();
            return Some(Ok((held.run)([own].into_iter().chain(words).collect(), &again)));
        }
        let program = self.find(name)?;
        let mut command = Command::new(&program);
        command.args(arguments);
        let failed = |error| anyhow!("cannot run {}: {error}", program.display());
        #[cfg(unix)]
        return Some(Err(failed(std::os::unix::process::CommandExt::exec(&mut command))));
        #[cfg(not(unix))]
        {
            let code = |code: Option<i32>| code.and_then(|code| code.try_into().ok());
            let status = command.status().map_err(failed);
            Some(status.map(|status| code(status.code()).unwrap_or(crate::FAILED)))
        }
    }
}

/// What a program prints if it is asked to describe its command line. Not by `Command::output`, which
/// panics if it cannot read.
fn answer(program: &Path) -> Result<Vec<u8>> {
    let ask = || {
        let mut command = Command::new(program);
        command.arg(description::OPTION).stdin(Stdio::null()).stderr(Stdio::null());
        let mut running = command.stdout(Stdio::piped()).spawn()?;
        let mut text = Vec::new();
        let read = running.stdout.take().map(|mut out| out.read_to_end(&mut text)).transpose();
        running.wait()?;
        read.map(|_| text)
    };
    ask().map_err(|error: io::Error| {
        anyhow!("cannot read the command line of {}: {error}", program.display())
    })
}

#[cfg(unix)]
fn is_program(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    path.metadata().is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
fn is_program(path: &Path) -> bool {
    path.is_file()
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn programs_are_files_that_can_run() {
        let folder = tempfile::tempdir().unwrap();
        let make = |name: &str, mode: u32| {
            let path = folder.path().join(name);
            std::fs::write(&path, "").unwrap();
            std::fs::set_permissions(&path, PermissionsExt::from_mode(mode)).unwrap();
        };
        make("retrograde-one", 0o755);
        make("retrograde-text", 0o644);
        make("retrograde-zarr", 0o755);
        let folders = vec!["/none".into(), folder.path().to_owned()];
        let programs = Programs { held: &[], again: Vec::new(), folders };
        assert_eq!(programs.find("one"), Some(folder.path().join("retrograde-one")));
        for name in ["text", "two", "", "../one", "."] {
            assert!(!programs.has(name), "{name}");
        }
        assert_eq!(programs.others().into_iter().collect::<Vec<_>>(), ["one"]);
        assert!(programs.run("two", ["x"]).is_none());
    }

    /// One
    #[derive(clap::Parser)]
    struct One {
        /// A word
        #[arg(long)]
        word: Option<String>,
    }

    #[test]
    fn held_programs_come_first() {
        const HELD: [Held; 1] = [Held::new::<One>("zarr", |arguments, again| {
            assert_eq!(arguments, ["retrograde-zarr", "x", "y"]);
            assert_eq!(again, ["python", "-m", "retrograde", "zarr"]);
            7
        })];
        let again = ["python", "-m", "retrograde"].map(OsString::from).to_vec();
        let programs = Programs::new(&HELD, again);
        assert!(programs.has("zarr") && !programs.has("one"));
        assert_eq!(programs.run("zarr", ["x", "y"]).unwrap().unwrap(), 7);
        let line = programs.described(&ZARR).unwrap();
        assert_eq!(line.get_about().unwrap().to_string(), ZARR.about);
        assert!(line.get_arguments().any(|argument| argument.get_long() == Some("word")));
    }
}
