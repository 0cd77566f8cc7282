//! The C interface on a CUDA device under test: each call in buffers of its own, with its lengths
//! on the device or on the host in turn.

use crate::backend::{Backend, Outcome};
use crate::c::{with_call, with_mask_in_lengths};
use crate::case::{Case, CaseLengths};
use retrograde_c::cuda::{
    RETROGRADE_DEVICE, RETROGRADE_HOST, retrograde_cuda_check, retrograde_run_cuda,
    retrograde_run_cuda_in_place,
};
use retrograde_c::status::RETROGRADE_OK;
use retrograde_cuda::{Cuda, DeviceBuffer, Error, Stream};
use std::ffi::c_void;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Device 0, if there is one.
pub struct CCuda {
    device: Result<Cuda, Error>,
    calls: AtomicUsize,
}

impl CCuda {
    /// Opens the device.
    pub fn open() -> Self {
        CCuda { device: Cuda::device(0), calls: AtomicUsize::new(0) }
    }

    fn try_run(
        &self,
        case: &Case,
        input: Option<&[u8]>,
        output: &mut [u8],
    ) -> Result<Outcome, Error> {
        let device = self.device.as_ref().map_err(Clone::clone)?;
        let Some(case) = with_mask_in_lengths(case) else {
            return Ok(Outcome::Unsupported("a mask of whole axes".to_owned()));
        };
        let stream: Stream = device.stream()?;
        let handle = stream.handle() as *mut c_void;
        let on_host = self.calls.fetch_add(1, Ordering::Relaxed).is_multiple_of(2);
        let host = case.lengths.as_deref().map_or(&[][..], |CaseLengths { buffer, .. }| buffer);
        let there = DeviceBuffer::from_host(device, host)?;
        let (lengths, place) = match (case.lengths.is_some(), on_host) {
            (false, _) => (std::ptr::null(), RETROGRADE_HOST),
            (true, true) => (host.as_ptr().cast(), RETROGRADE_HOST),
            (true, false) => (there.address() as *const c_void, RETROGRADE_DEVICE),
        };
        let source = input.map(|input| DeviceBuffer::from_host(device, input)).transpose()?;
        let memory = DeviceBuffer::from_host(device, output)?;
        let (dst, len) = (memory.address() as *mut c_void, memory.len());
        let outcome = with_call(&case, |call| {
            // SAFETY: the call is valid, and the buffers live until the stream was synchronised by
            // the check.
            unsafe {
                let status = match &source {
                    Some(source) => {
                        let src = source.address() as *const c_void;
                        retrograde_run_cuda(
                            call,
                            0,
                            handle,
                            src,
                            source.len(),
                            lengths,
                            host.len(),
                            place,
                            dst,
                            len,
                        )
                    }
                    None => retrograde_run_cuda_in_place(
                        call,
                        0,
                        handle,
                        lengths,
                        host.len(),
                        place,
                        dst,
                        len,
                    ),
                };
                match status {
                    RETROGRADE_OK => retrograde_cuda_check(0, handle),
                    status => status,
                }
            }
        });
        memory.read(0, output)?;
        Ok(outcome)
    }
}

impl Backend for CCuda {
    fn name(&self) -> &str {
        "c on cuda"
    }

    fn unavailable(&self) -> Option<String> {
        self.device.as_ref().err().map(ToString::to_string)
    }

    fn is_thorough(&self) -> bool {
        false
    }

    fn run(&self, case: &Case, input: Option<&[u8]>, output: &mut [u8]) -> Outcome {
        self.try_run(case, input, output)
            .unwrap_or_else(|error| Outcome::Refused(error.to_string()))
    }
}
