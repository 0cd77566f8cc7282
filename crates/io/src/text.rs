//! Strings as cells of one width, as NumPy has them: text in four bytes a character (`U`), or
//! bytes where they are no text (`S`); zeros fill a cell.

use crate::element::ElementType;
use crate::npy::{Descr, Kind};
use crate::spool;
use bytes::Bytes;
use memmap2::Mmap;
use std::io;
use std::path::Path;

/// Cells may take this many bytes.
const MOST: usize = 1 << 30;

/// Strings as cells, all as wide as the longest; or why they cannot be.
pub(crate) fn cells_of(strings: &[Bytes], folder: &Path) -> Result<(Descr, Mmap), String> {
    if let Some(position) = strings.iter().position(|string| string.last() == Some(&0)) {
        return Err(format!(
            "string {position} ends in a zero byte, which only .pb files can hold"
        ));
    }
    let texts: Option<Vec<&str>> = strings.iter().map(|s| std::str::from_utf8(s).ok()).collect();
    let (kind, longest, unit) = match &texts {
        Some(texts) => ("<U", texts.iter().map(|text| text.chars().count()).max(), 4),
        None => ("|S", strings.iter().map(|string| string.len()).max(), 1),
    };
    let longest = longest.unwrap_or(0).max(1);
    let width = longest.saturating_mul(unit);
    let bytes = width.checked_mul(strings.len()).filter(|&bytes| bytes <= MOST);
    let Some(bytes) = bytes else {
        let count = strings.len();
        return Err(format!(
            "{count} strings, each as wide as the longest, take over {MOST} bytes"
        ));
    };
    let failed = |error: io::Error| format!("no room for {bytes} bytes of strings: {error}");
    let mut data = spool::zeroed(bytes, folder).map_err(failed)?;
    for (at, cell) in data.chunks_exact_mut(width).enumerate() {
        match &texts {
            Some(texts) => {
                for (place, letter) in cell.chunks_exact_mut(4).zip(texts[at].chars()) {
                    place.copy_from_slice(&u32::from(letter).to_le_bytes());
                }
            }
            None => cell[..strings[at].len()].copy_from_slice(&strings[at]),
        }
    }
    let descr = format!("{kind}{longest}").parse().map_err(|_| "too long for a cell".to_owned())?;
    Ok((descr, data.make_read_only().map_err(failed)?))
}

/// The string in a cell, without the zeros that fill it; or why there is none.
pub(crate) fn string_in(element: &ElementType, cell: &[u8]) -> Result<Bytes, &'static str> {
    if element.kind() != Kind::Text {
        let end = cell.iter().rposition(|&byte| byte != 0).map_or(0, |last| last + 1);
        return Ok(Bytes::copy_from_slice(&cell[..end]));
    }
    let join = |code, &byte: &u8| code << 8 | u32::from(byte);
    let code = |four: &[u8]| match element.is_big_endian() {
        true => four.iter().fold(0, join),
        false => four.iter().rev().fold(0, join),
    };
    let codes: Vec<u32> = cell.chunks_exact(4).map(code).collect();
    let end = codes.iter().rposition(|&code| code != 0).map_or(0, |last| last + 1);
    let text: Option<String> = codes[..end].iter().map(|&code| char::from_u32(code)).collect();
    text.map(Bytes::from).ok_or("a string has a code that is no character")
}

/// The strings in cells, one after the other; `count` of them, which may have no width.
pub(crate) fn strings_in<'a>(
    element: &'a ElementType,
    data: &'a [u8],
    count: usize,
) -> impl Iterator<Item = Result<Bytes, &'static str>> + 'a {
    let width = element.dtype().bits().unwrap_or(0) / 8;
    (0..count).map(move |at| string_in(element, &data[at * width..(at + 1) * width]))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn both_ways(strings: &[&'static [u8]], descr: &str) {
        let strings: Vec<Bytes> = strings.iter().map(|string| Bytes::from_static(string)).collect();
        let (found, data) = cells_of(&strings, &std::env::temp_dir()).unwrap();
        assert_eq!(found.as_str(), descr);
        let element = ElementType::Numpy(found);
        let back: Result<Vec<_>, _> = strings_in(&element, &data, strings.len()).collect();
        assert_eq!(back, Ok(strings));
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
        let cells = |strings: &[Bytes]| cells_of(strings, &std::env::temp_dir()).unwrap_err();
        let zero = [Bytes::from_static(b"a"), Bytes::from_static(b"b\0")];
        assert_eq!(cells(&zero), "string 1 ends in a zero byte, which only .pb files can hold");
        let mut long = vec![Bytes::new(); 1 << 20];
        long[0] = Bytes::from(vec![b'a'; 1 << 10]);
        assert!(cells(&long).contains("take over 1073741824 bytes"));
        let element = |descr: &str| ElementType::Numpy(descr.parse().unwrap());
        assert!(string_in(&element("<U1"), &[0, 0xd8, 0, 0]).is_err());
        assert_eq!(string_in(&element(">U1"), &[0, 0, 0, 0x41]), Ok(Bytes::from_static(b"A")));
        assert_eq!(string_in(&element("|S0"), &[]), Ok(Bytes::new()));
    }
}
