//! Retrograde for browsers and Node: the engine as WebAssembly.
//!
//! The functions that users call are in `package/index.js`, which turns typed arrays and options
//! into a [`Call`]. Here a call is checked, planned, run, described and drawn, or
//! listed as dispatches for WebGPU (`gpu`). Numbers of JavaScript are checked in `number`, lengths,
//! offsets and masks held in `values`, files in `.npy` format read in `npy`.

#![forbid(unsafe_code)]

mod call;
mod complement;
mod gpu;
mod npy;
mod number;
mod options;
mod picture;
mod values;

pub use call::Call;
pub use complement::complements;
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
