//! Arguments that an operator has in every program.

use clap::{Args, ValueEnum};
use retrograde::{Align, LengthPolicy, Tail};

/// What happens to an axis that is given twice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Duplicates {
    /// It is reversed once
    Set,
    /// It is an error
    Error,
}

/// Where the padding of sequences is, and what becomes of it.
#[derive(Debug, Clone, Copy, Args)]
pub struct PaddingArguments {
    /// At which end of the axis sequences are
    #[arg(long, value_enum, default_value_t = Alignment::Start)]
    pub align: Alignment,
    /// What happens to the elements beyond a length
    #[arg(long, value_enum, default_value_t = Rest::Keep)]
    pub tail: Rest,
}

/// At which end sequences are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Alignment {
    /// At its start: the first elements are reversed
    Start,
    /// At its end, as in left-padded batches: the last elements are reversed
    End,
}

impl From<Alignment> for Align {
    fn from(align: Alignment) -> Self {
        match align {
            Alignment::Start => Align::Start,
            Alignment::End => Align::End,
        }
    }
}

/// What happens to padding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Rest {
    /// They stay
    Keep,
    /// They become zero
    Zero,
}

impl From<Rest> for Tail {
    fn from(tail: Rest) -> Self {
        match tail {
            Rest::Keep => Tail::Keep,
            Rest::Zero => Tail::Zero,
        }
    }
}

/// What a length beyond the axis is.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum Policy {
    /// It is an error
    Strict,
    /// It is clamped to the size of the axis
    Clamp,
}

impl From<Policy> for LengthPolicy {
    fn from(policy: Policy) -> Self {
        match policy {
            Policy::Strict => LengthPolicy::Strict,
            Policy::Clamp => LengthPolicy::Clamp,
        }
    }
}
