//! Strings of any width: their bytes stay where they are, and each has a fixed-width handle, which
//! is what moves.
//!
//! A list of Rust strings would take about forty bytes of memory for each. Handles are stored in a
//! temporary file if there are many.

use crate::spool;
use bytes::Bytes;
use retrograde::DType;
use std::fmt;
use std::io;
use std::path::Path;

/// A handle: the start and the length of a string, each a little-endian `u64`.
pub(crate) const HANDLE: DType = DType::Bytes(HANDLE_BYTES);
const HANDLE_BYTES: usize = 16;

/// Strings as bytes, which need not be valid text. Clones share them.
#[derive(Clone)]
pub struct Strings {
    text: Bytes,
    handles: Bytes,
}

impl Strings {
    /// How many there are.
    pub fn len(&self) -> usize {
        self.handles.len() / HANDLE_BYTES
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.handles.is_empty()
    }

    /// One of them.
    pub fn get(&self, at: usize) -> Option<&[u8]> {
        let start = at.checked_mul(HANDLE_BYTES)?;
        let handle = self.handles.get(start..start.checked_add(HANDLE_BYTES)?)?;
        Some(string_at(&self.text, handle))
    }

    /// All of them, in order.
    pub fn iter(&self) -> impl Iterator<Item = &[u8]> + Clone {
        self.handles.chunks_exact(HANDLE_BYTES).map(|handle| string_at(&self.text, handle))
    }

    /// Their total size in bytes.
    pub fn byte_len(&self) -> usize {
        self.iter().map(<[u8]>::len).sum()
    }

    /// The bytes that the handles point into.
    pub(crate) fn text(&self) -> &Bytes {
        &self.text
    }

    /// The handles, as elements of [`HANDLE`].
    pub(crate) fn handles(&self) -> &Bytes {
        &self.handles
    }

    /// The same strings in another order, or some of them.
    pub(crate) fn with_handles(&self, handles: Bytes) -> Strings {
        Strings { text: self.text.clone(), handles }
    }

    /// The same strings in another text, in which their own begins at `start`.
    pub(crate) fn moved_to(&self, text: Bytes, start: usize) -> Strings {
        let mut handles = Vec::with_capacity(self.handles.len());
        for handle in self.handles.chunks_exact(HANDLE_BYTES) {
            let (old, len) = handle.split_at(HANDLE_BYTES / 2);
            let moved = number(old).saturating_add(start) as u64;
            handles.extend_from_slice(&moved.to_le_bytes());
            handles.extend_from_slice(len);
        }
        Strings { text, handles: handles.into() }
    }

    /// `count` strings at these ranges of `text`; an error in `places` is returned.
    ///
    /// The handles go to a temporary file in this folder if there are many. Ranges outside the
    /// text, or a number of ranges other than `count`, are an error.
    pub(crate) fn at<E: From<io::Error>>(
        text: Bytes,
        count: usize,
        places: impl Iterator<Item = Result<std::ops::Range<usize>, E>>,
        folder: &Path,
    ) -> Result<Strings, E> {
        let changed = || io::Error::other("the file changed while it was being read");
        let len = count.checked_mul(HANDLE_BYTES).ok_or(io::ErrorKind::StorageFull);
        let mut handles = spool::zeroed(len.map_err(io::Error::from)?, folder)?;
        let mut left = handles.chunks_exact_mut(HANDLE_BYTES);
        for place in places {
            let place = place?;
            let handle = left.next().filter(|_| text.get(place.clone()).is_some());
            let (start, len) = handle.ok_or_else(changed)?.split_at_mut(8);
            start.copy_from_slice(&(place.start as u64).to_le_bytes());
            len.copy_from_slice(&(place.len() as u64).to_le_bytes());
        }
        if left.next().is_some() {
            return Err(changed().into());
        }
        let handles = Bytes::from_owner(handles.freeze()?);
        Ok(Strings { text, handles })
    }
}

/// The string of a handle; empty if the handle is out of bounds.
pub(crate) fn string_at<'a>(text: &'a [u8], handle: &[u8]) -> &'a [u8] {
    let (start, len) = handle.split_at(HANDLE_BYTES / 2);
    let start = number(start);
    text.get(start..start.saturating_add(number(len))).unwrap_or_default()
}

/// A little-endian number of a handle.
fn number(bytes: &[u8]) -> usize {
    let joined = bytes.iter().rev().fold(0, |number: u64, byte| number << 8 | u64::from(*byte));
    usize::try_from(joined).unwrap_or(usize::MAX)
}

/// Strings in memory.
impl FromIterator<Bytes> for Strings {
    fn from_iter<I: IntoIterator<Item = Bytes>>(strings: I) -> Self {
        let (mut text, mut handles) = (Vec::new(), Vec::new());
        for string in strings {
            handles.extend_from_slice(&(text.len() as u64).to_le_bytes());
            handles.extend_from_slice(&(string.len() as u64).to_le_bytes());
            text.extend_from_slice(&string);
        }
        Strings { text: text.into(), handles: handles.into() }
    }
}

/// Compares the strings, not where they are stored.
impl PartialEq for Strings {
    fn eq(&self, other: &Self) -> bool {
        self.len() == other.len() && self.iter().eq(other.iter())
    }
}

impl Eq for Strings {}

impl fmt::Debug for Strings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter().map(|string| string.escape_ascii().to_string())).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_are_where_their_handles_say() {
        let folder = std::env::temp_dir();
        let at = |count, places: &[(usize, usize)]| {
            let places = places.iter().map(|&(start, end)| Ok(start..end));
            Strings::at::<io::Error>("abcdef".into(), count, places, &folder)
        };
        let strings = at(3, &[(4, 6), (1, 1), (0, 3)]).unwrap();
        assert_eq!(strings.iter().collect::<Vec<_>>(), [&b"ef"[..], b"", b"abc"]);
        assert_eq!((strings.get(2), strings.get(3)), (Some(&b"abc"[..]), None));
        assert_eq!((strings.len(), strings.byte_len()), (3, 5));
        assert_eq!(strings, ["ef", "", "abc"].map(Bytes::from).into_iter().collect());
        assert_ne!(strings, ["ef", "abc"].map(Bytes::from).into_iter().collect());
        for (count, places) in [(1, &[(4, 7)][..]), (2, &[(0, 1)]), (0, &[(0, 1)]), (1, &[(3, 2)])]
        {
            assert!(at(count, places).is_err(), "{count} {places:?}");
        }
        let text = Bytes::from("--abcdef");
        assert_eq!(strings.moved_to(text, 2), strings);
        let outside = [255; HANDLE_BYTES];
        assert_eq!(string_at(b"abc", &outside), b"");
    }
}
