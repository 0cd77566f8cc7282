//! The results of checks of lengths and offsets on the device, for the host to read later.

use crate::device::Cuda;
use crate::error::{Error, WithOperation};
use crate::memory::{DeviceBuffer, copy_to_device};
use crate::params::Report;
use crate::pool::{Pool, lock};
use cudarc::driver::{result, sys};
use retrograde::ExecuteError;
use std::cell::RefCell;
use std::mem::offset_of;
use std::sync::{Arc, Mutex, Weak};

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

/// The handle of the default stream of the calling thread (`CU_STREAM_PER_THREAD`): another stream
/// on each thread.
const PER_THREAD: usize = 2;

thread_local! {
    static OWN: RefCell<Own> = const { RefCell::new(Own(Vec::new())) };
}

/// The reports of a thread's own default stream, one per device.
struct Own(Vec<(Weak<Mutex<Pool>>, u64)>);

impl Drop for Own {
    fn drop(&mut self) {
        for (pool, report) in self.0.drain(..) {
            if let Some(pool) = pool.upgrade() {
                lock(&pool).retired.push(report);
            }
        }
    }
}

/// Reports for the streams of a device.
impl Cuda {
    /// The report of a foreign stream: always the same one, by its handle and, if this is another
    /// stream on each thread, by thread.
    pub(crate) fn report_of(&self, handle: usize) -> Result<u64, Error> {
        if handle == PER_THREAD {
            return self.report_of_thread();
        }
        let known = lock(self.reports()).of_stream.get(&handle).copied();
        match known {
            Some(report) => Ok(report),
            None => {
                let report = self.take_report()?;
                Ok(*lock(self.reports()).of_stream.entry(handle).or_insert(report))
            }
        }
    }

    fn report_of_thread(&self) -> Result<u64, Error> {
        let pool = Arc::downgrade(self.reports());
        let known = OWN.try_with(|own| {
            let own = own.borrow();
            own.0.iter().find(|(of, _)| of.ptr_eq(&pool)).map(|&(_, report)| report)
        });
        if let Ok(Some(report)) = known {
            return Ok(report);
        }
        let report = self.take_report()?;
        // A thread that is ending cannot keep it: it is then not reused.
        let _ = OWN.try_with(|own| own.borrow_mut().0.push((pool, report)));
        Ok(report)
    }

    /// A report for a stream that no other stream uses.
    pub(crate) fn take_report(&self) -> Result<u64, Error> {
        let mut pool = lock(self.reports());
        let _current = self.current()?;
        if pool.spare.is_empty() && pool.retired.len() >= REPORTS {
            // SAFETY: the context is current. Once everything has finished, nobody uses them.
            if unsafe { sys::cuCtxSynchronize() }.result().is_ok() {
                let retired = std::mem::take(&mut pool.retired);
                pool.spare.extend(retired);
            }
        }
        if let Some(report) = pool.spare.pop() {
            return Ok(report);
        }
        // SAFETY: filled right below; freed in `Shared::drop`.
        let block = unsafe { result::malloc_sync(REPORTS * size_of::<Report>()) }
            .with_operation("allocate memory")?;
        pool.blocks.push(block);
        // SAFETY: just allocated for this many.
        unsafe { clear(block, REPORTS)? };
        pool.spare.extend((1..REPORTS).rev().map(|at| block + (at * size_of::<Report>()) as u64));
        Ok(block)
    }

    /// Returns a clear report to the pool.
    pub(crate) fn give_report_back(&self, report: u64) {
        lock(self.reports()).spare.push(report);
    }

    /// An error in the reports of all streams, which is cleared.
    pub(crate) fn find_error(&self) -> Result<Option<ExecuteError>, Error> {
        // Two threads must not return the same error.
        let pool = lock(self.reports());
        if !self.alarm().is_set() {
            return Ok(None);
        }
        let _current = self.current()?;
        // Before the reports are read, so that a later one sets it again.
        self.alarm().set(false);
        // SAFETY: the blocks that `take_report` allocated, each for so many reports.
        let found = unsafe { first_failed(&pool.blocks) };
        if !matches!(found, Ok((_, false))) {
            self.alarm().set(true);
        }
        Ok(found?.0)
    }
}

/// The first error in these blocks of reports, which is cleared, and whether there are others.
///
/// On a stream of its own, so that it waits for nothing else, and with capturing relaxed, because
/// another thread may be capturing a graph.
///
/// # Safety
/// Each block has room for `REPORTS` reports, and the context is current.
unsafe fn first_failed(blocks: &[u64]) -> Result<(Option<ExecuteError>, bool), Error> {
    let _relaxed = Relaxed::enter()?;
    let stream = result::stream::create(result::stream::StreamKind::NonBlocking)
        .with_operation("create a stream")?;
    let look = || {
        let (mut found, mut others) = (None, false);
        let mut reports = vec![Report::CLEAR; REPORTS];
        for &block in blocks {
            // SAFETY: as required of the block; the vector is alive until the copy has finished.
            unsafe { copied(&mut reports, block, stream)? };
            for at in (0..REPORTS).filter(|&at| reports[at].failed != 0) {
                others |= found.is_some();
                found = found.or(Some(block + (at * size_of::<Report>()) as u64));
            }
        }
        let Some(address) = found else { return Ok((None, others)) };
        // Once more: what it says is written before it is marked as failed.
        let report = &mut reports[..1];
        // SAFETY: inside a block; alive as above. Only the mark is cleared, as the report may be in
        // use.
        unsafe {
            copied(report, address, stream)?;
            let mark = address + offset_of!(Report, failed) as u64;
            result::memset_d8_async(mark, 0, size_of::<u32>(), stream)
                .with_operation("clear a report")?;
            result::stream::synchronize(stream).with_operation("clear a report")?;
        }
        Ok((error(&report[0]), others))
    };
    let found = look();
    // SAFETY: created above, destroyed once.
    let _ = unsafe { result::stream::destroy(stream) };
    found
}

/// Copies reports to the host, and waits for that.
///
/// # Safety
/// There are so many reports at `address`, and the stream's context is current.
unsafe fn copied(to: &mut [Report], address: u64, stream: sys::CUstream) -> Result<(), Error> {
    // SAFETY: as required; the host waits before it uses `to`.
    unsafe {
        result::memcpy_dtoh_async(to, address, stream).with_operation("read a report")?;
        result::stream::synchronize(stream).with_operation("read a report")
    }
}

/// While it lives, this thread may wait for a stream although another thread captures a graph.
struct Relaxed(sys::CUstreamCaptureMode);

impl Relaxed {
    fn enter() -> Result<Self, Error> {
        let mut mode = sys::CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_RELAXED;
        // SAFETY: exchanges the mode with the thread's.
        unsafe { sys::cuThreadExchangeStreamCaptureMode(&mut mode) }
            .result()
            .with_operation("relax the capturing of graphs")?;
        Ok(Relaxed(mode))
    }
}

impl Drop for Relaxed {
    fn drop(&mut self) {
        // SAFETY: as above.
        let _ = unsafe { sys::cuThreadExchangeStreamCaptureMode(&mut self.0) };
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
    // SAFETY: there are `len` reports, as required.
    unsafe { copied(&mut reports, address, stream)? };
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
