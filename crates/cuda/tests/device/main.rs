//! Tests that need a device, ignored by default: `cargo test -p retrograde-cuda -- --ignored` on a
//! machine with a CUDA device (they use 20 GiB of its memory).

mod common;
mod kernels;
mod large;
mod lengths;
mod streams;
