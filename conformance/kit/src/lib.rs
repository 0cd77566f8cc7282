//! A conformance kit for operators that reverse tensors.
//!
//! [`session`] runs the cases of [`retrograde_truth`] on runtimes through adapters that speak the
//! [`protocol`], and makes a [`mod@report`]. [`export`] writes the cases as files of other runtimes,
//! [`lower`] a reversal as operators that a runtime has. Nothing here needs Retrograde itself: it is one
//! of the runtimes that the kit tests.

pub mod batch;
pub mod cause;
pub mod export;
pub mod lower;
pub mod process;
pub mod protocol;
pub mod report;
pub mod results;
pub mod run;
pub mod runtimes;
pub mod session;
pub mod verdict;
