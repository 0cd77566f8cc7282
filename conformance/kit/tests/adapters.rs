//! Adapters as processes: the examples in Python and C pass, and crashes, hangs, buffered answers and
//! corrupted processes are put down to the right case.

use retrograde_deadline::output;
use retrograde_kit::batch;
use retrograde_kit::process::Limits;
use retrograde_kit::verdict::{CaseResult, Verdict};
use retrograde_truth::call::Call;
use retrograde_truth::case::Case;
use retrograde_truth::cases::{self, SEED};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

fn examples() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("examples")
}

fn has(program: &str) -> bool {
    let asked = output(Command::new(program).arg("--version"));
    let found = asked.is_ok_and(|out| out.status.success());
    if !found {
        println!("skipped: there is no {program}");
    }
    found
}

fn flips() -> Vec<Case> {
    cases::all(SEED, false).into_iter().filter(of_flip).collect()
}

fn of_flip(case: &Case) -> bool {
    case.call == Call::Flip && case.extras.is_empty()
}

fn run(command: &[OsString], cases: &[&Case], limits: Limits) -> BTreeMap<String, CaseResult> {
    let mut results = BTreeMap::new();
    batch::run(command, cases, limits, &mut |case, result| {
        results.insert(case.id.clone(), result);
    });
    results
}

fn passes(command: &[OsString], name: &str) {
    let hello = batch::ask(command, Limits::default()).unwrap();
    assert_eq!(hello.runtime, name);
    let all = flips();
    let results = run(command, &all.iter().collect::<Vec<_>>(), Limits::default());
    assert_eq!(results.len(), all.len());
    let failed: Vec<_> = results.iter().filter(|(_, result)| result.verdict.is_failure()).collect();
    assert!(failed.is_empty(), "{failed:#?}");
    assert!(results.values().filter(|result| result.verdict == Verdict::Pass).count() > 200);
}

#[test]
fn the_example_in_python_passes() {
    if has("python3") {
        passes(&["python3".into(), examples().join("adapter.py").into()], "example-python");
    }
}

#[test]
fn the_example_in_c_passes() {
    if !has("cc") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("adapter");
    let source = examples().join("adapter.c");
    let mut compiler = Command::new("cc");
    compiler.args(["-std=c99", "-Wall", "-Wextra", "-Werror", "-O1", "-o"]);
    let built = output(compiler.arg(&program).arg(source)).unwrap();
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    passes(&[program.into()], "example-c");
}

/// An adapter that answers "unsupported", except that the fourth case ends badly in some way.
fn bad(folder: &Path, how: &str) -> Vec<OsString> {
    let text = format!(
        r#"
import json, os, sys, time
held, dying = [], False
for line in sys.stdin:
    request = json.loads(line)
    if "hello" in request:
        print(json.dumps({{"protocol": 1, "runtime": "bad", "version": "1", "operators": ["Flip"]}}), flush=True)
        continue
    bad = request["id"].endswith("BAD")
    reply = json.dumps({{"id": request["id"], "outcome": "unsupported"}})
    {how}
for reply in held:
    print(reply)
if dying:
    os.abort()
"#
    );
    let path = folder.join("bad.py");
    std::fs::write(&path, text).unwrap();
    vec!["python3".into(), path.into()]
}

#[test]
fn the_case_that_ends_a_process_is_found() {
    if !has("python3") {
        return;
    }
    let mut all: Vec<Case> = flips().into_iter().take(8).collect();
    all[3].id.push_str(".BAD");
    let folder = tempfile::tempdir().unwrap();
    let limits = Limits { case: Duration::from_secs(2), ..Limits::default() };
    let ways = [
        ("os.abort() if bad else print(reply, flush=True)", Verdict::Crash),
        ("time.sleep(60) if bad else print(reply, flush=True)", Verdict::Hang),
        // All answers at the end: nothing says which case it was.
        ("os.abort() if bad else held.append(reply)", Verdict::Crash),
        // It answers, and dies with the next request or at its end.
        ("os.abort() if dying else print(reply, flush=True)\n    dying |= bad", Verdict::Crash),
    ];
    for (how, verdict) in &ways {
        let results = run(&bad(folder.path(), how), &all.iter().collect::<Vec<_>>(), limits);
        assert_eq!(results.len(), all.len(), "{how}");
        for (id, result) in &results {
            let expected = if id.ends_with("BAD") { *verdict } else { Verdict::Skip };
            assert_eq!(result.verdict, expected, "{how}: {id}: {}", result.message);
        }
    }
}

/// Memory is read from `/proc`.
#[cfg(target_os = "linux")]
#[test]
fn the_case_that_takes_too_much_memory_is_found() {
    if !has("python3") {
        return;
    }
    let mut all: Vec<Case> = flips().into_iter().take(5).collect();
    all[2].id.push_str(".BAD");
    let folder = tempfile::tempdir().unwrap();
    // It would answer, but holds 400 MiB for a while before it does.
    let how = "held.append(b'x' * (400 << 20)) if bad else None\n    time.sleep(20 if bad else 0)\n    \
               held.clear()\n    print(reply, flush=True)";
    let limits = Limits { case: Duration::from_secs(60), memory: 200 << 20, ..Limits::default() };
    let start = std::time::Instant::now();
    let results = run(&bad(folder.path(), how), &all.iter().collect::<Vec<_>>(), limits);
    assert_eq!(results.len(), all.len());
    for (id, result) in &results {
        let expected = if id.ends_with("BAD") { Verdict::Memory } else { Verdict::Skip };
        assert_eq!(result.verdict, expected, "{id}: {}", result.message);
    }
    // The process was ended, not waited for: it runs twice, once with the others.
    assert!(start.elapsed() < Duration::from_secs(36), "{:?}", start.elapsed());
}

#[test]
fn what_is_not_installed_is_said() {
    let missing =
        batch::ask(&["no-such-program-of-the-kit".into()], Limits::default()).unwrap_err();
    assert!(missing.contains("no-such-program-of-the-kit"), "{missing}");
    if has("python3") {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("missing.py");
        let text = "input(); print('{\"missing\": \"x\", \"install\": \"pip install x\"}')";
        std::fs::write(&path, text).unwrap();
        let reason = batch::ask(&["python3".into(), path.into()], Limits::default()).unwrap_err();
        assert_eq!(reason, "x is not installed: pip install x");
    }
}
