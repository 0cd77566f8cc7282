//! Outputs that begin at every place of a cache line: kernels that store whole lines treat what
//! lies in front of the first one separately. Its own test binary, because it forces
//! instruction sets and non-temporal stores for the whole process.

use retrograde::cpu::{Isa, Tuning};
use retrograde::{DType, Layout, Reversal, ReverseSequence, TensorMut, TensorRef};

/// Time on axis 0: every column has a length of its own.
fn naive(input: &[u8], unit: usize, steps: usize, lengths: &[u32]) -> Vec<u8> {
    let columns = lengths.len();
    let mut output = Vec::with_capacity(input.len());
    for step in 0..steps {
        for (column, &length) in lengths.iter().enumerate() {
            let length = length as usize;
            let from = if step < length { length - 1 - step } else { step };
            let at = (from * columns + column) * unit;
            output.extend_from_slice(&input[at..at + unit]);
        }
    }
    output
}

#[test]
fn columns_are_whole_wherever_they_begin() {
    Tuning { stream_from: Some(0), ..Tuning::default() }.apply();
    for isa in Isa::available() {
        isa.force();
        let units: &[usize] = if cfg!(miri) { &[4, 16] } else { &[1, 2, 4, 8, 16] };
        for &unit in units {
            // Rows of whole lines, so that lines are worth storing whole; and others.
            let shapes = [(70, 64 / unit), (70, 128 / unit), (67, 320 / unit), (66, 5)];
            let short = [(17, 64 / unit), (17, 5)];
            for &(steps, columns) in if cfg!(miri) { &short[..] } else { &shapes[..] } {
                let bytes = steps * columns * unit;
                let input: Vec<u8> = (0..bytes).map(|at| (at * 7 + at / 256) as u8).collect();
                let lengths: Vec<u32> =
                    (0..columns).map(|column| (column * 13 % (steps + 1)) as u32).collect();
                let expected = naive(&input, unit, steps, &lengths);
                let layout = Layout::dense(DType::Bytes(unit), &[steps, columns]).unwrap();
                let mut memory = vec![0u8; bytes + 128];
                let line = memory.as_ptr().align_offset(64);
                for offset in (0..64).step_by(if cfg!(miri) { 27 } else { 1 }) {
                    let output = &mut memory[line + offset..line + offset + bytes];
                    output.fill(0xAA);
                    let src = TensorRef::new(layout.clone(), &input[..]).unwrap();
                    let mut dst = TensorMut::new(layout.clone(), &mut *output).unwrap();
                    ReverseSequence::new().lengths(&lengths).apply_view(&src, &mut dst).unwrap();
                    let name = isa.name();
                    assert!(
                        output == expected,
                        "{name} unit {unit} [{steps}, {columns}] at {offset}"
                    );
                }
            }
        }
    }
}
