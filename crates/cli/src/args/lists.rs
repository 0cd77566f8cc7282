//! Lists of numbers on the command line.

use retrograde_io::Location;
use std::convert::Infallible;
use std::ffi::OsStr;
use std::str::FromStr;

/// Axes as a list. (With a plain `Vec`, clap would expect the option to be repeated.)
#[derive(Debug, Clone)]
pub(crate) struct Axes(pub(crate) Vec<i64>);

impl FromStr for Axes {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        integers(text).map(Axes).ok_or("expected axes such as 0,-1".to_owned())
    }
}

/// A shape as a list.
#[derive(Debug, Clone)]
pub(crate) struct Sizes(pub(crate) Vec<usize>);

impl FromStr for Sizes {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let sizes: Option<_> = entries(text).map(|size| size.parse().ok()).collect();
        sizes.map(Sizes).ok_or("expected sizes such as 64,128".to_owned())
    }
}

/// A mask as a list.
#[derive(Debug, Clone)]
pub(crate) struct Mask(pub(crate) Vec<bool>);

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

/// Lengths as a list, or the file that holds them.
#[derive(Debug, Clone)]
pub(crate) enum LengthsArgument {
    List(Vec<i64>),
    File(Location),
}

impl FromStr for LengthsArgument {
    type Err = Infallible;

    fn from_str(text: &str) -> Result<Self, Infallible> {
        Ok(match integers(text) {
            Some(list) => LengthsArgument::List(list),
            None => LengthsArgument::File(Location::from(OsStr::new(text))),
        })
    }
}

fn integers(text: &str) -> Option<Vec<i64>> {
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
}
