//! Reverses one array, chunk by chunk, in parallel and in bounded memory.
//!
//! A worker takes a run of output chunks. Along a ragged axis, neighbours of a run share an input
//! chunk, which the worker keeps, so that most input chunks are decoded once.

use crate::error::Error;
use crate::flip::{self, Chunk};
use crate::grid::{Grid, Piece};
use std::ops::Range;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// The most output chunks of a run.
const RUN: u64 = 32;

/// Where chunks come from.
pub(crate) trait Source: Sync {
    /// The elements of a chunk; `None` if the chunk is missing.
    fn chunk(&self, index: &[u64]) -> Result<Option<Vec<u8>>, Error>;

    /// Whether parts of a chunk can be read without reading all of it.
    fn has_parts(&self) -> bool;

    /// Replaces `into` with a range of the bytes of a chunk, if the source has parts. Returns
    /// whether the chunk exists.
    fn part(&self, index: &[u64], range: Range<u64>, into: &mut Vec<u8>) -> Result<bool, Error>;

    /// Copies of a chunk that exist while it is read.
    fn copies(&self) -> u64;
}

/// Where chunks go.
pub(crate) trait Sink: Sync {
    /// Whether an earlier run has written this chunk, and its sources have not changed since.
    fn is_done(&self, index: &[u64], pieces: &[Piece]) -> Result<bool, Error>;

    /// Writes the elements of a chunk. Returns a buffer to use again.
    fn write(&self, index: &[u64], elements: Vec<u8>) -> Result<Vec<u8>, Error>;

    /// A chunk without any source.
    fn leave_out(&self, index: &[u64]) -> Result<(), Error>;

    /// Copies a chunk without decoding it, or says that it cannot.
    fn copy(&self, index: &[u64], source: &[u64]) -> Result<Copied, Error>;

    /// Copies of a chunk that exist while it is written.
    fn copies(&self) -> u64;
}

/// What became of a chunk that should only be copied.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Copied {
    Done,
    Missing,
    MustDecode,
}

/// An array to reverse.
#[derive(Clone, Copy)]
pub(crate) struct Work<'a> {
    pub(crate) name: &'a str,
    pub(crate) grid: &'a Grid,
    pub(crate) flipped: &'a [bool],
    /// The bytes of an element; `None` if that differs, and chunks can only be copied.
    pub(crate) width: Option<usize>,
    /// A missing element.
    pub(crate) missing: &'a [u8],
    pub(crate) source: &'a dyn Source,
    pub(crate) sink: &'a dyn Sink,
}

/// How to work.
pub struct Settings<'a> {
    /// The most memory to use, in bytes.
    pub memory: u64,
    /// The most threads to use.
    pub threads: usize,
    /// Replace an output that exists.
    pub force: bool,
    /// Set by the caller to stop between two chunks.
    pub stop: &'a AtomicBool,
    /// Called with the bytes of chunks that are complete, by any thread.
    pub progress: &'a (dyn Fn(u64) + Sync),
}

/// What was done.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Counts {
    /// Output chunks.
    pub chunks: u64,
    /// Of these, complete in an earlier run.
    pub resumed: u64,
    /// Of these, copied without decoding.
    pub copied: u64,
    /// Of these, missing in the input and so in the output.
    pub missing: u64,
    /// Input chunks that were read, again if they were read twice.
    pub reads: u64,
}

impl Counts {
    /// Adds others to these.
    pub(crate) fn add(&mut self, other: &Counts) {
        self.chunks += other.chunks;
        self.resumed += other.resumed;
        self.copied += other.copied;
        self.missing += other.missing;
        self.reads += other.reads;
    }
}

/// Memory that the program needs besides chunks.
const BASE: u64 = 24 << 20;

impl Work<'_> {
    /// The bytes of a chunk of elements.
    fn chunk_bytes(&self) -> u64 {
        let len = self.grid.chunk_len().unwrap_or(u64::MAX);
        len.saturating_mul(self.width.unwrap_or(1) as u64)
    }

    /// Whether every output chunk is an input chunk.
    fn only_copies(&self) -> bool {
        (0..self.grid.rank()).all(|axis| !self.flipped[axis] || self.grid.only_renames(axis))
    }

    /// Memory for one worker.
    fn need(&self) -> u64 {
        let ragged = |axis: &usize| self.flipped[*axis] && self.grid.is_ragged(*axis);
        let count = (0..self.grid.rank()).filter(ragged).count() as u32;
        let inputs = if self.source.has_parts() { 1 } else { 1u64 << count.min(16) };
        let copies = inputs + self.source.copies().max(self.sink.copies());
        self.chunk_bytes().saturating_mul(copies)
    }

    /// Reverses the array. `resumed` says that an earlier run may have written some chunks.
    pub(crate) fn run(&self, settings: &Settings<'_>, resumed: bool) -> Result<Counts, Error> {
        let copies = self.only_copies();
        if !copies && self.width.is_none() {
            let what = "elements of different sizes (strings) can be reversed only along axes \
                        with one element per chunk";
            return Err(Error::Unsupported { at: self.name.to_owned(), what: what.to_owned() });
        }
        let limit = settings.memory;
        let (need, at) = (self.need(), self.name.to_owned());
        let least = need.saturating_add(BASE);
        let workers = if copies && self.sink.copies() == 0 {
            settings.threads as u64
        } else if least > limit {
            return Err(Error::Memory { at, need: least, limit });
        } else {
            (limit - BASE).checked_div(need).unwrap_or(u64::MAX)
        };
        let workers = workers.clamp(1, settings.threads.max(1) as u64).min(self.grid.chunks());
        let shared = Shared {
            work: self,
            settings,
            resumed,
            order: self.order(),
            run: (self.grid.chunks() / (workers.max(1) * 4)).clamp(1, RUN),
            next: AtomicU64::new(0),
            failed: Mutex::new(None),
            halt: AtomicBool::new(false),
        };
        let mut counts = Counts::default();
        std::thread::scope(|scope| {
            let spawn = |_| scope.spawn(|| shared.work());
            let threads: Vec<_> = (0..workers).map(spawn).collect();
            for thread in threads {
                match thread.join() {
                    Ok(part) => counts.add(&part),
                    Err(panic) => std::panic::resume_unwind(panic),
                }
            }
        });
        let failed = shared.failed.into_inner().unwrap_or_else(|error| error.into_inner());
        match failed {
            Some(error) => Err(error),
            None if counts.chunks < self.grid.chunks() => {
                let (done, total) = (counts.chunks, self.grid.chunks());
                Err(Error::Interrupted { done, total })
            }
            None => Ok(counts),
        }
    }

    /// The order in which chunks are counted: neighbours along a ragged axis follow each other.
    fn order(&self) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.grid.rank()).collect();
        let ragged = |&axis: &usize| self.flipped[axis] && self.grid.is_ragged(axis);
        if let Some(at) = order.iter().rposition(ragged) {
            let axis = order.remove(at);
            order.push(axis);
        }
        order
    }
}

/// What the workers of an array share.
struct Shared<'a> {
    work: &'a Work<'a>,
    settings: &'a Settings<'a>,
    resumed: bool,
    order: Vec<usize>,
    run: u64,
    next: AtomicU64,
    failed: Mutex<Option<Error>>,
    halt: AtomicBool,
}

/// The memory of a worker.
#[derive(Default)]
struct Memory {
    /// Decoded input chunks that the next output chunk may need too.
    kept: Vec<(Vec<u64>, Option<Vec<u8>>)>,
    /// Part of an input chunk.
    part: Vec<u8>,
    /// The output chunk.
    target: Vec<u8>,
}

impl Shared<'_> {
    /// What one worker does.
    fn work(&self) -> Counts {
        let mut counts = Counts::default();
        // The engine's own threads would compete with the workers.
        let single = retrograde::cpu::ThreadPool::new(1);
        let mut go = || match self.runs(&mut counts) {
            Ok(()) => {}
            Err(error) => {
                self.halt.store(true, Ordering::Relaxed);
                let mut failed = self.failed.lock().unwrap_or_else(|error| error.into_inner());
                failed.get_or_insert(error);
            }
        };
        match single {
            Ok(pool) => pool.install(go),
            Err(_) => go(),
        }
        counts
    }

    fn runs(&self, counts: &mut Counts) -> Result<(), Error> {
        let total = self.work.grid.chunks();
        let mut memory = Memory::default();
        loop {
            let start = self.next.fetch_add(self.run, Ordering::Relaxed);
            if start >= total {
                return Ok(());
            }
            for number in start..total.min(start + self.run) {
                let stop = self.settings.stop.load(Ordering::Relaxed);
                if stop || self.halt.load(Ordering::Relaxed) {
                    return Ok(());
                }
                let index = self.work.grid.index(number, &self.order);
                self.chunk(&index, &mut memory, counts)?;
                counts.chunks += 1;
                (self.settings.progress)(self.work.chunk_bytes());
            }
            memory.kept.clear();
        }
    }

    /// Writes one output chunk.
    fn chunk(&self, index: &[u64], memory: &mut Memory, counts: &mut Counts) -> Result<(), Error> {
        let &Work { grid, flipped, source, sink, missing, .. } = self.work;
        let pieces = grid.pieces(index, flipped);
        if self.resumed && sink.is_done(index, &pieces)? {
            counts.resumed += 1;
            return Ok(());
        }
        if self.work.only_copies() {
            match sink.copy(index, &pieces[0].chunk)? {
                Copied::Done => {
                    counts.copied += 1;
                    counts.reads += 1;
                    return Ok(());
                }
                Copied::Missing => {
                    counts.missing += 1;
                    return sink.leave_out(index);
                }
                Copied::MustDecode => {}
            }
        }
        let whole = Chunk { shape: grid.chunk(), width: self.work.width.unwrap_or(1), begin: 0 };
        let covered: u64 = pieces.iter().map(Piece::elements).sum();
        let covered = Some(covered) == grid.chunk_len();
        let mut target = std::mem::take(&mut memory.target);
        target.resize(self.work.chunk_bytes() as usize, 0);
        if !covered {
            flip::fill(&mut target, missing);
        }
        let Memory { kept, part, .. } = memory;
        let shared = pieces.len() > 1;
        kept.retain(|(chunk, _)| shared && pieces.iter().any(|piece| &piece.chunk == chunk));
        let mut found = false;
        for piece in &pieces {
            let (elements, begin) = if source.has_parts() {
                let hull = whole.hull(&piece.from, &piece.len);
                let begin = hull.start;
                counts.reads += 1;
                (source.part(&piece.chunk, hull, part)?.then_some(&part[..]), begin)
            } else {
                let at = match kept.iter().position(|(chunk, _)| *chunk == piece.chunk) {
                    Some(at) => at,
                    None => {
                        counts.reads += 1;
                        kept.push((piece.chunk.clone(), source.chunk(&piece.chunk)?));
                        kept.len() - 1
                    }
                };
                (kept[at].1.as_deref(), 0)
            };
            match elements {
                Some(elements) => {
                    found = true;
                    let from = (Chunk { begin, ..whole }, elements);
                    let to = (whole, &mut target[..]);
                    flip::flip(piece, flipped, from, to).map_err(|source| Error::Operator {
                        at: self.work.name.to_owned(),
                        source: Box::new(source),
                    })?;
                }
                // Otherwise it was filled as a whole.
                None if covered => flip::fill_box(piece, whole, &mut target, missing),
                None => {}
            }
        }
        if pieces.len() == 1 {
            // Freed before the chunk is encoded.
            kept.clear();
        }
        if !found {
            counts.missing += 1;
            memory.target = target;
            return sink.leave_out(index);
        }
        memory.target = sink.write(index, target)?;
        Ok(())
    }
}
