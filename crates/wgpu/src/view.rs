//! Views of buffers: what a plan reads and writes.

use crate::error::Error;
use retrograde::{DType, LengthsMemory};
use std::ops::Range;

/// Bytes of a buffer, from any byte on.
#[derive(Debug, Clone, Copy)]
pub struct View<'a> {
    pub(crate) buffer: &'a wgpu::Buffer,
    pub(crate) offset: u64,
    pub(crate) len: u64,
}

impl<'a> View<'a> {
    /// `len` bytes from `offset` on. Whether they are inside the buffer is checked when a plan runs.
    pub fn new(buffer: &'a wgpu::Buffer, offset: u64, len: u64) -> Self {
        View { buffer, offset, len }
    }

    /// The whole buffer.
    pub fn whole(buffer: &'a wgpu::Buffer) -> Self {
        View { buffer, offset: 0, len: buffer.size() }
    }

    /// Checks what does not depend on a plan; `name` is for errors.
    pub(crate) fn check(&self, name: &'static str) -> Result<(), Error> {
        let (size, usage) = (self.buffer.size(), self.buffer.usage());
        let end = self.offset.saturating_add(self.len);
        if end > size {
            return Err(Error::OutsideBuffer { view: name, start: self.offset, end, size });
        }
        if !size.is_multiple_of(4) && end > size / 4 * 4 {
            return Err(Error::NotWords { view: name, size });
        }
        self.need(name, wgpu::BufferUsages::STORAGE, usage)
    }

    /// Whether the buffer can be copied from.
    pub(crate) fn check_copy(&self, name: &'static str) -> Result<(), Error> {
        self.need(name, wgpu::BufferUsages::COPY_SRC, self.buffer.usage())
    }

    fn need(
        &self,
        view: &'static str,
        needed: wgpu::BufferUsages,
        usage: wgpu::BufferUsages,
    ) -> Result<(), Error> {
        if usage.contains(needed) {
            return Ok(());
        }
        Err(Error::Usage { view, needed: format!("{needed:?}"), usage: format!("{usage:?}") })
    }

    /// The bytes of the buffer that a range of the view is.
    pub(crate) fn bytes(&self, range: Range<u64>) -> Range<u64> {
        self.offset + range.start..self.offset + range.end
    }

    /// As if its buffer were all memory, for checks of overlap; [`check`](Self::check) has passed.
    pub(crate) fn address(&self) -> usize {
        usize::try_from(self.offset).unwrap_or(usize::MAX)
    }

    /// Its length, as plans count.
    pub(crate) fn size(&self) -> usize {
        usize::try_from(self.len).unwrap_or(usize::MAX)
    }
}

impl<'a> From<&'a wgpu::Buffer> for View<'a> {
    fn from(buffer: &'a wgpu::Buffer) -> Self {
        View::whole(buffer)
    }
}

/// The lengths of a plan, on the device or the host, with their type: one that the plan was not made
/// for is refused.
#[derive(Debug, Clone, Copy)]
pub enum GpuLengths<'a> {
    /// On the device. They are checked there (see [`Gpu::check`](crate::Gpu::check)).
    Device(DType, View<'a>),
    /// On the host. They are checked before anything is submitted, and copied.
    Host(LengthsMemory<'a>),
}

impl GpuLengths<'_> {
    /// Their type and number of bytes.
    pub(crate) fn size(&self) -> (DType, usize) {
        match self {
            GpuLengths::Device(dtype, view) => (*dtype, view.size()),
            GpuLengths::Host(lengths) => (lengths.dtype(), lengths.memory().len()),
        }
    }
}

impl<'a> From<(DType, View<'a>)> for GpuLengths<'a> {
    fn from((dtype, lengths): (DType, View<'a>)) -> Self {
        GpuLengths::Device(dtype, lengths)
    }
}

impl<'a> From<LengthsMemory<'a>> for GpuLengths<'a> {
    fn from(lengths: LengthsMemory<'a>) -> Self {
        GpuLengths::Host(lengths)
    }
}
