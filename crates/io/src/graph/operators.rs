//! What the operators do: on values when the model runs, and on what is known about them before.
//!
//! Each operator is two functions in one of these modules. The second one (`known_..`) returns what
//! is known about the result, and the errors that are certain without the elements.

mod arithmetic;
mod axes;
mod broadcast;
mod elements;
mod join;
mod reverse;
mod slice;
mod strided;

pub(super) use axes::axis;
pub(super) use slice::{Lists as SliceLists, whole as whole_slice};

use super::known::Known;
use super::movement::{Workspace, check_size, dense};
use super::numbers;
use super::op::Op;
use super::operand::OperandError;
use super::view::View;
use crate::value::Value;
use retrograde::{DType, Layout};
use reverse::Sequence;

/// The most elements of a tensor of one repeated element.
const MOST_REPEATED: usize = 1 << 20;

/// The operands of a node while it runs.
struct Operands<'a, 'w> {
    views: &'a [Option<View>],
    workspace: &'a mut Workspace<'w>,
}

impl<'a> Operands<'a, '_> {
    fn view(&self, at: usize) -> Result<&'a View, OperandError> {
        // `Parts::check` has counted the operands.
        self.views.get(at).and_then(Option::as_ref).ok_or(OperandError::NoRoom { len: 0 })
    }

    fn value(&mut self, at: usize) -> Result<Value, OperandError> {
        dense(self.view(at)?, self.workspace)
    }

    fn list(&mut self, at: usize, argument: &'static str) -> Result<Vec<i128>, OperandError> {
        numbers::list(argument, &self.integers(at, argument)?)
    }

    /// Integers of any shape, which are counted before they are repeated.
    fn integers(&mut self, at: usize, argument: &'static str) -> Result<Value, OperandError> {
        numbers::check_entries(argument, self.view(at)?.shape())?;
        self.value(at)
    }

    /// A list that may be omitted.
    fn optional(
        &mut self,
        at: usize,
        argument: &'static str,
    ) -> Result<Option<Vec<i128>>, OperandError> {
        let there = self.views.get(at).is_some_and(Option::is_some);
        there.then(|| self.list(at, argument)).transpose()
    }
}

/// Refuses results with more axes than tensors in files may have.
fn check_rank(count: usize) -> Result<(), OperandError> {
    let (argument, limit) = ("the shape of the result", axes::MOST);
    if count > limit { Err(OperandError::TooMany { argument, count, limit }) } else { Ok(()) }
}

fn is_message(view: Option<&View>) -> bool {
    view.is_some_and(|view| view.value().is_message())
}

/// Refuses sequences and optional values, which only an Identity accepts.
fn check_tensors(op: &Op, mut messages: impl Iterator<Item = bool>) -> Result<(), OperandError> {
    match messages.position(|is| is).filter(|_| *op != Op::Identity) {
        Some(position) => Err(OperandError::NoTensor { position }),
        None => Ok(()),
    }
}

/// Runs an operator.
pub(super) fn run(
    op: &Op,
    operands: &[Option<View>],
    workspace: &mut Workspace<'_>,
) -> Result<View, OperandError> {
    check_tensors(op, operands.iter().map(|view| is_message(view.as_ref())))?;
    let view = computed(op, operands, workspace)?;
    check_rank(view.shape().len())?;
    Ok(view)
}

fn computed(
    op: &Op,
    operands: &[Option<View>],
    workspace: &mut Workspace<'_>,
) -> Result<View, OperandError> {
    let mut given = Operands { views: operands, workspace };
    let data = given.view(0)?;
    match op {
        Op::Identity => Ok(data.clone()),
        Op::Reverse(mode) => reverse::reverse(data, *mode, &given.value(1)?, given.workspace),
        &Op::Sequence { time, batch, opset } => {
            let sequence = Sequence { time, batch, opset };
            reverse::sequence(data, sequence, &given.value(1)?, given.workspace)
        }
        Op::Slice => {
            let lists = slice::Lists {
                starts: given.list(1, "starts")?,
                ends: given.list(2, "ends")?,
                axes: given.optional(3, "axes")?,
                steps: given.optional(4, "steps")?,
            };
            slice::slice(data, &lists)
        }
        Op::StridedSlice(masks) => {
            let lists = strided::Lists {
                begin: given.list(1, "begin")?,
                end: given.list(2, "end")?,
                strides: given.optional(3, "strides")?,
            };
            strided::slice(data, masks, &lists)
        }
        Op::Transpose(argument) => {
            let order = given.optional(1, argument)?.filter(|order| !order.is_empty());
            axes::transpose(data, argument, order.as_deref())
        }
        Op::Squeeze { skips } => axes::squeeze(data, given.optional(1, "axes")?.as_deref(), *skips),
        Op::Unsqueeze => axes::unsqueeze(data, &given.list(1, "axes")?),
        &Op::Shape { start, end, dtype } => {
            let sizes = part(data.shape(), start, end).iter().map(|&size| size as i64);
            Ok(View::of(numbers::from_list(sizes, dtype)))
        }
        Op::Gather => {
            let indices = given.integers(1, "indices")?;
            let axis = join::only(&given.list(2, "axis")?)?;
            let list = numbers::indices("indices", &indices)?;
            join::gather(data, &list, indices.shape(), axis, given.workspace)
        }
        Op::GatherNd => {
            let indices = given.integers(1, "indices")?;
            elements::gather_nd(data, &indices, given.workspace)
        }
        Op::Concat { axis } => {
            let tensors: Vec<View> = operands.iter().flatten().cloned().collect();
            join::concat(&tensors, *axis, given.workspace)
        }
        Op::Cast(to) => {
            let value = given.value(0)?;
            if to.bits() > value.dtype().bits() {
                check_size(Layout::dense(*to, value.shape())?.byte_len(), given.workspace)?;
            }
            Ok(View::of(numbers::cast(&value, *to)?))
        }
        Op::Fill(element) => filled(element, &given.list(0, "shape")?),
        Op::Expand { both } => broadcast::expand(data, &given.list(1, "shape")?, *both),
        Op::Reshape { zero_keeps, infers_zero } => {
            let shape = given.list(1, "shape")?;
            broadcast::reshape(data, &shape, (*zero_keeps, *infers_zero), given.workspace)
        }
        Op::Range(dtype) => {
            let [start, end, step] = [0, 1, 2].map(|at| given.value(at));
            arithmetic::range(&start?, &end?, &step?, *dtype)
        }
        Op::Arithmetic(function) => {
            arithmetic::binary(*function, data, given.view(1)?, given.workspace)
        }
        Op::Select => arithmetic::select(data, given.view(1)?, given.view(2)?, given.workspace),
        Op::GatherElements { axis } => {
            elements::gather(data, given.view(1)?, *axis, given.workspace)
        }
    }
}

/// What is known about the result of an operator.
pub(super) fn known(op: &Op, operands: &[Option<Known>]) -> Result<Known, OperandError> {
    let is_message = |known: &Option<Known>| known.as_ref().is_some_and(|known| known.is_message);
    check_tensors(op, operands.iter().map(is_message))?;
    let known = inferred(op, operands)?;
    check_rank(known.rank().unwrap_or(0))?;
    Ok(known)
}

fn inferred(op: &Op, operands: &[Option<Known>]) -> Result<Known, OperandError> {
    let none = Known::default();
    let optional = |at: usize| operands.get(at).and_then(Option::as_ref);
    let at = |at: usize| optional(at).unwrap_or(&none);
    let data = at(0);
    match op {
        Op::Identity => Ok(data.clone()),
        Op::Reverse(mode) => reverse::known_reverse(data, *mode, at(1)),
        &Op::Sequence { time, batch, opset } => {
            reverse::known_sequence(data, Sequence { time, batch, opset }, at(1))
        }
        Op::Slice => slice::known_slice(data, [optional(1), optional(2), optional(3), optional(4)]),
        Op::StridedSlice(masks) => {
            strided::known_slice(data, masks, [optional(1), optional(2), optional(3)])
        }
        Op::Transpose(argument) => axes::known_transpose(data, argument, optional(1)),
        Op::Squeeze { skips } => axes::known_squeeze(data, optional(1), *skips),
        Op::Unsqueeze => axes::known_unsqueeze(data, at(1)),
        &Op::Shape { start, end, dtype } => Ok(known_shape(data, start, end, dtype)),
        Op::Gather => join::known_gather(data, at(1), at(2)),
        Op::GatherNd => elements::known_gather_nd(data, at(1)),
        Op::Concat { axis } => {
            join::known_concat(&operands.iter().flatten().collect::<Vec<_>>(), *axis)
        }
        Op::Cast(to) => {
            if let Some(from) = data.dtype {
                numbers::check_cast(from, *to)?;
            }
            Ok(Known::new(Some(*to), data.dims.clone()))
        }
        Op::Fill(element) => {
            let dims = data.list("shape")?.map(|shape| axes::sizes(&shape)).transpose()?;
            let dims = dims.map(|dims| dims.into_iter().map(Some).collect());
            Ok(Known::new(Some(element.dtype()), dims))
        }
        Op::Expand { both } => broadcast::known_expand(data, at(1), *both),
        Op::Reshape { zero_keeps, infers_zero } => {
            broadcast::known_reshape(data, at(1), (*zero_keeps, *infers_zero))
        }
        Op::Range(dtype) => arithmetic::known_range(data, *dtype),
        Op::Arithmetic(function) => arithmetic::known_binary(*function, data, at(1)),
        Op::Select => arithmetic::known_select(data, at(1), at(2)),
        Op::GatherElements { axis } => elements::known_gather(data, at(1), *axis),
    }
}

fn known_shape(data: &Known, start: i64, end: Option<i64>, dtype: DType) -> Known {
    let Some(dims) = &data.dims else { return Known::new(Some(dtype), Some(vec![None])) };
    let sizes = part(dims, start, end);
    let whole: Option<Vec<i64>> = sizes.iter().map(|size| size.map(|size| size as i64)).collect();
    match whole {
        Some(sizes) => Known::of_value(&numbers::from_list(sizes.into_iter(), dtype)),
        None => Known::new(Some(dtype), Some(vec![Some(sizes.len())])),
    }
}

/// The entries from `start` to `end`, both of which may count from the end.
fn part<T>(list: &[T], start: i64, end: Option<i64>) -> &[T] {
    let len = list.len() as i64;
    let inside = |at: i64| if at < 0 { at.saturating_add(len) } else { at }.clamp(0, len) as usize;
    let (start, end) = (inside(start), inside(end.unwrap_or(len)));
    &list[start.min(end)..end]
}

fn filled(element: &Value, shape: &[i128]) -> Result<View, OperandError> {
    let shape = axes::sizes(shape)?;
    let (count, limit) = (Layout::dense(DType::U8, &shape)?.len(), MOST_REPEATED);
    if count > limit {
        return Err(OperandError::TooMany { argument: "the result", count, limit });
    }
    Ok(View::of(element.clone()).repeated(&shape))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_of_a_shape_stays_inside() {
        let list = [2, 3, 4];
        assert_eq!(part(&list, 0, None), list);
        assert_eq!(part(&list, -1, None), [4]);
        assert_eq!(part(&list, -9, Some(9)), list);
        assert!(part(&list, 2, Some(1)).is_empty());
        assert_eq!(part(&list, i64::MIN, Some(i64::MAX)), list);
    }

    #[test]
    fn repeated_elements_are_counted_first() {
        let byte = Value::new(DType::U8, &[], vec![7]).unwrap();
        let view = filled(&byte, &[2, 3]).unwrap();
        assert_eq!((view.shape(), view.strides()), (&[2, 3][..], &[0, 0][..]));
        let wrong = |shape: &[i128]| filled(&byte, shape).unwrap_err().to_string();
        assert_eq!(wrong(&[3, -1]), format!("shape[1] is -1, outside [0, {}]", isize::MAX));
        assert_eq!(
            wrong(&[1 << 40]),
            "the result has 1099511627776 entries, more than the 1048576 that are accepted"
        );
        assert!(wrong(&[1 << 40, 1 << 40]).contains("needs more than"));
    }
}
