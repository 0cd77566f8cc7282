//! Integers as text: one or several per line, as spreadsheets and `np.savetxt` write them.

use crate::error::Error;
use crate::words::excerpt;
use std::ffi::OsStr;
use std::path::Path;

/// Whether the extension is that of a text file.
pub(crate) fn is_named(path: &Path) -> bool {
    let extension = path.extension().and_then(OsStr::to_str).unwrap_or_default();
    ["csv", "tsv", "txt"].iter().any(|known| extension.eq_ignore_ascii_case(known))
}

/// Whether a file that begins like this looks like numbers.
pub(crate) fn is_text(start: &[u8]) -> bool {
    let start = start.strip_prefix(MARK).unwrap_or(start);
    let first = start.iter().find(|byte| !byte.is_ascii_whitespace());
    first.is_some_and(|byte| byte.is_ascii_digit() || b"+-#".contains(byte))
        && start.iter().take(512).all(|&byte| byte >= b' ' || byte.is_ascii_whitespace())
}

/// The UTF-8 byte order mark.
const MARK: &[u8] = b"\xef\xbb\xbf";

/// All numbers in a text, separated by commas, semicolons or white space. `#` begins a comment.
pub(crate) fn parse(text: &[u8], path: &Path) -> Result<Vec<i64>, Error> {
    let text = text.strip_prefix(MARK).unwrap_or(text);
    let mut numbers = Vec::new();
    for (at, line) in text.split(|&byte| byte == b'\n').enumerate() {
        let end = line.iter().position(|&byte| byte == b'#').unwrap_or(line.len());
        let separates = |byte: &u8| byte.is_ascii_whitespace() || b",;".contains(byte);
        for word in line[..end].split(separates).filter(|word| !word.is_empty()) {
            numbers.push(number(word).ok_or_else(|| Error::Text {
                path: path.to_owned(),
                line: at + 1,
                expected: "an integer",
                found: excerpt(word, 20),
            })?);
        }
    }
    Ok(numbers)
}

/// An integer, or a float that is one: `np.savetxt` writes `4.000000000000000000e+00`.
fn number(word: &[u8]) -> Option<i64> {
    let word = std::str::from_utf8(word).ok()?.trim_matches('"');
    if let Ok(number) = word.parse() {
        return Some(number);
    }
    // Above this, a float may not be the integer that was written.
    const EXACT: f64 = (1u64 << 53) as f64;
    let float: f64 = word.parse().ok()?;
    (float.fract() == 0.0 && float.abs() <= EXACT).then_some(float as i64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> Result<Vec<i64>, String> {
        parse(text.as_bytes(), Path::new("l.csv")).map_err(|error| error.to_string())
    }

    #[test]
    fn columns_rows_and_what_numpy_writes() {
        assert_eq!(parsed("4\n3\n2\n"), Ok(vec![4, 3, 2]));
        assert_eq!(parsed("4,3,2"), Ok(vec![4, 3, 2]));
        assert_eq!(parsed("\u{feff}4; 3\t2\r\n\r\n1\r\n"), Ok(vec![4, 3, 2, 1]));
        assert_eq!(parsed("# lengths\n4.000000000000000000e+00\n-1 # last\n"), Ok(vec![4, -1]));
        assert_eq!(parsed("\"4\",\"3\""), Ok(vec![4, 3]));
        assert_eq!(parsed("9007199254740993"), Ok(vec![9007199254740993]));
        assert_eq!(parsed(""), Ok(vec![]));
    }

    #[test]
    fn everything_else_names_its_line() {
        for (text, found) in [
            ("4\nlength\n", "line 2: expected an integer, found \"length\""),
            ("1.5", "line 1: expected an integer, found \"1.5\""),
            ("nan", "line 1: expected an integer, found \"nan\""),
            ("1\n\n1e300", "line 3: expected an integer, found \"1e300\""),
            ("99999999999999999999", "line 1: expected an integer, found \"99999999999999999999\""),
            ("4 \u{9f}", "line 1: expected an integer, found \"\\xc2\\x9f\""),
        ] {
            assert_eq!(parsed(text), Err(format!("l.csv: {found}")), "{text:?}");
        }
    }

    #[test]
    fn text_is_told_from_tensors() {
        for text in ["4\n3", " 4,3", "-1", "# x\n4", "\u{feff}4"] {
            assert!(is_text(text.as_bytes()), "{text:?}");
        }
        for other in [&b""[..], b"\x93NUMPY", b"PK\x03\x04", b"4\0\0\0\0\0\0\0{", b"\x08\x01", b"x"]
        {
            assert!(!is_text(other), "{other:?}");
        }
        assert!(is_named(Path::new("a/l.CSV")) && is_named(Path::new("l.txt")));
        assert!(!is_named(Path::new("l.npy")) && !is_named(Path::new("txt")));
    }
}
