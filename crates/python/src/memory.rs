//! Memory for outputs, and how much of it is kept.

use pyo3::exceptions::{PyMemoryError, PyValueError};
use pyo3::prelude::*;
use retrograde::cpu::{self, Block};

/// At least this many uninitialised bytes.
pub(crate) fn block(bytes: usize) -> PyResult<Block> {
    let too_large = || PyMemoryError::new_err(format!("no memory for {bytes} bytes of output"));
    Block::new(bytes).ok_or_else(too_large)
}

/// Sets how many bytes of freed memory are kept for the next large outputs; 0 keeps none, ``None`` restores
/// the default.
#[pyfunction]
#[pyo3(signature = (bytes, /))]
pub(crate) fn set_kept_memory(bytes: Option<i64>) -> PyResult<()> {
    let checked = |bytes: i64| {
        let negative = |_| PyValueError::new_err(format!("bytes is {bytes}, expected 0 or more"));
        usize::try_from(bytes).map_err(negative)
    };
    cpu::set_kept_memory(bytes.map(checked).transpose()?);
    Ok(())
}

/// The number of bytes kept for the next large outputs.
#[pyfunction]
pub(crate) fn kept_memory() -> usize {
    cpu::kept_memory()
}
