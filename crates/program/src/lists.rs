//! Lists on the command line.

use anyhow::{Result, bail};
use retrograde_io::Location;
use std::convert::Infallible;
use std::ffi::OsStr;
use std::str::FromStr;

/// Axes as a list. (With a plain `Vec`, clap would expect the option to be repeated.)
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Axes(pub Vec<Axis>);

/// An axis: its number, which counts from the end if it is negative, or its name. Zarr and NetCDF4
/// arrays have names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Axis {
    /// By number.
    Number(i64),
    /// By name.
    Name(String),
}

impl Axes {
    /// The numbers. Names are an error: only the programs for stores know them.
    pub fn numbers(&self) -> Result<Vec<i64>> {
        let number = |axis: &Axis| match axis {
            Axis::Number(number) => Ok(*number),
            Axis::Name(name) => bail!(
                "--axes: {name:?} is a name, and only axes of Zarr and HDF5 arrays have one: give \
                 numbers such as 0,-1"
            ),
        };
        self.0.iter().map(number).collect()
    }
}

impl FromStr for Axes {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let axis = |entry: &str| match entry.parse() {
            Ok(number) => Some(Axis::Number(number)),
            Err(_) => (!entry.is_empty()).then(|| Axis::Name(entry.to_owned())),
        };
        let axes: Option<_> = entries(text).map(axis).collect();
        axes.map(Axes).ok_or("expected axes such as 0,-1 or lat,lon".to_owned())
    }
}

/// A shape as a list.
#[derive(Debug, Clone)]
pub struct Sizes(pub Vec<usize>);

impl FromStr for Sizes {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let sizes: Option<_> = entries(text).map(|size| size.parse().ok()).collect();
        sizes.map(Sizes).ok_or("expected sizes such as 64,128".to_owned())
    }
}

/// A mask as a list.
#[derive(Debug, Clone)]
pub struct Mask(pub Vec<bool>);

impl FromStr for Mask {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let flag = |entry: &str| match entry.to_ascii_lowercase().as_str() {
            "true" | "1" => Some(true),
            "false" | "0" => Some(false),
            _ => None,
        };
        let flags: Option<_> = entries(text).map(flag).collect();
        flags.map(Mask).ok_or("expected a mask such as true,false or 1,0".to_owned())
    }
}

/// A list, or the file that holds it.
#[derive(Debug, Clone)]
pub enum ListOrFile<L> {
    /// A list.
    List(L),
    /// A file.
    File(Location),
}

/// Lengths or offsets.
pub type LengthsArgument = ListOrFile<Vec<i64>>;

/// A mask of sequences, lanes, segments or entries of a batch.
pub type MaskArgument = ListOrFile<Mask>;

impl<L> ListOrFile<L> {
    /// The list, or what is none as the name of a file.
    fn of(list: Option<L>, text: &str) -> Self {
        list.map_or_else(|| Self::File(Location::from(OsStr::new(text))), Self::List)
    }

    /// The file, if it is one.
    pub fn file(&self) -> Option<&Location> {
        match self {
            ListOrFile::List(_) => None,
            ListOrFile::File(location) => Some(location),
        }
    }
}

impl FromStr for LengthsArgument {
    type Err = Infallible;

    fn from_str(text: &str) -> Result<Self, Infallible> {
        Ok(Self::of(integers(text), text))
    }
}

impl FromStr for MaskArgument {
    type Err = Infallible;

    fn from_str(text: &str) -> Result<Self, Infallible> {
        Ok(Self::of(text.parse().ok(), text))
    }
}

/// Integers between commas.
pub fn integers(text: &str) -> Option<Vec<i64>> {
    entries(text).map(|entry| entry.parse().ok()).collect()
}

/// The entries between the commas; an empty text is an empty list.
fn entries(text: &str) -> impl Iterator<Item = &str> {
    let nothing = text.trim().is_empty();
    text.split(',').map(str::trim).filter(move |_| !nothing)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_read_and_everything_else_is_not() {
        assert_eq!(integers("4, -3,0"), Some(vec![4, -3, 0]));
        assert_eq!(integers(""), Some(vec![]));
        for text in [",", "4,", "4,,3", "x", "4 3", "1.5", "99999999999999999999"] {
            assert_eq!(integers(text), None, "{text}");
        }
        assert_eq!("1,false,TRUE".parse::<Mask>().map(|mask| mask.0), Ok(vec![true, false, true]));
        assert!("2".parse::<Mask>().is_err());
    }

    #[test]
    fn axes_are_numbers_or_names() {
        let parsed = |text: &str| text.parse::<Axes>().map(|Axes(axes)| axes);
        let (number, name) = (Axis::Number, |name: &str| Axis::Name(name.to_owned()));
        assert_eq!(parsed("0,-1"), Ok(vec![number(0), number(-1)]));
        assert_eq!(parsed(" lat , 2"), Ok(vec![name("lat"), number(2)]));
        assert_eq!(parsed(""), Ok(vec![]));
        assert!(parsed("0,,1").is_err());
        assert_eq!("1,-2".parse::<Axes>().unwrap().numbers().unwrap(), [1, -2]);
        assert!("1,lat".parse::<Axes>().unwrap().numbers().is_err());
    }
}
