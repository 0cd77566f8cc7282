//! The file formats, and which one a file name implies.

use std::ffi::OsStr;
use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

/// A tensor file format.
///
/// To add a format, add a variant here with its name and its first bytes below, a module that reads
/// and writes its header, and an arm in each place that dispatches on formats
/// ([`open`](crate::open()), [`list`](crate::list), [`Output`](crate::Output)).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Format {
    /// NumPy's file with one array.
    Npy,
    /// NumPy's archive of named arrays.
    Npz,
    /// Named tensors after a JSON header.
    Safetensors,
    /// ONNX's message with one tensor (TensorProto).
    Pb,
    /// Elements without a header.
    Raw,
}

impl Format {
    /// Every format.
    pub const ALL: [Format; 5] =
        [Format::Npy, Format::Npz, Format::Safetensors, Format::Pb, Format::Raw];

    /// The format that a file's extension implies.
    pub fn of(path: &Path) -> Option<Format> {
        let extension = path.extension().and_then(OsStr::to_str)?.to_ascii_lowercase();
        match extension.as_str() {
            "bin" | "dat" => Some(Format::Raw),
            name => name.parse().ok(),
        }
    }

    /// The format that a file's first bytes suggest. A TensorProto has no magic number.
    pub(crate) fn sniff(start: &[u8]) -> Option<Format> {
        match start {
            [0x93, b'N', b'U', b'M', b'P', b'Y', ..] => Some(Format::Npy),
            [b'P', b'K', 3, 4, ..] | [b'P', b'K', 5, 6, ..] => Some(Format::Npz),
            [_, _, _, _, 0, 0, 0, 0, b'{', ..] => Some(Format::Safetensors),
            _ => None,
        }
    }

    /// Whether its tensors have names.
    pub fn has_names(self) -> bool {
        matches!(self, Format::Npz | Format::Safetensors)
    }

    /// Its name, which is its usual extension.
    pub const fn name(self) -> &'static str {
        match self {
            Format::Npy => "npy",
            Format::Npz => "npz",
            Format::Safetensors => "safetensors",
            Format::Pb => "pb",
            Format::Raw => "raw",
        }
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Format {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let known = Format::ALL.into_iter().find(|format| format.name() == text);
        known.ok_or_else(|| "expected npy, npz, safetensors, pb or raw".to_owned())
    }
}

/// Where a tensor is: `FILE`, `FILE:NAME`, or `-` for stdin or stdout.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Location {
    /// The file; `-` for a standard stream.
    pub path: PathBuf,
    /// The tensor's name in the file.
    pub name: Option<String>,
}

impl Location {
    /// A whole file.
    pub fn file(path: impl Into<PathBuf>) -> Location {
        Location { path: path.into(), name: None }
    }

    /// Every way to read a text as `FILE:NAME`, from the first colon to the last: both may contain
    /// colons. The one behind a drive letter of Windows belongs to the file.
    pub fn splits(text: &str) -> impl Iterator<Item = (&str, &str)> {
        splits(text, cfg!(windows))
    }

    /// The format that its name implies; none for stdin and stdout.
    pub fn format(&self) -> Option<Format> {
        Format::of(&self.path).filter(|_| !self.is_stream())
    }

    /// Whether it is stdin or stdout.
    pub fn is_stream(&self) -> bool {
        self.path.as_os_str() == "-"
    }
}

impl From<&OsStr> for Location {
    /// The file ends at the first colon behind a file that exists, or else behind the extension of a
    /// format with names; the rest is the name. If the whole text exists, it is the file.
    fn from(text: &OsStr) -> Self {
        let whole = Location::file(text);
        let Some(text) = text.to_str().filter(|_| !whole.path.exists()) else { return whole };
        let exists = |&(path, _): &(&str, &str)| path == "-" || Path::new(path).is_file();
        let has_names =
            |&(path, _): &(&str, &str)| Format::of(Path::new(path)).is_some_and(Format::has_names);
        let mut splits = Location::splits(text);
        let found = splits.find(exists).or_else(|| Location::splits(text).find(has_names));
        found.map_or(whole, |(path, name)| Location {
            path: path.into(),
            name: Some(name.to_owned()),
        })
    }
}

/// [`Location::splits`], with or without drive letters.
fn splits(text: &str, drives: bool) -> impl Iterator<Item = (&str, &str)> {
    let drive = drives && text.starts_with(|first: char| first.is_ascii_alphabetic());
    let colons = text.match_indices(':').map(|(at, _)| at);
    colons.filter(move |&at| at > 0 && !(drive && at == 1)).map(|at| (&text[..at], &text[at + 1..]))
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.name {
            Some(name) => write!(f, "{}:{name}", self.path.display()),
            None => write!(f, "{}", self.path.display()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn extensions_name_formats() {
        let of = |name: &str| Format::of(Path::new(name));
        assert_eq!(of("a/b.NPY"), Some(Format::Npy));
        assert_eq!(of("b.npz"), Some(Format::Npz));
        assert_eq!(of("b.safetensors"), Some(Format::Safetensors));
        assert_eq!(of("b.pb"), Some(Format::Pb));
        assert_eq!(of("b.bin"), Some(Format::Raw));
        assert_eq!((of("b"), of("npy"), of("b.txt")), (None, None, None));
    }

    #[test]
    fn names_stand_behind_a_colon() {
        let at = |text: &str| Location::from(OsStr::new(text));
        let named =
            |path: &str, name: &str| Location { path: path.into(), name: Some(name.to_owned()) };
        assert_eq!(at("x.npz:a.b"), named("x.npz", "a.b"));
        assert_eq!(at("no/x.safetensors:layer:0"), named("no/x.safetensors", "layer:0"));
        assert_eq!(at("x.npz:y.npz:z"), named("x.npz", "y.npz:z"));
        assert_eq!(at("-:w:0"), named("-", "w:0"));
        assert_eq!(at("C:\\x.npy"), Location::file("C:\\x.npy"));
        assert_eq!(at("x.npy"), Location::file("x.npy"));
    }

    // Elsewhere, names of files have no colons.
    #[cfg(unix)]
    #[test]
    fn a_file_that_exists_comes_before_an_extension() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
        let at = |name: &str| Location::from(OsStr::new(&path(name)));
        let named = |file: &str, name: &str| Location {
            path: path(file).into(),
            name: Some(name.to_owned()),
        };
        assert_eq!(at("a.npz:b:w:0"), named("a.npz", "b:w:0"));
        // A colon in the name of a file.
        std::fs::write(path("a.npz:b"), b"").unwrap();
        assert_eq!(at("a.npz:b:w:0"), named("a.npz:b", "w:0"));
        assert_eq!(at("a.npz:b"), Location::file(path("a.npz:b")));
        // The first of two.
        std::fs::write(path("a.npz"), b"").unwrap();
        assert_eq!(at("a.npz:b:w:0"), named("a.npz", "b:w:0"));
        std::fs::write(path("plain"), b"").unwrap();
        assert_eq!(at("plain:w:0"), named("plain", "w:0"));
    }

    #[test]
    fn a_drive_letter_is_no_file() {
        let all = |text, drives| splits(text, drives).collect::<Vec<_>>();
        let both = [("C:\\k.npz", "dense/kernel:0"), ("C:\\k.npz:dense/kernel", "0")];
        assert_eq!(all("C:\\k.npz:dense/kernel:0", true), both);
        assert_eq!(all("C:\\k.npz:dense/kernel:0", false)[0].0, "C");
        assert_eq!(all("CC:w", true), [("CC", "w")]);
        assert_eq!(all(":w", true), []);
    }
}
