//! The bodies of the fuzz targets.
//!
//! A body panics if it finds a bug, and returns otherwise. An error that the library returns is not
//! a bug. `fuzz/any.rs` runs the bodies under libFuzzer, and `tests/replay.rs` runs them on every
//! file in `fuzz/seeds/`. Those of Zarr stores and HDF5 files are in `fuzz/zarr/`: their codecs take
//! minutes to compile.

mod arguments;
mod choices;
mod differential;
mod directml;
mod files;
mod memory;
mod models;
mod tensors;

pub use files::checked;
pub use memory::Counting;

use std::fs;
use std::panic::catch_unwind;
use std::path::{Path, PathBuf};

/// A fuzz target.
#[derive(Debug, Clone, Copy)]
pub struct Target {
    /// The name, which is also the name of its folder of seeds.
    pub name: &'static str,
    /// Runs one input.
    pub body: fn(&[u8]),
    /// The bytes of memory that are allowed for any input.
    pub base: usize,
    /// The bytes of memory that are allowed for each byte of input.
    pub factor: usize,
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
    Target { name: "npy", body: tensors::npy, base: BASE, factor: PARSED },
    Target { name: "npz", body: tensors::npz, base: BASE, factor: INFLATED },
    Target { name: "safetensors", body: tensors::safetensors, base: BASE, factor: PARSED },
    Target { name: "tensor_proto", body: tensors::tensor_proto, base: BASE, factor: PARSED },
    Target { name: "onnx_model", body: models::onnx_model, base: BASE, factor: PARSED },
    Target { name: "ir", body: models::ir, base: BASE, factor: PARSED },
    Target { name: "directml", body: directml::directml, base: BASE, factor: CALLED },
    Target { name: "differential", body: differential::differential, base: BASE, factor: CALLED },
];

impl Target {
    /// Runs the body, and panics if it used more memory than is allowed for the size of the input.
    /// Memory is checked only if [`Counting`] is the global allocator.
    pub fn run(self, data: &[u8]) {
        let Target { name, body, base, factor } = self;
        let (len, peak) = (data.len(), memory::peak_of(|| body(data)));
        let most = base + factor * len;
        assert!(peak <= most, "{name}: {len} bytes of input used {peak} of memory, limit {most}");
    }
}

/// The folder of each target's seeds.
pub fn seeds() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../seeds")
}

/// Runs every seed and every input that a fuzzer found, without a fuzzer, on any toolchain.
pub fn replay(targets: &[Target]) {
    let mut failed = Vec::new();
    for target in targets {
        let folder = fs::read_dir(seeds().join(target.name)).expect(target.name);
        let mut files: Vec<_> = folder.map(|entry| entry.expect(target.name).path()).collect();
        files.sort();
        assert!(!files.is_empty(), "no seeds for {}", target.name);
        for file in files {
            let data = fs::read(&file).expect(target.name);
            if catch_unwind(|| target.run(&data)).is_err() {
                failed.push(file);
            }
        }
    }
    assert!(failed.is_empty(), "{failed:#?}");
}
