//! For tests: files that change their names while something else runs.

use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Ends the other thread, also if this one panics.
struct Stop<'a>(&'a AtomicBool);

impl Drop for Stop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Runs `work` while another thread exchanges what two names lead to, and exchanges it back, over
/// and over.
pub(crate) fn while_exchanged(one: &Path, other: &Path, work: impl FnOnce()) {
    let (stop, kept) = (AtomicBool::new(false), one.with_extension("kept"));
    std::thread::scope(|scope| {
        let _stop = Stop(&stop);
        scope.spawn(|| {
            // Pauses now and then, so that `work` also meets names that rest.
            for turn in 0_u32.. {
                if stop.load(Ordering::Relaxed) {
                    break;
                }
                if turn.is_multiple_of(8) {
                    std::thread::sleep(Duration::from_micros(50));
                }
                fs::rename(one, &kept).unwrap();
                fs::rename(other, one).unwrap();
                fs::rename(one, other).unwrap();
                fs::rename(&kept, one).unwrap();
            }
        });
        work();
    });
}
