//! A file whose lock ends with it.

use std::fs::File;
use std::ops::Deref;

/// A file that is unlocked when it is dropped. Closing it is not enough: a process that another
/// thread forks has a copy of the descriptor, and the lock with it, until it starts its program.
#[derive(Debug)]
pub(crate) struct Unlocking(pub(crate) File);

impl Deref for Unlocking {
    type Target = File;

    fn deref(&self) -> &File {
        &self.0
    }
}

impl Drop for Unlocking {
    fn drop(&mut self) {
        // Without a lock, or on a file system without locks, there is nothing to do.
        let _ = self.0.unlock();
    }
}
