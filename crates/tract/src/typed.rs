//! The operator in a model whose types are known: its facts, its evaluation, and how it lets
//! changes of axes pass.

use retrograde::{DType, Layout, Lengths, LengthsOperator, MemoryMut, Reversal, WithLengths};
use tract_onnx::tract_hir::internal::*;

/// Reverses the first `lengths[b]` steps of every sequence `b` of a batch, on any two axes. The
/// inputs are the tensor and its lengths.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ReverseSequence {
    time_axis: usize,
    batch_axis: usize,
}

impl ReverseSequence {
    /// With these axes.
    pub fn new(time_axis: usize, batch_axis: usize) -> Self {
        ReverseSequence { time_axis, batch_axis }
    }

    fn operator(&self) -> retrograde::ReverseSequence {
        let axis = |axis: usize| i64::try_from(axis).unwrap_or(i64::MAX);
        retrograde::ReverseSequence::new()
            .time_axis(axis(self.time_axis))
            .batch_axis(axis(self.batch_axis))
    }

    /// Whether a tensor of this rank has both axes.
    pub(crate) fn check_rank(&self, rank: usize) -> TractResult<()> {
        self.operator().lengths_shape(&vec![1; rank])?;
        Ok(())
    }

    /// Checks constant lengths as soon as the sizes of the two axes are known.
    fn check_constant(&self, x: &TypedFact, lengths: &Tensor) -> TractResult<()> {
        let mut shape = vec![1; x.rank()];
        for axis in [self.time_axis, self.batch_axis] {
            let Ok(size) = x.shape[axis].to_usize() else { return Ok(()) };
            shape[axis] = size;
        }
        let values = lengths.cast_to::<i64>()?;
        let layout = Layout::dense(DType::U8, &shape)?;
        let values = Lengths::from(values.try_as_plain_ram()?.as_slice::<i64>()?);
        self.operator().lengths(values).prepare(&layout, &layout)?.check()?;
        Ok(())
    }
}

impl Op for ReverseSequence {
    fn name(&self) -> StaticName {
        "ReverseSequence".into()
    }

    fn info(&self) -> TractResult<Vec<String>> {
        Ok(vec![format!("time axis {}, batch axis {}", self.time_axis, self.batch_axis)])
    }

    op_as_typed_op!();
}

impl EvalOp for ReverseSequence {
    op_out_of_plan!();

    fn eval(&self, _: &EvalContext, inputs: TVec<TValue>) -> TractResult<TVec<TValue>> {
        let (x, lengths) = args_2!(inputs);
        // Lengths that were computed from shapes are of tract's own type for dimensions.
        let lengths = lengths.cast_to::<i64>()?;
        let lengths = lengths.try_as_plain_ram()?.as_slice::<i64>()?;
        let call = self.operator().lengths(lengths);
        let y = match x.datum_type() {
            DatumType::String => swapped::<String>(&call, x)?,
            DatumType::TDim => swapped::<TDim>(&call, x)?,
            DatumType::Blob => swapped::<Blob>(&call, x)?,
            _ => moved(&call, x)?,
        };
        Ok(tvec!(y.into_tvalue()))
    }
}

type Call<'a> = WithLengths<'a, retrograde::ReverseSequence>;

/// Elements that own memory: whole values are swapped, in a copy if somebody else has the tensor.
fn swapped<T: Datum>(call: &Call<'_>, x: TValue) -> TractResult<Tensor> {
    let mut y = x.into_tensor();
    let shape: TVec<usize> = y.shape().into();
    call.in_place(y.try_as_plain_ram_mut()?.as_slice_mut::<T>()?, &shape)?;
    Ok(y)
}

/// Numbers: in place if nobody else has the tensor.
fn moved(call: &Call<'_>, x: TValue) -> TractResult<Tensor> {
    let of = x.datum_type();
    ensure!(of.is_copy(), "ReverseSequence: unexpected elements of {of:?}");
    let layout = Layout::dense(DType::Bytes(of.size_of()), x.shape())?;
    let prepared = call.prepare(&layout, &layout)?;
    if x.is_exclusive() {
        let mut y = x.into_tensor();
        prepared.run_in_place(y.try_as_plain_ram_mut()?.as_bytes_mut())?;
        return Ok(y);
    }
    let input = x.try_as_plain_ram()?.as_bytes();
    // SAFETY: the elements are plain numbers (`is_copy`), which may be uninitialised as long as
    // nobody reads them; the tensor is dropped if the call fails, and complete if it succeeds.
    let mut y = unsafe { Tensor::uninitialized_dt(of, x.shape())? };
    // SAFETY: the new tensor is plain and dense, so it has as many bytes as the layout, and nobody
    // else has it. The call writes whole elements of the input, which are values of the type.
    let output =
        unsafe { MemoryMut::from_raw(y.as_ptr_mut_unchecked::<u8>(), layout.byte_len(), false) };
    prepared.run(input, output)?;
    Ok(y)
}

impl TypedOp for ReverseSequence {
    fn output_facts(&self, inputs: &[&TypedFact]) -> TractResult<TVec<TypedFact>> {
        ensure!(inputs.len() == 2, "ReverseSequence: {} inputs, expected 2", inputs.len());
        let (x, lengths) = (inputs[0], inputs[1]);
        self.check_rank(x.rank())?;
        let of = lengths.datum_type;
        ensure!(
            (of.is_integer() && !of.is_quantized()) || of.is_tdim(),
            "ReverseSequence: lengths have type {of:?}, expected an integer type"
        );
        ensure!(
            lengths.rank() == 1,
            "ReverseSequence: lengths have rank {}, expected 1",
            lengths.rank()
        );
        let (got, batch) = (&lengths.shape[0], &x.shape[self.batch_axis]);
        if let (Ok(got), Ok(batch)) = (got.to_usize(), batch.to_usize()) {
            ensure!(
                got == batch,
                "ReverseSequence: lengths have shape [{got}], expected [{batch}]"
            );
        }
        if let Some(values) = &lengths.konst {
            self.check_constant(x, values)?;
        }
        Ok(tvec!(x.without_value()))
    }

    fn change_axes(
        &self,
        _model: &TypedModel,
        _node: &TypedNode,
        io: InOut,
        change: &AxisOp,
    ) -> TractResult<Option<AxisChangeConsequence>> {
        // The two axes may be anywhere, but each must remain one axis. Lengths do not change.
        if io == InOut::In(1) || matches!(change, AxisOp::Reshape(..)) {
            return Ok(None);
        }
        let time = change.transform_axis(self.time_axis);
        let batch = change.transform_axis(self.batch_axis);
        let (Some(time), Some(batch)) = (time, batch) else { return Ok(None) };
        Ok(Some(AxisChangeConsequence {
            substitute_op: Some(Box::new(ReverseSequence::new(time, batch))),
            wire_changes: tvec!((InOut::In(0), change.clone()), (InOut::Out(0), change.clone())),
        }))
    }

    as_op!();
}
