//! Calls with arbitrary axes, masks and lengths on small dense tensors. A call must be rejected
//! exactly if the rules of the operator reject it; otherwise the result must equal the oracle's.

use crate::choices::Choices;
use crate::files::checked;
use retrograde::{
    DType, LengthPolicy, Reversal, Reverse, ReverseSequence, ReverseSubsequences, TensorRef,
};
use retrograde_suite::oracle;
use retrograde_suite::placement::{Width, copy_element};

pub(crate) fn check(choices: &mut Choices<'_>) {
    let (dtype, width) = choices.pick(&[
        (DType::U8, Width::Bytes(1)),
        (DType::BF16, Width::Bytes(2)),
        (DType::I4, Width::Nibble),
        (DType::U1, Width::Bit),
        (DType::Bytes(3), Width::Bytes(3)),
        (DType::U2, Width::Crumb),
        (DType::C128, Width::Bytes(16)),
    ]);
    let shape = choices.shape(width);
    let count: usize = shape.iter().product();
    let data = choices.noise().bytes((count * width.bits()).div_ceil(8));
    let view = TensorRef::dense(dtype, &data[..], &shape).expect("the buffer has the right size");
    let (result, sources) = call(choices, &view, &shape);
    match (checked(result), sources) {
        (Some(bytes), Some(sources)) => {
            let mut wanted = vec![0; data.len()];
            // Positions are in bytes, or in elements for a packed type.
            let step = (width.bits() / 8).max(1);
            for (to, from) in sources.into_iter().enumerate() {
                copy_element(width, &data, from * step, &mut wanted, to * step);
            }
            assert_eq!(bytes, wanted, "differs from the oracle");
        }
        (result, sources) => {
            assert_eq!(result.is_some(), sources.is_some(), "left: accepted; right: valid");
        }
    }
}

/// Runs a call. Returns its result and the expected source indices, which are `None` if the call
/// must be rejected.
fn call(
    choices: &mut Choices<'_>,
    view: &TensorRef<'_>,
    shape: &[usize],
) -> (Result<Vec<u8>, retrograde::Error>, Option<Vec<usize>>) {
    let rank = shape.len();
    match choices.below(5) {
        0 => {
            let axes: Vec<i64> = (0..choices.below(5)).map(|_| axis(choices, rank)).collect();
            let flipped: Option<Vec<usize>> = axes.iter().map(|&at| resolved(at, rank)).collect();
            let flips = |axes: Vec<usize>| (0..rank).map(|axis| axes.contains(&axis)).collect();
            let sources = flipped.map(flips).map(|flips: Vec<bool>| oracle::reverse(shape, &flips));
            (Reverse::axes(axes).to_bytes(view), sources)
        }
        1 => {
            let len = if choices.below(4) == 0 { choices.below(10) } else { rank };
            let mask: Vec<bool> = (0..len).map(|_| choices.flag()).collect();
            let sources = (len == rank).then(|| oracle::reverse(shape, &mask));
            (Reverse::mask(mask).to_bytes(view), sources)
        }
        2 => {
            let axis = axis(choices, rank);
            let at = resolved(axis, rank);
            let lanes: usize = (0..rank).filter(|&i| Some(i) != at).map(|i| shape[i]).product();
            let (lengths, policy) = lengths(choices, lanes);
            let operator = ReverseSubsequences::along(axis).policy(policy);
            let sources = at.and_then(|at| {
                let lengths = allowed(&lengths, lanes, shape[at], policy)?;
                Some(oracle::reverse_subsequences(shape, at, &lengths))
            });
            (operator.lengths(&lengths).to_bytes(view), sources)
        }
        kind => {
            let (time, batch) = (axis(choices, rank), axis(choices, rank));
            let (operator, axes) = match kind {
                3 => (
                    ReverseSequence::new().time_axis(time).batch_axis(batch),
                    [time, batch].map(|at| resolved(at, rank)),
                ),
                _ => (
                    ReverseSequence::onnx().time_axis(time).batch_axis(batch),
                    [time, batch].map(|at| (0..2).contains(&at).then_some(at as usize)),
                ),
            };
            let axes = match axes {
                [Some(time), Some(batch)] if rank >= 2 && time != batch => Some((time, batch)),
                _ => None,
            };
            let entries = axes.map_or(2, |(_, batch)| shape[batch]);
            let (lengths, policy) = lengths(choices, entries);
            let sources = axes.and_then(|(time, batch)| {
                let lengths = allowed(&lengths, entries, shape[time], policy)?;
                Some(oracle::reverse_sequence(shape, time, batch, &lengths))
            });
            (operator.policy(policy).lengths(&lengths).to_bytes(view), sources)
        }
    }
}

/// An axis, in most cases a valid one.
fn axis(choices: &mut Choices<'_>, rank: usize) -> i64 {
    match choices.byte() {
        0xFF => choices.u64() as i64,
        any => i64::from(any) % (2 * rank as i64 + 2) - rank as i64 - i64::from(any >= 0xF0),
    }
}

fn resolved(axis: i64, rank: usize) -> Option<usize> {
    let rank = rank as i64;
    let at = if axis < 0 { axis.checked_add(rank)? } else { axis };
    (0..rank).contains(&at).then_some(at as usize)
}

/// Lengths, in most cases the right number of them.
fn lengths(choices: &mut Choices<'_>, count: usize) -> (Vec<i64>, LengthPolicy) {
    let policy = choices.pick(&[LengthPolicy::Strict, LengthPolicy::Clamp]);
    let count = if choices.below(8) == 7 { choices.below(9) } else { count };
    let mut noise = choices.noise();
    let mut values: Vec<i64> = (0..count).map(|_| (noise.next() % 4) as i64).collect();
    if choices.below(4) == 3
        && let Some(first) = values.first_mut()
    {
        *first = choices.u64() as i64;
    }
    (values, policy)
}

/// The lengths for the oracle; `None` if they must be rejected.
fn allowed(values: &[i64], count: usize, limit: usize, policy: LengthPolicy) -> Option<Vec<usize>> {
    let strict = policy == LengthPolicy::Strict;
    let wrong = |&value: &i64| value < 0 || strict && value as u64 > limit as u64;
    let fine = values.len() == count && !values.iter().any(wrong);
    fine.then(|| values.iter().map(|&value| (value as u64).min(limit as u64) as usize).collect())
}
