//! `cpu::Program` names the kernel that a plan runs on. Plans need no memory, so they may be large.

use retrograde::cpu::{Kernel, Program};
use retrograde::{DType, Layout, LengthsOperator, Reverse, ReverseSequence};

fn sequence(dtype: DType, shape: &[usize], time: i64) -> Kernel {
    let input = Layout::dense(dtype, shape).unwrap();
    let operator = ReverseSequence::new().time_axis(time).batch_axis(1 - time);
    let lengths = operator.lengths_shape(shape).unwrap();
    let lengths = Layout::dense(DType::I64, &lengths).unwrap();
    Program::new(operator.plan(&input, &lengths, &input).unwrap()).kernel()
}

#[test]
fn lengths_choose_by_how_lanes_lie() {
    assert_eq!(sequence(DType::F32, &[64, 1000], 1), Kernel::Lanes);
    assert_eq!(sequence(DType::F32, &[64, 128], 1), Kernel::Short);
    // 512 bytes are short, and no more.
    assert_eq!(sequence(DType::F32, &[64, 129], 1), Kernel::Lanes);
    assert_eq!(sequence(DType::F32, &[1000, 64], 0), Kernel::Columns);
    assert_eq!(sequence(DType::F32, &[64, 128, 100], 0), Kernel::Blocks);
    assert_eq!(sequence(DType::U4, &[64, 128], 1), Kernel::PackedRows);
}

#[test]
fn columns_of_any_length_go_through_a_buffer() {
    assert_eq!(sequence(DType::F32, &[1 << 22, 64], 0), Kernel::Columns);
    // As long as there may be, on 32-bit machines too.
    assert_eq!(sequence(DType::U8, &[isize::MAX as usize >> 8, 64], 0), Kernel::Columns);
}

#[test]
fn whole_axes_choose_by_strides() {
    let kernel = |input: &Layout, axes: &[i64]| {
        let output = Layout::dense(input.dtype(), input.shape()).unwrap();
        Program::new(Reverse::axes(axes.iter().copied()).plan(input, &output).unwrap()).kernel()
    };
    let rows = Layout::dense(DType::F32, &[64, 100]).unwrap();
    assert_eq!(kernel(&rows, &[1]), Kernel::Rows);
    assert_eq!(kernel(&Layout::dense(DType::F32, &[64, 0]).unwrap(), &[1]), Kernel::None);
    let transposed = Layout::byte_strided(DType::F32, &[100, 64], &[4, 400], 0).unwrap();
    assert_eq!(kernel(&transposed, &[1]), Kernel::Tiles);
    let pixels = Layout::byte_strided(DType::Bytes(3), &[100, 64], &[3, 300], 0).unwrap();
    assert_eq!(kernel(&pixels, &[0]), Kernel::Tiles);
    let apart = Layout::byte_strided(DType::F32, &[100, 64], &[512, 8], 0).unwrap();
    assert_eq!(kernel(&apart, &[1]), Kernel::Strided);
}
