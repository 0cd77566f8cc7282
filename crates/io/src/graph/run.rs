//! Runs a graph: inputs are checked against the declarations, nodes run one after the other, and a
//! value is dropped after its last reader.

use super::movement::{Buffers, Workspace, dense};
use super::numbers;
use super::parts::Source;
use super::sizes::Sizes;
use super::view::View;
use super::{Declared, Graph, GraphError, Op, operators};
use crate::value::Value;
use retrograde::DType;
use std::collections::HashMap;

/// The most bytes of a result that is assembled from parts, whatever the model reads.
const ALWAYS: u64 = 64 << 20;
/// How many times as large as everything that the model reads such a result may be.
const TIMES: u64 = 8;

impl Graph {
    /// Runs it on named inputs and returns its outputs in order.
    ///
    /// Opaque elements (`bytes2`) are reinterpreted as the declared type if the width matches.
    pub fn run(&self, inputs: Vec<(String, Value)>) -> Result<Vec<Value>, GraphError> {
        self.run_in(inputs, &std::env::temp_dir(), None)
    }

    /// As [`run`](Self::run), with memory for results: the path of a folder for temporary files,
    /// or the caller's own. `watch` is called with the number of bytes moved so far and in total.
    pub fn run_in(
        &self,
        inputs: Vec<(String, Value)>,
        buffers: &dyn Buffers,
        watch: Option<&mut dyn FnMut(u64, u64)>,
    ) -> Result<Vec<Value>, GraphError> {
        let mut sizes = Sizes::default();
        let mut values = self.bind(inputs, &mut sizes)?;
        let read: u64 = values.values().map(View::bytes_read).fold(0, u64::saturating_add);
        let mut moved = watch.map(|watch| {
            let (mut done, total) = (0, self.bytes_to_move(&values));
            move |bytes: u64| {
                // The total is an estimate: how much a slice leaves is not known in advance.
                done = total.min(done + bytes);
                watch(done, total);
            }
        });
        let mut workspace = Workspace {
            buffers,
            most: read.saturating_mul(TIMES).max(ALWAYS),
            moved: moved.as_mut().map(|moved| moved as &mut dyn FnMut(u64)),
        };
        let mut readers = self.readers();
        for node in &self.nodes {
            let operand = |source: &Source| match source {
                Source::Value(name) => Some(take(&mut values, &mut readers, name)),
                Source::Integers(list) => {
                    Some(View::of(numbers::from_list(list.iter().copied(), DType::I64)))
                }
                Source::Absent => None,
            };
            let operands: Vec<Option<View>> = node.inputs.iter().map(operand).collect();
            let result = operators::run(&node.op, &operands, &mut workspace).map_err(|source| {
                GraphError::Node { node: node.name.clone(), source: Box::new(source) }
            })?;
            if let Some(declared) = self.declared.get(&node.output) {
                let what = format!("value {:?}", node.output);
                sizes.check(&what, &result, declared)?;
            }
            if readers.contains_key(node.output.as_str()) {
                values.insert(&node.output, result);
            }
        }
        let mut results = Vec::with_capacity(self.outputs.len());
        for output in &self.outputs {
            let view = take(&mut values, &mut readers, &output.value);
            let name = output.name();
            sizes.check(&format!("output {name:?}"), &view, &output.declared)?;
            let value = dense(&view, &mut workspace).map_err(|source| GraphError::Result {
                name: name.to_owned(),
                source: Box::new(source),
            })?;
            results.push(value);
        }
        Ok(results)
    }

    /// The values that exist before any node has run.
    fn bind<'a>(
        &'a self,
        inputs: Vec<(String, Value)>,
        sizes: &mut Sizes,
    ) -> Result<HashMap<&'a str, View>, GraphError> {
        let constants = self.constants.iter();
        let mut values: HashMap<&str, View> =
            constants.map(|(name, value)| (name.as_str(), View::of(value.clone()))).collect();
        let mut given = vec![None; self.inputs.len()];
        for (name, value) in inputs {
            let Some(at) = self.inputs.iter().position(|input| input.names.contains(&name)) else {
                let known = self.inputs.iter().filter_map(|input| input.names.first().cloned());
                return Err(GraphError::UnknownInput { name, known: known.collect() });
            };
            if given[at].replace(value).is_some() {
                return Err(GraphError::InputTwice { name });
            }
        }
        for (input, given) in self.inputs.iter().zip(given) {
            let name = input.name();
            let value = match (given, values.get(input.value.as_str())) {
                (Some(value), _) => View::of(as_declared(value, &input.declared)),
                (None, Some(default)) => default.clone(),
                (None, None) => {
                    let (name, declared) = (name.to_owned(), input.declared.clone());
                    return Err(GraphError::InputMissing { name, declared });
                }
            };
            let what = format!("input {name:?}");
            sizes.check(&what, &value, &input.declared)?;
            values.insert(&input.value, value);
        }
        Ok(values)
    }

    /// Bytes that will move, about: a result has the size of what the node reads. A view moves
    /// when another node or an output needs it.
    fn bytes_to_move(&self, values: &HashMap<&str, View>) -> u64 {
        // Size, and whether it is a view that still has to move.
        let mut sizes: HashMap<&str, (u64, bool)> =
            values.iter().map(|(name, value)| (*name, (size(value), false))).collect();
        let mut total = 0u64;
        for node in &self.nodes {
            let read = node.reads().filter_map(|name| sizes.get(name));
            let (bytes, later) = match &node.op {
                Op::Concat { .. } => {
                    (read.map(|(bytes, _)| *bytes).fold(0, u64::saturating_add), false)
                }
                Op::Shape { .. } | Op::Fill(_) => (0, false),
                op => {
                    let (bytes, later) = read.take(1).next().copied().unwrap_or((0, false));
                    (bytes, op.is_view() && (later || *op != Op::Identity))
                }
            };
            if !node.op.is_view() {
                total = total.saturating_add(bytes);
            }
            sizes.insert(&node.output, (bytes, later));
        }
        let outputs = self.outputs.iter().filter_map(|output| sizes.get(output.value.as_str()));
        outputs
            .filter(|(_, later)| *later)
            .fold(total, |all, (bytes, _)| all.saturating_add(*bytes))
    }

    /// The number of readers of each value.
    fn readers(&self) -> HashMap<&str, usize> {
        let mut readers = HashMap::new();
        let by_nodes = self.nodes.iter().flat_map(|node| node.reads());
        for name in by_nodes.chain(self.outputs.iter().map(|output| output.value.as_str())) {
            *readers.entry(name).or_default() += 1;
        }
        readers
    }
}

/// The value for one of its readers; the last reader takes ownership.
fn take(values: &mut HashMap<&str, View>, readers: &mut HashMap<&str, usize>, name: &str) -> View {
    let last = readers.get_mut(name).is_none_or(|left| {
        *left = left.saturating_sub(1);
        *left == 0
    });
    let value = if last { values.remove(name) } else { values.get(name).cloned() };
    value.expect("nodes are sorted so that every value is produced before it is read")
}

/// Opaque elements reinterpreted as the declared type, if the widths are equal.
fn as_declared(value: Value, declared: &Declared) -> Value {
    match (value.dtype(), declared.dtype) {
        (DType::Bytes(_), Some(dtype)) => value.reinterpreted(dtype).unwrap_or(value),
        _ => value,
    }
}

/// How many bytes move.
fn size(view: &View) -> u64 {
    view.bytes().len() as u64
}
