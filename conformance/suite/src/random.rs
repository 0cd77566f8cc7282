//! Large calls, generated at random from a seed: up to rank 8, odd sizes, random strides; and the
//! involution: applying the same reversal twice returns the input.

use crate::backend::{Backend, Outcome};
use crate::case::{Case, CaseLengths, Expected, Operation, Rule};
use crate::placement::{Kind, Placement, Width};
use crate::runner::{Runner, Share, Tally, split_mix};
use retrograde::{DType, LengthPolicy};
use std::sync::Arc;

/// The cases to generate.
#[derive(Debug, Clone, Copy)]
pub struct Draw {
    /// The same seed generates the same cases.
    pub seed: u64,
    /// How many cases.
    pub count: usize,
    /// The most elements of a tensor.
    pub most_elements: usize,
    /// All of the generated cases, or one in so many.
    pub share: Share,
}

/// Runs random cases, each out of place, in place, and twice.
pub fn run(backend: &dyn Backend, draw: Draw) -> Tally {
    let mut runner = Runner::new(backend, draw.seed, draw.share);
    let mut dice = Dice { state: draw.seed, most_elements: draw.most_elements };
    let mut involution = Tally::default();
    for _ in 0..draw.count {
        let case = dice.case();
        let expected = case.expected();
        runner.check(&case, &expected);
        if !case.operation.fits_in_place() {
            continue;
        }
        let in_place = Case {
            input: Arc::new(dice.placement(case.input.width, &case.input.shape)),
            output: None,
            ..case.clone()
        };
        runner.check(&in_place, &expected);
        let masked = dice.masked(&case);
        let looking_up = [Some(&case), masked.as_ref()].map(|case| dice.looking_up(case?));
        let looking_up = looking_up.into_iter().flatten();
        for other in masked.clone().into_iter().chain(looking_up) {
            let expected = other.expected();
            runner.check(&other, &expected);
            runner.check(&Case { output: None, ..other }, &expected);
        }
        if matches!(expected, Expected::Sources(_)) && case.operation.is_involution() {
            involution.add(twice(backend, &in_place));
        }
    }
    let mut tally = runner.finish();
    tally.add(involution);
    tally
}

/// Applies a case to the same memory twice.
fn twice(backend: &dyn Backend, case: &Case) -> Tally {
    let mut tally = Tally { given: 1, ..Tally::default() };
    let mut state = case.input.bytes as u64;
    let mut memory: Vec<u8> = (0..case.input.bytes).map(|_| split_mix(&mut state) as u8).collect();
    // The first pass clears the unused bits of the last byte, so start with them cleared.
    case.input.clear_tail(&mut memory);
    let original = memory.clone();
    for _ in 0..2 {
        match backend.run(case, None, &mut memory) {
            Outcome::Done => {}
            Outcome::Unsupported(reason) => {
                tally.skipped.insert(reason, 1);
                return tally;
            }
            outcome => {
                tally.failed = 1;
                tally.failures.push(format!("{outcome:?} instead of moving\n    {case:?}"));
                return tally;
            }
        }
    }
    tally.moved = 1;
    if memory != original {
        tally.failed = 1;
        tally.failures.push(format!("twice did not give the input back\n    {case:?}"));
    }
    tally
}

/// Generates calls.
struct Dice {
    state: u64,
    most_elements: usize,
}

impl Dice {
    fn below(&mut self, limit: usize) -> usize {
        (split_mix(&mut self.state) % limit.max(1) as u64) as usize
    }

    fn pick<T: Copy>(&mut self, list: &[T]) -> T {
        list[self.below(list.len())]
    }

    /// A shape of rank 1 to 8: a few long axes among short ones, or many short ones.
    fn shape(&mut self) -> Vec<usize> {
        let rank = 1 + self.below(8);
        let mut room = 1 + self.below(self.most_elements);
        let mut shape: Vec<usize> = (0..rank)
            .map(|_| {
                let most = [2, 3, 5, 17, 70, 300, 5000][self.below(7)].min(room);
                let size = 1 + self.below(most);
                room = (room / size).max(1);
                size
            })
            .collect();
        for at in (1..rank).rev() {
            let other = self.below(at + 1);
            shape.swap(at, other);
        }
        shape
    }

    /// Random axis order, gaps and directions, without overlap.
    fn placement(&mut self, width: Width, shape: &[usize]) -> Placement {
        if self.below(3) == 0 {
            let kind = self.pick(&Kind::OUTPUTS);
            return Placement::new(kind, width, shape);
        }
        let mut order: Vec<usize> = (0..shape.len()).collect();
        for at in (1..order.len()).rev() {
            let other = self.below(at + 1);
            order.swap(at, other);
        }
        let lead = self.below(9);
        let axes = order.into_iter().map(|axis| {
            let gap = [0, 0, 1, 7][self.below(4)];
            (axis, gap, self.below(3) == 0)
        });
        Placement::nested(width, shape, lead, axes)
    }

    fn case(&mut self) -> Case {
        let (shape, width) = (self.shape(), self.pick(&Width::ALL));
        let policy = if self.below(3) == 0 { LengthPolicy::Strict } else { LengthPolicy::Clamp };
        let rank = shape.len();
        let rule = Rule { policy, end: self.below(3) == 0, zero: self.below(3) == 0 };
        let operation = match self.below(5) {
            4 if rank >= 2 => {
                let rows = self.below(rank);
                let columns = (rows + 1 + self.below(rank - 1)) % rank;
                Operation::Orient { exif: 1 + self.below(8) as u8, rows, columns }
            }
            0 => Operation::Reverse { flips: (0..rank).map(|_| self.below(2) == 1).collect() },
            1 if rank >= 2 => {
                let time = self.below(rank);
                let batch = (time + 1 + self.below(rank - 1)) % rank;
                Operation::Sequence { time, batch, rule }
            }
            2 => Operation::Segments { axis: self.below(rank) },
            _ => Operation::Subsequences { axis: self.below(rank), rule },
        };
        let lengths = self.lengths(&operation, &shape);
        let input = Arc::new(self.placement(width, &shape));
        let output = Some(Arc::new(self.placement(width, &operation.output_shape(&shape))));
        Case { operation, input, lengths, output }
    }

    /// The same call with a mask, if it may have one.
    fn masked(&mut self, case: &Case) -> Option<Case> {
        let shape = &case.input.shape;
        let mut batch = 0;
        let entries = match &case.operation {
            Operation::Reverse { flips } => {
                batch = (0..shape.len()).find(|&axis| !flips[axis])?;
                shape[batch]
            }
            Operation::Segments { .. } => case.lengths.as_ref()?.values.len() - 1,
            Operation::Orient { .. } | Operation::Where { .. } | Operation::LookUp { .. } => {
                return None;
            }
            Operation::Sequence { rule, .. } | Operation::Subsequences { rule, .. }
                if rule.zero =>
            {
                return None;
            }
            of => Case::lengths_shape(of, shape).iter().product(),
        };
        let mask = (0..entries).map(|_| self.below(2) == 1).collect();
        let operation = Operation::Where { of: Box::new(case.operation.clone()), batch, mask };
        // In place, both sides are the output's.
        Some(Case { operation, input: case.target().clone().into(), ..case.clone() })
    }

    /// The same call with a table, if its elements may be looked up.
    fn looking_up(&mut self, case: &Case) -> Option<Case> {
        let entries = match case.input.width {
            Width::Crumb => 4,
            Width::Nibble => 16,
            Width::Bytes(1) => 256,
            _ => return None,
        };
        let table = (0..entries).map(|_| self.below(entries) as u8).collect();
        let operation = Operation::LookUp { of: Box::new(case.operation.clone()), table };
        Some(Case { operation, input: case.target().clone().into(), ..case.clone() })
    }

    fn lengths(&mut self, operation: &Operation, shape: &[usize]) -> Option<Arc<CaseLengths>> {
        let limit = operation.limit(shape)?;
        let lanes = Case::lengths_shape(operation, shape);
        // Types that can hold every generated length; the exhaustive suite covers the small types.
        let integer = self.pick(&[DType::I64, DType::U32, DType::I32, DType::U64]);
        if matches!(operation, Operation::Segments { .. }) {
            let most = self.pick(&[2, 8, 40, 600]).min(2 * limit + 2);
            let count = self.below(most);
            let mut values: Vec<i64> = (0..count).map(|_| self.below(limit + 1) as i64).collect();
            values.sort_unstable();
            values.insert(0, 0);
            let (count, kind) = (values.len(), self.pick(&Kind::OUTPUTS));
            return Some(Arc::new(CaseLengths::new(values, &[count], integer, kind)));
        }
        // Mostly valid; sometimes beyond the axis, to be clamped or refused.
        let beyond = if self.below(3) == 0 { limit + 3 } else { limit };
        let count = lanes.iter().product();
        let values = (0..count).map(|_| self.below(beyond + 1) as i64).collect();
        let kind = self.pick(&Kind::OUTPUTS);
        Some(Arc::new(CaseLengths::new(values, &lanes, integer, kind)))
    }
}
