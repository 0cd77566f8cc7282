//! Checks the nodes of a graph before it runs: the number of their operands, and all types, shapes
//! and constants that are known.

use super::declared::Declared;
use super::error::{GraphError, NodeName};
use super::known::Known;
use super::movement::Workspace;
use super::op::Op;
use super::operand::OperandError;
use super::operators;
use super::parts::{Input, Node, Output, Source};
use super::view::View;
use super::{numbers, sizes};
use crate::value::{Elements, Value};
use retrograde::DType;
use std::collections::HashMap;

/// The most bytes of the constants that a node is evaluated on before the model runs.
const SMALL: usize = 1 << 12;
/// The most bytes of all results of these nodes together.
const MOST: usize = 8 << 20;

/// Checks how many operands a node has.
pub(super) fn operand_count(node: &Node) -> Result<(), GraphError> {
    let (given, allowed) = (node.inputs.len(), node.op.arity());
    if !allowed.contains(&given) {
        let expected = match (*allowed.start(), *allowed.end()) {
            (low, high) if low == high => low.to_string(),
            (low, usize::MAX) => format!("at least {low}"),
            (low, high) => format!("{low} to {high}"),
        };
        return Err(GraphError::inputs(&node.name, given, expected));
    }
    let omitted = node.inputs.iter().position(|source| *source == Source::Absent);
    match omitted.filter(|&position| position < node.op.required()) {
        Some(position) => Err(GraphError::InputOmitted { node: node.name.clone(), position }),
        None => Ok(()),
    }
}

/// What is known about inputs and constants.
pub(super) fn values(
    inputs: &[Input],
    constants: &HashMap<String, Value>,
) -> HashMap<String, Known> {
    let known = |(name, value): (&String, &Value)| (name.clone(), Known::of_value(value));
    let mut values: HashMap<String, Known> = constants.iter().map(known).collect();
    for input in inputs {
        // A constant that is also an input is only its default.
        values.insert(input.value.clone(), Known::of_declared(&input.declared));
    }
    values
}

/// Checks the nodes, which are sorted.
pub(super) fn nodes(
    nodes: &[Node],
    outputs: &[Output],
    declared: &HashMap<String, Declared>,
    mut values: HashMap<String, Known>,
) -> Result<(), GraphError> {
    let (mut budget, mut foreign) = (MOST, Vec::new());
    for node in nodes {
        let operands: Vec<Option<Known>> =
            node.inputs.iter().map(|source| operand(source, &values)).collect();
        let known = match result(&node.op, &operands, &mut budget) {
            Ok(known) => known,
            Err(OperandError::Arithmetic { dtype, .. }) => {
                foreign.push(node.name.of_type(dtype));
                Known::default()
            }
            Err(source) => {
                let (node, source) = (node.name.clone(), Box::new(source));
                return Err(GraphError::Node { node, source });
            }
        };
        let known = match declared.get(&node.output) {
            None => known,
            Some(declared) => {
                check(&format!("value {:?}", node.output), &known, declared)?;
                known.or_declared(declared)
            }
        };
        values.insert(node.output.clone(), known);
    }
    if !foreign.is_empty() {
        return Err(GraphError::CannotRun { nodes: foreign });
    }
    for output in outputs {
        let name = output.name();
        if let Some(known) = values.get(&output.value) {
            check(&format!("output {name:?}"), known, &output.declared)?;
        }
    }
    Ok(())
}

/// Nodes that compute with other numbers than integers, as far as types are declared.
pub(super) fn foreign(nodes: &[Node], values: &HashMap<String, Known>) -> Vec<NodeName> {
    let mut foreign = Vec::new();
    for node in nodes {
        let operands: Vec<_> = node.inputs.iter().map(|from| operand(from, values)).collect();
        if let Err(OperandError::Arithmetic { dtype, .. }) = operators::known(&node.op, &operands) {
            foreign.push(node.name.of_type(dtype));
        }
    }
    foreign
}

fn operand(source: &Source, values: &HashMap<String, Known>) -> Option<Known> {
    match source {
        Source::Value(name) => Some(values.get(name).cloned().unwrap_or_default()),
        Source::Integers(list) => {
            let list = numbers::from_list(list.iter().copied(), DType::I64);
            Some(Known::of_value(&list))
        }
        Source::Absent => None,
    }
}

/// What is known about the result of a node. If its operands are small constants, it is evaluated.
fn result(op: &Op, operands: &[Option<Known>], budget: &mut usize) -> Result<Known, OperandError> {
    let known = operators::known(op, operands)?;
    let constant = |known: &Option<Known>| match known {
        None => Some(None),
        Some(known) => known.value.clone().filter(is_small).map(|value| Some(View::of(value))),
    };
    let views: Option<Vec<Option<View>>> = operands.iter().map(constant).collect();
    let (Some(views), None) = (views, &known.value) else { return Ok(known) };
    let (buffers, most) = (&std::env::temp_dir(), SMALL as u64);
    let mut workspace = Workspace { buffers, most, moved: None };
    let len = match (op, known.shape()) {
        (op, Some(shape)) if grows(op) => {
            shape.iter().try_fold(16usize, |all, &size| all.checked_mul(size))
        }
        (op, None) if grows(op) => None,
        _ => Some(SMALL),
    };
    let Some(left) = len.filter(|&len| len <= SMALL).and_then(|len| budget.checked_sub(len)) else {
        return Ok(known);
    };
    *budget = left;
    let view = operators::run(op, &views, &mut workspace)?;
    Ok(Known::of_value(&super::movement::dense(&view, &mut workspace)?))
}

/// Whether the result may be much larger than the operands.
fn grows(op: &Op) -> bool {
    use Op::*;
    matches!(
        op,
        Fill(_) | Gather | Concat { .. } | Expand { .. } | Range(_) | Arithmetic(_) | Select
    )
}

fn is_small(value: &Value) -> bool {
    match value.elements() {
        Elements::Bytes(bytes) => bytes.len() <= SMALL,
        Elements::Strings(_) => false,
    }
}

fn check(what: &str, known: &Known, declared: &Declared) -> Result<(), GraphError> {
    // What is not known may be anything.
    if known.is_message || known.dtype.is_some() {
        sizes::check_container(what, known.is_message, declared)?;
    }
    if let Some(dtype) = known.dtype {
        sizes::check_type(what, dtype, declared)?;
    }
    match known.shape() {
        Some(shape) => sizes::check_shape(what, &shape, declared),
        None => Ok(()),
    }
}
