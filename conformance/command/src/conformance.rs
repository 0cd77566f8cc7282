//! `retrograde conformance`: the conformance kit on the command line.

mod args;
mod serve;

pub(crate) use args::Arguments;

use anyhow::{Result, anyhow, bail};
use args::{Conformance, ExportArguments, RunKitArguments, ServeOn, Set};
use indicatif::ProgressBar;
use retrograde_kit::process::Limits;
use retrograde_kit::protocol::Hello;
use retrograde_kit::report::{Report, day, diff, text};
use retrograde_kit::run::Manner;
use retrograde_kit::verdict::{CaseResult, Verdict};
use retrograde_kit::{export, runtimes, session};
use retrograde_program::{progress, report};
use retrograde_truth::case::Case;
use retrograde_truth::{cases, rules};
use std::ffi::OsString;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, SystemTime};

/// Runs it; `again` are the words that start it again.
pub(crate) fn run(arguments: &Arguments, again: &[OsString]) -> Result<()> {
    match &arguments.command {
        Conformance::Rules => list_rules(),
        Conformance::Show { id, set } => show(id, *set),
        Conformance::Export(arguments) => export_cases(arguments),
        Conformance::Run(arguments) => run_runtimes(arguments, again),
        Conformance::Diff { old, new } => compare(old, new),
        Conformance::Merge { reports, output_dir } => merge(reports, output_dir),
        Conformance::Adapter { name } => match runtimes::built_in(name) {
            Some(runtime) => Ok(report::print(runtime.source())?),
            None => {
                let names: Vec<_> = runtimes::BUILT_IN.iter().map(|one| one.name).collect();
                bail!(
                    "conformance adapter: no runtime {name:?}, expected one of {}",
                    names.join(", ")
                )
            }
        },
        Conformance::Serve { device } => serve::serve(*device),
    }
}

fn list_rules() -> Result<()> {
    let all = cases::all(cases::SEED, false);
    let mut out = String::new();
    for rule in rules::RULES {
        let count = all.iter().filter(|case| case.rule == rule.id).count();
        let _ = writeln!(out, "{}  ({count} cases)\n    {}", rule.id, rule.sentence);
        if !rule.silent.is_empty() {
            let _ = writeln!(out, "    Where the texts are silent: {}", rule.silent);
        }
        for known in rule.known {
            let thread = if known.thread.is_empty() {
                String::new()
            } else {
                format!(" ({})", known.thread)
            };
            let _ = writeln!(out, "    {} {}{thread}", known.runtime, known.does);
        }
    }
    Ok(report::print(&out)?)
}

fn show(id: &str, set: Set) -> Result<()> {
    let all = cases::all(set.seed, set.full);
    let Some(case) = all.iter().find(|case| case.id == id) else {
        bail!("conformance show: no case {id:?}: an id is RULE.OPERATOR.TYPE.SHAPE.NUMBER");
    };
    let (request, expected) = (case.request(), case.expected_json());
    Ok(report::print(&format!("{}\n{request}\n{expected}\n", case.line()))?)
}

fn export_cases(arguments: &ExportArguments) -> Result<()> {
    let all = cases::all(arguments.set.seed, arguments.set.full);
    let (format, folder) = (arguments.format.into(), &arguments.folder);
    let written = export::export(&all, arguments.set.seed, format, arguments.opset, folder)
        .map_err(|reason| anyhow!("conformance export: {reason}"))?;
    let (cases, left_out) = (written.cases, written.left_out);
    let folder = folder.display();
    report::say(&format!(
        "{folder}: {cases} cases, {left_out} left out that the format does not have"
    ));
    Ok(())
}

fn compare(old: &Path, new: &Path) -> Result<()> {
    let (changes, worse) = diff(&read(old)?, &read(new)?);
    report::print(&changes)?;
    match worse {
        0 => Ok(()),
        worse => bail!("conformance diff: {worse} cases fail that did not"),
    }
}

fn merge(reports: &[PathBuf], folder: &Path) -> Result<()> {
    let failed = |reason: String| anyhow!("conformance merge: {reason}");
    let reports = reports.iter().map(|path| read(path)).collect::<Result<Vec<_>>>()?;
    let joined = Report::merged(&reports).map_err(failed)?;
    let name = folder.display();
    std::fs::create_dir_all(folder).map_err(|error| failed(format!("{name}: {error}")))?;
    session::save(&joined, folder).map_err(failed)?;
    report::print(&text(&joined))?;
    report::say(&format!("report: {}", folder.join("report.html").display()));
    Ok(())
}

fn read(path: &Path) -> Result<Report> {
    let name = path.display();
    let text = std::fs::read_to_string(path).map_err(|error| anyhow!("{name}: {error}"))?;
    let value = serde_json::from_str(&text).map_err(|error| anyhow!("{name}: {error}"))?;
    Report::from_json(&value).map_err(|reason| anyhow!("{name}: {reason}"))
}

fn run_runtimes(arguments: &RunKitArguments, again: &[OsString]) -> Result<()> {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    let limits = Limits {
        case: Duration::from_secs(arguments.timeout),
        memory: arguments.memory << 20,
        ..Limits::default()
    };
    let (batch, jobs) = (arguments.batch.get(), arguments.jobs.get());
    let options = session::Options {
        runtimes: arguments.runtime.clone(),
        own: ServeOn::NAMED
            .iter()
            .map(|&on| (on.runtime().to_owned(), serve_on(again, on)))
            .collect(),
        python: arguments.python.clone(),
        seed: arguments.set.seed,
        full: arguments.set.full,
        only: arguments.case.clone(),
        folder: arguments.output_dir.clone(),
        fresh: arguments.fresh,
        manner: Manner { limits, batch, jobs },
        date: day(since),
    };
    let bar = Bar::default();
    let made = session::run(&options, &bar, &AtomicBool::new(false));
    bar.end();
    let made = made.map_err(|reason| anyhow!("conformance run: {reason}"))?;
    session::save(&made, &options.folder).map_err(|reason| anyhow!("conformance run: {reason}"))?;
    report::print(&text(&made))?;
    report::say(&format!("report: {}", options.folder.join("report.html").display()));
    if made.runtimes.is_empty() {
        bail!("conformance run: no runtime could be run");
    }
    let failures: usize = made.runtimes.iter().map(|row| row.failures()).sum();
    if arguments.strict && failures > 0 {
        bail!("conformance run: {failures} cases failed");
    }
    Ok(())
}

/// The command that answers requests with this engine.
fn serve_on(again: &[OsString], on: ServeOn) -> Vec<OsString> {
    let words = ["serve", "--device", &on.to_string()].map(OsString::from);
    again.iter().cloned().chain(words).collect()
}

/// The progress of a session: a bar on a terminal, a line for each runtime elsewhere.
#[derive(Default)]
struct Bar {
    bar: Mutex<Option<ProgressBar>>,
}

impl Bar {
    fn end(&self) {
        if let Some(bar) = self.bar.lock().ok().and_then(|mut bar| bar.take()) {
            bar.finish_and_clear();
        }
    }
}

impl session::Watch for Bar {
    fn begins(&self, hello: &Hello, cases: usize, done: usize) {
        self.end();
        let again = if done > 0 { format!(", {done} already done") } else { String::new() };
        report::say(&format!("{} {}: {cases} cases{again}", hello.runtime, hello.version));
        if report::is_watched() {
            let bar = progress::bar(cases as u64, "{bar:32} {pos} of {len}, {eta} left, {msg}");
            bar.set_position(done as u64);
            // Cases of an earlier run took no time of this one.
            bar.reset_eta();
            if let Ok(mut slot) = self.bar.lock() {
                *slot = Some(bar);
            }
        }
    }

    fn result(&self, case: &Case, result: &CaseResult) {
        if let Ok(slot) = self.bar.lock()
            && let Some(bar) = &*slot
        {
            bar.inc(1);
            if matches!(result.verdict, Verdict::Crash | Verdict::Hang | Verdict::Memory) {
                bar.set_message(format!("{} {}", result.verdict.name(), case.id));
            }
        }
    }

    fn missing(&self, name: &str, reason: &str) {
        self.end();
        report::say(&format!("{name}: not run: {reason}"));
    }
}
