//! The common form of all models: named values, nodes that compute values from values, and what is
//! declared about them.
//!
//! A [`Graph`] is checked when it is built: every value is produced once, before it is read, and
//! the types, shapes and constants that are known are those that the operators accept. Its inputs
//! are checked against the declarations when it runs.

mod chain;
mod check;
mod declared;
pub(crate) mod error;
mod known;
mod movement;
mod numbers;
mod op;
mod operand;
mod operators;
mod order;
mod parts;
mod run;
mod sizes;
mod view;

pub use chain::{Chain, ChainError, ChainLengths, Step};
pub use declared::{Container, Declared, Dim};
pub use error::{GraphError, NodeName};
pub use movement::{Buffer, Buffers};
pub(crate) use op::{Function, Masks, Op};
pub use operand::OperandError;
pub use parts::{Input, Outline, Output};
pub(crate) use parts::{Node, Source};

use crate::value::Value;
use crate::words::short;
use known::Known;
use std::collections::HashMap;
use view::View;

/// A model that can be run.
#[derive(Debug, Clone)]
pub struct Graph {
    inputs: Vec<Input>,
    outputs: Vec<Output>,
    constants: HashMap<String, Value>,
    /// Topologically sorted: each value is produced before it is read.
    nodes: Vec<Node>,
    declared: HashMap<String, Declared>,
}

/// The parts of a graph, before they are checked.
#[derive(Debug, Default)]
pub(crate) struct Parts {
    pub(crate) inputs: Vec<Input>,
    pub(crate) outputs: Vec<Output>,
    pub(crate) constants: Vec<(String, Value)>,
    pub(crate) nodes: Vec<Node>,
    pub(crate) declared: HashMap<String, Declared>,
    /// Nodes with unsupported operators.
    pub(crate) foreign: Vec<NodeName>,
}

impl Parts {
    /// Checks that the parts form a valid graph.
    pub(crate) fn check(self) -> Result<Graph, GraphError> {
        if !self.foreign.is_empty() {
            let mut nodes = self.foreign;
            let declared = self.declared.iter();
            let known = declared.map(|(name, of)| (name.clone(), Known::of_declared(of))).collect();
            nodes.extend(check::foreign(&self.nodes, &known));
            return Err(GraphError::CannotRun { nodes });
        }
        for node in &self.nodes {
            check::operand_count(node)?;
        }
        self.check_made_once()?;
        if self.outputs.is_empty() {
            return Err(GraphError::NoOutputs);
        }
        let given = self.inputs.iter().map(|input| input.value.as_str());
        let given = given.chain(self.constants.iter().map(|(name, _)| name.as_str())).collect();
        let order = order::sorted(&self.nodes, &self.outputs, given)?;
        let mut nodes: Vec<Option<Node>> = self.nodes.into_iter().map(Some).collect();
        let graph = Graph {
            inputs: self.inputs,
            outputs: self.outputs,
            constants: self.constants.into_iter().collect(),
            nodes: order.into_iter().filter_map(|at| nodes[at].take()).collect(),
            declared: self.declared,
        };
        let known = check::values(&graph.inputs, &graph.constants);
        check::nodes(&graph.nodes, &graph.outputs, &graph.declared, known)?;
        Ok(graph)
    }

    /// An input may have a constant as its default; nothing else is produced twice.
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
                    return Err(GraphError::MadeTwice { value: short(name) });
                }
            }
        }
        Ok(())
    }
}

impl Graph {
    /// Its inputs.
    pub fn inputs(&self) -> &[Input] {
        &self.inputs
    }

    /// Its outputs.
    pub fn outputs(&self) -> &[Output] {
        &self.outputs
    }

    /// How many bytes its constants have.
    pub fn constant_bytes(&self) -> usize {
        let bytes = |value: &Value| View::of(value.clone()).bytes_read();
        let all = self.constants.values().map(bytes).fold(0, u64::saturating_add);
        usize::try_from(all).unwrap_or(usize::MAX)
    }

    /// Its nodes in execution order, as name and type.
    pub fn nodes(&self) -> impl ExactSizeIterator<Item = &NodeName> {
        self.nodes.iter().map(|node| &node.name)
    }
}

#[cfg(test)]
mod tests;
