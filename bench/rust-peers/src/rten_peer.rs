//! rten, a Rust runtime that supports ONNX ReverseSequence.

use crate::cases::{Job, Reversed, bytes_of};
use crate::{Offer, Wanted, onnx};
use retrograde_bench::call::Failure;
use rten::{Model, Value};
use rten_tensor::prelude::*;
use rten_tensor::{NdTensor, Tensor};
use std::hint::black_box;

pub(crate) fn offers(job: &Job) -> Result<Vec<Offer<'_>>, Failure> {
    let (Reversed::Time(time), Some(numbers)) = (job.case.reversed, job.floats()) else {
        return Ok(Vec::new());
    };
    let model = Model::load(onnx::reverse_sequence(time, job.case.shape.len()))?;
    let (x_id, lengths_id, y_id) =
        (model.node_id("x")?, model.node_id("lengths")?, model.node_id("y")?);
    let x = Tensor::from_data(&job.case.shape[..], numbers);
    // It has no 64-bit integers and uses 32-bit ones instead.
    let lengths: Vec<i32> = job.lengths.iter().map(|&length| length as i32).collect();
    let lengths = NdTensor::from_data([lengths.len()], lengths);
    let work = move |wanted: Wanted| {
        let inputs = vec![(x_id, black_box(x.view()).into()), (lengths_id, lengths.view().into())];
        let [y] = model.run_n(inputs, [y_id], None)?;
        match (wanted, y) {
            (Wanted::Nothing, _) => Ok(None),
            (Wanted::Bytes, Value::FloatTensor(y)) => Ok(Some(bytes_of(&y.to_vec()))),
            (Wanted::Bytes, _) => Err("rten gave something else than floats".into()),
        }
    };
    Ok(vec![Offer { name: "rten fresh", against: "memcpy fresh", work: Box::new(work) }])
}
