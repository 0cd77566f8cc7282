//! Memory for large outputs: huge pages, kept for a few seconds after their last use.
//!
//! A copy into memory that is fresh from the system spends half its time on page faults. So blocks
//! that are dropped are kept for the next output. What has not been used for two seconds is
//! released: by an idle worker of the pool, the next block that is made or dropped, or one of the next
//! calls of any size.

use super::schedule::pool::{IdleTask, when_idle};
use std::alloc::{Layout, alloc, dealloc};
use std::ptr::{self, NonNull};
use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError};
use std::time::{Duration, Instant};

/// The size of a huge page; large blocks are aligned to it and multiples of it.
const PAGE: usize = 2 << 20;
/// The alignment of small blocks: TensorFlow copies less aligned ones.
const LINE: usize = 64;
/// The most blocks to keep.
const MOST_BLOCKS: usize = 4;
/// The most bytes to keep by default, if the machine has sixteen times as much.
const MOST_BYTES: usize = 512 << 20;
const PART_OF_MACHINE: usize = 16;
/// The same while there is no worker that could release them.
const MOST_UNWATCHED: usize = 64 << 20;
/// Blocks from this size on are offered to the system while they are kept. For smaller ones, the
/// system call takes a noticeable part of the time of the reversal.
const OFFERED: usize = 64 << 20;
/// Blocks that have not been used for so long are released.
const UNUSED: Duration = Duration::from_secs(2);

/// Memory for one large output, uninitialised. When it is dropped, it is kept for the next one, for a
/// few seconds.
///
/// From [`LEAST`](Self::LEAST) bytes on it consists of huge pages, where the system has them. Up to four
/// blocks are kept, of 512 MiB or a sixteenth of the memory that the process may use, and of 64 MiB
/// in a process in which the engine has started no threads ([`set_kept_memory`]). A forked child starts with
/// none.
///
/// ```
/// use retrograde::cpu::{Block, kept_memory};
///
/// let block = Block::new(5 << 20).expect("5 MiB");
/// // SAFETY: the block has that many bytes.
/// unsafe { block.as_ptr().write_bytes(7, 5 << 20) };
/// drop(block);
/// assert_eq!(kept_memory(), 6 << 20);
/// ```
#[derive(Debug)]
pub struct Block(Option<Pages>);

/// Memory with a single owner: whole huge pages, unless it is small.
#[derive(Debug)]
struct Pages {
    start: NonNull<u8>,
    bytes: usize,
}

// SAFETY: plain memory with one owner.
unsafe impl Send for Pages {}
// SAFETY: a shared reference gives access only to its address.
unsafe impl Sync for Pages {}

/// Blocks that wait for reuse in a process.
#[derive(Debug)]
struct Kept {
    process: u32,
    /// The most recent last.
    blocks: Mutex<Vec<Unused>>,
    /// How many bytes they have.
    bytes: AtomicUsize,
}

/// A block, and since when it has not been used.
#[derive(Debug)]
struct Unused {
    pages: Pages,
    since: Instant,
}

/// The blocks of this process. Not a lock alone: a forked child may inherit one that is never released.
static KEPT: AtomicPtr<Kept> = AtomicPtr::new(ptr::null_mut());
/// How many bytes to keep; the maximum stands for the default.
static LIMIT: AtomicUsize = AtomicUsize::new(usize::MAX);

impl Block {
    /// From this size on, blocks are kept.
    pub const LEAST: usize = PAGE;

    /// At least this many bytes, if there are any to be had.
    pub fn new(bytes: usize) -> Option<Self> {
        if bytes < Self::LEAST {
            return Some(Block(Some(Pages::new(bytes.max(1))?)));
        }
        let rounded = bytes.checked_next_multiple_of(PAGE)?;
        let (found, surplus) = current().take(rounded);
        drop(surplus);
        match found {
            Some(pages) => Some(Block(Some(pages))),
            None => Some(Block(Some(Pages::new(rounded)?))),
        }
    }

    /// The first byte.
    pub fn as_ptr(&self) -> *mut u8 {
        self.0.as_ref().map_or(ptr::null_mut(), |pages| pages.start.as_ptr())
    }
}

impl Drop for Block {
    fn drop(&mut self) {
        let Some(pages) = self.0.take().filter(|pages| pages.bytes >= Self::LEAST) else { return };
        if pages.bytes >= OFFERED {
            pages.advise(Advice::MayBeTaken);
        }
        let kept = current();
        kept.put(pages);
        // Kept first: the worker looks whether anything is.
        let is_watched = when_idle(&RELEASE);
        drop(kept.trim(limit(is_watched)));
    }
}

/// The number of bytes that are kept for the next large outputs.
pub fn kept_memory() -> usize {
    current().bytes.load(Ordering::SeqCst)
}

/// Sets how many bytes are kept for the next large outputs, 0 for none; `None` restores the default.
pub fn set_kept_memory(bytes: Option<usize>) {
    LIMIT.store(bytes.map_or(usize::MAX, |bytes| bytes.min(usize::MAX - 1)), Ordering::SeqCst);
    drop(current().trim(limit(true)));
}

/// Releases the blocks that have not been used for a while.
static RELEASE: IdleTask = IdleTask {
    is_due: || kept_memory() > 0,
    every: UNUSED,
    work: || drop(current().trim(limit(true))),
};

/// Released by a call, where no worker does: looks at the clock in one of eight calls while blocks are kept.
#[inline]
pub(super) fn release_unused() {
    static CALLS: AtomicUsize = AtomicUsize::new(0);
    // SAFETY: null, or a box that is never freed.
    let kept = unsafe { KEPT.load(Ordering::Acquire).as_ref() };
    if kept.is_some_and(|kept| kept.bytes.load(Ordering::Relaxed) > 0)
        && CALLS.fetch_add(1, Ordering::Relaxed).is_multiple_of(8)
    {
        (RELEASE.work)();
    }
}

/// The blocks of this process. Those that a forked child inherits are released there.
fn current() -> &'static Kept {
    loop {
        let found = KEPT.load(Ordering::Acquire);
        let process = std::process::id();
        // SAFETY: null, or a box that is never freed.
        let inherited = unsafe { found.as_ref() };
        if let Some(kept) = inherited.filter(|kept| kept.process == process) {
            return kept;
        }
        let bytes = AtomicUsize::new(0);
        let made = Box::into_raw(Box::new(Kept { process, blocks: Mutex::default(), bytes }));
        match KEPT.compare_exchange(found, made, Ordering::AcqRel, Ordering::Acquire) {
            // If another thread of the parent held the lock, they stay.
            Ok(_) => {
                drop(inherited.and_then(|kept| Some(kept.lock()?.drain(..).collect::<Vec<_>>())))
            }
            // Another thread was faster.
            // SAFETY: made above, and not shared.
            Err(_) => drop(unsafe { Box::from_raw(made) }),
        }
    }
}

impl Kept {
    /// The blocks, unless another thread holds the lock. It never waits: a thread that drops an array of
    /// Python holds the GIL, which the other thread may need.
    fn lock(&self) -> Option<MutexGuard<'_, Vec<Unused>>> {
        match self.blocks.try_lock() {
            Ok(blocks) => Some(blocks),
            Err(TryLockError::Poisoned(blocks)) => Some(PoisonError::into_inner(blocks)),
            Err(TryLockError::WouldBlock) => None,
        }
    }

    /// The most recent block that fits without much waste, because its pages are the most likely to be
    /// resident, and those that have not been used for a while, for the caller to drop: the lock
    /// is not held during system calls.
    fn take(&self, bytes: usize) -> (Option<Pages>, Vec<Unused>) {
        let Some(mut blocks) = self.lock() else { return (None, vec![]) };
        let fits = |unused: &Unused| (bytes..=bytes + bytes / 4).contains(&unused.pages.bytes);
        let found = blocks.iter().rposition(fits).map(|at| blocks.remove(at).pages);
        let surplus = surplus(&mut blocks, usize::MAX);
        self.count(&blocks);
        (found, surplus)
    }

    fn put(&self, pages: Pages) {
        // Without the lock, the pages are released.
        let Some(mut blocks) = self.lock() else { return };
        blocks.push(Unused { pages, since: Instant::now() });
        self.count(&blocks);
    }

    /// Removes what is unused, and what is above the limit.
    fn trim(&self, limit: usize) -> Vec<Unused> {
        let Some(mut blocks) = self.lock() else { return vec![] };
        let surplus = surplus(&mut blocks, limit);
        self.count(&blocks);
        surplus
    }

    fn count(&self, blocks: &[Unused]) {
        self.bytes.store(bytes_of(blocks), Ordering::SeqCst);
    }
}

fn bytes_of(blocks: &[Unused]) -> usize {
    blocks.iter().map(|unused| unused.pages.bytes).sum()
}

/// Removes the oldest blocks, until the rest has been used lately and is not too much.
fn surplus(blocks: &mut Vec<Unused>, limit: usize) -> Vec<Unused> {
    let goes = |rest: &[Unused]| {
        let too_many = rest.len() > MOST_BLOCKS || bytes_of(rest) > limit;
        rest.first().is_some_and(|oldest| too_many || oldest.since.elapsed() >= UNUSED)
    };
    let count = (0..blocks.len()).find(|&at| !goes(&blocks[at..])).unwrap_or(blocks.len());
    blocks.drain(..count).collect()
}

/// How many bytes to keep.
fn limit(is_watched: bool) -> usize {
    let asked = LIMIT.load(Ordering::SeqCst);
    if asked < usize::MAX {
        return asked;
    }
    // Asked once: the answer is in files.
    static DEFAULT: AtomicUsize = AtomicUsize::new(0);
    let default = match DEFAULT.load(Ordering::Relaxed) {
        0 => {
            let part = machine::memory().map_or(MOST_BYTES, |bytes| bytes / PART_OF_MACHINE);
            let default = part.clamp(1, MOST_BYTES);
            DEFAULT.store(default, Ordering::Relaxed);
            default
        }
        default => default,
    };
    if is_watched { default } else { default.min(MOST_UNWATCHED) }
}

impl Pages {
    /// `bytes` is not 0, and a multiple of a page unless it is small.
    fn new(bytes: usize) -> Option<Self> {
        let layout = Layout::from_size_align(bytes, Self::alignment(bytes)).ok()?;
        // SAFETY: the layout is not empty.
        let start = NonNull::new(unsafe { alloc(layout) })?;
        let pages = Pages { start, bytes };
        if bytes >= Block::LEAST {
            pages.advise(Advice::LargePages);
        }
        Some(pages)
    }

    fn alignment(bytes: usize) -> usize {
        if bytes < Block::LEAST { LINE } else { PAGE }
    }

    /// Advises the system, which may ignore it.
    // Miri does not know the call.
    #[cfg(all(target_os = "linux", not(miri)))]
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

    #[cfg(any(not(target_os = "linux"), miri))]
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

#[cfg_attr(any(not(target_os = "linux"), miri), allow(dead_code))]
#[derive(Clone, Copy)]
enum Advice {
    LargePages,
    /// The pages may be reclaimed under memory pressure.
    MayBeTaken,
}

/// How much memory the process may use.
#[cfg(target_os = "linux")]
mod machine {
    use std::fs::read_to_string;
    use std::path::Path;

    /// That of the machine, or of a control group if that is less.
    pub(super) fn memory() -> Option<usize> {
        let read = |path: &Path| read_to_string(path).ok();
        [machine(&read), group(&read)].into_iter().flatten().min()
    }

    fn machine(read: &impl Fn(&Path) -> Option<String>) -> Option<usize> {
        let text = read(Path::new("/proc/meminfo"))?;
        let line = text.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
        bytes(line.trim().strip_suffix(" kB")?, 1024)
    }

    /// A number of so many bytes each; a 32-bit process cannot use more than its addresses.
    fn bytes(number: &str, each: u64) -> Option<usize> {
        let bytes = number.parse::<u64>().ok()?.saturating_mul(each);
        Some(usize::try_from(bytes).unwrap_or(usize::MAX))
    }

    /// The least of the limits of the group and of those around it (version 2), or the limit of the
    /// group (version 1).
    pub(super) fn group(read: &impl Fn(&Path) -> Option<String>) -> Option<usize> {
        let text = read(Path::new("/proc/self/cgroup"))?;
        let number = |path: &Path| bytes(read(path)?.trim(), 1);
        let limits = text.lines().filter_map(|line| {
            let (controllers, group) = line.split_once(':')?.1.split_once(':')?;
            let group = group.trim_start_matches('/');
            if controllers.is_empty() {
                let root = Path::new("/sys/fs/cgroup");
                let path = root.join(group);
                let around = path.ancestors().take_while(|at| at.starts_with(root));
                return around.filter_map(|at| number(&at.join("memory.max"))).min();
            }
            let has_memory = controllers.split(',').any(|name| name == "memory");
            let root = Path::new("/sys/fs/cgroup/memory");
            // In a container, its own group is the root.
            let paths = [root.join(group), root.into()];
            let limit = |at: &std::path::PathBuf| number(&at.join("memory.limit_in_bytes"));
            paths.iter().filter(|_| has_memory).find_map(limit)
        });
        limits.min()
    }
}

#[cfg(not(target_os = "linux"))]
mod machine {
    pub(super) fn memory() -> Option<usize> {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The limit belongs to the process, so tests take turns.
    static TURN: Mutex<()> = Mutex::new(());

    fn released(since: Instant) -> bool {
        while kept_memory() > 0 && since.elapsed() < 5 * UNUSED {
            std::thread::sleep(UNUSED / 20);
        }
        kept_memory() == 0
    }

    #[test]
    fn blocks_are_used_again_and_kept_up_to_a_limit() {
        let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
        set_kept_memory(Some(3 * PAGE));
        drop(Block::new(PAGE + 1).unwrap());
        assert_eq!(kept_memory(), 2 * PAGE);
        let again = Block::new(2 * PAGE).unwrap();
        assert_eq!(kept_memory(), 0);
        let more = Block::new(2 * PAGE).unwrap();
        assert_ne!(again.as_ptr(), more.as_ptr());
        drop((again, more));
        assert_eq!(kept_memory(), 2 * PAGE);
        set_kept_memory(Some(0));
        assert_eq!(kept_memory(), 0);
        drop(Block::new(PAGE).unwrap());
        drop(Block::new(100).unwrap());
        assert_eq!(kept_memory(), 0);
        assert!(Block::new(usize::MAX).is_none());
        set_kept_memory(None);
    }

    #[test]
    #[cfg_attr(miri, ignore = "waits for seconds")]
    fn an_idle_worker_releases_what_is_not_used() {
        let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
        crate::cpu::with_threads(2, || crate::cpu::run_parts(2, |_| {}));
        // Long after the worker has gone to sleep.
        std::thread::sleep(Duration::from_millis(20));
        let start = Instant::now();
        drop(Block::new(3 * PAGE).unwrap());
        assert_eq!(kept_memory(), 3 * PAGE);
        assert!(released(start));
        assert!(start.elapsed() >= UNUSED);
    }

    #[test]
    #[cfg_attr(miri, ignore = "waits for seconds")]
    fn the_next_call_releases_what_is_not_used() {
        let kept = Kept { process: 0, blocks: Mutex::default(), bytes: AtomicUsize::new(0) };
        kept.put(Pages::new(PAGE).unwrap());
        std::thread::sleep(UNUSED / 2);
        kept.put(Pages::new(PAGE).unwrap());
        assert!(kept.trim(usize::MAX).is_empty());
        std::thread::sleep(UNUSED / 2 + UNUSED / 10);
        let (found, surplus) = kept.take(10 * PAGE);
        assert_eq!((found.is_some(), surplus.len()), (false, 1));
        assert_eq!(kept.bytes.load(Ordering::SeqCst), PAGE);
    }

    #[test]
    fn many_threads_make_and_drop_blocks() {
        let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
        std::thread::scope(|scope| {
            for number in 1..5u8 {
                scope.spawn(move || {
                    for round in 0..if cfg!(miri) { 3 } else { 200 } {
                        let bytes = if round % 2 == 0 { PAGE } else { 2 * PAGE };
                        let block = Block::new(bytes).unwrap();
                        // SAFETY: the block has this many bytes, and one owner.
                        unsafe {
                            block.as_ptr().write(number);
                            block.as_ptr().add(bytes - 1).write(number);
                            assert_eq!(block.as_ptr().read(), number);
                        }
                    }
                });
            }
        });
        set_kept_memory(Some(0));
        set_kept_memory(None);
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn limits_of_control_groups_are_found() {
        use std::path::Path;
        fn found(files: &[(&str, &str)]) -> Option<usize> {
            machine::group(&|path: &Path| {
                let file = files.iter().find(|(name, _)| Path::new(name) == path);
                file.map(|(_, text)| (*text).to_owned())
            })
        }
        assert_eq!(found(&[]), None);
        let second = [
            ("/proc/self/cgroup", "0::/a/b\n"),
            ("/sys/fs/cgroup/a/b/memory.max", "max\n"),
            ("/sys/fs/cgroup/a/memory.max", "1048576\n"),
        ];
        assert_eq!((found(&second), found(&second[..2])), (Some(1 << 20), None));
        let first = [
            ("/proc/self/cgroup", "5:cpu,memory:/docker/x\n1:name=systemd:/y\n"),
            ("/sys/fs/cgroup/memory/memory.limit_in_bytes", "4096\n"),
        ];
        assert_eq!(found(&first), Some(4096));
        assert!(machine::memory().is_some_and(|bytes| bytes > 1 << 20));
    }
}
