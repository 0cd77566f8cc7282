//! The parts of a graph: inputs, outputs and nodes.

use super::declared::Declared;
use super::error::NodeName;
use retrograde::ReverseMode;

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

/// A node, which produces one value.
#[derive(Debug, Clone)]
pub(crate) struct Node {
    pub(crate) name: NodeName,
    pub(crate) op: Op,
    pub(crate) inputs: Vec<String>,
    pub(crate) output: String,
}

/// The operator of a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Op {
    /// Returns its input.
    Identity,
    /// OpenVINO Reverse: data, axes.
    Reverse(ReverseMode),
    /// ONNX or OpenVINO ReverseSequence: data, lengths.
    Sequence {
        time: i64,
        batch: i64,
        /// The ONNX opset whose rules apply; OpenVINO's if `None`.
        opset: Option<u32>,
    },
}

impl Op {
    /// The number of inputs.
    pub(super) fn arity(self) -> usize {
        match self {
            Op::Identity => 1,
            Op::Reverse(_) | Op::Sequence { .. } => 2,
        }
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
