//! Decodes the messages of a model one by one, within a budget: their size in memory is counted
//! before they are decoded, so that no file can make it exceed the limit.

use super::wire;
use crate::graph::GraphError;
use crate::model::ModelError;
use bytes::Bytes;
use prost::Message;

/// More items of any kind than a graph of reversals has.
pub(super) const MOST: usize = 1 << 20;
/// The most memory that all names and declarations together may take.
const MOST_BYTES: usize = 96 << 20;
/// Memory that a field takes in addition to its content.
const PER_FIELD: usize = 32;
/// The largest accepted message for the declaration of a value.
const MOST_DECLARATION: usize = 64 << 10;

/// Decodes messages until the memory budget is used up.
#[derive(Debug)]
pub(super) struct Decoder {
    left: usize,
}

impl Decoder {
    pub(super) fn new() -> Decoder {
        Decoder { left: MOST_BYTES }
    }

    /// Decodes a message. The content of `copied` fields is counted, because decoding copies it;
    /// that of other fields is shared or skipped.
    pub(super) fn decode<M: Message + Default>(
        &mut self,
        bytes: &Bytes,
        what: &'static str,
        copied: &[u32],
    ) -> Result<M, ModelError> {
        let wrong = |reason: String| ModelError::NotOnnx { reason: format!("{what}: {reason}") };
        let mut taken = 0usize;
        for field in wire::fields(bytes) {
            let field = field.map_err(wrong)?;
            let content = if copied.contains(&field.number) { field.content.len() } else { 0 };
            taken = taken.saturating_add(content + PER_FIELD);
        }
        self.spend(taken)?;
        M::decode(bytes.clone()).map_err(|error| wrong(error.to_string()))
    }

    /// Decodes the declaration of a value.
    pub(super) fn declaration<M: Message + Default>(
        &mut self,
        bytes: &Bytes,
        what: &'static str,
    ) -> Result<M, ModelError> {
        let (count, limit) = (bytes.len(), MOST_DECLARATION);
        if count > limit {
            let what = "bytes in a declaration";
            return Err(GraphError::TooMany { what, count, limit }.into());
        }
        self.decode(bytes, what, &[1])
    }

    /// Counts memory that is kept of a message in addition to its fields.
    pub(super) fn spend(&mut self, bytes: usize) -> Result<(), ModelError> {
        match self.left.checked_sub(bytes) {
            Some(left) => self.left = left,
            None => {
                let what = "bytes of names and declarations";
                let count = (MOST_BYTES - self.left).saturating_add(bytes);
                return Err(GraphError::TooMany { what, count, limit: MOST_BYTES }.into());
            }
        }
        Ok(())
    }
}

/// Refuses a message in which one of these fields occurs more often than is reasonable.
pub(super) fn check_counts(
    message: &[u8],
    what: &'static str,
    lists: &[(u32, &'static str)],
) -> Result<(), ModelError> {
    let mut counts = vec![0usize; lists.len()];
    for field in wire::fields(message) {
        let field =
            field.map_err(|reason| ModelError::NotOnnx { reason: format!("{what}: {reason}") })?;
        if let Some(at) = lists.iter().position(|(number, _)| *number == field.number) {
            counts[at] += 1;
        }
    }
    let too_many = counts.iter().zip(lists).find(|(count, _)| **count > MOST);
    match too_many {
        Some((&count, &(_, what))) => Err(GraphError::TooMany { what, count, limit: MOST }.into()),
        None => Ok(()),
    }
}
