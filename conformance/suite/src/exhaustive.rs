//! Every small call: rank 0 to 4, sizes 0 to 3, every axis and set of axes, lengths 0 to one past
//! the axis (and -1), every width, every memory layout, out of place and in place.
//!
//! Reversals of whole axes, and uniform lengths, run on every combination of placements. If every
//! lane has its own length, the combinations of lengths multiply, so each one runs on three
//! placements in rotation; together they cover all placements many times.

use crate::backend::Backend;
use crate::case::{Case, CaseLengths, Expected, INTEGERS, Operation, Rule, is_signed};
use crate::placement::{Kind, Placement, Width};
use crate::runner::{Runner, Share, Tally};
use crate::workers::on_all_threads;
use retrograde::DType;
use std::sync::Arc;

/// The largest size of an axis.
const LARGEST: usize = 3;
/// The highest rank.
const RANKS: usize = 4;
/// Up to this number, all combinations of lengths are tried; beyond it, a selection of patterns.
const ALL_COMBINATIONS: usize = 125;

/// Runs all of it, or a share, on all available threads.
pub fn run(backend: &dyn Backend, share: Share) -> Tally {
    let mut shapes = shapes();
    if matches!(share, Share::OneIn(_)) {
        // Starts with the largest: the small ones are many, and similar.
        shapes = shapes.into_iter().rev().step_by(13).collect();
    }
    on_all_threads(|worker, threads| {
        let mut runner = Runner::new(backend, worker as u64, share);
        let shapes = shapes.iter().skip(worker).step_by(threads);
        shapes.for_each(|shape| run_shape(&mut runner, shape));
        runner.finish()
    })
}

/// Every shape of rank 0 to 4 with sizes 0 to 3.
pub fn shapes() -> Vec<Vec<usize>> {
    let mut all = Vec::new();
    for rank in 0..=RANKS {
        all.extend(crate::oracle::indices(&vec![LARGEST + 1; rank]));
    }
    all
}

/// Every call on one shape.
fn run_shape(runner: &mut Runner<'_>, shape: &[usize]) {
    let layouts: Vec<Layouts> =
        Width::ALL.into_iter().map(|width| Layouts::new(width, shape)).collect();
    let mut turn = Turn(0);
    for set in 0..1usize << shape.len() {
        let flips = (0..shape.len()).map(|axis| set >> axis & 1 == 1).collect();
        run_everywhere(runner, &layouts, Operation::Reverse { flips }, None);
    }
    for (rows, columns) in pairs(shape.len()) {
        for exif in 1..=8 {
            run_oriented(runner, &layouts, Operation::Orient { exif, rows, columns }, &mut turn);
        }
    }
    for rule in [Rule::CLAMP, Rule::STRICT].into_iter().chain(Rule::OTHERS) {
        for (time, batch) in pairs(shape.len()) {
            let operation = Operation::Sequence { time, batch, rule };
            run_lengths(runner, &layouts, operation, rule, shape, &mut turn);
        }
        for axis in 0..shape.len() {
            let operation = Operation::Subsequences { axis, rule };
            run_lengths(runner, &layouts, operation, rule, shape, &mut turn);
        }
    }
    for (axis, &size) in shape.iter().enumerate() {
        for values in offset_values(size as i64) {
            let integer = signed_if_needed(&values, &mut turn);
            let kind = turn.pick(&Kind::OUTPUTS);
            let count = values.len();
            let offsets = Arc::new(CaseLengths::new(values, &[count], integer, kind));
            let operation = Operation::Segments { axis };
            run_in_turn(runner, &layouts, operation, offsets, &mut turn);
        }
    }
}

/// Every list of up to three ascending offsets, and lists that are wrong in every way.
fn offset_values(size: i64) -> Vec<Vec<i64>> {
    let mut all = vec![vec![0], vec![1], vec![-1], vec![0, -1], vec![0, size + 1]];
    for first in 0..=size {
        all.push(vec![0, first]);
        all.extend((first..=size).map(|second| vec![0, first, second]));
        all.extend((first..=size).map(|second| vec![0, first, second, size]));
        all.push(vec![0, first, first - 1]);
    }
    all
}

/// A type for these values.
fn signed_if_needed(values: &[i64], turn: &mut Turn) -> DType {
    let negative = values.iter().any(|&value| value < 0);
    let mut integer = turn.pick(&INTEGERS);
    while negative && !is_signed(integer) {
        integer = turn.pick(&INTEGERS);
    }
    integer
}

/// Every time and batch axis.
pub fn pairs(rank: usize) -> impl Iterator<Item = (usize, usize)> {
    let all = (0..rank).flat_map(move |time| (0..rank).map(move |batch| (time, batch)));
    all.filter(|(time, batch)| time != batch)
}

/// One operator with all its lengths.
fn run_lengths(
    runner: &mut Runner<'_>,
    layouts: &[Layouts],
    operation: Operation,
    rule: Rule,
    shape: &[usize],
    turn: &mut Turn,
) {
    let limit = operation.limit(shape).unwrap_or(0);
    let lanes = Case::lengths_shape(&operation, shape);
    let count: usize = lanes.iter().product();
    for (uniform, values) in length_values(count, limit as i64 + 1) {
        let integer = signed_if_needed(&values, turn);
        let kind = turn.pick(&Kind::OUTPUTS);
        let lengths = Arc::new(CaseLengths::new(values, &lanes, integer, kind));
        // All runtimes support the axes of ONNX; other pairs use the placements in rotation.
        let other =
            matches!(operation, Operation::Sequence { time, batch, .. } if time + batch > 1);
        let rare = other || Rule::OTHERS.contains(&rule);
        if uniform && !rare {
            run_everywhere(runner, layouts, operation.clone(), Some(lengths));
        } else {
            run_in_turn(runner, layouts, operation.clone(), lengths, turn);
        }
    }
}

/// Lengths to try, each 0 to `most`, and whether all are equal; and a -1 at every position.
fn length_values(count: usize, most: i64) -> Vec<(bool, Vec<i64>)> {
    let mut all: Vec<(bool, Vec<i64>)> =
        (0..=most).map(|length| (true, vec![length; count])).collect();
    let choices = most as usize + 1;
    if count > 1 {
        let combinations = choices.checked_pow(count as u32);
        if combinations.is_some_and(|n| n <= ALL_COMBINATIONS) {
            let digits = crate::oracle::indices(&vec![choices; count]);
            all.extend(digits.into_iter().map(|d| (false, d.iter().map(|&v| v as i64).collect())));
        } else {
            for shift in 0..choices {
                for step in [1, 2, 5] {
                    let value = |lane: usize| ((lane * step + lane / 7 + shift) % choices) as i64;
                    all.push((false, (0..count).map(value).collect()));
                }
            }
        }
    }
    for negative in 0..count {
        let mut values = vec![most - 1; count];
        values[negative] = -1;
        all.push((false, values));
    }
    all
}

/// The placements of one width and shape.
struct Layouts {
    inputs: Vec<Arc<Placement>>,
    outputs: Vec<Arc<Placement>>,
}

impl Layouts {
    fn new(width: Width, shape: &[usize]) -> Self {
        let place = |kind| Arc::new(Placement::new(kind, width, shape));
        Layouts {
            inputs: Kind::INPUTS.into_iter().map(place).collect(),
            outputs: Kind::OUTPUTS.into_iter().map(place).collect(),
        }
    }
}

/// A call at every width, on every pair of placements and in place on every placement.
fn run_everywhere(
    runner: &mut Runner<'_>,
    layouts: &[Layouts],
    operation: Operation,
    lengths: Option<Arc<CaseLengths>>,
) {
    let mut case = Case { operation, input: layouts[0].inputs[0].clone(), lengths, output: None };
    let expected = case.expected();
    for Layouts { inputs, outputs } in layouts {
        for output in outputs {
            for input in inputs {
                runner.check_on(&mut case, &expected, input, Some(output));
            }
            runner.check_on(&mut case, &expected, output, None);
        }
    }
}

/// An orientation at every width, on two pairs of placements, and once in place if it fits, in rotation.
fn run_oriented(
    runner: &mut Runner<'_>,
    layouts: &[Layouts],
    operation: Operation,
    turn: &mut Turn,
) {
    let input = layouts[0].inputs[0].clone();
    let turned = operation.output_shape(&input.shape);
    let mut case = Case { operation, input, lengths: None, output: None };
    let expected = case.expected();
    for Layouts { inputs, outputs } in layouts {
        for _ in 0..2 {
            let (input, kind) = (turn.pick(inputs), turn.pick(&Kind::OUTPUTS));
            let output = Arc::new(Placement::new(kind, input.width, &turned));
            runner.check_on(&mut case, &expected, &input, Some(&output));
        }
        if case.operation.fits_in_place() {
            runner.check_on(&mut case, &expected, &turn.pick(outputs), None);
        }
    }
}

/// A call at every width, on two pairs of placements and once in place, in rotation.
fn run_in_turn(
    runner: &mut Runner<'_>,
    layouts: &[Layouts],
    operation: Operation,
    lengths: Arc<CaseLengths>,
    turn: &mut Turn,
) {
    let lengths = Some(lengths);
    let mut case = Case { operation, input: layouts[0].inputs[0].clone(), lengths, output: None };
    let expected: Expected = case.expected();
    for Layouts { inputs, outputs } in layouts {
        for _ in 0..2 {
            let (input, output) = (turn.pick(inputs), turn.pick(outputs));
            runner.check_on(&mut case, &expected, &input, Some(&output));
        }
        runner.check_on(&mut case, &expected, &turn.pick(outputs), None);
    }
}

/// Picks from lists so that, over many picks, all combinations occur.
struct Turn(u64);

impl Turn {
    fn pick<T: Clone>(&mut self, list: &[T]) -> T {
        let draw = crate::runner::split_mix(&mut self.0);
        list[draw as usize % list.len()].clone()
    }
}
