//! The likely cause of a wrong result, guessed from input, expected and actual elements.
//!
//! Each guess is a hypothesis that explains every element that differs; the first one that does is
//! reported.

use retrograde_truth::call::Call;
use retrograde_truth::extras::Extras;
use retrograde_truth::reference;
use retrograde_truth::tensor::{Data, Tensor};
use retrograde_truth::types::Kind;

/// The likely cause, or `None` if no hypothesis explains the difference.
pub fn likely(
    call: &Call,
    input: &Tensor,
    argument: &Tensor,
    extras: &Extras,
    (expected, got): (&Tensor, &Tensor),
) -> Option<String> {
    if got.dtype != expected.dtype {
        return Some(format!("the type became {}", got.dtype.name));
    }
    if got.shape != expected.shape {
        return Some(match got.len() == expected.len() {
            true => "the shape changed, not the number of elements".to_owned(),
            false => "the shape changed".to_owned(),
        });
    }
    // `input` is expected here too: a call without effect is the most common fault.
    if got == input && got != expected {
        return Some("nothing was reversed".to_owned());
    }
    let all = |hypothesis: &dyn Fn(u128) -> u128| {
        (0..expected.len()).all(|at| got.bits(at) == hypothesis(expected.bits(at)))
    };
    if let (Data::Text(_), Data::Text(_)) = (&expected.data, &got.data) {
        return text_cause(expected, got);
    }
    if let Some(cause) = element_cause(expected, &all) {
        return Some(cause.to_owned());
    }
    let without = |extras| reference::answer(call, input, argument, &extras).as_ref() == Ok(got);
    if extras.mask.is_some() && without(Extras { mask: None, ..extras.clone() }) {
        return Some("the mask was ignored".to_owned());
    }
    if extras.table.is_some() && without(Extras { table: None, ..extras.clone() }) {
        return Some("the table was ignored".to_owned());
    }
    moved_cause(call, input, argument, extras, (expected, got))
}

/// What may have happened to the bits of every element.
type Change<'a> = &'a dyn Fn(u128) -> u128;

/// Elements that are in their places, but changed.
fn element_cause(expected: &Tensor, all: &dyn Fn(Change<'_>) -> bool) -> Option<&'static str> {
    let width = expected.dtype.bits;
    match expected.dtype.kind {
        Kind::Signed | Kind::Unsigned if width == 64 => {
            let mask = u128::from(u64::MAX);
            let signed = |bits: u128| bits as u64 as i64;
            if all(&|bits| bits & 0xffff_ffff) {
                return Some("narrowed to the low 32 bits");
            }
            if all(&|bits| i64::from(bits as u32 as i32) as u128 & mask) {
                return Some("narrowed to the low 32 bits, with sign");
            }
            let clamped = |bits: u128| signed(bits).clamp(i32::MIN.into(), i32::MAX.into());
            if expected.dtype.kind == Kind::Signed && all(&|bits| clamped(bits) as u128 & mask) {
                return Some("clamped to 32 bits");
            }
            let unsigned = |bits: u128, most: u64| u128::from((bits as u64).min(most));
            if all(&|bits| unsigned(bits, u32::MAX.into()))
                || all(&|bits| unsigned(bits, i32::MAX as u64))
            {
                return Some("clamped to 32 bits");
            }
            match expected.dtype.kind {
                Kind::Signed if all(&|bits| (signed(bits) as f64) as i64 as u128 & mask) => {
                    return Some("went through f64");
                }
                Kind::Unsigned if all(&|bits| u128::from((bits as u64 as f64) as u64)) => {
                    return Some("went through f64");
                }
                Kind::Signed if all(&|bits| (signed(bits) as f32) as i64 as u128 & mask) => {
                    return Some("went through f32");
                }
                Kind::Unsigned if all(&|bits| u128::from((bits as u64 as f32) as u64)) => {
                    return Some("went through f32");
                }
                _ => {}
            }
        }
        Kind::Signed if width == 32 => {
            let through = |bits: u128| (bits as u32 as i32 as f32) as i32 as u32;
            if all(&|bits| through(bits).into()) {
                return Some("went through f32");
            }
        }
        Kind::Unsigned if width == 32 => {
            if all(&|bits| ((bits as u32 as f32) as u32).into()) {
                return Some("went through f32");
            }
            if all(&|bits| bits.min(i32::MAX as u128)) {
                return Some("clamped to i32");
            }
        }
        Kind::Float(11, 52) => {
            let through = |bits: u128| f64::from(f64::from_bits(bits as u64) as f32).to_bits();
            if all(&|bits| through(bits).into()) {
                return Some("went through f32");
            }
        }
        _ => {}
    }
    let (exponent, fraction) = match expected.dtype.kind {
        Kind::Float(exponent, fraction) => (exponent, fraction),
        _ => return None,
    };
    let infinity = ((1u128 << exponent) - 1) << fraction;
    let sign = 1u128 << (exponent + fraction);
    let quiet = 1u128 << (fraction - 1);
    let is_nan = |bits: u128| bits & !sign > infinity;
    if all(&|bits| if is_nan(bits) { bits | quiet } else { bits }) {
        return Some("signalling NaNs became quiet");
    }
    if all(&|bits| if bits == sign { 0 } else { bits }) {
        return Some("-0.0 became 0.0");
    }
    let flushed = |bits: u128| if bits & infinity == 0 { bits & sign } else { bits };
    if all(&flushed) || all(&|bits| if bits & infinity == 0 { 0 } else { bits }) {
        return Some("subnormal numbers were flushed to zero");
    }
    let canonical = [infinity | quiet, sign | infinity | quiet];
    for one in canonical {
        if all(&|bits| if is_nan(bits) { one } else { bits }) {
            return Some("NaNs lost their payload");
        }
    }
    None
}

/// Elements that are in other places, or are gone.
fn moved_cause(
    call: &Call,
    input: &Tensor,
    argument: &Tensor,
    extras: &Extras,
    (expected, got): (&Tensor, &Tensor),
) -> Option<String> {
    let differing: Vec<usize> =
        (0..expected.len()).filter(|&at| got.bits(at) != expected.bits(at)).collect();
    if differing.is_empty() {
        return Some("unused bits of the last byte are not zero".to_owned());
    }
    let lengths = matches!(
        call,
        Call::Sequence { .. } | Call::AnySequence { .. } | Call::Subsequences { .. }
    );
    if differing.iter().all(|&at| got.bits(at) == 0) {
        return Some(match lengths {
            true => "elements became zero, as if the tail, or a lane of length 0, were not copied"
                .to_owned(),
            false => "elements became zero".to_owned(),
        });
    }
    let answer = |argument: &Tensor| reference::answer(call, input, argument, extras).ok();
    if lengths {
        let limit = input.len() as i128;
        let changed = |by: &dyn Fn(i128) -> i128| {
            let values: Vec<_> =
                argument.to_integers().iter().map(|&length| by(length).clamp(0, limit)).collect();
            answer(&Tensor::integers(argument.dtype, &values).reshaped(&argument.shape))
        };
        if changed(&|length| length - 1).as_ref() == Some(got) {
            return Some("off by one: the lengths less one".to_owned());
        }
        if changed(&|length| length + 1).as_ref() == Some(got) {
            return Some("off by one: the lengths and one".to_owned());
        }
        let first = if argument.is_empty() { 0 } else { argument.integer(0) };
        if changed(&|_| first).as_ref() == Some(got) {
            return Some("the first length was used for all".to_owned());
        }
        let other = match *call {
            Call::Sequence { time, batch } => Some(Call::Sequence { time: batch, batch: time }),
            Call::AnySequence { time, batch } => {
                Some(Call::AnySequence { time: batch, batch: time })
            }
            _ => None,
        };
        if let Some(other) = other
            && reference::answer(&other, input, argument, extras).as_ref() == Ok(got)
        {
            return Some("time and batch axes were exchanged".to_owned());
        }
    }
    if matches!(call, Call::Reverse { mask: false } | Call::Flip) {
        let rank = input.shape.len() as i128;
        let axes: Vec<_> =
            argument.to_integers().iter().map(|&axis| axis.rem_euclid(rank.max(1))).collect();
        let mut toggled: Vec<i128> = Vec::new();
        for &axis in &axes {
            match toggled.iter().position(|&one| one == axis) {
                Some(at) => drop(toggled.remove(at)),
                None => toggled.push(axis),
            }
        }
        if answer(&Tensor::integers(argument.dtype, &toggled)).as_ref() == Some(got) {
            return Some("a duplicate axis was reversed twice".to_owned());
        }
    }
    None
}

fn text_cause(expected: &Tensor, got: &Tensor) -> Option<String> {
    let (Data::Text(expected), Data::Text(got)) = (&expected.data, &got.data) else { return None };
    let cut = |text: &[u8]| text.split(|&byte| byte == 0).next().unwrap_or(&[]).to_vec();
    if expected.iter().zip(got).all(|(one, other)| cut(one) == *other) {
        return Some("strings were cut at a zero byte".to_owned());
    }
    let trimmed = |text: &[u8]| {
        let end = text.iter().rposition(|&byte| byte != 0).map_or(0, |at| at + 1);
        text[..end].to_vec()
    };
    if expected.iter().zip(got).all(|(one, other)| trimmed(one) == *other) {
        return Some("zero bytes at the end of strings were dropped".to_owned());
    }
    None
}
