//! Masks (`where_`): entries that are true are reversed, and the others stay. Compared with calls of
//! their own for each entry, on every instruction set, out of place and in place.

use retrograde::cpu::Isa;
use retrograde::{
    DType, Layout, LengthsOperator, Mask, Reversal, Reverse, ReverseSegments, ReverseSequence,
    ReverseSubsequences, TensorRef,
};

/// Numbers of a linear congruence.
struct Dice(u64);

impl Dice {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) as usize % limit.max(1)
    }

    fn mask(&mut self, len: usize) -> Vec<bool> {
        // Some in long runs, some alternating.
        let often = 1 + self.below(9);
        let mut last = self.below(2) == 1;
        (0..len)
            .map(|_| {
                last ^= self.below(often) == 0;
                last
            })
            .collect()
    }
}

/// Out of place and in place, on every instruction set.
fn same<'a>(reversal: &impl Reversal<'a>, x: &[u16], shape: &[usize], want: &[u16]) {
    for isa in Isa::available() {
        isa.force();
        assert_eq!(reversal.to_vec(x, shape).unwrap(), want, "{isa:?}");
        let mut y = x.to_vec();
        reversal.in_place(&mut y, shape).unwrap();
        assert_eq!(y, want, "{isa:?} in place");
    }
}

#[test]
fn sequences_lanes_and_segments_stay_where_the_mask_is_false() {
    let mut dice = Dice(7);
    let (rounds, most_rows, most, segments) = match cfg!(miri) {
        true => (6, 6, [5, 12, 60], [4, 9, 40]),
        false => (150, 40, [5, 40, 900], [4, 90, 2000]),
    };
    for round in 0..rounds {
        let (rows, len) = (dice.below(most_rows), 1 + dice.below(most[round % 3]));
        let shape = [rows, len];
        let x: Vec<u16> = (0..rows * len).map(|at| at as u16).collect();
        let mask = dice.mask(rows);
        let lengths: Vec<i32> = (0..rows).map(|_| dice.below(len + 1) as i32).collect();
        let mut want = x.clone();
        let mut flipped = x.clone();
        for (row, &moves) in mask.iter().enumerate() {
            if moves {
                want[row * len..row * len + lengths[row] as usize].reverse();
                flipped[row * len..row * len + len].reverse();
            }
        }
        let batch = ReverseSequence::new().time_axis(1).batch_axis(0);
        same(&batch.lengths(&lengths).where_(&mask), &x, &shape, &want);
        let lanes = ReverseSubsequences::along(1).lengths(&lengths).where_(&mask);
        same(&lanes, &x, &shape, &want);
        same(&Reverse::axes([1]).batch(0).where_(&mask), &x, &shape, &flipped);

        let count = 1 + dice.below(segments[round % 3]);
        let mut offsets: Vec<u32> = (0..count).map(|_| dice.below(x.len() + 1) as u32).collect();
        offsets.sort_unstable();
        offsets.insert(0, 0);
        let mask = dice.mask(count);
        let mut want = x.clone();
        for (pair, _) in offsets.windows(2).zip(&mask).filter(|(_, moves)| **moves) {
            want[pair[0] as usize..pair[1] as usize].reverse();
        }
        let segments = ReverseSegments::along(0).offsets(&offsets).where_(&mask);
        same(&segments, &x, &[x.len()], &want);
        // Wider units, and an axis with others inside and outside it.
        let wide: Vec<[u8; 3]> = x.iter().map(|&v| [v as u8, (v >> 8) as u8, 1]).collect();
        let got = segments.to_vec(&wide, &[x.len()]).unwrap();
        assert!(got.iter().zip(&want).all(|(g, &w)| *g == [w as u8, (w >> 8) as u8, 1]));
        let columns: Vec<u16> = x.iter().flat_map(|&v| [v, !v]).collect();
        let got = segments.to_vec(&columns, &[x.len(), 2]).unwrap();
        assert_eq!(got, want.iter().flat_map(|&v| [v, !v]).collect::<Vec<_>>());
        let twice = [x.clone(), x.clone()].concat();
        let along = ReverseSegments::along(1).offsets(&offsets).where_(&mask);
        same(&along, &twice, &[2, x.len()], &[want.clone(), want].concat());
    }
}

#[test]
fn packed_segments_stay_too() {
    let mut dice = Dice(3);
    for round in 0..if cfg!(miri) { 4 } else { 60 } {
        let len = 1 + dice.below(if cfg!(miri) { 40 } else { 300 });
        let nibbles: Vec<u8> = (0..len).map(|_| dice.below(16) as u8).collect();
        let pack = |nibbles: &[u8]| -> Vec<u8> {
            nibbles.chunks(2).map(|two| two[0] | two.get(1).unwrap_or(&0) << 4).collect()
        };
        let mut offsets: Vec<i64> =
            (0..dice.below([3, 60][round % 2])).map(|_| dice.below(len + 1) as i64).collect();
        offsets.sort_unstable();
        offsets.insert(0, 0);
        let mask = dice.mask(offsets.len() - 1);
        let mut want = nibbles.clone();
        for (pair, _) in offsets.windows(2).zip(&mask).filter(|(_, moves)| **moves) {
            want[pair[0] as usize..pair[1] as usize].reverse();
        }
        let memory = pack(&nibbles);
        let x = TensorRef::dense(DType::U4, &memory[..], &[len]).unwrap();
        let segments = ReverseSegments::along(0).offsets(&offsets).where_(&mask);
        assert_eq!(segments.to_bytes(&x).unwrap(), pack(&want));
    }
}

#[test]
fn images_of_a_batch_are_flipped_along_neighbouring_axes() {
    let shape = [5usize, 3, 4, 2];
    let x: Vec<u16> = (0..120).collect();
    let mask = [true, false, false, true, true];
    let both = Reverse::axes([1, 2]).batch(0).where_(&mask);
    let mut want = x.clone();
    for (image, _) in want.chunks_mut(24).zip(mask).filter(|(_, moves)| *moves) {
        let turned: Vec<u16> = image.chunks(2).rev().flatten().copied().collect();
        image.copy_from_slice(&turned);
    }
    same(&both, &x, &shape, &want);
    // One dimension, as without a mask.
    let layout = Layout::dense(DType::U16, &shape).unwrap();
    assert_eq!(both.prepare(&layout, &layout).unwrap().plan().dims().len(), 2);
    // Axes that are no neighbours, one after the other.
    let (mut y, last) = (x.clone(), Reverse::axes([3]).batch(0).where_(&mask));
    last.in_place(&mut y, &shape).unwrap();
    Reverse::axes([1]).batch(0).where_(&mask).in_place(&mut y, &shape).unwrap();
    assert_eq!(y[..4], [17, 16, 19, 18]);
    assert_eq!(y[24..72], x[24..72]);
}

#[test]
fn a_mask_may_have_strides() {
    let entries = [true, true, false, false, true, false];
    let layout = Layout::strided(DType::Bool, &[3], &[2], 0).unwrap();
    let every_other = TensorRef::new(layout, &entries[..]).unwrap();
    let y = Reverse::axes([1]).batch(0).where_(Mask::from(&every_other));
    assert_eq!(y.to_vec(&[1, 2, 3, 4, 5, 6], &[3, 2]).unwrap(), [2, 1, 3, 4, 6, 5]);
}

#[test]
fn lengths_of_what_stays_are_not_looked_at() {
    let rows = ReverseSequence::new().time_axis(1).batch_axis(0);
    let y = rows.lengths(&[-1i8, 2]).where_(&[false, true]).to_vec(&[1, 2, 3, 4], &[2, 2]).unwrap();
    assert_eq!(y, [1, 2, 4, 3]);
}

#[test]
fn marked_offsets_are_the_lengths_of_a_prepared_call() {
    let layout = Layout::dense(DType::U8, &[5]).unwrap();
    let marked = ReverseSegments::along(0).marked();
    let prepared = marked.offsets(&[1i64, 6, 10]).prepare(&layout, &layout).unwrap();
    assert_eq!(marked.lengths_shape(&[5]).unwrap(), [2]);
    let mut y = [0; 5];
    prepared.run(b"abcde", &mut y).unwrap();
    assert_eq!(&y, b"cbade");
    prepared.with_lengths(&[0i64, 7, 10]).unwrap().run(b"abcde", &mut y).unwrap();
    assert_eq!(&y, b"abced");
}
