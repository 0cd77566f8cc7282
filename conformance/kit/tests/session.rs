//! A session: what it tells while it runs, how it continues after an interruption, and reports that
//! are joined.

use retrograde_kit::process::Limits;
use retrograde_kit::protocol::Hello;
use retrograde_kit::report::Report;
use retrograde_kit::run::Manner;
use retrograde_kit::session::{self, Options, Watch};
use retrograde_kit::verdict::{CaseResult, Verdict};
use retrograde_truth::case::Case;
use std::path::Path;
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

/// Counts what it is told, and stops the session after some results.
#[derive(Default)]
struct Counts {
    begun: Mutex<Vec<(String, usize, usize)>>,
    results: Mutex<Vec<String>>,
    missing: Mutex<Vec<String>>,
    stop: AtomicBool,
    most: usize,
}

impl Watch for Counts {
    fn begins(&self, hello: &Hello, cases: usize, done: usize) {
        self.begun.lock().unwrap().push((hello.runtime.clone(), cases, done));
    }

    fn result(&self, case: &Case, _: &CaseResult) {
        let mut results = self.results.lock().unwrap();
        results.push(case.id.clone());
        if results.len() >= self.most {
            self.stop.store(true, Ordering::Relaxed);
        }
    }

    fn missing(&self, name: &str, reason: &str) {
        self.missing.lock().unwrap().push(format!("{name}: {reason}"));
    }
}

fn options(folder: &Path, fresh: bool) -> Options {
    let adapter = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/adapter.py");
    let own = vec!["python3".into(), adapter.into()];
    Options {
        runtimes: vec!["mine".to_owned(), "no-such-adapter".to_owned()],
        own: vec![("mine".to_owned(), own)],
        python: "python3".to_owned(),
        seed: 1,
        full: false,
        only: vec!["axes.several.flip".to_owned(), "axes.none.flip".to_owned()],
        folder: folder.to_owned(),
        fresh,
        manner: Manner { limits: Limits::default(), batch: 5, jobs: 1 },
        date: "2026-11-17".to_owned(),
    }
}

fn has_python() -> bool {
    let found = retrograde_deadline::output(Command::new("python3").arg("--version")).is_ok();
    if !found {
        println!("skipped: there is no python3");
    }
    found
}

#[test]
fn progress_is_told_and_an_interrupted_run_continues() {
    if !has_python() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let first = Counts { most: 5, ..Counts::default() };
    let report = session::run(&options(folder.path(), false), &first, &first.stop).unwrap();
    let total = report.cases.len();
    assert_eq!(*first.begun.lock().unwrap(), [("example-python".to_owned(), total, 0)]);
    // It ends with a batch; what did not run has no verdict.
    assert_eq!(first.results.lock().unwrap().len(), 5);
    assert_eq!(
        report.runtimes[0].verdicts.iter().filter(|&&letter| letter == '-').count(),
        total - 5
    );
    assert_eq!(first.missing.lock().unwrap().len(), 1);
    assert!(first.missing.lock().unwrap()[0].starts_with("no-such-adapter: "));

    let second = Counts { most: usize::MAX, ..Counts::default() };
    let report = session::run(&options(folder.path(), false), &second, &second.stop).unwrap();
    assert_eq!(*second.begun.lock().unwrap(), [("example-python".to_owned(), total, 5)]);
    let again = second.results.lock().unwrap();
    assert_eq!(again.len(), total - 5);
    assert!(again.iter().all(|id| !first.results.lock().unwrap().contains(id)));
    assert_eq!(report.runtimes[0].count(Verdict::Pass), total);
    assert_eq!(report.runtimes[0].failures(), 0);

    let third = Counts { most: usize::MAX, ..Counts::default() };
    session::run(&options(folder.path(), true), &third, &third.stop).unwrap();
    assert_eq!(third.results.lock().unwrap().len(), total);
}

#[test]
fn masks_and_tables_are_for_runtimes_that_name_them() {
    if !has_python() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let counts = Counts { most: usize::MAX, ..Counts::default() };
    // The adapter has the operator of all of them, and says nothing about operands.
    let only =
        ["axes.none.flip", "where.stays.flip", "table.each.flip"].map(str::to_owned).to_vec();
    let options = Options { only, ..options(folder.path(), true) };
    let report = session::run(&options, &counts, &counts.stop).unwrap();
    let ran: Vec<_> = counts.results.lock().unwrap().clone();
    assert!(!ran.is_empty() && ran.iter().all(|id| id.starts_with("axes.none")), "{ran:?}");
    let letters = report.cases.iter().zip(&report.runtimes[0].verdicts);
    for (id, &letter) in letters {
        assert_eq!(letter == '-', !id.starts_with("axes.none"), "{id}: {letter}");
    }
}

#[test]
fn reports_are_joined_by_runtime() {
    if !has_python() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let counts = Counts { most: usize::MAX, ..Counts::default() };
    let one = session::run(&options(folder.path(), true), &counts, &counts.stop).unwrap();
    let mut other = one.clone();
    other.runtimes[0].name = "other".to_owned();
    other.missing.clear();
    let both = Report::merged(&[one.clone(), other.clone()]).unwrap();
    let names: Vec<_> = both.runtimes.iter().map(|row| row.name.as_str()).collect();
    assert_eq!(names, ["example-python", "other"]);
    assert_eq!(both.missing.len(), 1);
    // A later report of a runtime replaces an earlier one, and what ran is not missing.
    let mut later = one.clone();
    later.runtimes[0].version = "later".to_owned();
    let mut named = one.clone();
    named.runtimes[0].name = "no-such-adapter".to_owned();
    let joined = Report::merged(&[both, later, named]).unwrap();
    let rows: Vec<_> =
        joined.runtimes.iter().map(|row| (row.name.as_str(), row.version.as_str())).collect();
    assert_eq!(rows.len(), 3);
    assert_eq!(rows[0], ("example-python", "later"));
    assert!(joined.missing.is_empty());
    let text = retrograde_kit::report::json(&joined);
    assert!(text.lines().count() > joined.cases.len());
    assert_eq!(Report::from_json(&serde_json::from_str(&text).unwrap()).unwrap(), joined);
    other.cases.pop();
    let reason = Report::merged(&[one, other]).unwrap_err();
    assert_eq!(reason, "report 2 has other cases than the first");
}
