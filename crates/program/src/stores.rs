//! Options for Zarr stores and HDF5 files: `retrograde-zarr` takes them, and the command declares
//! them, because it passes stores on.

use anyhow::{Result, bail};
use clap::Args;
use std::str::FromStr;

/// How to work on a store.
#[derive(Debug, Clone, Copy, Default, Args)]
#[command(next_help_heading = "Zarr and HDF5")]
pub struct StoreArguments {
    /// The most memory to use, such as 512M or 2GiB [default: 1G]
    #[arg(long, value_name = "SIZE")]
    pub memory: Option<Size>,
    /// Do not wait until a new output is on the disk
    #[arg(long)]
    pub no_sync: bool,
    /// Identify input chunks by a checksum of their content instead of by size, times and inode, or
    /// ETag
    ///
    /// Each run reads all inputs. What runs without this option have completed is done again.
    #[arg(long)]
    pub verify: bool,
}

impl StoreArguments {
    /// The names of the options.
    pub const NAMES: [&'static str; 3] = ["memory", "no_sync", "verify"];

    /// Refuses the options for a file that is no store, which would otherwise be ignored silently.
    pub fn refuse(&self, file: &str) -> Result<()> {
        let given = [
            (self.memory.is_some(), "--memory", "other files are mapped, and need no limit"),
            (self.no_sync, "--no-sync", "new files in other formats are not waited for"),
            (self.verify, "--verify", "only work on stores goes on after an interruption"),
        ];
        match given.into_iter().find(|(given, ..)| *given) {
            Some((_, option, instead)) => bail!(
                "{option} is for Zarr stores and HDF5 files, and {file} is neither: omit it \
                 ({instead})"
            ),
            None => Ok(()),
        }
    }
}

/// A number of bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Size(pub u64);

impl FromStr for Size {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let lower = text.trim().to_ascii_lowercase();
        let digits = lower.trim_end_matches(|c: char| c.is_ascii_alphabetic());
        let shift = match &lower[digits.len()..] {
            "" | "b" => Some(0),
            "k" | "kb" | "kib" => Some(10),
            "m" | "mb" | "mib" => Some(20),
            "g" | "gb" | "gib" => Some(30),
            "t" | "tb" | "tib" => Some(40),
            _ => None,
        };
        let number = digits.trim().parse::<u64>().ok().filter(|&number| number > 0);
        let bytes = number.zip(shift).and_then(|(number, shift)| number.checked_mul(1 << shift));
        bytes.map(Size).ok_or("expected a size such as 512M or 2G".to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_units() {
        for (text, bytes) in [("512M", 512 << 20), ("2g", 2 << 30), ("100", 100), ("3 KiB", 3072)] {
            assert_eq!(text.parse(), Ok(Size(bytes)));
        }
        for text in ["", "0", "M", "1.5G", "-1", "9999999999999999T", "4x"] {
            assert!(text.parse::<Size>().is_err(), "{text}");
        }
    }
}
