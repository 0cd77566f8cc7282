//! candle: `flip`, which is an `index_select`.

use crate::cases::{Job, Reversed, bytes_of};
use crate::{Offer, Wanted};
use candle_core::{Device, Tensor};
use retrograde_bench::call::Failure;
use std::hint::black_box;

pub(crate) fn offers(job: &Job) -> Result<Vec<Offer<'_>>, Failure> {
    let Reversed::Axis(axis) = job.case.reversed else { return Ok(Vec::new()) };
    let shape = &job.case.shape[..];
    let x = match job.floats() {
        Some(numbers) => Tensor::from_vec(numbers, shape, &Device::Cpu)?,
        None => Tensor::from_slice(&job.src, shape, &Device::Cpu)?,
    };
    let is_float = job.floats().is_some();
    let work = move |wanted: Wanted| {
        let y = black_box(black_box(&x).flip(&[axis])?);
        Ok(match (wanted, is_float) {
            (Wanted::Nothing, _) => None,
            (Wanted::Bytes, true) => Some(bytes_of(&y.flatten_all()?.to_vec1()?)),
            (Wanted::Bytes, false) => Some(y.flatten_all()?.to_vec1()?),
        })
    };
    Ok(vec![Offer { name: "candle fresh", against: "memcpy fresh", work: Box::new(work) }])
}
