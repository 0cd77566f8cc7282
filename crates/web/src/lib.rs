//! Retrograde for browsers and Node: the engine as WebAssembly.
//!
//! The functions that users call are in `package/index.js`, which turns typed arrays and options
//! into a [`Call`]. Here a call is checked, planned, run, described and drawn, or
//! listed as dispatches for WebGPU (`gpu`). Numbers of JavaScript are checked in `number`, files in
//! `.npy` format are read in `npy`.

#![forbid(unsafe_code)]

mod call;
mod gpu;
mod npy;
mod number;
mod picture;

pub use call::Call;
pub use gpu::{GpuStep, clear_report, kernel_source, reported_call};
pub use npy::NpyFile;

use retrograde::cpu::Isa;
use wasm_bindgen::prelude::wasm_bindgen;

/// The name of the instruction set that the module was compiled for.
#[wasm_bindgen]
pub fn instructions() -> String {
    Isa::current().name().to_owned()
}

/// The version of the package.
#[wasm_bindgen]
pub fn version() -> String {
    env!("CARGO_PKG_VERSION").to_owned()
}
