//! Parses protocol buffers in place, field by field: a list of numbers may be as large as the file,
//! and a struct for the message would hold all of it in memory.

use crate::words;
use prost::DecodeError;
use prost::encoding::{DecodeContext, WireType, decode_key, decode_varint, skip_field};
use std::ops::Range;

/// A field of a message.
#[derive(Debug, Clone)]
pub(super) struct Field {
    pub(super) number: u32,
    pub(super) kind: WireType,
    /// The range of its content in the message; for lists and text, without the length prefix.
    pub(super) content: Range<usize>,
}

impl Field {
    /// Text, bytes, or a message.
    pub(super) fn bytes(&self) -> Result<Range<usize>, String> {
        match self.kind {
            WireType::LengthDelimited => Ok(self.content.clone()),
            kind => Err(format!("field {} has wire type {kind:?}, expected bytes", self.number)),
        }
    }

    /// One number.
    pub(super) fn number(&self, message: &[u8]) -> Result<u64, String> {
        match self.kind {
            WireType::Varint => decode_varint(&mut &message[self.content.clone()]).map_err(said),
            kind => Err(format!("field {} has wire type {kind:?}, expected Varint", self.number)),
        }
    }
}

/// The fields of a message in order. Ends at the first invalid one.
#[derive(Debug, Clone)]
pub(super) struct Fields<'a> {
    message: &'a [u8],
    rest: &'a [u8],
}

/// Iterates over a message.
pub(super) fn fields(message: &[u8]) -> Fields<'_> {
    Fields { message, rest: message }
}

impl Fields<'_> {
    fn read(&mut self) -> Result<Field, DecodeError> {
        let (number, kind) = decode_key(&mut self.rest)?;
        let mut start = self.message.len() - self.rest.len();
        if kind == WireType::LengthDelimited {
            let mut content = self.rest;
            decode_varint(&mut content)?;
            start = self.message.len() - content.len();
        }
        // Checks that the field is complete.
        skip_field(kind, number, &mut self.rest, DecodeContext::default())?;
        Ok(Field { number, kind, content: start..self.message.len() - self.rest.len() })
    }
}

impl Iterator for Fields<'_> {
    type Item = Result<Field, String>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.rest.is_empty() {
            return None;
        }
        let field = self.read();
        if field.is_err() {
            self.rest = &[];
        }
        Some(field.map_err(said))
    }
}

fn said(error: DecodeError) -> String {
    error.to_string()
}

/// How the numbers of a list are encoded: one per field, or packed into one field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Numbers {
    /// 7 bits per byte.
    Varint,
    Fixed32,
    Fixed64,
}

impl Numbers {
    fn width(self) -> Option<usize> {
        match self {
            Numbers::Varint => None,
            Numbers::Fixed32 => Some(4),
            Numbers::Fixed64 => Some(8),
        }
    }

    fn kind(self) -> WireType {
        match self {
            Numbers::Varint => WireType::Varint,
            Numbers::Fixed32 => WireType::ThirtyTwoBit,
            Numbers::Fixed64 => WireType::SixtyFourBit,
        }
    }

    /// The number of numbers in a field of the list.
    pub(super) fn count(self, message: &[u8], field: &Field) -> Result<usize, String> {
        if field.kind == self.kind() {
            return Ok(1);
        }
        let content = &message[field.bytes()?];
        let number = field.number;
        match self.width() {
            Some(width) if content.len().is_multiple_of(width) => Ok(content.len() / width),
            Some(width) => Err(format!(
                "field {number} has {}, not a multiple of {width}",
                words::bytes(content.len() as u64)
            )),
            None if content.last().is_some_and(|last| *last >= 0x80) => {
                Err(format!("field {number} ends inside a number"))
            }
            None => Ok(content.iter().filter(|byte| **byte < 0x80).count()),
        }
    }

    /// Visits every number in a field of the list, as bits.
    pub(super) fn each<E: From<String>>(
        self,
        message: &[u8],
        field: &Field,
        mut visit: impl FnMut(u64) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut rest = match field.kind == self.kind() {
            true => &message[field.content.clone()],
            false => &message[field.bytes()?],
        };
        let Some(width) = self.width() else {
            while !rest.is_empty() {
                visit(decode_varint(&mut rest).map_err(said)?)?;
            }
            return Ok(());
        };
        rest.chunks_exact(width).try_for_each(|bytes| {
            visit(bytes.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte)))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(message: &[u8], kind: Numbers) -> Result<Vec<u64>, String> {
        let (mut counted, mut found) = (0, Vec::new());
        for field in fields(message) {
            let field = field?;
            counted += kind.count(message, &field)?;
            kind.each::<String>(message, &field, |number| {
                found.push(number);
                Ok(())
            })?;
        }
        assert_eq!(counted, found.len());
        Ok(found)
    }

    #[test]
    fn lists_come_in_one_field_or_in_many() {
        let one = [5 << 3, 7, 5 << 3 | 2, 3, 1, 0x80, 1, 5 << 3 | 2, 0, 5 << 3, 9];
        assert_eq!(numbers(&one, Numbers::Varint), Ok(vec![7, 1, 128, 9]));
        let fixed = [4 << 3 | 5, 1, 0, 0, 0, 4 << 3 | 2, 4, 2, 0, 0, 0x80];
        assert_eq!(numbers(&fixed, Numbers::Fixed32), Ok(vec![1, 0x8000_0002]));
        let wide = [10 << 3 | 1, 1, 0, 0, 0, 0, 0, 0, 0x40];
        assert_eq!(numbers(&wide, Numbers::Fixed64), Ok(vec![0x4000_0000_0000_0001]));
    }

    #[test]
    fn what_is_broken_is_said() {
        let varint = |message: &[u8]| numbers(message, Numbers::Varint).unwrap_err();
        assert!(varint(&[5 << 3 | 2, 1, 0x80]).contains("ends inside a number"));
        assert!(varint(&[5 << 3 | 2, 9, 1]).contains("buffer underflow"));
        assert!(varint(&[5 << 3 | 1, 0, 0, 0, 0, 0, 0, 0, 0]).contains("expected bytes"));
        assert!(varint(&[5 << 3, 0x80]).contains("varint"));
        let long = [&[5 << 3 | 2, 11][..], &[0x80; 10], &[1]].concat();
        assert!(varint(&long).contains("varint"));
        let fixed = numbers(&[4 << 3 | 2, 3, 0, 0, 0], Numbers::Fixed32).unwrap_err();
        assert!(fixed.contains("not a multiple of 4"), "{fixed}");
        assert!(fields(&[0]).next().unwrap().is_err());
        // A group is skipped; an unterminated one is an error.
        assert_eq!(fields(&[3 << 3 | 3, 1 << 3, 1, 3 << 3 | 4]).filter(Result::is_ok).count(), 1);
        assert!(fields(&[3 << 3 | 3, 1 << 3, 1]).next().unwrap().is_err());
    }
}
