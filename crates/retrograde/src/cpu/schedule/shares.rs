//! Parts of a call, divided among threads that have numbers.

use smallvec::SmallVec;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Parts of a call, a share for each of several threads: for a runtime that [lends](super::super::with_workers)
/// its threads.
///
/// A thread gets the same parts in every call of the same size, because its caches may still have
/// what they read and write. Then it takes those that others have not begun.
///
/// ```
/// use retrograde::cpu::Shares;
///
/// let shares = Shares::new(4, 2);
/// let mut ran = vec![];
/// shares.run(1, |part| ran.push(part));
/// assert_eq!(ran, [2, 3, 0, 1]);
/// shares.run(0, |_| unreachable!("nothing is left"));
/// ```
#[derive(Debug)]
pub struct Shares {
    parts: usize,
    /// For each thread, how many of its parts have been taken.
    taken: SmallVec<[Taken; 4]>,
}

/// In a cache line of its own: threads that look for parts in the same line spend microseconds on that.
#[derive(Debug, Default)]
#[repr(align(64))]
struct Taken(AtomicUsize);

impl Shares {
    /// Divides parts among threads, of which there is at least one.
    pub fn new(parts: usize, threads: usize) -> Self {
        Shares { parts, taken: (0..threads.max(1)).map(|_| Taken::default()).collect() }
    }

    /// The parts of a thread. Thread 0 has some if there are any.
    pub fn of(&self, thread: usize) -> Range<usize> {
        let each = self.parts.div_ceil(self.taken.len());
        let first = (thread * each).min(self.parts);
        first..(first + each).min(self.parts)
    }

    /// Runs the parts of a thread that have not been taken, then those of the others. Threads beyond
    /// the number that it was made for count from 0 again.
    pub fn run(&self, thread: usize, mut part: impl FnMut(usize)) {
        let all = self.taken.len();
        let own = thread % all;
        for owner in (own..all).chain(0..own) {
            let (parts, taken) = (self.of(owner), &self.taken[owner].0);
            // Looks before it takes one, which would get the cache line from its owner.
            while taken.load(Ordering::Relaxed) < parts.len() {
                let index = taken.fetch_add(1, Ordering::Relaxed);
                if index >= parts.len() {
                    break;
                }
                part(parts.start + index);
            }
        }
    }

    /// Leaves no parts to take.
    pub fn stop(&self) {
        for taken in &self.taken {
            taken.0.store(self.parts, Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_cover_all_parts_once() {
        for (parts, threads) in [(0, 1), (1, 3), (4, 2), (5, 3), (16, 5), (7, 0)] {
            let shares = Shares::new(parts, threads);
            let all: Vec<usize> =
                (0..threads.max(1)).flat_map(|thread| shares.of(thread)).collect();
            assert_eq!(all, (0..parts).collect::<Vec<_>>());
            let mut ran = vec![];
            shares.run(threads / 2, |part| ran.push(part));
            assert_eq!(ran.first(), shares.of(threads / 2).chain(0..parts).next().as_ref());
            ran.sort_unstable();
            assert_eq!(ran, all);
        }
    }

    #[test]
    fn a_thread_leaves_what_others_have_begun() {
        let shares = Shares::new(6, 3);
        let mut ran = vec![];
        shares.run(1, |part| {
            ran.push(part);
            if ran.len() == 2 {
                // Meanwhile another thread, numbered from 0 again, takes the rest.
                shares.run(5, |part| assert!(!(2..4).contains(&part)));
            }
        });
        assert_eq!(ran, [2, 3]);
        let shares = Shares::new(6, 3);
        shares.run(0, |_| shares.stop());
        shares.run(1, |_| unreachable!("stopped"));
    }
}
