//! Reads the reports of a device.

use crate::device::Gpu;
use crate::error::Error;
use crate::findings::{WORDS, clear_reports, read_report};
use crate::report::Reports;
use retrograde::ExecuteError;
use std::sync::Arc;

impl Reports {
    /// Allocates this many, all clear.
    pub fn new(gpu: &Gpu, len: usize) -> Arc<Self> {
        Arc::new(Self::on(gpu.device(), len))
    }
}

impl Gpu {
    /// Waits for everything that was submitted, and returns the error of the first invalid length
    /// since the last check, if there was one.
    pub async fn check(&self) -> Result<(), Error> {
        match self.read(&self.reports).await?.into_iter().nth(self.report as usize).flatten() {
            Some(error) => Err(error.into()),
            None => Ok(()),
        }
    }

    /// Waits for everything that was submitted, and returns the error of each of these reports,
    /// which are clear again after that.
    pub async fn read(&self, reports: &Reports) -> Result<Vec<Option<ExecuteError>>, Error> {
        let bytes = self.download(&reports.buffer, 0..reports.buffer.size()).await?;
        let words: Vec<u32> =
            bytes.as_chunks().0.iter().map(|&word| u32::from_ne_bytes(word)).collect();
        let error = |words: &[u32]| read_report(words).map(|finding| finding.error);
        let errors: Vec<_> = words.chunks_exact(WORDS).take(reports.len()).map(error).collect();
        if errors.iter().any(Option::is_some) {
            let clear = clear_reports(reports.len().max(1));
            self.queue().write_buffer(&reports.buffer, 0, bytemuck::cast_slice(&clear));
        }
        Ok(errors)
    }
}
