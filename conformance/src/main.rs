//! `retrograde-conformance`: runs the suite on every backend, or exports the oracle's answers.

use retrograde::cpu::Isa;
use retrograde_conformance::backend::{Backend, Cpu};
use retrograde_conformance::c::CInterface;
#[cfg(feature = "cuda")]
use retrograde_conformance::c_cuda::CCuda;
#[cfg(feature = "cuda")]
use retrograde_conformance::cuda::Cuda;
use retrograde_conformance::random::Draw;
use retrograde_conformance::runner::{Share, Tally};
#[cfg(feature = "cuda")]
use retrograde_conformance::simulated::Simulated;
use retrograde_conformance::{examples, exhaustive, export, long, random};
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::process::ExitCode;
use std::time::Instant;

const USAGE: &str = "usage: retrograde-conformance [best | quick | sample | c [quick | cuda] | cuda [quick | rows | tight | ptx] | simulated [quick] | levels | export FILE | types FILE]";

/// The cases to run on a backend.
struct Suite {
    /// `None` to skip them: if calls are slow, even iterating over them takes long.
    small: Option<Share>,
    rows: Option<Share>,
    random: Draw,
}

/// Everything.
const FULL: Suite = Suite {
    small: Some(Share::All),
    rows: Some(Share::All),
    random: Draw { seed: 1, count: 150, most_elements: 100_000, share: Share::All },
};
/// A sample of everything in a few seconds, for a run under valgrind (`scripts/valgrind`). The
/// steps are prime, so that every width and placement is covered.
const QUICK: Suite = Suite {
    small: Some(Share::OneIn(131)),
    rows: Some(Share::OneIn(5)),
    random: Draw { seed: 1, count: 24, most_elements: 6_000, share: Share::OneIn(1) },
};
/// A smaller sample for Miri (`scripts/miri`), in which a call takes a second.
const SAMPLE: Suite = Suite {
    small: None,
    rows: None,
    random: Draw { seed: 1, count: 12, most_elements: 100, share: Share::OneIn(1) },
};

/// A sample of the small calls and all of the others, which exercise the differences between
/// kernels, in seconds.
#[cfg(feature = "cuda")]
const ROWS: Suite = Suite { small: Some(Share::OneIn(131)), ..FULL };

/// A smaller sample: under `compute-sanitizer` a call takes a hundred times as long.
#[cfg(feature = "cuda")]
const TIGHT: Suite = Suite {
    small: Some(Share::OneIn(601)),
    rows: Some(Share::OneIn(29)),
    random: Draw { seed: 1, count: 24, most_elements: 6_000, share: Share::OneIn(1) },
};

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [] => run_all(&backends(), &FULL),
        // Everything, but on one level only: the one that users get here.
        ["best"] => run_all(&[Box::new(Cpu::new())], &FULL),
        ["quick"] => run_all(&backends(), &QUICK),
        ["sample"] => run_all(&backends(), &SAMPLE),
        ["c"] => run_all(&[Box::new(CInterface::thorough())], &FULL),
        ["c", "quick"] => run_all(&[Box::new(CInterface::new())], &QUICK),
        #[cfg(feature = "cuda")]
        ["c", "cuda"] => run_all(&[Box::new(CCuda::new())], &QUICK),
        #[cfg(feature = "cuda")]
        ["cuda"] => run_all(&[Box::new(Cuda::new())], &FULL),
        #[cfg(feature = "cuda")]
        ["simulated"] => run_all(&[Box::new(Simulated::new())], &FULL),
        #[cfg(feature = "cuda")]
        ["simulated", "quick"] => run_all(&[Box::new(Simulated::new())], &QUICK),
        #[cfg(feature = "cuda")]
        ["cuda", "quick"] => run_all(&[Box::new(Cuda::new())], &QUICK),
        #[cfg(feature = "cuda")]
        ["cuda", "ptx"] => run_all(&[Box::new(Cuda::from_ptx())], &FULL),
        #[cfg(feature = "cuda")]
        ["cuda", "rows"] => run_all(&[Box::new(Cuda::new())], &ROWS),
        #[cfg(feature = "cuda")]
        ["cuda", "tight"] => run_all(&[Box::new(Cuda::tight())], &TIGHT),
        ["levels"] => {
            Isa::available().for_each(|isa| println!("{}", isa.name()));
            ExitCode::SUCCESS
        }
        ["export", path] => export_to(path, export::write),
        ["types", path] => export_to(path, export::write_types),
        _ => {
            eprintln!("{USAGE}");
            ExitCode::from(2)
        }
    }
}

/// Every backend; those that cannot run here report why.
fn backends() -> Vec<Box<dyn Backend>> {
    let mut all: Vec<Box<dyn Backend>> = Vec::new();
    all.extend(Cpu::all().into_iter().map(|cpu| Box::new(cpu) as Box<dyn Backend>));
    all.push(Box::new(CInterface::new()));
    #[cfg(feature = "cuda")]
    all.extend::<[Box<dyn Backend>; 2]>([Box::new(Cuda::new()), Box::new(Simulated::new())]);
    all
}

fn run_all(backends: &[Box<dyn Backend>], suite: &Suite) -> ExitCode {
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
        let started = Instant::now();
        total.add(report("small calls", started, exhaustive::run(backend, share)));
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

fn export_to(path: &str, write: fn(&mut BufWriter<File>) -> io::Result<usize>) -> ExitCode {
    let written = File::create(path).and_then(|file| {
        let mut out = BufWriter::new(file);
        let lines = write(&mut out)?;
        out.flush()?;
        Ok(lines)
    });
    match written {
        Ok(lines) => {
            println!("{path}: {lines} lines");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("error: {path}: {error}");
            ExitCode::FAILURE
        }
    }
}
