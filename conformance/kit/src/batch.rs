//! Runs cases in batches, each in a process of its own, and finds the case that ended one.
//!
//! If a process ends badly, the first case without an answer is tried alone, then the last one with
//! an answer. If both are innocent (an adapter may buffer its answers, and corrupted memory shows
//! late), the others are halved until the culprit is alone.

use crate::process::{Ended, Limits, Process};
use crate::protocol::{self, Hello, Outcome};
use crate::verdict::{CaseResult, Verdict, judge};
use retrograde_truth::case::Case;
use std::collections::HashMap;
use std::ffi::OsString;

/// Asks an adapter who it is. The error says why it cannot run.
pub fn ask(command: &[OsString], limits: Limits) -> Result<Hello, String> {
    let mut process = Process::start(command, Vec::new(), limits)?;
    match process.line(true) {
        Ok(line) => protocol::parse_hello(&line),
        Err(Ended::Exited(how)) => Err(format!("the adapter ended before it answered: {how}")),
        Err(Ended::Silent) => Err("the adapter did not answer in time".to_owned()),
        Err(Ended::Memory) => Err("the adapter took too much memory to start".to_owned()),
    }
}

/// Runs these cases and reports their results. A case that turns out to have corrupted its process
/// after it answered is reported again; the last report counts.
pub fn run(
    command: &[OsString],
    cases: &[&Case],
    limits: Limits,
    report: &mut dyn FnMut(&Case, CaseResult),
) {
    let mut parts = vec![cases.to_vec()];
    while let Some(part) = parts.pop() {
        let (left, ended) = once(command, &part, limits, report);
        let Some(ended) = ended else { continue };
        if let [only] = part[..] {
            report(only, verdict_of(ended));
            continue;
        }
        let answered: Vec<&Case> =
            part.iter().copied().filter(|case| !left.iter().any(|one| one.id == case.id)).collect();
        let mut guilty = |case: &Case| {
            let (_, ended) = once(command, &[case], limits, report);
            let ended = ended.map(verdict_of);
            ended.map(|result| report(case, result)).is_some()
        };
        let others = left.split_first();
        if others.is_some_and(|(&suspect, _)| guilty(suspect)) {
            parts.extend(others.map(|(_, others)| others.to_vec()).filter(|one| !one.is_empty()));
            continue;
        }
        let rest = others.map_or(&[][..], |(_, others)| others);
        // The case before it may have corrupted the process, which shows only later.
        if answered.last().is_some_and(|&previous| guilty(previous)) {
            parts.extend([rest.to_vec()].into_iter().filter(|one| !one.is_empty()));
            continue;
        }
        // The culprit is among the others, or among those that seemed to be done. Halve both.
        for one in [rest, &answered[..answered.len().saturating_sub(1)]] {
            let (front, back) = one.split_at(one.len() / 2);
            parts.extend([back.to_vec(), front.to_vec()].into_iter().filter(|one| !one.is_empty()));
        }
    }
}

/// Runs a process once. Returns the cases without an answer, and how the process ended if it did
/// not answer all or did not end well.
fn once<'a>(
    command: &[OsString],
    cases: &[&'a Case],
    limits: Limits,
    report: &mut dyn FnMut(&Case, CaseResult),
) -> (Vec<&'a Case>, Option<Ended>) {
    let requests = cases.iter().map(|case| case.request().to_string()).collect();
    let mut open: HashMap<&str, &Case> = cases.iter().map(|&case| (&case.id[..], case)).collect();
    let mut process = match Process::start(command, requests, limits) {
        Ok(process) => process,
        Err(reason) => return (cases.to_vec(), Some(Ended::Exited(reason))),
    };
    let mut first = true;
    let ended = loop {
        if open.is_empty() {
            break process.finish();
        }
        match process.line(first) {
            Ok(line) => {
                if let Some((id, outcome)) = protocol::parse_answer(&line)
                    && let Some(case) = open.remove(&id[..])
                {
                    report(case, judge(case, outcome));
                } else if !first {
                    // Neither an answer nor the greeting: the case that it belongs to is unknown.
                    continue;
                }
                first = false;
            }
            Err(ended) => break Some(ended),
        }
    };
    let left = cases.iter().copied().filter(|case| open.contains_key(&case.id[..])).collect();
    (left, ended)
}

fn verdict_of(ended: Ended) -> CaseResult {
    match ended {
        Ended::Exited(how) => CaseResult::of(Verdict::Crash, how),
        Ended::Silent => CaseResult::of(Verdict::Hang, "no answer in time"),
        Ended::Memory => CaseResult::of(Verdict::Memory, "took more memory than allowed"),
    }
}

/// Runs a case through a function instead of a process.
pub fn run_here(case: &Case, runtime: &dyn Fn(&Case) -> Outcome) -> CaseResult {
    judge(case, runtime(case))
}
