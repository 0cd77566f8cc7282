//! The results of checks of lengths and offsets on the device, for the host to read later.

use crate::filled::filled;
use crate::params::REPORT_WORDS;
use retrograde::ExecuteError;

/// Reports of invalid lengths and offsets, in device memory.
///
/// Every [`Gpu`](crate::Gpu) has one. To find out which of many calls had an invalid length, give each its own
/// ([`Gpu::reporting_to`](crate::Gpu::reporting_to)) and read them all at once.
#[derive(Debug)]
pub struct Reports {
    pub(crate) buffer: wgpu::Buffer,
    len: usize,
}

/// Where a report says which is the lowest invalid index so far: `LEAST` in `check.wgsl`.
const LEAST: usize = 7;
pub(crate) const WORDS: usize = REPORT_WORDS as usize;

impl Reports {
    pub(crate) fn on(device: &wgpu::Device, len: usize) -> Self {
        let buffer = filled(
            device,
            "retrograde: reports",
            bytemuck::cast_slice(&clear(len.max(1))),
            wgpu::BufferUsages::STORAGE
                | wgpu::BufferUsages::COPY_SRC
                | wgpu::BufferUsages::COPY_DST,
        );
        Reports { buffer, len }
    }

    /// How many.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }
}

pub(crate) fn clear(len: usize) -> Vec<u32> {
    let mut words = vec![0; len * WORDS];
    words.iter_mut().skip(LEAST).step_by(WORDS).for_each(|least| *least = u32::MAX);
    words
}

/// The error in a report; the words are those of `check.wgsl`.
pub(crate) fn error(words: &[u32]) -> Option<ExecuteError> {
    let &[_, failed, ordinal, low_word, high_word, limit, low, _, is_signed, is_offset, ..] = words
    else {
        return None;
    };
    let value = u64::from(high_word) << 32 | u64::from(low_word);
    let value = match is_signed {
        0 => i128::from(value),
        _ => i128::from(value as i64),
    };
    let (ordinal, limit, low) = (ordinal as usize, limit as usize, low as usize);
    let error = match is_offset {
        0 => ExecuteError::LengthOutOfRange { ordinal, value, limit },
        _ => ExecuteError::OffsetOutOfRange { ordinal, value, low, high: limit },
    };
    (failed != 0).then_some(error)
}
