//! For every rule a backend that breaks it, and nothing else: exactly the cases of that rule must
//! fail. Each is the reference with one fault, and sees what a runtime sees: the call and its
//! operands, not the name, the rule or the expected result of the case.

use retrograde_kit::cause;
use retrograde_kit::protocol::Outcome;
use retrograde_kit::verdict::{Verdict, judge};
use retrograde_truth::call::Call;
use retrograde_truth::case::{Case, Expected};
use retrograde_truth::cases::{self, SEED};
use retrograde_truth::extras::Extras;
use retrograde_truth::reference;
use retrograde_truth::rules::RULES;
use retrograde_truth::tensor::{Data, Tensor};
use retrograde_truth::types::Kind;
use std::collections::{BTreeMap, BTreeSet};

/// The outcome of the reference.
fn right(case: &Case) -> Outcome {
    match reference::answer(&case.call, &case.input, &case.argument, &case.extras) {
        Ok(tensor) => Outcome::Value(tensor),
        Err(reason) => Outcome::Refused(reason),
    }
}

/// The reference on other operands.
fn with(case: &Case, call: Call, argument: Tensor) -> Outcome {
    right(&Case { call, argument, ..case.clone() })
}

/// The reference without the mask or the table.
fn without(case: &Case, extras: Extras) -> Outcome {
    right(&Case { extras, ..case.clone() })
}

/// The reference, and then another tensor in place of its result, if `by` makes one.
fn altered(case: &Case, by: impl FnOnce(&Tensor) -> Option<Tensor>) -> Outcome {
    match right(case) {
        Outcome::Value(tensor) => Outcome::Value(by(&tensor).unwrap_or(tensor)),
        refused => refused,
    }
}

/// The same with zeros, where the case has this property.
fn zeroed(case: &Case, when: bool) -> Outcome {
    altered(case, |tensor| {
        let zeros = vec![0; tensor.len()];
        when.then(|| Tensor::from_bits(tensor.dtype, &tensor.shape, &zeros))
    })
}

/// The reference, and then every element of some types changed.
fn changed(case: &Case, by: &dyn Fn(&Tensor, usize) -> u128) -> Outcome {
    altered(case, |tensor| {
        let bits = || (0..tensor.len()).map(|at| by(tensor, at)).collect::<Vec<_>>();
        let has_bits = !tensor.dtype.is_text();
        has_bits.then(|| Tensor::from_bits(tensor.dtype, &tensor.shape, &bits()))
    })
}

/// Every float of the result changed; the parts of a complex number one by one.
fn floats(case: &Case, by: &dyn Fn(u128, u32, u32) -> u128) -> Outcome {
    changed(case, &|tensor, at| {
        let bits = tensor.bits(at);
        match tensor.dtype.kind {
            Kind::Float(exponent, fraction) => by(bits, exponent, fraction),
            Kind::Complex(exponent, fraction) => {
                let half = 1 + exponent + fraction;
                let (low, high) = (bits & ((1 << half) - 1), bits >> half);
                by(low, exponent, fraction) | by(high, exponent, fraction) << half
            }
            _ => bits,
        }
    })
}

fn is_nan(bits: u128, exponent: u32, fraction: u32) -> bool {
    let infinity = ((1u128 << exponent) - 1) << fraction;
    bits & !(1 << (exponent + fraction)) > infinity
}

/// A refusal where the case has this property.
fn refuses(case: &Case, when: bool) -> Outcome {
    if when { Outcome::Refused("broken".to_owned()) } else { right(case) }
}

/// The input as it is, where the case has this property.
fn keeps(case: &Case, when: bool) -> Outcome {
    if when { Outcome::Value(case.input.clone()) } else { right(case) }
}

fn lengths(case: &Case, by: &dyn Fn(usize, i128) -> i128) -> Outcome {
    let values = case.argument.to_integers();
    let values: Vec<_> = values.iter().enumerate().map(|(at, &length)| by(at, length)).collect();
    let argument = Tensor::integers(case.argument.dtype, &values).reshaped(&case.argument.shape);
    with(case, case.call, argument)
}

fn has_lengths(case: &Case) -> bool {
    matches!(
        case.call,
        Call::Sequence { .. } | Call::AnySequence { .. } | Call::Subsequences { .. }
    )
}

/// The size of the axis of lengths, if the call is valid that far.
fn size(case: &Case) -> i128 {
    let axis = match case.call {
        Call::Sequence { time, .. } | Call::AnySequence { time, .. } => time,
        Call::Subsequences { axis } => axis,
        _ => 0,
    };
    let rank = case.input.shape.len() as i64;
    let at = if axis < 0 { axis + rank } else { axis };
    usize::try_from(at).ok().and_then(|at| case.input.shape.get(at)).map_or(0, |&size| size as i128)
}

fn list(case: &Case) -> bool {
    matches!(case.call, Call::Reverse { mask: false } | Call::Flip)
}

/// The backend that breaks a rule.
fn broken(rule: &str, case: &Case) -> Outcome {
    let (input, argument, call) = (&case.input, &case.argument, case.call);
    let kind = input.dtype.name;
    let rank = input.shape.len() as i128;
    let values = if argument.dtype.is_integer() { argument.to_integers() } else { Vec::new() };
    let refusal = matches!(right(case), Outcome::Refused(_));
    let (mask, table) = (case.extras.mask.is_some(), case.extras.table.is_some());
    match rule {
        "types.every" => refuses(case, kind == "bool"),
        "bits.nan-payload" => floats(case, &|bits, e, f| {
            let quiet = bits >> (f - 1) & 1 == 1;
            if is_nan(bits, e, f) && quiet { ((1 << e) - 1) << f | 1 << (f - 1) } else { bits }
        }),
        "bits.signalling-nan" => floats(case, &|bits, e, f| {
            if is_nan(bits, e, f) { bits | 1 << (f - 1) } else { bits }
        }),
        "bits.negative-zero" => {
            floats(case, &|bits, e, f| if bits == 1 << (e + f) { 0 } else { bits })
        }
        "bits.subnormal" => floats(case, &|bits, e, f| {
            let sign = 1u128 << (e + f);
            if bits & !sign < 1 << f { bits & sign } else { bits }
        }),
        "bits.wide-integer" => changed(case, &|tensor, at| {
            if kind.ends_with("64") && tensor.dtype.is_integer() {
                tensor.bits(at) & 0xffff_ffff
            } else {
                tensor.bits(at)
            }
        }),
        "bits.integer-beyond-f32" => changed(case, &|tensor, at| match kind {
            "i32" => (tensor.integer(at) as f32) as i32 as u32 as u128,
            "u32" => (tensor.bits(at) as f32) as u32 as u128,
            _ => tensor.bits(at),
        }),
        // Not through a conversion, which would also change NaNs and subnormal numbers.
        "bits.double" => floats(case, &|bits, e, f| {
            let exponent = bits >> f & ((1 << e) - 1);
            let normal = e == 11 && exponent != 0 && exponent != (1 << e) - 1;
            if normal { bits & !((1 << 29) - 1) } else { bits }
        }),
        "bits.every-byte" => changed(case, &|tensor, at| {
            let wide = tensor.dtype.bits == 8 && kind != "bool";
            if wide && tensor.bits(at) >= 0x80 { 0x7f } else { tensor.bits(at) }
        }),
        "strings.content" => altered(case, |tensor| {
            let Data::Text(texts) = &tensor.data else { return None };
            let cut = |text: &Vec<u8>| text.split(|&byte| byte == 0).next().unwrap().to_vec();
            let data = Data::Text(texts.iter().map(cut).collect());
            Some(Tensor { data, ..tensor.clone() })
        }),
        "packed.rows" => {
            let width = input.shape.last().map_or(1, |&size| size) * input.dtype.bits;
            keeps(case, input.dtype.is_packed() && rank > 1 && width % 8 != 0)
        }
        "packed.tail" => altered(case, |tensor| {
            let (used, mut tensor) = (tensor.len() * tensor.dtype.bits % 8, tensor.clone());
            if let (Data::Bytes(bytes), true) = (&mut tensor.data, used != 0) {
                let unused = if input.dtype.bits == 1 { 0xff >> used } else { 0xff << used };
                *bytes.last_mut().unwrap() |= unused;
            }
            Some(tensor)
        }),
        "shape.scalar" => {
            altered(case, |tensor| (rank == 0).then(|| tensor.clone().reshaped(&[1])))
        }
        "shape.one" => altered(case, |tensor| {
            let sizes: Vec<_> = tensor.shape.iter().copied().filter(|&size| size != 1).collect();
            Some(tensor.clone().reshaped(&sizes))
        }),
        "shape.empty" => refuses(case, input.is_empty()),
        "shape.high-rank" => refuses(case, rank > 4),
        "shape.long" => keeps(case, input.shape.iter().any(|&size| size > 128)),
        "axes.several" => match list(case) && !refusal && values.len() > 1 {
            true => with(case, call, Tensor::integers(argument.dtype, &values[..1])),
            false => right(case),
        },
        "axes.negative" => {
            let attribute = match call {
                Call::Sequence { time, batch } | Call::AnySequence { time, batch } => {
                    time.min(batch) < 0
                }
                Call::Subsequences { axis } | Call::Segments { axis } => axis < 0,
                _ => values.len() == 1 && values[0] < 0,
            };
            keeps(case, attribute && !refusal)
        }
        "axes.none" => match right(case) {
            Outcome::Value(_) if rank > 0 && (list(case) && values.is_empty() || no_axis(case)) => {
                let all: Vec<_> = (0..rank).collect();
                let argument = Tensor::integers(retrograde_truth::types::of("i64"), &all);
                with(case, Call::Flip, argument)
            }
            other => other,
        },
        "axes.out-of-range" => {
            let outside = list(case) && values.iter().any(|&axis| axis < -rank || axis >= rank);
            let attribute = match call {
                Call::AnySequence { time, batch } => [time, batch]
                    .iter()
                    .any(|&axis| i128::from(axis) >= rank || i128::from(axis) < -rank),
                Call::Subsequences { axis } => i128::from(axis) >= rank,
                _ => false,
            };
            keeps(case, rank > 1 && (outside || attribute))
        }
        "axes.duplicate-is-set" => match call {
            Call::Reverse { mask: false } if !refusal => {
                let mut odd = BTreeSet::new();
                for axis in values.iter().map(|&axis| axis.rem_euclid(rank.max(1))) {
                    if !odd.remove(&axis) {
                        odd.insert(axis);
                    }
                }
                let odd: Vec<_> = odd.into_iter().collect();
                with(case, call, Tensor::integers(argument.dtype, &odd))
            }
            _ => right(case),
        },
        "axes.duplicate-refused" => match call {
            Call::Flip => with(case, Call::Reverse { mask: false }, argument.clone()),
            _ => right(case),
        },
        "axes.mask" => match call {
            Call::Reverse { mask: true } if !refusal => {
                let bits: Vec<_> = (0..argument.len()).rev().map(|at| argument.bits(at)).collect();
                with(case, call, Tensor::from_bits(argument.dtype, &argument.shape, &bits))
            }
            _ => right(case),
        },
        "axes.mask-refused" => {
            keeps(case, call == Call::Reverse { mask: true } && rank > 0 && refusal)
        }
        "axes.integer-types" => {
            refuses(case, call == Call::Reverse { mask: false } && argument.dtype.name != "i64")
        }
        "axes.kind-refused" => {
            let odd = !argument.dtype.is_integer() || argument.shape.len() != 1;
            keeps(case, call == Call::Reverse { mask: false } && odd)
        }
        "sequence.axes" => match call {
            Call::Sequence { time: 1, batch: 0 } | Call::AnySequence { time: 1, batch: 0 } => {
                keeps(case, true)
            }
            _ => right(case),
        },
        "sequence.axes-refused" => match call {
            Call::Sequence { time, batch } => keeps(case, time == batch || time > 1 || batch < 0),
            Call::AnySequence { time, batch } => keeps(case, time == batch),
            _ => right(case),
        },
        "sequence.any-axes" => match call {
            Call::AnySequence { time, batch } => refuses(case, time.max(batch) > 1 && !refusal),
            _ => right(case),
        },
        "sequence.rank-refused" => keeps(case, has_lengths(case) && rank < 2 && refusal),
        "subsequences.axis" => match call {
            Call::Subsequences { axis } => keeps(case, i128::from(axis) + 1 < rank),
            _ => right(case),
        },
        "lengths.each" => match has_lengths(case)
            && case.extras.is_empty()
            && !refusal
            && values.iter().all(|&one| one >= 2 && one <= size(case))
        {
            true => lengths(case, &|_, _| values[0]),
            false => right(case),
        },
        "lengths.tail" => {
            let longest = values.iter().copied().max().unwrap_or(0);
            zeroed(case, has_lengths(case) && longest >= 2 && longest < size(case))
        }
        "lengths.zero" => {
            zeroed(case, has_lengths(case) && !input.is_empty() && values.contains(&0))
        }
        "lengths.one" => match has_lengths(case) && !refusal && size(case) > 1 {
            true => lengths(case, &|_, length| if length == 1 { 2 } else { length }),
            false => right(case),
        },
        "lengths.beyond-first" => {
            let first = values.first().is_some_and(|&first| first > size(case));
            let others = values.iter().skip(1).all(|&one| (0..=size(case)).contains(&one));
            keeps(case, sequence(case) && first && others && fits(case))
        }
        "lengths.beyond-later" => {
            let first = values.first().is_some_and(|&first| (0..=size(case)).contains(&first));
            let later = values.iter().skip(1).any(|&one| one > size(case));
            keeps(case, sequence(case) && refusal && first && later && fits(case))
        }
        "lengths.negative" => {
            keeps(case, has_lengths(case) && refusal && values.iter().any(|&one| one < 0))
        }
        "lengths.wide" => {
            let narrow = |value: i128| i128::from(value as u32);
            let wide =
                has_lengths(case) && values.iter().all(|&one| one > 1 << 32 && one < 1 << 62);
            match wide && !values.is_empty() {
                true => lengths(case, &|_, length| narrow(length)),
                false => right(case),
            }
        }
        "lengths.clamped" => match call {
            Call::Subsequences { .. } => {
                let narrow = argument.dtype.name == "u32";
                refuses(case, narrow && values.iter().any(|&one| one > size(case)))
            }
            _ => right(case),
        },
        "lengths.shape-refused" => {
            keeps(case, has_lengths(case) && refusal && rank > 1 && !fits(case))
        }
        "lengths.types" => refuses(case, has_lengths(case) && argument.dtype.name == "i32"),
        "lengths.type-refused" => match call {
            Call::Sequence { .. } => keeps(case, argument.dtype.name != "i64"),
            _ => right(case),
        },
        "segments.each" => match call {
            Call::Segments { .. }
                if !refusal
                    && case.extras.is_empty()
                    && values.len() > 2
                    && values.windows(2).all(|pair| pair[0] < pair[1]) =>
            {
                let ends = [0, *values.last().unwrap()];
                // Negative axes have their own rule; this fault is on all others.
                if matches!(call, Call::Segments { axis } if axis < 0) {
                    return right(case);
                }
                with(case, call, Tensor::integers(argument.dtype, &ends))
            }
            _ => right(case),
        },
        "segments.empty" => match call {
            Call::Segments { .. } => {
                refuses(case, values.windows(2).any(|pair| pair[0] == pair[1]))
            }
            _ => right(case),
        },
        "segments.refused" => match call {
            Call::Segments { .. } => keeps(case, refusal && !mask),
            _ => right(case),
        },
        "orient.each" => match call {
            Call::Orient { .. } => keeps(case, rank == 2 && !refusal),
            _ => right(case),
        },
        "orient.axes" => match call {
            Call::Orient { .. } => keeps(case, rank == 3),
            _ => right(case),
        },
        "orient.refused" => match call {
            Call::Orient { .. } => keeps(case, refusal),
            _ => right(case),
        },
        "where.stays" => match without(case, Extras::default()) {
            Outcome::Value(all) if mask && !table && !refusal => Outcome::Value(all),
            _ => right(case),
        },
        "where.lengths" => {
            let outside = |&length: &i128| !(0..=size(case)).contains(&length);
            refuses(case, mask && has_lengths(case) && !refusal && values.iter().any(outside))
        }
        "where.refused" => keeps(case, mask && refusal),
        "table.each" => match without(case, Extras { table: None, ..case.extras.clone() }) {
            Outcome::Value(moved) if table && !refusal && kind == "u8" => {
                changed(case, &|tensor, at| match moved.bits(at) == input.bits(at) {
                    true => moved.bits(at),
                    false => tensor.bits(at),
                })
            }
            _ => right(case),
        },
        "table.types" => refuses(case, table && !refusal && kind != "u8"),
        "table.stays" => match without(case, Extras { table: None, ..case.extras.clone() }) {
            Outcome::Value(moved) if table && !refusal && kind == "u8" => {
                changed(case, &|_, at| {
                    case.extras.table.as_ref().unwrap().bits(moved.bits(at) as usize)
                })
            }
            _ => right(case),
        },
        "table.refused" => keeps(case, table && refusal),
        other => panic!("no broken backend for {other}"),
    }
}

/// Whether a mask has no true.
fn no_axis(case: &Case) -> bool {
    case.call == Call::Reverse { mask: true }
        && (0..case.argument.len()).all(|at| case.argument.bits(at) == 0)
}

fn sequence(case: &Case) -> bool {
    matches!(case.call, Call::Sequence { .. } | Call::AnySequence { .. })
}

/// Whether the lengths have the right shape.
fn fits(case: &Case) -> bool {
    let shape = &case.input.shape;
    match case.call {
        Call::Sequence { time: 0, batch: 1 } | Call::AnySequence { time: 0, batch: 1 } => {
            shape.len() > 1 && case.argument.shape == [shape[1]]
        }
        Call::Subsequences { axis } => {
            let mut expected = shape.clone();
            let Some(size) = usize::try_from(axis).ok().and_then(|at| expected.get_mut(at)) else {
                return true;
            };
            *size = 1;
            case.argument.shape == expected
        }
        _ => true,
    }
}

#[test]
fn every_fault_is_caught_by_the_cases_of_its_rule_alone() {
    let all = cases::all(SEED, false);
    let mut wrong = BTreeMap::new();
    for rule in RULES {
        let mut caught = 0;
        let mut elsewhere = Vec::new();
        for case in &all {
            let blind = Case {
                id: String::new(),
                rule: "",
                expected: Expected::Refusal(String::new()),
                ..case.clone()
            };
            let verdict = judge(case, broken(rule.id, &blind)).verdict;
            match verdict.is_failure() {
                true if case.rule == rule.id => caught += 1,
                true => elsewhere.push(case.id.clone()),
                false => {}
            }
        }
        let count = all.iter().filter(|case| case.rule == rule.id).count();
        println!("{}: {caught} of {count} cases fail", rule.id);
        if caught == 0 || !elsewhere.is_empty() {
            elsewhere.truncate(3);
            wrong.insert(rule.id, (caught, elsewhere));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn a_mask_or_a_table_that_was_ignored_is_the_likely_cause() {
    let all = cases::all(SEED, false);
    for (rule, cause) in
        [("where.stays", "the mask was ignored"), ("table.each", "the table was ignored")]
    {
        for case in all.iter().filter(|case| case.rule == rule) {
            let outcome = without(case, Extras::default());
            let (Expected::Value(expected), Outcome::Value(got)) = (&case.expected, outcome) else {
                panic!("{} has no result", case.id);
            };
            let Case { call, input, argument, extras, .. } = case;
            let likely = cause::likely(call, input, argument, extras, (expected, &got));
            assert_eq!(likely.as_deref(), Some(cause), "{}", case.id);
        }
    }
}

#[test]
fn the_reference_passes() {
    for case in cases::all(SEED, false) {
        assert_eq!(judge(&case, right(&case)).verdict, Verdict::Pass, "{}", case.id);
    }
}
