//! A progress bar for long operations; nothing if stderr is not a terminal.

use crate::report;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use retrograde::Plan;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// The bar appears only after this time.
const PATIENCE: Duration = Duration::from_millis(400);
const TEMPLATE: &str = "{bar:32} {bytes} of {total_bytes}, {msg}";

/// A progress bar that appears if the work takes long. Any thread may report to it.
#[derive(Debug)]
pub struct Progress {
    meter: Meter,
    start: Instant,
    bar: OnceLock<ProgressBar>,
    watched: bool,
}

impl Progress {
    /// Begins work on a plan.
    pub fn of(plan: &Plan) -> Progress {
        Progress::until(u64::try_from(plan.bytes_moved() / 2).unwrap_or(u64::MAX))
    }

    /// Begins work on this many bytes.
    pub fn until(total: u64) -> Progress {
        Progress::since(Instant::now(), total)
    }

    /// The same for work that began then.
    pub fn since(start: Instant, total: u64) -> Progress {
        let meter = Meter::new(total);
        Progress { meter, start, bar: OnceLock::new(), watched: report::is_watched() }
    }

    /// Reports a finished piece.
    pub fn moved(&self, piece: &Plan) {
        self.advance((piece.bytes_moved() / 2) as u64);
    }

    /// Reports bytes that an earlier run had done: they are no part of the rate.
    pub fn skip(&self, bytes: u64) {
        self.meter.earlier.fetch_add(bytes, Ordering::Relaxed);
    }

    /// Reports this many more bytes as done.
    pub fn advance(&self, bytes: u64) {
        let reached = self.meter.advance(bytes, self.start.elapsed());
        let Some(Reached { done, rate }) = reached.filter(|_| self.watched) else { return };
        let bar = self.bar.get_or_init(|| bar(self.meter.total, TEMPLATE));
        bar.set_message(rate);
        bar.set_position(done);
    }
}

/// How far work has come. It reads no clock: a report comes with the time that the work has taken.
#[derive(Debug)]
struct Meter {
    total: u64,
    done: AtomicU64,
    /// Bytes of an earlier run.
    earlier: AtomicU64,
}

/// What a bar shows.
#[derive(Debug, PartialEq, Eq)]
struct Reached {
    done: u64,
    /// The rate, and the time that is left at this rate.
    rate: String,
}

impl Meter {
    fn new(total: u64) -> Meter {
        Meter { total, done: AtomicU64::new(0), earlier: AtomicU64::new(0) }
    }

    /// Adds bytes that were done `elapsed` after the work began. `None`: it is too early for a bar.
    fn advance(&self, bytes: u64, elapsed: Duration) -> Option<Reached> {
        let own = self.done.fetch_add(bytes, Ordering::Relaxed) + bytes;
        if elapsed < PATIENCE {
            return None;
        }
        let done = own.saturating_add(self.earlier.load(Ordering::Relaxed));
        // All bytes over all of the time, also that before the bar appeared.
        let rate = own as f64 / elapsed.as_secs_f64();
        let left = self.total.saturating_sub(done) as f64 / rate.max(1.0);
        let rate = format!("{}/s, {} left", report::bytes(rate as u64), remaining(left));
        Some(Reached { done, rate })
    }
}

/// A time for people who wait: no fractions of seconds.
fn remaining(seconds: f64) -> String {
    // Too long to be a number of minutes is too long to wait for.
    let seconds = seconds.ceil().min(1e12) as u64;
    match (seconds / 3600, seconds / 60 % 60, seconds % 60) {
        (0, 0, seconds) => format!("{seconds} s"),
        (0, minutes, seconds) => format!("{minutes} min {seconds} s"),
        (hours, minutes, _) => format!("{hours} h {minutes} min"),
    }
}

/// A bar on stderr.
pub fn bar(total: u64, template: &str) -> ProgressBar {
    let bar = ProgressBar::with_draw_target(Some(total), ProgressDrawTarget::stderr());
    let style = ProgressStyle::with_template(template);
    bar.with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some(bar) = self.bar.get() {
            bar.finish_and_clear();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: u64 = 1 << 20;

    /// Work whose clock is a list of times in milliseconds, and the bytes that were done by then.
    fn told(total: u64, steps: &[(u64, u64)]) -> Vec<Option<String>> {
        let meter = Meter::new(total);
        let advance = |&(at, bytes): &(u64, u64)| {
            meter.advance(bytes, Duration::from_millis(at)).map(|reached| reached.rate)
        };
        steps.iter().map(advance).collect()
    }

    #[test]
    fn bytes_before_the_first_draw_count_with_their_time() {
        // 528 of 2048 MiB were done before the bar appeared, at 1.2 GiB/s.
        let steps = [(100, 128 * MIB), (399, 384 * MIB), (440, 16 * MIB), (880, 528 * MIB)];
        let expected = [None, None, Some("1.2 GiB/s, 2 s left"), Some("1.2 GiB/s, 1 s left")];
        assert_eq!(told(2048 * MIB, &steps), expected.map(|text| text.map(str::to_owned)));
    }

    #[test]
    fn the_rate_at_the_end_is_that_of_the_run() {
        // A fast second half, as when writes only reach the cache, is not the rate of the run.
        let steps = [(1000, 512 * MIB), (1600, 1024 * MIB), (1700, 512 * MIB)];
        let expected = ["512 MiB/s, 3 s left", "960 MiB/s, 1 s left", "1.2 GiB/s, 0 s left"];
        assert_eq!(told(2048 * MIB, &steps), expected.map(|text| Some(text.to_owned())));
    }

    #[test]
    fn what_an_earlier_run_did_is_not_of_this_rate() {
        let meter = Meter::new(1024 * MIB);
        meter.earlier.fetch_add(768 * MIB, Ordering::Relaxed);
        let reached = meter.advance(64 * MIB, Duration::from_secs(1)).unwrap();
        let rate = "64 MiB/s, 3 s left".to_owned();
        assert_eq!(reached, Reached { done: 832 * MIB, rate });
    }

    #[test]
    fn nothing_done_and_more_than_expected_are_no_numbers_of_nonsense() {
        let text = |text: &str| vec![Some(text.to_owned())];
        assert_eq!(told(60, &[(500, 0)]), text("0 bytes/s, 1 min 0 s left"));
        assert_eq!(told(MIB, &[(1000, 2 * MIB)]), text("2 MiB/s, 0 s left"));
        assert_eq!(told(u64::MAX, &[(1000, 1)]), text("1 byte/s, 277777777 h 46 min left"));
        let times = [(0.0, "0 s"), (0.2, "1 s"), (59.0, "59 s"), (61.0, "1 min 1 s")];
        for (seconds, text) in times.into_iter().chain([(7320.0, "2 h 2 min")]) {
            assert_eq!(remaining(seconds), text);
        }
    }
}
