//! A progress bar for long operations; nothing if stderr is not a terminal.

use crate::report;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use retrograde::Plan;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// The bar appears only after this time.
const PATIENCE: Duration = Duration::from_millis(400);
const TEMPLATE: &str = "{bar:32} {bytes} of {total_bytes}, {bytes_per_sec}, {eta} left";

/// A progress bar that appears if the work takes long. Any thread may report to it.
#[derive(Debug)]
pub struct Progress {
    total: u64,
    start: Instant,
    done: AtomicU64,
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
        let (start, done, watched) = (Instant::now(), AtomicU64::new(0), report::is_watched());
        Progress { total, start, done, bar: OnceLock::new(), watched }
    }

    /// Reports a finished piece.
    pub fn moved(&self, piece: &Plan) {
        self.advance((piece.bytes_moved() / 2) as u64);
    }

    /// Reports this many more bytes as done.
    pub fn advance(&self, bytes: u64) {
        let done = self.done.fetch_add(bytes, Ordering::Relaxed) + bytes;
        if !self.watched || self.start.elapsed() < PATIENCE {
            return;
        }
        let start = || bar(self.total, TEMPLATE).with_elapsed(self.start.elapsed());
        let bar = self.bar.get_or_init(start);
        bar.set_position(done);
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
