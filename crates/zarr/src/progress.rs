//! A progress bar with the rate and the time left; nothing if stderr is not a terminal.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::IsTerminal;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// The bar appears only after this time.
const PATIENCE: Duration = Duration::from_millis(400);
const TEMPLATE: &str = "{bar:32} {bytes} of {total_bytes}, {bytes_per_sec}, {eta} left";

/// A progress bar that appears if the work takes long. Any thread may report to it.
pub(crate) struct Progress {
    total: u64,
    start: Instant,
    done: AtomicU64,
    bar: OnceLock<ProgressBar>,
    watched: bool,
}

impl Progress {
    /// Begins work on this many bytes.
    pub(crate) fn until(total: u64, quiet: bool) -> Progress {
        let watched = !quiet && std::io::stderr().is_terminal();
        let (start, done) = (Instant::now(), AtomicU64::new(0));
        Progress { total, start, done, bar: OnceLock::new(), watched }
    }

    /// Reports this many more bytes as done.
    pub(crate) fn advance(&self, bytes: u64) {
        let done = self.done.fetch_add(bytes, Ordering::Relaxed) + bytes;
        if !self.watched || self.start.elapsed() < PATIENCE {
            return;
        }
        let bar = self.bar.get_or_init(|| {
            let bar = ProgressBar::with_draw_target(Some(self.total), ProgressDrawTarget::stderr());
            let style = ProgressStyle::with_template(TEMPLATE);
            bar.with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
                .with_elapsed(self.start.elapsed())
        });
        bar.set_position(done);
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some(bar) = self.bar.get() {
            bar.finish_and_clear();
        }
    }
}
