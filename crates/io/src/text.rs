//! Strings as cells of one width, as NumPy has them: text in four bytes a character (`U`), or
//! bytes where they are no text (`S`); zeros fill a cell.

use crate::element::ElementType;
use crate::npy::{Descr, Kind};
use crate::spool;
use crate::strings::Strings;
use bytes::Bytes;
use std::borrow::Cow;
use std::io::{self, Write};
use std::path::Path;

/// Cells may take this many bytes, or else this many times what the strings take: one long
/// string among many short ones must not fill the disk.
const MOST: usize = 1 << 30;
const MOST_TIMES: usize = 16;
/// Cells of no width take nothing in a file, so a header may claim any number of them; as strings
/// each of them takes room.
const MOST_EMPTY: usize = 1 << 16;

/// Cells that are as wide as the longest of some strings.
#[derive(Debug)]
pub(crate) struct Cells {
    pub(crate) descr: Descr,
    width: usize,
    is_text: bool,
}

impl Cells {
    /// Cells for these strings, which take so many bytes where they lie; or why there are none.
    pub(crate) fn of<'a>(
        strings: impl Iterator<Item = &'a [u8]> + Clone,
        taken: usize,
    ) -> Result<Cells, String> {
        let (mut count, mut bytes, mut letters, mut is_text) = (0usize, 1, 1, true);
        for string in strings {
            if string.last() == Some(&0) {
                return Err(format!(
                    "string {count} ends in a zero byte, which only .pb files can hold"
                ));
            }
            count += 1;
            bytes = bytes.max(string.len());
            is_text = is_text
                && std::str::from_utf8(string).is_ok_and(|text| {
                    letters = letters.max(text.chars().count());
                    true
                });
        }
        let (kind, longest, unit) = if is_text { ("<U", letters, 4) } else { ("|S", bytes, 1) };
        let width = longest.saturating_mul(unit);
        let most = taken.saturating_mul(MOST_TIMES).max(MOST);
        if width.saturating_mul(count) > most {
            return Err(format!(
                "{count} strings, each as wide as the longest, take over {most} bytes"
            ));
        }
        let descr = format!("{kind}{longest}").parse();
        let descr = descr.map_err(|_| "too long for a cell".to_owned())?;
        Ok(Cells { descr, width, is_text })
    }

    /// Bytes of a cell.
    pub(crate) fn width(&self) -> usize {
        self.width
    }

    /// Writes strings as cells.
    pub(crate) fn write<'a>(
        &self,
        strings: impl Iterator<Item = &'a [u8]>,
        out: &mut impl Write,
    ) -> io::Result<()> {
        let mut out = io::BufWriter::with_capacity(1 << 16, out);
        let mut cell = vec![0; self.width];
        for string in strings {
            cell.fill(0);
            match (self.is_text, std::str::from_utf8(string)) {
                (true, Ok(text)) => {
                    for (place, letter) in cell.chunks_exact_mut(4).zip(text.chars()) {
                        place.copy_from_slice(&u32::from(letter).to_le_bytes());
                    }
                }
                // Only if the file was changed since it was looked at.
                (true, Err(_)) => return Err(io::Error::other("the strings changed meanwhile")),
                (false, _) => {
                    let len = string.len().min(self.width);
                    cell[..len].copy_from_slice(&string[..len]);
                }
            }
            out.write_all(&cell)?;
        }
        out.flush()
    }
}

/// The letters in a cell of text, without the zeros that fill it; `None` for what is none.
fn letters(cell: &[u8], big_endian: bool) -> impl Iterator<Item = Option<char>> + '_ {
    let join = |code, &byte: &u8| code << 8 | u32::from(byte);
    let code = move |four: &[u8]| match big_endian {
        true => four.iter().fold(0, join),
        false => four.iter().rev().fold(0, join),
    };
    let used = cell.chunks_exact(4).rposition(|four| four != [0; 4]).map_or(0, |last| last + 1);
    cell.chunks_exact(4).take(used).map(move |four| char::from_u32(code(four)))
}

/// What a cell of bytes holds, without the zeros that fill it.
fn trimmed(cell: &[u8]) -> &[u8] {
    &cell[..cell.iter().rposition(|&byte| byte != 0).map_or(0, |last| last + 1)]
}

/// Bytes of the string in a cell; or why there is none.
pub(crate) fn len_in(element: &ElementType, cell: &[u8]) -> Result<usize, &'static str> {
    if element.kind() != Kind::Text {
        return Ok(trimmed(cell).len());
    }
    let letters = letters(cell, element.is_big_endian());
    let len: Option<usize> = letters.map(|letter| letter.map(char::len_utf8)).sum();
    len.ok_or("a string has a code that is no character")
}

/// The string in a cell, of which [`len_in`] found that there is one.
pub(crate) fn string_in<'a>(element: &ElementType, cell: &'a [u8]) -> Cow<'a, [u8]> {
    if element.kind() != Kind::Text {
        return Cow::Borrowed(trimmed(cell));
    }
    let text: String = letters(cell, element.is_big_endian()).flatten().collect();
    Cow::Owned(text.into_bytes())
}

/// Cells, one after the other; `count` of them, which may have no width.
pub(crate) fn cells<'a>(
    element: &ElementType,
    data: &'a [u8],
    count: usize,
) -> impl Iterator<Item = &'a [u8]> + Clone + use<'a> {
    let width = element.dtype().bits().unwrap_or(0) / 8;
    (0..count).map(move |at| &data[at * width..(at + 1) * width])
}

/// Whether so many cells may become strings; or why not.
pub(crate) fn check_count(element: &ElementType, count: usize) -> Result<(), String> {
    match element.dtype().bits() {
        Some(0) if count > MOST_EMPTY => Err(format!(
            "{count} strings of no width: as strings there may be {MOST_EMPTY} of them"
        )),
        _ => Ok(()),
    }
}

/// The strings in cells; or why there are none. They are put together in this folder where
/// they are many.
pub(crate) fn strings_of(
    element: &ElementType,
    data: Bytes,
    count: usize,
    folder: &Path,
) -> Result<Strings, String> {
    check_count(element, count)?;
    let mut bytes = 0usize;
    for cell in cells(element, &data, count) {
        bytes += len_in(element, cell)?;
    }
    let failed = |error: io::Error| format!("no room for {bytes} bytes of strings: {error}");
    let starts = cells(element, &data, count).map(|cell| len_in(element, cell).unwrap_or(0));
    if element.kind() != Kind::Text {
        let width = element.dtype().bits().unwrap_or(0) / 8;
        let places = starts.enumerate().map(|(at, len)| Ok(at * width..at * width + len));
        return Strings::at(data.clone(), count, places, folder).map_err(failed);
    }
    let mut text = spool::zeroed(bytes, folder).map_err(failed)?;
    let mut rest = &mut text[..];
    for cell in cells(element, &data, count) {
        rest.write_all(&string_in(element, cell)).map_err(failed)?;
    }
    let text = Bytes::from_owner(text.freeze().map_err(failed)?);
    let mut end = 0;
    let places = starts.map(|len| {
        let start = end;
        end += len;
        Ok(start..end)
    });
    Strings::at(text, count, places, folder).map_err(failed)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn both_ways(strings: &[&'static [u8]], descr: &str) {
        let cells = Cells::of(strings.iter().copied(), 0).unwrap();
        assert_eq!(cells.descr.as_str(), descr);
        let mut data = Vec::new();
        cells.write(strings.iter().copied(), &mut data).unwrap();
        assert_eq!(data.len(), cells.width() * strings.len());
        let element = ElementType::Numpy(cells.descr);
        let folder = std::env::temp_dir();
        let back = strings_of(&element, data.into(), strings.len(), &folder).unwrap();
        assert_eq!(back.iter().collect::<Vec<_>>(), strings);
    }

    #[test]
    fn strings_go_both_ways() {
        both_ways(&[b"", b"a", "größe".as_bytes(), "\u{1F980}".as_bytes(), b"a\0b"], "<U5");
        both_ways(&[b"\xff", b"", b"abc"], "|S3");
        both_ways(&[b"", b""], "<U1");
        both_ways(&[], "<U1");
    }

    #[test]
    fn what_has_no_cell_or_no_string_is_said() {
        let cells = |strings: &[Bytes], taken| {
            Cells::of(strings.iter().map(|string| &string[..]), taken).map(|cells| cells.width())
        };
        let zero = [Bytes::from_static(b"a"), Bytes::from_static(b"b\0")];
        assert_eq!(
            cells(&zero, 3).unwrap_err(),
            "string 1 ends in a zero byte, which only .pb files can hold"
        );
        let mut long = vec![Bytes::new(); 1 << 20];
        long[0] = Bytes::from(vec![b'a'; 1 << 10]);
        assert!(cells(&long, 0).unwrap_err().contains("take over 1073741824 bytes"));
        assert_eq!(cells(&long, 1 << 30), Ok(4096));
        let element = |descr: &str| ElementType::Numpy(descr.parse().unwrap());
        assert!(len_in(&element("<U1"), &[0, 0xd8, 0, 0]).is_err());
        assert_eq!(*string_in(&element(">U1"), &[0, 0, 0, 0x41]), *b"A");
        assert_eq!(*string_in(&element("|S0"), &[]), *b"");
        let folder = std::env::temp_dir();
        let empty = |count| strings_of(&element("<U0"), Bytes::new(), count, &folder);
        assert_eq!(empty(3).unwrap().iter().collect::<Vec<_>>(), [b""; 3]);
        assert!(empty(1 << 50).unwrap_err().contains("strings of no width"));
    }
}
