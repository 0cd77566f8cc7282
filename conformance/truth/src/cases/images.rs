//! Cases on images: the eight orientations, and the axes of rows and columns.

use super::{Maker, Plain};
use crate::call::Call;
use crate::tensor::Tensor;
use crate::types::of;

pub(super) fn make(maker: &mut Maker) {
    let call = |orientation: i64, axes: &[i128]| {
        (Call::Orient { orientation }, Tensor::integers(of("i64"), axes))
    };
    for dtype in maker.movement_types(Plain::Flip) {
        for orientation in 1..=8 {
            maker.value("orient.each", maker.fill(dtype, &[2, 3]), call(orientation, &[0, 1]));
        }
        for (orientation, axes) in [(5, [0, 1]), (6, [1, 2]), (7, [-2, -1]), (8, [2, 0])] {
            let input = maker.fill(dtype, &[2, 3, 4]);
            maker.value("orient.axes", input, call(orientation, &axes));
        }
        let refused: [(i64, &[i128]); 6] =
            [(0, &[0, 1]), (9, &[0, 1]), (262, &[0, 1]), (6, &[1, -1]), (6, &[0, 2]), (6, &[0])];
        for (orientation, axes) in refused {
            let input = maker.fill(dtype, &[2, 3]);
            maker.refusal("orient.refused", input, call(orientation, axes));
        }
    }
}
