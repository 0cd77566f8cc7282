//! Where arrays are: `STORE`, `STORE:PATH`, `FILE:DATASET`, or the same with a URL.

use anyhow::{Result, anyhow, bail};
use retrograde_zarr::Target;
use retrograde_zarr::store::{Local, Remote, Store};
use std::convert::Infallible;
use std::fmt;
use std::path::Path;
use std::str::FromStr;

/// A store or file, and what is in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Location {
    /// The path or URL.
    pub(crate) place: String,
    /// The path of an array or group in it; empty for the whole.
    pub(crate) inside: String,
}

impl Location {
    /// Whether it is a URL.
    pub(crate) fn is_url(&self) -> bool {
        self.place.contains("://")
    }

    /// Whether it is an HDF5 file.
    pub(crate) fn is_hdf5(&self) -> bool {
        !self.is_url() && retrograde_zarr::is_hdf5(Path::new(&self.place))
    }

    /// The store that it names.
    pub(crate) fn open(&self) -> Result<Box<dyn Store>> {
        if self.is_url() {
            return Ok(Box::new(self.remote()?));
        }
        let path = Path::new(&self.place);
        if let Err(error) = path.metadata() {
            bail!("cannot read {}: {error}", self.place);
        }
        Ok(Box::new(Local::new(path.join(&self.inside))))
    }

    fn remote(&self) -> Result<Remote> {
        let opened = Remote::open(&self.place, &self.inside);
        opened.map_err(|error| anyhow!("cannot use {self}: {error}"))
    }

    /// The output that it names.
    pub(crate) fn target(&self) -> Result<Target> {
        if self.is_url() {
            if !self.inside.is_empty() {
                bail!("-o {self}: in an object store, an output is a whole store");
            }
            if self.has_extension(&["npy"]) {
                bail!(
                    "-o {self}: an .npy file cannot be written to a URL; write a file or a store"
                );
            }
            return Ok(Target::Remote(self.remote()?));
        }
        let path = Path::new(&self.place);
        Ok(match self.inside.as_str() {
            "" => Target::from(path),
            inside => Target::Inside(path.to_owned(), inside.to_owned()),
        })
    }

    /// Whether the place has this extension.
    pub(crate) fn has_extension(&self, known: &[&str]) -> bool {
        let extension = Path::new(&self.place).extension();
        extension.is_some_and(|found| known.iter().any(|known| found.eq_ignore_ascii_case(known)))
    }
}

impl FromStr for Location {
    type Err = Infallible;

    /// The place ends at `.zarr:`, or else at the first colon behind something that exists; the rest
    /// is the path inside. If the whole text exists, it is the place.
    fn from_str(text: &str) -> std::result::Result<Self, Infallible> {
        let split = |at: usize| Location {
            place: text[..at].to_owned(),
            inside: text[at + 1..].trim_matches('/').to_owned(),
        };
        let whole = Location { place: text.to_owned(), inside: String::new() };
        if let Some(at) = text.find(".zarr:") {
            return Ok(split(at + ".zarr".len()));
        }
        if whole.is_url() || Path::new(text).exists() {
            return Ok(whole);
        }
        let mut splits = retrograde_io::Location::splits(text);
        let named = splits.find(|(place, _)| Path::new(place).exists());
        Ok(named.map_or(whole, |(place, _)| split(place.len())))
    }
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.inside.as_str() {
            "" => write!(f, "{}", self.place),
            inside => write!(f, "{}:{inside}", self.place),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_inside_stand_behind_a_colon() {
        let at = |text: &str| {
            let Ok(location) = text.parse::<Location>();
            (location.place, location.inside)
        };
        let is = |place: &str, inside: &str| (place.to_owned(), inside.to_owned());
        assert_eq!(at("a/in.zarr"), is("a/in.zarr", ""));
        assert_eq!(at("a/in.zarr:x/y"), is("a/in.zarr", "x/y"));
        assert_eq!(at("in.zarr:/x/"), is("in.zarr", "x"));
        assert_eq!(at("s3://b/in.zarr:x"), is("s3://b/in.zarr", "x"));
        assert_eq!(at("http://h:80/data"), is("http://h:80/data", ""));
        assert_eq!(at("none:x"), is("none:x", ""));
        assert_eq!(at("Cargo.toml:x"), is("Cargo.toml", "x"));
        assert_eq!(at("Cargo.toml:dense/kernel:0"), is("Cargo.toml", "dense/kernel:0"));
    }
}
