//! As an ONNX model: whole axes are a Slice with steps of -1, lengths a ReverseSequence. Transposes
//! around it bring other axes to the front.

use super::{Chain, Lengths, Names, Operand, Refused, Step, inexact};
use crate::export::onnx::{Message, Value, attribute, file, tensor};
use crate::lower::Dim;
use retrograde_truth::reference::ONNX_TYPES;
use retrograde_truth::tensor::Tensor;
use retrograde_truth::types::{Type, of};

/// The code of an attribute that is an integer, and of one that is a list of integers.
const INT: u64 = 2;
const INTS: u64 = 7;

pub(super) fn write(chain: &Chain, opset: u64) -> Result<Vec<u8>, Refused> {
    let dtype = chain.input.dtype;
    let mut model = Model { graph: Message::default(), names: Names::of(chain) };
    let steps = chain.moving();
    let mut value = chain.input.name.clone();
    for (at, step) in steps.iter().enumerate() {
        let last = at + 1 == steps.len();
        let output = if last { chain.output.clone() } else { model.names.fresh("step") };
        match step {
            Step::Axes(axes) => {
                check_type("Slice", dtype, opset, 13)?;
                model.slice(&value, axes, &output);
            }
            Step::Sequence { time, batch, lengths } => {
                check_type("ReverseSequence", dtype, opset, 28)?;
                let lengths = model.lengths(chain, lengths);
                let rank = chain.input.dims.len();
                model.sequence(&value, (*time, *batch), rank, &lengths, &output);
            }
        }
        value = output;
    }
    if steps.is_empty() {
        check_type("Identity", dtype, opset, 13)?;
        model.node("Identity", &[&value], &chain.output, []);
    }
    let declare = |operand: &Operand, name: &str| {
        let dims: Vec<_> = operand.dims.iter().map(dim).collect();
        Value { name, kind: operand.dtype.onnx.unwrap_or(0), dims }.message()
    };
    let mut graph = model.graph;
    graph.text(2, "lowered").message(11, declare(&chain.input, &chain.input.name));
    for operand in &chain.lengths {
        graph.message(11, declare(operand, &operand.name));
    }
    graph.message(12, declare(&chain.input, &chain.output));
    Ok(file(graph, opset))
}

fn dim(dim: &Dim) -> crate::export::onnx::Dim<'_> {
    match dim {
        Dim::Fixed(size) => crate::export::onnx::Dim::Fixed(*size),
        Dim::Open(name) => crate::export::onnx::Dim::Open(name.as_deref()),
    }
}

/// Refuses a type that an operator of this opset does not list; it has bfloat16 `since` an opset.
fn check_type(operator: &str, dtype: &Type, opset: u64, since: u64) -> Result<(), Refused> {
    let name = dtype.name;
    match name {
        "bf16" if opset < since => inexact(format!(
            "ONNX {operator} has bfloat16 from opset {since} on, and the opset is {opset}"
        )),
        "bf16" => Ok(()),
        _ if ONNX_TYPES.contains(&name) => Ok(()),
        _ => inexact(format!("ONNX {operator} does not list {name}")),
    }
}

struct Model {
    graph: Message,
    names: Names,
}

impl Model {
    fn node<const N: usize>(
        &mut self,
        kind: &str,
        inputs: &[&str],
        output: &str,
        attributes: [Message; N],
    ) {
        let mut node = Message::default();
        for input in inputs {
            node.text(1, input);
        }
        node.text(2, output).text(3, output).text(4, kind);
        for attribute in attributes {
            node.message(5, attribute);
        }
        self.graph.message(1, node);
    }

    /// A constant of the graph; returns its name.
    fn constant(&mut self, stem: &str, values: &[i128]) -> String {
        let name = self.names.fresh(stem);
        let bytes = tensor(&name, &Tensor::integers(of("i64"), values)).unwrap_or_default();
        self.graph.bytes(5, &bytes);
        name
    }

    fn slice(&mut self, value: &str, axes: &[usize], output: &str) {
        let all = |one: i128| vec![one; axes.len()];
        let axes: Vec<_> = axes.iter().map(|&axis| axis as i128).collect();
        let starts = self.constant("starts", &all(-1));
        let ends = self.constant("ends", &all(i64::MIN.into()));
        let axes = self.constant("axes", &axes);
        let steps = self.constant("steps", &all(-1));
        self.node("Slice", &[value, &starts, &ends, &axes, &steps], output, []);
    }

    /// Lengths as int64, which is the only type that ReverseSequence takes.
    fn lengths(&mut self, chain: &Chain, lengths: &Lengths) -> String {
        match lengths {
            Lengths::Constant(lengths) => self.constant("lengths", &lengths.to_integers()),
            Lengths::Input(number) => {
                let operand = &chain.lengths[*number];
                if operand.dtype.name == "i64" {
                    return operand.name.clone();
                }
                let name = self.names.fresh("lengths");
                let to = attribute("to", INT, &[of("i64").onnx.unwrap_or(7)]);
                self.node("Cast", &[&operand.name], &name, [to]);
                name
            }
        }
    }

    fn sequence(
        &mut self,
        value: &str,
        (time, batch): (usize, usize),
        rank: usize,
        lengths: &str,
        output: &str,
    ) {
        let axis = |name, axis: usize| attribute(name, INT, &[axis as u64]);
        if time.max(batch) == 1 {
            let axes = [axis("batch_axis", batch), axis("time_axis", time)];
            return self.node("ReverseSequence", &[value, lengths], output, axes);
        }
        let others = (0..rank).filter(|&axis| axis != time && axis != batch);
        let order: Vec<usize> = [time, batch].into_iter().chain(others).collect();
        let back: Vec<u64> = (0..rank)
            .map(|axis| order.iter().position(|&one| one == axis).unwrap_or(axis) as u64)
            .collect();
        let order: Vec<u64> = order.iter().map(|&axis| axis as u64).collect();
        let (front, reversed) = (self.names.fresh("front"), self.names.fresh("reversed"));
        self.node("Transpose", &[value], &front, [attribute("perm", INTS, &order)]);
        let axes = [axis("batch_axis", 1), axis("time_axis", 0)];
        self.node("ReverseSequence", &[&front, lengths], &reversed, axes);
        self.node("Transpose", &[&reversed], output, [attribute("perm", INTS, &back)]);
    }
}
