//! Three programs on the conformance kit: `retrograde-conformance`, `retrograde-lower` and
//! `retrograde-verify`. Each function runs one, with arguments of which the first is its own name, and
//! returns its exit code.

mod conformance;
mod lower;
mod verify;

use std::ffi::OsString;

/// Tests runtimes against the rules of the reversal operators.
pub fn conformance(arguments: impl IntoIterator<Item = OsString>) -> u8 {
    retrograde_program::run(arguments, |one: &conformance::Arguments| one.quiet, conformance::run)
}

/// Writes a model of reversals in another language.
pub fn lower(arguments: impl IntoIterator<Item = OsString>) -> u8 {
    retrograde_program::run(arguments, |one: &lower::Arguments| one.quiet, lower::run)
}

/// Compares the result of another program with ours.
pub fn verify(arguments: impl IntoIterator<Item = OsString>) -> u8 {
    retrograde_program::run(arguments, |one: &verify::Arguments| one.quiet, verify::run)
}
