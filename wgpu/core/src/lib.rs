//! Runs Retrograde's plans on any GPU, through wgpu: Vulkan, Metal, DirectX 12 and WebGPU.
//!
//! Every plan runs, out of place and in place: elements of any width, including packed ones, any
//! rank and strides, at any byte of a buffer. The device, queue and buffers are the caller's
//! ([`Gpu::from_device`]) or ours ([`Gpu::new`]). Nothing waits for the device but [`Gpu::check`],
//! [`Gpu::read`] and [`Gpu::download`], which are asynchronous, so that all of it works in a
//! browser too.

mod buffers;
mod call;
mod choose;
mod cut;
mod device;
mod error;
mod host;
mod kernels;
mod params;
mod report;
mod shape;
mod view;

pub use call::Bound;
pub use choose::{Kernel, Route, kernel, kernel_in_place};
pub use device::{Gpu, Options};
pub use error::Error;
pub use report::Reports;
pub use view::{GpuLengths, View};

pub use wgpu;

/// The examples in `docs/wgpu.md` are compiled too.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/wgpu.md")]
struct Page;
