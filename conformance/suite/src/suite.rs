//! Suites: which cases run on a backend, and what is printed.

use crate::backend::Backend;
use crate::random::Draw;
use crate::runner::{Share, Tally};
use crate::{examples, exhaustive, long, random};
use std::process::ExitCode;
use std::time::Instant;

/// The cases to run on a backend.
#[derive(Debug, Clone, Copy)]
pub struct Suite {
    /// `None` to skip them: if calls are slow, even iterating over them takes long.
    pub small: Option<Share>,
    /// If all of them run: in so many parts, each of which is printed when it has run, and `only`
    /// this one. For backends on which all of them take an hour.
    pub parts: u64,
    /// See `parts`; counted from 0.
    pub only: Option<u64>,
    /// Rows of every length; `None` to skip them.
    pub rows: Option<Share>,
    /// Large calls at random.
    pub random: Draw,
}

/// Everything.
pub const FULL: Suite = Suite {
    small: Some(Share::All),
    parts: 1,
    only: None,
    rows: Some(Share::All),
    random: Draw { seed: 1, count: 150, most_elements: 100_000, share: Share::All },
};
/// A sample of everything in a few seconds, for a run under valgrind (`scripts/check valgrind`). The
/// steps are prime, so that every width and placement is covered.
pub const QUICK: Suite = Suite {
    small: Some(Share::OneIn(131)),
    rows: Some(Share::OneIn(5)),
    random: Draw { seed: 1, count: 24, most_elements: 6_000, share: Share::OneIn(1) },
    ..FULL
};
/// A smaller sample for Miri (`scripts/check miri`), in which a call takes a second.
pub const SAMPLE: Suite = Suite {
    small: None,
    rows: None,
    random: Draw { seed: 1, count: 12, most_elements: 100, share: Share::OneIn(1) },
    ..FULL
};

/// A sample of the small calls and all of the others, which exercise the differences between
/// kernels, in seconds.
pub const ROWS: Suite = Suite { small: Some(Share::OneIn(131)), ..FULL };

/// A smaller sample: under `compute-sanitizer` a call takes a hundred times as long.
pub const TIGHT: Suite = Suite {
    small: Some(Share::OneIn(601)),
    rows: Some(Share::OneIn(29)),
    random: Draw { seed: 1, count: 24, most_elements: 6_000, share: Share::OneIn(1) },
    ..FULL
};

/// Runs a suite on each backend and prints the results; backends that cannot run here are skipped,
/// and the exit code says whether at least one ran and none failed.
pub fn run_all(backends: &[Box<dyn Backend>], suite: &Suite) -> ExitCode {
    let (mut passed, mut failed, mut skipped) = (0, 0, 0);
    for backend in backends {
        if let Some(reason) = backend.unavailable() {
            println!("{}: SKIPPED, {reason}", backend.name());
            skipped += 1;
            continue;
        }
        match run_one(backend.as_ref(), suite) {
            true => passed += 1,
            false => failed += 1,
        }
    }
    println!("backends: {passed} passed, {failed} failed, {skipped} skipped");
    if failed == 0 && passed > 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn run_one(backend: &dyn Backend, suite: &Suite) -> bool {
    let mut clean = true;
    backend.prepare();
    for example in examples::all() {
        match examples::check(backend, &example) {
            Ok(()) => println!("{}: {}: ok", backend.name(), example.source),
            Err(complaint) => {
                println!("{}: FAILED {complaint}", backend.name());
                clean = false;
            }
        }
    }
    let mut report = |family: &str, started: Instant, tally: Tally| {
        let seconds = started.elapsed().as_secs_f64();
        println!("{}: {family}: {tally} ({seconds:.1} s)", backend.name());
        clean &= tally.is_clean();
        tally
    };
    let mut total = Tally::default();
    let all_small = suite.small == Some(Share::All);
    if let Some(share) = suite.small.filter(|_| backend.is_thorough() || !all_small) {
        let parts = if all_small { suite.parts.max(1) } else { 1 };
        for part in suite.only.map_or(0..parts, |only| only..only + 1) {
            let (family, share) = match parts {
                1 => ("small calls".to_owned(), share),
                _ => (format!("small calls, part {part} of {parts}"), Share::Part(part, parts)),
            };
            let started = Instant::now();
            total.add(report(&family, started, exhaustive::run(backend, share)));
        }
    }
    if let Some(share) = suite.rows {
        let started = Instant::now();
        total.add(report("lengths of rows", started, long::run(backend, share)));
    }
    let started = Instant::now();
    total.add(report("large random calls", started, random::run(backend, suite.random)));
    println!("{}: {} cases ran in all", backend.name(), total.ran());
    let unused = backend.unused();
    if suite.rows == Some(Share::All) && !unused.is_empty() {
        println!("{}: FAILED, nothing ran {}", backend.name(), unused.join(", "));
        clean = false;
    }
    clean && total.is_clean()
}
