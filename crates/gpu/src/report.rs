//! The results of checks of lengths and offsets on the device, for the host to read later.

use crate::device::Cuda;
use crate::error::{Asked, Error};
use crate::memory::{DeviceBuffer, copy_to_device};
use crate::params::Report;
use cudarc::driver::{result, sys};
use retrograde::ExecuteError;

/// Reports allocated at a time.
const REPORTS: usize = 256;

/// Reports of invalid lengths and offsets, in device memory.
///
/// Every [`Stream`](crate::Stream) has one. To find out which of many calls had an invalid length,
/// give each its own ([`Stream::reporting_to`](crate::Stream::reporting_to)) and read them all at
/// once.
#[derive(Debug)]
pub struct Reports {
    buffer: DeviceBuffer,
    len: usize,
}

impl Reports {
    /// Allocates this many, all clear.
    pub fn allocate(cuda: &Cuda, len: usize) -> Result<Self, Error> {
        let buffer = DeviceBuffer::allocate(cuda, len.max(1) * size_of::<Report>())?;
        let reports = Reports { buffer, len };
        let _current = cuda.current()?;
        // SAFETY: the buffer was allocated for this many.
        unsafe { clear(reports.address(0), len)? };
        Ok(reports)
    }

    /// How many.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Address of one on the device.
    pub(crate) fn address(&self, at: usize) -> u64 {
        self.buffer.address() + (at * size_of::<Report>()) as u64
    }
}

/// Reports for the streams of a device.
impl Cuda {
    /// The report of a foreign stream: always the same one, by its handle.
    pub(crate) fn report_of(&self, handle: usize) -> Result<u64, Error> {
        let known = self.pool().of_stream.get(&handle).copied();
        match known {
            Some(report) => Ok(report),
            None => {
                let report = self.take_report()?;
                Ok(*self.pool().of_stream.entry(handle).or_insert(report))
            }
        }
    }

    /// A clear report for a stream.
    pub(crate) fn take_report(&self) -> Result<u64, Error> {
        let mut pool = self.pool();
        if let Some(report) = pool.spare.pop() {
            return Ok(report);
        }
        let _current = self.current()?;
        // SAFETY: filled right below; freed in `Shared::drop`.
        let block = unsafe { result::malloc_sync(REPORTS * size_of::<Report>()) }
            .asked("allocate memory")?;
        pool.blocks.push(block);
        // SAFETY: just allocated for this many.
        unsafe { clear(block, REPORTS)? };
        pool.spare.extend((1..REPORTS).rev().map(|at| block + (at * size_of::<Report>()) as u64));
        Ok(block)
    }

    /// Returns a clear report to the pool.
    pub(crate) fn give_report_back(&self, report: u64) {
        self.pool().spare.push(report);
    }
}

/// Fills memory with clear reports.
///
/// # Safety
/// The device has room for `len` reports at `address`, and its context is current.
pub(crate) unsafe fn clear(address: u64, len: usize) -> Result<(), Error> {
    // SAFETY: there is room for `len` reports, as required; `Report` is plain data.
    unsafe { copy_to_device(address, &vec![Report::CLEAR; len]) }
}

/// Waits for the stream, reads reports, and clears them if one of them has an error.
///
/// # Safety
/// There are `len` reports at `address`, used only on this stream, and the context is current.
pub(crate) unsafe fn read(
    address: u64,
    len: usize,
    stream: sys::CUstream,
) -> Result<Vec<Option<ExecuteError>>, Error> {
    let mut reports = vec![Report::CLEAR; len];
    // SAFETY: there are `len` reports, as required; the host waits before it reads or drops the
    // vector.
    unsafe {
        result::memcpy_dtoh_async(&mut reports, address, stream).asked("read a report")?;
        result::stream::synchronize(stream).asked("finish its work")?;
    }
    if reports.iter().any(|report| report.failed != 0) {
        // SAFETY: there are `len` reports, used only on this stream, as required; it is idle now.
        unsafe { clear(address, len)? };
    }
    Ok(reports.iter().map(error).collect())
}

/// The error in a report.
pub(crate) fn error(report: &Report) -> Option<ExecuteError> {
    let value = match report.is_signed {
        0 => i128::from(report.value as u64),
        _ => i128::from(report.value),
    };
    let (ordinal, limit) = (report.ordinal as usize, report.limit as usize);
    let low = report.low as usize;
    let error = match report.is_offset {
        0 => ExecuteError::LengthOutOfRange { ordinal, value, limit },
        _ => ExecuteError::OffsetOutOfRange { ordinal, value, low, high: limit },
    };
    (report.failed != 0).then_some(error)
}
