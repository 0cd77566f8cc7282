//! The `ndarray` face: any dimension, any view, any element.
#![cfg(feature = "ndarray")]

use ndarray::{Array, Array2, Array3, ArrayD, Axis, IxDyn, arr0, array, s};
use retrograde::{Lengths, Reversal, Reverse, ReverseSequence, ReverseSubsequences};

fn counting(shape: (usize, usize, usize)) -> Array3<u32> {
    let len = shape.0 * shape.1 * shape.2;
    Array::from_shape_vec(shape, (0..len as u32).collect()).unwrap()
}

#[test]
fn flips_agree_with_inverted_axes() {
    let x = counting((3, 4, 5));
    for axis in 0..3 {
        let mut expected = x.clone();
        expected.invert_axis(Axis(axis));
        let y = Reverse::axes([axis as i64]).to_array(x.view()).unwrap();
        assert_eq!(y, expected);
        let mut in_place = x.clone();
        Reverse::axes([axis as i64]).in_place_array(in_place.view_mut()).unwrap();
        assert_eq!(in_place, expected);
    }
}

#[test]
fn any_view_is_an_input() {
    let x = counting((4, 6, 5));
    let views = [
        x.slice(s![..;2, 1..;-2, ..]),
        x.slice(s![1..3, ..3, ..;-1]),
        x.slice(s![..2, 2..5, 1..4;-1]),
    ];
    for view in views {
        let mut expected = view.to_owned();
        expected.invert_axis(Axis(2));
        assert_eq!(Reverse::axes([2]).to_array(view).unwrap(), expected);
    }
    let transposed = x.t();
    let mut expected = transposed.to_owned();
    expected.invert_axis(Axis(0));
    assert_eq!(Reverse::axes([0]).to_array(transposed).unwrap(), expected);
    let row = array![1, 2, 3];
    let repeated = row.broadcast((4, 3)).unwrap();
    let y = Reverse::all().to_array(repeated).unwrap();
    assert!(y.rows().into_iter().all(|r| r == array![3, 2, 1]));
}

#[test]
fn any_view_is_an_output() {
    let x = counting((2, 3, 4));
    let mut out = Array3::<u32>::from_elem((5, 3, 8), 99);
    Reverse::axes([1]).apply_array(x.view(), out.slice_mut(s![1..5;3, ..;-1, ..;2])).unwrap();
    // Flipped on the way in and written backwards: the order is the input's again.
    assert_eq!(out.slice(s![1..5;3, .., ..;2]), x);
    assert_eq!(out.iter().filter(|&&v| v == 99).count(), 5 * 3 * 8 - 24);
}

#[test]
fn lengths_come_from_arrays_too() {
    let x = counting((2, 3, 4));
    let lengths = array![[4u32, 1, 3], [0, 2, 9]].insert_axis(Axis(2));
    let lanes = ReverseSubsequences::along(2).lengths(Lengths::try_from(lengths.view()).unwrap());
    let y = lanes.to_array(x.view()).unwrap();
    assert_eq!(y.slice(s![0, .., ..]), array![[3, 2, 1, 0], [4, 5, 6, 7], [10, 9, 8, 11]]);
    assert_eq!(
        y.slice(s![1, .., ..]),
        array![[12, 13, 14, 15], [17, 16, 18, 19], [23, 22, 21, 20]]
    );

    let table = array![[2i64, 7], [1, 7], [0, 7]];
    let column = Lengths::try_from(table.column(0)).unwrap();
    let y = ReverseSequence::new().lengths(column).to_array(array![[1, 2, 3], [4, 5, 6]].view());
    assert_eq!(y.unwrap(), array![[4, 2, 3], [1, 5, 6]]);
}

#[test]
fn scalars_dynamic_dimensions_and_nothing() {
    assert_eq!(Reverse::axes([]).to_array(arr0(7).view()).unwrap(), arr0(7));
    let x = ArrayD::from_shape_fn(IxDyn(&[2, 1, 3, 1, 2]), |i| i[0] * 100 + i[2] * 10 + i[4]);
    let y = Reverse::all().to_array(x.view()).unwrap();
    let (x, y) = (x.into_raw_vec_and_offset().0, y.into_raw_vec_and_offset().0);
    assert!(y.iter().rev().eq(&x));
    let empty = Array2::<f64>::zeros((0, 4));
    assert_eq!(Reverse::all().to_array(empty.view()).unwrap().dim(), (0, 4));
}

#[test]
fn padding_and_references_move_through_any_view() {
    // Whether padding is read, and whether references keep what they point to, is seen by Miri.
    let table: Vec<u8> = (0..42).collect();
    let x = Array2::from_shape_fn((6, 7), |(row, column)| {
        let n = (row * 7 + column) as u8;
        (&table[usize::from(n)], n)
    });
    let pairs = x.mapv(|(_, n)| (n, u16::from(n)));
    let numbers = x.mapv(|(_, n)| n);
    let columns = Reverse::axes([1]);
    let expected = columns.to_array(numbers.t()).unwrap();
    assert_eq!(columns.to_array(x.t()).unwrap().mapv(|(&n, _)| n), expected);
    assert_eq!(columns.to_array(pairs.t()).unwrap().mapv(|(n, _)| n), expected);
    let (mut x, mut pairs, mut numbers) = (x, pairs, numbers);
    columns.in_place_array(x.slice_mut(s![.., ..;2])).unwrap();
    columns.in_place_array(pairs.slice_mut(s![.., ..;2])).unwrap();
    columns.in_place_array(numbers.slice_mut(s![.., ..;2])).unwrap();
    assert_eq!(x.mapv(|(&n, _)| n), numbers);
    assert_eq!(pairs.mapv(|(n, _)| n), numbers);
}

#[test]
fn shapes_must_agree() {
    let x = Array2::<u8>::zeros((2, 3));
    let mut out = Array2::<u8>::zeros((3, 2));
    let error = Reverse::all().apply_array(x.view(), out.view_mut()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "Reverse: output has shape [3, 2], expected the input's shape [2, 3]"
    );
}
