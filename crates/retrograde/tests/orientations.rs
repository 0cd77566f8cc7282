//! Orientations through every method, and batches with one for each image. The conformance suite
//! compares `Orient` with the oracle on every level.

use retrograde::Orientation::{
    self, FlipUd, Identity, Rot90, Rot180, Rot270, Transpose, Transverse,
};
use retrograde::prelude::*;
use retrograde::{DType, Layout, OrientEach, TensorMut, TensorRef, cpu};
use std::borrow::Cow;

#[test]
fn every_method_gives_the_result_its_own_shape() {
    let (x, shape) = ([1u8, 2, 3, 4, 5, 6], [2, 3]);
    let (turn, wanted) = (Orient::new(Rot270), [4, 1, 5, 2, 6, 3]);
    assert_eq!(turn.output_shape(&shape).unwrap(), [3, 2]);
    assert_eq!(turn.to_vec(&x, &shape).unwrap(), wanted);
    assert_eq!(turn.to_vec_of(&x, &shape).unwrap(), wanted);
    assert_eq!(turn.to_cow(&x, &shape).unwrap(), &wanted[..]);
    let view = TensorRef::from_slice(&x, &shape).unwrap();
    assert_eq!(turn.to_bytes(&view).unwrap(), wanted);
    let mut out = [0; 6];
    turn.apply(&x, &mut out, &shape).unwrap();
    assert_eq!(out, wanted);
    turn.apply_view(&view, &mut TensorMut::from_slice(&mut out, &[3, 2]).unwrap()).unwrap();
    assert_eq!(out, wanted);
    // A transpose keeps the order along each axis, but moves elements, unless one axis has all.
    let transpose = Orient::new(Transpose);
    assert!(matches!(transpose.to_cow(&x, &[2, 3]).unwrap(), Cow::Owned(_)));
    assert!(matches!(transpose.to_cow(&x, &[1, 6]).unwrap(), Cow::Borrowed(_)));
    let mut words = ["a", "b", "c", "d"].map(String::from);
    Orient::new(Rot180).in_place(&mut words, &[2, 2]).unwrap();
    assert_eq!(words, ["d", "c", "b", "a"]);
}

#[test]
fn inverses_undo() {
    let x: Vec<u16> = (0..60).collect();
    for orientation in Orientation::ALL {
        let turn = Orient::new(orientation).axes(2, 0);
        let there = turn.to_vec(&x, &[3, 4, 5]).unwrap();
        let shape = turn.output_shape(&[3, 4, 5]).unwrap();
        let back = Orient::new(orientation.inverse()).axes(2, 0);
        assert_eq!(back.to_vec(&there, &shape).unwrap(), x, "{orientation}");
    }
}

/// Compares a batch with its images, one by one.
fn check(each: &[Orientation], dtype: DType, image: &[usize], batch_axis: usize, axes: [usize; 2]) {
    let mut shape = image.to_vec();
    shape.insert(batch_axis, each.len());
    let src = Layout::dense(dtype, &shape).unwrap();
    let operator = OrientEach::new(each.iter().copied())
        .batch_axis(batch_axis as i64)
        .axes(axes[0] as i64, axes[1] as i64);
    let dst = Layout::dense(dtype, &operator.output_shape(&shape).unwrap()).unwrap();
    let x: Vec<u8> = (0..src.byte_len()).map(|at| (at * 7 + at / 256) as u8).collect();
    let (mut got, mut wanted) = (vec![0u8; x.len()], vec![0u8; x.len()]);
    let from = TensorRef::new(src.clone(), &x[..]).unwrap();
    operator.apply_view(&from, &mut TensorMut::new(dst.clone(), &mut got[..]).unwrap()).unwrap();
    for (at, &orientation) in each.iter().enumerate() {
        let one = |layout: &Layout| layout.sliced(batch_axis, at, 1, 1).unwrap();
        let alone = Orient::new(orientation).axes(axes[0] as i64, axes[1] as i64);
        let from = TensorRef::new(one(&src), &x[..]).unwrap();
        alone.apply_view(&from, &mut TensorMut::new(one(&dst), &mut wanted[..]).unwrap()).unwrap();
    }
    // Only of whole tensors are the unused bits of the last byte cleared.
    let bits = dst.len() * dtype.bits().unwrap();
    if let (Some(last), spare @ 1..) = (wanted.last_mut(), bits.next_multiple_of(8) - bits) {
        *last &= 0xFF >> spare;
        *got.last_mut().unwrap() &= 0xFF >> spare;
    }
    assert!(got == wanted, "{each:?} of {dtype} {shape:?}");
}

#[test]
fn batches_are_their_images() {
    let flat = [Identity, FlipUd, Rot180, FlipUd];
    let tall = [Rot90, Transverse, Rot270, Transpose, Transpose];
    for threads in [1, 3] {
        cpu::with_threads(threads, || {
            let all = [DType::U8, DType::F16, DType::Bytes(3), DType::C128, DType::U4, DType::U1];
            for dtype in all.into_iter().step_by(if cfg!(miri) { 4 } else { 1 }) {
                for each in [&flat[..], &tall, &[]] {
                    check(each, dtype, &[3, 5], 0, [1, 2]);
                    check(each, dtype, &[3, 5, 2], 3, [0, 1]);
                    check(each, dtype, &[3, 5, 2], 1, [3, 0]);
                }
                check(&Orientation::ALL, dtype, &[7, 7], 1, [0, 2]);
            }
            // Large enough for several threads: more images than threads, and fewer.
            if !cfg!(miri) {
                check(&[Rot90, FlipUd].repeat(20), DType::Bytes(3), &[110, 110], 0, [1, 2]);
                check(&[Rot90, FlipUd], DType::F32, &[600, 600], 0, [1, 2]);
            }
        });
    }
}
