//! What is true of tensor reversals.
//!
//! [`rules`] lists what must hold. [`cases`] generates calls that test the rules, with expected outputs
//! from a naive [`mod@reference`] that shares no code with any engine; the [`oracle`] below it says
//! which element belongs where.

pub mod call;
pub mod case;
pub mod cases;
pub mod extras;
pub mod oracle;
pub mod reference;
pub mod rules;
pub mod tensor;
pub mod types;
