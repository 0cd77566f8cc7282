//! The oracle against the worked examples of the specifications, and its algebraic laws.

use retrograde_conformance::case::Operation;
use retrograde_conformance::{examples, exhaustive, oracle};

#[test]
fn the_oracle_reproduces_every_published_example() {
    for example in examples::all() {
        let lengths: Vec<usize> =
            example.lengths.iter().flat_map(|(v, _)| v.iter().map(|&v| v as usize)).collect();
        let sources = match &example.operation {
            Operation::Reverse { flips } => oracle::reverse(&example.shape, flips),
            Operation::Sequence { time, batch, .. } => {
                oracle::reverse_sequence(&example.shape, *time, *batch, &lengths)
            }
            Operation::Subsequences { axis, .. } => {
                oracle::reverse_subsequences(&example.shape, *axis, &lengths)
            }
        };
        let output: Vec<f32> = sources.iter().map(|&source| example.input[source]).collect();
        assert_eq!(output, example.output, "{}", example.source);
    }
}

#[test]
fn every_answer_is_a_permutation_and_its_own_inverse() {
    for shape in exhaustive::shapes() {
        for axis in 0..shape.len() {
            let mut lanes = shape.clone();
            lanes[axis] = 1;
            let lanes: usize = lanes.iter().product();
            let lengths: Vec<usize> = (0..lanes).map(|lane| lane % (shape[axis] + 1)).collect();
            let sources = oracle::reverse_subsequences(&shape, axis, &lengths);
            for (place, &source) in sources.iter().enumerate() {
                assert_eq!(sources[source], place);
            }
        }
    }
}

#[test]
fn full_lengths_are_a_flip_and_short_ones_are_nothing() {
    let shape = [3, 4, 2];
    for axis in 0..3 {
        let flips: Vec<bool> = (0..3).map(|a| a == axis).collect();
        let lanes = 24 / shape[axis];
        let full = oracle::reverse_subsequences(&shape, axis, &vec![shape[axis]; lanes]);
        assert_eq!(full, oracle::reverse(&shape, &flips));
        for short in [0, 1] {
            let same = oracle::reverse_subsequences(&shape, axis, &vec![short; lanes]);
            assert_eq!(same, (0..24).collect::<Vec<_>>());
        }
    }
}
