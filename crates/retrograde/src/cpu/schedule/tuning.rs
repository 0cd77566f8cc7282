//! From which sizes on a call uses threads and non-temporal stores: measured defaults.

use super::hint::Hint;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Two threads would gain a microsecond at 128 KiB, and a program that reads the output on one thread
/// loses more than ten to fetch half of it from another core's cache.
const SHARED: usize = 192 << 10;
const WOKEN: usize = 1 << 20;
const SIXTEEN: usize = 64 << 10;
/// From here on the input comes from the last-level cache, and the row that comes next is worth
/// prefetching: the hardware prefetcher does not follow a jump back. Measured at 2 to 8 MiB: 4 to
/// 15 % faster; below, it costs as much as it gains, or more.
const PREFETCHED: usize = 2 << 20;

/// From here on tiles and columns use non-temporal stores. They write a few lines of each row, which an
/// ordinary store reads first, from another page each time. Measured at 4 to 16 MiB, the output summed
/// at once: tiles 1.1 to 4 times as fast, columns 0.9 to 1.9 times.
const STRIPS: usize = 4 << 20;

/// Sizes in bytes of output. Results do not depend on them.
///
/// For tests and benchmarks, behind the feature `testing`: it changes the whole process.
#[cfg(any(feature = "testing", test))]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tuning {
    /// Calls that write less than this stay on the caller's thread.
    pub share_from: usize,
    /// So do those that write less than this, unless another thread is awake: waking it costs more.
    pub wake_from: usize,
    /// Parts that threads get are no smaller than this.
    pub least_part: usize,
    /// Calls that write at least this use non-temporal stores; `None` for half of the last-level
    /// cache, at most 32 MiB: beyond that, they save reading the output; below, they throw it out
    /// of the cache.
    pub stream_from: Option<usize>,
}

#[cfg(any(feature = "testing", test))]
impl Default for Tuning {
    fn default() -> Self {
        Tuning { share_from: SHARED, wake_from: WOKEN, least_part: SIXTEEN, stream_from: None }
    }
}

static SHARE_FROM: AtomicUsize = AtomicUsize::new(SHARED);
static WAKE_FROM: AtomicUsize = AtomicUsize::new(WOKEN);
static LEAST_PART: AtomicUsize = AtomicUsize::new(SIXTEEN);
/// `usize::MAX` stands for half of the last-level cache.
static STREAM_FROM: AtomicUsize = AtomicUsize::new(usize::MAX);

#[cfg(any(feature = "testing", test))]
impl Tuning {
    /// Uses these from now on, in the whole process.
    pub fn apply(self) {
        SHARE_FROM.store(self.share_from, Ordering::Relaxed);
        WAKE_FROM.store(self.wake_from, Ordering::Relaxed);
        LEAST_PART.store(self.least_part.max(1), Ordering::Relaxed);
        STREAM_FROM.store(self.stream_from.unwrap_or(usize::MAX), Ordering::Relaxed);
    }
}

pub(in crate::cpu) fn share_from() -> usize {
    SHARE_FROM.load(Ordering::Relaxed)
}

pub(in crate::cpu) fn wake_from() -> usize {
    WAKE_FROM.load(Ordering::Relaxed)
}

pub(in crate::cpu) fn least_part() -> usize {
    LEAST_PART.load(Ordering::Relaxed)
}

/// Whether a call that writes this many bytes prefetches the rows that follow.
pub(in crate::cpu) fn prefetches(bytes: usize) -> bool {
    bytes >= PREFETCHED.min(STREAM_FROM.load(Ordering::Relaxed))
}

/// Whether a call that writes this many bytes uses non-temporal stores: its hint decides, or the size.
pub(in crate::cpu) fn streams(hint: Option<Hint>, bytes: usize) -> bool {
    streams_from(hint, bytes, super::caches::half_of_last_level)
}

/// The same for kernels that write a strip of each row at a time.
pub(in crate::cpu) fn streams_strips(hint: Option<Hint>, bytes: usize) -> bool {
    streams_from(hint, bytes, || STRIPS.min(super::caches::half_of_last_level()))
}

fn streams_from(hint: Option<Hint>, bytes: usize, default: impl Fn() -> usize) -> bool {
    if let Some(hint) = hint {
        return hint.streams(bytes);
    }
    let from = match STREAM_FROM.load(Ordering::Relaxed) {
        usize::MAX => default(),
        from => from,
    };
    bytes >= from
}
