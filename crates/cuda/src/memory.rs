//! Device memory: owned, or a view of foreign memory.

use crate::device::Cuda;
use crate::error::{Error, WithOperation};
use cudarc::driver::result;
use retrograde::{DType, LengthsMemory};
use std::marker::PhantomData;

/// Bytes on a device, freed on drop.
#[derive(Debug)]
pub struct DeviceBuffer {
    cuda: Cuda,
    address: u64,
    len: usize,
}

impl DeviceBuffer {
    /// Allocates this many uninitialised bytes.
    pub fn allocate(cuda: &Cuda, len: usize) -> Result<Self, Error> {
        let _current = cuda.current()?;
        // SAFETY: the address is only passed to kernels and copies, which write before they read or
        // accept any value. The driver does not accept size 0.
        let address =
            unsafe { result::malloc_sync(len.max(1)) }.with_operation("allocate memory")?;
        Ok(DeviceBuffer { cuda: cuda.clone(), address, len })
    }

    /// A copy of the host's bytes.
    pub fn from_host(cuda: &Cuda, bytes: &[u8]) -> Result<Self, Error> {
        let mut buffer = Self::allocate(cuda, bytes.len())?;
        buffer.write(0, bytes)?;
        Ok(buffer)
    }

    /// Overwrites bytes from `offset` on with the host's; waits for completion.
    ///
    /// # Panics
    /// If they do not fit.
    pub fn write(&mut self, offset: usize, bytes: &[u8]) -> Result<(), Error> {
        assert!(offset <= self.len && bytes.len() <= self.len - offset, "outside the buffer");
        let _current = self.cuda.current()?;
        // SAFETY: inside the buffer, as just checked.
        unsafe { copy_to_device(self.address + offset as u64, bytes) }
    }

    /// Copies bytes from `offset` on to the host, and waits for that, but not for work on streams.
    ///
    /// # Panics
    /// If they are outside the buffer.
    pub fn read(&self, offset: usize, bytes: &mut [u8]) -> Result<(), Error> {
        assert!(offset <= self.len && bytes.len() <= self.len - offset, "outside the buffer");
        let _current = self.cuda.current()?;
        // SAFETY: inside the buffer, as just checked.
        unsafe { result::memcpy_dtoh_sync(bytes, self.address + offset as u64) }
            .with_operation("copy from the device")
    }

    /// All bytes, copied to the host. Does not wait for work on streams.
    pub fn to_vec(&self) -> Result<Vec<u8>, Error> {
        let mut bytes = vec![0; self.len];
        self.read(0, &mut bytes)?;
        Ok(bytes)
    }

    /// Its device.
    pub fn cuda(&self) -> &Cuda {
        &self.cuda
    }

    /// Address on the device.
    pub fn address(&self) -> u64 {
        self.address
    }

    /// Number of bytes.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The buffer as the input of a plan.
    pub fn view(&self) -> DeviceRef<'_> {
        DeviceRef { address: self.address, len: self.len, lifetime: PhantomData }
    }

    /// The buffer as the output of a plan.
    pub fn view_mut(&mut self) -> DeviceMut<'_> {
        DeviceMut { address: self.address, len: self.len, lifetime: PhantomData }
    }
}

/// Copies to the device and waits until the data has arrived: the driver's call waits only until
/// the host memory has been read, and streams other than the default one would not wait.
///
/// # Safety
/// The device has room for the data at `address`, and its context is current.
pub(crate) unsafe fn copy_to_device<T>(address: u64, data: &[T]) -> Result<(), Error> {
    // SAFETY: the device has room at `address`, as required; the default stream always exists.
    unsafe {
        result::memcpy_htod_sync(address, data).with_operation("copy to the device")?;
        result::stream::synchronize(result::stream::null()).with_operation("finish its work")
    }
}

impl Drop for DeviceBuffer {
    fn drop(&mut self) {
        if let Ok(_current) = self.cuda.current() {
            // SAFETY: allocated in `allocate`, freed once. The driver waits for work that still
            // uses it. An error at process exit means that the memory is already gone.
            let _ = unsafe { result::free_sync(self.address) };
        }
    }
}

/// Readable device memory.
#[derive(Debug, Clone, Copy)]
pub struct DeviceRef<'a> {
    pub(crate) address: u64,
    pub(crate) len: usize,
    lifetime: PhantomData<&'a ()>,
}

/// Writable device memory.
#[derive(Debug)]
pub struct DeviceMut<'a> {
    pub(crate) address: u64,
    pub(crate) len: usize,
    lifetime: PhantomData<&'a mut ()>,
}

impl DeviceRef<'_> {
    /// Memory behind a foreign device pointer.
    ///
    /// # Safety
    /// `len` bytes from `address` on can be read by the device until everything that was given
    /// this view has finished on its stream.
    pub unsafe fn from_raw(address: u64, len: usize) -> Self {
        DeviceRef { address, len, lifetime: PhantomData }
    }
}

impl DeviceMut<'_> {
    /// Memory behind a foreign device pointer.
    ///
    /// # Safety
    /// `len` bytes from `address` on can be read and written by the device until everything that
    /// was given this view has finished on its stream, and nothing else on any stream uses them
    /// meanwhile without waiting.
    pub unsafe fn from_raw(address: u64, len: usize) -> Self {
        DeviceMut { address, len, lifetime: PhantomData }
    }
}

/// The lengths of a plan, on the device or the host, with their type: one that the plan was not made
/// for is refused.
#[derive(Debug, Clone, Copy)]
pub enum CudaLengths<'a> {
    /// On the device. They are checked there, asynchronously (see
    /// [`Stream::check`](crate::Stream::check)).
    Device(DType, DeviceRef<'a>),
    /// On the host. They are checked before anything is launched, and copied.
    Host(LengthsMemory<'a>),
}

impl CudaLengths<'_> {
    /// Their type and number of bytes.
    pub(crate) fn size(&self) -> (DType, usize) {
        match self {
            CudaLengths::Device(dtype, view) => (*dtype, view.len),
            CudaLengths::Host(lengths) => (lengths.dtype(), lengths.memory().len()),
        }
    }
}

impl<'a> From<(DType, DeviceRef<'a>)> for CudaLengths<'a> {
    fn from((dtype, lengths): (DType, DeviceRef<'a>)) -> Self {
        CudaLengths::Device(dtype, lengths)
    }
}

impl<'a> From<LengthsMemory<'a>> for CudaLengths<'a> {
    fn from(lengths: LengthsMemory<'a>) -> Self {
        CudaLengths::Host(lengths)
    }
}
