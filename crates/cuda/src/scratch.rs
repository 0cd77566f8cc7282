//! Scratch memory: a pool of the device from which streams allocate, in their order.

use crate::error::{Error, WithOperation};
use cudarc::driver::sys;

/// The most scratch memory of a call, in bytes. The pool keeps as much for the next one: without
/// that, each call maps its memory anew, which takes as long as copying it.
pub(crate) const MOST_SCRATCH: u64 = 128 << 20;

/// A memory pool of our own: the default one belongs to everyone in the process.
#[derive(Debug)]
pub(crate) struct ScratchPool(sys::CUmemoryPool);

// SAFETY: the driver's handle may be used from any thread.
unsafe impl Send for ScratchPool {}
// SAFETY: as above; the driver locks it.
unsafe impl Sync for ScratchPool {}

/// `CUmemPoolProps`, the declaration of which differs between versions in what is zero here.
#[repr(C)]
struct Properties {
    alloc_type: u32,
    handle_types: u32,
    location_type: u32,
    location: u32,
    rest: [u64; 9],
}

/// `CU_MEM_ALLOCATION_TYPE_PINNED` and `CU_MEM_LOCATION_TYPE_DEVICE`.
const PINNED: u32 = 1;
const DEVICE: u32 = 1;
const _: () = assert!(size_of::<Properties>() == size_of::<sys::CUmemPoolProps>());

impl ScratchPool {
    /// For the device with this number. Its context is current.
    pub(crate) fn new(ordinal: usize) -> Result<Self, Error> {
        let properties = Properties {
            alloc_type: PINNED,
            handle_types: 0,
            location_type: DEVICE,
            location: ordinal as u32,
            rest: [0; 9],
        };
        let mut pool = std::ptr::null_mut();
        // SAFETY: the struct has the layout of the driver's, which it reads during the call.
        unsafe { sys::cuMemPoolCreate(&mut pool, (&raw const properties).cast()) }
            .result()
            .with_operation("create a memory pool")?;
        let pool = ScratchPool(pool);
        let threshold = sys::CUmemPool_attribute::CU_MEMPOOL_ATTR_RELEASE_THRESHOLD;
        let mut kept = MOST_SCRATCH;
        // SAFETY: the pool was just created; the driver reads one 64-bit number.
        unsafe { sys::cuMemPoolSetAttribute(pool.0, threshold, (&raw mut kept).cast()) }
            .result()
            .with_operation("set up a memory pool")?;
        Ok(pool)
    }

    /// The address of so many bytes, which are allocated in the order of a stream and freed with
    /// `free_async`.
    ///
    /// # Safety
    /// The stream is alive, and its context is current.
    pub(crate) unsafe fn allocate(&self, len: usize, on: sys::CUstream) -> Result<u64, Error> {
        let mut address = 0;
        // SAFETY: the pool is alive, and the caller promises the stream.
        unsafe { sys::cuMemAllocFromPoolAsync(&mut address, len, self.0, on) }
            .result()
            .with_operation("allocate scratch memory")?;
        Ok(address)
    }
}

impl Drop for ScratchPool {
    fn drop(&mut self) {
        // SAFETY: created in `new`, destroyed once. The driver keeps it until everything that was
        // allocated from it has been freed. An error cannot be returned from here.
        let _ = unsafe { sys::cuMemPoolDestroy(self.0) };
    }
}
