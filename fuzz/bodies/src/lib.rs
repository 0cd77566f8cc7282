//! The bodies of the fuzz targets.
//!
//! A body panics if it finds a bug, and returns otherwise. An error that the library returns is not
//! a bug. `fuzz/any.rs` runs the bodies under libFuzzer, and `tests/replay.rs` runs them on every
//! file in `fuzz/seeds/`.

mod arguments;
mod choices;
mod differential;
mod directml;
mod files;
mod memory;
mod models;
mod tensors;

pub use memory::Counting;

/// A fuzz target.
#[derive(Debug, Clone, Copy)]
pub struct Target {
    /// The name, which is also the name of its folder of seeds.
    pub name: &'static str,
    /// Runs one input.
    body: fn(&[u8]),
    /// The bytes of memory that are allowed for each byte of input.
    factor: usize,
}

/// The memory that is allowed for any input: buffers, tables, error messages.
const BASE: usize = 2 << 20;
/// The factor for parsed formats. Parsed headers and messages are larger than their encoding, and
/// bodies keep a few copies of the data.
const PARSED: usize = 256;
/// The factor for compressed formats: the maximum compression ratio of deflate, for eight copies.
const INFLATED: usize = 1032 * 8;

/// The factor for calls, whose inputs are choices: the engine stages columns in a buffer of 1.2 MB for
/// each thread, independent of the size of the tensor.
const CALLED: usize = 1 << 20;

/// Every target.
pub const TARGETS: [Target; 8] = [
    Target { name: "npy", body: tensors::npy, factor: PARSED },
    Target { name: "npz", body: tensors::npz, factor: INFLATED },
    Target { name: "safetensors", body: tensors::safetensors, factor: PARSED },
    Target { name: "tensor_proto", body: tensors::tensor_proto, factor: PARSED },
    Target { name: "onnx_model", body: models::onnx_model, factor: PARSED },
    Target { name: "ir", body: models::ir, factor: PARSED },
    Target { name: "directml", body: directml::directml, factor: CALLED },
    Target { name: "differential", body: differential::differential, factor: CALLED },
];

impl Target {
    /// Finds a target by name.
    pub fn named(name: &str) -> Option<Target> {
        TARGETS.into_iter().find(|target| target.name == name)
    }

    /// Runs the body, and panics if it used more memory than is allowed for the size of the input.
    /// Memory is checked only if [`Counting`] is the global allocator.
    pub fn run(self, data: &[u8]) {
        let Target { name, body, factor } = self;
        let (len, peak) = (data.len(), memory::peak_of(|| body(data)));
        let most = BASE + factor * len;
        assert!(peak <= most, "{name}: {len} bytes of input used {peak} of memory, limit {most}");
    }
}
