//! Runs Retrograde's plans on NVIDIA GPUs.
//!
//! The driver is loaded at run time, so this builds and starts anywhere. Without a driver or a
//! device, [`Cuda::device`] returns an error. Kernels are compiled ahead of time (`kernels/`) and
//! embedded: users need only the driver.
//!
//! Every plan runs, out of place and in place: elements of any width, including packed ones, any
//! rank and strides, on its own or foreign memory and streams ([`DeviceRef::from_raw`],
//! [`Cuda::borrow_stream`]). [`Stream::execute`] is asynchronous. [`Route`] streams a host tensor
//! through the device in pieces.

mod alarm;
mod choose;
mod constants;
mod device;
mod error;
mod facts;
mod image;
mod jobs;
mod kernel;
mod lanes;
mod limits;
mod memory;
mod params;
mod pinned;
mod pool;
mod report;
mod route;
mod scratch;
mod shape;
#[cfg(feature = "simulate")]
mod simulate;
mod stream;
mod transfer;

pub use choose::{kernel, kernel_in_place, kernels};
pub use device::{Cuda, device_count};
pub use error::Error;
pub use kernel::Kernel;
pub use limits::Limits;
pub use memory::{CudaLengths, DeviceBuffer, DeviceMut, DeviceRef};
pub use report::Reports;
pub use route::Route;
#[cfg(feature = "simulate")]
pub use simulate::Simulator;
pub use stream::Stream;
pub use transfer::{Host, bus_speed};

/// The example in `docs/cuda.md` is compiled too.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/cuda.md")]
struct Page;
