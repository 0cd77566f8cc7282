//! Reverses one array, chunk by chunk, in parallel and in bounded memory.
//!
//! A worker takes a run of output chunks. Along a ragged axis, neighbours of a run share an input
//! chunk, which the worker keeps, so that most input chunks are decoded once.

use crate::error::Error;
use crate::flip::{self, Chunk};
use crate::grid::Grid;
use crate::journal::{Origins, Pages, lock};
use crate::movement::Movement;
use crate::needs::Part;
use std::ops::Range;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// The most output chunks of a run.
const RUN: u64 = 32;

/// A chunk that was read.
#[derive(Debug, Default)]
pub(crate) struct Read {
    /// Its elements; `None` if it is missing.
    pub(crate) elements: Option<Vec<u8>>,
    /// The version of the file or object that it was looked for in, if that exists.
    pub(crate) version: Option<String>,
}

/// Where chunks come from.
pub(crate) trait Source: Sync {
    /// Reads a chunk.
    fn chunk(&self, index: &[u64]) -> Result<Read, Error>;

    /// Whether parts of a chunk can be read without reading all of it.
    fn has_parts(&self) -> bool {
        false
    }

    /// Replaces `into` with a range of the bytes of a chunk, if the source has parts. Returns the
    /// version of the chunk, if it exists.
    fn part(
        &self,
        _index: &[u64],
        _range: Range<u64>,
        _into: &mut Vec<u8>,
    ) -> Result<Option<String>, Error> {
        Ok(None)
    }

    /// The version of a chunk, or of a shard if these are taken together; `None` if it is missing.
    fn version(&self, unit: &[u64]) -> Result<Option<String>, Error>;

    /// Bytes of memory while a chunk is read, including its elements.
    fn room(&self) -> u64;

    /// Bytes that a worker needs for its connection, if there is one.
    fn connection(&self) -> u64 {
        0
    }
}

/// Where chunks go.
pub(crate) trait Sink: Sync {
    /// Whether a chunk, or a shard if these are taken together, is there.
    fn has(&self, unit: &[u64]) -> Result<bool, Error>;

    /// Whether a chunk without any source is left out; otherwise it is written like others.
    fn leaves_out(&self) -> bool {
        true
    }

    /// Writes the elements of a chunk. Returns a buffer to use again.
    fn write(&self, index: &[u64], elements: Vec<u8>) -> Result<Vec<u8>, Error>;

    /// A chunk without any source. If `resumed`, an earlier run may have written it.
    fn leave_out(&self, index: &[u64], resumed: bool) -> Result<(), Error>;

    /// Copies a chunk without decoding it, or says that it cannot.
    fn copy(&self, _index: &[u64], _source: &[u64]) -> Result<Copied, Error> {
        Ok(Copied::MustDecode)
    }

    /// Bytes of memory while a chunk is written, including its elements.
    fn room(&self) -> u64;

    /// Bytes that a worker needs for its connection, if there is one.
    fn connection(&self) -> u64 {
        0
    }
}

/// What became of a chunk that should only be copied.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Copied {
    /// It was copied from a source of this version.
    Done(String),
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
    /// Compare inputs of complete chunks by their content, not by what identifies it.
    pub verify: bool,
    /// Set by the caller to stop between two chunks.
    pub stop: &'a AtomicBool,
    /// Called with the bytes of chunks that are complete, and whether an earlier run had completed
    /// them, by any thread.
    pub progress: &'a (dyn Fn(u64, bool) + Sync),
}

/// 1 GiB and one thread, without a caller that stops it or watches.
impl Default for Settings<'_> {
    fn default() -> Self {
        static NEVER: AtomicBool = AtomicBool::new(false);
        Settings {
            memory: 1 << 30,
            threads: 1,
            force: false,
            sync: true,
            verify: false,
            stop: &NEVER,
            progress: &|_, _| {},
        }
    }
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
        self.grid.chunk_bytes(self.width.unwrap_or(1))
    }

    /// Memory for one worker.
    fn need(&self) -> u64 {
        let count = self.movement.ragged(self.grid).len() as u32;
        let inputs = if self.source.has_parts() { 1 } else { 1u64 << count.min(16) };
        let connections = self.source.connection() + self.sink.connection();
        let busy = self.source.room().max(self.sink.room());
        self.chunk_bytes().saturating_mul(inputs).saturating_add(busy).saturating_add(connections)
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
        let workers = if least > limit {
            return Err(Error::Memory { at, need: least, limit });
        } else {
            (limit - BASE).checked_div(need).unwrap_or(u64::MAX)
        };
        Ok(workers.clamp(1, settings.threads.max(1) as u64).min(self.grid.chunks()))
    }

    /// Reverses the array. The journal says which chunks an earlier run has written.
    pub(crate) fn run(&self, settings: &Settings<'_>, done: Pages<'_>) -> Result<Counts, Error> {
        let workers = self.workers(settings)?;
        let shared = Shared {
            work: self,
            settings,
            done,
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

/// What is complete as a whole: a chunk, or a block of them.
struct Unit {
    /// Its position in the grid of units, and its number there, row-major.
    index: Vec<u64>,
    number: u64,
    /// The numbers of its chunks.
    chunks: Range<u64>,
}

impl Numbering {
    /// The grid of units.
    fn units<'a>(&'a self, grid: &'a Grid) -> &'a Grid {
        self.blocks.as_ref().map_or(grid, |(outer, _)| outer)
    }

    /// The unit that begins with this number.
    fn unit(&self, grid: &Grid, first: u64) -> Unit {
        let len = if self.blocks.is_some() { self.run } else { 1 };
        let units = self.units(grid);
        let index = units.index(first / len, &self.order);
        let number = (0..units.rank()).fold(0, |sum, axis| sum * units.count(axis) + index[axis]);
        Unit { index, number, chunks: first..first + len }
    }

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
    done: Pages<'a>,
    numbering: Numbering,
    next: AtomicU64,
    failed: Mutex<Option<Error>>,
    halt: AtomicBool,
}

/// The memory of a worker.
#[derive(Default)]
struct Memory {
    /// Decoded input chunks that the next output chunk may need too.
    kept: Vec<(Vec<u64>, Read)>,
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
                let mut failed = lock(&self.failed);
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
            let mut next = start;
            while next < total.min(start + run) {
                let unit = self.numbering.unit(self.work.grid, next);
                next = unit.chunks.end;
                if !self.unit(unit, &mut memory, counts)? {
                    return Ok(());
                }
            }
            memory.kept.clear();
        }
    }

    /// Completes a chunk, or the chunks that are taken together. Returns whether to go on.
    fn unit(&self, unit: Unit, memory: &mut Memory, counts: &mut Counts) -> Result<bool, Error> {
        let earlier = if self.done.resumed() { self.done.get(unit.number)? } else { None };
        let done = match earlier {
            Some(stamp) if !self.must_stop() => self.is_done(&unit, stamp)?,
            _ => false,
        };
        if earlier.is_some() && !done && !self.must_stop() {
            // What follows may stop halfway.
            self.done.set(unit.number, 0)?;
        }
        let (mut origins, mut written) = (Origins::default(), false);
        for number in unit.chunks {
            if self.must_stop() {
                return Ok(false);
            }
            let Some(index) = self.numbering.index(self.work.grid, number) else { continue };
            if done {
                counts.resumed += 1;
            } else {
                written |= self.chunk(&index, memory, counts, &mut origins)?;
            }
            counts.chunks += 1;
            (self.settings.progress)(self.work.chunk_bytes(), done);
        }
        if !done {
            self.done.set(unit.number, origins.stamp(written).unwrap_or(0))?;
        }
        Ok(true)
    }

    fn must_stop(&self) -> bool {
        self.settings.stop.load(Ordering::Relaxed) || self.halt.load(Ordering::Relaxed)
    }

    /// Whether an earlier run has completed a unit, and its inputs are still the same.
    fn is_done(&self, unit: &Unit, stamp: u64) -> Result<bool, Error> {
        let &Work { grid, movement, source, sink, .. } = self.work;
        let mut origins = Origins::default();
        for (chunk, _) in movement.needs(self.numbering.units(grid), &unit.index).sources {
            let version = source.version(&chunk)?;
            origins.add(chunk, version.as_deref());
        }
        let made = |written| origins.stamp(written) == Some(stamp);
        let is_there = sink.has(&unit.index)?;
        Ok(if sink.leaves_out() { made(is_there) } else { is_there && made(true) })
    }

    /// The unit of an input chunk.
    fn unit_of(&self, chunk: &[u64]) -> Vec<u64> {
        match self.work.together {
            Some(together) => chunk.iter().zip(together).map(|(at, count)| at / count).collect(),
            None => chunk.to_vec(),
        }
    }

    /// Writes one output chunk, or leaves it out. Returns whether it exists.
    fn chunk(
        &self,
        index: &[u64],
        memory: &mut Memory,
        counts: &mut Counts,
        origins: &mut Origins,
    ) -> Result<bool, Error> {
        let &Work { grid, movement, source, sink, missing, .. } = self.work;
        let needs = movement.needs(grid, index);
        let leave_out = || sink.leave_out(index, self.done.resumed()).map(|()| !sink.leaves_out());
        if movement.only_copies(grid) {
            let chunk = &needs.sources[0].0;
            match sink.copy(index, chunk)? {
                Copied::Done(version) => {
                    counts.copied += 1;
                    counts.reads += 1;
                    origins.add(self.unit_of(chunk), Some(&version));
                    return Ok(true);
                }
                Copied::Missing => {
                    counts.missing += 1;
                    origins.add(self.unit_of(chunk), None);
                    return leave_out();
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
                let version = source.part(chunk, hull, part)?;
                origins.add(self.unit_of(chunk), version.as_deref());
                (version.map(|_| &part[..]), begin)
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
                let Read { elements, version } = &kept[at].1;
                origins.add(self.unit_of(chunk), version.as_deref());
                (elements.as_deref(), 0)
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
            return leave_out();
        }
        memory.target = sink.write(index, target)?;
        Ok(true)
    }
}
