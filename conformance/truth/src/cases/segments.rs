//! Cases on segments: an axis that is cut by offsets.

use super::{Maker, Plain};
use crate::call::Call;
use crate::tensor::Tensor;
use crate::types::of;

pub(super) fn make(maker: &mut Maker) {
    for dtype in maker.movement_types(Plain::Segments) {
        let mut cut = |rule, shape: &[usize], axis: i64, offsets: &[i128], valid: bool| {
            let call = (Call::Segments { axis }, Tensor::integers(of("i64"), offsets));
            match valid {
                true => maker.value(rule, maker.fill(dtype, shape), call),
                false => maker.refusal(rule, maker.fill(dtype, shape), call),
            }
        };
        cut("segments.each", &[7], 0, &[0, 3, 7], true);
        cut("segments.each", &[7], 0, &[0, 2, 5], true);
        cut("segments.each", &[9, 2], 0, &[0, 2, 4, 9], true);
        cut("segments.each", &[2, 6], 1, &[0, 4, 6], true);
        cut("segments.each", &[2, 6, 3], 1, &[0, 2, 6], true);
        cut("axes.negative", &[2, 6, 3], -2, &[0, 3, 6], true);
        cut("segments.empty", &[5], 0, &[0, 0, 5], true);
        cut("segments.empty", &[5], 0, &[0, 5, 5, 5], true);
        cut("segments.empty", &[5, 2], 0, &[0, 5, 5], true);
        cut("segments.refused", &[5], 0, &[1, 5], false);
        cut("segments.refused", &[5], 0, &[0, 3, 2, 5], false);
        cut("segments.refused", &[5], 0, &[0, 6], false);
        cut("segments.refused", &[5], 0, &[0, -1, 5], false);
        cut("segments.refused", &[5], 0, &[0, (1 << 32) + 3], false);
    }
}
