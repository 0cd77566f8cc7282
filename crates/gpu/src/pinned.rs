//! Host memory that a device copies from and to by itself, while the host does other things.

use crate::device::Cuda;
use crate::error::{Asked, Error};
use crate::memory::DeviceBuffer;
use crate::stream::Stream;
use cudarc::driver::{result, sys};

/// Bytes of the host that stay where they are.
#[derive(Debug)]
pub(crate) struct Pinned {
    cuda: Cuda,
    start: *mut u8,
    len: usize,
}

impl Pinned {
    /// So many bytes, all zero.
    pub(crate) fn allocate(cuda: &Cuda, len: usize) -> Result<Self, Error> {
        let _current = cuda.current()?;
        // SAFETY: filled right below; freed in `drop`. The driver does not take 0.
        let start = unsafe { result::malloc_host(len.max(1), 0) }
            .asked("allocate memory of the host")?
            .cast::<u8>();
        // SAFETY: just allocated for as many.
        unsafe { start.write_bytes(0, len) };
        Ok(Pinned { cuda: cuda.clone(), start, len })
    }

    /// The bytes. No copy may be under way.
    pub(crate) fn bytes(&mut self) -> &mut [u8] {
        // SAFETY: allocated and filled in `allocate`, and borrowed as `self` is. Those who let the
        // device copy promise to wait for it.
        unsafe { std::slice::from_raw_parts_mut(self.start, self.len) }
    }

    /// Lets the device copy the first `len` bytes to its own memory, from `offset` on.
    ///
    /// # Safety
    /// Both memories live, and neither is used but by this stream, until that is synchronized.
    ///
    /// # Panics
    /// If they are not as many on both sides.
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
        // SAFETY: inside both memories, as was just checked; for the rest, the caller's promise.
        unsafe { result::memcpy_htod_async(address, bytes, raw) }.asked("copy to the device")
    }

    /// Lets the device copy `len` bytes of its own memory, from `offset` on, to the first ones.
    ///
    /// # Safety
    /// As that of [`send`](Self::send).
    ///
    /// # Panics
    /// As there.
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
        // SAFETY: inside both memories, as was just checked; for the rest, the caller's promise.
        unsafe { result::memcpy_dtoh_async(bytes, address, raw) }.asked("copy from the device")
    }
}

impl Drop for Pinned {
    fn drop(&mut self) {
        if let Ok(_current) = self.cuda.current() {
            // SAFETY: allocated in `allocate`, freed once; nothing is under way, as was promised.
            let _ = unsafe { result::free_host(self.start.cast()) };
        }
    }
}
