//! Sequences at the end of an axis, tails of zeros, and segments, as users call them. The
//! conformance suite compares them with the oracle on every level.

use retrograde::{
    Align, DType, Layout, LengthsOperator, Reversal, Reverse, ReverseSegments, ReverseSequence,
    ReverseSubsequences, Tail, TensorMut, TensorRef,
};

#[test]
fn left_padded_rows_and_columns() {
    let x = [0, 0, 1, 2, 0, 3, 4, 5];
    let rows = ReverseSequence::new().time_axis(1).batch_axis(0).align(Align::End);
    assert_eq!(rows.lengths(&[2, 3]).to_vec(&x, &[2, 4]).unwrap(), [0, 0, 2, 1, 0, 5, 4, 3]);
    let columns = ReverseSubsequences::along(0).align(Align::End);
    let y = columns.lengths(&[2, 0, 1, 9]).to_vec(&x, &[2, 4]).unwrap();
    assert_eq!(y, [0, 0, 1, 5, 0, 3, 4, 2]);
}

#[test]
fn zero_tails_of_all_sizes_in_place_too() {
    for len in [1usize, 3, 17, 100, 5000] {
        let x: Vec<u16> = (1..=2 * len as u16).collect();
        let lengths = [len as i64 / 2, 0];
        let rows = ReverseSequence::new().time_axis(1).batch_axis(0).tail(Tail::Zero);
        let mut want = vec![0; 2 * len];
        for at in 0..len / 2 {
            want[at] = x[len / 2 - 1 - at];
        }
        assert_eq!(rows.lengths(&lengths).to_vec_of(&x, &[2, len]).unwrap(), want);
        let mut memory = x.clone();
        let mut view = TensorMut::from_slice(&mut memory, &[2, len]).unwrap();
        rows.lengths(&lengths).in_place_view(&mut view).unwrap();
        assert_eq!(memory, want);
    }
}

#[test]
fn a_broadcast_input_has_a_tail_too() {
    let one = Layout::strided(DType::U8, &[4], &[0], 0).unwrap();
    let src = TensorRef::new(one, &[7u8]).unwrap();
    let masked = ReverseSubsequences::along(0).tail(Tail::Zero);
    assert_eq!(masked.lengths(&[2]).to_bytes(&src).unwrap(), [7, 7, 0, 0]);
}

#[test]
fn segments_along_any_axis_and_in_place() {
    let x: Vec<u32> = (0..24).collect();
    let rows = ReverseSegments::along(0).offsets(&[0i32, 1, 3]);
    let y = rows.to_vec(&x, &[4, 6]).unwrap();
    let row = |at: u32| at * 6..at * 6 + 6;
    let want: Vec<u32> = [0, 2, 1, 3].into_iter().flat_map(row).collect();
    assert_eq!(y, want);
    let columns = ReverseSegments::along(-1).offsets(&[0u8, 2, 6]);
    let mut z = x.clone();
    columns.in_place(&mut z, &[4, 6]).unwrap();
    assert_eq!(z[..6], [1, 0, 5, 4, 3, 2]);
    assert_eq!(columns.to_vec(&x, &[4, 6]).unwrap(), z);
}

#[test]
fn one_segment_is_a_flip_and_none_is_a_copy() {
    let x: Vec<f64> = (0..1000).map(f64::from).collect();
    let whole = ReverseSegments::along(0).offsets(&[0, 1000]).to_vec(&x, &[1000]).unwrap();
    assert_eq!(whole, Reverse::all().to_vec(&x, &[1000]).unwrap());
    assert_eq!(ReverseSegments::along(0).offsets(&[0]).to_vec(&x, &[1000]).unwrap(), x);
}

#[test]
fn the_plan_says_what_moves() {
    let x = Layout::dense(DType::F32, &[10, 4]).unwrap();
    let offsets = Layout::dense(DType::I32, &[3]).unwrap();
    let plan = ReverseSegments::along(0).plan(&x, &offsets, &x).unwrap();
    assert_eq!(
        plan.to_string(),
        "reverse each segment: 10 units of 16 B each\n\
        \x20         10 x flip segments  step 16 B in, 16 B out\n\
        \x20 offsets: 3 of i32, ascending from 0 to at most 10"
    );
    assert!(plan.fits_in_place());
}
