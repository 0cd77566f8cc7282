//! The reversals: Reverse and ReverseSequence, by the rules of the engine.

use super::super::known::Known;
use super::super::movement::{self, Workspace};
use super::super::numbers;
use super::super::operand::OperandError;
use super::super::view::View;
use crate::value::Value;
use retrograde::{
    DType, Error, Layout, Lengths, LengthsOperator, Operator, Reversal, Reverse, ReverseMode,
    ReverseSequence, TensorRef,
};

fn tensor<'a>(value: &Value, bytes: &'a [u8]) -> Result<TensorRef<'a>, OperandError> {
    Ok(TensorRef::new(Layout::dense(value.dtype(), value.shape())?, bytes)?)
}

fn reverse_of(mode: ReverseMode, axes: &Value) -> Result<Reverse, OperandError> {
    // The engine reads integers of whole bytes.
    let packed = axes.dtype().is_packed() && numbers::is_integer(axes.dtype());
    let axes = if packed { numbers::cast(axes, DType::I64)? } else { axes.clone() };
    let bytes = movement::native(&axes)?;
    Ok(Reverse::from_tensor(mode, &tensor(&axes, &bytes)?)?)
}

pub(super) fn reverse(
    data: &View,
    mode: ReverseMode,
    axes: &Value,
    workspace: &mut Workspace<'_>,
) -> Result<View, OperandError> {
    Ok(View::of(movement::reversed(&reverse_of(mode, axes)?, data, workspace)?))
}

pub(super) fn known_reverse(
    data: &Known,
    mode: ReverseMode,
    axes: &Known,
) -> Result<Known, OperandError> {
    let operator = match (&axes.value, axes.dtype) {
        (Some(axes), _) => Some(reverse_of(mode, axes)?),
        // No axes of that type, which checks the type.
        (None, Some(dtype)) => {
            let rank = axes.rank().unwrap_or(1);
            reverse_of(mode, &Value::new(dtype, &vec![0; rank], vec![])?)?;
            None
        }
        (None, None) => None,
    };
    if let (Some(operator), Some(_)) = (operator, &data.dims) {
        let layout = Layout::dense(DType::U8, &data.sizes())?;
        operator.plan(&layout, &layout)?;
    }
    Ok(Known::new(data.dtype, data.dims.clone()))
}

/// The axes of a ReverseSequence, and the ONNX opset whose rules apply; OpenVINO's if `None`.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sequence {
    pub(super) time: i64,
    pub(super) batch: i64,
    pub(super) opset: Option<u32>,
}

impl Sequence {
    /// The operator, for data and lengths of these types.
    fn operator(self, data: DType, lengths: DType) -> Result<ReverseSequence, OperandError> {
        let Sequence { time, batch, opset } = self;
        let is_text = data == DType::String;
        Ok(match opset {
            // ONNX allows strings at every opset; the engine sees only their handles.
            Some(_) if is_text && lengths != DType::I64 => {
                let (operator, dtype) = (Operator::ReverseSequence, lengths);
                return Err(Error::LengthsType { operator, dtype, allowed: "i64" }.into());
            }
            Some(_) if is_text => ReverseSequence::onnx().time_axis(time).batch_axis(batch),
            Some(opset) => ReverseSequence::onnx().opset(opset).time_axis(time).batch_axis(batch),
            None => ReverseSequence::new().time_axis(time).batch_axis(batch),
        })
    }

    /// OpenVINO accepts lengths of any numeric type.
    fn lengths(self, lengths: &Value) -> Result<Value, OperandError> {
        match self.opset {
            Some(_) => Ok(lengths.clone()),
            None => numbers::whole("lengths", lengths),
        }
    }
}

pub(super) fn sequence(
    data: &View,
    sequence: Sequence,
    lengths: &Value,
    workspace: &mut Workspace<'_>,
) -> Result<View, OperandError> {
    let lengths = sequence.lengths(lengths)?;
    let operator = sequence.operator(data.dtype(), lengths.dtype())?;
    let bytes = movement::native(&lengths)?;
    let operator = operator.lengths(Lengths::from(tensor(&lengths, &bytes)?));
    Ok(View::of(movement::reversed(&operator, data, workspace)?))
}

pub(super) fn known_sequence(
    data: &Known,
    sequence: Sequence,
    lengths: &Known,
) -> Result<Known, OperandError> {
    let result = Known::new(data.dtype, data.dims.clone());
    let lengths_type = match lengths.dtype.unwrap_or(DType::I64) {
        dtype if sequence.opset.is_none() && numbers::is_float(dtype) => DType::I64,
        dtype if sequence.opset.is_none() && dtype.is_packed() => DType::I64,
        dtype => dtype,
    };
    let dtype = data.dtype.unwrap_or(DType::F32);
    let operator = sequence.operator(dtype, lengths_type)?;
    let mut sizes = match data.rank() {
        Some(_) => data.sizes(),
        // Axes 0 and 1 exist at every rank that ONNX allows.
        None if sequence.opset.is_some() => vec![1, 1],
        None => return Ok(result),
    };
    let mut expected = operator.lengths_shape(&sizes)?;
    if let Some(shape) = lengths.shape() {
        // A batch of unknown size has as many entries as there are lengths.
        let batch = usize::try_from(sequence.batch.rem_euclid(sizes.len() as i64)).unwrap_or(0);
        let open = data.dims.as_ref().is_none_or(|dims| dims[batch].is_none());
        match (open, &shape[..]) {
            (true, [count]) => sizes[batch] = *count,
            // The error waits until the size is known.
            (true, _) => return Ok(result),
            (false, _) => {}
        }
        expected = shape;
    }
    let moving = if dtype == DType::String { DType::U8 } else { dtype };
    let layout = Layout::dense(moving, &sizes)?;
    operator.plan(&layout, &Layout::dense(lengths_type, &expected)?, &layout)?;
    if let (Some(value), true) = (&lengths.value, data.shape().is_some()) {
        let lengths = sequence.lengths(value)?;
        let bytes = movement::native(&lengths)?;
        let operator = operator.lengths(Lengths::from(tensor(&lengths, &bytes)?));
        operator.prepare(&layout, &layout)?.check()?;
    }
    Ok(result)
}
