//! A conformance kit for operators that reverse tensors.
//!
//! [`rules`] lists what must hold. [`cases`] generates calls that test the rules, with expected
//! outputs from a naive [`mod@reference`] that shares no code with any engine. [`session`] runs
//! them on runtimes through adapters that speak the [`protocol`], and makes a [`mod@report`].
//! Nothing here needs Retrograde itself: it is one of the runtimes that the kit tests.

pub mod batch;
pub mod call;
pub mod case;
pub mod cases;
pub mod cause;
pub mod export;
pub mod lower;
pub mod oracle;
pub mod process;
pub mod protocol;
pub mod reference;
pub mod report;
pub mod results;
pub mod rules;
pub mod run;
pub mod runtimes;
pub mod session;
pub mod tensor;
pub mod types;
pub mod verdict;
