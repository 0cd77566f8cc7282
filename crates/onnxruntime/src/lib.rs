//! Retrograde as a plugin execution provider of ONNX Runtime (1.23 and later).
//!
//! The library exports the two functions that `RegisterExecutionProviderLibrary` looks up, and the
//! number of sessions that use it. The provider claims `ReverseSequence` nodes, and `Slice` nodes whose constant steps are negative, in
//! models that are not changed for it, and nothing else.
//!
//! ```text
//! entry              CreateEpFactories, ReleaseEpFactory, RetrogradeLiveSessions
//! factory            devices and providers; the kernel registry
//! provider           one per session: claims nodes (claim), compiles them for 1.23 (compile)
//! registry, compile  the two ways in which the runtime gets a kernel
//! kernel             one node: reads its inputs, allocates its output, runs the engine
//! sequence, slice    what the two operators do; strings for elements without bytes
//! tensor, workers    tensors and threads of the runtime, as the engine takes them
//! node, report       what is known of a node before it runs; what was claimed
//! options            provider options
//! live               live sessions, which keep the library loaded
//! runtime            the interface of the runtime that loaded this library, and its errors
//! ffi/               declarations of the C interface
//! ```
//!
//! Each file imports only files below it.

mod claim;
mod compile;
mod entry;
mod factory;
mod ffi;
mod kernel;
mod live;
mod node;
mod options;
mod provider;
mod registry;
mod report;
mod runtime;
mod sequence;
mod slice;
mod strings;
mod tensor;
mod workers;

pub use entry::{CreateEpFactories, ReleaseEpFactory, RetrogradeLiveSessions};
pub use ffi::{OrtApiBase, OrtEpFactory, OrtLogger, OrtStatus};
