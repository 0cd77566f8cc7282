//! A word of host memory that tells, without waiting, that a kernel has found an invalid length.

use crate::error::{Error, WithOperation};
use cudarc::driver::{result, sys};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU32, Ordering};

/// A word of host memory that kernels set when a report gets an error.
#[derive(Debug)]
pub(crate) struct Alarm {
    word: NonNull<u32>,
    /// Where the device sees it.
    address: u64,
}

impl Alarm {
    /// Allocates one that is not set. A context is current.
    pub(crate) fn allocate() -> Result<Self, Error> {
        let flags = sys::CU_MEMHOSTALLOC_PORTABLE | sys::CU_MEMHOSTALLOC_DEVICEMAP;
        // SAFETY: filled right below; freed in `free`.
        let word = unsafe { result::malloc_host(size_of::<u32>(), flags) }
            .with_operation("allocate pinned host memory")?;
        let Some(word) = NonNull::new(word.cast::<u32>()) else {
            let (what, reason) = ("allocate pinned host memory", "it is null".to_owned());
            return Err(Error::Driver { what, reason });
        };
        let mut address = 0;
        // SAFETY: just allocated for one word, and mapped.
        unsafe {
            word.write(0);
            sys::cuMemHostGetDevicePointer_v2(&mut address, word.as_ptr().cast(), 0)
        }
        .result()
        .with_operation("map host memory")?;
        Ok(Alarm { word, address })
    }

    /// Its address on the device.
    pub(crate) fn address(&self) -> u64 {
        self.address
    }

    fn word(&self) -> &AtomicU32 {
        // SAFETY: allocated in `allocate`, aligned to a page, and alive until `free`. The host
        // accesses it only in this way.
        unsafe { AtomicU32::from_ptr(self.word.as_ptr()) }
    }

    pub(crate) fn is_set(&self) -> bool {
        self.word().load(Ordering::Acquire) != 0
    }

    pub(crate) fn set(&self, to: bool) {
        self.word().store(u32::from(to), Ordering::Release);
    }

    /// Frees the memory.
    ///
    /// # Safety
    /// It is not used again, by kernels neither, and the context is current.
    pub(crate) unsafe fn free(&self) {
        // SAFETY: allocated in `allocate`; not used again, as required.
        let _ = unsafe { result::free_host(self.word.as_ptr().cast()) };
    }
}
