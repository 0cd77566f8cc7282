//! Gradients, against candle's own operators and against the transpose of the movement.

use candle_core::{DType, Device, Result, Tensor, Var};
use retrograde::{Reverse, ReverseSequence, Tail};
use retrograde_candle::{flip, reverse, reverse_by, reverse_sequence};

const CPU: &Device = &Device::Cpu;

/// The gradient of `sum(weights * f(x))` at `x`.
fn gradient(x: &Var, weights: &Tensor, f: impl Fn(&Tensor) -> Result<Tensor>) -> Result<Tensor> {
    let loss = (f(x.as_tensor())? * weights)?.sum_all()?;
    let store = loss.backward()?;
    Ok(store.get(x).expect("x has a gradient").clone())
}

fn operands() -> Result<(Var, Tensor)> {
    let x = Var::from_tensor(&Tensor::randn(0f64, 1., (3, 4, 2), CPU)?)?;
    let weights = Tensor::arange(1f64, 25., CPU)?.reshape((3, 4, 2))?;
    Ok((x, weights))
}

fn values(x: &Tensor) -> Result<Vec<f64>> {
    x.flatten_all()?.to_vec1::<f64>()
}

#[test]
fn flips_have_the_gradient_of_candle() -> Result<()> {
    let (x, weights) = operands()?;
    for dims in [&[0][..], &[1], &[2], &[0, 2], &[0, 1, 2], &[]] {
        let ours = gradient(&x, &weights, |x| flip(x, dims))?;
        let theirs = gradient(&x, &weights, |x| x.flip(dims)? + 0.)?;
        assert_eq!(values(&ours)?, values(&theirs)?, "{dims:?}");
    }
    Ok(())
}

#[test]
fn gradients_of_sequences_are_reversed_sequences() -> Result<()> {
    let (x, weights) = operands()?;
    let lengths = Tensor::new(&[4u32, 0, 3], CPU)?;
    let expected = reverse_sequence(&weights, &lengths, 1, 0)?;
    let by_tensor = gradient(&x, &weights, |x| reverse_sequence(x, &lengths, 1, 0))?;
    assert_eq!(values(&by_tensor)?, values(&expected)?);
    let by_host = gradient(&x, &weights, |x| reverse_sequence(x, &[4, 0, 3], 1, 0))?;
    assert_eq!(values(&by_host)?, values(&expected)?);
    Ok(())
}

/// The movements are linear, so a difference of any width is exact but for rounding.
#[test]
fn gradients_agree_with_differences() -> Result<()> {
    let (x, weights) = operands()?;
    let zeroed = ReverseSequence::new().time_axis(1).batch_axis(0).tail(Tail::Zero);
    type Movement<'a> = &'a dyn Fn(&Tensor) -> Result<Tensor>;
    let movements: [Movement<'_>; 3] = [
        &|x| reverse(x, &Reverse::axes([1, -1])),
        &|x| reverse_sequence(x, &[1, 2, 4], 1, 0),
        &|x| reverse_by(x, &[1, 2, 4], &zeroed),
    ];
    for f in movements {
        let analytic = values(&gradient(&x, &weights, f)?)?;
        let loss = |x: &Tensor| (f(x)? * &weights)?.sum_all()?.to_scalar::<f64>();
        for (at, analytic) in analytic.into_iter().enumerate() {
            let mut step = vec![0f64; 24];
            step[at] = 0.5;
            let step = Tensor::from_vec(step, (3, 4, 2), CPU)?;
            let (up, down) = (loss(&(x.as_tensor() + &step)?)?, loss(&(x.as_tensor() - &step)?)?);
            assert!((up - down - analytic).abs() < 1e-9, "{at}: {up} - {down}, {analytic}");
        }
    }
    Ok(())
}

#[test]
fn gradients_pass_through_strided_views_and_twice() -> Result<()> {
    let (x, weights) = operands()?;
    let twice = |x: &Tensor| {
        let y = flip(&x.transpose(0, 2)?, &[1])?.transpose(0, 2)?;
        y + reverse_sequence(x, &[2, 2, 2], 1, 0)?
    };
    let same = |x: &Tensor| {
        // Candle's flip needs contiguous tensors.
        let first = x.narrow(1, 0, 2)?.contiguous()?.flip(&[1])?;
        x.flip(&[1])? + Tensor::cat(&[&first, &x.narrow(1, 2, 2)?], 1)?
    };
    let (ours, theirs) = (gradient(&x, &weights, twice)?, gradient(&x, &weights, same)?);
    assert_eq!(values(&ours)?, values(&theirs)?);
    Ok(())
}

#[test]
fn a_result_without_variables_is_not_tracked() -> Result<()> {
    let x = Tensor::ones((2, 2), DType::F32, CPU)?;
    assert!(!flip(&x, &[0])?.track_op());
    Ok(())
}
