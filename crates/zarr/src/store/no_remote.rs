//! Stands in for stores behind URLs in a build without them: there are none.

use super::{Extent, Found, Listing, Store};
use std::io;

/// A store behind a URL, which cannot exist.
#[derive(Debug, Clone)]
pub struct Remote(std::convert::Infallible);

impl Remote {
    /// Fails: the feature `remote` is off.
    pub fn open(url: &str, _inside: &str) -> io::Result<Remote> {
        let why = format!("{url}: this build has no stores behind URLs (the feature `remote`)");
        Err(io::Error::new(io::ErrorKind::Unsupported, why))
    }

    pub(crate) fn split(&self) -> (Remote, &str) {
        match self.0 {}
    }

    pub(crate) fn overlaps(&self, _: &Remote) -> bool {
        match self.0 {}
    }

    pub(crate) fn is_writable(&self) -> bool {
        match self.0 {}
    }

    pub(crate) fn has_objects(&self) -> io::Result<bool> {
        match self.0 {}
    }

    pub(crate) fn remove_all(&self) -> io::Result<()> {
        match self.0 {}
    }

    pub(crate) fn inside(&self, _: &str) -> Remote {
        match self.0 {}
    }
}

impl Store for Remote {
    fn name(&self, _: &str) -> String {
        match self.0 {}
    }

    fn read(&self, _: &str, _: Extent, _: &mut Vec<u8>) -> io::Result<Option<Found>> {
        match self.0 {}
    }

    fn stat(&self, _: &str) -> io::Result<Option<Found>> {
        match self.0 {}
    }

    fn write(&self, _: &str, _: Vec<u8>) -> io::Result<Vec<u8>> {
        match self.0 {}
    }

    fn remove(&self, _: &str) -> io::Result<()> {
        match self.0 {}
    }

    fn list(&self, _: &str) -> io::Result<Listing> {
        match self.0 {}
    }

    fn copy(&self, _: &str, _: &dyn Store, _: &str, _: u64) -> io::Result<Option<Found>> {
        match self.0 {}
    }
}
