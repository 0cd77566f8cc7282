//! Transposed planes of units of every width that the tile kernel knows, and short rows that follow each
//! other, against unit by unit: every instruction set, ordinary and non-temporal stores.

use retrograde::cpu::{Hint, Isa};
use retrograde::{DType, Layout, Reversal, Reverse};

/// Below and above the squares of each register, and the rows that are taken at a time.
const SHAPES: &[[usize; 2]] = if cfg!(miri) { MORE_SHAPES.split_at(3).0 } else { &MORE_SHAPES };
const MORE_SHAPES: [[usize; 2]; 14] = [
    [3, 5],
    [17, 6],
    [16, 16],
    [5, 7],
    [1, 40],
    [15, 33],
    [32, 64],
    [64, 63],
    [65, 130],
    [100, 271],
    [128, 128],
    [7, 1031],
    [64, 1024],
    [70, 1041],
];

/// Bytes of the output for an input view of this shape and these strides, flipped.
fn moved(
    x: &[u8],
    width: usize,
    [rows, columns]: [usize; 2],
    flips: [bool; 2],
    strides: [usize; 2],
) -> Vec<u8> {
    let mut out = Vec::with_capacity(x.len());
    for row in 0..rows {
        for column in 0..columns {
            let row = if flips[0] { rows - 1 - row } else { row };
            let column = if flips[1] { columns - 1 - column } else { column };
            let at = row * strides[0] + column * strides[1];
            out.extend(&x[at..at + width]);
        }
    }
    out
}

/// One test: an instruction set belongs to the process.
#[test]
fn planes_and_short_rows_move_as_units_do() {
    planes();
    short_rows();
}

fn planes() {
    let mut calls = 0;
    for width in [1, 2, 3, 4, 5, 6, 8, 12, 16] {
        for &shape in SHAPES {
            let [rows, columns] = shape;
            let x: Vec<u8> =
                (0..rows * columns * width).map(|at| (at * 151 + at / 253) as u8).collect();
            let transposed = [width, rows * width];
            let dense = [columns * width, width];
            for strides in [transposed, dense] {
                let dtype = DType::Bytes(width);
                let signed = strides.map(|stride| stride as isize);
                let input = Layout::byte_strided(dtype, &shape, &signed, 0).unwrap();
                let output = Layout::dense(dtype, &shape).unwrap();
                for flips in [[false, false], [true, false], [false, true], [true, true]] {
                    let axes = [0, 1].into_iter().filter(|&axis| flips[axis as usize]);
                    let prepared = Reverse::axes(axes).prepare(&input, &output).unwrap();
                    let wanted = moved(&x, width, shape, flips, strides);
                    for isa in Isa::available() {
                        isa.force();
                        for hint in [Hint::ReadSoon, Hint::ReadLater] {
                            // As the allocator aligns large arrays, and between.
                            for lead in [0, width] {
                                let mut y = vec![0xEE; lead + x.len() + 1];
                                let inside = &mut y[lead..lead + x.len()];
                                prepared.clone().hint(hint).run(&x, &mut *inside).unwrap();
                                let name = isa.name();
                                assert!(
                                    inside == wanted,
                                    "{name} {width} {shape:?} {flips:?} {hint:?}"
                                );
                                let (before, after) = (&y[..lead], &y[lead + x.len()..]);
                                assert!(before.iter().chain(after).all(|&byte| byte == 0xEE));
                                calls += 1;
                            }
                        }
                    }
                }
            }
        }
    }
    // Miri has one instruction set and fewer shapes.
    assert!(calls > if cfg!(miri) { 800 } else { 1000 }, "only {calls} calls");
}

fn short_rows() {
    for width in [1, 2, 4, 8] {
        for len in 2..=16 / width + 1 {
            let many = if cfg!(miri) { &[33][..] } else { &[1, 31, 32, 33, 257, 20_000] };
            for &rows in many {
                let (dtype, shape) = (DType::Bytes(width), [rows, len]);
                let layout = Layout::dense(dtype, &shape).unwrap();
                let x: Vec<u8> =
                    (0..layout.byte_len()).map(|at| (at * 151 + at / 253) as u8).collect();
                let wanted = moved(&x, width, shape, [false, true], [len * width, width]);
                let prepared = Reverse::axes([1]).prepare(&layout, &layout).unwrap();
                for isa in Isa::available() {
                    isa.force();
                    for hint in [Hint::ReadSoon, Hint::ReadLater] {
                        let mut y = vec![0xEE; x.len() + 1];
                        prepared.clone().hint(hint).run(&x, &mut y[..x.len()]).unwrap();
                        assert!(
                            y[..x.len()] == wanted,
                            "{} {width} {shape:?} {hint:?}",
                            isa.name()
                        );
                        assert_eq!(y[x.len()], 0xEE);
                    }
                }
            }
        }
    }
}
