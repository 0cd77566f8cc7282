//! Errors of a graph, or of the inputs it is run on.

use super::declared::{Declared, Dim};
use super::operand::OperandError;
use crate::words::short;
use retrograde::{DType, LayoutError};
use std::collections::BTreeMap;
use std::fmt;
use thiserror::Error as ThisError;

/// A node's name and type.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct NodeName {
    /// Its name, which may be empty.
    pub name: String,
    /// Its type, with the domain unless that is the default one.
    pub kind: String,
}

impl NodeName {
    /// The same node, whose type tells that of its elements.
    pub(super) fn of_type(&self, dtype: DType) -> NodeName {
        NodeName { name: self.name.clone(), kind: format!("{} of {dtype}", self.kind) }
    }
}

impl fmt::Display for NodeName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = short(&self.kind).escape_debug().to_string();
        match self.name.as_str() {
            "" => write!(f, "a node without a name ({kind})"),
            name => write!(f, "{} ({kind})", short(name).escape_debug()),
        }
    }
}

/// A graph that cannot be run, or not on these inputs. Text of the file is shortened and printable.
#[derive(Debug, ThisError)]
#[non_exhaustive]
#[expect(missing_docs, reason = "the messages say what the fields are")]
pub enum GraphError {
    /// Unsupported operators.
    #[error("it has nodes that retrograde cannot run: {}", listed(nodes))]
    CannotRun { nodes: Vec<NodeName> },
    /// A node with too few or too many inputs.
    #[error("{node}: has {given} inputs, expected {expected}")]
    InputCount { node: NodeName, given: usize, expected: String },
    /// A node with too few or too many outputs.
    #[error("{node}: has {given} outputs, expected one with a name")]
    OutputCount { node: NodeName, given: usize },
    /// An input that is omitted, but is not optional.
    #[error("{node}: input {position} is omitted, expected a value")]
    InputOmitted { node: NodeName, position: usize },
    /// An attribute that the operator does not have, or an invalid value.
    #[error("{node}: attribute {attribute:?} is {value}, expected {expected}")]
    Attribute { node: NodeName, attribute: String, value: String, expected: &'static str },
    /// A value that is produced twice.
    #[error("value {value:?} is produced twice")]
    MadeTwice { value: String },
    /// A value that nothing produces.
    #[error("{reader} reads {value:?}, which nothing produces")]
    NotMade { reader: String, value: String },
    /// Nodes that depend on each other.
    #[error("its nodes form a cycle: {}", cycle(nodes))]
    Cycle {
        /// The nodes, each of which reads what the one before it produces.
        nodes: Vec<NodeName>,
    },
    /// A graph without outputs.
    #[error("it has no outputs")]
    NoOutputs,
    /// More of something than any reasonable model has.
    #[error("it has {count} {what}, more than the {limit} that are accepted")]
    TooMany { what: &'static str, count: usize, limit: usize },

    /// An input that was not given.
    #[error("input {name:?} is missing ({declared})")]
    InputMissing { name: String, declared: Declared },
    /// An input that the model does not have.
    #[error("there is no input {name:?}, expected {}", names(known))]
    UnknownInput { name: String, known: Vec<String> },
    /// An input that was given twice.
    #[error("input {name:?} is given twice")]
    InputTwice { name: String },
    /// A value whose type is not the declared one.
    #[error("{value}: has type {dtype}, expected {declared}")]
    OtherType { value: String, dtype: DType, declared: Declared },
    /// A tensor that should be a sequence, or the other way round.
    #[error("{value}: is {found}, expected {declared}")]
    OtherKind { value: String, found: &'static str, declared: Declared },
    /// A value whose rank or size is not the declared one.
    #[error("{value}: has shape {shape:?}, expected {declared}")]
    OtherShape { value: String, shape: Vec<usize>, declared: Declared },
    /// A named size with two different values.
    #[error("{value}: axis {axis} has size {size}, but {dim} is already {bound} ({by})")]
    NamedSize { value: String, axis: usize, size: usize, dim: Dim, bound: usize, by: String },
    /// A node that cannot run on its inputs.
    #[error("{node}: {source}")]
    Node { node: NodeName, source: Box<OperandError> },
    /// An output that cannot be made.
    #[error("output {name:?}: {source}")]
    Result { name: String, source: Box<OperandError> },
    /// A result that is too large for memory.
    #[error("{node}: {source}")]
    Layout { node: NodeName, source: LayoutError },
}

impl GraphError {
    /// An attribute with a wrong value.
    pub(crate) fn attribute(
        node: &NodeName,
        attribute: &str,
        value: impl Into<String>,
        expected: &'static str,
    ) -> GraphError {
        let (node, attribute) = (node.clone(), short(attribute));
        GraphError::Attribute { node, attribute, value: value.into(), expected }
    }

    /// A node with a wrong number of inputs.
    pub(crate) fn inputs(node: &NodeName, given: usize, expected: impl Into<String>) -> GraphError {
        GraphError::InputCount { node: node.clone(), given, expected: expected.into() }
    }
}

/// Names, comma-separated.
fn names(names: &[String]) -> String {
    match names {
        [] => "none: it has no inputs".to_owned(),
        names => {
            let quoted: Vec<String> =
                names.iter().map(|name| format!("{:?}", short(name))).collect();
            quoted.join(" or ")
        }
    }
}

/// Nodes by name up to a limit, the rest counted by type.
fn listed(nodes: &[NodeName]) -> String {
    const MOST: usize = 100;
    let (shown, rest) = nodes.split_at(nodes.len().min(MOST));
    let mut text = shown.iter().map(NodeName::to_string).collect::<Vec<_>>().join(", ");
    if !rest.is_empty() {
        let mut kinds = BTreeMap::<String, usize>::new();
        for node in rest {
            *kinds.entry(short(&node.kind).escape_debug().to_string()).or_default() += 1;
        }
        let kinds: Vec<String> =
            kinds.iter().take(MOST).map(|(kind, count)| format!("{count} {kind}")).collect();
        text += &format!(" and {} more: {}", rest.len(), kinds.join(", "));
    }
    text
}

/// A cycle, shortened to fit on a line.
fn cycle(nodes: &[NodeName]) -> String {
    const MOST: usize = 8;
    let shown: Vec<String> = nodes.iter().take(MOST).map(NodeName::to_string).collect();
    let more = if nodes.len() > MOST { " -> ..." } else { "" };
    let first = nodes.first().map_or(String::new(), |node| format!(" -> {node}"));
    format!("{}{more}{first}", shown.join(" -> "))
}
