//! Runs cases on a backend, compares every byte with the oracle, and counts.

use crate::backend::{Backend, Outcome};
use crate::case::{Case, Expected, Output};
use crate::oracle;
use crate::placement::{Placement, copy_element};
use std::collections::BTreeMap;
use std::fmt;

/// Guard bytes behind a buffer.
const GUARD: usize = 37;
/// Guard bytes in front of a buffer, in turn: an allocation is aligned, so these decide whether
/// a base is odd, and where in a line it lies.
const FRONTS: [usize; 6] = [37, 64, 48, 41, 80, 96];
/// The same where buffers end with their allocation, and some begin with it.
const TIGHT_FRONTS: [usize; 6] = [0, 37, 0, 16, 32, 48];
/// How many failures are described in full.
const SHOWN: usize = 5;

/// What came of the cases so far.
#[derive(Debug, Default, Clone)]
pub struct Tally {
    /// Cases handed to the runner.
    pub given: u64,
    /// Cases whose output was compared.
    pub moved: u64,
    /// Cases that had to be refused, were, and left their output alone.
    pub refused: u64,
    /// Cases the backend does not do, by its stated reason.
    pub skipped: BTreeMap<String, u64>,
    /// Cases that went wrong.
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

    /// Whether every case given either ran right or was announced as skipped.
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

/// How much of a family of cases is run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Share {
    /// All of it, with guard bytes around every buffer.
    All,
    /// One in so many. Buffers end where their allocation ends, and some begin where it
    /// begins, so that valgrind sees a read outside, which guard bytes would hide.
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
    tally: Tally,
}

impl<'b> Runner<'b> {
    /// A runner whose memory is filled with noise from this seed, and that takes its share of
    /// the cases it is offered.
    pub fn new(backend: &'b dyn Backend, seed: u64, share: Share) -> Self {
        let noise = Noise::new(seed);
        let (input, output, wanted) = (vec![], vec![], vec![]);
        let margins = Margins { front: FRONTS[0], back: GUARD };
        let tally = Tally::default();
        Runner { backend, share, offered: 0, margins, noise, input, output, wanted, tally }
    }

    /// The count so far.
    pub fn finish(self) -> Tally {
        self.tally
    }

    /// Runs one case, if it is in the share.
    pub fn check(&mut self, case: &Case, expected: &Expected) {
        self.offered += 1;
        let turn = self.tally.given as usize;
        match self.share {
            Share::All => self.margins.front = FRONTS[turn % FRONTS.len()],
            Share::OneIn(step) if !self.offered.is_multiple_of(step.max(1)) => return,
            Share::OneIn(_) => {
                let front = TIGHT_FRONTS[turn % TIGHT_FRONTS.len()];
                self.margins = Margins { front, back: 0 };
            }
        }
        self.tally.given += 1;
        let outcome = match &case.output {
            Output::InPlace => self.run_in_place(case, expected),
            Output::Separate(output) => self.run_apart(case, output, expected),
        };
        let complaint = match (outcome, expected) {
            (Outcome::Unsupported(reason), _) => {
                *self.tally.skipped.entry(reason).or_default() += 1;
                return;
            }
            (Outcome::Done, Expected::Sources(_)) => {
                self.tally.moved += 1;
                self.difference()
            }
            (Outcome::BadLength(index), Expected::BadLength(at)) => {
                self.tally.refused += 1;
                let shape = case.lengths.as_ref().map(|lengths| &lengths.placement.shape);
                let found = shape.map(|shape| oracle::ordinal(shape, &index));
                match found == Some(*at) {
                    true => self.difference(),
                    false => Some(format!("blamed length {index:?}, the oracle number {at}")),
                }
            }
            (outcome, expected) => Some(match expected {
                Expected::Sources(_) => format!("{outcome:?} instead of moving"),
                Expected::BadLength(at) => format!("{outcome:?} instead of blaming length {at}"),
            }),
        };
        if let Some(complaint) = complaint {
            self.tally.failed += 1;
            if self.tally.failures.len() < SHOWN {
                self.tally.failures.push(format!("{complaint}\n    {case:?}"));
            }
        }
    }

    fn run_apart(&mut self, case: &Case, output: &Placement, expected: &Expected) -> Outcome {
        let Margins { front, .. } = self.margins;
        self.fill(Which::Input, case.input.bytes);
        self.fill(Which::Output, output.bytes);
        self.wanted.clone_from(&self.output);
        let input = &self.input[front..front + case.input.bytes];
        let range = front..front + output.bytes;
        expect(case, expected, input, output, &mut self.wanted[range.clone()]);
        self.backend.run(case, input, &mut self.output[range])
    }

    fn run_in_place(&mut self, case: &Case, expected: &Expected) -> Outcome {
        self.fill(Which::Output, case.input.bytes);
        self.wanted.clone_from(&self.output);
        let range = self.margins.front..self.margins.front + case.input.bytes;
        let input = &self.output[range.clone()];
        expect(case, expected, input, &case.input, &mut self.wanted[range.clone()]);
        self.backend.run_in_place(case, &mut self.output[range])
    }

    /// Noise in a buffer of so many bytes and its margins.
    fn fill(&mut self, which: Which, bytes: usize) {
        let buffer = match which {
            Which::Input => &mut self.input,
            Which::Output => &mut self.output,
        };
        let bytes = bytes + self.margins.front + self.margins.back;
        if self.margins.back == 0 {
            // An allocation of its own, no larger than needed.
            *buffer = Vec::new();
            buffer.reserve_exact(bytes);
        }
        self.noise.fill(buffer, bytes);
    }

    /// Where memory differs from what the oracle wants, guard bytes included.
    fn difference(&self) -> Option<String> {
        let at = self.output.iter().zip(&self.wanted).position(|(got, want)| got != want)?;
        let (got, want) = (self.output[at], self.wanted[at]);
        let byte = at as isize - self.margins.front as isize;
        Some(format!("byte {byte} of the output is {got:#04x}, the oracle wants {want:#04x}"))
    }
}

/// A buffer of the runner's.
#[derive(Debug, Clone, Copy)]
enum Which {
    Input,
    Output,
}

/// Writes what must come out over the noise that the output starts from.
fn expect(case: &Case, expected: &Expected, input: &[u8], output: &Placement, wanted: &mut [u8]) {
    let Expected::Sources(sources) = expected else { return };
    for (&source, &to) in sources.iter().zip(&output.positions) {
        copy_element(output.width, input, case.input.positions[source], wanted, to);
    }
    output.clear_tail(wanted);
}

/// Pseudo-random bytes (SplitMix64), drawn once and handed out from shifting places.
struct Noise {
    pool: Vec<u8>,
    state: u64,
}

impl Noise {
    fn new(seed: u64) -> Self {
        let mut noise = Noise { pool: vec![], state: seed };
        noise.grow(1 << 16);
        noise
    }

    fn grow(&mut self, len: usize) {
        while self.pool.len() < len {
            let word = split_mix(&mut self.state);
            self.pool.extend_from_slice(&word.to_ne_bytes());
        }
    }

    fn fill(&mut self, buffer: &mut Vec<u8>, len: usize) {
        self.grow(2 * len + 4096);
        let start = split_mix(&mut self.state) as usize % (self.pool.len() - len);
        buffer.clear();
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
