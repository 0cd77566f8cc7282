//! Memory for large outputs: huge pages, reused.
//!
//! A copy into memory that is fresh from the system spends half its time on page faults. Blocks
//! that Python frees are therefore kept for the next output; under memory pressure the system can
//! still reclaim the pages of the largest.

use pyo3::exceptions::{PyMemoryError, PyValueError};
use pyo3::prelude::*;
use std::alloc::{Layout, alloc, dealloc};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError};

/// Smaller outputs come from NumPy's allocator, or are allocated plainly.
pub(crate) const LEAST: usize = PAGE;
/// The size of a huge page; large blocks are aligned to it and multiples of it.
const PAGE: usize = 2 << 20;
/// The alignment of small blocks: TensorFlow copies less aligned ones.
const LINE: usize = 64;
/// The most blocks to keep.
const MOST_BLOCKS: usize = 4;
/// The most bytes to keep by default.
const MOST_BYTES: usize = 512 << 20;
/// Blocks from this size on are offered to the system while they are kept. For smaller ones, the
/// system call takes a noticeable part of the time of the reversal.
const OFFERED: usize = 64 << 20;

/// Memory with a single owner: whole huge pages, unless it is small.
struct Pages {
    start: NonNull<u8>,
    bytes: usize,
}

// SAFETY: plain memory with one owner.
unsafe impl Send for Pages {}
// SAFETY: a shared reference gives access only to its address.
unsafe impl Sync for Pages {}

/// Memory for one output; kept for another one when it is dropped.
pub(crate) struct Block(Option<Pages>);

/// Blocks that wait for reuse, the most recent last.
struct Kept {
    pages: Vec<Pages>,
    limit: usize,
}

static KEPT: Mutex<Kept> = Mutex::new(Kept { pages: Vec::new(), limit: MOST_BYTES });

/// In a forked child: whether another thread held the lock, which then is never released.
static LOST: AtomicBool = AtomicBool::new(false);

/// Called in a forked child, before anything else.
pub(crate) fn after_fork_in_child() {
    LOST.store(kept().is_none(), Ordering::Relaxed);
}

/// The kept blocks, unless another thread holds the lock. It never blocks: a thread that drops an
/// array holds the GIL, which the other thread may need, and a forked child may have inherited a
/// lock that is never released.
fn kept() -> Option<MutexGuard<'static, Kept>> {
    match KEPT.try_lock() {
        Ok(kept) => Some(kept),
        Err(TryLockError::Poisoned(kept)) => Some(kept.into_inner()),
        Err(TryLockError::WouldBlock) => None,
    }
}

/// The kept blocks; waits for the lock, whose holders wait for nothing else.
fn awaited() -> Option<MutexGuard<'static, Kept>> {
    let lost = LOST.load(Ordering::Relaxed);
    (!lost).then(|| KEPT.lock().unwrap_or_else(PoisonError::into_inner))
}

impl Block {
    /// At least this many uninitialised bytes.
    pub(crate) fn new(bytes: usize) -> PyResult<Self> {
        let too_large = || PyMemoryError::new_err(format!("no memory for {bytes} bytes of output"));
        if bytes < LEAST {
            return Ok(Block(Some(Pages::new(bytes.max(1)).ok_or_else(too_large)?)));
        }
        let rounded = bytes.checked_next_multiple_of(PAGE).ok_or_else(too_large)?;
        // Not in the `match`: the lock must not be held during allocation.
        let used = kept().and_then(|mut kept| kept.take(rounded));
        match used {
            Some(pages) => Ok(Block(Some(pages))),
            None => Ok(Block(Some(Pages::new(rounded).ok_or_else(too_large)?))),
        }
    }

    pub(crate) fn as_ptr(&self) -> *mut u8 {
        self.0.as_ref().map_or(std::ptr::null_mut(), |pages| pages.start.as_ptr())
    }
}

impl Drop for Block {
    fn drop(&mut self) {
        if let Some(pages) = self.0.take()
            && pages.bytes >= LEAST
        {
            // The surplus is freed after the lock is released.
            let surplus = kept().map(|mut kept| kept.put(pages));
            drop(surplus);
        }
    }
}

impl Kept {
    /// The most recent block that fits without much waste: its pages are the most likely to be
    /// resident.
    fn take(&mut self, bytes: usize) -> Option<Pages> {
        let fits = |pages: &Pages| (bytes..=bytes + bytes / 4).contains(&pages.bytes);
        let at = self.pages.iter().rposition(fits)?;
        Some(self.pages.remove(at))
    }

    /// Keeps this block, and returns the surplus, the oldest first.
    fn put(&mut self, pages: Pages) -> Vec<Pages> {
        if pages.bytes >= OFFERED {
            pages.advise(Advice::MayBeTaken);
        }
        self.pages.push(pages);
        self.trim()
    }

    fn trim(&mut self) -> Vec<Pages> {
        let mut surplus = 0;
        while surplus < self.pages.len() {
            let rest = &self.pages[surplus..];
            let bytes: usize = rest.iter().map(|pages| pages.bytes).sum();
            if rest.len() <= MOST_BLOCKS && bytes <= self.limit {
                break;
            }
            surplus += 1;
        }
        self.pages.drain(..surplus).collect()
    }
}

impl Pages {
    /// `bytes` is not 0, and a multiple of a page unless it is small.
    fn new(bytes: usize) -> Option<Self> {
        let layout = Layout::from_size_align(bytes, Self::alignment(bytes)).ok()?;
        // SAFETY: the layout is not empty.
        let start = NonNull::new(unsafe { alloc(layout) })?;
        let pages = Pages { start, bytes };
        if bytes >= LEAST {
            pages.advise(Advice::LargePages);
        }
        Some(pages)
    }

    fn alignment(bytes: usize) -> usize {
        if bytes < LEAST { LINE } else { PAGE }
    }

    /// Advises the system, which may ignore it.
    #[cfg(target_os = "linux")]
    fn advise(&self, advice: Advice) {
        let advice = match advice {
            Advice::LargePages => libc::MADV_HUGEPAGE,
            Advice::MayBeTaken => libc::MADV_FREE,
        };
        // SAFETY: the range is exclusively ours, and its content is not needed: it is new, or was
        // freed.
        unsafe {
            libc::madvise(self.start.as_ptr().cast(), self.bytes, advice);
        }
    }

    #[cfg(not(target_os = "linux"))]
    fn advise(&self, _: Advice) {}
}

impl Drop for Pages {
    fn drop(&mut self) {
        // SAFETY: `Pages::new` allocated it with the same layout.
        unsafe {
            let layout = Layout::from_size_align_unchecked(self.bytes, Self::alignment(self.bytes));
            dealloc(self.start.as_ptr(), layout);
        }
    }
}

#[cfg_attr(not(target_os = "linux"), allow(dead_code))]
#[derive(Clone, Copy)]
enum Advice {
    LargePages,
    /// The pages may be reclaimed under memory pressure.
    MayBeTaken,
}

/// Sets how many bytes of freed memory are kept for the next large outputs; 0 keeps none.
#[pyfunction]
#[pyo3(signature = (bytes, /))]
pub(crate) fn set_kept_memory(bytes: i64) -> PyResult<()> {
    let limit = usize::try_from(bytes)
        .map_err(|_| PyValueError::new_err(format!("bytes is {bytes}, expected 0 or more")))?;
    let Some(mut kept) = awaited() else { return Ok(()) };
    kept.limit = limit;
    let surplus = kept.trim();
    drop(kept);
    drop(surplus);
    Ok(())
}

/// The number of bytes kept for the next large outputs.
#[pyfunction]
pub(crate) fn kept_memory() -> usize {
    awaited().map_or(0, |kept| kept.pages.iter().map(|pages| pages.bytes).sum())
}
