//! Retrograde's plans on NVIDIA GPUs.
//!
//! The driver is loaded when the program runs, so this builds and starts anywhere; without a
//! driver or a device, [`Cuda::device`] says so. Kernels are compiled ahead (`kernels/`) and
//! embedded: users need nothing but the driver.
//!
//! Every plan runs, out of place and in place: elements of any width, packed ones too, any rank
//! and strides, on memory and streams of one's own or of others ([`DeviceRef::from_raw`],
//! [`Cuda::borrow_stream`]). [`Stream::execute`] does not wait for the device. [`Route`] takes a
//! tensor of the host through the device in pieces.

mod choose;
mod device;
mod error;
mod image;
mod jobs;
mod kernel;
mod memory;
mod params;
mod pinned;
mod report;
mod route;
mod shape;
#[cfg(feature = "simulate")]
mod simulate;
mod stream;
mod transfer;

pub use choose::{kernel, kernel_in_place};
pub use device::{Cuda, device_count};
pub use error::Error;
pub use kernel::{Kernel, Limits};
pub use memory::{CudaLengths, DeviceBuffer, DeviceMut, DeviceRef};
pub use report::Reports;
pub use route::Route;
#[cfg(feature = "simulate")]
pub use simulate::Simulator;
pub use stream::Stream;
pub use transfer::{Host, bus_speed};

/// The example of `docs/cuda.md` is compiled too.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/cuda.md")]
struct Page;
