//! The header: magic, version, length, and a Python dictionary of three keys.
//!
//! A strict, hand-written parser: it accepts the dictionaries that NumPy writes (in any order and
//! spacing), and trusts neither the length before them nor the nesting depth of records.

use super::descr::{self, Descr, Field, Kind};
use super::error::{Failure, NpyError};
use crate::words::excerpt;
use std::fmt::Write as _;
use std::io::Read;
use std::str::FromStr;

const MAGIC: &[u8; 6] = b"\x93NUMPY";
/// Headers of plain arrays have about a hundred bytes. This is a hundred times what NumPy accepts.
const LIMIT: u64 = 1 << 20;
/// Data begins at a multiple of this many bytes.
const ALIGNMENT: usize = 64;
/// The deepest accepted nesting of records.
const DEEPEST: usize = 32;
/// NumPy reserves this many digits for the size of the growing axis.
const GROWTH_DIGITS: usize = 21;

/// What a header says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Header {
    pub(super) descr: Descr,
    pub(super) fortran_order: bool,
    pub(super) shape: Vec<usize>,
}

/// Reads a header and returns how many bytes it took; the reader is then at the data.
pub(super) fn read(reader: &mut impl Read) -> Result<(Header, u64), Failure> {
    let start = read_up_to(reader, 8)?;
    if start.len() < 8 || &start[..6] != MAGIC {
        return Err(NpyError::NotNpy { start: excerpt(&start, 8) }.into());
    }
    let (major, minor) = (start[6], start[7]);
    let length_bytes = match (major, minor) {
        (1, 0) => 2,
        (2 | 3, 0) => 4,
        _ => return Err(NpyError::Version { major, minor }.into()),
    };
    let length = read_up_to(reader, length_bytes)?;
    if (length.len() as u64) < length_bytes {
        let (declared, available) = (length_bytes, length.len() as u64);
        return Err(NpyError::HeaderCut { declared, available }.into());
    }
    let declared = length.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte));
    if declared > LIMIT {
        return Err(NpyError::HeaderTooLong { declared, limit: LIMIT }.into());
    }
    let text = read_up_to(reader, declared)?;
    let available = text.len() as u64;
    if available < declared {
        return Err(NpyError::HeaderCut { declared, available }.into());
    }
    // Version 3 is UTF-8. The others are Latin-1, in which every byte is a character.
    let text = match major {
        3 => String::from_utf8_lossy(&text).into_owned(),
        _ => text.iter().map(|&byte| char::from(byte)).collect(),
    };
    Ok((parse(text.as_bytes())?, 8 + length_bytes + declared))
}

/// Allocates for the bytes that are there, not for those that were asked for.
fn read_up_to(reader: &mut impl Read, count: u64) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    reader.take(count).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Parses the dictionary.
pub(super) fn parse(text: &[u8]) -> Result<Header, NpyError> {
    let mut cursor = Cursor { text, position: 0 };
    let (mut descr, mut fortran_order, mut shape) = (None, None, None);
    cursor.expect(b'{', "a dictionary")?;
    while !cursor.eat(b'}') {
        let key = cursor.string("a key in quotes, or '}'")?;
        cursor.expect(b':', "':'")?;
        match key {
            b"descr" => set(&mut descr, "descr", cursor.descr()?)?,
            b"fortran_order" => set(&mut fortran_order, "fortran_order", cursor.boolean()?)?,
            b"shape" => set(&mut shape, "shape", cursor.shape()?)?,
            _ => return Err(NpyError::UnknownKey { key: excerpt(key, 40) }),
        }
        if !cursor.eat(b',') {
            cursor.expect(b'}', "',' or '}'")?;
            break;
        }
    }
    cursor.end()?;
    let missing = |key| NpyError::MissingKey { key };
    Ok(Header {
        descr: descr.ok_or(missing("descr"))?,
        fortran_order: fortran_order.ok_or(missing("fortran_order"))?,
        shape: shape.ok_or(missing("shape"))?,
    })
}

/// A bare element type, without quotes around it.
impl FromStr for Descr {
    type Err = NpyError;

    fn from_str(text: &str) -> Result<Self, NpyError> {
        if !text.starts_with('[') {
            return descr::plain(text);
        }
        let mut cursor = Cursor { text: text.as_bytes(), position: 0 };
        let descr = cursor.record(0)?;
        cursor.end()?;
        Ok(descr)
    }
}

fn set<T>(slot: &mut Option<T>, key: &'static str, value: T) -> Result<(), NpyError> {
    match slot.replace(value) {
        None => Ok(()),
        Some(_) => Err(NpyError::DuplicateKey { key }),
    }
}

/// A position in the text of a header.
struct Cursor<'a> {
    text: &'a [u8],
    position: usize,
}

impl<'a> Cursor<'a> {
    /// The next byte that is not a space.
    fn peek(&mut self) -> Option<u8> {
        let spaces = self.rest().iter().take_while(|byte| byte.is_ascii_whitespace()).count();
        self.position += spaces;
        self.rest().first().copied()
    }

    fn rest(&self) -> &'a [u8] {
        &self.text[self.position..]
    }

    fn eat(&mut self, byte: u8) -> bool {
        let there = self.peek() == Some(byte);
        self.position += usize::from(there);
        there
    }

    fn expect(&mut self, byte: u8, expected: &'static str) -> Result<(), NpyError> {
        if self.eat(byte) { Ok(()) } else { Err(self.wrong(expected)) }
    }

    fn wrong(&self, expected: &'static str) -> NpyError {
        let found = excerpt(self.rest(), 20);
        NpyError::HeaderSyntax { position: self.position, expected, found }
    }

    /// A string in single or double quotes. Nothing that NumPy writes has escapes.
    fn string(&mut self, expected: &'static str) -> Result<&'a [u8], NpyError> {
        let quote = match self.peek() {
            Some(quote @ (b'\'' | b'"')) => quote,
            _ => return Err(self.wrong(expected)),
        };
        let inner = &self.rest()[1..];
        let Some(length) = inner.iter().position(|&byte| byte == quote || byte == b'\\') else {
            return Err(self.wrong("a string that ends"));
        };
        if inner[length] == b'\\' {
            return Err(self.wrong("a string without escapes"));
        }
        self.position += length + 2;
        Ok(&inner[..length])
    }

    fn boolean(&mut self) -> Result<bool, NpyError> {
        self.peek();
        for (word, value) in [("True", true), ("False", false)] {
            if self.rest().starts_with(word.as_bytes()) {
                self.position += word.len();
                return Ok(value);
            }
        }
        Err(self.wrong("True or False"))
    }

    fn descr(&mut self) -> Result<Descr, NpyError> {
        match self.peek() {
            Some(b'[') => self.record(0),
            Some(b'(') => Err(NpyError::Subarray),
            _ => {
                let text = self.string("a dtype in quotes")?;
                // Type strings are ASCII; anything else is reported as an unknown type.
                descr::plain(&String::from_utf8_lossy(text))
            }
        }
    }

    /// The fields of a structured array: `[('x', '<f4'), ('', '|V4'), ('y', '<i2', (3,))]`.
    fn record(&mut self, depth: usize) -> Result<Descr, NpyError> {
        if depth == DEEPEST {
            return Err(NpyError::FieldsTooDeep { limit: DEEPEST });
        }
        let start = self.position;
        self.expect(b'[', "a list of fields")?;
        let (mut fields, mut bytes) = (Vec::new(), 0usize);
        while !self.eat(b']') {
            let field = self.field(bytes, depth)?;
            let each = field.descr.dtype().bits().ok_or(NpyError::FieldsTooLarge)? / 8;
            let size = field.shape.iter().try_fold(each, |bytes, &size| bytes.checked_mul(size));
            bytes = size
                .and_then(|size| bytes.checked_add(size))
                .filter(|&bytes| isize::try_from(bytes).is_ok_and(|bytes| bytes <= isize::MAX / 8))
                .ok_or(NpyError::FieldsTooLarge)?;
            fields.push(field);
            if !self.eat(b',') {
                self.expect(b']', "',' or ']'")?;
                break;
            }
        }
        let text = String::from_utf8_lossy(&self.text[start..self.position]).into_owned();
        Ok(Descr::record(text, fields, bytes))
    }

    /// A name (or a title and a name), a type, and the shape if the field is an array.
    fn field(&mut self, offset: usize, depth: usize) -> Result<Field, NpyError> {
        self.expect(b'(', "a field, or ']'")?;
        let name = if self.eat(b'(') {
            self.field_name()?;
            self.expect(b',', "','")?;
            let name = self.field_name()?;
            self.expect(b')', "')'")?;
            name
        } else {
            self.field_name()?
        };
        self.expect(b',', "','")?;
        let descr = match self.peek() {
            Some(b'[') => self.record(depth + 1)?,
            _ => self.descr()?,
        };
        let mut shape = Vec::new();
        if self.eat(b',') && self.peek() == Some(b'(') {
            shape = self.shape()?;
            self.eat(b',');
        }
        self.expect(b')', "')'")?;
        Ok(Field { name, offset, descr, shape })
    }

    /// A string that may have escapes, which are kept verbatim.
    fn field_name(&mut self) -> Result<String, NpyError> {
        let quote = match self.peek() {
            Some(quote @ (b'\'' | b'"')) => quote,
            _ => return Err(self.wrong("a name in quotes")),
        };
        let (inner, mut at) = (&self.rest()[1..], 0);
        while inner.get(at).is_some_and(|&byte| byte != quote) {
            at += if inner[at] == b'\\' { 2 } else { 1 };
        }
        if at >= inner.len() {
            return Err(self.wrong("a string that ends"));
        }
        self.position += at + 2;
        Ok(String::from_utf8_lossy(&inner[..at]).into_owned())
    }

    /// A tuple: `()`, `(3,)`, `(3, 4)` or `(3, 4,)`.
    fn shape(&mut self) -> Result<Vec<usize>, NpyError> {
        self.expect(b'(', "a tuple of sizes")?;
        let mut shape = Vec::new();
        while !self.eat(b')') {
            shape.push(self.size(shape.len())?);
            if self.eat(b',') {
                continue;
            }
            // `(3)` is a number, not a tuple.
            if shape.len() == 1 {
                return Err(self.wrong("','"));
            }
            self.expect(b')', "',' or ')'")?;
            break;
        }
        Ok(shape)
    }

    fn size(&mut self, axis: usize) -> Result<usize, NpyError> {
        let negative = self.eat(b'-');
        self.peek();
        let rest = self.rest();
        let count = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        if count == 0 {
            return Err(self.wrong("a size, or ')'"));
        }
        self.position += count;
        // Python 2 marked long integers with `L`.
        if self.rest().first() == Some(&b'L') {
            self.position += 1;
        }
        let digits = String::from_utf8_lossy(&rest[..count]);
        let shortened = || {
            let more = if digits.len() > 40 { "..." } else { "" };
            format!("{}{}{more}", if negative { "-" } else { "" }, &digits[..digits.len().min(40)])
        };
        if negative {
            return Err(NpyError::NegativeSize { axis, size: shortened() });
        }
        digits.parse().map_err(|_| NpyError::SizeTooLarge { axis, size: shortened() })
    }

    /// Checks that only white space follows.
    fn end(&mut self) -> Result<(), NpyError> {
        if self.peek().is_none() { Ok(()) } else { Err(self.wrong("the end of the header")) }
    }
}

/// The header that NumPy writes for such an array, from the magic to the final newline.
pub(super) fn encode(descr: &Descr, fortran_order: bool, shape: &[usize]) -> Vec<u8> {
    let quote = if descr.kind() == Kind::Record { "" } else { "'" };
    let mut text = format!("{{'descr': {quote}{descr}{quote}, 'fortran_order': ");
    text.push_str(if fortran_order { "True" } else { "False" });
    text.push_str(", 'shape': (");
    for (axis, size) in shape.iter().enumerate() {
        let comma = if axis == 0 { "" } else { ", " };
        // Writing to a string cannot fail.
        let _ = write!(text, "{comma}{size}");
    }
    text.push_str(if shape.len() == 1 { ",), }" } else { "), }" });
    let grows = if fortran_order { shape.last() } else { shape.first() };
    if let Some(size) = grows {
        let spare = GROWTH_DIGITS.saturating_sub(size.to_string().len());
        text.extend(std::iter::repeat_n(' ', spare));
    }
    // Version 3 is for field names that are not Latin-1. Everything else is written as version 1 or
    // 2.
    let latin: Option<Vec<u8>> = text.chars().map(|c| u8::try_from(u32::from(c)).ok()).collect();
    let (encoded, long_version) = match latin {
        Some(latin) => (latin, 2),
        None => (text.into_bytes(), 3),
    };
    let padded = |before: usize| {
        let unpadded = before + encoded.len() + 1;
        encoded.len() + 1 + ALIGNMENT - unpadded % ALIGNMENT
    };
    let mut header = MAGIC.to_vec();
    let length = match u16::try_from(padded(10)) {
        Ok(short) if long_version == 2 => {
            header.extend([1, 0]);
            header.extend(short.to_le_bytes());
            usize::from(short)
        }
        _ => {
            // A shape with four billion bytes of text would not fit into memory.
            let long = u32::try_from(padded(12)).unwrap_or(u32::MAX);
            header.extend([long_version, 0]);
            header.extend(long.to_le_bytes());
            long as usize
        }
    };
    let end = header.len() + length;
    header.extend(encoded);
    header.resize(end - 1, b' ');
    header.push(b'\n');
    header
}
