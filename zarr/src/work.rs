//! Reverses one array, chunk by chunk, in parallel and in bounded memory.
//!
//! A worker takes a run of output chunks. Along a ragged axis, neighbours of a run share an input
//! chunk, which the worker keeps, so that most input chunks are decoded once.

use crate::error::Error;
use crate::flip::{self, Chunk};
use crate::grid::Grid;
use crate::movement::Movement;
use crate::needs::{Needs, Part};
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

    /// Bytes that a worker needs for its connection, if there is one.
    fn connection(&self) -> u64 {
        0
    }
}

/// Where chunks go.
pub(crate) trait Sink: Sync {
    /// Whether an earlier run has written this chunk, and its sources have not changed since.
    fn is_done(&self, index: &[u64], needs: &Needs) -> Result<bool, Error>;

    /// Writes the elements of a chunk. Returns a buffer to use again.
    fn write(&self, index: &[u64], elements: Vec<u8>) -> Result<Vec<u8>, Error>;

    /// A chunk without any source.
    fn leave_out(&self, index: &[u64]) -> Result<(), Error>;

    /// Copies a chunk without decoding it, or says that it cannot.
    fn copy(&self, index: &[u64], source: &[u64]) -> Result<Copied, Error>;

    /// Copies of a chunk that exist while it is written.
    fn copies(&self) -> u64;

    /// Bytes that a worker needs for its connection, if there is one.
    fn connection(&self) -> u64 {
        0
    }
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
    pub(crate) movement: &'a Movement,
    /// The bytes of an element; `None` if that differs, and chunks can only be copied.
    pub(crate) width: Option<usize>,
    /// A missing element.
    pub(crate) missing: &'a [u8],
    pub(crate) source: &'a dyn Source,
    pub(crate) sink: &'a dyn Sink,
    /// Chunks that one worker takes together, in row-major order: so many along each axis.
    pub(crate) together: Option<&'a [u64]>,
}

/// How to work.
pub struct Settings<'a> {
    /// The most memory to use, in bytes.
    pub memory: u64,
    /// The most threads to use.
    pub threads: usize,
    /// Replace an output that exists.
    pub force: bool,
    /// Wait until a folder is on the disk before it gets its name.
    pub sync: bool,
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

    /// Memory for one worker.
    fn need(&self) -> u64 {
        let count = self.movement.ragged(self.grid).len() as u32;
        let inputs = if self.source.has_parts() { 1 } else { 1u64 << count.min(16) };
        let copies = inputs + self.source.copies().max(self.sink.copies());
        let connections = self.source.connection() + self.sink.connection();
        self.chunk_bytes().saturating_mul(copies).saturating_add(connections)
    }

    /// Fails if elements or memory do not allow it; otherwise, how many workers there may be.
    pub(crate) fn workers(&self, settings: &Settings<'_>) -> Result<u64, Error> {
        let copies = self.movement.only_copies(self.grid);
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
        Ok(workers.clamp(1, settings.threads.max(1) as u64).min(self.grid.chunks()))
    }

    /// Reverses the array. `resumed` says that an earlier run may have written some chunks.
    pub(crate) fn run(&self, settings: &Settings<'_>, resumed: bool) -> Result<Counts, Error> {
        let workers = self.workers(settings)?;
        let shared = Shared {
            work: self,
            settings,
            resumed,
            numbering: self.numbering(workers),
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

    /// How chunks are counted.
    fn numbering(&self, workers: u64) -> Numbering {
        let mut order: Vec<usize> = (0..self.grid.rank()).collect();
        let blocks = self.together.and_then(|together| {
            let sizes = self.grid.chunk().iter().zip(together).map(|(size, count)| size * count);
            let outer = Grid::new(self.grid.shape().to_vec(), sizes.collect())?;
            Some((outer, Grid::new(together.to_vec(), vec![1; together.len()])?))
        });
        if let Some((outer, inner)) = &blocks {
            let (total, run) = (outer.chunks() * inner.chunks(), inner.chunks());
            return Numbering { order, blocks, total, run };
        }
        // Neighbours along a ragged axis follow each other.
        if let Some(&axis) = self.movement.ragged(self.grid).last() {
            order.remove(axis);
            order.push(axis);
        }
        let total = self.grid.chunks();
        Numbering { order, blocks, total, run: (total / (workers.max(1) * 4)).clamp(1, RUN) }
    }
}

/// The order in which chunks are processed.
struct Numbering {
    order: Vec<usize>,
    /// The grid of blocks that a worker takes as a whole, and that of the chunks in a block.
    blocks: Option<(Grid, Grid)>,
    total: u64,
    /// How many numbers a worker takes at once.
    run: u64,
}

impl Numbering {
    /// The chunk with this number; a block at the end of an axis has fewer chunks than numbers.
    fn index(&self, grid: &Grid, number: u64) -> Option<Vec<u64>> {
        let Some((outer, inner)) = &self.blocks else {
            return Some(grid.index(number, &self.order));
        };
        let block = outer.index(number / self.run, &self.order);
        let chunk = inner.index(number % self.run, &self.order);
        let at = |axis: usize| block[axis] * inner.shape()[axis] + chunk[axis];
        let index: Vec<u64> = (0..grid.rank()).map(at).collect();
        index.iter().enumerate().all(|(axis, &at)| at < grid.count(axis)).then_some(index)
    }
}

/// What the workers of an array share.
struct Shared<'a> {
    work: &'a Work<'a>,
    settings: &'a Settings<'a>,
    resumed: bool,
    numbering: Numbering,
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
        let go = || match self.runs(&mut counts) {
            Ok(()) => {}
            Err(error) => {
                self.halt.store(true, Ordering::Relaxed);
                let mut failed = self.failed.lock().unwrap_or_else(|error| error.into_inner());
                failed.get_or_insert(error);
            }
        };
        // The engine's own threads would compete with the workers.
        retrograde::cpu::with_threads(1, go);
        counts
    }

    fn runs(&self, counts: &mut Counts) -> Result<(), Error> {
        let Numbering { total, run, .. } = self.numbering;
        let mut memory = Memory::default();
        loop {
            let start = self.next.fetch_add(run, Ordering::Relaxed);
            if start >= total {
                return Ok(());
            }
            for number in start..total.min(start + run) {
                let stop = self.settings.stop.load(Ordering::Relaxed);
                if stop || self.halt.load(Ordering::Relaxed) {
                    return Ok(());
                }
                let Some(index) = self.numbering.index(self.work.grid, number) else { continue };
                self.chunk(&index, &mut memory, counts)?;
                counts.chunks += 1;
                (self.settings.progress)(self.work.chunk_bytes());
            }
            memory.kept.clear();
        }
    }

    /// Writes one output chunk.
    fn chunk(&self, index: &[u64], memory: &mut Memory, counts: &mut Counts) -> Result<(), Error> {
        let &Work { grid, movement, source, sink, missing, .. } = self.work;
        let needs = movement.needs(grid, index);
        if self.resumed && sink.is_done(index, &needs)? {
            counts.resumed += 1;
            return Ok(());
        }
        if movement.only_copies(grid) {
            match sink.copy(index, &needs.sources[0].0)? {
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
        let covered = Some(needs.elements()) == grid.chunk_len();
        let mut target = std::mem::take(&mut memory.target);
        target.resize(self.work.chunk_bytes() as usize, 0);
        if !covered {
            flip::fill(&mut target, missing);
        }
        let Memory { kept, part, .. } = memory;
        // A movement that shares input chunks between neighbours keeps those of this output chunk.
        // Any other reads as many as it needs, one after the other.
        let shared = !movement.ragged(grid).is_empty();
        let needed = |chunk: &Vec<u64>| needs.sources.iter().any(|(known, _)| known == chunk);
        kept.retain(|(chunk, _)| shared && needed(chunk));
        let (turned, same) = (movement.flipped(), vec![false; grid.rank()]);
        let mut found = false;
        for (chunk, parts) in &needs.sources {
            let (elements, begin) = if source.has_parts() {
                let hulls = parts.iter().map(|part| whole.hull(&part.piece.from, &part.piece.len));
                let hull = hulls.reduce(|a, b| a.start.min(b.start)..a.end.max(b.end));
                let hull = hull.unwrap_or_default();
                let begin = hull.start;
                counts.reads += 1;
                (source.part(chunk, hull, part)?.then_some(&part[..]), begin)
            } else {
                let at = match kept.iter().position(|(known, _)| known == chunk) {
                    Some(at) => at,
                    None => {
                        if !shared {
                            kept.clear();
                        }
                        counts.reads += 1;
                        kept.push((chunk.clone(), source.chunk(chunk)?));
                        kept.len() - 1
                    }
                };
                (kept[at].1.as_deref(), 0)
            };
            found |= elements.is_some();
            for Part { piece, reversed } in parts {
                match elements {
                    Some(elements) => {
                        let from = (Chunk { begin, ..whole }, elements);
                        let to = (whole, &mut target[..]);
                        let flipped = if *reversed { &turned } else { &same };
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
        }
        for zero in &needs.zeros {
            flip::fill_box(zero, whole, &mut target, &[0]);
        }
        if !shared {
            // Freed before the chunk is encoded.
            kept.clear();
        }
        // Zeros are the same as missing elements only if these are zero.
        found |= !needs.zeros.is_empty() && missing.iter().any(|&byte| byte != 0);
        if !found {
            counts.missing += 1;
            memory.target = target;
            return sink.leave_out(index);
        }
        memory.target = sink.write(index, target)?;
        Ok(())
    }
}
