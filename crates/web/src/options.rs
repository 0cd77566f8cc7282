//! Options of JavaScript that are one of two words.

use retrograde::{Align, LengthPolicy, Tail};
use retrograde_picture::Padding;

/// What is beyond a length, as options of JavaScript spell it.
pub(crate) struct Options {
    pub(crate) policy: LengthPolicy,
    pub(crate) align: Align,
    pub(crate) tail: Tail,
}

impl Options {
    pub(crate) fn parse(
        operator: &str,
        policy: &str,
        align: &str,
        tail: &str,
    ) -> Result<Self, String> {
        Ok(Options {
            policy: choice(operator, "policy", policy, "strict", "clamp")
                .map(|first| if first { LengthPolicy::Strict } else { LengthPolicy::Clamp })?,
            align: choice(operator, "align", align, "start", "end")
                .map(|first| if first { Align::Start } else { Align::End })?,
            tail: choice(operator, "tail", tail, "keep", "zero")
                .map(|first| if first { Tail::Keep } else { Tail::Zero })?,
        })
    }

    pub(crate) fn padding(&self) -> Padding {
        Padding { in_front: self.align == Align::End, zero: self.tail == Tail::Zero }
    }
}

/// Whether an option has the first of its two values.
fn choice(
    operator: &str,
    option: &str,
    value: &str,
    first: &str,
    second: &str,
) -> Result<bool, String> {
    match value {
        _ if value == first => Ok(true),
        _ if value == second => Ok(false),
        _ => Err(format!("{operator}: {option} is {value:?}, expected {first:?} or {second:?}")),
    }
}
