//! A conformance kit for operators that reverse tensors.
//!
//! [`rules`] lists what must hold. [`cases`] generates calls that test the rules, with expected
//! outputs from a naive [`reference`](mod@reference) that shares no code with any engine. Nothing here needs
//! Retrograde itself: it is one of the runtimes that the kit tests.

pub mod call;
pub mod case;
pub mod cases;
pub mod oracle;
pub mod reference;
pub mod rules;
pub mod tensor;
pub mod types;
