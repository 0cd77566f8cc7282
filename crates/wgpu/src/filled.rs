//! A new buffer with given content.

/// A buffer that starts with these bytes.
pub(crate) fn filled(
    device: &wgpu::Device,
    label: &str,
    bytes: &[u8],
    usage: wgpu::BufferUsages,
) -> wgpu::Buffer {
    let buffer = device.create_buffer(&wgpu::BufferDescriptor {
        label: Some(label),
        size: (bytes.len() as u64).next_multiple_of(4).max(16),
        usage,
        mapped_at_creation: true,
    });
    // It was made for this, so it is mapped.
    if let Ok(mut mapped) = buffer.get_mapped_range_mut(..) {
        mapped.slice(..bytes.len()).copy_from_slice(bytes);
    }
    buffer.unmap();
    buffer
}
