//! Cases on lengths: their values, where they may be wrong, their shape and type.

use super::{Maker, Plain, values};
use crate::call::Call;
use crate::tensor::Tensor;
use crate::types::{Type, of};

/// The shapes for sequences: time, batch, and what belongs to a step.
const BATCHES: [&[usize]; 3] = [&[4, 3], &[5, 4, 2], &[6, 3, 2, 2]];
/// The shapes for lanes, along the last axis.
const LANES: [&[usize]; 3] = [&[3, 4], &[2, 3, 5], &[2, 2, 3, 4]];

pub(super) fn make(maker: &mut Maker) {
    for plain in Plain::WITH_LENGTHS {
        for dtype in maker.movement_types(plain) {
            let shapes = if plain == Plain::Subsequences { LANES } else { BATCHES };
            for shape in shapes {
                amounts(maker, plain, dtype, shape);
                wrong(maker, plain, dtype, shape);
            }
            types(maker, plain, dtype, shapes[0]);
        }
    }
}

/// Lengths that are the whole axis, except for some.
fn with(size: i128, count: usize, changed: &[(usize, i128)]) -> Vec<i128> {
    let mut lengths = vec![size; count];
    for &(at, length) in changed {
        lengths[at] = length;
    }
    lengths
}

fn amounts(maker: &mut Maker, plain: Plain, dtype: &'static Type, shape: &[usize]) {
    let (size, count) = (plain.size(shape), plain.lanes(shape));
    let mut value = |rule, lengths: &[i128]| {
        maker.value(rule, maker.fill(dtype, shape), plain.by(shape, lengths));
    };
    let mut state = shape.iter().sum::<usize>() as u64;
    for first in 2..size {
        // The first differs from the second, and one is the whole axis, so that nothing is tail for all.
        let mut lengths: Vec<_> = (0..count)
            .map(|_| 2 + (values::split_mix(&mut state) % (size as u64 - 1)) as i128)
            .collect();
        (lengths[0], lengths[1]) = (first, size);
        value("lengths.each", &lengths);
        value("lengths.tail", &vec![first; count]);
    }
    for at in [0, count / 2, count - 1] {
        value("lengths.zero", &with(size, count, &[(at, 0)]));
        value("lengths.one", &with(size, count, &[(at, 1)]));
    }
    value("lengths.zero", &vec![0; count]);
    value("lengths.one", &vec![1; count]);
    if plain == Plain::Subsequences {
        for beyond in [size + 1, size + 100, (1 << 32) - 1] {
            value("lengths.clamped", &with(size, count, &[(count - 1, beyond)]));
            value("lengths.clamped", &vec![beyond; count]);
        }
    }
}

fn wrong(maker: &mut Maker, plain: Plain, dtype: &'static Type, shape: &[usize]) {
    let (size, count) = (plain.size(shape), plain.lanes(shape));
    let far = (1i128 << 32) + 2;
    if plain == Plain::Subsequences {
        let lengths = vec![far; count];
        let call = plain.typed(shape, of("u64"), &lengths);
        maker.value("lengths.wide", maker.fill(dtype, shape), call);
        // One too few along the first axis, and without the axis of size 1.
        let (call, lengths) = plain.by(shape, &vec![size; count]);
        let flat = lengths.clone().reshaped(&shape[..shape.len() - 1]);
        let fewer = (call, Tensor::integers(of("u32"), &[size]).reshaped(&vec![1; shape.len()]));
        let input = maker.fill(dtype, shape);
        maker.refusal("lengths.shape-refused", input.clone(), (call, flat));
        maker.refusal("lengths.shape-refused", input, fewer);
        return;
    }
    let mut refusal = |rule, lengths: &[i128]| {
        maker.refusal(rule, maker.fill(dtype, shape), plain.by(shape, lengths));
    };
    for beyond in [size + 1, size + 7, i64::MAX.into()] {
        refusal("lengths.beyond-first", &with(size, count, &[(0, beyond)]));
        refusal("lengths.beyond-later", &with(size, count, &[(1, beyond)]));
        refusal("lengths.beyond-later", &with(size, count, &[(count - 1, beyond)]));
    }
    for negative in [-1, -size - 1, i64::MIN.into()] {
        refusal("lengths.negative", &with(size, count, &[(0, negative)]));
        refusal("lengths.negative", &with(size, count, &[(count - 1, negative)]));
    }
    refusal("lengths.wide", &vec![far; count]);
    refusal("lengths.wide", &vec![far + (1 << 40); count]);
    refusal("lengths.shape-refused", &vec![size; count - 1]);
    refusal("lengths.shape-refused", &vec![size; count + 1]);
    refusal("lengths.shape-refused", &[]);
    let (call, lengths) = plain.by(shape, &vec![size; count]);
    let square = (call, lengths.reshaped(&[1, count]));
    maker.refusal("lengths.shape-refused", maker.fill(dtype, shape), square);
}

/// Types that lengths may have, and may not.
fn types(maker: &mut Maker, plain: Plain, dtype: &'static Type, shape: &[usize]) {
    let lengths = vec![plain.size(shape); plain.lanes(shape)];
    let (allowed, refused): (&[_], &[_]) = match plain {
        Plain::Sequence => (&["i64"], &["i32", "u64", "f32"]),
        Plain::AnyAxes => (&["i32", "i64"], &[]),
        _ => (&["u32", "u64"], &[]),
    };
    for kind in allowed {
        let call = plain.typed(shape, of(kind), &lengths);
        maker.value("lengths.types", maker.fill(dtype, shape), call);
    }
    for kind in refused {
        let call = Call::Sequence { time: 0, batch: 1 };
        // As a float, the smallest positive number: not the integer that the bits would be.
        let argument = Tensor::integers(of(kind), &vec![1; lengths.len()]);
        maker.refusal("lengths.type-refused", maker.fill(dtype, shape), (call, argument));
    }
}
