//! What models have in common, whatever file they came from: values with names, nodes that make
//! values from values, and what is declared about them.
//!
//! A [`Graph`] is checked when it is made (every value is made once, before it is read); what
//! it is run on is checked against what it declares.

mod error;
mod order;
mod run;

pub use error::{GraphError, NodeName};

use crate::value::Value;
use retrograde::{DType, ReverseMode};
use std::collections::HashMap;
use std::fmt;

/// A model that can be run.
#[derive(Debug, Clone)]
pub struct Graph {
    inputs: Vec<Input>,
    outputs: Vec<Output>,
    constants: HashMap<String, Value>,
    /// In an order in which each value is made before it is read.
    nodes: Vec<Node>,
    declared: HashMap<String, Declared>,
}

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

/// What a model says about a value: nothing, or its type, or its shape.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Declared {
    /// The element type.
    pub dtype: Option<DType>,
    /// One entry per axis.
    pub dims: Option<Vec<Dim>>,
}

/// What a model says about the size of an axis.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Dim {
    /// Nothing.
    Any,
    /// It is this.
    Fixed(usize),
    /// It is the same wherever this name stands.
    Named(String),
    /// It is between these, both included.
    Between(usize, usize),
}

impl fmt::Display for Dim {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Dim::Any => f.write_str("?"),
            Dim::Fixed(size) => write!(f, "{size}"),
            Dim::Named(name) => f.write_str(&crate::external::short(name)),
            Dim::Between(low, usize::MAX) => write!(f, "{low}.."),
            Dim::Between(low, high) => write!(f, "{low}..{high}"),
        }
    }
}

/// As `f32 [2, T, ?]`.
impl fmt::Display for Declared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.dtype {
            Some(dtype) => write!(f, "{dtype} ")?,
            None => f.write_str("? ")?,
        }
        match &self.dims {
            None => f.write_str("of any shape"),
            Some(dims) => {
                let dims: Vec<String> = dims.iter().map(Dim::to_string).collect();
                write!(f, "[{}]", dims.join(", "))
            }
        }
    }
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
    fn arity(self) -> usize {
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

/// The parts of a graph, before they are checked.
#[derive(Debug, Default)]
pub(crate) struct Parts {
    pub(crate) inputs: Vec<Input>,
    pub(crate) outputs: Vec<Output>,
    pub(crate) constants: Vec<(String, Value)>,
    pub(crate) nodes: Vec<Node>,
    pub(crate) declared: HashMap<String, Declared>,
    /// Nodes that cannot be run.
    pub(crate) foreign: Vec<NodeName>,
}

impl Parts {
    /// Checks how the parts hang together.
    pub(crate) fn check(self) -> Result<Graph, GraphError> {
        if !self.foreign.is_empty() {
            return Err(GraphError::CannotRun { nodes: self.foreign });
        }
        for node in &self.nodes {
            let (given, expected) = (node.inputs.len(), node.op.arity());
            if given != expected {
                return Err(GraphError::InputCount { node: node.name.clone(), given, expected });
            }
        }
        self.check_made_once()?;
        if self.outputs.is_empty() {
            return Err(GraphError::NoOutputs);
        }
        let given = self.inputs.iter().map(|input| input.value.as_str());
        let given = given.chain(self.constants.iter().map(|(name, _)| name.as_str())).collect();
        let order = order::sorted(&self.nodes, &self.outputs, given)?;
        let mut nodes: Vec<Option<Node>> = self.nodes.into_iter().map(Some).collect();
        Ok(Graph {
            inputs: self.inputs,
            outputs: self.outputs,
            constants: self.constants.into_iter().collect(),
            nodes: order.into_iter().filter_map(|at| nodes[at].take()).collect(),
            declared: self.declared,
        })
    }

    /// Inputs may have a constant as their default; nothing else is made twice.
    fn check_made_once(&self) -> Result<(), GraphError> {
        let mut made = HashMap::new();
        let by_input = self.inputs.iter().map(|input| (&input.value, 'i'));
        let by_constant = self.constants.iter().map(|(name, _)| (name, 'c'));
        let by_node = self.nodes.iter().map(|node| (&node.output, 'n'));
        for (name, by) in by_input.chain(by_constant).chain(by_node) {
            match made.insert(name, by) {
                None => {}
                Some('i') if by == 'c' => {}
                Some(_) => {
                    return Err(GraphError::MadeTwice { value: crate::external::short(name) });
                }
            }
        }
        Ok(())
    }
}

impl Graph {
    /// What it reads.
    pub fn inputs(&self) -> &[Input] {
        &self.inputs
    }

    /// What it gives back.
    pub fn outputs(&self) -> &[Output] {
        &self.outputs
    }

    /// Its nodes, in the order they run, as name and type.
    pub fn nodes(&self) -> impl ExactSizeIterator<Item = &NodeName> {
        self.nodes.iter().map(|node| &node.name)
    }
}

#[cfg(test)]
mod tests;
