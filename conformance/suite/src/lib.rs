//! The conformance suite: what every backend must do, and the tests for it.
//!
//! The [`oracle`] says which input element belongs at each position of the output. Cases
//! ([`exhaustive`], [`long`], [`random`], [`examples`]) lay out tensors in memory in every way that
//! a caller might. The [`runner`] compares what a [`backend`] left in memory, byte for byte and
//! including guard bytes, with the oracle's answer.

pub mod backend;
#[cfg(feature = "c")]
pub mod c;
#[cfg(feature = "cuda")]
pub mod c_cuda;
pub mod case;
#[cfg(feature = "cuda")]
pub mod cuda;
pub mod examples;
pub mod exhaustive;
pub mod export;
pub mod long;
pub mod placement;
pub mod random;
pub mod runner;
#[cfg(feature = "cuda")]
pub mod simulated;
pub mod suite;
mod workers;

pub use retrograde_truth::oracle;
