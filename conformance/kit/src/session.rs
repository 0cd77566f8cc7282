//! A session: runs the chosen cases on the chosen runtimes and makes the report.
//!
//! The command and the tests call this; what they show meanwhile comes through [`Watch`].

use crate::batch;
use crate::protocol::Hello;
use crate::report::Report;
use crate::results::{Journal, RuntimeResults};
use crate::run::{self, Manner};
use crate::runtimes;
use crate::verdict::CaseResult;
use retrograde_truth::case::Case;
use retrograde_truth::cases;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::AtomicBool;

/// What to run.
#[derive(Debug, Clone)]
pub struct Options {
    /// Names of built-in runtimes, or commands that speak the protocol.
    pub runtimes: Vec<String>,
    /// Runtimes that the program itself is: a name, and the command that answers requests.
    pub own: Vec<(String, Vec<OsString>)>,
    /// The Python for built-in adapters.
    pub python: String,
    /// The seed of the cases.
    pub seed: u64,
    /// Every type for every rule.
    pub full: bool,
    /// Only cases whose id begins with one of these; all if empty.
    pub only: Vec<String>,
    /// The folder for results and reports.
    pub folder: PathBuf,
    /// Do not continue an earlier run.
    pub fresh: bool,
    /// Limits, batches and jobs.
    pub manner: Manner,
    /// The day of the report.
    pub date: String,
}

/// Is told what happens.
pub trait Watch: Sync {
    /// A runtime begins: who it is, how many cases it has, and how many are already done.
    fn begins(&self, hello: &Hello, cases: usize, done: usize);
    /// A case has a result.
    fn result(&self, case: &Case, result: &CaseResult);
    /// A runtime cannot run.
    fn missing(&self, name: &str, reason: &str);
}

/// The cases of these options.
pub fn chosen(seed: u64, full: bool, only: &[String]) -> Result<Vec<Case>, String> {
    let mut all = cases::all(seed, full);
    for prefix in only {
        if !all.iter().any(|case| case.id.starts_with(prefix)) {
            return Err(format!(
                "no case begins with {prefix:?}: `conformance rules` lists the rules"
            ));
        }
    }
    all.retain(|case| only.is_empty() || only.iter().any(|prefix| case.id.starts_with(prefix)));
    Ok(all)
}

/// Runs everything. Whether it was stopped shows in the report: cases that did not run have no
/// verdict.
pub fn run(options: &Options, watch: &dyn Watch, stop: &AtomicBool) -> Result<Report, String> {
    let all = chosen(options.seed, options.full, &options.only)?;
    let cannot = |path: &Path, error: std::io::Error| format!("{}: {error}", path.display());
    std::fs::create_dir_all(&options.folder).map_err(|error| cannot(&options.folder, error))?;
    let path = options.folder.join("results.jsonl");
    let opened = Journal::open(&path, options.seed, options.full, options.fresh);
    let (journal, mut held) = opened.map_err(|error| cannot(&path, error))?;
    let journal = Mutex::new(journal);
    let adapters = options.folder.join("adapters");
    let (mut results, mut missing) = (Vec::new(), Vec::new());
    for name in &options.runtimes {
        let command =
            command_of(name, options, &adapters).map_err(|error| cannot(&adapters, error))?;
        let hello = match batch::ask(&command, options.manner.limits) {
            Ok(hello) => hello,
            Err(reason) => {
                watch.missing(name, &reason);
                missing.push((name.clone(), reason));
                continue;
            }
        };
        let cases: Vec<&Case> = all.iter().filter(|case| hello.has(case)).collect();
        let mut done =
            held.remove(&(hello.runtime.clone(), hello.version.clone())).unwrap_or_default();
        done.retain(|id, _| cases.iter().any(|case| case.id == *id));
        watch.begins(&hello, cases.len(), done.len());
        let progress = |case: &Case, result: &CaseResult| watch.result(case, result);
        let one: RuntimeResults =
            run::run(&command, &hello, &cases, done, options.manner, &journal, stop, &progress)?;
        results.push(one);
    }
    Ok(Report::new(&options.date, (options.seed, options.full), &all, &results, missing))
}

/// The command of a runtime: ourselves, a built-in adapter, or words that a user gave.
fn command_of(name: &str, options: &Options, adapters: &Path) -> std::io::Result<Vec<OsString>> {
    if let Some((_, command)) = options.own.iter().find(|(own, _)| own == name) {
        return Ok(command.clone());
    }
    match runtimes::built_in(name) {
        Some(runtime) => {
            std::fs::create_dir_all(adapters)?;
            runtime.command(&options.python, adapters)
        }
        None => Ok(name.split_whitespace().map(OsString::from).collect()),
    }
}

/// Writes the report in every form: `report.json`, `.html`, `.txt` and `junit.xml`.
pub fn save(report: &Report, folder: &Path) -> Result<(), String> {
    let files = [
        ("report.json", crate::report::json(report)),
        ("report.html", crate::report::html(report)),
        ("report.txt", crate::report::text(report)),
        ("junit.xml", crate::report::junit(report)),
    ];
    for (name, text) in files {
        let path = folder.join(name);
        std::fs::write(&path, text).map_err(|error| format!("{}: {error}", path.display()))?;
    }
    Ok(())
}
