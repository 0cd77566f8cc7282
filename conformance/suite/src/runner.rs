//! Runs cases on a backend, compares every byte with the oracle, and counts.

use crate::backend::{Backend, Call, Outcome};
use crate::case::{Case, Expected, Operation};
use crate::oracle;
use crate::placement::{Placement, copy_element};
use std::collections::BTreeMap;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

/// Guard bytes after a buffer.
const GUARD: usize = 37;
/// Guard bytes before a buffer, in rotation: an allocation is aligned, so these determine the
/// alignment of the base and its offset in a cache line.
pub(crate) const FRONTS: [usize; 6] = [37, 64, 48, 41, 80, 96];
/// The same for buffers that end with their allocation, some of which also begin with it.
const TIGHT_FRONTS: [usize; 6] = [0, 37, 0, 16, 32, 48];
/// The number of failures described in full.
const SHOWN: usize = 5;

/// The results of the cases so far.
#[derive(Debug, Default, Clone)]
pub struct Tally {
    /// Cases handed to the runner.
    pub given: u64,
    /// Cases whose output was compared.
    pub moved: u64,
    /// Cases that had to be refused, were refused, and did not change their output.
    pub refused: u64,
    /// Cases that the backend does not support, by its stated reason.
    pub skipped: BTreeMap<String, u64>,
    /// Cases that failed.
    pub failed: u64,
    /// Descriptions of the first of those.
    pub failures: Vec<String>,
}

impl Tally {
    /// Adds another tally to this one.
    pub fn add(&mut self, other: Tally) {
        self.given += other.given;
        self.moved += other.moved;
        self.refused += other.refused;
        self.failed += other.failed;
        for (reason, count) in other.skipped {
            *self.skipped.entry(reason).or_default() += count;
        }
        let room = SHOWN.saturating_sub(self.failures.len());
        self.failures.extend(other.failures.into_iter().take(room));
    }

    /// Cases that ran.
    pub fn ran(&self) -> u64 {
        self.moved + self.refused
    }

    /// Whether every case either passed or was reported as skipped.
    pub fn is_clean(&self) -> bool {
        let announced: u64 = self.skipped.values().sum();
        self.failed == 0 && self.ran() + announced == self.given
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Tally { given, moved, refused, failed, .. } = self;
        write!(f, "{given} cases: {moved} moved, {refused} refused as they must be, ")?;
        write!(f, "{} skipped, {failed} failed", self.skipped.values().sum::<u64>())?;
        for (reason, count) in &self.skipped {
            write!(f, "\n  skipped {count}: {reason}")?;
        }
        for failure in &self.failures {
            write!(f, "\n  FAILED {failure}")?;
        }
        Ok(())
    }
}

/// How much of a family of cases to run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Share {
    /// All of it, with guard bytes around every buffer.
    All,
    /// Every so many cases, from this one on, in the same way: the parts of a number make up all.
    Part(u64, u64),
    /// One in so many. Buffers end where their allocation ends, and some begin where it begins, so
    /// that valgrind detects reads outside, which guard bytes would hide.
    OneIn(u64),
}

/// Guard bytes of one case.
#[derive(Debug, Clone, Copy)]
struct Margins {
    front: usize,
    back: usize,
}

/// Runs cases on one backend.
pub struct Runner<'b> {
    backend: &'b dyn Backend,
    share: Share,
    offered: u64,
    margins: Margins,
    noise: Noise,
    input: Vec<u8>,
    output: Vec<u8>,
    wanted: Vec<u8>,
    waiting: Vec<Waiting>,
    tally: Tally,
}

/// A case in a batch: `output` and `wanted` hold its memory from here to the start of the next one.
struct Waiting {
    case: Case,
    /// The invalid length according to the oracle, if there is one.
    blamed: Option<usize>,
    start: usize,
    input: Option<Range<usize>>,
    output: Range<usize>,
}

/// Bytes of memory at which a batch is run, even if it has few cases.
const BATCH_BYTES: usize = 16 << 20;

impl<'b> Runner<'b> {
    /// A runner that fills memory with noise from this seed, and runs its share of the cases it is
    /// given.
    pub fn new(backend: &'b dyn Backend, seed: u64, share: Share) -> Self {
        let noise = Noise::new(seed);
        let (input, output, wanted) = (vec![], vec![], vec![]);
        let margins = Margins { front: FRONTS[0], back: GUARD };
        let tally = Tally::default();
        let waiting = vec![];
        Runner { backend, share, offered: 0, margins, noise, input, output, wanted, waiting, tally }
    }

    /// Runs pending cases and returns the results.
    pub fn finish(mut self) -> Tally {
        self.run_waiting();
        self.tally
    }

    /// Runs a case from one placement to another, or in place.
    pub fn check_on(
        &mut self,
        case: &mut Case,
        expected: &Expected,
        input: &Arc<Placement>,
        output: Option<&Arc<Placement>>,
    ) {
        case.input = input.clone();
        case.output = output.cloned();
        self.check(case, expected);
    }

    /// Runs one case, if it is in the share.
    pub fn check(&mut self, case: &Case, expected: &Expected) {
        self.offered += 1;
        let turn = self.tally.given as usize;
        match self.share {
            Share::Part(first, of) if self.offered % of.max(1) != first => return,
            Share::All | Share::Part(..) => self.margins.front = FRONTS[turn % FRONTS.len()],
            Share::OneIn(step) if !self.offered.is_multiple_of(step.max(1)) => return,
            Share::OneIn(_) => {
                let front = TIGHT_FRONTS[turn % TIGHT_FRONTS.len()];
                self.margins = Margins { front, back: 0 };
            }
        }
        self.tally.given += 1;
        if self.backend.batch() > 1 {
            self.wait(case, expected);
            return;
        }
        let outcome = self.run_alone(case, expected);
        let complaint = self.judge(case, blamed(expected), outcome, Self::difference);
        self.complain(case, complaint);
    }

    /// The error in an outcome, if any; `difference` compares the memory.
    fn judge(
        &mut self,
        case: &Case,
        blamed: Option<usize>,
        outcome: Outcome,
        difference: impl FnOnce(&Self) -> Option<String>,
    ) -> Option<String> {
        match (outcome, blamed) {
            (Outcome::Unsupported(reason), _) => {
                *self.tally.skipped.entry(reason).or_default() += 1;
                None
            }
            (Outcome::Done, None) => {
                self.tally.moved += 1;
                difference(self)
            }
            (Outcome::BadLength(index), Some(at)) => {
                self.tally.refused += 1;
                let shape = case.lengths.as_ref().map(|lengths| &lengths.placement.shape);
                let found = shape.map(|shape| oracle::ordinal(shape, &index));
                match found == Some(at) {
                    true => difference(self),
                    false => Some(format!("blamed length {index:?}, the oracle number {at}")),
                }
            }
            (outcome, None) => Some(format!("{outcome:?} instead of moving")),
            (outcome, Some(at)) => Some(format!("{outcome:?} instead of blaming length {at}")),
        }
    }

    fn complain(&mut self, case: &Case, complaint: Option<String>) {
        if let Some(complaint) = complaint {
            self.tally.failed += 1;
            if self.tally.failures.len() < SHOWN {
                self.tally.failures.push(format!("{complaint}\n    {case:?}"));
            }
        }
    }

    /// Adds a case to the batch.
    fn wait(&mut self, case: &Case, expected: &Expected) {
        let start = self.output.len();
        let input = case.output.is_some().then(|| self.append(case.input.bytes));
        let apart = self.output.len().next_multiple_of(64) - self.output.len();
        self.noise.append(&mut self.output, apart);
        let output = self.append(case.target().bytes);
        // Padded to a multiple of 64, so that the margins determine the alignment of the buffer.
        let padded = self.output.len().next_multiple_of(64) - self.output.len();
        self.noise.append(&mut self.output, padded);
        self.wanted.extend_from_slice(&self.output[start..]);
        let from = &self.output[input.clone().unwrap_or(output.clone())];
        expect(case, expected, from, &mut self.wanted[output.clone()]);
        let (case, blamed) = (case.clone(), blamed(expected));
        self.waiting.push(Waiting { case, blamed, start, input, output });
        if self.waiting.len() >= self.backend.batch() || self.output.len() >= BATCH_BYTES {
            self.run_waiting();
        }
    }

    /// Appends noise for a buffer and its margins; returns the range of the buffer.
    fn append(&mut self, bytes: usize) -> Range<usize> {
        let Margins { front, back } = self.margins;
        let start = self.output.len() + front;
        self.noise.append(&mut self.output, front + bytes + back);
        start..start + bytes
    }

    /// Runs the batch, and compares all of its memory, including inputs.
    fn run_waiting(&mut self) {
        let waiting = std::mem::take(&mut self.waiting);
        if waiting.is_empty() {
            return;
        }
        let calls: Vec<Call<'_>> = waiting
            .iter()
            .map(|w| Call { case: &w.case, input: w.input.clone(), output: w.output.clone() })
            .collect();
        let outcomes = self.backend.run_batch(&calls, &mut self.output);
        assert_eq!(outcomes.len(), waiting.len(), "an outcome for each call");
        let ends = waiting.iter().skip(1).map(|next| next.start).chain([self.output.len()]);
        for ((waiting, end), outcome) in waiting.iter().zip(ends).zip(outcomes) {
            let memory = waiting.start..end;
            let origin = waiting.output.start;
            let difference = |runner: &Self| {
                let (got, want) = (&runner.output[memory.clone()], &runner.wanted[memory.clone()]);
                differs(got, want, origin as isize - memory.start as isize)
            };
            let complaint = self.judge(&waiting.case, waiting.blamed, outcome, difference);
            self.complain(&waiting.case, complaint);
        }
        self.output.clear();
        self.wanted.clear();
    }

    fn run_alone(&mut self, case: &Case, expected: &Expected) -> Outcome {
        let Margins { front, .. } = self.margins;
        let is_apart = case.output.is_some();
        if is_apart {
            self.fill(Which::Input, case.input.bytes);
        }
        self.fill(Which::Output, case.target().bytes);
        self.wanted.clone_from(&self.output);
        let range = front..front + case.target().bytes;
        let input = is_apart.then(|| &self.input[front..front + case.input.bytes]);
        let source = input.unwrap_or(&self.output[range.clone()]);
        expect(case, expected, source, &mut self.wanted[range.clone()]);
        self.backend.run(case, input, &mut self.output[range])
    }

    /// Fills a buffer of this size and its margins with noise.
    fn fill(&mut self, which: Which, bytes: usize) {
        let buffer = match which {
            Which::Input => &mut self.input,
            Which::Output => &mut self.output,
        };
        let bytes = bytes + self.margins.front + self.margins.back;
        if self.margins.back == 0 {
            // A separate allocation, no larger than needed.
            *buffer = Vec::new();
            buffer.reserve_exact(bytes);
        }
        self.noise.fill(buffer, bytes);
    }

    /// The first difference from the expected memory, including guard bytes.
    fn difference(&self) -> Option<String> {
        differs(&self.output, &self.wanted, self.margins.front as isize)
    }
}

/// The first difference between two buffers, counted from the buffer's first byte.
fn differs(got: &[u8], want: &[u8], origin: isize) -> Option<String> {
    if got == want {
        return None;
    }
    let at = got.iter().zip(want).position(|(got, want)| got != want)?;
    let (got, want, byte) = (got[at], want[at], at as isize - origin);
    Some(format!("byte {byte} of the output is {got:#04x}, the oracle wants {want:#04x}"))
}

/// The length that must be blamed, if there is one.
fn blamed(expected: &Expected) -> Option<usize> {
    match expected {
        Expected::Sources(_) => None,
        Expected::BadLength(at) => Some(*at),
    }
}

/// A buffer of the runner.
#[derive(Debug, Clone, Copy)]
enum Which {
    Input,
    Output,
}

/// Writes the expected output over the noise that the output starts from.
pub fn expect(case: &Case, expected: &Expected, input: &[u8], wanted: &mut [u8]) {
    let Expected::Sources(sources) = expected else { return };
    let output = case.target();
    let zeros = [0; 64];
    for (&source, &to) in sources.iter().zip(&output.positions) {
        match source {
            oracle::ZERO => copy_element(output.width, &zeros, 0, wanted, to),
            _ => copy_element(output.width, input, case.input.positions[source], wanted, to),
        }
    }
    if let Operation::LookUp { table, .. } = &case.operation {
        look_up(output, table, &case.looked_up(), wanted);
    }
    output.clear_tail(wanted);
}

/// Looks elements up in a table.
fn look_up(output: &Placement, table: &[u8], looked_up: &[bool], wanted: &mut [u8]) {
    let chosen = output.positions.iter().zip(looked_up).filter(|(_, looked_up)| **looked_up);
    for (&at, _) in chosen {
        let mut value = [0];
        copy_element(output.width, wanted, at, &mut value, 0);
        copy_element(output.width, &[table[usize::from(value[0])]], 0, wanted, at);
    }
}

/// Pseudo-random bytes (SplitMix64), generated once and used at shifting offsets.
struct Noise {
    pool: Vec<u8>,
    state: u64,
}

impl Noise {
    fn new(seed: u64) -> Self {
        let mut noise = Noise { pool: vec![], state: seed };
        noise.grow(if cfg!(miri) { 1 << 10 } else { 1 << 16 });
        noise
    }

    fn grow(&mut self, len: usize) {
        while self.pool.len() < len {
            let word = split_mix(&mut self.state);
            self.pool.extend_from_slice(&word.to_ne_bytes());
        }
    }

    fn fill(&mut self, buffer: &mut Vec<u8>, len: usize) {
        buffer.clear();
        self.append(buffer, len);
    }

    fn append(&mut self, buffer: &mut Vec<u8>, len: usize) {
        self.grow(2 * len + if cfg!(miri) { 512 } else { 4096 });
        let start = split_mix(&mut self.state) as usize % (self.pool.len() - len);
        buffer.extend_from_slice(&self.pool[start..start + len]);
    }
}

/// The next value of a SplitMix64 sequence.
pub fn split_mix(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}
