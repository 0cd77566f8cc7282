//! `reverse-complement`: what it asks of a tensor.

use anyhow::{Result, bail};
use retrograde::{DType, Layout};

/// Checks the type of the tensor and the axis.
pub(super) fn check(axis: i64, input: &Layout) -> Result<()> {
    let (rank, dtype) = (input.rank(), input.dtype());
    if !matches!(dtype, DType::U8 | DType::I8 | DType::Bytes(1)) {
        bail!(
            "reverse-complement: the input has type {dtype}, expected letters of one byte (u8, i8, S1): \
             save wider strings as S1 with one more axis"
        );
    }
    if rank == 0 {
        bail!("reverse-complement: axis is {axis}, but a scalar (rank 0) has no axes");
    }
    let bound = rank as i64;
    if !(-bound..bound).contains(&axis) {
        let last = bound - 1;
        bail!(
            "reverse-complement: axis is {axis}, outside [-{rank}, {last}] for a tensor of rank {rank}"
        );
    }
    Ok(())
}
