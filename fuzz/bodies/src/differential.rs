//! Runs operator calls on views with arbitrary strides on every instruction set, and compares each
//! result byte for byte with the oracle of the conformance suite.

use crate::arguments;
use crate::choices::Choices;
use retrograde::{LengthPolicy, cpu};
use retrograde_suite::backend::{Backend, Cpu, Outcome};
use retrograde_suite::case::{Case, CaseLengths, Expected, INTEGERS, Operation, Rule, is_signed};
use retrograde_suite::oracle;
use retrograde_suite::placement::{Kind, Placement, Width};
use retrograde_suite::runner::expect;
use std::sync::{Arc, LazyLock};

/// The thread counts for multi-threaded calls.
const THREADS: [usize; 3] = [2, 3, 5];

pub(crate) fn differential(data: &[u8]) {
    let mut choices = Choices::new(data);
    match choices.below(4) {
        0 => arguments::check(&mut choices),
        1 => check(&mut choices, true),
        _ => check(&mut choices, false),
    }
}

/// Runs one call on every instruction set. The layouts are valid, or arbitrary if `wild`.
fn check(choices: &mut Choices<'_>, wild: bool) {
    let how = How::choose(choices);
    let width = choices.pick(&Width::ALL);
    let shape = choices.shape(width);
    let operation = operation(choices, &shape);
    let lengths = lengths(choices, &operation, &shape);
    let mut place = |output| match wild {
        true => any(choices, width, &shape),
        false => right(choices, width, &shape, output),
    };
    let separate = place(true);
    let input = place(false);
    let in_place = choices.flag();
    let (input, output) = match in_place {
        true => (separate, None),
        false => (input, Some(Arc::new(separate))),
    };
    let case = Case { operation, input: Arc::new(input), lengths, output };
    let call = Call::new(choices, &case);
    // Each level is compared with the oracle, so the levels also agree with each other.
    at_every_level(how, |backend| call.check(backend, wild));
}

/// How a call stores its output and whether it runs on several threads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum How {
    Plain,
    /// With non-temporal stores.
    Streamed,
    /// On several threads: an index into [`THREADS`].
    Shared(usize),
}

impl How {
    fn choose(choices: &mut Choices<'_>) -> How {
        match choices.below(6) {
            0..3 => How::Plain,
            3 => How::Streamed,
            _ => How::Shared(choices.below(THREADS.len())),
        }
    }
}

/// Runs a call on every instruction set. Only this function selects one, because
/// [`Backend::prepare`] changes it for the whole process.
fn at_every_level(how: How, call: impl Fn(&Cpu) + Send + Sync) {
    static LEVELS: LazyLock<Vec<Cpu>> = LazyLock::new(Cpu::all);
    for backend in LEVELS.iter() {
        let is = match how {
            How::Plain => !backend.name().contains(", "),
            How::Streamed => backend.name().ends_with(", streamed"),
            How::Shared(_) => backend.name().ends_with(", shared"),
        };
        if is {
            backend.prepare();
            match how {
                How::Shared(at) => cpu::with_threads(THREADS[at], || call(backend)),
                _ => call(backend),
            }
        }
    }
}

/// A call, its buffers and the expected result, which are the same at every level.
struct Call<'a> {
    case: &'a Case,
    /// Where the result goes.
    placement: &'a Placement,
    expected: Expected,
    /// The memory of the input; of a call in place, that of the output.
    source: Vec<u8>,
    /// Guard bytes before each buffer.
    front: usize,
    /// The memory of the output, before and after.
    before: Vec<u8>,
    wanted: Vec<u8>,
}

impl<'a> Call<'a> {
    fn new(choices: &mut Choices<'_>, case: &'a Case) -> Self {
        let placement = case.target();
        let (front, back) = (choices.below(65), choices.pick(&[0, 0, 37]));
        let mut noise = choices.noise();
        let before = noise.bytes(front + placement.bytes + back);
        let source = match case.output {
            None => before.clone(),
            Some(_) => noise.bytes(front + case.input.bytes),
        };
        let (expected, mut wanted) = (case.expected(), before.clone());
        if is_inside(&case.input) && is_inside(placement) {
            let wanted = &mut wanted[front..front + placement.bytes];
            expect(case, &expected, &source[front..], wanted);
        }
        Call { case, placement, expected, source, front, before, wanted }
    }

    fn check(&self, backend: &Cpu, wild: bool) {
        let Call { case, placement, front, .. } = *self;
        let mut memory = self.before.clone();
        let output = &mut memory[front..front + placement.bytes];
        let input = case.output.as_ref().map(|_| &self.source[front..front + case.input.bytes]);
        let outcome = backend.run(case, input, output);
        let at = backend.name();
        let inside = is_inside(&case.input) && is_inside(placement);
        let mut wanted = &self.before;
        match (outcome, &self.expected) {
            (Outcome::Refused(why), _) if wild => {
                assert!(!inside || !nests(placement), "{at}: rejected ({why}): {case:?}");
            }
            (Outcome::Done, Expected::Sources(_)) => {
                assert!(inside, "{at}: outside: {case:?}");
                assert!(is_apart(placement), "{at}: written twice: {case:?}");
                wanted = &self.wanted;
            }
            (Outcome::BadLength(index), Expected::BadLength(blamed)) => {
                let shape = case.lengths.as_ref().map(|lengths| &lengths.placement.shape);
                let index = shape.map(|shape| oracle::ordinal(shape, &index));
                assert_eq!(index, Some(*blamed), "{at}: reported another length: {case:?}");
            }
            (outcome, expected) => panic!("{at}: {outcome:?}, expected {expected:?}: {case:?}"),
        }
        if memory != *wanted {
            let first = memory.iter().zip(wanted).position(|(is, should)| is != should);
            let first = first.unwrap_or(0) as isize - front as isize;
            panic!("{at}: byte {first} of the output differs from the oracle: {case:?}");
        }
    }
}

fn operation(choices: &mut Choices<'_>, shape: &[usize]) -> Operation {
    let rank = shape.len();
    let policy = choices.pick(&[LengthPolicy::Strict, LengthPolicy::Clamp]);
    let rule = Rule { policy, end: choices.flag(), zero: choices.flag() };
    match choices.below(4) {
        1 if rank >= 2 => {
            let time = choices.below(rank);
            let batch = (time + 1 + choices.below(rank - 1)) % rank;
            Operation::Sequence { time, batch, rule }
        }
        2 if rank >= 1 => Operation::Subsequences { axis: choices.below(rank), rule },
        3 if rank >= 1 => Operation::Segments { axis: choices.below(rank) },
        _ => Operation::Reverse { flips: (0..rank).map(|_| choices.flag()).collect() },
    }
}

fn lengths(
    choices: &mut Choices<'_>,
    operation: &Operation,
    shape: &[usize],
) -> Option<Arc<CaseLengths>> {
    let limit = operation.limit(shape)?;
    let segments = matches!(operation, Operation::Segments { .. });
    let lanes = match segments {
        true => vec![1 + choices.below(40)],
        false => Case::lengths_shape(operation, shape),
    };
    let integer = choices.pick(&INTEGERS);
    let bits = integer.bits().unwrap_or(0) as u32 - u32::from(is_signed(integer));
    let most = if bits < 63 { (1i64 << bits) - 1 } else { i64::MAX };
    let least = if is_signed(integer) { -most - 1 } else { 0 };
    let beyond = choices.pick(&[0, 0, 0, 3]) as u64;
    let mut noise = choices.noise();
    let count = lanes.iter().product();
    let mut values: Vec<i64> = (0..count)
        .map(|_| (noise.next() % (limit as u64 + beyond + 1)).min(most as u64) as i64)
        .collect();
    if segments {
        values.sort_unstable();
        values[0] = 0;
    }
    // One length with an unusual value.
    let odd =
        choices.pick(&[None, None, None, Some(least), Some(-1), Some(most), Some(limit as i64)]);
    if let (Some(odd), false) = (odd, values.is_empty()) {
        let at = noise.next() as usize % values.len();
        values[at] = odd.clamp(least, most);
    }
    let kind = choices.pick(&Kind::OUTPUTS);
    Some(Arc::new(CaseLengths::new(values, &lanes, integer, kind)))
}

/// A valid layout: axes in any order, with gaps and negative strides. An input may also have
/// strides of 0.
fn right(choices: &mut Choices<'_>, width: Width, shape: &[usize], output: bool) -> Placement {
    if choices.below(3) == 0 {
        let kinds = if output { &Kind::OUTPUTS[..] } else { &Kind::INPUTS[..] };
        return Placement::new(choices.pick(kinds), width, shape);
    }
    let mut order: Vec<usize> = (0..shape.len()).rev().collect();
    for at in (1..order.len()).rev() {
        order.swap(at, at - choices.below(at + 1));
    }
    let lead = choices.below(17);
    let axes = order.into_iter().filter_map(|axis| {
        let how = choices.byte();
        let repeats = how == 0xFF && !output;
        (!repeats).then(|| (axis, [0, 0, 1, 7][usize::from(how % 4)], how & 0x40 != 0))
    });
    Placement::nested(width, shape, lead, axes)
}

/// A layout with arbitrary strides over a buffer of arbitrary size, which may be invalid.
fn any(choices: &mut Choices<'_>, width: Width, shape: &[usize]) -> Placement {
    let pitch = width.pitch();
    let mut stride = || match choices.below(4) {
        0 => isize::from(choices.byte() as i8),
        1 => isize::from(choices.byte() as i8) * pitch as isize,
        2 => isize::from(choices.u16() as i16),
        _ => (choices.u64() as i64 as isize) >> choices.below(64),
    };
    // Larger strides would overflow the naive arithmetic of the oracle, though not the library's.
    let strides: Vec<isize> = shape.iter().map(|_| stride().clamp(-(1 << 48), 1 << 48)).collect();
    let (offset, bytes) = (usize::from(choices.u16()) % 4096, usize::from(choices.u16()));
    Placement::custom(width, shape, strides, offset, bytes, false)
}

/// Whether all elements are inside the buffer.
fn is_inside(placement: &Placement) -> bool {
    let (pitch, step_bits) = (placement.width.pitch(), placement.width.step_bits());
    // Positions before the buffer have wrapped around to large values.
    let end = |&at: &usize| at.checked_add(pitch).and_then(|end| end.checked_mul(step_bits));
    placement.positions.iter().all(|at| end(at).is_some_and(|end| end <= placement.bytes * 8))
}

/// Whether no two elements share memory. The layout must be inside its buffer.
fn is_apart(placement: &Placement) -> bool {
    let (pitch, step_bits) = (placement.width.pitch(), placement.width.step_bits());
    let mut taken = vec![false; placement.bytes * 8 / step_bits];
    let mut take = |step: usize| !std::mem::replace(&mut taken[step], true);
    placement.positions.iter().all(|&at| (at..at + pitch).all(&mut take))
}

/// Whether each stride is at least the extent of all smaller strides, as outputs require.
fn nests(placement: &Placement) -> bool {
    let mut extent = placement.width.pitch();
    let axes = placement.shape.iter().zip(&placement.strides).filter(|(size, _)| **size > 1);
    let mut axes: Vec<_> = axes.map(|(size, stride)| (stride.unsigned_abs(), size - 1)).collect();
    axes.sort_unstable();
    axes.into_iter().all(|(stride, last)| {
        let nests = stride >= extent;
        extent += stride * last;
        nests
    }) || placement.positions.is_empty()
}
