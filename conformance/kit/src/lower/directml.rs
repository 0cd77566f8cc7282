//! As descriptors of DirectML's ReverseSubsequences, in JSON: one operator for each axis.
//!
//! Lengths that many lanes share have strides of 0. Whole axes have one length, the size.

use super::{Chain, Lengths, Refused, Step, inexact};
use retrograde_truth::cases::DIRECTML_TYPES;
use retrograde_truth::tensor::Tensor;
use retrograde_truth::types::{Type, of};
use serde_json::{Value, json};

/// The most elements of a tensor.
const MOST: u128 = u32::MAX as u128;

pub(super) fn write(chain: &Chain, trust: bool) -> Result<String, Refused> {
    let (dtype, name) = (chain.input.dtype, &chain.input.name);
    let Some(sizes) = chain.sizes() else {
        return inexact(format!(
            "input {name:?} has an axis of unknown size, and descriptors have sizes"
        ));
    };
    if !DIRECTML_TYPES.contains(&dtype.name) {
        return inexact(format!("DirectML's ReverseSubsequences does not list {}", dtype.name));
    }
    if !(1..=8).contains(&sizes.len()) {
        return inexact(format!("DirectML takes ranks 1 to 8, and the rank is {}", sizes.len()));
    }
    if let Some(axis) = sizes.iter().position(|&size| size == 0) {
        return inexact(format!("axis {axis} has size 0, which DirectML excludes"));
    }
    let count = sizes.iter().map(|&size| size as u128).try_fold(1u128, u128::checked_mul);
    if count.is_none_or(|count| count > MOST) {
        return inexact(format!("{sizes:?} has more than {MOST} elements"));
    }
    let mut writer = Writer { dtype, sizes, operators: Vec::new(), wide: dtype.bits == 64 };
    for step in chain.moving() {
        match step {
            Step::Axes(axes) => axes.iter().for_each(|&axis| writer.whole(axis, true)),
            Step::Sequence { time, batch, lengths } => {
                chain.check_known(lengths, trust, "DirectML clamps")?;
                writer.sequence(chain, *time, *batch, lengths)?;
            }
        }
    }
    if writer.operators.is_empty() {
        writer.whole(0, false);
    }
    let (last, rank) = (writer.operators.len() - 1, writer.sizes.len());
    for (at, operator) in writer.operators.iter_mut().enumerate() {
        let before = if at == 0 { json!(name) } else { json!(at - 1) };
        let after = if at == last { json!(chain.output) } else { json!(at) };
        operator["InputTensor"]["Value"] = before;
        operator["OutputTensor"]["Value"] = after;
    }
    let level = match (writer.wide, rank) {
        (true, _) => "5_0",
        (false, 4) => "2_1",
        (false, 5) => "3_0",
        (false, _) => "4_0",
    };
    let model = json!({
        "FeatureLevel": format!("DML_FEATURE_LEVEL_{level}"),
        "Operators": writer.operators,
    });
    Ok(format!("{model:#}\n"))
}

struct Writer {
    dtype: &'static Type,
    sizes: Vec<usize>,
    operators: Vec<Value>,
    /// Whether something needs feature level 5.0.
    wide: bool,
}

impl Writer {
    /// All of an axis, or none of it.
    fn whole(&mut self, axis: usize, all: bool) {
        let length = if all { self.sizes[axis] as i128 } else { 0 };
        let lengths = Tensor::integers(of("u32"), &[length]);
        let strides = vec![0; self.sizes.len()];
        let mut tensor = self.lengths(lengths.dtype, axis, &strides);
        tensor["Data"] = json!([length as u64]);
        self.add(axis, tensor);
    }

    fn sequence(
        &mut self,
        chain: &Chain,
        time: usize,
        batch: usize,
        lengths: &Lengths,
    ) -> Result<(), Refused> {
        let mut strides = vec![0; self.sizes.len()];
        strides[batch] = 1;
        match lengths {
            Lengths::Constant(lengths) => {
                // Valid lengths fit: no axis has more elements.
                let values: Vec<_> = lengths.to_integers().iter().map(|&one| one as u64).collect();
                let mut tensor = self.lengths(of("u32"), time, &strides);
                tensor["Data"] = json!(values);
                self.add(time, tensor);
            }
            Lengths::Input(number) => {
                let operand = &chain.lengths[*number];
                // A length that is not negative has the same bits as an unsigned integer.
                let unsigned = match operand.dtype.bits {
                    32 => of("u32"),
                    64 => of("u64"),
                    _ => {
                        let kind = operand.dtype.name;
                        return inexact(format!(
                            "the lengths {:?} have type {kind}, and DirectML reads 32 and 64 bits",
                            operand.name
                        ));
                    }
                };
                self.wide |= unsigned.bits == 64;
                let mut tensor = self.lengths(unsigned, time, &strides);
                tensor["Value"] = json!(operand.name);
                self.add(time, tensor);
            }
        }
        Ok(())
    }

    fn lengths(&self, dtype: &Type, axis: usize, strides: &[usize]) -> Value {
        let mut sizes = self.sizes.clone();
        sizes[axis] = 1;
        let mut tensor = described(dtype, &sizes, strides);
        tensor["Strides"] = json!(strides);
        tensor
    }

    fn add(&mut self, axis: usize, lengths: Value) {
        let mut strides = vec![1; self.sizes.len()];
        for at in (1..self.sizes.len()).rev() {
            strides[at - 1] = strides[at] * self.sizes[at];
        }
        let tensor = described(self.dtype, &self.sizes, &strides);
        self.operators.push(json!({
            "Type": "DML_OPERATOR_REVERSE_SUBSEQUENCES",
            "InputTensor": tensor,
            "SequenceLengthsTensor": lengths,
            "OutputTensor": tensor,
            "Axis": axis,
        }));
    }
}

/// A `DML_BUFFER_TENSOR_DESC`.
fn described(dtype: &Type, sizes: &[usize], strides: &[usize]) -> Value {
    let last: usize = sizes.iter().zip(strides).map(|(&size, &stride)| (size - 1) * stride).sum();
    let bytes = ((last + 1) * dtype.bits / 8).next_multiple_of(4);
    json!({
        "DataType": dtype.directml.map(|name| format!("DML_TENSOR_DATA_TYPE_{name}")),
        "DimensionCount": sizes.len(),
        "Sizes": sizes,
        "TotalTensorSizeInBytes": bytes,
    })
}
