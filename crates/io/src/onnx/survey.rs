//! The metadata of a TensorProto, and how many elements each of its fields has: found in one pass
//! that keeps no elements.

use super::messages::StringStringEntryProto;
use super::wire::{self, Numbers};
use prost::Message;
use std::ops::Range;

/// More axes than any reasonable tensor has.
pub(super) const MOST_AXES: usize = 1 << 10;
/// The longest accepted name or entry about external data, in bytes.
const MOST_TEXT: usize = 1 << 20;

/// A repeated field that holds elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Field {
    Float,
    Int32,
    String,
    Int64,
    Double,
    Uint64,
}

impl Field {
    pub(super) const ALL: [Field; 6] =
        [Field::Float, Field::Int32, Field::String, Field::Int64, Field::Double, Field::Uint64];

    /// Its number in `onnx.proto`.
    pub(super) fn number(self) -> u32 {
        match self {
            Field::Float => 4,
            Field::Int32 => 5,
            Field::String => 6,
            Field::Int64 => 7,
            Field::Double => 10,
            Field::Uint64 => 11,
        }
    }

    /// Its name in `onnx.proto`.
    pub(super) fn name(self) -> &'static str {
        match self {
            Field::Float => "float_data",
            Field::Int32 => "int32_data",
            Field::String => "string_data",
            Field::Int64 => "int64_data",
            Field::Double => "double_data",
            Field::Uint64 => "uint64_data",
        }
    }

    /// How its numbers are encoded; not meaningful for strings.
    pub(super) fn numbers(self) -> Numbers {
        match self {
            Field::Float => Numbers::Fixed32,
            Field::Double => Numbers::Fixed64,
            Field::Int32 | Field::Int64 | Field::Uint64 | Field::String => Numbers::Varint,
        }
    }
}

/// The number of entries in a list, and its range in the message if it is contiguous.
#[derive(Debug, Clone, Default)]
pub(super) struct List {
    pub(super) entries: usize,
    pub(super) whole: Option<Range<usize>>,
    pieces: usize,
}

/// The declared location of external data.
#[derive(Debug, Default)]
pub(super) struct External {
    pub(super) location: Option<String>,
    pub(super) offset: Option<String>,
    pub(super) length: Option<String>,
}

/// A TensorProto without its elements.
#[derive(Debug, Default)]
pub(super) struct Survey {
    /// The sizes, at most one more than the limit.
    pub(super) dims: Vec<i64>,
    pub(super) rank: usize,
    pub(super) data_type: Option<i32>,
    /// Whether it is a segment of a tensor, which no known program writes.
    pub(super) segment: bool,
    pub(super) name: String,
    pub(super) raw_data: Option<Range<usize>>,
    pub(super) external: External,
    pub(super) data_location: Option<i32>,
    lists: [List; Field::ALL.len()],
}

impl Survey {
    /// Parses a message. Unknown fields are skipped; if a field occurs twice, the last one counts.
    pub(super) fn of(message: &[u8]) -> Result<Survey, String> {
        let mut survey = Survey::default();
        for field in wire::fields(message) {
            let field = field?;
            match field.number {
                1 => {
                    survey.rank += Numbers::Varint.count(message, &field)?;
                    Numbers::Varint.each::<String>(message, &field, |size| {
                        if survey.dims.len() <= MOST_AXES {
                            survey.dims.push(size as i64);
                        }
                        Ok(())
                    })?;
                }
                2 => survey.data_type = Some(field.number(message)? as i32),
                3 => survey.segment = true,
                8 => survey.name = text(&message[field.bytes()?], "its name")?.to_owned(),
                9 => survey.raw_data = Some(field.bytes()?),
                13 => survey.external.add(&message[field.bytes()?])?,
                14 => survey.data_location = Some(field.number(message)? as i32),
                _ => survey.count(message, &field)?,
            }
        }
        Ok(survey)
    }

    /// A list of elements.
    pub(super) fn list(&self, field: Field) -> &List {
        &self.lists[field as usize]
    }

    /// Counts the entries of a field, if it belongs to a list.
    fn count(&mut self, message: &[u8], found: &wire::Field) -> Result<(), String> {
        let Some(field) = Field::ALL.into_iter().find(|field| field.number() == found.number)
        else {
            return Ok(());
        };
        let entries = match field {
            Field::String => found.bytes().map(|_| 1)?,
            field => field.numbers().count(message, found)?,
        };
        let list = &mut self.lists[field as usize];
        if entries > 0 {
            list.pieces += 1;
            list.whole = (list.pieces == 1).then(|| found.content.clone());
            list.entries += entries;
        }
        Ok(())
    }
}

impl External {
    /// Reads an entry. The first entry of each key counts; unknown keys are ignored.
    fn add(&mut self, message: &[u8]) -> Result<(), String> {
        check_text(message, "an entry about external data")?;
        let entry = StringStringEntryProto::decode(message).map_err(|error| error.to_string())?;
        let place = match entry.key.as_str() {
            "location" => &mut self.location,
            "offset" => &mut self.offset,
            "length" => &mut self.length,
            _ => return Ok(()),
        };
        place.get_or_insert(entry.value);
        Ok(())
    }
}

fn check_text(bytes: &[u8], what: &str) -> Result<(), String> {
    match bytes.len() {
        len if len > MOST_TEXT => {
            Err(format!("{what} has {len} bytes, more than the {MOST_TEXT} that are accepted"))
        }
        _ => Ok(()),
    }
}

fn text<'a>(bytes: &'a [u8], what: &str) -> Result<&'a str, String> {
    check_text(bytes, what)?;
    std::str::from_utf8(bytes).map_err(|_| format!("{what} is not valid UTF-8"))
}
