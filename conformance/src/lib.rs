//! What every backend must do, and the proof that it does.
//!
//! The [`oracle`] says which input element belongs at each place of the output. Cases
//! ([`exhaustive`], [`long`], [`random`], [`examples`]) put tensors into memory in every way a caller
//! might; the [`runner`] compares what a [`backend`] left in memory, byte for byte, with what
//! the oracle says, guard bytes included.

pub mod backend;
pub mod case;
#[cfg(feature = "cuda")]
pub mod cuda;
pub mod examples;
pub mod exhaustive;
pub mod export;
pub mod long;
pub mod oracle;
pub mod placement;
pub mod random;
pub mod runner;
#[cfg(feature = "cuda")]
pub mod simulated;
