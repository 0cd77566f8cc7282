//! Arguments for tensors, outputs and devices.

use clap::builder::{OsStringValueParser, TypedValueParser};
use clap::{Args, ValueEnum};
use retrograde::DType;
use retrograde_io::{FilesRead, Format, Location, Opening};
use retrograde_program::lists::Sizes;
use retrograde_program::operators::ThreadsArgument;
use retrograde_program::stores::StoreArguments;
use std::fmt;
use std::str::FromStr;

/// The tensor, and options for what the file does not say.
#[derive(Debug, Args)]
pub struct Input {
    /// The tensor: FILE, FILE:NAME, or - for stdin
    #[arg(value_name = "IN", value_parser = location())]
    pub input: Location,
    /// The element type of raw bytes (such as f32, u8, bf16, i4), or of opaque elements
    #[arg(long, value_name = "TYPE")]
    pub(crate) dtype: Option<DType>,
    /// The shape of raw bytes, such as 480,640,3 (default: one axis)
    #[arg(long, value_name = "SIZES")]
    pub(crate) shape: Option<Sizes>,
    /// The format of the input, if neither its name nor its content identifies it
    #[arg(long, value_name = "FORMAT")]
    pub(crate) from: Option<Format>,
}

impl Input {
    /// What the options say about the file.
    pub fn opening(&self, output: Option<&Location>, read: &FilesRead) -> Opening {
        let output = output.filter(|output| !output.is_stream());
        Opening {
            format: self.from,
            dtype: self.dtype,
            shape: self.shape.clone().map(|Sizes(shape)| shape),
            output: output.map(|output| output.path.clone()),
            read: read.clone(),
        }
    }
}

/// The tensor, and where the result goes.
#[derive(Debug, Args)]
pub(crate) struct Files {
    #[command(flatten)]
    pub(crate) input: Input,
    /// Where to write the result; may be the input itself, or - for stdout
    #[arg(short, long, value_name = "OUT", value_parser = location())]
    pub(crate) output: Option<Location>,
    /// The output's format, if its extension does not imply one (- is npy)
    #[arg(long, value_name = "FORMAT", requires = "output")]
    pub(crate) to: Option<Format>,
    /// Replace the input, an .npy or raw file, with the result
    ///
    /// `copy` (the default) writes a new file next to it, which is renamed to the input's name when
    /// it is complete: an interruption leaves the old file unchanged. `direct` changes the file
    /// itself and needs no disk space. It delays Ctrl-C until it is done, but a crash of the
    /// machine or kill -9 leaves the file half changed.
    #[arg(
        long, value_name = "HOW", value_enum, num_args = 0..=1, require_equals = true,
        default_missing_value = "copy", conflicts_with = "output"
    )]
    pub(crate) in_place: Option<InPlace>,
    /// Also write to a read-only file
    #[arg(long)]
    pub(crate) force: bool,
    /// Draw the tensor before and after (default if nothing is written)
    #[arg(long)]
    pub(crate) show: bool,
    /// The device to run on: cpu, cuda or cuda:N, gpu or gpu:N
    ///
    /// `gpu` is any GPU, through Vulkan, Metal or DirectX, and needs the program retrograde-wgpu.
    /// The default is the CPU: a tensor from a file crosses the bus to a GPU twice, which usually
    /// takes longer than reversing it on the CPU.
    #[arg(long, value_name = "DEVICE", default_value_t = Device::Cpu)]
    pub(crate) device: Device,
    #[command(flatten)]
    pub(crate) threads: ThreadsArgument,
    #[command(flatten)]
    pub(crate) store: StoreArguments,
}

/// A device that reverses tensors.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Device {
    /// The processor.
    Cpu,
    /// A CUDA device by its number.
    Cuda(usize),
    /// Any GPU: by its number, or the fastest.
    Gpu(Option<usize>),
}

impl Device {
    /// Its name without a number.
    pub fn kind(self) -> &'static str {
        match self {
            Device::Cpu => "cpu",
            Device::Cuda(_) => "cuda",
            Device::Gpu(_) => "gpu",
        }
    }
}

impl FromStr for Device {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let number = |text: &str| {
            text.bytes().all(|c| c.is_ascii_digit()).then(|| text.parse().ok()).flatten()
        };
        match text.split_once(':').map_or((text, None), |(kind, rest)| (kind, Some(rest))) {
            ("cpu", None) => Some(Device::Cpu),
            ("cuda", None) => Some(Device::Cuda(0)),
            ("gpu", None) => Some(Device::Gpu(None)),
            ("cuda", Some(text)) => number(text).map(Device::Cuda),
            ("gpu", Some(text)) => number(text).map(|number| Device::Gpu(Some(number))),
            _ => None,
        }
        .ok_or_else(|| "expected cpu, cuda, cuda:N, gpu or gpu:N".to_owned())
    }
}

impl fmt::Display for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Device::Cpu => f.write_str("cpu"),
            Device::Cuda(number) => write!(f, "cuda:{number}"),
            Device::Gpu(None) => f.write_str("gpu"),
            Device::Gpu(Some(number)) => write!(f, "gpu:{number}"),
        }
    }
}

/// How a file is replaced.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum InPlace {
    /// By a new file, once that is complete
    Copy,
    /// By changing the file itself
    Direct,
}

/// Parses a location; any text is valid.
pub(super) fn location() -> impl TypedValueParser<Value = Location> {
    OsStringValueParser::new().map(|text| Location::from(text.as_os_str()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn devices_have_names_and_numbers() {
        for (text, device) in [
            ("cpu", Device::Cpu),
            ("cuda", Device::Cuda(0)),
            ("cuda:12", Device::Cuda(12)),
            ("gpu", Device::Gpu(None)),
            ("gpu:1", Device::Gpu(Some(1))),
        ] {
            assert_eq!(text.parse(), Ok(device));
            assert_eq!(device.to_string().parse(), Ok(device));
        }
        for text in [
            "", "tpu", "gpu:", "gpu:x", "CUDA", "cuda:", "cuda:x", "cuda:-1", "cuda:+1", "cuda 1",
            "cpu:0",
        ] {
            assert!(text.parse::<Device>().is_err(), "{text}");
        }
    }
}
