//! The operators as Python calls them.

use crate::cuda;
use crate::errors::raised;
use crate::kept::Tensors;
use crate::ndarray;
use crate::operand::{self, Operand};
use crate::operation::{Asked, Operation, Visitor};
use crate::threads;
use crate::view::{Place, View};
use numpy::PyUntypedArray;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use retrograde::{Reversal, Reverse};

/// `retrograde.reverse`, on an array or a tensor.
#[pyfunction]
#[pyo3(signature = (x, axes=None, mask=None, duplicates="set", out=None, fresh=false, /))]
pub(crate) fn reverse<'py>(
    x: &Bound<'py, PyAny>,
    axes: Option<&Bound<'py, PyAny>>,
    mask: Option<&Bound<'py, PyAny>>,
    duplicates: &str,
    out: Option<&Bound<'py, PyAny>>,
    fresh: bool,
) -> PyResult<Bound<'py, PyAny>> {
    start(x, &Asked::reverse(axes, mask, duplicates)?, None, out, fresh)
}

/// `retrograde.reverse_sequence`, on an array or a tensor.
#[pyfunction]
#[pyo3(signature = (x, lengths, time_axis, batch_axis, policy, align, tail, out=None, fresh=false, /))]
#[expect(clippy::too_many_arguments, reason = "called from Python, by position")]
pub(crate) fn reverse_sequence<'py>(
    x: &Bound<'py, PyAny>,
    lengths: &Bound<'py, PyAny>,
    time_axis: &Bound<'py, PyAny>,
    batch_axis: &Bound<'py, PyAny>,
    policy: &str,
    align: &str,
    tail: &str,
    out: Option<&Bound<'py, PyAny>>,
    fresh: bool,
) -> PyResult<Bound<'py, PyAny>> {
    start(
        x,
        &Asked::sequence(time_axis, batch_axis, policy, align, tail)?,
        Some(lengths),
        out,
        fresh,
    )
}

/// `retrograde.reverse_subsequences`, on an array or a tensor.
#[pyfunction]
#[pyo3(signature = (x, lengths, axis, policy, align, tail, out=None, fresh=false, /))]
#[expect(clippy::too_many_arguments, reason = "called from Python, by position")]
pub(crate) fn reverse_subsequences<'py>(
    x: &Bound<'py, PyAny>,
    lengths: &Bound<'py, PyAny>,
    axis: &Bound<'py, PyAny>,
    policy: &str,
    align: &str,
    tail: &str,
    out: Option<&Bound<'py, PyAny>>,
    fresh: bool,
) -> PyResult<Bound<'py, PyAny>> {
    start(x, &Asked::subsequences(axis, policy, align, tail)?, Some(lengths), out, fresh)
}

/// `retrograde.reverse_segments`, on an array or a tensor.
#[pyfunction]
#[pyo3(signature = (x, offsets, axis, out=None, fresh=false, /))]
pub(crate) fn reverse_segments<'py>(
    x: &Bound<'py, PyAny>,
    offsets: &Bound<'py, PyAny>,
    axis: &Bound<'py, PyAny>,
    out: Option<&Bound<'py, PyAny>>,
    fresh: bool,
) -> PyResult<Bound<'py, PyAny>> {
    start(x, &Asked::segments(axis)?, Some(offsets), out, fresh)
}

/// `retrograde.flip` and `rot90`, on an array or a tensor: swaps two axes if they are given, then
/// reverses axes of the result, into a new row-major output. All in one pass: the input is read
/// through a view with swapped strides.
#[pyfunction]
#[pyo3(signature = (x, axes, swapped=None, /))]
pub(crate) fn flip<'py>(
    x: &Bound<'py, PyAny>,
    axes: Vec<i64>,
    swapped: Option<(usize, usize)>,
) -> PyResult<Bound<'py, PyAny>> {
    let (py, input) = (x.py(), Operand::of(x)?);
    let mut from = input.view();
    if let Some((first, second)) = swapped {
        let rank = from.shape.len();
        if first.max(second) >= rank {
            return Err(PyValueError::new_err(format!("axes {first}, {second} of rank {rank}")));
        }
        from.shape.swap(first, second);
        from.strides.swap(first, second);
    }
    let (operator, work) = (Reverse::axes(axes), from.bytes());
    if let Operand::Array(array) = &input
        && ndarray::holds_references(array)
    {
        let view = match swapped {
            Some(axes) => array.call_method1("swapaxes", axes)?,
            None => array.clone().into_any(),
        };
        let out = view.call_method1("copy", ("C",))?.cast_into()?;
        in_place(&operator, &out, work)?;
        return Ok(out.into_any());
    }
    if let Place::Cuda(device) = from.place {
        return cuda::flip(x, device, &operator, &input, &from);
    }
    let (out, to) = operand::empty_in_rows(&input, &from, py)?;
    Move { py, input: &input, out: None, work }.go(&operator, &from, &to)?;
    Ok(out)
}

/// An uninitialised output like this tensor, in its memory order or row-major.
#[pyfunction]
#[pyo3(signature = (x, in_rows=false, /))]
pub(crate) fn empty_like<'py>(x: &Bound<'py, PyAny>, in_rows: bool) -> PyResult<Bound<'py, PyAny>> {
    let input = Operand::of(x)?;
    let empty = if in_rows { operand::empty_in_rows } else { operand::empty_like };
    Ok(empty(&input, &input.view(), x.py())?.0)
}

/// Runs a cached plan if a similar call was made before, otherwise the full path. `fresh`: the given
/// output is uninitialised.
fn start<'py>(
    x: &Bound<'py, PyAny>,
    asked: &Asked,
    lengths: Option<&Bound<'py, PyAny>>,
    out: Option<&Bound<'py, PyAny>>,
    fresh: bool,
) -> PyResult<Bound<'py, PyAny>> {
    if let Some(tensors) = Tensors::of(x, asked, lengths) {
        let new = match (out, x.cast::<PyUntypedArray>()) {
            (None, Ok(array)) => Some(ndarray::like(array, tensors.bytes())?.into_any()),
            _ => None,
        };
        if let Some(out) = out.or(new.as_ref())
            && tensors.into_new(fresh).run(asked, out)?.is_some()
        {
            return Ok(out.clone());
        }
    }
    run_checked(x, asked, lengths, out, fresh)
}

/// The full path, with all checks.
pub(crate) fn run_checked<'py>(
    x: &Bound<'py, PyAny>,
    asked: &Asked,
    lengths: Option<&Bound<'py, PyAny>>,
    out: Option<&Bound<'py, PyAny>>,
    fresh: bool,
) -> PyResult<Bound<'py, PyAny>> {
    let input = Operand::of(x)?;
    asked.check_elements(&input)?;
    let operation = asked.operation(lengths, &input.view().shape)?;
    if let Place::Cuda(device) = input.view().place {
        return cuda::run(x, device, &operation, &input, lengths, out, fresh);
    }
    run(x, &operation, &input, out)
}

/// On the CPU.
fn run<'py>(
    x: &Bound<'py, PyAny>,
    operation: &Operation,
    input: &Operand<'py>,
    out: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    let view = input.view();
    let work = operation.work_on(&view);
    if let Operand::Array(array) = input
        && ndarray::holds_references(array)
    {
        return operation.visit(Swap { array, out, work });
    }
    operation.visit(Move { py: x.py(), input, out, work })
}

/// Moves elements from the input to an output.
struct Move<'a, 'py> {
    py: Python<'py>,
    input: &'a Operand<'py>,
    out: Option<&'a Bound<'py, PyAny>>,
    work: usize,
}

impl<'py> Visitor for Move<'_, 'py> {
    type Output = Bound<'py, PyAny>;

    fn visit(self, operator: &(impl Reversal + Sync)) -> PyResult<Self::Output> {
        let from = self.input.view();
        let Some(out) = self.out else {
            let (out, to) = operand::empty_like(self.input, &from, self.py)?;
            self.go(operator, &from, &to)?;
            return Ok(out);
        };
        let output = Operand::output(operator.operator(), out)?;
        output.check_output(operator.operator(), self.input)?;
        self.go(operator, &from, &output.view())?;
        Ok(out.clone())
    }
}

impl Move<'_, '_> {
    fn go(&self, operator: &(impl Reversal + Sync), from: &View, to: &View) -> PyResult<()> {
        let name = operator.operator();
        // SAFETY: the operands are borrowed for the whole call. As with any NumPy function, the
        // caller is responsible for other Python threads that modify them at the same time.
        let (source, mut target) = unsafe { (from.tensor(name)?, to.tensor_mut(name)?) };
        let mut go = || operator.run(&source, &mut target);
        let work = self.work;
        let done = if work < threads::DETACH_FROM {
            go()
        } else {
            self.py.detach(|| threads::run(work, go))?
        };
        done.map_err(raised)
    }
}

/// Reverses an array of references: NumPy copies them, and then they are permuted in place.
struct Swap<'a, 'py> {
    array: &'a Bound<'py, PyUntypedArray>,
    out: Option<&'a Bound<'py, PyAny>>,
    work: usize,
}

impl<'py> Visitor for Swap<'_, 'py> {
    type Output = Bound<'py, PyAny>;

    fn visit(self, operator: &(impl Reversal + Sync)) -> PyResult<Self::Output> {
        let Some(out) = self.out else {
            let out = ndarray::copied(self.array)?;
            in_place(operator, &out, self.work)?;
            return Ok(out.into_any());
        };
        let name = operator.operator();
        let (input, output) = (Operand::Array(self.array.clone()), Operand::output(name, out)?);
        output.check_output(name, &input)?;
        let Operand::Array(target) = &output else { unreachable!("checked above") };
        let (from, to) = (input.view(), output.view());
        let same = from.origin == to.origin && from.strides == to.strides;
        if !same {
            check(operator, &from, &to, self.work)?;
            let numpy = out.py().import("numpy")?;
            if numpy.call_method1("may_share_memory", (self.array, target))?.is_truthy()? {
                return Err(PyValueError::new_err(format!(
                    "{name}: input and output overlap without being the same view"
                )));
            }
            ndarray::assign(self.array, target)?;
        }
        in_place(operator, target, self.work)?;
        Ok(out.clone())
    }
}

/// Holds the GIL: another thread that read the array meanwhile would see a reference twice.
fn in_place(
    operator: &(impl Reversal + Sync),
    array: &Bound<'_, PyUntypedArray>,
    work: usize,
) -> PyResult<()> {
    // SAFETY: the array is borrowed for the call. In place, a plan only swaps whole elements, so
    // every reference still exists exactly once.
    let mut target = unsafe { ndarray::view(array).tensor_mut(operator.operator())? };
    threads::run(work, || operator.run_in_place(&mut target))?.map_err(raised)
}

/// Performs all checks before anything is written.
fn check(operator: &(impl Reversal + Sync), from: &View, to: &View, work: usize) -> PyResult<()> {
    let name = operator.operator();
    // SAFETY: only the layouts of the tensors are used.
    let (from, to) = unsafe { (from.tensor(name)?, to.tensor(name)?) };
    let prepared = operator.prepare(from.layout(), to.layout()).map_err(raised)?;
    threads::run(work, || prepared.check().map(|_| ()))?.map_err(raised)
}
