//! The C interface of Retrograde, and DirectML's interface of ReverseSubsequences.
//!
//! `include/retrograde.h` and `include/retrograde_directml.h` are generated from these modules by
//! `tests/headers.rs`. Every function catches panics and checks its pointers, sizes and enum
//! values, which are integers, because a C program can pass any.

pub mod call;
pub mod cuda;
pub mod directml;
pub mod dtype;
pub mod guard;
pub mod operator;
mod pointer;
pub mod status;
pub mod tensor;
pub mod version;
pub mod workers;
