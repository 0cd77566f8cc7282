//! The device that an operator on files runs on.

use crate::args::{Device, Files};
use crate::gpu::{self, AnyGpu, OpenGpu};
use crate::task::Task;
use crate::{cuda, work};
use anyhow::{Result, anyhow, bail};
use retrograde::DType;
use retrograde_cuda::Cuda;
use retrograde_io::{ElementType, Output, Tensor};
use std::time::Duration;

/// A device, opened.
pub(crate) enum Opened {
    Cpu,
    Cuda(Cuda),
    Gpu(Box<dyn AnyGpu>),
}

impl Opened {
    /// Opens the device of a request, if it supports that. `gpu` opens GPUs other than CUDA's.
    pub(crate) fn of(
        files: &Files,
        element: &ElementType,
        task: &Task,
        gpu: Option<OpenGpu>,
    ) -> Result<Self> {
        let device = files.device;
        if device == Device::Cpu {
            return Ok(Opened::Cpu);
        }
        let kind = device.kind();
        check(device, element, task)?;
        if files.output.is_none() && files.in_place.is_none() {
            bail!(
                "--device {kind} needs an output: -o OUT or --in-place (pictures are drawn on the \
                 CPU)"
            );
        }
        match device {
            Device::Cpu => Ok(Opened::Cpu),
            Device::Cuda(number) => Ok(Opened::Cuda(Cuda::device(number)?)),
            Device::Gpu(number) => {
                let open = gpu.ok_or_else(|| anyhow!("--device gpu is not in this program"))?;
                Ok(Opened::Gpu(open(number)?))
            }
        }
    }

    /// Reverses one tensor into another; returns the elapsed time, unless it is the CPU.
    pub(crate) fn reverse(
        &self,
        task: &Task,
        input: &Tensor,
        output: &mut Output,
    ) -> Result<Option<Duration>> {
        match self {
            Opened::Cpu => work::reverse(task, input, output).map(|()| None),
            Opened::Cuda(cuda) => cuda::reverse(cuda, task, input, output).map(Some),
            Opened::Gpu(gpu) => gpu::reverse(gpu.as_ref(), task, input, output).map(Some),
        }
    }

    /// Its name in the report.
    pub(crate) fn name(&self) -> String {
        match self {
            Opened::Cpu => "cpu".to_owned(),
            Opened::Cuda(cuda) => format!("cuda:{} ({})", cuda.ordinal(), cuda.name()),
            Opened::Gpu(gpu) => format!("gpu: {}", gpu.name()),
        }
    }
}

/// Refuses what a device cannot do.
pub(crate) fn check(device: Device, element: &ElementType, task: &Task) -> Result<()> {
    if element.dtype() == DType::String {
        let (operator, kind) = (task.operator(), device.kind());
        bail!("{operator}: strings do not run on --device {kind}: omit --device to use the CPU");
    }
    Ok(())
}
