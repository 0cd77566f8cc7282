//! Arithmetic on the integers that exporters compute axes, indices and lengths from, and Where.

use super::super::known::Known;
use super::super::movement::{Workspace, dense};
use super::super::numbers;
use super::super::op::Function;
use super::super::operand::OperandError;
use super::super::view::{self, View};
use super::broadcast::common;
use super::join;
use crate::value::Value;
use bytes::Bytes;
use retrograde::DType;

const ALLOWED: &str = "integers (arithmetic is for indices only)";

/// The type of a result, if that of the operands is known.
fn result_type(function: Function, operand: DType) -> DType {
    match function {
        Function::Add | Function::Subtract | Function::Multiply => operand,
        _ => DType::Bool,
    }
}

fn check_types(one: Option<DType>, other: Option<DType>) -> Result<(), OperandError> {
    for (argument, dtype) in [("input 0", one), ("input 1", other)] {
        if let Some(dtype) = dtype.filter(|dtype| !dtype.is_integer()) {
            return Err(OperandError::Arithmetic { argument, dtype, allowed: ALLOWED });
        }
    }
    check_equal((0, one), (1, other))
}

/// Checks that two inputs have one type.
fn check_equal(
    (other, expected): (usize, Option<DType>),
    (position, dtype): (usize, Option<DType>),
) -> Result<(), OperandError> {
    match (expected, dtype) {
        (Some(expected), Some(dtype)) if expected != dtype => {
            Err(OperandError::OtherType { position, dtype, other, expected })
        }
        _ => Ok(()),
    }
}

/// The numbers of a view, repeated to this shape.
fn repeated(
    argument: &'static str,
    view: &View,
    shape: &[usize],
    workspace: &mut Workspace<'_>,
) -> Result<Vec<i128>, OperandError> {
    numbers::indices(argument, &dense(&view.repeated(shape), workspace)?)
}

pub(super) fn binary(
    function: Function,
    one: &View,
    other: &View,
    workspace: &mut Workspace<'_>,
) -> Result<View, OperandError> {
    check_types(Some(one.dtype()), Some(other.dtype()))?;
    let shape = common("input 1", one.shape(), other.shape())?;
    numbers::check_entries("the result", &shape)?;
    let left = repeated("input 0", one, &shape, workspace)?;
    let right = repeated("input 1", other, &shape, workspace)?;
    let computed = left.iter().zip(&right).map(|(one, other)| match function {
        // They have 64 bits at most, so that nothing overflows.
        Function::Add => one + other,
        Function::Subtract => one - other,
        Function::Multiply => one.wrapping_mul(*other),
        Function::Less => (one < other).into(),
        Function::LessOrEqual => (one <= other).into(),
        Function::Greater => (one > other).into(),
        Function::GreaterOrEqual => (one >= other).into(),
        Function::Equal => (one == other).into(),
    });
    let dtype = result_type(function, one.dtype());
    Ok(View::of(numbers::from_integers(computed, dtype, &shape)?))
}

pub(super) fn known_binary(
    function: Function,
    one: &Known,
    other: &Known,
) -> Result<Known, OperandError> {
    check_types(one.dtype, other.dtype)?;
    let dtype = one.dtype.or(other.dtype).map(|dtype| result_type(function, dtype));
    Ok(Known::new(dtype, known_common(one, other)?))
}

fn known_common(one: &Known, other: &Known) -> Result<Option<Vec<Option<usize>>>, OperandError> {
    let (Some(one), Some(other)) = (one.shape(), other.shape()) else { return Ok(None) };
    Ok(Some(common("input 1", &one, &other)?.into_iter().map(Some).collect()))
}

/// Elements of `yes` where the condition holds, of `no` elsewhere.
pub(super) fn select(
    condition: &View,
    yes: &View,
    no: &View,
    workspace: &mut Workspace<'_>,
) -> Result<View, OperandError> {
    check_select(Some(condition.dtype()), Some(yes.dtype()), Some(no.dtype()))?;
    let shape = common("input 2", yes.shape(), no.shape())?;
    let shape = common("the condition", &shape, condition.shape())?;
    numbers::check_entries("the result", &shape)?;
    let holds = View::of(dense(&condition.repeated(&shape), workspace)?);
    let both = join::in_one_text(&[yes.clone(), no.clone()], workspace)?;
    let [yes, no] = [&both[0], &both[1]].map(|view| dense(&view.repeated(&shape), workspace));
    let (yes, no) = (yes?, no?);
    // Of packed elements, each as a byte.
    let each = |value: &Value| {
        value.unpacked().map_or(View::of(value.clone()).bytes().clone(), Bytes::from)
    };
    let width = (View::of(yes.clone()).moving_type().bits().unwrap_or(8) / 8).max(1);
    let (yes_all, no_all) = (each(&yes), each(&no));
    let mut picked = Vec::with_capacity(yes_all.len());
    for (at, &holds) in holds.bytes().iter().enumerate() {
        let from = if holds != 0 { &yes_all } else { &no_all };
        picked.extend_from_slice(&from[at * width..(at + 1) * width]);
    }
    let value = match yes.dtype().is_packed() {
        true => Value::of_bytes(yes.dtype(), &shape, &picked)?,
        false => view::with_bytes(&yes, &shape, picked.into())?,
    };
    Ok(View::of(value))
}

fn check_select(
    condition: Option<DType>,
    yes: Option<DType>,
    no: Option<DType>,
) -> Result<(), OperandError> {
    if let Some(dtype) = condition.filter(|&dtype| dtype != DType::Bool) {
        let (argument, allowed) = ("the condition", "booleans");
        return Err(OperandError::Type { argument, dtype, allowed });
    }
    check_equal((1, yes), (2, no))
}

pub(super) fn known_select(
    condition: &Known,
    yes: &Known,
    no: &Known,
) -> Result<Known, OperandError> {
    check_select(condition.dtype, yes.dtype, no.dtype)?;
    Ok(Known::new(yes.dtype.or(no.dtype), None))
}

/// From `start` to before `end`.
pub(super) fn range(
    start: &Value,
    end: &Value,
    step: &Value,
    dtype: Option<DType>,
) -> Result<View, OperandError> {
    check_types(Some(start.dtype()), None)?;
    let one = |argument: &'static str, value: &Value| match &numbers::list(argument, value)?[..] {
        [number] => Ok(*number),
        list => {
            let (shape, expected) = (vec![list.len()], "one number");
            Err(OperandError::Shape { argument, shape, expected })
        }
    };
    let (from, to, by) = (one("start", start)?, one("limit", end)?, one("delta", step)?);
    if by == 0 {
        return Err(OperandError::ZeroStep { argument: "delta", position: 0 });
    }
    let distance = if by > 0 { to - from } else { from - to };
    let count = if distance <= 0 { 0 } else { (distance - 1) / by.abs() + 1 };
    let (count, limit) = (usize::try_from(count).unwrap_or(usize::MAX), numbers::MOST);
    if count > limit {
        return Err(OperandError::TooMany { argument: "the result", count, limit });
    }
    let all = (0..count as i128).map(|at| from + at * by);
    let dtype = dtype.unwrap_or(start.dtype());
    check_types(Some(dtype), None)?;
    Ok(View::of(numbers::from_integers(all, dtype, &[count])?))
}

pub(super) fn known_range(start: &Known, dtype: Option<DType>) -> Result<Known, OperandError> {
    check_types(start.dtype, None)?;
    Ok(Known::new(dtype.or(start.dtype), Some(vec![None])))
}
