//! What each fuzz target does with its bytes.
//!
//! A body panics where something is wrong and returns where everything is right, an error of the
//! library included. `fuzz/any.rs` hands bodies to libFuzzer; `tests/replay.rs` runs them on
//! every file under `fuzz/seeds/`.

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
    /// Its name, which is that of its folder of seeds.
    pub name: &'static str,
    /// What it does with an input.
    body: fn(&[u8]),
    /// Bytes of memory that one byte of input may take.
    factor: usize,
}

/// What any input may take: buffers, tables, messages of errors.
const BASE: usize = 2 << 20;
/// Headers and messages grow when they are parsed, and bodies keep a few copies of the data.
const PARSED: usize = 256;
/// The most that deflate makes of a byte, for a few copies.
const INFLATED: usize = 1032 * 8;

/// Every target.
pub const TARGETS: [Target; 8] = [
    Target { name: "npy", body: tensors::npy, factor: PARSED },
    Target { name: "npz", body: tensors::npz, factor: INFLATED },
    Target { name: "safetensors", body: tensors::safetensors, factor: PARSED },
    Target { name: "tensor_proto", body: tensors::tensor_proto, factor: PARSED },
    Target { name: "onnx_model", body: models::onnx_model, factor: PARSED },
    Target { name: "ir", body: models::ir, factor: PARSED },
    Target { name: "directml", body: directml::directml, factor: PARSED },
    Target { name: "differential", body: differential::differential, factor: PARSED },
];

impl Target {
    /// The target of this name.
    pub fn named(name: &str) -> Option<Target> {
        TARGETS.into_iter().find(|target| target.name == name)
    }

    /// Runs the body, and panics if that took far more memory than the input has bytes (where
    /// [`Counting`] is the allocator; otherwise memory is not looked at).
    pub fn run(self, data: &[u8]) {
        let Target { name, body, factor } = self;
        let (len, peak) = (data.len(), memory::peak_of(|| body(data)));
        let most = BASE + factor * len;
        assert!(peak <= most, "{name}: {len} bytes of input took {peak} of memory, beyond {most}");
    }
}
