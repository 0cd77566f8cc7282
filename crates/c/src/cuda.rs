//! Calls on pointers of CUDA devices. Without the feature `cuda` the functions exist, check their
//! handles, and say that this build cannot do it.

use crate::call::Call;
use crate::guard::guarded;
use crate::pointer::{handle, write};
use crate::status::{Failure, Status};
use std::ffi::c_void;

/// Where lengths are.
pub type Place = u32;

/// In memory of the host. They are checked before anything is launched, and copied.
pub const RETROGRADE_HOST: Place = 0;
/// On the device. They are checked there, and `retrograde_cuda_check` reports invalid ones.
pub const RETROGRADE_DEVICE: Place = 1;

/// How many CUDA devices there are. Without a driver or a device this is `RETROGRADE_NO_DEVICE`.
///
/// # Safety
/// `count` is null or can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn retrograde_cuda_device_count(count: *mut usize) -> Status {
    guarded(|| {
        // SAFETY: as the caller promises.
        unsafe { write(count, 0, "count")? };
        let found = device::count()?;
        // SAFETY: as the caller promises.
        unsafe { write(count, found, "count") }
    })
}

/// Runs a call on a CUDA device, asynchronously on a stream: a `CUstream` or `cudaStream_t` of the
/// device's primary context, or null for the default stream.
///
/// Addresses are those of the device. Errors that the host can see are returned, and nothing is
/// launched. If a length on the device is invalid, the output is unchanged and
/// `retrograde_cuda_check` reports it. If input and output are the same tensor, it runs in place.
/// With lengths on the device, and except for packed elements and tables in place, nothing is
/// allocated, so that a CUDA graph can capture the call; run one such call before.
///
/// # Safety
/// `call` is null or valid; `stream` is a stream of the device's primary context; buffers have as
/// many bytes as stated, until the stream has finished the call; host lengths until this returns.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn retrograde_run_cuda(
    call: *const Call,
    device: usize,
    stream: *mut c_void,
    input: *const c_void,
    input_bytes: usize,
    lengths: *const c_void,
    lengths_bytes: usize,
    lengths_place: Place,
    output: *mut c_void,
    output_bytes: usize,
) -> Status {
    let (input, lengths) = (Some((input, input_bytes)), (lengths, lengths_bytes, lengths_place));
    let how = How::default();
    // SAFETY: passed on.
    unsafe { run_on_device(call, device, stream, input, lengths, (output, output_bytes), how) }
}

/// Runs a call whose input and output have the same layout on one buffer of a CUDA device.
///
/// # Safety
/// As for `retrograde_run_cuda`, for `data` as for its output.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn retrograde_run_cuda_in_place(
    call: *const Call,
    device: usize,
    stream: *mut c_void,
    lengths: *const c_void,
    lengths_bytes: usize,
    lengths_place: Place,
    data: *mut c_void,
    data_bytes: usize,
) -> Status {
    let (lengths, data) = ((lengths, lengths_bytes, lengths_place), (data, data_bytes));
    // SAFETY: passed on.
    unsafe { run_on_device(call, device, stream, None, lengths, data, How::default()) }
}

/// As `retrograde_run_cuda`, to an output that is uninitialised: an invalid length on the device is
/// clamped, so that all of the output is written, and reported in the same way.
///
/// # Safety
/// As for `retrograde_run_cuda`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn retrograde_run_cuda_new(
    call: *const Call,
    device: usize,
    stream: *mut c_void,
    input: *const c_void,
    input_bytes: usize,
    lengths: *const c_void,
    lengths_bytes: usize,
    lengths_place: Place,
    output: *mut c_void,
    output_bytes: usize,
) -> Status {
    let (input, lengths) = (Some((input, input_bytes)), (lengths, lengths_bytes, lengths_place));
    let how = How { fresh: true, wait: false };
    // SAFETY: passed on.
    unsafe { run_on_device(call, device, stream, input, lengths, (output, output_bytes), how) }
}

/// How a call runs on a device.
#[derive(Debug, Clone, Copy, Default)]
pub struct How {
    /// The output is uninitialised: invalid lengths on the device are clamped.
    pub fresh: bool,
    /// The call waits for lengths on the device, unless a CUDA graph is being captured, and reports its
    /// own error.
    pub wait: bool,
}

/// `retrograde_run_cuda` for runtimes with settings of their own; without an input, in place.
///
/// # Safety
/// As for `retrograde_run_cuda`.
pub unsafe fn run_on_device(
    call: *const Call,
    device: usize,
    stream: *mut c_void,
    input: Option<(*const c_void, usize)>,
    (lengths, lengths_bytes, lengths_place): (*const c_void, usize, Place),
    (output, output_bytes): (*mut c_void, usize),
    how: How,
) -> Status {
    guarded(|| {
        // SAFETY: as the caller promises.
        let call = unsafe { handle(call)? };
        let name = if input.is_some() { "output" } else { "data" };
        let input = match input {
            Some((input, bytes)) => {
                Some((crate::pointer::buffer(input.cast_mut().cast(), bytes, "input")?, bytes))
            }
            None => None,
        };
        let output = (crate::pointer::buffer(output.cast(), output_bytes, name)?, output_bytes);
        let lengths =
            Lengths { address: lengths.cast(), bytes: lengths_bytes, place: lengths_place };
        lengths.check()?;
        // SAFETY: as the caller promises.
        unsafe { device::run(call, device, stream, input, lengths, output, how) }
    })
}

/// Reports an invalid length of an earlier call on the device that is known by now, once. It waits for
/// nothing, and finds nothing while a CUDA graph is being captured from the stream.
///
/// # Safety
/// `stream` is a stream of the device's primary context, or null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn retrograde_cuda_earlier(device: usize, stream: *mut c_void) -> Status {
    // SAFETY: as the caller promises.
    guarded(|| unsafe { device::earlier(device, stream) })
}

/// A device by its number, opened once in the process, with the reports of its streams.
#[cfg(feature = "cuda")]
pub fn opened(ordinal: usize) -> Result<retrograde_cuda::Cuda, retrograde_cuda::Error> {
    device::opened(ordinal)
}

/// Waits for everything on a stream, and reports the first invalid length of the calls on it since
/// the last check.
///
/// # Safety
/// `stream` is a stream of the device's primary context, or null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn retrograde_cuda_check(device: usize, stream: *mut c_void) -> Status {
    // SAFETY: as the caller promises.
    guarded(|| unsafe { device::check(device, stream) })
}

/// Lengths as they were passed.
#[derive(Clone, Copy)]
struct Lengths {
    address: *const u8,
    bytes: usize,
    place: Place,
}

impl Lengths {
    fn check(self) -> Result<(), Failure> {
        if !matches!(self.place, RETROGRADE_HOST | RETROGRADE_DEVICE) {
            let place = self.place;
            let text = format!("lengths_place is {place}, expected 0 (host) or 1 (device)");
            return Err(Failure::argument(text));
        }
        if self.bytes > 0 {
            crate::pointer::buffer(self.address.cast_mut(), self.bytes, "lengths")?;
        }
        Ok(())
    }
}

#[cfg(not(feature = "cuda"))]
mod device {
    use super::*;
    use crate::status::RETROGRADE_UNSUPPORTED;

    fn missing() -> Failure {
        let text = "this build of Retrograde has no CUDA: build it with the feature `cuda`";
        Failure::new(RETROGRADE_UNSUPPORTED, text)
    }

    pub(super) fn count() -> Result<usize, Failure> {
        Err(missing())
    }

    pub(super) unsafe fn run(
        _: &Call,
        _: usize,
        _: *mut c_void,
        _: Option<(*mut u8, usize)>,
        _: Lengths,
        _: (*mut u8, usize),
        _: How,
    ) -> Result<(), Failure> {
        Err(missing())
    }

    pub(super) unsafe fn earlier(_: usize, _: *mut c_void) -> Result<(), Failure> {
        Err(missing())
    }

    pub(super) unsafe fn check(_: usize, _: *mut c_void) -> Result<(), Failure> {
        Err(missing())
    }
}

#[cfg(feature = "cuda")]
mod device {
    use super::*;
    use crate::status::{RETROGRADE_CUDA_ERROR, RETROGRADE_NO_DEVICE};
    use retrograde_cuda::{Cuda, CudaLengths, DeviceMut, DeviceRef, Error, Stream};
    use std::sync::{Mutex, PoisonError};

    /// Devices opened so far, by number. Opening one loads the kernels.
    static DEVICES: Mutex<Vec<Option<Cuda>>> = Mutex::new(Vec::new());

    pub(super) fn count() -> Result<usize, Failure> {
        retrograde_cuda::device_count().map_err(failed)
    }

    /// A device, opened once in the process.
    pub(super) fn opened(ordinal: usize) -> Result<Cuda, Error> {
        let mut devices = DEVICES.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(Some(cuda)) = devices.get(ordinal) {
            return Ok(cuda.clone());
        }
        // This also checks the number.
        let cuda = Cuda::device(ordinal)?;
        if devices.len() <= ordinal {
            devices.resize_with(ordinal + 1, || None);
        }
        devices[ordinal] = Some(cuda.clone());
        Ok(cuda)
    }

    /// # Safety
    /// The stream belongs to the device's primary context.
    unsafe fn borrowed(device: usize, stream: *mut c_void) -> Result<Stream, Failure> {
        // SAFETY: as the caller promises.
        unsafe { opened(device).map_err(failed)?.borrow_stream(stream.addr()) }.map_err(failed)
    }

    /// # Safety
    /// As for `retrograde_run_cuda`.
    pub(super) unsafe fn run(
        call: &Call,
        device: usize,
        stream: *mut c_void,
        input: Option<(*mut u8, usize)>,
        lengths: Lengths,
        output: (*mut u8, usize),
        how: How,
    ) -> Result<(), Failure> {
        let given = match (lengths.address.is_null(), lengths.place) {
            (true, _) if lengths.bytes == 0 && call.plan().lengths().is_none() => None,
            (_, RETROGRADE_DEVICE) => {
                let address = lengths.address.addr() as u64;
                // SAFETY: as the caller promises.
                let there = unsafe { DeviceRef::from_raw(address, lengths.bytes) };
                let dtype = call.lengths_type(lengths.address, lengths.bytes)?;
                dtype.map(|dtype| CudaLengths::Device(dtype, there))
            }
            // SAFETY: as the caller promises.
            _ => unsafe { call.lengths_memory(lengths.address, lengths.bytes)? }
                .map(CudaLengths::Host),
        };
        // SAFETY: as the caller promises.
        let stream = unsafe { borrowed(device, stream)? };
        let stream = if how.fresh { stream.clamping() } else { stream };
        let stream = match call.program().looked_up_in() {
            Some(table) => stream.looking_up(Some(table)),
            None => stream,
        };
        // SAFETY: as the caller promises.
        let dst = unsafe { DeviceMut::from_raw(output.0.addr() as u64, output.1) };
        let done = match input {
            Some((input, bytes)) => {
                // SAFETY: as the caller promises.
                let src = unsafe { DeviceRef::from_raw(input.addr() as u64, bytes) };
                stream.execute(call.plan(), src, given, dst)
            }
            None => stream.execute_in_place(call.plan(), given, dst),
        };
        let wait = how.wait && matches!(given, Some(CudaLengths::Device(..)));
        let done = match done {
            Ok(()) if wait && !stream.is_capturing().map_err(failed)? => stream.check(),
            done => done,
        };
        done.map_err(|error| match error {
            Error::Execute(error) => call.explain(error),
            error => failed(error),
        })
    }

    /// # Safety
    /// As for `retrograde_cuda_earlier`.
    pub(super) unsafe fn earlier(device: usize, stream: *mut c_void) -> Result<(), Failure> {
        // SAFETY: as the caller promises.
        match unsafe { borrowed(device, stream)? }.earlier().map_err(failed)? {
            Some(error) => Err(Failure::from(error)),
            None => Ok(()),
        }
    }

    /// # Safety
    /// As for `retrograde_cuda_check`.
    pub(super) unsafe fn check(device: usize, stream: *mut c_void) -> Result<(), Failure> {
        // SAFETY: as the caller promises.
        unsafe { borrowed(device, stream)? }.check().map_err(failed)
    }

    fn failed(error: Error) -> Failure {
        match error {
            Error::Execute(error) => Failure::from(error),
            Error::Call(error) => Failure::from(error),
            Error::NoDevice { .. } | Error::NoSuchDevice { .. } | Error::TooOld { .. } => {
                Failure::new(RETROGRADE_NO_DEVICE, error)
            }
            error => Failure::new(RETROGRADE_CUDA_ERROR, error),
        }
    }
}
