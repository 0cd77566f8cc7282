//! The oracle against the worked examples of the specifications, and its algebraic laws.

use retrograde_suite::case::Operation;
use retrograde_suite::{examples, exhaustive, oracle};

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
            Operation::Segments { axis } => {
                oracle::reverse_segments(&example.shape, *axis, &lengths)
            }
            Operation::Orient { .. } | Operation::Where { .. } | Operation::LookUp { .. } => {
                unreachable!("in no specification")
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

#[test]
fn sequences_at_the_end_are_sequences_at_the_start_of_the_flipped_tensor() {
    let shape = [4, 3];
    let lengths = [0, 2, 4];
    let flip = oracle::reverse(&shape, &[true, false]);
    let start = oracle::reverse_sequence(&shape, 0, 1, &lengths);
    let end = oracle::reverse_sequence_at(&shape, 0, 1, &lengths, true, false);
    let around: Vec<usize> = flip.iter().map(|&at| flip[start[at]]).collect();
    assert_eq!(end, around);
}

#[test]
fn a_zero_tail_is_what_is_not_reversed() {
    let sources = oracle::reverse_sequence_at(&[2, 3], 1, 0, &[2, 0], false, true);
    let zero = oracle::ZERO;
    assert_eq!(sources, [1, 0, zero, zero, zero, zero]);
    let sources = oracle::reverse_subsequences_at(&[2, 3], 1, &[2, 3], true, true);
    assert_eq!(sources, [zero, 2, 1, 5, 4, 3]);
}

#[test]
fn orientations_are_transposes_and_flips() {
    // The letter F as EXIF has it: number 6 is stored lying on its side.
    let sources = |exif| oracle::orient(&[2, 3], 0, 1, exif);
    assert_eq!(sources(1), [0, 1, 2, 3, 4, 5]);
    assert_eq!(sources(5), [0, 3, 1, 4, 2, 5]);
    assert_eq!(sources(6), [3, 0, 4, 1, 5, 2]);
    assert_eq!(sources(7), [5, 2, 4, 1, 3, 0]);
    assert_eq!(sources(8), [2, 5, 1, 4, 0, 3]);
    for (exif, flips) in [(2, [false, true]), (3, [true, true]), (4, [true, false])] {
        assert_eq!(sources(exif), oracle::reverse(&[2, 3], &flips));
    }
    assert_eq!(oracle::orient(&[3, 1, 2], 2, 0, 6), oracle::orient(&[3, 1, 2], 0, 2, 8));
}

#[test]
fn segments_are_flips_next_to_each_other() {
    let whole = oracle::reverse_segments(&[5, 2], 0, &[0, 5]);
    assert_eq!(whole, oracle::reverse(&[5, 2], &[true, false]));
    assert_eq!(oracle::reverse_segments(&[6], 0, &[0, 2, 2, 5]), [1, 0, 4, 3, 2, 5]);
    assert_eq!(oracle::reverse_segments(&[3], 0, &[0]), [0, 1, 2]);
    assert_eq!(oracle::first_bad_offset(&[0, 2, 2, 5], 5), None);
    assert_eq!(oracle::first_bad_offset(&[1], 5), Some(0));
    assert_eq!(oracle::first_bad_offset(&[0, 3, 2], 5), Some(2));
    assert_eq!(oracle::first_bad_offset(&[0, 6], 5), Some(1));
}
