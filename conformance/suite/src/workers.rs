//! Shares a family of cases among threads. Where there are none (WebAssembly), it runs on this one.

use crate::runner::Tally;
use std::thread;

/// Runs `work` on every thread of the machine, with its number and how many there are, and adds up
/// the results.
pub(crate) fn on_all_threads(work: impl Fn(usize, usize) -> Tally + Sync) -> Tally {
    let threads = thread::available_parallelism().map_or(1, |n| n.get());
    if threads == 1 {
        return work(0, 1);
    }
    let mut total = Tally::default();
    thread::scope(|scope| {
        let work = &work;
        let workers: Vec<_> =
            (0..threads).map(|worker| scope.spawn(move || work(worker, threads))).collect();
        for worker in workers {
            total.add(worker.join().expect("a worker panicked"));
        }
    });
    total
}
