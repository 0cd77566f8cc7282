//! The results of checks of lengths and offsets on the device, for the host to read later.

use crate::filled::filled;
use crate::findings::clear_reports;

/// Reports of invalid lengths and offsets, in device memory.
///
/// Every [`Gpu`](crate::Gpu) has one. To find out which of many calls had an invalid length, give each its own
/// ([`Gpu::reporting_to`](crate::Gpu::reporting_to)) and read them all at once.
#[derive(Debug)]
pub struct Reports {
    pub(crate) buffer: wgpu::Buffer,
    len: usize,
}

impl Reports {
    pub(crate) fn on(device: &wgpu::Device, len: usize) -> Self {
        let buffer = filled(
            device,
            "retrograde: reports",
            bytemuck::cast_slice(&clear_reports(len.max(1))),
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
