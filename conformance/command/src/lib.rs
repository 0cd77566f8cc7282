//! Three programs on the conformance kit: `retrograde-conformance`, `retrograde-lower` and
//! `retrograde-verify`.

mod conformance;
mod lower;
mod verify;

use retrograde_program::programs::Held;
use retrograde_program::run;

/// Tests runtimes against the rules of the reversal operators.
pub const CONFORMANCE: Held =
    Held::new::<conformance::Arguments>("conformance", |arguments, again| {
        let body = |one: &conformance::Arguments| conformance::run(one, again);
        run(arguments, |one: &conformance::Arguments| one.quiet, body)
    });

/// Writes a model of reversals in another language.
pub const LOWER: Held = Held::new::<lower::Arguments>("lower", |arguments, _| {
    run(arguments, |one: &lower::Arguments| one.quiet, lower::run)
});

/// Compares the result of another program with ours.
pub const VERIFY: Held = Held::new::<verify::Arguments>("verify", |arguments, _| {
    run(arguments, |one: &verify::Arguments| one.quiet, verify::run)
});
