//! Topological sort of the nodes, without recursion.

use super::error::{GraphError, NodeName};
use super::parts::{Node, Output};
use crate::words::short;
use std::collections::{HashMap, HashSet, VecDeque};

/// Indices of the nodes such that every value is produced before it is read. Nodes keep their order
/// where possible.
pub(super) fn sorted(
    nodes: &[Node],
    outputs: &[Output],
    given: HashSet<&str>,
) -> Result<Vec<usize>, GraphError> {
    let maker: HashMap<&str, usize> =
        nodes.iter().enumerate().map(|(at, node)| (node.output.as_str(), at)).collect();
    let not_made =
        |reader: String, value: &str| GraphError::NotMade { reader, value: short(value) };
    let mut readers = vec![Vec::new(); nodes.len()];
    let mut waits_for = vec![0usize; nodes.len()];
    for (at, node) in nodes.iter().enumerate() {
        for value in node.reads() {
            match maker.get(value) {
                Some(&by) => {
                    readers[by].push(at);
                    waits_for[at] += 1;
                }
                None if given.contains(value) => {}
                None => return Err(not_made(node.name.to_string(), value)),
            }
        }
    }
    for output in outputs {
        let value = output.value.as_str();
        if !maker.contains_key(value) && !given.contains(value) {
            return Err(not_made("the list of outputs".to_owned(), value));
        }
    }
    let mut ready: VecDeque<usize> = (0..nodes.len()).filter(|&at| waits_for[at] == 0).collect();
    let mut order = Vec::with_capacity(nodes.len());
    while let Some(at) = ready.pop_front() {
        order.push(at);
        for &reader in &readers[at] {
            waits_for[reader] -= 1;
            if waits_for[reader] == 0 {
                ready.push_back(reader);
            }
        }
    }
    match waits_for.iter().position(|&waits| waits > 0) {
        None => Ok(order),
        Some(stuck) => Err(GraphError::Cycle { nodes: cycle(nodes, &maker, &waits_for, stuck) }),
    }
}

/// Finds a cycle: every blocked node reads from another blocked node, so walking back must repeat.
fn cycle(
    nodes: &[Node],
    maker: &HashMap<&str, usize>,
    waits_for: &[usize],
    stuck: usize,
) -> Vec<NodeName> {
    let mut path = vec![stuck];
    let mut seen = HashMap::from([(stuck, 0)]);
    loop {
        let at = path[path.len() - 1];
        let makers = nodes[at].reads().filter_map(|value| maker.get(value));
        let Some(&before) = makers.into_iter().find(|&&by| waits_for[by] > 0) else {
            // Unreachable, since `at` is blocked; the nodes found so far still show where to look.
            break path.iter().rev().map(|&at| nodes[at].name.clone()).collect();
        };
        if let Some(&start) = seen.get(&before) {
            break path[start..].iter().rev().map(|&at| nodes[at].name.clone()).collect();
        }
        seen.insert(before, path.len());
        path.push(before);
    }
}
