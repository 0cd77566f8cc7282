//! The parts of a graph: inputs, outputs and nodes.

use super::declared::Declared;
use super::error::NodeName;
use super::op::Op;

/// An input of a model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Input {
    /// Its names; a caller may use any of them.
    pub names: Vec<String>,
    /// The value that it defines.
    pub(crate) value: String,
    /// What is declared about it.
    pub declared: Declared,
    /// Whether the model has a default value for it.
    pub has_default: bool,
}

/// An output of a model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Output {
    /// Its names, the preferred one first.
    pub names: Vec<String>,
    /// The value that it returns.
    pub(crate) value: String,
    /// What is declared about it.
    pub declared: Declared,
}

impl Input {
    /// Its preferred name.
    pub fn name(&self) -> &str {
        self.names.first().map_or("", String::as_str)
    }
}

impl Output {
    /// Its preferred name.
    pub fn name(&self) -> &str {
        self.names.first().map_or("", String::as_str)
    }
}

/// A node, which produces one value.
#[derive(Debug, Clone)]
pub(crate) struct Node {
    pub(crate) name: NodeName,
    pub(crate) op: Op,
    pub(crate) inputs: Vec<Source>,
    pub(crate) output: String,
}

/// Where an operand of a node comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Source {
    /// A value of the graph.
    Value(String),
    /// An attribute: a list of integers.
    Integers(Vec<i64>),
    /// It is omitted.
    Absent,
}

impl Source {
    /// The value of the graph that is read, if any.
    pub(super) fn value(&self) -> Option<&str> {
        match self {
            Source::Value(name) => Some(name),
            _ => None,
        }
    }
}

impl Node {
    /// The values that it reads.
    pub(super) fn reads(&self) -> impl Iterator<Item = &str> {
        self.inputs.iter().filter_map(Source::value)
    }
}

/// A description of a model, whether it can be run or not.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct Outline {
    /// The version of the file format.
    pub ir_version: i64,
    /// Operator sets that it imports: domain and version. Empty for an OpenVINO IR.
    pub opsets: Vec<(String, i64)>,
    /// Its inputs.
    pub inputs: Vec<Input>,
    /// Its outputs.
    pub outputs: Vec<Output>,
    /// Its nodes in file order, without those that only hold a constant, and whether retrograde
    /// supports their operator.
    pub nodes: Vec<(NodeName, bool)>,
}
