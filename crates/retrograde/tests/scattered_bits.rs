//! Packed elements whose rows are no runs of the input give what the same elements give as bytes:
//! below and above the size from which they are spread to bytes, on one thread and on several.

use retrograde::{
    DType, Layout, LengthsOperator, Plan, Reverse, ReverseSequence, ReverseSubsequences, Tail, cpu,
};

const TYPES: [(DType, usize); 3] = [(DType::U1, 1), (DType::U2, 2), (DType::U4, 4)];
const SHAPES: [[usize; 2]; 6] = [[3, 5], [37, 41], [64, 64], [65, 127], [301, 255], [512, 1030]];

fn pack(elements: &[u8], bits: usize) -> Vec<u8> {
    let place = |at: usize| if bits == 1 { 7 - at } else { at * bits };
    let byte = |chunk: &[u8]| chunk.iter().enumerate().fold(0, |b, (at, e)| b | e << place(at));
    elements.chunks(8 / bits).map(byte).collect()
}

fn elements(count: usize, bits: usize) -> Vec<u8> {
    let mut state = 0x9E37_79B9u32;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        (state >> 9) as u8 & (0xFF >> (8 - bits)) as u8
    };
    (0..count).map(|_| next()).collect()
}

/// Runs a plan on packed elements and the same on bytes, and compares.
fn compare(bits: usize, count: usize, plans: [Plan; 2], lengths: Option<&[u8]>) {
    let input = elements(count, bits);
    let [packed, bytes] = plans;
    let mut expected = vec![0; count];
    cpu::execute(&bytes, (&input[..]).into(), lengths.map(Into::into), (&mut expected[..]).into())
        .unwrap();
    for threads in [1, 3] {
        // Ones around the output would show a byte too many.
        let mut out = vec![0xFF; count.div_ceil(8 / bits)];
        let source = pack(&input, bits);
        let pool = cpu::ThreadPool::new(threads).unwrap();
        pool.install(|| {
            let (source, out) = ((&source[..]).into(), (&mut out[..]).into());
            cpu::execute(&packed, source, lengths.map(Into::into), out)
        })
        .unwrap();
        assert!(out == pack(&expected, bits), "{bits} bits, {threads} threads: {packed:?}");
    }
}

fn lengths_of(count: usize, most: usize) -> Vec<u8> {
    (0..count).flat_map(|at| ((at * 7919 % (most + 1)) as i32).to_ne_bytes()).collect()
}

#[test]
fn transposed_inputs() {
    for (dtype, bits) in TYPES {
        for [rows, columns] in SHAPES {
            let plan = |dtype: DType| {
                // Column-major: the second axis is contiguous in the output only.
                let strides = [1, rows as isize];
                let input = Layout::strided(dtype, &[rows, columns], &strides, 0).unwrap();
                let output = Layout::dense(dtype, &[rows, columns]).unwrap();
                Reverse::axes([1]).plan(&input, &output).unwrap()
            };
            compare(bits, rows * columns, [plan(dtype), plan(DType::U8)], None);
        }
    }
}

#[test]
fn a_length_for_each_column() {
    for (dtype, bits) in TYPES {
        for [steps, columns] in SHAPES {
            for tail in [Tail::Keep, Tail::Zero] {
                let lengths = Layout::dense(DType::I32, &[columns]).unwrap();
                let operator = ReverseSequence::new().time_axis(0).batch_axis(1).tail(tail);
                let plan = |dtype: DType| {
                    let layout = Layout::dense(dtype, &[steps, columns]).unwrap();
                    operator.plan(&layout, &lengths, &layout).unwrap()
                };
                let values = lengths_of(columns, steps);
                compare(bits, steps * columns, [plan(dtype), plan(DType::U8)], Some(&values));
            }
        }
    }
}

#[test]
fn a_length_for_each_lane_of_a_middle_axis() {
    for (dtype, bits) in TYPES {
        let shape = [3, 130, 37];
        let operator = ReverseSubsequences::along(1);
        let lengths_shape = operator.lengths_shape(&shape).unwrap();
        let lengths = Layout::dense(DType::I32, &lengths_shape).unwrap();
        let plan = |dtype: DType| {
            let layout = Layout::dense(dtype, &shape).unwrap();
            operator.plan(&layout, &lengths, &layout).unwrap()
        };
        let values = lengths_of(lengths_shape.iter().product(), 130);
        compare(bits, 3 * 130 * 37, [plan(dtype), plan(DType::U8)], Some(&values));
    }
}
