//! Buffers of bytes: from the host, to the host, and new ones.

use crate::device::Gpu;
use crate::error::Error;
use crate::filled::filled;
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Poll, Waker};

/// What buffers that are made here are for.
const USAGE: wgpu::BufferUsages = wgpu::BufferUsages::STORAGE
    .union(wgpu::BufferUsages::COPY_SRC)
    .union(wgpu::BufferUsages::COPY_DST);

impl Gpu {
    /// A buffer for so many bytes, rounded up to whole words, which plans can read and write.
    pub fn allocate(&self, bytes: u64) -> Result<wgpu::Buffer, Error> {
        let most = self.device().limits().max_buffer_size;
        if bytes > most / 4 * 4 {
            return Err(Error::TooLarge { what: "a buffer needs", bytes, most });
        }
        Ok(self.device().create_buffer(&wgpu::BufferDescriptor {
            label: Some("retrograde"),
            size: bytes.next_multiple_of(4).max(16),
            usage: USAGE,
            mapped_at_creation: false,
        }))
    }

    /// A buffer with a copy of the host's bytes.
    pub fn upload(&self, bytes: &[u8]) -> Result<wgpu::Buffer, Error> {
        let most = self.device().limits().max_buffer_size;
        if bytes.len() as u64 > most / 4 * 4 {
            return Err(Error::TooLarge {
                what: "a buffer needs",
                bytes: bytes.len() as u64,
                most,
            });
        }
        Ok(filled(self.device(), "retrograde", bytes, USAGE))
    }

    /// Bytes of a buffer, once everything that was submitted is done. The buffer needs the usage
    /// `COPY_SRC`.
    pub async fn download(
        &self,
        buffer: &wgpu::Buffer,
        bytes: Range<u64>,
    ) -> Result<Vec<u8>, Error> {
        let view = crate::View::new(buffer, bytes.start, bytes.end.saturating_sub(bytes.start));
        view.check_copy("input")?;
        if bytes.end > buffer.size() / 4 * 4 {
            let (start, end, size) = (bytes.start, bytes.end, buffer.size());
            return Err(Error::OutsideBuffer { view: "input", start, end, size });
        }
        if bytes.is_empty() {
            return Ok(Vec::new());
        }
        // Copies are of whole words.
        let start = bytes.start / 4 * 4;
        let len = bytes.end.next_multiple_of(4) - start;
        let staging = self.device().create_buffer(&wgpu::BufferDescriptor {
            label: Some("retrograde: download"),
            size: len,
            usage: wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST,
            mapped_at_creation: false,
        });
        let mut encoder = self.device().create_command_encoder(&Default::default());
        encoder.copy_buffer_to_buffer(buffer, start, &staging, 0, len);
        self.queue().submit([encoder.finish()]);
        self.map(&staging).await?;
        let failed = |error: wgpu::MapRangeError| Error::Device {
            what: "read a buffer",
            reason: error.to_string(),
        };
        let mapped = staging.get_mapped_range(..).map_err(failed)?;
        let skip = (bytes.start - start) as usize;
        Ok(mapped[skip..skip + (bytes.end - bytes.start) as usize].to_vec())
    }

    /// Maps a buffer to read it. In a browser the event loop completes it; elsewhere this blocks
    /// until the device has.
    async fn map(&self, buffer: &wgpu::Buffer) -> Result<(), Error> {
        let done = Arc::new(Mutex::new(Mapping::default()));
        let told = done.clone();
        buffer.map_async(wgpu::MapMode::Read, .., move |result| {
            let mut mapping = told.lock().unwrap_or_else(PoisonError::into_inner);
            mapping.result = Some(result.map_err(|error| error.to_string()));
            if let Some(waker) = mapping.waker.take() {
                waker.wake();
            }
        });
        #[cfg(not(target_arch = "wasm32"))]
        self.wait()?;
        let result = std::future::poll_fn(|context| {
            let mut mapping = done.lock().unwrap_or_else(PoisonError::into_inner);
            match mapping.result.take() {
                Some(result) => Poll::Ready(result),
                None => {
                    mapping.waker = Some(context.waker().clone());
                    Poll::Pending
                }
            }
        });
        result.await.map_err(|reason| Error::Device { what: "read a buffer", reason })
    }

    /// Blocks until everything that was submitted is done.
    #[cfg(not(target_arch = "wasm32"))]
    pub fn wait(&self) -> Result<(), Error> {
        let failed = |error: wgpu::PollError| Error::Device {
            what: "finish its work",
            reason: error.to_string(),
        };
        self.device().poll(wgpu::PollType::wait_indefinitely()).map_err(failed)?;
        Ok(())
    }
}

/// A buffer that is being mapped.
#[derive(Default)]
struct Mapping {
    result: Option<Result<(), String>>,
    waker: Option<Waker>,
}
