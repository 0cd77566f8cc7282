//! Arguments of `rot90`.

use super::files::{Input, location};
use clap::Args;
use retrograde_io::{Format, Location};
use retrograde_program::lists::integers;
use retrograde_program::operators::ThreadsArgument;
use std::str::FromStr;

#[derive(Debug, Args)]
pub(crate) struct Rot90Arguments {
    #[command(flatten)]
    pub(crate) input: Input,
    /// Where to write the result; may be the input itself, or - for stdout
    #[arg(short, long, value_name = "OUT", value_parser = location())]
    pub(crate) output: Location,
    /// The output's format, if its extension does not imply one (- is npy)
    #[arg(long, value_name = "FORMAT")]
    pub(crate) to: Option<Format>,
    /// Also write to a read-only file
    #[arg(long)]
    pub(crate) force: bool,
    /// The number of quarter turns; negative ones turn from the second axis to the first
    #[arg(short, value_name = "N", default_value_t = 1, allow_negative_numbers = true)]
    pub(crate) k: i64,
    /// The plane: elements turn from the first of these axes towards the second
    #[arg(long, value_name = "A,B", default_value = "0,1", allow_hyphen_values = true)]
    pub(crate) axes: Plane,
    #[command(flatten)]
    pub(crate) threads: ThreadsArgument,
}

/// Two axes, in order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Plane(pub(crate) [i64; 2]);

impl FromStr for Plane {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let axes = integers(text).and_then(|axes| axes.try_into().ok());
        axes.map(Plane).ok_or("expected two axes such as 0,1 or -2,-1".to_owned())
    }
}
