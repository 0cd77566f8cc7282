//! The reference: the rules of every operator as checks, and the oracle for what moves.
//!
//! Expected outputs come from here. It is slow and literal, and uses no engine.

use crate::call::Call;
use crate::extras::{self, Extras};
use crate::oracle;
use crate::tensor::Tensor;
use crate::types::{Kind, Type};

/// The types that ONNX lists for ReverseSequence at opset 10.
pub const ONNX_TYPES: [&str; 15] = [
    "bool", "u8", "i8", "u16", "i16", "u32", "i32", "u64", "i64", "f16", "f32", "f64", "c64",
    "c128", "string",
];

/// The output of a call, or why it must be refused.
pub fn answer(
    call: &Call,
    input: &Tensor,
    argument: &Tensor,
    given: &Extras,
) -> Result<Tensor, String> {
    let shape = &input.shape;
    let mask = given.mask.as_ref();
    let moves = mask.map(|mask| extras::entries(call, shape, argument, mask)).transpose()?;
    let argument = &match &moves {
        Some(moves) => extras::of_what_moves(call, argument, moves),
        None => argument.clone(),
    };
    let (mut turned, mut sources) = (shape.clone(), sources(call, input, argument)?);
    if let Call::Orient { orientation } = *call {
        let (rows, columns) = plane(argument, shape.len())?;
        turned = oracle::oriented(shape, rows, columns, orientation as u8);
    }
    let values = if argument.dtype.is_integer() { argument.to_integers() } else { Vec::new() };
    let entry_of = |index: &[usize]| extras::entry_of(call, shape, &values, index);
    if let Some(moves) = &moves {
        oracle::stay(shape, &mut sources, moves, entry_of);
    }
    let output = input.taken(&sources).reshaped(&turned);
    let Some(table) = &given.table else { return Ok(output) };
    let reversed = |index: Vec<usize>| {
        entry_of(&index).is_some_and(|entry| moves.as_ref().is_none_or(|moves| moves[entry]))
    };
    // An image has no elements that are not reversed, so that its other shape does not matter.
    let reversed: Vec<_> = oracle::indices(shape).into_iter().map(reversed).collect();
    extras::looked_up(call.operator(), &output, table, &reversed)
}

/// Where each element of the output comes from.
fn sources(call: &Call, input: &Tensor, argument: &Tensor) -> Result<Vec<usize>, String> {
    let shape = &input.shape;
    Ok(match *call {
        Call::Reverse { mask: true } => oracle::reverse(shape, &mask_of(argument, shape.len())?),
        Call::Reverse { mask: false } => {
            oracle::reverse(shape, &axes_of("Reverse", argument, shape.len(), false)?)
        }
        Call::Flip => oracle::reverse(shape, &axes_of("Flip", argument, shape.len(), true)?),
        Call::Sequence { time, batch } => {
            check_onnx(input.dtype, argument, time, batch)?;
            sequence("ReverseSequence", input, argument, time, batch)?
        }
        Call::AnySequence { time, batch } => {
            sequence("ReverseSequenceAnyAxes", input, argument, time, batch)?
        }
        Call::Subsequences { axis } => subsequences(input, argument, axis)?,
        Call::Segments { axis } => segments(input, argument, axis)?,
        Call::Orient { orientation } => {
            let (rows, columns) = plane(argument, shape.len())?;
            match u8::try_from(orientation) {
                Ok(exif @ 1..=8) => oracle::orient(shape, rows, columns, exif),
                _ => return Err(format!("Orient: orientation {orientation} is outside [1, 8]")),
            }
        }
    })
}

/// The axes of rows and columns.
fn plane(axes: &Tensor, rank: usize) -> Result<(usize, usize), String> {
    check_integers("Orient", axes)?;
    if axes.shape != [2] {
        return Err(format!("Orient: axes have shape {:?}, expected [2]", axes.shape));
    }
    let axis = |at: usize| resolved("Orient", &format!("axes[{at}]"), axes.integer(at), rank);
    match (axis(0)?, axis(1)?) {
        (rows, columns) if rows == columns => Err(format!("Orient: both axes are {rows}")),
        plane => Ok(plane),
    }
}

/// Which axes a list of indices reverses.
fn axes_of(
    operator: &str,
    axes: &Tensor,
    rank: usize,
    distinct: bool,
) -> Result<Vec<bool>, String> {
    if !axes.dtype.is_integer() {
        return Err(format!("{operator}: axes have type {}, expected integers", axes.dtype.name));
    }
    if axes.shape.len() != 1 {
        return Err(format!("{operator}: axes have rank {}, expected 1", axes.shape.len()));
    }
    let mut flips = vec![false; rank];
    for (at, value) in axes.to_integers().into_iter().enumerate() {
        let axis = resolved(operator, &format!("axes[{at}]"), value, rank)?;
        if flips[axis] && distinct {
            return Err(format!("{operator}: axes[{at}] = {value} names axis {axis} again"));
        }
        flips[axis] = true;
    }
    Ok(flips)
}

/// Which axes a mask reverses.
fn mask_of(mask: &Tensor, rank: usize) -> Result<Vec<bool>, String> {
    if mask.dtype.kind != Kind::Bool {
        return Err(format!("Reverse: the mask has type {}, expected bool", mask.dtype.name));
    }
    if mask.shape != [rank] {
        return Err(format!("Reverse: the mask has shape {:?}, expected [{rank}]", mask.shape));
    }
    Ok((0..rank).map(|axis| mask.bits(axis) == 1).collect())
}

/// An axis that may count from the end.
fn resolved(operator: &str, name: &str, value: i128, rank: usize) -> Result<usize, String> {
    let limit = rank as i128;
    match value {
        _ if value < -limit || value >= limit => {
            Err(format!("{operator}: {name} = {value} is outside [-{limit}, {limit})"))
        }
        _ if value < 0 => Ok((value + limit) as usize),
        _ => Ok(value as usize),
    }
}

/// What ONNX adds to the rules of a sequence.
fn check_onnx(dtype: &Type, lengths: &Tensor, time: i64, batch: i64) -> Result<(), String> {
    for (name, axis) in [("time_axis", time), ("batch_axis", batch)] {
        if axis != 0 && axis != 1 {
            return Err(format!("ReverseSequence: {name} = {axis} is outside [0, 1]"));
        }
    }
    if lengths.dtype.name != "i64" {
        let got = lengths.dtype.name;
        return Err(format!("ReverseSequence: lengths have type {got}, expected i64"));
    }
    if !ONNX_TYPES.contains(&dtype.name) && dtype.name != "bf16" {
        return Err(format!("ReverseSequence: ONNX does not list type {}", dtype.name));
    }
    Ok(())
}

fn sequence(
    operator: &str,
    input: &Tensor,
    lengths: &Tensor,
    time: i64,
    batch: i64,
) -> Result<Vec<usize>, String> {
    let (shape, rank) = (&input.shape, input.shape.len());
    if rank < 2 {
        return Err(format!("{operator}: the input has rank {rank}, expected 2 or more"));
    }
    let time = resolved(operator, "time_axis", time.into(), rank)?;
    let batch = resolved(operator, "batch_axis", batch.into(), rank)?;
    if time == batch {
        return Err(format!("{operator}: time_axis and batch_axis are both {time}"));
    }
    check_integers(operator, lengths)?;
    if lengths.shape != [shape[batch]] {
        let (got, expected) = (&lengths.shape, shape[batch]);
        return Err(format!("{operator}: lengths have shape {got:?}, expected [{expected}]"));
    }
    let mut checked = Vec::new();
    for (at, length) in lengths.to_integers().into_iter().enumerate() {
        if length < 0 || length > shape[time] as i128 {
            let limit = shape[time];
            return Err(format!("{operator}: lengths[{at}] = {length} is outside [0, {limit}]"));
        }
        checked.push(length as usize);
    }
    Ok(oracle::reverse_sequence(shape, time, batch, &checked))
}

fn subsequences(input: &Tensor, lengths: &Tensor, axis: i64) -> Result<Vec<usize>, String> {
    let operator = "ReverseSubsequences";
    let shape = &input.shape;
    let axis = resolved(operator, "axis", axis.into(), shape.len())?;
    check_integers(operator, lengths)?;
    let mut expected = shape.clone();
    expected[axis] = 1;
    if lengths.shape != expected {
        let got = &lengths.shape;
        return Err(format!("{operator}: lengths have shape {got:?}, expected {expected:?}"));
    }
    let mut clamped = Vec::new();
    for (at, length) in lengths.to_integers().into_iter().enumerate() {
        if length < 0 {
            return Err(format!("{operator}: lengths[{at}] = {length} is negative"));
        }
        clamped.push(length.min(shape[axis] as i128) as usize);
    }
    Ok(oracle::reverse_subsequences(shape, axis, &clamped))
}

fn segments(input: &Tensor, offsets: &Tensor, axis: i64) -> Result<Vec<usize>, String> {
    let operator = "ReverseSegments";
    let shape = &input.shape;
    let axis = resolved(operator, "axis", axis.into(), shape.len())?;
    check_integers(operator, offsets)?;
    if offsets.shape.len() != 1 {
        return Err(format!("{operator}: offsets have rank {}, expected 1", offsets.shape.len()));
    }
    let values: Vec<i64> =
        offsets.to_integers().iter().map(|&value| value.clamp(-1, 1 << 62) as i64).collect();
    if let Some(at) = oracle::first_bad_offset(&values, shape[axis]) {
        let (value, least) = (values[at], if at == 0 { 0 } else { values[at - 1] });
        let most = if at == 0 { 0 } else { shape[axis] };
        return Err(format!("{operator}: offsets[{at}] = {value} is outside [{least}, {most}]"));
    }
    let values: Vec<usize> = values.iter().map(|&value| value as usize).collect();
    Ok(oracle::reverse_segments(shape, axis, &values))
}

fn check_integers(operator: &str, values: &Tensor) -> Result<(), String> {
    match values.dtype.is_integer() {
        true => Ok(()),
        false => {
            let got = values.dtype.name;
            Err(format!("{operator}: lengths have type {got}, expected integers"))
        }
    }
}
