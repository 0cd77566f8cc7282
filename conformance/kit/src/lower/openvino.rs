//! As an OpenVINO IR: Reverse-1 and ReverseSequence-1.

use super::{Chain, Dim, Lengths, Operand, Refused, Step, inexact};
use crate::export::openvino::{Edge, Ir};
use retrograde_truth::tensor::Tensor;
use retrograde_truth::types::{Type, of};

pub(super) fn write(chain: &Chain) -> Result<(String, Vec<u8>), Refused> {
    let kind = named(chain.input.dtype)?;
    let shape = dims(&chain.input);
    let mut ir = Ir::default();
    let mut value = ir.parameter(&chain.input.name, kind, &shape);
    let mut lengths = Vec::new();
    for operand in &chain.lengths {
        lengths.push(ir.parameter(&operand.name, named(operand.dtype)?, &dims(operand)));
    }
    // Reverse without axes passes a tensor through.
    let none = Step::Axes(Vec::new());
    let steps = chain.moving();
    let steps = if steps.is_empty() { vec![&none] } else { steps };
    for (at, step) in steps.iter().enumerate() {
        let name = match at + 1 == steps.len() {
            true => chain.output.clone(),
            false => format!("{}/step {at}", chain.output),
        };
        let (operator, attributes, argument): (_, _, Edge) = match step {
            Step::Axes(axes) => {
                let axes: Vec<_> = axes.iter().map(|&axis| axis as i128).collect();
                let axes = constant(&mut ir, &name, &Tensor::integers(of("i64"), &axes))?;
                ("Reverse", "mode=\"index\"".to_owned(), axes)
            }
            Step::Sequence { time, batch, lengths: from } => {
                let from = match from {
                    Lengths::Constant(tensor) => constant(&mut ir, &name, tensor)?,
                    Lengths::Input(number) => lengths[*number].clone(),
                };
                let axes = format!("batch_axis=\"{batch}\" seq_axis=\"{time}\"");
                ("ReverseSequence", axes, from)
            }
        };
        value = ir.layer(&name, operator, &attributes, &[value, argument]);
    }
    ir.result(&value);
    Ok(ir.finish())
}

fn constant(ir: &mut Ir, name: &str, tensor: &Tensor) -> Result<Edge, Refused> {
    match ir.constant(&format!("{name}/operand"), tensor) {
        Some(edge) => Ok(edge),
        None => inexact(format!("OpenVINO has no constants of type {}", tensor.dtype.name)),
    }
}

fn named(dtype: &Type) -> Result<&'static str, Refused> {
    match dtype.openvino {
        Some(name) => Ok(name),
        None => inexact(format!("OpenVINO has no type {}", dtype.name)),
    }
}

/// Sizes, -1 for those that are not known.
fn dims(operand: &Operand) -> Vec<i64> {
    let size = |dim: &Dim| match dim {
        Dim::Fixed(size) => *size as i64,
        Dim::Open(_) => -1,
    };
    operand.dims.iter().map(size).collect()
}
