//! As StableHLO text. Lengths become the index of each source, and a gather: no element passes
//! through arithmetic.

use super::{Chain, Dim, Lengths, Operand, Refused, Step, inexact};
use crate::export::stablehlo_reverse;
use std::fmt::Write;

pub(super) fn write(chain: &Chain, trust: bool) -> Result<String, Refused> {
    let of = type_of(&chain.input)?;
    let mut writer = Writer { text: String::new(), next: 0 };
    let mut arguments = vec![format!("%arg0: {of}")];
    let mut names = format!("// %arg0: {:?}\n", chain.input.name);
    for (at, operand) in chain.lengths.iter().enumerate() {
        arguments.push(format!("%arg{}: {}", at + 1, type_of(operand)?));
        let _ = writeln!(names, "// %arg{}: {:?}", at + 1, operand.name);
    }
    let mut value = "%arg0".to_owned();
    for step in chain.moving() {
        value = match step {
            Step::Axes(axes) => {
                let mut axes = axes.clone();
                axes.sort_unstable();
                let result = writer.fresh();
                let line = stablehlo_reverse(&result, &value, &axes, &of);
                let _ = writeln!(writer.text, "    {line}");
                result
            }
            Step::Sequence { time, batch, lengths } => {
                chain.check_known(lengths, trust, "StableHLO cannot refuse")?;
                let Some(sizes) = chain.sizes() else {
                    let name = &chain.input.name;
                    return inexact(format!(
                        "input {name:?} has an axis of unknown size, and StableHLO's gather needs \
                         all sizes"
                    ));
                };
                // Nothing to move, and a gather may not read an axis of size 0.
                if sizes.contains(&0) {
                    continue;
                }
                writer.sequence(chain, &value, &of, &sizes, (*time, *batch), lengths)?
            }
        };
    }
    let (arguments, text) = (arguments.join(", "), writer.text);
    Ok(format!(
        "{names}// result: {:?}\nmodule @lowered {{\n  func.func public @main({arguments}) -> {of} \
         {{\n{text}    return {value} : {of}\n  }}\n}}\n",
        chain.output
    ))
}

fn type_of(operand: &Operand) -> Result<String, Refused> {
    let Some(kind) = operand.dtype.mlir else {
        return inexact(format!("StableHLO has no type {}", operand.dtype.name));
    };
    let size = |dim: &Dim| match dim {
        Dim::Fixed(size) => format!("{size}x"),
        Dim::Open(_) => "?x".to_owned(),
    };
    let sizes: String = operand.dims.iter().map(size).collect();
    Ok(format!("tensor<{sizes}{kind}>"))
}

struct Writer {
    text: String,
    next: usize,
}

impl Writer {
    fn fresh(&mut self) -> String {
        self.next += 1;
        format!("%{}", self.next - 1)
    }

    /// An operation; returns its result.
    fn op(&mut self, operation: &str) -> String {
        let result = self.fresh();
        let _ = writeln!(self.text, "    {result} = stablehlo.{operation}");
        result
    }

    /// For each time step and batch entry the step that belongs there, and a gather of them.
    fn sequence(
        &mut self,
        chain: &Chain,
        value: &str,
        of: &str,
        sizes: &[usize],
        (time, batch): (usize, usize),
        lengths: &Lengths,
    ) -> Result<String, Refused> {
        let (first, second) = (time.min(batch), time.max(batch));
        // The indices have these two axes in the order of the tensor.
        let (at_time, at_batch) = (usize::from(time > batch), usize::from(batch > time));
        let count = sizes[batch];
        let (rows, columns) = (sizes[first], sizes[second]);
        let table = format!("tensor<{rows}x{columns}xi64>");
        let lengths = match lengths {
            Lengths::Constant(tensor) => {
                let values = tensor.to_integers();
                self.op(&format!("constant dense<{values:?}> : tensor<{count}xi64>"))
            }
            Lengths::Input(number) => {
                let (argument, operand) = (format!("%arg{}", number + 1), &chain.lengths[*number]);
                let from = type_of(operand)?;
                match operand.dims[..] == [Dim::Fixed(count)] {
                    true => {
                        self.op(&format!("convert {argument} : ({from}) -> tensor<{count}xi64>"))
                    }
                    false => {
                        return inexact(format!(
                            "the lengths {:?} have no declared size, expected {count}",
                            operand.name
                        ));
                    }
                }
            }
        };
        let length = self.op(&format!(
            "broadcast_in_dim {lengths}, dims = [{at_batch}] : (tensor<{count}xi64>) -> {table}"
        ));
        let step = self.op(&format!("iota dim = {at_time} : {table}"));
        let entry = self.op(&format!("iota dim = {at_batch} : {table}"));
        let one = self.op(&format!("constant dense<1> : {table}"));
        let last = self.op(&format!("subtract {length}, {one} : {table}"));
        let back = self.op(&format!("subtract {last}, {step} : {table}"));
        let mask = format!("tensor<{rows}x{columns}xi1>");
        let inside =
            self.op(&format!("compare LT, {step}, {length} : ({table}, {table}) -> {mask}"));
        let source = self.op(&format!("select {inside}, {back}, {step} : {mask}, {table}"));
        let column = format!("tensor<{rows}x{columns}x1xi64>");
        let source = self.op(&format!("reshape {source} : ({table}) -> {column}"));
        let entry = self.op(&format!("reshape {entry} : ({table}) -> {column}"));
        let pairs = format!("tensor<{rows}x{columns}x2xi64>");
        let index = self.op(&format!(
            "concatenate {source}, {entry}, dim = 2 : ({column}, {column}) -> {pairs}"
        ));
        let others: Vec<usize> =
            (0..sizes.len()).filter(|&axis| axis != time && axis != batch).collect();
        let whole = |(axis, &size): (usize, &usize)| match axis == time || axis == batch {
            true => "1".to_owned(),
            false => size.to_string(),
        };
        let slice = sizes.iter().enumerate().map(whole).collect::<Vec<_>>().join(", ");
        let result = self.fresh();
        let _ = writeln!(
            self.text,
            "    {result} = \"stablehlo.gather\"({value}, {index}) <{{dimension_numbers = \
             #stablehlo.gather<offset_dims = {others:?}, collapsed_slice_dims = [{first}, {second}], \
             start_index_map = [{time}, {batch}], index_vector_dim = 2>, indices_are_sorted = false, \
             slice_sizes = array<i64: {slice}>}}> : ({of}, {pairs}) -> {of}"
        );
        Ok(result)
    }
}
