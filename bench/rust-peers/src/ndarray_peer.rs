//! ndarray: a view with the axis inverted, assigned to an array or copied to a new one.
//!
//! `to_owned` would keep the view's negative strides and copy the memory unchanged; the other peers
//! return the standard layout.

use crate::cases::{Job, Reversed, bytes_of};
use crate::{Offer, Wanted};
use ndarray::{ArrayD, ArrayView, ArrayViewD, ArrayViewMutD, Axis, Dimension, Slice};
use retrograde::DType;
use std::hint::black_box;

pub(crate) fn offers(job: &Job) -> Vec<Offer<'_>> {
    let shape = job.case.shape.clone();
    let fits = "the job has as many elements as its shape says";
    match (job.case.dtype, job.floats()) {
        (_, Some(numbers)) => {
            of(ArrayD::from_shape_vec(shape, numbers).expect(fits), job, bytes_of)
        }
        (DType::U8, _) => {
            of(ArrayD::from_shape_vec(shape, job.src.clone()).expect(fits), job, <[u8]>::to_vec)
        }
        _ => Vec::new(),
    }
}

fn of<T: Copy + Default + 'static>(
    x: ArrayD<T>,
    job: &Job,
    bytes: fn(&[T]) -> Vec<u8>,
) -> Vec<Offer<'_>> {
    let mut out = ArrayD::<T>::default(x.raw_dim());
    out.fill(x.iter().copied().next().unwrap_or_default());
    let of_array = move |array: &ArrayD<T>| bytes(array.as_slice().expect("the standard layout"));
    match job.case.reversed {
        Reversed::Axis(axis) => {
            let again = x.clone();
            let assign = move |wanted: Wanted| {
                out.assign(&inverted(black_box(&again).view(), axis));
                Ok(wanted.then(|| of_array(&out)))
            };
            let copy = move |wanted: Wanted| {
                let view = inverted(black_box(&x).view(), axis);
                let new = black_box(view.as_standard_layout().into_owned());
                Ok(wanted.then(|| of_array(&new)))
            };
            vec![
                Offer { name: "ndarray assign", against: "memcpy", work: Box::new(assign) },
                Offer { name: "ndarray fresh", against: "memcpy fresh", work: Box::new(copy) },
            ]
        }
        Reversed::Time(time) => {
            let lengths = &job.lengths[..];
            let work = move |wanted: Wanted| {
                sequences(black_box(x.view()), out.view_mut(), lengths, time);
                Ok(wanted.then(|| of_array(&out)))
            };
            vec![Offer { name: "ndarray loop", against: "memcpy", work: Box::new(work) }]
        }
    }
}

fn inverted<T, D: Dimension>(mut view: ArrayView<'_, T, D>, axis: usize) -> ArrayView<'_, T, D> {
    view.invert_axis(Axis(axis));
    view
}

/// Sequence by sequence: its first steps reversed, then its padding.
fn sequences<T: Copy>(
    x: ArrayViewD<'_, T>,
    mut out: ArrayViewMutD<'_, T>,
    lengths: &[i64],
    time: usize,
) {
    // Without the batch axis, time is the first one.
    let along = Axis(0);
    for (entry, &length) in lengths.iter().enumerate() {
        let from = x.index_axis(Axis(1 - time), entry);
        let mut to = out.index_axis_mut(Axis(1 - time), entry);
        let length = length as usize;
        let start = inverted(from.slice_axis(along, Slice::from(..length)), 0);
        to.slice_axis_mut(along, Slice::from(..length)).assign(&start);
        let padding = from.slice_axis(along, Slice::from(length..));
        to.slice_axis_mut(along, Slice::from(length..)).assign(&padding);
    }
}
