//! Cases on masks: which sequences, lanes, segments or entries of axis 0 are reversed.

use super::{Maker, Plain};
use crate::call::Call;
use crate::extras::Extras;
use crate::tensor::Tensor;
use crate::types::of;

pub(super) fn make(maker: &mut Maker) {
    let segments = || (Call::Segments { axis: 0 }, Tensor::integers(of("i64"), &[0, 3, 5, 9]));
    let (rows, lanes) = (&[4, 3][..], &[3, 4][..]);
    let by = |plain: Plain, shape| plain.whole(shape);
    for dtype in maker.movement_types(Plain::Flip) {
        for bits in [[1, 0, 1], [0, 1, 0], [0, 0, 0]] {
            let one = |sizes: &[usize]| mask(&bits).reshaped(sizes);
            let mut stays = |shape: &[usize], call: (Call, Tensor), mask: Tensor| {
                maker.value_with("where.stays", maker.fill(dtype, shape), call, with(mask));
            };
            stays(lanes, by(Plain::Flip, lanes), one(&[3]));
            stays(&[9], segments(), one(&[3]));
            stays(rows, by(Plain::AnyAxes, rows), one(&[3]));
            stays(lanes, by(Plain::Subsequences, lanes), one(&[3, 1]));
        }
        for length in [5, -1] {
            let call = Plain::AnyAxes.by(rows, &[4, length, 4]);
            let input = maker.fill(dtype, rows);
            maker.value_with("where.lengths", input, call, with(mask(&[1, 0, 1])));
        }
        for bits in [&[1, 0][..], &[1, 0, 1, 1]] {
            let mut refused = |shape: &[usize], call: (Call, Tensor)| {
                let input = maker.fill(dtype, shape);
                maker.refusal_with("where.refused", input, call, with(mask(bits)));
            };
            refused(lanes, by(Plain::Flip, lanes));
            refused(&[9], segments());
            refused(rows, by(Plain::AnyAxes, rows));
            refused(lanes, by(Plain::Subsequences, lanes));
        }
    }
}

fn mask(bits: &[i128]) -> Tensor {
    Tensor::integers(of("bool"), bits)
}

fn with(mask: Tensor) -> Extras {
    Extras { mask: Some(mask), table: None }
}
