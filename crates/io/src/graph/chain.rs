//! A graph as a chain of reversals, for a writer of another language: what is reversed, in order.
//!
//! A graph with any other operator is not a chain, and neither is one whose axes are computed.

use super::declared::Dim;
use super::error::NodeName;
use super::op::Op;
use super::operand::OperandError;
use super::operators::{self, SliceLists};
use super::parts::{Input, Node, Output, Source};
use super::{Graph, numbers};
use crate::value::{Elements, Value};
use crate::words::short;
use retrograde::ReverseMode;
use std::collections::HashMap;
use thiserror::Error as ThisError;

/// A model that reverses one input, step by step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chain<'a> {
    /// The tensor that is reversed. Its rank is declared.
    pub input: &'a Input,
    /// What happens to it. All steps keep its shape.
    pub steps: Vec<Step<'a>>,
    /// The result.
    pub output: &'a Output,
}

/// A step of a chain.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step<'a> {
    /// These axes, in ascending order.
    Axes(Vec<usize>),
    /// The first steps of the time axis, as many as the entry of the batch axis has.
    Sequence {
        /// The axis that is reversed.
        time: usize,
        /// The axis with a length for each entry.
        batch: usize,
        /// The lengths.
        lengths: ChainLengths<'a>,
    },
}

/// Where the lengths of a step come from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ChainLengths<'a> {
    /// The model holds them.
    Constant(&'a Value),
    /// They are an input.
    Input(&'a Input),
}

/// Why a graph is not a chain of reversals.
#[derive(Debug, ThisError)]
#[non_exhaustive]
#[expect(missing_docs, reason = "the messages say what the fields are")]
pub enum ChainError {
    /// More than one output.
    #[error("it has {count} outputs, expected one")]
    Outputs { count: usize },
    /// A node that is not a reversal, or whose result is not used.
    #[error("{node} is not a reversal of the input")]
    Other { node: NodeName },
    /// A result that does not depend on an input.
    #[error("output {name:?} is a constant, expected a reversal of an input")]
    Constant { name: String },
    /// An input without a declared type or rank.
    #[error("input {name:?} is declared as {declared}, expected a tensor of known type and rank")]
    Undeclared { name: String, declared: super::Declared },
    /// Axes, or the ranges of a slice, that are only known when the model runs.
    #[error("{node}: {argument} are computed, expected constants")]
    Computed { node: NodeName, argument: &'static str },
    /// A slice that keeps a part, or may do so.
    #[error(
        "{node}: of axis {axis}, declared as {size}, it keeps or may keep a part, expected all of it"
    )]
    Part { node: NodeName, axis: usize, size: Dim },
    /// Operands that the operator refuses.
    #[error("{node}: {source}")]
    Operand { node: NodeName, source: Box<OperandError> },
}

impl Graph {
    /// The graph as a chain of reversals of one input, if it is one.
    pub fn chain(&self) -> Result<Chain<'_>, ChainError> {
        let [output] = &self.outputs[..] else {
            return Err(ChainError::Outputs { count: self.outputs.len() });
        };
        let makers: HashMap<&str, usize> =
            self.nodes.iter().enumerate().map(|(at, node)| (node.output.as_str(), at)).collect();
        let (mut used, mut found) = (vec![false; self.nodes.len()], Vec::new());
        let mut value = output.value.as_str();
        while let Some(&at) = makers.get(value) {
            let node = &self.nodes[at];
            used[at] = true;
            found.push(node);
            let reads =
                matches!(node.op, Op::Identity | Op::Reverse(_) | Op::Sequence { .. } | Op::Slice);
            // The first operand of each of these is there: graphs are checked.
            match node.inputs.first().and_then(Source::value).filter(|_| reads) {
                Some(data) => value = data,
                None => return Err(ChainError::Other { node: node.name.clone() }),
            }
        }
        let Some(input) = self.input_of(value) else {
            return Err(ChainError::Constant { name: short(output.name()) });
        };
        let dims = match (&input.declared.dims, input.declared.dtype) {
            (Some(dims), Some(_)) => dims,
            _ => {
                let (name, declared) = (short(input.name()), input.declared.clone());
                return Err(ChainError::Undeclared { name, declared });
            }
        };
        let mut steps = Vec::new();
        for node in found.into_iter().rev() {
            steps.extend(self.step(node, dims, &makers, &mut used)?);
        }
        match used.iter().position(|used| !used) {
            Some(at) => Err(ChainError::Other { node: self.nodes[at].name.clone() }),
            None => Ok(Chain { input, steps, output }),
        }
    }

    fn input_of(&self, value: &str) -> Option<&Input> {
        self.inputs.iter().find(|input| input.value == value)
    }

    /// What a node of the chain does; `None` for an Identity.
    fn step<'a>(
        &'a self,
        node: &'a Node,
        dims: &[Dim],
        makers: &HashMap<&str, usize>,
        used: &mut [bool],
    ) -> Result<Option<Step<'a>>, ChainError> {
        let failed =
            |source| ChainError::Operand { node: node.name.clone(), source: Box::new(source) };
        match &node.op {
            Op::Reverse(mode) => {
                let axes = self.constant(node, 1, "axes")?;
                let axes = match axes {
                    Some(axes) => reversed(*mode, &axes, dims.len()).map_err(failed)?,
                    None => Vec::new(),
                };
                Ok(Some(Step::Axes(axes)))
            }
            Op::Sequence { time, batch, .. } => {
                let mut value = node.inputs.get(1).and_then(Source::value).unwrap_or_default();
                while let Some(&at) = makers.get(value)
                    && self.nodes[at].op == Op::Identity
                {
                    used[at] = true;
                    value = self.nodes[at].reads().next().unwrap_or_default();
                }
                let lengths = match (self.input_of(value), self.constants.get(value)) {
                    (Some(input), _) => ChainLengths::Input(input),
                    (None, Some(value)) => ChainLengths::Constant(value),
                    (None, None) => {
                        let (node, argument) = (node.name.clone(), "lengths");
                        return Err(ChainError::Computed { node, argument });
                    }
                };
                let axis = |name, axis: i64| {
                    operators::axis(name, 0, axis.into(), dims.len()).map_err(failed)
                };
                let (time, batch) = (axis("time_axis", *time)?, axis("batch_axis", *batch)?);
                Ok(Some(Step::Sequence { time, batch, lengths }))
            }
            Op::Slice => {
                let list = |at: usize, argument| -> Result<Option<Vec<i128>>, ChainError> {
                    let value = self.constant(node, at, argument)?;
                    value.map(|value| numbers::list(argument, &value)).transpose().map_err(failed)
                };
                let lists = SliceLists {
                    starts: list(1, "starts")?.unwrap_or_default(),
                    ends: list(2, "ends")?.unwrap_or_default(),
                    axes: list(3, "axes")?,
                    steps: list(4, "steps")?,
                };
                let size = |dim: &Dim| match dim {
                    Dim::Fixed(size) => Some(*size),
                    _ => None,
                };
                let sizes: Vec<_> = dims.iter().map(size).collect();
                match operators::whole_slice(&lists, &sizes).map_err(failed)? {
                    Ok(axes) => Ok(Some(Step::Axes(axes))),
                    Err(axis) => {
                        let (node, size) = (node.name.clone(), dims[axis].clone());
                        Err(ChainError::Part { node, axis, size })
                    }
                }
            }
            _ => Ok(None),
        }
    }

    /// An operand that must be a constant; `None` if it is omitted.
    fn constant(
        &self,
        node: &Node,
        at: usize,
        argument: &'static str,
    ) -> Result<Option<Value>, ChainError> {
        match node.inputs.get(at) {
            None | Some(Source::Absent) => Ok(None),
            Some(Source::Integers(list)) => {
                Ok(Some(numbers::from_list(list.iter().copied(), retrograde::DType::I64)))
            }
            Some(Source::Value(name)) => {
                // A constant that is also an input is only its default.
                let value = self.constants.get(name).filter(|_| self.input_of(name).is_none());
                let computed = || ChainError::Computed { node: node.name.clone(), argument };
                value.cloned().map(Some).ok_or_else(computed)
            }
        }
    }
}

/// The axes of a Reverse, in ascending order. Values are valid: the graph was checked.
fn reversed(mode: ReverseMode, axes: &Value, rank: usize) -> Result<Vec<usize>, OperandError> {
    let listed = match mode {
        ReverseMode::Mask => {
            let Elements::Bytes(mask) = axes.elements() else { return Ok(Vec::new()) };
            (0..rank).filter(|&axis| mask.get(axis).is_some_and(|&byte| byte != 0)).collect()
        }
        ReverseMode::Index => {
            let mut listed = Vec::new();
            for (position, axis) in numbers::list("axes", axes)?.into_iter().enumerate() {
                listed.push(operators::axis("axes", position, axis, rank)?);
            }
            listed.sort_unstable();
            listed.dedup();
            listed
        }
    };
    Ok(listed)
}
