//! Where arrays are that belong to `retrograde-zarr`: `STORE`, `STORE:PATH`, `FILE:DATASET`, or the
//! same with a URL. What is a store is known here, because the command passes stores on.

use retrograde_io::Location;
use std::convert::Infallible;
use std::fmt;
use std::io::Read;
use std::iter;
use std::path::Path;
use std::str::FromStr;

const URLS: [&str; 3] = ["s3://", "http://", "https://"];
const EXTENSIONS: [&str; 6] = ["zarr", "h5", "hdf5", "nc", "nc4", "he5"];
/// Files that a folder has if it is a store.
const METADATA: [&str; 3] = ["zarr.json", ".zarray", ".zgroup"];
/// How HDF5 files begin.
const SIGNATURE: &[u8; 8] = b"\x89HDF\r\n\x1a\n";

/// A store or file, and what is in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The path or URL.
    pub place: String,
    /// The path of an array or group in it; empty for the whole.
    pub inside: String,
}

impl Place {
    /// Whether it is a URL.
    pub fn is_url(&self) -> bool {
        self.place.contains("://")
    }

    /// Whether the place has one of these extensions.
    pub fn has_extension(&self, known: &[&str]) -> bool {
        has_extension(Path::new(&self.place), known)
    }
}

impl FromStr for Place {
    type Err = Infallible;

    /// The place ends at `.zarr:`, or else at the first colon behind something that exists; the rest
    /// is the path inside. If the whole text exists, it is the place.
    fn from_str(text: &str) -> Result<Self, Infallible> {
        let split = |at: usize| Place {
            place: text[..at].to_owned(),
            inside: text[at + 1..].trim_matches('/').to_owned(),
        };
        let whole = Place { place: text.to_owned(), inside: String::new() };
        if let Some(at) = text.find(".zarr:") {
            return Ok(split(at + ".zarr".len()));
        }
        if whole.is_url() || Path::new(text).exists() {
            return Ok(whole);
        }
        let named = Location::splits(text).find(|(place, _)| Path::new(place).exists());
        Ok(named.map_or(whole, |(place, _)| split(place.len())))
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.inside.as_str() {
            "" => write!(f, "{}", self.place),
            inside => write!(f, "{}:{inside}", self.place),
        }
    }
}

/// Whether a location is that of a Zarr store, an HDF5 file or a URL: by its content if it exists,
/// or by its name.
pub fn is_store(location: &Location) -> bool {
    if location.path.to_str().is_none() {
        return is_store_at(&location.path);
    }
    let text = location.to_string();
    if URLS.iter().any(|scheme| text.starts_with(scheme)) || text.contains(".zarr:") {
        return true;
    }
    // As for any file, the whole text comes first and then the first colon behind something that
    // exists.
    let paths = || iter::once(text.as_str()).chain(Location::splits(&text).map(|(path, _)| path));
    match paths().map(Path::new).find(|path| path.exists()) {
        Some(path) => is_store_at(path),
        None => paths().any(|path| is_store_at(Path::new(path))),
    }
}

fn is_store_at(path: &Path) -> bool {
    if path.is_dir() {
        return METADATA.iter().any(|name| path.join(name).exists());
    }
    if path.is_file() {
        let mut start = [0; 8];
        let read = std::fs::File::open(path).and_then(|mut file| file.read_exact(&mut start));
        return read.is_ok() && start == *SIGNATURE;
    }
    has_extension(path, &EXTENSIONS)
}

fn has_extension(path: &Path, known: &[&str]) -> bool {
    let extension = path.extension();
    extension.is_some_and(|found| known.iter().any(|known| found.eq_ignore_ascii_case(known)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ffi::OsStr;

    #[test]
    fn paths_inside_stand_behind_a_colon() {
        let at = |text: &str| {
            let Ok(location) = text.parse::<Place>();
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

    #[test]
    fn datasets_may_have_colons_in_their_names() {
        let folder = tempfile::tempdir().unwrap();
        let is = |name: &str| is_store(&Location::from(folder.path().join(name).as_os_str()));
        assert!(is("k.h5:dense/kernel:0") && is("k:0.h5:dense/kernel:0"));
        // What exists decides, not the name of a tensor in it.
        std::fs::write(folder.path().join("k.npz"), b"").unwrap();
        std::fs::write(folder.path().join("k"), SIGNATURE).unwrap();
        assert!(is("k:dense/kernel:0") && !is("k.npz:dense/kernel.h5:0"));
    }

    #[test]
    fn stores_are_known_by_their_names_and_contents() {
        let is = |text: &str| is_store(&Location::from(OsStr::new(text)));
        for store in ["a.zarr", "a.ZARR", "a.zarr:x/y", "s3://b/c", "http://h/x", "no.nc:t", "x.h5"]
        {
            assert!(is(store), "{store}");
        }
        for other in ["a.npy", "a.npz:zarr", "reverse", "-", "src", "zarr", "src/lib.rs"] {
            assert!(!is(other), "{other}");
        }
    }
}
