//! `retrograde-wgpu-suite`: runs the conformance suite on an adapter of this machine.

mod backend;

use backend::Wgpu;
use retrograde_conformance::backend::Backend;
use retrograde_conformance::random::Draw;
use retrograde_conformance::suite::{FULL, QUICK, ROWS, SAMPLE, Suite, TIGHT, run_all};
use retrograde_wgpu::{Gpu, Options};
use std::process::ExitCode;

const USAGE: &str = "usage: retrograde-wgpu-suite \
                     [full | small:PART | rows | quick | tight | sample] [software | NUMBER]
       retrograde-wgpu-suite adapters";

/// Parts of the small calls, each of which is printed when it has run: all of them take an hour.
const PARTS: u64 = 64;
const ALL: Suite = Suite { parts: PARTS, ..FULL };

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["adapters"] => {
            let names = pollster::block_on(Gpu::adapters());
            names.iter().enumerate().for_each(|(number, name)| println!("{number}: {name}"));
            ExitCode::SUCCESS
        }
        [] => run(&ALL, Options::default()),
        [suite] => named(suite, None),
        [suite, adapter] => named(suite, Some(adapter)),
        _ => usage(),
    }
}

fn named(suite: &str, adapter: Option<&str>) -> ExitCode {
    let (suite, part) =
        suite.split_once(':').map_or((suite, None), |(name, part)| (name, Some(part)));
    let only = part.map(str::parse::<u64>);
    let suite = match (suite, only) {
        ("full", None) => &ALL,
        ("small", Some(Ok(part))) if part < PARTS => {
            &Suite { only: Some(part), rows: None, random: Draw { count: 0, ..ALL.random }, ..ALL }
        }
        ("rows", None) => &ROWS,
        ("quick", None) => &QUICK,
        ("tight", None) => &TIGHT,
        ("sample", None) => &SAMPLE,
        _ => return usage(),
    };
    let options = match adapter.map(|adapter| (adapter, adapter.parse())) {
        None => Options::default(),
        Some(("software", _)) => Options { software: true, ..Options::default() },
        Some((_, Ok(number))) => Options { number: Some(number), ..Options::default() },
        Some(_) => return usage(),
    };
    run(suite, options)
}

/// Without an adapter, the backend is printed as skipped, and that is a failure: something must run.
fn run(suite: &Suite, options: Options) -> ExitCode {
    let backends: Vec<Box<dyn Backend>> = vec![Box::new(Wgpu::new(options))];
    run_all(&backends, suite)
}

fn usage() -> ExitCode {
    eprintln!("{USAGE}");
    ExitCode::from(2)
}
