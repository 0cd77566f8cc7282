//! Arguments that an operator has in every program.

use crate::lists::{Axes, Mask};
use clap::{Args, ValueEnum};
use retrograde::{Align, LengthPolicy, Tail};

/// Which axes Reverse reverses.
#[derive(Debug, Clone, Args)]
pub struct AxesArguments {
    /// The axes to reverse, such as 0,-1; negative ones count from the end. Those of Zarr and HDF5
    /// arrays may have names: lat,lon
    ///
    /// Numbers apply to every array of a group, names to the arrays that have them.
    #[arg(long, value_name = "AXES", allow_hyphen_values = true, conflicts_with = "mask")]
    pub axes: Option<Axes>,
    /// One boolean (true, false, 1 or 0) per axis
    #[arg(long, value_name = "MASK")]
    pub mask: Option<Mask>,
    /// What to do with an axis that --axes names twice
    #[arg(long, value_enum, default_value_t = Duplicates::Set, requires = "axes")]
    pub duplicates: Duplicates,
}

/// What ReverseSequence takes besides its lengths.
#[derive(Debug, Clone, Copy, Args)]
pub struct SequenceArguments {
    /// The axis that is reversed; negative values count from the end
    #[arg(long, value_name = "AXIS", default_value_t = 0, allow_negative_numbers = true)]
    pub time_axis: i64,
    /// The axis with one length per entry; negative values count from the end
    #[arg(long, value_name = "AXIS", default_value_t = 1, allow_negative_numbers = true)]
    pub batch_axis: i64,
    /// What to do with a length beyond the axis
    #[arg(long, value_enum, default_value_t = Policy::Strict)]
    pub policy: Policy,
    /// Where the padding is.
    #[command(flatten)]
    pub padding: PaddingArguments,
}

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
