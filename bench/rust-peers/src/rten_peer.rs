//! rten, a Rust runtime that supports ONNX ReverseSequence.

use crate::cases::{Job, Reversed, bytes_of};
use crate::{Offer, Wanted};
use retrograde_bench::call::Failure;
use retrograde_kit::lower::{Chain, Dim, Language, Lengths, Operand, Options, Step, lower};
use retrograde_truth::types::of;
use rten::{Model, Value};
use rten_tensor::prelude::*;
use rten_tensor::{NdTensor, Tensor};
use std::hint::black_box;

pub(crate) fn offers(job: &Job) -> Result<Vec<Offer<'_>>, Failure> {
    let (Reversed::Time(time), Some(numbers)) = (job.case.reversed, job.floats()) else {
        return Ok(Vec::new());
    };
    let model = Model::load(model(time, job.case.shape.len())?)?;
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

/// A model of one ReverseSequence of floats of this rank, with free sizes.
fn model(time: usize, rank: usize) -> Result<Vec<u8>, Failure> {
    let operand = |name: &str, dtype, rank| {
        let dims = vec![Dim::Open(None); rank];
        Operand { name: name.to_owned(), dtype: of(dtype), dims }
    };
    let chain = Chain {
        input: operand("x", "f32", rank),
        lengths: vec![operand("lengths", "i64", 1)],
        steps: vec![Step::Sequence { time, batch: 1 - time, lengths: Lengths::Input(0) }],
        output: "y".to_owned(),
    };
    let files = lower(&chain, Language::Onnx, Options { opset: 17, trust_lengths: true });
    let mut files = files.map_err(|refused| refused.to_string())?;
    Ok(files.pop().map(|(_, model)| model).unwrap_or_default())
}
