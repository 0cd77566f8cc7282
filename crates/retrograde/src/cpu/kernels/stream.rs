//! Non-temporal stores: whole cache lines only, in several streams at once.
//!
//! Beyond the caches an ordinary store first reads the line that it overwrites. A non-temporal
//! store does not, if the write-combining buffer gets the whole line; a line that is stored in
//! part, or by both kinds of store, costs a round trip to memory and stalls what follows. So
//! consecutive runs share a line in a buffer here until it is full.

use crate::cpu::simd::{Source, Vector};
use std::mem::MaybeUninit;

/// One cache line.
pub(in crate::cpu) const LINE: usize = 64;
/// Bytes that one stream writes at a time: two lines.
const BURST: usize = 2 * LINE;
/// A page: what one stream takes at most, before the streams move on together.
const PAGE: usize = 4096;
/// Streams that are written in round robin. Memory serves several open pages better than one
/// page after the other: measured, four are 15 to 25 % faster than one beyond the caches.
pub(in crate::cpu) const STREAMS: usize = 4;
/// Runs that are shorter than this are written four at a time.
pub(in crate::cpu) const LONG: usize = STREAMS * PAGE;
/// Shorter runs are gathered byte by byte.
pub(in crate::cpu) const LEAST: usize = 2 * LINE;

/// A page of zeros, to be copied.
pub(in crate::cpu) static ZEROS: [u8; PAGE] = [0; PAGE];

/// One of several runs that are written at once.
#[derive(Clone, Copy)]
pub(in crate::cpu) struct Run<S> {
    pub(in crate::cpu) source: S,
    pub(in crate::cpu) dst: *mut u8,
    /// What to prefetch meanwhile; need not be a valid address.
    pub(in crate::cpu) next: *const u8,
}

/// How a run is written, and what to prefetch meanwhile.
pub(in crate::cpu) struct To<'a> {
    /// Where non-temporal stores go; `None` for ordinary stores.
    pub(in crate::cpu) stream: Option<&'a mut Stream>,
    /// The run that comes next: prefetched line by line as this one is written, because hardware
    /// prefetchers do not predict its address. Null for none; need not be valid.
    pub(in crate::cpu) next: *const u8,
}

/// A source that prefetches the next one.
#[derive(Clone, Copy)]
pub(in crate::cpu) struct Ahead<S> {
    pub(in crate::cpu) source: S,
    pub(in crate::cpu) next: *const u8,
}

impl<V: Vector, S: Source<V>> Source<V> for Ahead<S> {
    #[inline(always)]
    unsafe fn at(&self, offset: usize) -> V {
        V::prefetch(self.next.wrapping_add(offset));
        // SAFETY: the contract of [`Stream::run`].
        unsafe { self.source.at(offset) }
    }
}

impl<'a> To<'a> {
    /// Writes with non-temporal stores if `streams`, and prefetches nothing.
    #[inline(always)]
    pub(in crate::cpu) fn new(stream: &'a mut Stream, streams: bool) -> Self {
        To { stream: streams.then_some(stream), next: std::ptr::null() }
    }
}

/// The bytes that two runs have in one line; padding included, which may be uninitialised.
#[repr(align(64))]
struct Line(MaybeUninit<[u8; LINE]>);

impl Line {
    #[inline(always)]
    fn as_ptr(&self) -> *const u8 {
        self.0.as_ptr().cast()
    }

    #[inline(always)]
    fn as_mut_ptr(&mut self) -> *mut u8 {
        self.0.as_mut_ptr().cast()
    }
}

/// Bytes to copy with non-temporal stores.
pub(in crate::cpu) struct StreamCopy<'a> {
    pub(in crate::cpu) stream: &'a mut Stream,
    pub(in crate::cpu) src: *const u8,
    pub(in crate::cpu) dst: *mut u8,
    pub(in crate::cpu) bytes: usize,
    /// What to prefetch meanwhile, as [`To`] has it.
    pub(in crate::cpu) next: *const u8,
}

/// The kernel for [`StreamCopy`]: other kernels call it, so that it is compiled once for a level.
///
/// # Safety
/// Kernel contract 1 to 3, for these bytes.
pub(in crate::cpu) type CopyKernel = unsafe fn(&mut StreamCopy<'_>);

/// Writes runs of bytes to memory, one after the other.
pub(in crate::cpu) struct Stream {
    /// The kernel that copies.
    pub(in crate::cpu) copy: CopyKernel,
    line: Line,
    /// Where the next byte would continue the line.
    next: *mut u8,
    /// How many bytes in front of it wait in the line.
    waiting: usize,
}

impl Stream {
    pub(in crate::cpu) fn new(copy: CopyKernel) -> Self {
        Stream { copy, line: Line(MaybeUninit::uninit()), next: std::ptr::null_mut(), waiting: 0 }
    }

    /// Writes a run of at least [`LEAST`] bytes, and prefetches `next` meanwhile, as [`To`] has it.
    ///
    /// # Safety
    /// `dst` is valid for writes of `bytes`; the source is valid at 0, at the next line of
    /// `dst` and every multiple of `V::BYTES` from there, and at `bytes - V::BYTES`.
    #[inline(always)]
    pub(in crate::cpu) unsafe fn run<V: Vector, S: Source<V>>(
        &mut self,
        source: S,
        next: *const u8,
        dst: *mut u8,
        bytes: usize,
    ) {
        // SAFETY: the contract of [`Stream::run`].
        unsafe {
            self.edges::<V, S>(source, dst, bytes);
            // Compiled twice: prefetching the same line again and again instead took 5 % longer.
            if next.is_null() {
                lines::<V, _>(source, to_line(dst), dst, bytes);
            } else {
                lines::<V, _>(Ahead { source, next }, to_line(dst), dst, bytes);
            }
        }
    }

    /// Writes four runs of at least [`LEAST`] bytes, which follow each other or not, at once:
    /// memory serves four places better than one. `next` is prefetched meanwhile, as for [`To`].
    ///
    /// # Safety
    /// As for [`run`](Self::run), for each of them.
    #[inline(always)]
    pub(in crate::cpu) unsafe fn four_runs<V: Vector, S: Source<V>>(
        &mut self,
        runs: &[Run<S>; STREAMS],
        bytes: usize,
    ) {
        // SAFETY: the contract of [`Stream::run`]; whole lines start at the first line of each run.
        unsafe {
            for run in runs {
                self.edges::<V, S>(run.source, run.dst, bytes);
            }
            // A run that starts later in its line may have a line less than the others.
            let fewest = (bytes - (LINE - 1)) / BURST * BURST;
            let mut at = 0;
            while at < fewest {
                for run in runs {
                    V::prefetch(run.next.wrapping_add(at));
                    V::prefetch(run.next.wrapping_add(at + LINE));
                    write_lines::<V, S>(run.source, run.dst, to_line(run.dst) + at, BURST);
                }
                at += BURST;
            }
            for run in runs {
                let mut at = to_line(run.dst) + fewest;
                V::prefetch(run.next.wrapping_add(at));
                while at + LINE <= bytes {
                    write_lines::<V, S>(run.source, run.dst, at, LINE);
                    at += LINE;
                }
            }
        }
    }

    /// Writes the parts of a run that share their lines with others, or keeps them for later.
    ///
    /// # Safety
    /// As for [`run`](Self::run).
    #[inline(always)]
    unsafe fn edges<V: Vector, S: Source<V>>(&mut self, source: S, dst: *mut u8, bytes: usize) {
        let lead = to_line(dst);
        let left = (bytes - lead) % LINE;
        // SAFETY: the contract of [`Stream::run`]; `lead` and what is left behind the lines are
        // less than a line, so both fit the buffer, and both are parts of the run.
        unsafe {
            self.continue_at(dst);
            if lead > 0 {
                let line = self.line.as_mut_ptr().add(LINE - lead);
                store_start::<V, S>(source, 0, lead, line);
                self.close::<V>(dst.add(lead), lead);
            }
            if left > 0 {
                store_end::<V, S>(source, bytes, left, self.line.as_mut_ptr());
            }
            (self.next, self.waiting) = (dst.add(bytes), left);
        }
    }

    /// Writes a run of any length, from bytes that are ready in memory.
    ///
    /// # Safety
    /// `ready` is valid for reads and `dst` for writes of `bytes`, and the two do not overlap.
    #[inline(always)]
    pub(in crate::cpu) unsafe fn bytes<V: Vector>(
        &mut self,
        mut ready: *const u8,
        mut dst: *mut u8,
        mut bytes: usize,
    ) {
        // SAFETY: the contract of [`Stream::run`]; pieces never cross a line.
        unsafe {
            self.continue_at(dst);
            while bytes > 0 {
                let at = dst.addr() % LINE;
                let piece = bytes.min(LINE - at);
                ready.copy_to_nonoverlapping(self.line.as_mut_ptr().add(at), piece);
                (dst, ready, bytes) = (dst.add(piece), ready.add(piece), bytes - piece);
                if at + piece == LINE {
                    self.close::<V>(dst, piece);
                } else {
                    (self.next, self.waiting) = (dst, self.waiting + piece);
                }
            }
        }
    }

    /// Writes what still waits.
    ///
    /// # Safety
    /// What was written so far may still be written.
    pub(in crate::cpu) unsafe fn flush(&mut self) {
        // SAFETY: the bytes before `next` may be written, as required of the calls that put them into
        // the line.
        unsafe {
            if self.waiting > 0 {
                let start = self.next.addr() % LINE - self.waiting;
                let from = self.line.as_ptr().add(start);
                from.copy_to_nonoverlapping(self.next.sub(self.waiting), self.waiting);
            }
        }
        self.waiting = 0;
    }

    /// Prepares for bytes at `dst`: what waits stays if they continue it.
    ///
    /// # Safety
    /// As for [`flush`](Self::flush).
    #[inline(always)]
    unsafe fn continue_at(&mut self, dst: *mut u8) {
        if self.waiting > 0 && self.next != dst {
            // SAFETY: the contract of [`Stream::run`].
            unsafe { self.flush() };
        }
    }

    /// The line that ends at `end` is complete up to there, `fresh` bytes of it just now.
    ///
    /// # Safety
    /// Those bytes, and the ones that wait, may be written.
    #[inline(always)]
    unsafe fn close<V: Vector>(&mut self, end: *mut u8, fresh: usize) {
        let own = self.waiting + fresh;
        // SAFETY: the contract of [`Stream::run`]; a full line is aligned, as the buffer is.
        unsafe {
            if own == LINE {
                let start = end.sub(LINE);
                let mut at = 0;
                while at < LINE {
                    V::load(self.line.as_ptr().add(at)).store_nontemporal(start.add(at));
                    at += V::BYTES;
                }
            } else {
                let from = self.line.as_ptr().add(LINE - own);
                from.copy_to_nonoverlapping(end.sub(own), own);
            }
        }
        (self.next, self.waiting) = (end, 0);
    }
}

/// Bytes up to the next line.
#[inline(always)]
pub(in crate::cpu) fn to_line(dst: *mut u8) -> usize {
    dst.addr().wrapping_neg() % LINE
}

/// Stores bytes `from..from + count` of a run, less than a line of them, to `dst`.
///
/// # Safety
/// The source is valid at `from` and every `V::BYTES` further on; `dst` for `count` bytes.
#[inline(always)]
unsafe fn store_start<V: Vector, S: Source<V>>(source: S, from: usize, count: usize, dst: *mut u8) {
    let mut at = 0;
    // SAFETY: the contract of [`Stream::run`].
    unsafe {
        while at + V::BYTES <= count {
            source.at(from + at).store(dst.add(at));
            at += V::BYTES;
        }
        if at < count {
            source.at(from + at).store_range(dst.add(at), 0, count - at);
        }
    }
}

/// Stores the last `count` bytes of a run, less than a line of them, to `dst`.
///
/// # Safety
/// The source is valid at `bytes - count` and every `V::BYTES` further on that fits the run,
/// and at `bytes - V::BYTES`; `dst` for `count` bytes.
#[inline(always)]
unsafe fn store_end<V: Vector, S: Source<V>>(source: S, bytes: usize, count: usize, dst: *mut u8) {
    let mut at = 0;
    // SAFETY: the contract of [`Stream::run`]; the last vector is stored only from its last bytes on.
    unsafe {
        while at + V::BYTES <= count {
            source.at(bytes - count + at).store(dst.add(at));
            at += V::BYTES;
        }
        if at < count {
            let left = count - at;
            let last = source.at(bytes - V::BYTES);
            last.store_range(dst.add(count).wrapping_sub(V::BYTES), V::BYTES - left, V::BYTES);
        }
    }
}

/// Streams the whole lines of a run from `lead` on.
///
/// # Safety
/// `dst + lead` is the start of a line; the source is valid at every multiple of `V::BYTES`
/// from `lead` on.
#[inline(always)]
unsafe fn lines<V: Vector, S: Source<V>>(source: S, lead: usize, dst: *mut u8, bytes: usize) {
    let mut base = lead;
    // SAFETY: offsets go from `lead` in steps of `V::BYTES` and stay below `bytes`.
    unsafe {
        while base + STREAMS * BURST <= bytes {
            // Each stream gets an equal share of what is left, a page at most.
            let stretch = ((bytes - base) / STREAMS / BURST * BURST).min(PAGE);
            let mut at = base;
            while at < base + stretch {
                for stream in 0..STREAMS {
                    write_lines::<V, S>(source, dst, at + stream * stretch, BURST);
                }
                at += BURST;
            }
            base += STREAMS * stretch;
        }
        while base + LINE <= bytes {
            write_lines::<V, S>(source, dst, base, LINE);
            base += LINE;
        }
    }
}

/// Streams the `bytes` bytes from `offset` on. Not a closure: those are compiled without the
/// instructions that the entry points enable.
///
/// # Safety
/// As for [`lines`], for these bytes.
#[inline(always)]
unsafe fn write_lines<V: Vector, S: Source<V>>(
    source: S,
    dst: *mut u8,
    offset: usize,
    bytes: usize,
) {
    let mut at = offset;
    while at < offset + bytes {
        // SAFETY: the contract of [`Stream::run`].
        unsafe { source.at(at).store_nontemporal(dst.add(at)) };
        at += V::BYTES;
    }
}
