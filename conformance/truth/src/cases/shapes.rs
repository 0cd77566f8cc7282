//! Cases on types and shapes: every type, ranks 0 to 8, sizes 0 and 1, long axes.

use super::{Maker, Plain};
use crate::call::Call;
use crate::tensor::Tensor;
use crate::types::of;

/// Every type of every operator. Packed rows are whole bytes here.
pub(super) fn types(maker: &mut Maker) {
    for plain in Plain::ALL {
        for dtype in plain.types() {
            for shape in [&[3, 8][..], &[2, 8, 8], &[2, 2, 3, 8]] {
                let input = maker.fill(dtype, shape);
                maker.value("types.every", input, plain.whole(shape));
            }
        }
    }
}

pub(super) fn make(maker: &mut Maker) {
    for plain in Plain::ALL {
        for dtype in maker.movement_types(plain) {
            for shape in [&[1][..], &[1, 3], &[3, 1], &[1, 1], &[2, 1, 3], &[1, 1, 1, 2]] {
                if shape.len() >= plain.least_rank() {
                    maker.value("shape.one", maker.fill(dtype, shape), plain.whole(shape));
                }
            }
            for shape in [&[0][..], &[0, 3], &[3, 0], &[2, 0, 3], &[0, 0], &[2, 3, 4, 0]] {
                // DirectML excludes size 0.
                if shape.len() >= plain.least_rank() && plain != Plain::Subsequences {
                    maker.value("shape.empty", maker.fill(dtype, shape), plain.whole(shape));
                }
            }
            for rank in 5..=8 {
                let mut shape = vec![2; rank];
                shape[rank / 2] = 3;
                maker.value("shape.high-rank", maker.fill(dtype, &shape), plain.whole(&shape));
            }
            for shape in [&[300][..], &[3, 300], &[300, 3], &[2, 131, 5], &[7, 1031]] {
                if shape.len() >= plain.least_rank() {
                    maker.value("shape.long", maker.fill(dtype, shape), plain.whole(shape));
                }
            }
            if matches!(plain, Plain::Reverse | Plain::Flip) {
                scalars(maker, plain, dtype.name);
            }
        }
    }
}

fn scalars(maker: &mut Maker, plain: Plain, dtype: &str) {
    let calls: &[Call] = match plain {
        Plain::Flip => &[Call::Flip],
        _ => &[Call::Reverse { mask: false }, Call::Reverse { mask: true }],
    };
    for &call in calls {
        let kind = of(if call == (Call::Reverse { mask: true }) { "bool" } else { "i64" });
        let scalar = maker.fill(of(dtype), &[]);
        maker.value("shape.scalar", scalar.clone(), (call, Tensor::integers(kind, &[])));
        maker.refusal("shape.scalar", scalar.clone(), (call, Tensor::integers(kind, &[0])));
        if kind.name == "i64" {
            maker.refusal("shape.scalar", scalar, (call, Tensor::integers(kind, &[-1])));
        }
    }
}
