//! The native part of the benchmark: plain copies and reversals on a given number of threads.
//!
//! `bench/run` loads this as a C library into the Python process of the other contestants;
//! `bench/rust-peers` uses it as a crate.

pub mod call;
pub mod cases;
pub mod copy;
pub mod ffi;
pub mod overhead;
pub mod rounds;
