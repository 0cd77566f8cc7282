//! DirectML's interface of ReverseSubsequences on buffers of the host.
//!
//! `include/retrograde_directml_types.h` has its enums, `include/retrograde_directml_classes.h` the
//! C++ classes, whose methods call the functions here. Descriptors are checked by the engine
//! (`retrograde_directml`).

pub mod binding;
pub mod buffer;
pub mod compiled;
pub mod device;
pub mod dispatch;
pub mod fault;
pub mod iid;
mod object;
pub mod types;
pub mod unknown;
