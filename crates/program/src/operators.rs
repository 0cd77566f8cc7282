//! Arguments that an operator has in every program.

use crate::lists::{Axes, Mask};
use anyhow::{Result, bail};
use clap::{Args, ValueEnum};
use retrograde::{Align, LengthPolicy, Tail, cpu};
use std::num::NonZeroUsize;

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

/// How many threads move data.
#[derive(Debug, Clone, Copy, Default, Args)]
pub struct ThreadsArgument {
    /// The most threads to use (default: one per processor, and 16 if a server is involved)
    #[arg(long, value_name = "N")]
    pub threads: Option<NonZeroUsize>,
}

impl ThreadsArgument {
    /// The number, if one was given: at most as many as the engine can have.
    pub fn checked(self) -> Result<Option<usize>> {
        let (threads, most) = (self.threads.map(NonZeroUsize::get), cpu::max_threads());
        match threads {
            Some(number) if number > most => bail!("--threads {number}: expected 1 to {most}"),
            threads => Ok(threads),
        }
    }

    /// Runs work whose calls of the engine use so many threads.
    pub fn run<T>(self, work: impl FnOnce() -> Result<T>) -> Result<T> {
        match self.checked()? {
            Some(threads) => cpu::with_threads(threads, work),
            None => work(),
        }
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_of_threads_limits_the_engine() {
        let threads = |number| ThreadsArgument { threads: NonZeroUsize::new(number) };
        let used = |argument: ThreadsArgument| argument.run(|| Ok(cpu::num_threads()));
        let usual = cpu::num_threads();
        assert_eq!(used(threads(0)).unwrap(), usual);
        for number in [1, 2, cpu::max_threads()] {
            assert_eq!(used(threads(number)).unwrap(), number);
        }
        let error = used(threads(cpu::max_threads() + 1)).unwrap_err().to_string();
        assert!(error.ends_with(&format!("expected 1 to {}", cpu::max_threads())), "{error}");
        assert_eq!(cpu::num_threads(), usual);
    }
}
