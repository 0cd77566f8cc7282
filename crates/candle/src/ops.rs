//! The operators as candle's custom operators: they prepare the call, and the devices' modules run
//! it. A reversal is its own transpose, so its gradient is the same reversal of the gradient; that
//! holds for zeroed tails too, because what was zeroed has no influence on the result.

use crate::cpu;
#[cfg(feature = "cuda")]
use crate::cuda;
#[cfg(feature = "cuda")]
use candle_core::CudaStorage;
use candle_core::{CpuStorage, CustomOp1, CustomOp2, Layout, Result, Shape, Tensor};
use retrograde::{Error, LengthsOperator, Prepared, Reversal, Reverse, TensorRef};

/// Whole axes.
pub(crate) struct Axes(pub(crate) Reverse);

/// An operator with its lengths in host memory.
pub(crate) struct HostLengths<O> {
    pub(crate) operator: O,
    pub(crate) lengths: Vec<i64>,
}

/// An operator whose lengths are its second tensor.
pub(crate) struct TensorLengths<O>(pub(crate) O);

impl<O: LengthsOperator> HostLengths<O> {
    fn prepare(
        &self,
        src: &retrograde::Layout,
        dst: &retrograde::Layout,
    ) -> std::result::Result<Prepared<'_>, Error> {
        let lengths = retrograde::Lengths::from(&self.lengths);
        let lengths = self.operator.shaped(&lengths, src.shape())?;
        prepare(&self.operator, src, lengths, dst)
    }
}

fn prepare<'a, O: LengthsOperator>(
    operator: &O,
    src: &retrograde::Layout,
    lengths: TensorRef<'a>,
    dst: &retrograde::Layout,
) -> std::result::Result<Prepared<'a>, Error> {
    let plan = operator.plan(src, lengths.layout(), dst)?;
    Ok(Prepared::from_plan(O::OPERATOR, plan, Some(lengths)))
}

impl CustomOp1 for Axes {
    fn name(&self) -> &'static str {
        "retrograde-reverse"
    }

    fn cpu_fwd(&self, x: &CpuStorage, at: &Layout) -> Result<(CpuStorage, Shape)> {
        cpu::run(x, at, |src, dst| self.0.prepare(src, dst))
    }

    #[cfg(feature = "cuda")]
    fn cuda_fwd(&self, x: &CudaStorage, at: &Layout) -> Result<(CudaStorage, Shape)> {
        cuda::run(x, at, |src, dst| self.0.prepare(src, dst))
    }

    fn bwd(&self, _: &Tensor, _: &Tensor, gradient: &Tensor) -> Result<Option<Tensor>> {
        crate::reverse(gradient, &self.0).map(Some)
    }
}

impl<O> CustomOp1 for HostLengths<O>
where
    O: LengthsOperator + Clone + Send + Sync + 'static,
{
    fn name(&self) -> &'static str {
        "retrograde-reverse-by-lengths"
    }

    fn cpu_fwd(&self, x: &CpuStorage, at: &Layout) -> Result<(CpuStorage, Shape)> {
        cpu::run(x, at, |src, dst| self.prepare(src, dst))
    }

    #[cfg(feature = "cuda")]
    fn cuda_fwd(&self, x: &CudaStorage, at: &Layout) -> Result<(CudaStorage, Shape)> {
        cuda::run(x, at, |src, dst| self.prepare(src, dst))
    }

    fn bwd(&self, _: &Tensor, _: &Tensor, gradient: &Tensor) -> Result<Option<Tensor>> {
        crate::reverse_by(gradient, &self.lengths, &self.operator).map(Some)
    }
}

impl<O> CustomOp2 for TensorLengths<O>
where
    O: LengthsOperator + Clone + Send + Sync + 'static,
{
    fn name(&self) -> &'static str {
        "retrograde-reverse-by-lengths"
    }

    fn cpu_fwd(
        &self,
        x: &CpuStorage,
        at: &Layout,
        lengths: &CpuStorage,
        lengths_at: &Layout,
    ) -> Result<(CpuStorage, Shape)> {
        let lengths = cpu::view(lengths, lengths_at)?;
        cpu::run(x, at, |src, dst| prepare(&self.0, src, lengths, dst))
    }

    #[cfg(feature = "cuda")]
    fn cuda_fwd(
        &self,
        x: &CudaStorage,
        at: &Layout,
        lengths: &CudaStorage,
        lengths_at: &Layout,
    ) -> Result<(CudaStorage, Shape)> {
        cuda::run_by(x, at, lengths, lengths_at, &self.0)
    }

    fn bwd(
        &self,
        _: &Tensor,
        lengths: &Tensor,
        _: &Tensor,
        gradient: &Tensor,
    ) -> Result<(Option<Tensor>, Option<Tensor>)> {
        Ok((Some(crate::reverse_by(gradient, lengths, &self.0)?), None))
    }
}
