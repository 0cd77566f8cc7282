//! Runs Retrograde's plans on any GPU, through wgpu: Vulkan, Metal, DirectX 12 and WebGPU.
//!
//! Every plan runs, out of place and in place: elements of any width, including packed ones, any
//! rank and strides, at any byte of a buffer. The device, queue and buffers are the caller's
//! ([`Gpu::from_device`]) or ours ([`Gpu::new`]). Prepared calls may have masks and tables
//! ([`Gpu::run`]). Nothing waits for the device but [`Gpu::check`],
//! [`Gpu::read`] and [`Gpu::download`], which are asynchronous, so that all of it works in a
//! browser too.

#![cfg_attr(not(feature = "device"), allow(dead_code, reason = "lengths in device memory"))]

mod choose;
mod columns;
mod cut;
mod dense;
mod dispatches;
mod error;
mod findings;
mod listing;
mod params;
mod shape;
mod source;
mod tiles;

pub use choose::{Kernel, Route, kernel, kernel_in_place};
pub use dispatches::Dispatch;
pub use error::Error;
pub use findings::{Finding, clear_reports, read_report};
pub use listing::{Limits, ListedLengths, Listing, list, list_in_place};
pub use source::SOURCE;

// What needs wgpu. Without the feature `device`, plans become dispatches for others to run.
#[cfg(feature = "device")]
mod binder;
#[cfg(feature = "device")]
mod bound;
#[cfg(feature = "device")]
mod buffers;
#[cfg(feature = "device")]
mod call;
#[cfg(feature = "device")]
mod check;
#[cfg(feature = "device")]
mod device;
#[cfg(feature = "device")]
mod filled;
#[cfg(feature = "device")]
mod host;
#[cfg(feature = "device")]
mod kernels;
#[cfg(feature = "device")]
mod movement;
#[cfg(feature = "device")]
mod report;
#[cfg(feature = "device")]
mod view;

#[cfg(feature = "device")]
pub use bound::Bound;
#[cfg(feature = "device")]
pub use device::{Gpu, Options};
#[cfg(feature = "device")]
pub use movement::Movement;
#[cfg(feature = "device")]
pub use report::Reports;
#[cfg(feature = "device")]
pub use view::{GpuLengths, View};

#[cfg(feature = "device")]
pub use wgpu;

/// The examples in `docs/wgpu.md` are compiled too.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/wgpu.md")]
struct Page;
