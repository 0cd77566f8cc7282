//! A progress bar for long operations; nothing if stderr is not a terminal.

use crate::report;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use retrograde::Plan;
use std::cell::OnceCell;
use std::time::{Duration, Instant};

/// The bar appears only after this time.
const PATIENCE: Duration = Duration::from_millis(400);
const TEMPLATE: &str = "{bar:32} {bytes} of {total_bytes}, {bytes_per_sec}, {eta} left";

/// A progress bar that appears if the work takes long.
pub(crate) struct Progress {
    total: u64,
    start: Instant,
    done: std::cell::Cell<u64>,
    bar: OnceCell<ProgressBar>,
    watched: bool,
}

impl Progress {
    /// Begins work on a plan.
    pub(crate) fn of(plan: &Plan) -> Progress {
        Progress::until(u64::try_from(plan.bytes_moved() / 2).unwrap_or(u64::MAX))
    }

    /// Begins work on this many bytes.
    pub(crate) fn until(total: u64) -> Progress {
        let watched = report::is_watched();
        let (start, done) = (Instant::now(), std::cell::Cell::new(0));
        Progress { total, start, done, bar: OnceCell::new(), watched }
    }

    /// Reports a finished piece.
    pub(crate) fn moved(&self, piece: &Plan) {
        self.advance((piece.bytes_moved() / 2) as u64);
    }

    /// Reports this many more bytes as done.
    pub(crate) fn advance(&self, bytes: u64) {
        self.done.set(self.done.get() + bytes);
        if !self.watched || self.start.elapsed() < PATIENCE {
            return;
        }
        let bar = self.bar.get_or_init(|| {
            let bar = ProgressBar::with_draw_target(Some(self.total), ProgressDrawTarget::stderr());
            let style = ProgressStyle::with_template(TEMPLATE);
            bar.with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
                .with_elapsed(self.start.elapsed())
        });
        bar.set_position(self.done.get());
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some(bar) = self.bar.get() {
            bar.finish_and_clear();
        }
    }
}
