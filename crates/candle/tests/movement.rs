//! Results against candle's own: `flip` by its `flip`, sequences by its `gather`, on random shapes
//! and on views with any strides.

use candle_core::{D, DType, Device, Result, Tensor};
use retrograde::{
    LengthPolicy, Reverse, ReverseSegments, ReverseSequence, ReverseSubsequences, Tail,
};
use retrograde_candle::{flip, reverse, reverse_by, reverse_sequence};

const CPU: &Device = &Device::Cpu;

/// Numbers without a pattern, the same in every run.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) as usize % bound
    }
}

/// A tensor in which every element differs from its neighbours.
fn numbered(shape: &[usize], of: DType) -> Result<Tensor> {
    let count: usize = shape.iter().product();
    let values: Vec<f32> = (0..count).map(|at| (at % 113) as f32).collect();
    Tensor::from_vec(values, shape, CPU)?.to_dtype(of)
}

/// Views of one tensor whose elements are not next to each other.
fn views(x: &Tensor) -> Result<Vec<Tensor>> {
    let mut views = vec![x.clone()];
    let last = x.rank() - 1;
    views.push(x.transpose(0, last)?);
    for dim in 0..x.rank() {
        let size = x.dim(dim)?;
        if size > 2 {
            views.push(x.narrow(dim, 1, size - 2)?);
            let there =
                [(0, last), (last, 0)].iter().find(|swap| swap.0 == dim).map_or(dim, |swap| swap.1);
            views.push(x.transpose(0, last)?.narrow(there, 1, size - 2)?);
        }
    }
    let mut shape = x.dims().to_vec();
    shape.insert(0, 3);
    views.push(x.broadcast_as(shape)?);
    Ok(views)
}

/// Bit for bit, whatever the type.
fn assert_same(ours: &Tensor, theirs: &Tensor) -> Result<()> {
    assert_eq!(ours.dims(), theirs.dims());
    assert_eq!(ours.dtype(), theirs.dtype());
    assert!(ours.is_contiguous());
    let flat = |x: &Tensor| x.flatten_all()?.to_dtype(DType::F64)?.to_vec1::<f64>();
    assert_eq!(flat(ours)?, flat(theirs)?, "shape {:?}", ours.dims());
    Ok(())
}

/// ReverseSequence from candle's own operators: each element is gathered by an index.
fn gathered(x: &Tensor, lengths: &[i64], time: usize, batch: usize) -> Result<Tensor> {
    let shape = x.dims();
    let count: usize = shape.iter().product();
    let mut index = Vec::with_capacity(count);
    for at in 0..count {
        let coordinate = |axis: usize| {
            let inner: usize = shape[axis + 1..].iter().product();
            (at / inner % shape[axis]) as i64
        };
        let (step, length) = (coordinate(time), lengths[coordinate(batch) as usize]);
        index.push(if step < length { length - 1 - step } else { step });
    }
    x.contiguous()?.gather(&Tensor::from_vec(index, shape, CPU)?, time)
}

const TYPES: [DType; 9] = [
    DType::U8,
    DType::U32,
    DType::I16,
    DType::I32,
    DType::I64,
    DType::BF16,
    DType::F16,
    DType::F32,
    DType::F64,
];

#[test]
fn flip_agrees_with_candle() -> Result<()> {
    let mut random = Random(1);
    let mut cases = 0;
    for round in 0..60 {
        let rank = 1 + random.below(4);
        let shape: Vec<usize> = (0..rank).map(|_| 1 + random.below(7)).collect();
        for x in views(&numbered(&shape, TYPES[round % TYPES.len()])?)? {
            let dims: Vec<usize> = (0..x.rank()).filter(|_| random.below(2) == 1).collect();
            assert_same(&flip(&x, &dims)?, &x.contiguous()?.flip(&dims)?)?;
            cases += 1;
        }
    }
    assert!(cases > 200, "{cases} cases");
    Ok(())
}

#[test]
fn sequences_agree_with_gather() -> Result<()> {
    let mut random = Random(2);
    let mut cases = 0;
    for round in 0..60 {
        let rank = 2 + random.below(3);
        let shape: Vec<usize> = (0..rank).map(|_| 1 + random.below(7)).collect();
        for x in views(&numbered(&shape, TYPES[round % TYPES.len()])?)? {
            let time = random.below(x.rank());
            let batch = (time + 1 + random.below(x.rank() - 1)) % x.rank();
            let (steps, sequences) = (x.dim(time)?, x.dim(batch)?);
            let lengths: Vec<i64> =
                (0..sequences).map(|_| random.below(steps + 1) as i64).collect();
            let expected = gathered(&x, &lengths, time, batch)?;
            assert_same(&reverse_sequence(&x, &lengths, time, batch)?, &expected)?;
            let of = [DType::U8, DType::U32, DType::I16, DType::I32, DType::I64][round % 5];
            let tensor = Tensor::new(lengths.as_slice(), CPU)?.to_dtype(of)?;
            assert_same(&reverse_sequence(&x, &tensor, time, batch)?, &expected)?;
            cases += 1;
        }
    }
    assert!(cases > 200, "{cases} cases");
    Ok(())
}

#[test]
fn large_tensors_agree_with_candle() -> Result<()> {
    let x = numbered(&[64, 129, 257], DType::F32)?;
    assert_same(&flip(&x, &[0, 2])?, &x.flip(&[0, 2])?)?;
    let x = x.transpose(0, 2)?;
    assert_same(&flip(&x, &[1])?, &x.contiguous()?.flip(&[1])?)?;
    let lengths: Vec<i64> = (0..257).map(|at| at % 130).collect();
    assert_same(&reverse_sequence(&x, &lengths, 1, 0)?, &gathered(&x, &lengths, 1, 0)?)
}

#[test]
fn bits_are_kept() -> Result<()> {
    // Signalling NaNs, negative zero and subnormal numbers.
    let bits = [0x7f80_0001u32, 0x8000_0000, 0x0000_0001, 0xffbf_ffff];
    let x = Tensor::new(&bits.map(f32::from_bits), CPU)?;
    let y = flip(&x, &[0])?.to_vec1::<f32>()?;
    let expected: Vec<u32> = bits.iter().rev().copied().collect();
    assert_eq!(y.iter().map(|y| y.to_bits()).collect::<Vec<_>>(), expected);
    Ok(())
}

#[test]
fn eight_bit_floats_move() -> Result<()> {
    let x = Tensor::new(&[[1f32, 2., 3.], [4., 5., 6.]], CPU)?.to_dtype(DType::F8E4M3)?;
    let y = flip(&x.t()?, &[1])?.to_dtype(DType::F32)?;
    assert_eq!(y.to_vec2::<f32>()?, [[4., 1.], [5., 2.], [6., 3.]]);
    Ok(())
}

#[test]
fn scalars_and_empty_tensors() -> Result<()> {
    let scalar = Tensor::new(7u8, CPU)?;
    assert_eq!(flip(&scalar, &[])?.to_scalar::<u8>()?, 7);
    let empty = Tensor::zeros((0, 3), DType::F32, CPU)?;
    assert_eq!(flip(&empty, &[0, 1])?.dims(), [0, 3]);
    let none: &[i64] = &[];
    assert_eq!(reverse_sequence(&empty, none, 1, 0)?.dims(), [0, 3]);
    assert_eq!(reverse_sequence(&empty, &[0, 0, 0], 0, 1)?.dims(), [0, 3]);
    Ok(())
}

#[test]
fn dimensions_count_from_the_end() -> Result<()> {
    let x = numbered(&[2, 3, 4], DType::U8)?;
    assert_same(&reverse(&x, &Reverse::axes([-1]))?, &x.flip(&[2])?)?;
    assert_same(&reverse(&x, &Reverse::mask([true, false, true]))?, &x.flip(&[0, 2])?)?;
    let ours = reverse_sequence(&x, &[1, 2, 0], D::Minus1, D::Minus2)?;
    assert_same(&ours, &gathered(&x, &[1, 2, 0], 2, 1)?)
}

#[test]
fn other_operators_run() -> Result<()> {
    let x = Tensor::new(&[[1u8, 2, 3], [4, 5, 6]], CPU)?;
    let lengths = Tensor::new(&[[2u32, 0, 2]], CPU)?;
    let y = reverse_by(&x, &lengths, &ReverseSubsequences::along(0))?;
    assert_eq!(y.to_vec2::<u8>()?, [[4, 2, 6], [1, 5, 3]]);
    let y = reverse_by(&x, &[0, 1, 3], &ReverseSegments::along(1))?;
    assert_eq!(y.to_vec2::<u8>()?, [[1, 3, 2], [4, 6, 5]]);
    let offsets = Tensor::new(&[0i64, 1, 3], CPU)?;
    let y = reverse_by(&x, &offsets, &ReverseSegments::along(1))?;
    assert_eq!(y.to_vec2::<u8>()?, [[1, 3, 2], [4, 6, 5]]);
    let zeroed = ReverseSequence::new()
        .time_axis(1)
        .batch_axis(0)
        .tail(Tail::Zero)
        .policy(LengthPolicy::Clamp);
    let y = reverse_by(&x, &[2, 9], &zeroed)?;
    assert_eq!(y.to_vec2::<u8>()?, [[2, 1, 0], [6, 5, 4]]);
    Ok(())
}

#[test]
fn lengths_may_be_strided() -> Result<()> {
    let x = numbered(&[4, 5], DType::F32)?;
    let lengths =
        Tensor::new(&[[0u32, 5], [0, 1], [0, 0], [0, 3]], CPU)?.narrow(1, 1, 1)?.squeeze(1)?;
    let ours = reverse_sequence(&x, &lengths, 1, 0)?;
    assert_same(&ours, &gathered(&x, &[5, 1, 0, 3], 1, 0)?)
}

/// The error of a call, without a backtrace.
fn refused(result: Result<Tensor>) -> String {
    let mut error = result.expect_err("the call should fail");
    while let candle_core::Error::WithBacktrace { inner, .. } = error {
        error = *inner;
    }
    error.to_string()
}

#[test]
fn errors_carry_the_text_of_the_engine() -> Result<()> {
    let x = numbered(&[2, 3], DType::F32)?;
    assert_eq!(
        refused(flip(&x, &[2])),
        "Reverse: axes[0] is 2, outside [-2, 1] for a tensor of rank 2"
    );
    assert_eq!(
        refused(flip(&x, &[1, 1])),
        "Reverse: axes[1] is 1, the same axis as axes[0], expected distinct axes"
    );
    let long = Tensor::new(&[3i64, 4], CPU)?;
    let text = "ReverseSequence: lengths[1] is 4, outside [0, 3]";
    assert_eq!(refused(reverse_sequence(&x, &long, 1, 0)), text);
    assert_eq!(refused(reverse_sequence(&x, &[3, 4], 1, 0)), text);
    assert_eq!(
        refused(reverse_sequence(&x, &[-1, 0], 1, 0)),
        "ReverseSequence: lengths[0] is -1, outside [0, 3]"
    );
    assert_eq!(
        refused(reverse_sequence(&x, &long, 0, 1)),
        "ReverseSequence: lengths have shape [2], expected [3]: axis 1 (batch_axis) has size 3, \
         axis 0 (time_axis) has size 2"
    );
    assert_eq!(
        refused(reverse_sequence(&x, &Tensor::new(&[1f32, 2.], CPU)?, 1, 0)),
        "ReverseSequence: lengths have type f32, expected an integer type (i8 ... u64)"
    );
    assert!(refused(reverse_sequence(&x, &[1, 2], 1, 1)).starts_with("ReverseSequence: "));
    // Candle's own check of dimensions.
    assert!(reverse_sequence(&x, &[1, 2], 5, 0).is_err());
    Ok(())
}

#[test]
fn packed_types_are_refused() -> Result<()> {
    let packed = candle_core::Storage::Cpu(candle_core::CpuStorage::F4(vec![0x21, 0x43]));
    let none = candle_core::op::BackpropOp::none();
    let x = Tensor::from_storage(packed, (4,), none, false);
    assert_eq!(refused(flip(&x, &[0])), "retrograde: tensors of f4 cannot be reversed");
    Ok(())
}
