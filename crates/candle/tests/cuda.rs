//! Tensors on a CUDA device, against the same calls on the CPU. Without a device the tests say that
//! they are skipped.
#![cfg(feature = "cuda")]

use candle_core::{DType, Device, Result, Tensor, Var};
use retrograde::{LengthPolicy, ReverseSegments, ReverseSequence, Tail};
use retrograde_candle::{flip, reverse_by, reverse_sequence};

fn device() -> Option<Device> {
    match Device::new_cuda(0) {
        Ok(device) => Some(device),
        Err(error) => {
            println!("SKIPPED, no CUDA device: {error}");
            None
        }
    }
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

/// Both on the CPU, in the same order.
fn assert_same(ours: &Tensor, expected: &Tensor) -> Result<()> {
    assert!(ours.device().is_cuda());
    assert_eq!(ours.dims(), expected.dims());
    assert_eq!(ours.dtype(), expected.dtype());
    let flat = |x: &Tensor| {
        let x = x.flatten_all()?.to_device(&Device::Cpu)?;
        x.to_dtype(DType::F64)?.to_vec1::<f64>()
    };
    assert_eq!(flat(ours)?, flat(expected)?, "{:?} {:?}", ours.dims(), ours.dtype());
    Ok(())
}

/// The same views of a tensor on both devices.
fn views(x: &Tensor) -> Result<Vec<Tensor>> {
    let last = x.rank() - 1;
    Ok(vec![
        x.clone(),
        x.transpose(0, last)?,
        x.narrow(0, 1, x.dim(0)? - 1)?,
        x.narrow(last, 1, x.dim(last)? - 2)?,
        x.transpose(0, last)?.narrow(0, 1, 2)?,
        x.unsqueeze(0)?.broadcast_as([&[2], x.dims()].concat())?,
    ])
}

#[test]
fn results_agree_with_the_cpu() -> Result<()> {
    let Some(device) = device() else { return Ok(()) };
    let mut cases = 0;
    for of in TYPES {
        for shape in [&[7, 9][..], &[3, 4, 5], &[2, 3, 4, 6], &[33, 130]] {
            let count: usize = shape.iter().product();
            let values: Vec<f32> = (0..count).map(|at| (at % 113) as f32).collect();
            let x = Tensor::from_vec(values, shape, &Device::Cpu)?.to_dtype(of)?;
            let there = x.to_device(&device)?;
            for (x, there) in views(&x)?.into_iter().zip(views(&there)?) {
                for dims in [&[0][..], &[1], &[0, 1], &[]] {
                    assert_same(&flip(&there, dims)?, &flip(&x, dims)?)?;
                }
                for (time, batch) in [(1, 0), (0, 1)] {
                    let steps = x.dim(time)? as i64;
                    let lengths: Vec<i64> =
                        (0..x.dim(batch)? as i64).map(|at| at * 5 % (steps + 1)).collect();
                    let expected = reverse_sequence(&x, &lengths, time, batch)?;
                    let ours = reverse_sequence(&there, &lengths, time, batch)?;
                    assert_same(&ours, &expected)?;
                    for of in [DType::U8, DType::U32, DType::I64] {
                        let lengths = Tensor::new(lengths.as_slice(), &device)?.to_dtype(of)?;
                        let ours = reverse_sequence(&there, &lengths, time, batch)?;
                        assert_same(&ours, &expected)?;
                    }
                }
                cases += 1;
            }
        }
    }
    println!("{cases} views");
    Ok(())
}

#[test]
fn other_operators_and_empty_tensors() -> Result<()> {
    let Some(device) = device() else { return Ok(()) };
    let x = Tensor::arange(0u32, 12, &device)?.reshape((3, 4))?;
    let offsets = Tensor::new(&[0u32, 1, 4], &device)?;
    let y = reverse_by(&x, &offsets, &ReverseSegments::along(1))?;
    assert_eq!(y.to_vec2::<u32>()?, [[0, 3, 2, 1], [4, 7, 6, 5], [8, 11, 10, 9]]);
    let zeroed = ReverseSequence::new()
        .time_axis(1)
        .batch_axis(0)
        .tail(Tail::Zero)
        .policy(LengthPolicy::Clamp);
    let y = reverse_by(&x, &Tensor::new(&[2u32, 9, 0], &device)?, &zeroed)?;
    assert_eq!(y.to_vec2::<u32>()?, [[1, 0, 0, 0], [7, 6, 5, 4], [0, 0, 0, 0]]);
    let empty = Tensor::zeros((0, 3), DType::F32, &device)?;
    assert_eq!(flip(&empty, &[0, 1])?.dims(), [0, 3]);
    Ok(())
}

#[test]
fn wrong_lengths_are_errors_and_later_calls_work() -> Result<()> {
    let Some(device) = device() else { return Ok(()) };
    let x = Tensor::arange(0f32, 6., &device)?.reshape((2, 3))?;
    let text = "ReverseSequence: lengths[1] is 4, outside [0, 3]";
    let wrong = Tensor::new(&[3i64, 4], &device)?;
    let error = reverse_sequence(&x, &wrong, 1, 0).unwrap_err().to_string();
    assert!(error.starts_with(text), "{error}");
    let error = reverse_sequence(&x, &[3, 4], 1, 0).unwrap_err().to_string();
    assert!(error.starts_with(text), "{error}");
    let y = reverse_sequence(&x, &Tensor::new(&[3i64, 2], &device)?, 1, 0)?;
    assert_eq!(y.to_vec2::<f32>()?, [[2., 1., 0.], [4., 3., 5.]]);
    // Lengths on another device than the tensor.
    assert!(reverse_sequence(&x, &Tensor::new(&[3i64, 2], &Device::Cpu)?, 1, 0).is_err());
    Ok(())
}

#[test]
fn gradients_agree_with_candle() -> Result<()> {
    let Some(device) = device() else { return Ok(()) };
    let x = Var::from_tensor(&Tensor::arange(0f32, 24., &device)?.reshape((2, 3, 4))?)?;
    let weights = (x.as_tensor() * 3.)?.detach();
    let gradient = |y: Tensor| -> Result<Tensor> {
        let store = (y * &weights)?.sum_all()?.backward()?;
        Ok(store.get(&x).expect("x has a gradient").clone())
    };
    assert_same(&gradient(flip(&x, &[0, 2])?)?, &gradient(x.flip(&[0, 2])?)?)?;
    let lengths = Tensor::new(&[3u32, 1], &device)?;
    let ours = gradient(reverse_sequence(&x, &lengths, 1, 0)?)?;
    assert_same(&ours, &reverse_sequence(&weights, &lengths, 1, 0)?)
}

/// Work of candle before and after a call is in order with it.
#[test]
fn calls_are_in_order_with_the_stream() -> Result<()> {
    let Some(device) = device() else { return Ok(()) };
    for device in [device, Device::new_cuda_with_stream(0)?] {
        let mut x = Tensor::arange(0f32, (1 << 22) as f32, &device)?.reshape((2048, 2048))?;
        let first = x.to_device(&Device::Cpu)?;
        for _ in 0..10 {
            x = (flip(&(x + 1.)?, &[1])? - 1.)?;
        }
        assert_same(&x, &first)?;
    }
    Ok(())
}
