//! Runs a graph: inputs are checked against the declarations, nodes run one after the other, and a
//! value is dropped after its last reader.

use super::{Declared, Dim, Graph, GraphError, Node, Op};
use crate::spool;
use crate::strings;
use crate::value::{Elements, Value};
use crate::words::short;
use bytes::Bytes;
use retrograde::{
    DType, Error, Layout, LayoutError, Lengths, Reversal, Reverse, ReverseSequence, TensorRef,
};
use std::borrow::Cow;
use std::collections::HashMap;
use std::path::Path;

/// Bytes to move between two calls of the progress callback.
const PIECE: usize = 16 << 20;

impl Graph {
    /// Runs it on named inputs and returns its outputs in order.
    ///
    /// Opaque elements (`bytes2`) are reinterpreted as the declared type if the width matches.
    pub fn run(&self, inputs: Vec<(String, Value)>) -> Result<Vec<Value>, GraphError> {
        self.run_in(inputs, &std::env::temp_dir(), &mut |_, _| {})
    }

    /// As [`run`](Self::run), with a folder for temporary files, which hold large intermediate
    /// results. `watch` is called with the number of bytes moved so far and in total.
    pub fn run_in(
        &self,
        inputs: Vec<(String, Value)>,
        temporary: &Path,
        watch: &mut dyn FnMut(u64, u64),
    ) -> Result<Vec<Value>, GraphError> {
        let mut sizes = Sizes::default();
        let mut values = self.bind(inputs, &mut sizes)?;
        let total = self.bytes_to_move(&values);
        let mut done = 0;
        let mut room = Workroom {
            temporary,
            moved: &mut |bytes| {
                done += bytes;
                watch(done, total);
            },
        };
        let mut readers = self.readers();
        for node in &self.nodes {
            let operands: Vec<Value> =
                node.inputs.iter().map(|name| take(&mut values, &mut readers, name)).collect();
            let result = execute(node, &operands, &mut room)?;
            if let Some(declared) = self.declared.get(&node.output) {
                sizes.check(&format!("value {:?}", node.output), &result, declared)?;
            }
            if readers.contains_key(node.output.as_str()) {
                values.insert(&node.output, result);
            }
        }
        let mut results = Vec::with_capacity(self.outputs.len());
        for output in &self.outputs {
            let value = take(&mut values, &mut readers, &output.value);
            let name = output.names.first().map_or("", String::as_str);
            sizes.check(&format!("output {name:?}"), &value, &output.declared)?;
            results.push(value);
        }
        Ok(results)
    }

    /// The values that exist before any node has run.
    fn bind<'a>(
        &'a self,
        inputs: Vec<(String, Value)>,
        sizes: &mut Sizes,
    ) -> Result<HashMap<&'a str, Value>, GraphError> {
        let constants = self.constants.iter();
        let mut values: HashMap<&str, Value> =
            constants.map(|(name, value)| (name.as_str(), value.clone())).collect();
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
            let name = input.names.first().map_or("", String::as_str);
            let value = match (given, values.get(input.value.as_str())) {
                (Some(value), _) => as_declared(value, &input.declared),
                (None, Some(default)) => default.clone(),
                (None, None) => {
                    let (name, declared) = (name.to_owned(), input.declared.clone());
                    return Err(GraphError::InputMissing { name, declared });
                }
            };
            sizes.check(&format!("input {name:?}"), &value, &input.declared)?;
            values.insert(&input.value, value);
        }
        Ok(values)
    }

    /// Bytes that the nodes will move: each result has the size of the node's first input.
    fn bytes_to_move(&self, values: &HashMap<&str, Value>) -> u64 {
        let size = |value: &Value| match value.elements() {
            Elements::Bytes(bytes) => bytes.len() as u64,
            Elements::Strings(strings) => strings.handles().len() as u64,
        };
        let mut sizes: HashMap<&str, u64> =
            values.iter().map(|(name, value)| (*name, size(value))).collect();
        let mut total = 0u64;
        for node in &self.nodes {
            let first = node.inputs.first().and_then(|name| sizes.get(name.as_str()));
            let bytes = first.copied().unwrap_or(0);
            sizes.insert(&node.output, bytes);
            if node.op != Op::Identity {
                total = total.saturating_add(bytes);
            }
        }
        total
    }

    /// The number of readers of each value.
    fn readers(&self) -> HashMap<&str, usize> {
        let mut readers = HashMap::new();
        let by_nodes = self.nodes.iter().flat_map(|node| &node.inputs);
        for name in by_nodes.chain(self.outputs.iter().map(|output| &output.value)) {
            *readers.entry(name.as_str()).or_default() += 1;
        }
        readers
    }
}

/// The value for one of its readers; the last reader takes ownership.
fn take(
    values: &mut HashMap<&str, Value>,
    readers: &mut HashMap<&str, usize>,
    name: &str,
) -> Value {
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

/// The values of named sizes, and where each was bound.
#[derive(Debug, Default)]
struct Sizes(HashMap<String, (usize, String)>);

impl Sizes {
    fn check(&mut self, what: &str, value: &Value, declared: &Declared) -> Result<(), GraphError> {
        let what = || short(what);
        let (dtype, shape) = (value.dtype(), value.shape());
        if declared.dtype.is_some_and(|declared| declared != dtype) {
            let declared = declared.clone();
            return Err(GraphError::OtherType { value: what(), dtype, declared });
        }
        let Some(dims) = &declared.dims else { return Ok(()) };
        let fits = |(&size, dim): (&usize, &Dim)| match dim {
            Dim::Any | Dim::Named(_) => true,
            Dim::Fixed(fixed) => size == *fixed,
            Dim::Between(low, high) => (*low..=*high).contains(&size),
        };
        if shape.len() != dims.len() || !shape.iter().zip(dims).all(fits) {
            let (shape, declared) = (shape.to_vec(), declared.clone());
            return Err(GraphError::OtherShape { value: what(), shape, declared });
        }
        for (axis, (&size, dim)) in shape.iter().zip(dims).enumerate() {
            let Dim::Named(name) = dim else { continue };
            let (bound, by) = self.0.entry(name.clone()).or_insert_with(|| (size, what()));
            if *bound != size {
                let (value, dim, by) = (what(), dim.clone(), by.clone());
                return Err(GraphError::NamedSize { value, axis, size, dim, bound: *bound, by });
            }
        }
        Ok(())
    }
}

/// The folder for temporary files and the progress callback.
struct Workroom<'a> {
    temporary: &'a Path,
    /// Called with the number of bytes moved.
    moved: &'a mut dyn FnMut(u64),
}

/// Runs one node.
fn execute(node: &Node, operands: &[Value], room: &mut Workroom<'_>) -> Result<Value, GraphError> {
    let failed = |source| GraphError::Node { node: node.name.clone(), source: Box::new(source) };
    match (node.op, operands) {
        (Op::Identity, [data]) => Ok(data.clone()),
        (Op::Reverse(mode), [data, axes]) => {
            let bytes = native(axes).map_err(failed)?;
            let axes = view(axes, &bytes).map_err(failed)?;
            let operator = Reverse::from_tensor(mode, &axes).map_err(failed)?;
            reversed(&operator, data, room).map_err(failed)
        }
        (Op::Sequence { time, batch, opset }, [data, lengths]) => {
            let is_text = data.dtype() == DType::String;
            let operator = match opset {
                // ONNX allows strings at every opset; the engine sees only their handles.
                Some(_) if is_text && lengths.dtype() != DType::I64 => {
                    let (operator, dtype) =
                        (retrograde::Operator::ReverseSequence, lengths.dtype());
                    return Err(failed(Error::LengthsType { operator, dtype, allowed: "i64" }));
                }
                Some(_) if is_text => ReverseSequence::new().time_axis(time).batch_axis(batch),
                Some(opset) => ReverseSequence::onnx(opset).time_axis(time).batch_axis(batch),
                None => ReverseSequence::any_axes(time, batch),
            };
            let bytes = native(lengths).map_err(failed)?;
            let lengths = view(lengths, &bytes).map_err(failed)?;
            reversed(&operator.lengths(Lengths::from(lengths)), data, room).map_err(failed)
        }
        // `Parts::check` has counted the operands.
        _ => Err(GraphError::InputCount {
            node: node.name.clone(),
            given: operands.len(),
            expected: node.op.arity(),
        }),
    }
}

fn reversed(
    operator: &impl Reversal,
    data: &Value,
    room: &mut Workroom<'_>,
) -> Result<Value, Error> {
    let shape = data.shape();
    match data.elements() {
        // Only the handles move.
        Elements::Strings(strings) => {
            let handles = moved(operator, strings::HANDLE, shape, strings.handles(), room)?;
            Ok(Value::strings(shape, strings.with_handles(handles))?)
        }
        Elements::Bytes(bytes) => {
            Ok(Value::new(data.dtype(), shape, moved(operator, data.dtype(), shape, bytes, room)?)?)
        }
    }
}

/// Dense elements, reversed.
fn moved(
    operator: &impl Reversal,
    dtype: DType,
    shape: &[usize],
    bytes: &[u8],
    room: &mut Workroom<'_>,
) -> Result<Bytes, Error> {
    let layout = Layout::dense(dtype, shape)?;
    let prepared = operator.prepare(&layout, &layout)?;
    let mut fill = |output: &mut [u8]| {
        for piece in prepared.check()?.pieces(PIECE) {
            piece.execute(bytes, &mut *output).map_err(|error| prepared.explain(error))?;
            (room.moved)((piece.plan().bytes_moved() / 2) as u64);
        }
        Ok::<(), Error>(())
    };
    // Large results go to an unnamed temporary file, so that they take no anonymous memory. Without
    // space for one, fall back to the heap.
    if let Ok(mut output) = spool::zeroed(bytes.len(), room.temporary) {
        fill(&mut output)?;
        if let Ok(output) = output.freeze() {
            return Ok(Bytes::from_owner(output));
        }
    }
    let mut output = vec![0u8; bytes.len()];
    fill(&mut output)?;
    Ok(output.into())
}

/// A tensor of numbers in the native byte order.
fn native(value: &Value) -> Result<Cow<'_, [u8]>, Error> {
    let Elements::Bytes(bytes) = value.elements() else {
        return Err(LayoutError::Strings.into());
    };
    let width = value.dtype().bits().unwrap_or(8) / 8;
    if cfg!(target_endian = "little") || width < 2 {
        return Ok(Cow::Borrowed(bytes));
    }
    let mut turned = bytes.to_vec();
    turned.chunks_exact_mut(width).for_each(<[u8]>::reverse);
    Ok(Cow::Owned(turned))
}

fn view<'a>(value: &Value, bytes: &'a [u8]) -> Result<TensorRef<'a>, Error> {
    Ok(TensorRef::new(Layout::dense(value.dtype(), value.shape())?, bytes)?)
}
