//! burn on its ndarray backend: `flip` and `into_data`.
//!
//! `flip` alone copies the memory unchanged and negates strides; only the result of `into_data` is
//! actually reversed.

use crate::cases::{Job, Reversed, bytes_of};
use crate::{Offer, Wanted};
use burn::tensor::{Tensor, TensorData};
use std::hint::black_box;

pub(crate) fn offers(job: &Job) -> Vec<Offer<'_>> {
    let (Reversed::Axis(axis), Some(numbers)) = (job.case.reversed, job.floats()) else {
        return Vec::new();
    };
    let &[rows, columns] = &job.case.shape[..] else { return Vec::new() };
    let device = Default::default();
    let x = Tensor::<2>::from_data(TensorData::new(numbers, [rows, columns]), &device);
    let work = move |wanted: Wanted| {
        let y = black_box(black_box(x.clone()).flip([axis]).into_data());
        match wanted {
            Wanted::Nothing => Ok(None),
            Wanted::Bytes => {
                let numbers = y.try_to_vec::<f32>().map_err(|error| format!("burn: {error:?}"))?;
                Ok(Some(bytes_of(&numbers)))
            }
        }
    };
    vec![Offer { name: "burn fresh", against: "memcpy fresh", work: Box::new(work) }]
}
