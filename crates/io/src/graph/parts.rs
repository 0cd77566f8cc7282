//! What a graph is made of: inputs, outputs, and nodes.

use super::declared::Declared;
use super::error::NodeName;
use retrograde::ReverseMode;

/// What a model reads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Input {
    /// What it is called; by any of these it can be given.
    pub names: Vec<String>,
    /// The value that it becomes.
    pub(crate) value: String,
    /// What is declared about it.
    pub declared: Declared,
    /// Whether the model has a value for it.
    pub has_default: bool,
}

/// What a model gives back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Output {
    /// What it is called, the usual name first.
    pub names: Vec<String>,
    /// The value that it is.
    pub(crate) value: String,
    /// What is declared about it.
    pub declared: Declared,
}

/// Something that makes one value.
#[derive(Debug, Clone)]
pub(crate) struct Node {
    pub(crate) name: NodeName,
    pub(crate) op: Op,
    pub(crate) inputs: Vec<String>,
    pub(crate) output: String,
}

/// What a node does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Op {
    /// Passes its input on.
    Identity,
    /// OpenVINO Reverse: data, axes.
    Reverse(ReverseMode),
    /// ONNX or OpenVINO ReverseSequence: data, lengths.
    Sequence {
        time: i64,
        batch: i64,
        /// The ONNX opset whose rules hold; OpenVINO's if there is none.
        opset: Option<u32>,
    },
}

impl Op {
    /// How many inputs it has.
    pub(super) fn arity(self) -> usize {
        match self {
            Op::Identity => 1,
            Op::Reverse(_) | Op::Sequence { .. } => 2,
        }
    }
}

/// What a model says about itself, whether it can be run or not.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct Outline {
    /// The version of the format that the model is in.
    pub ir_version: i64,
    /// Operator sets that it asks for: domain and version. Of an OpenVINO IR there are none.
    pub opsets: Vec<(String, i64)>,
    /// What it reads.
    pub inputs: Vec<Input>,
    /// What it gives back.
    pub outputs: Vec<Output>,
    /// Its nodes, in the order of the file, but those that only hold a constant; and whether
    /// retrograde has their operator.
    pub nodes: Vec<(NodeName, bool)>,
}
