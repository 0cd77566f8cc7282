//! Cases on axes: lists and masks of Reverse and Flip, the axes of the other operators.

use super::{Maker, Plain};
use crate::call::Call;
use crate::tensor::Tensor;
use crate::types::{Type, of};

const INDEX: Call = Call::Reverse { mask: false };
const MASK: Call = Call::Reverse { mask: true };

pub(super) fn make(maker: &mut Maker) {
    for (plain, call) in [(Plain::Reverse, INDEX), (Plain::Flip, Call::Flip)] {
        for dtype in maker.movement_types(plain) {
            lists(maker, call, dtype);
        }
    }
    for dtype in maker.movement_types(Plain::Reverse) {
        of_reverse(maker, dtype);
        masks(maker, dtype);
    }
    for plain in [Plain::Sequence, Plain::AnyAxes] {
        for dtype in maker.movement_types(plain) {
            of_sequences(maker, plain, dtype);
        }
    }
    for dtype in maker.movement_types(Plain::Subsequences) {
        of_lanes(maker, dtype);
    }
}

fn list(axes: &[i128]) -> Tensor {
    Tensor::integers(of("i64"), axes)
}

/// What Reverse and Flip have in common, and where they differ: duplicates.
fn lists(maker: &mut Maker, call: Call, dtype: &'static Type) {
    let several: [(&[usize], &[i128]); 5] = [
        (&[3, 4], &[0, 1]),
        (&[2, 3, 4], &[0, 2]),
        (&[2, 3, 4], &[2, 1]),
        (&[2, 3, 4], &[0, 1, 2]),
        (&[2, 3, 2, 5], &[1, 3]),
    ];
    for (shape, axes) in several {
        maker.value("axes.several", maker.fill(dtype, shape), (call, list(axes)));
    }
    let negative: [(&[usize], i128); 4] =
        [(&[5], -1), (&[3, 4], -2), (&[2, 3, 4], -2), (&[2, 3, 2, 5], -4)];
    for (shape, axis) in negative {
        maker.value("axes.negative", maker.fill(dtype, shape), (call, list(&[axis])));
    }
    for shape in [&[5][..], &[3, 4], &[2, 3, 4]] {
        let rank = shape.len() as i128;
        maker.value("axes.none", maker.fill(dtype, shape), (call, list(&[])));
        for axis in [rank, -rank - 1, 1 << 40] {
            let input = maker.fill(dtype, shape);
            maker.refusal("axes.out-of-range", input, (call, list(&[axis])));
        }
    }
    let again: [(&[usize], &[i128]); 5] = [
        (&[5], &[0, 0]),
        (&[3, 4], &[0, -2]),
        (&[3, 4], &[1, 1]),
        (&[3, 4], &[0, 0, 0, -2]),
        (&[2, 3, 4], &[-1, 2]),
    ];
    for (shape, axes) in again {
        let input = maker.fill(dtype, shape);
        match call {
            Call::Flip => maker.refusal("axes.duplicate-refused", input, (call, list(axes))),
            _ => maker.value("axes.duplicate-is-set", input, (call, list(axes))),
        }
    }
}

/// The type of the list.
fn of_reverse(maker: &mut Maker, dtype: &'static Type) {
    for kind in ["i8", "i16", "i32", "u8", "u16", "u32", "u64"] {
        for axis in [0, 1] {
            let axes = Tensor::integers(of(kind), &[axis]);
            maker.value("axes.integer-types", maker.fill(dtype, &[3, 4]), (INDEX, axes));
        }
    }
    let zero = |kind: &str, shape: &[usize]| Tensor::integers(of(kind), &[0]).reshaped(shape);
    for axes in [zero("f32", &[1]), zero("f64", &[1]), zero("bool", &[1]), zero("i64", &[1, 1])] {
        maker.refusal("axes.kind-refused", maker.fill(dtype, &[3, 4]), (INDEX, axes));
    }
}

fn masks(maker: &mut Maker, dtype: &'static Type) {
    let mask = |bits: &[i128]| Tensor::integers(of("bool"), bits);
    let cases: [(&[usize], &[i128]); 5] = [
        (&[3, 4], &[1, 0]),
        (&[3, 4], &[0, 1]),
        (&[2, 3, 4], &[0, 0, 1]),
        (&[2, 3, 4], &[1, 1, 0]),
        (&[2, 3, 2, 5], &[1, 0, 1, 0]),
    ];
    for (shape, bits) in cases {
        maker.value("axes.mask", maker.fill(dtype, shape), (MASK, mask(bits)));
    }
    for shape in [&[5][..], &[3, 4], &[2, 3, 4]] {
        let none = mask(&vec![0; shape.len()]);
        maker.value("axes.none", maker.fill(dtype, shape), (MASK, none));
    }
    let wrong = [mask(&[1]), mask(&[1, 0, 0]), mask(&[]), Tensor::integers(of("u8"), &[1, 0])];
    for argument in wrong {
        maker.refusal("axes.mask-refused", maker.fill(dtype, &[3, 4]), (MASK, argument));
    }
}

/// Time and batch axes, by whole lengths.
fn of_sequences(maker: &mut Maker, plain: Plain, dtype: &'static Type) {
    let call = |time: i64, batch: i64| match plain {
        Plain::Sequence => Call::Sequence { time, batch },
        _ => Call::AnySequence { time, batch },
    };
    let whole = |shape: &[usize], time: i64, batch: i64| {
        let at = |axis: i64| shape[axis.rem_euclid(shape.len() as i64) as usize];
        (call(time, batch), list(&vec![at(time) as i128; at(batch)]))
    };
    for shape in [&[3, 3][..], &[3, 5], &[4, 3, 2], &[2, 4, 3, 2]] {
        maker.value("sequence.axes", maker.fill(dtype, shape), whole(shape, 1, 0));
    }
    for axis in [0, 1] {
        let same = (call(axis, axis), list(&[3, 3, 3]));
        maker.refusal("sequence.axes-refused", maker.fill(dtype, &[3, 3]), same);
    }
    maker.refusal("sequence.rank-refused", maker.fill(dtype, &[3]), (call(0, 1), list(&[3, 3, 3])));
    maker.refusal("sequence.rank-refused", maker.fill(dtype, &[]), (call(0, 1), list(&[])));
    let shape = &[3, 2, 4][..];
    if plain == Plain::Sequence {
        for (time, batch) in [(2, 0), (0, 2), (-1, 0), (1, -3)] {
            let input = maker.fill(dtype, shape);
            maker.refusal("sequence.axes-refused", input, whole(shape, time, batch));
        }
        return;
    }
    for (time, batch) in [(2, 0), (0, 2), (1, 2), (2, 1)] {
        maker.value("sequence.any-axes", maker.fill(dtype, shape), whole(shape, time, batch));
    }
    let four = &[2, 3, 4, 2][..];
    for (time, batch) in [(3, 1), (0, 3), (2, 1)] {
        maker.value("sequence.any-axes", maker.fill(dtype, four), whole(four, time, batch));
    }
    for (time, batch) in [(-3, 1), (0, -2), (-3, -2)] {
        maker.value("axes.negative", maker.fill(dtype, shape), whole(shape, time, batch));
    }
    for (time, batch) in [(3, 1), (0, 3), (-4, 1)] {
        let lengths = list(&[3, 3]);
        let input = maker.fill(dtype, shape);
        maker.refusal("axes.out-of-range", input, (call(time, batch), lengths));
    }
}

/// The axis of ReverseSubsequences.
fn of_lanes(maker: &mut Maker, dtype: &'static Type) {
    for (shape, axis) in [(&[4, 3][..], 0), (&[2, 3, 4], 0), (&[2, 3, 4], 1), (&[2, 3, 2, 5], 2)] {
        let mut lanes = shape.to_vec();
        lanes[axis] = 1;
        let count = lanes.iter().product();
        let lengths = Tensor::integers(of("u32"), &vec![shape[axis] as i128; count]);
        let call = Call::Subsequences { axis: axis as i64 };
        maker.value(
            "subsequences.axis",
            maker.fill(dtype, shape),
            (call, lengths.reshaped(&lanes)),
        );
    }
    let lengths = Tensor::integers(of("u32"), &[3, 3]).reshaped(&[2, 1]);
    let beyond = (Call::Subsequences { axis: 2 }, lengths);
    maker.refusal("axes.out-of-range", maker.fill(dtype, &[2, 3]), beyond);
}
