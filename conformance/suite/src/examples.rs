//! The worked examples in the three specifications.

use crate::backend::{Backend, Outcome};
use crate::case::{Case, CaseLengths, Operation, Rule};
use crate::placement::{Kind, Placement, Width};
use retrograde::DType;
use std::sync::Arc;

/// A published example: input, call and output, row-major.
pub struct Example {
    /// Where it is published.
    pub source: &'static str,
    /// The call.
    pub operation: Operation,
    /// Shape of input and output.
    pub shape: Vec<usize>,
    /// Lengths and their type.
    pub lengths: Option<(Vec<i64>, DType)>,
    /// The input.
    pub input: Vec<f32>,
    /// The output.
    pub output: Vec<f32>,
}

/// All of them.
pub fn all() -> Vec<Example> {
    let counting = |from: u8, to: u8| (from..=to).map(f32::from).collect::<Vec<_>>();
    vec![
        Example {
            source: "DirectML ReverseSubsequences, example 1",
            operation: Operation::Subsequences { axis: 3, rule: Rule::CLAMP },
            shape: vec![1, 1, 3, 4],
            lengths: Some((vec![2, 4, 3], DType::U32)),
            input: counting(1, 12),
            output: vec![2., 1., 3., 4., 8., 7., 6., 5., 11., 10., 9., 12.],
        },
        Example {
            source: "DirectML ReverseSubsequences, example 2",
            operation: Operation::Subsequences { axis: 2, rule: Rule::CLAMP },
            shape: vec![1, 1, 3, 4],
            lengths: Some((vec![2, 3, 1, 0], DType::U32)),
            input: counting(1, 12),
            output: vec![5., 10., 3., 4., 1., 6., 7., 8., 9., 2., 11., 12.],
        },
        Example {
            source: "ONNX ReverseSequence, example 1",
            operation: Operation::Sequence { time: 0, batch: 1, rule: Rule::STRICT },
            shape: vec![4, 4],
            lengths: Some((vec![4, 3, 2, 1], DType::I64)),
            input: vec![0., 4., 8., 12., 1., 5., 9., 13., 2., 6., 10., 14., 3., 7., 11., 15.],
            output: vec![3., 6., 9., 12., 2., 5., 8., 13., 1., 4., 10., 14., 0., 7., 11., 15.],
        },
        Example {
            source: "ONNX ReverseSequence, example 2",
            operation: Operation::Sequence { time: 1, batch: 0, rule: Rule::STRICT },
            shape: vec![4, 4],
            lengths: Some((vec![1, 2, 3, 4], DType::I64)),
            input: counting(0, 15),
            output: vec![0., 1., 2., 3., 5., 4., 6., 7., 10., 9., 8., 11., 15., 14., 13., 12.],
        },
    ]
}

/// Runs one on a backend; an error describes the difference.
pub fn check(backend: &dyn Backend, example: &Example) -> Result<(), String> {
    let place = || Arc::new(Placement::new(Kind::Dense, Width::Bytes(4), &example.shape));
    let lengths = example.lengths.clone().map(|(values, integer)| {
        let lanes = Case::lengths_shape(&example.operation, &example.shape);
        Arc::new(CaseLengths::new(values, &lanes, integer, Kind::Dense))
    });
    let operation = example.operation.clone();
    let case = Case { operation, input: place(), lengths, output: Some(place()) };
    let bytes = |values: &[f32]| values.iter().flat_map(|v| v.to_ne_bytes()).collect::<Vec<u8>>();
    let mut output = vec![0xAA; example.input.len() * 4];
    match backend.run(&case, Some(&bytes(&example.input)), &mut output) {
        Outcome::Done if output == bytes(&example.output) => Ok(()),
        Outcome::Done => Err(format!("{}: wrong output {output:?}", example.source)),
        outcome => Err(format!("{}: {outcome:?}", example.source)),
    }
}
