//! Buffers for the measurement, with all pages touched before timing starts.

use anyhow::{Result, anyhow};

/// An input, an output, and a tensor to reverse in place.
#[derive(Debug)]
pub(super) struct Buffers {
    pub(super) src: Vec<u8>,
    pub(super) dst: Vec<u8>,
    pub(super) work: Vec<u8>,
}

impl Buffers {
    pub(super) fn new(len: usize) -> Result<Buffers> {
        Ok(Buffers { src: filled(len, 1)?, dst: filled(len, 2)?, work: filled(len, 3)? })
    }
}

/// Not zeros: zeroed pages may share one physical page until they are written.
pub(super) fn filled(len: usize, value: u8) -> Result<Vec<u8>> {
    let mut buffer = Vec::new();
    buffer.try_reserve_exact(len).map_err(|error| anyhow!("{len} bytes of memory: {error}"))?;
    buffer.resize(len, value);
    Ok(buffer)
}
