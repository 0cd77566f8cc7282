//! Pinned host memory, which a device copies from and to by DMA, asynchronously.

use crate::device::Cuda;
use crate::error::{Error, WithOperation};
use crate::memory::DeviceBuffer;
use crate::stream::Stream;
use cudarc::driver::{result, sys};

/// Page-locked bytes of the host.
#[derive(Debug)]
pub(crate) struct Pinned {
    cuda: Cuda,
    start: *mut u8,
    len: usize,
}

impl Pinned {
    /// Allocates this many bytes, all zero.
    pub(crate) fn allocate(cuda: &Cuda, len: usize) -> Result<Self, Error> {
        let _current = cuda.current()?;
        // SAFETY: filled right below; freed in `drop`. The driver does not accept size 0.
        let start = unsafe { result::malloc_host(len.max(1), 0) }
            .with_operation("allocate pinned host memory")?
            .cast::<u8>();
        // SAFETY: just allocated with this size.
        unsafe { start.write_bytes(0, len) };
        Ok(Pinned { cuda: cuda.clone(), start, len })
    }

    /// The bytes. No copy may be in flight.
    pub(crate) fn bytes(&mut self) -> &mut [u8] {
        // SAFETY: allocated and filled in `allocate`, and borrowed as `self` is. Callers of `send`
        // and `receive` promise to wait for the copies.
        unsafe { std::slice::from_raw_parts_mut(self.start, self.len) }
    }

    /// Starts a copy of the first `len` bytes to device memory, from `offset` on.
    ///
    /// # Safety
    /// Both buffers stay alive and are used by this stream only, until it is synchronized.
    ///
    /// # Panics
    /// If they do not fit in either buffer.
    pub(crate) unsafe fn send(
        &mut self,
        len: usize,
        to: &mut DeviceBuffer,
        offset: usize,
        stream: &Stream,
    ) -> Result<(), Error> {
        assert!(offset <= to.len() && len <= to.len() - offset, "outside the buffer");
        let (address, raw) = (to.address() + offset as u64, stream.handle() as sys::CUstream);
        let _current = self.cuda.current()?;
        let bytes = &self.bytes()[..len];
        // SAFETY: inside both buffers, as just checked; the caller promises the rest.
        unsafe { result::memcpy_htod_async(address, bytes, raw) }
            .with_operation("copy to the device")
    }

    /// Starts a copy of `len` bytes of device memory, from `offset` on, to the first bytes.
    ///
    /// # Safety
    /// As for [`send`](Self::send).
    ///
    /// # Panics
    /// As for [`send`](Self::send).
    pub(crate) unsafe fn receive(
        &mut self,
        len: usize,
        from: &DeviceBuffer,
        offset: usize,
        stream: &Stream,
    ) -> Result<(), Error> {
        assert!(offset <= from.len() && len <= from.len() - offset, "outside the buffer");
        let (address, raw) = (from.address() + offset as u64, stream.handle() as sys::CUstream);
        let _current = self.cuda.current()?;
        let bytes = &mut self.bytes()[..len];
        // SAFETY: inside both buffers, as just checked; the caller promises the rest.
        unsafe { result::memcpy_dtoh_async(bytes, address, raw) }
            .with_operation("copy from the device")
    }
}

impl Drop for Pinned {
    fn drop(&mut self) {
        if let Ok(_current) = self.cuda.current() {
            // SAFETY: allocated in `allocate`, freed once; no copy is in flight, as callers
            // promised.
            let _ = unsafe { result::free_host(self.start.cast()) };
        }
    }
}
