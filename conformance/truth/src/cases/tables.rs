//! Cases on tables: what is reversed is looked up.

use super::{Maker, Plain};
use crate::call::Call;
use crate::extras::Extras;
use crate::tensor::Tensor;
use crate::types::of;

pub(super) fn make(maker: &mut Maker) {
    let segments =
        |offsets: &[i128]| (Call::Segments { axis: 0 }, Tensor::integers(of("i64"), offsets));
    let u8 = of("u8");
    // Of odd sizes, so that some elements keep their place.
    let (rows, lanes) = (&[5, 3][..], &[3, 5][..]);
    for (shape, call) in [
        (lanes, Plain::Flip.whole(lanes)),
        (rows, Plain::AnyAxes.whole(rows)),
        (lanes, Plain::Subsequences.whole(lanes)),
        (&[8], segments(&[0, 3, 8])),
    ] {
        maker.value_with("table.each", maker.fill(u8, shape), call, with(table(256)));
    }
    for (kind, entries) in [("i8", 256), ("u4", 16), ("i4", 16), ("u2", 4), ("i2", 4)] {
        let (input, call) = (maker.fill(of(kind), &[8]), Plain::Flip.whole(&[8]));
        maker.value_with("table.types", input, call, with(table(entries)));
    }
    // Of even lengths, so that all that is reversed has another place.
    let (rows, lanes) = (&[4, 3][..], &[3, 4][..]);
    for (shape, call) in [
        (rows, Plain::AnyAxes.by(rows, &[2, 4, 2])),
        (lanes, Plain::Subsequences.by(lanes, &[4, 2, 4])),
        (&[8], segments(&[0, 2, 6])),
    ] {
        maker.value_with("table.stays", maker.fill(u8, shape), call, with(table(256)));
    }
    let mask = Some(Tensor::integers(of("bool"), &[1, 0, 1]));
    let both = Extras { mask, ..with(table(256)) };
    maker.value_with("table.stays", maker.fill(u8, lanes), Plain::Flip.whole(lanes), both);
    for (kind, table) in [("u8", table(255)), ("u8", table(16)), ("f32", table(256))] {
        let input = maker.fill(of(kind), lanes);
        maker.refusal_with("table.refused", input, Plain::Flip.whole(lanes), with(table));
    }
    let beyond = Tensor::integers(u8, &[16; 16]);
    let input = maker.fill(of("u4"), &[8]);
    maker.refusal_with("table.refused", input, Plain::Flip.whole(&[8]), with(beyond));
}

/// Every entry is another small value than its own.
fn table(entries: i128) -> Tensor {
    let most = entries.min(128);
    let entries: Vec<_> = (0..entries).map(|value| (value + most / 2 + 1) % most).collect();
    Tensor::integers(of("u8"), &entries)
}

fn with(table: Tensor) -> Extras {
    Extras { mask: None, table: Some(table) }
}
