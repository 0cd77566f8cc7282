//! From which sizes on a call uses threads and non-temporal stores: measured defaults.

use std::sync::atomic::{AtomicUsize, Ordering};

const SHARED: usize = 512 << 10;
const PART: usize = 128 << 10;

/// Sizes in bytes of output. Results do not depend on them.
///
/// For tests and benchmarks, behind the feature `testing`: it changes the whole process.
#[cfg(any(feature = "testing", test))]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tuning {
    /// Calls that write less than this stay on the caller's thread: waking others costs more.
    pub share_from: usize,
    /// Parts that threads get are no smaller than this.
    pub least_part: usize,
    /// Threads that write at least this use non-temporal stores; `None` for the size of the
    /// L2 cache, beyond which they save reading the output.
    pub stream_from: Option<usize>,
}

#[cfg(any(feature = "testing", test))]
impl Default for Tuning {
    fn default() -> Self {
        Tuning { share_from: SHARED, least_part: PART, stream_from: None }
    }
}

static SHARE_FROM: AtomicUsize = AtomicUsize::new(SHARED);
static LEAST_PART: AtomicUsize = AtomicUsize::new(PART);
/// `usize::MAX` stands for the size of the L2 cache.
static STREAM_FROM: AtomicUsize = AtomicUsize::new(usize::MAX);

#[cfg(any(feature = "testing", test))]
impl Tuning {
    /// Uses these from now on, in the whole process.
    pub fn apply(self) {
        SHARE_FROM.store(self.share_from, Ordering::Relaxed);
        LEAST_PART.store(self.least_part.max(1), Ordering::Relaxed);
        STREAM_FROM.store(self.stream_from.unwrap_or(usize::MAX), Ordering::Relaxed);
    }
}

pub(in crate::cpu) fn share_from() -> usize {
    SHARE_FROM.load(Ordering::Relaxed)
}

pub(in crate::cpu) fn least_part() -> usize {
    LEAST_PART.load(Ordering::Relaxed)
}

/// Whether a call of so many bytes on so many threads uses non-temporal stores.
pub(in crate::cpu) fn streams(bytes: usize, threads: usize) -> bool {
    let from = match STREAM_FROM.load(Ordering::Relaxed) {
        usize::MAX => super::caches::second_level(),
        from => from,
    };
    bytes / threads >= from
}
