//! Runs a session without the command.
use retrograde_kit::{process::Limits, run::Manner, session};
struct Quiet;
impl session::Watch for Quiet {
    fn begins(&self, h: &retrograde_kit::protocol::Hello, c: usize, d: usize) { eprintln!("{h:?} {c} {d}"); }
    fn result(&self, _: &retrograde_kit::case::Case, _: &retrograde_kit::verdict::CaseResult) {}
    fn missing(&self, n: &str, r: &str) { eprintln!("{n}: {r}"); }
}
fn main() {
    let mut args = std::env::args().skip(1);
    let folder = args.next().unwrap().into();
    let options = session::Options {
        runtimes: args.collect(), own: vec![], python: "/work/kit/.venv-kit/bin/python".into(), seed: 1, full: false, only: vec![],
        folder, fresh: false, manner: Manner { limits: Limits::default(), batch: 250, jobs: 1 }, date: "2026-11-17".into(),
    };
    let report = session::run(&options, &Quiet, &Default::default()).unwrap();
    session::save(&report, &options.folder).unwrap();
    println!("{}", retrograde_kit::report::text(&report));
}
