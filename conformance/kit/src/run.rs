//! Runs all cases of a runtime: batches on several processes at once, continued from a journal.

use crate::batch;
use crate::process::Limits;
use crate::protocol::Hello;
use crate::results::{Journal, RuntimeResults};
use crate::verdict::CaseResult;
use retrograde_truth::case::Case;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

/// How to run.
#[derive(Debug, Clone, Copy)]
pub struct Manner {
    /// The limits of each process.
    pub limits: Limits,
    /// Cases for each process.
    pub batch: usize,
    /// Processes at a time.
    pub jobs: usize,
}

/// Runs the cases of the operators that the runtime has, except those that `held` has results for.
/// `progress` is told about every result. Stops early if `stop` becomes true.
#[allow(clippy::too_many_arguments)]
pub fn run(
    command: &[OsString],
    hello: &Hello,
    cases: &[&Case],
    held: BTreeMap<String, CaseResult>,
    manner: Manner,
    journal: &Mutex<Journal>,
    stop: &AtomicBool,
    progress: &(dyn Fn(&Case, &CaseResult) + Sync),
) -> Result<RuntimeResults, String> {
    let open: Vec<&Case> =
        cases.iter().copied().filter(|case| !held.contains_key(&case.id)).collect();
    let batches = Mutex::new(open.chunks(manner.batch.max(1)).rev().collect::<Vec<_>>());
    let results = Mutex::new(held);
    let failure = Mutex::new(None);
    let work = || {
        while !stop.load(Ordering::Relaxed) {
            let Some(batch) = batches.lock().ok().and_then(|mut batches| batches.pop()) else {
                break;
            };
            batch::run(command, batch, manner.limits, &mut |case, result| {
                let written = journal.lock().map(|mut journal| journal.add(hello, case, &result));
                if let (Ok(Err(error)), Ok(mut failure)) = (written, failure.lock()) {
                    failure.get_or_insert(format!("results cannot be written: {error}"));
                    stop.store(true, Ordering::Relaxed);
                }
                progress(case, &result);
                if let Ok(mut results) = results.lock() {
                    results.insert(case.id.clone(), result);
                }
            });
        }
    };
    thread::scope(|scope| {
        for _ in 0..manner.jobs.max(1) {
            scope.spawn(work);
        }
    });
    if let Ok(Some(reason)) = failure.into_inner() {
        return Err(reason);
    }
    let results = results.into_inner().map_err(|_| "a thread of the runner panicked".to_owned())?;
    Ok(RuntimeResults { hello: hello.clone(), results })
}
