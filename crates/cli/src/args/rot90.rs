//! Arguments of `rot90`.

use super::files::{Input, location};
use clap::Args;
use retrograde_io::{Format, Location};

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
    #[arg(
        long, num_args = 2, value_names = ["A", "B"], default_values_t = [0, 1],
        allow_negative_numbers = true
    )]
    pub(crate) axes: Vec<i64>,
}
