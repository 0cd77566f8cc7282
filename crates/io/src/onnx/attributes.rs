//! Attributes of a node: found by name, and only of the type that the operator expects.

use super::decode::Decoder;
use super::messages::{AttributeProto, NodeProto};
use super::wire::{self, Numbers};
use crate::graph::{GraphError, NodeName};
use crate::model::ModelError;
use crate::words::short;
use bytes::Bytes;

/// More attributes than any supported operator has.
const MOST_ATTRIBUTES: usize = 64;
/// More entries than a list that names axes has.
const MOST_ENTRIES: usize = 1 << 12;

/// Types of attributes, by their codes in `onnx.proto`.
const KINDS: [&str; 15] = [
    "UNDEFINED",
    "FLOAT",
    "INT",
    "STRING",
    "TENSOR",
    "GRAPH",
    "FLOATS",
    "INTS",
    "STRINGS",
    "TENSORS",
    "GRAPHS",
    "SPARSE_TENSOR",
    "SPARSE_TENSORS",
    "TYPE_PROTO",
    "TYPE_PROTOS",
];

/// An attribute and its message.
pub(super) type Attribute = (AttributeProto, Bytes);

/// The attributes of a node.
pub(super) struct Attributes<'a> {
    node: &'a NodeName,
    list: Vec<Attribute>,
}

impl<'a> Attributes<'a> {
    pub(super) fn of(
        node: &'a NodeName,
        proto: &NodeProto,
        decoder: &mut Decoder,
    ) -> Result<Attributes<'a>, ModelError> {
        let (count, limit) = (proto.attribute.len(), MOST_ATTRIBUTES);
        if count > limit {
            return Err(GraphError::TooMany { what: "attributes of a node", count, limit }.into());
        }
        let mut list = Vec::new();
        for bytes in &proto.attribute {
            let attribute: AttributeProto = decoder.decode(bytes, "attribute", &[1, 21])?;
            list.push((attribute, bytes.clone()));
        }
        Ok(Attributes { node, list })
    }

    /// All of them.
    pub(super) fn list(&self) -> &[Attribute] {
        &self.list
    }

    /// Refuses attributes that the operator does not have, and those that are given twice.
    pub(super) fn only(&self, names: &[&str]) -> Result<(), ModelError> {
        for (at, (attribute, _)) in self.list.iter().enumerate() {
            let name = attribute.name.as_str();
            if !names.contains(&name) {
                return Err(unknown(self.node, attribute));
            }
            if self.list[..at].iter().any(|(other, _)| other.name == name) {
                return Err(self.wrong(attribute, "given twice", "one value"));
            }
        }
        Ok(())
    }

    fn find(&self, name: &str) -> Option<&Attribute> {
        self.list.iter().find(|(attribute, _)| attribute.name == name)
    }

    /// Whether there is one of this name.
    pub(super) fn has(&self, name: &str) -> bool {
        self.find(name).is_some()
    }

    /// An integer.
    pub(super) fn int(&self, name: &str) -> Result<Option<i64>, ModelError> {
        let Some((attribute, content)) = self.find(name) else { return Ok(None) };
        self.check(attribute, content, Kind::Int)?;
        Ok(Some(attribute.i.unwrap_or(0)))
    }

    /// A list of integers.
    pub(super) fn ints(&self, name: &str) -> Result<Option<Vec<i64>>, ModelError> {
        let Some((attribute, content)) = self.find(name) else { return Ok(None) };
        self.check(attribute, content, Kind::Ints)?;
        let malformed = |reason| ModelError::NotOnnx { reason: format!("attribute: {reason}") };
        let mut numbers = Vec::new();
        for field in wire::fields(content) {
            let field = field.map_err(malformed)?;
            if field.number != Kind::Ints.field() {
                continue;
            }
            let count = Numbers::Varint.count(content, &field).map_err(malformed)?;
            let (count, limit) = (count + numbers.len(), MOST_ENTRIES);
            if count > limit {
                return Err(GraphError::TooMany { what: "integers in a list", count, limit }.into());
            }
            Numbers::Varint
                .each(content, &field, |bits| {
                    numbers.push(bits as i64);
                    Ok(())
                })
                .map_err(malformed)?;
        }
        Ok(Some(numbers))
    }

    /// A tensor.
    pub(super) fn tensor(&self, name: &str) -> Result<Option<Bytes>, ModelError> {
        let Some((attribute, content)) = self.find(name) else { return Ok(None) };
        self.check(attribute, content, Kind::Tensor)?;
        Ok(Some(attribute.t.clone().unwrap_or_default()))
    }

    /// Checks that an attribute holds a value of this type.
    pub(super) fn check(
        &self,
        attribute: &AttributeProto,
        content: &[u8],
        expected: Kind,
    ) -> Result<(), ModelError> {
        if !attribute.ref_attr_name.is_empty() {
            let value = format!("a reference to {:?}", short(&attribute.ref_attr_name));
            return Err(self.wrong(attribute, &value, "a value, since this is not a function"));
        }
        let is = attribute.kind.unwrap_or(0);
        // Models of the first versions have no types; then the field tells.
        let named = wire::fields(content).flatten().any(|field| field.number == expected.field());
        match is {
            0 if named => Ok(()),
            0 => Err(self.wrong(attribute, "without a value", expected.name())),
            is if is == expected as i32 => Ok(()),
            is => {
                let known = usize::try_from(is).ok().and_then(|at| KINDS.get(at));
                let name = known.map_or_else(|| format!("of type {is}"), |&name| name.to_owned());
                Err(self.wrong(attribute, &name, expected.name()))
            }
        }
    }

    fn wrong(&self, attribute: &AttributeProto, value: &str, expected: &'static str) -> ModelError {
        GraphError::attribute(self.node, &attribute.name, value, expected).into()
    }
}

/// A type of attributes that operators here have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Float = 1,
    Int = 2,
    String = 3,
    Tensor = 4,
    Floats = 6,
    Ints = 7,
    Strings = 8,
}

impl Kind {
    fn name(self) -> &'static str {
        KINDS[self as usize]
    }

    /// The field of an AttributeProto that holds it.
    pub(super) fn field(self) -> u32 {
        self as u32 + 1
    }
}

/// The error for an attribute that an operator does not have.
pub(super) fn unknown(node: &NodeName, attribute: &AttributeProto) -> ModelError {
    let expected = "one that the operator has";
    GraphError::attribute(node, &attribute.name, "unknown", expected).into()
}
