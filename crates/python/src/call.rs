//! The operators as Python calls them, in three steps on every path:
//!
//! 1. Convert every argument. Any of them may run Python code (`__array__`, `__dlpack__`, `__index__`,
//!    `__array_finalize__` of a new output, ..), which may resize or free any tensor of the call.
//! 2. Describe tensors and lengths: where their elements are now.
//! 3. Run. No Python code runs, and no Python object is made or freed, between 2 and 3.

use crate::cuda;
use crate::errors::raised;
use crate::hint;
use crate::kept;
use crate::lengths::Lengths;
use crate::ndarray;
use crate::operand::{self, Operand, on_host};
use crate::operation::{self, Asked, Visitor};
use crate::threads;
use crate::view::{Place, View};
use numpy::ndarray::ArrayViewD;
use numpy::npyffi::NPY_ORDER;
use numpy::{PyReadonlyArrayDyn, PyUntypedArray};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyTuple};
use retrograde::{DType, Layout, Reversal, Reverse, Table};

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
    let (asked, offsets) = Asked::segments(axis, offsets)?;
    start(x, &asked, Some(&offsets), out, fresh)
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
    turned(x, &Asked::Reverse(Reverse::axes(axes), swapped))
}

/// A reversal after a swap of axes, into a new row-major output.
pub(crate) fn turned<'py>(x: &Bound<'py, PyAny>, asked: &Asked) -> PyResult<Bound<'py, PyAny>> {
    let call = kept::Call { x, asked, counts: None, lengths: None, fresh: true };
    if call.bytes().is_some()
        && let Ok(array) = x.cast::<PyUntypedArray>()
    {
        let rows = asked.turned(ndarray::view(array))?.in_rows();
        let out = ndarray::empty_in_rows(array, &rows)?.into_any();
        if call.run(&out)?.is_some() {
            return Ok(out);
        }
    }
    let Asked::Reverse(operator, swapped) = asked else { unreachable!("as callers make it") };
    let (py, mut input) = (x.py(), Operand::of(x)?);
    let from = asked.turned(input.view())?;
    if let Operand::Array(array) = &input
        && ndarray::holds_references(array)
    {
        let view = match swapped {
            Some(axes) => ndarray::swapped(array, *axes)?,
            None => array.clone(),
        };
        let out = ndarray::copied(&view, NPY_ORDER::NPY_CORDER)?;
        InPlace { array: &out, work: from.bytes() }.visit(operator)?;
        return Ok(out.into_any());
    }
    if let Place::Cuda(device) = from.place {
        return cuda::flip(x, device, operator, input, |view| asked.turned(view));
    }
    let (out, mut output) = operand::empty_in_rows(&input, &from, py)?;
    input.describe(py)?;
    output.describe(py)?;
    let (from, to) = (asked.turned(input.view())?, output.view());
    let work = from.bytes();
    Move { py, from, to, work, table: None }.visit(operator)?;
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
    let counts = asked.convert(lengths)?;
    let call = kept::Call { x, asked, counts: counts.as_ref(), lengths, fresh };
    if let Some(bytes) = call.bytes() {
        let new = match (out, x.cast::<PyUntypedArray>()) {
            (None, Ok(array)) => Some(ndarray::like(array, bytes)?.into_any()),
            _ => None,
        };
        if let Some(out) = out.or(new.as_ref())
            && call.run(out)?.is_some()
        {
            return Ok(out.clone());
        }
    }
    run_checked(x, asked, counts, lengths, out, fresh)
}

/// The full path, with all checks. Lengths are converted already; on a device, their object tells
/// their stream.
pub(crate) fn run_checked<'py>(
    x: &Bound<'py, PyAny>,
    asked: &Asked,
    counts: Option<Lengths>,
    lengths: Option<&Bound<'py, PyAny>>,
    out: Option<&Bound<'py, PyAny>>,
    fresh: bool,
) -> PyResult<Bound<'py, PyAny>> {
    let input = Operand::of(x)?;
    asked.check_elements(&input)?;
    let output = given(out, asked)?;
    if let Operand::Array(array) = &input
        && ndarray::holds_references(array)
    {
        return swap(array, asked, counts, output);
    }
    run_there(x, asked, input, counts, lengths, output, fresh, None)
}

/// The same where the tensor is, of elements that are no references, and with a table.
#[expect(clippy::too_many_arguments, reason = "a call, and what was converted of it")]
fn run_there<'py>(
    x: &Bound<'py, PyAny>,
    asked: &Asked,
    input: Operand<'py>,
    counts: Option<Lengths>,
    lengths: Option<&Bound<'py, PyAny>>,
    output: Option<(&Bound<'py, PyAny>, Operand<'py>)>,
    fresh: bool,
    table: Option<&Table>,
) -> PyResult<Bound<'py, PyAny>> {
    match input.view().place {
        Place::Cuda(device) => {
            cuda::run(x, device, asked, input, counts, lengths, output, fresh, table)
        }
        Place::Host => run_on_host(input, asked, counts, output, table, x.py()),
    }
}

/// The output that a caller gave.
fn given<'a, 'py>(
    out: Option<&'a Bound<'py, PyAny>>,
    asked: &Asked,
) -> PyResult<Option<(&'a Bound<'py, PyAny>, Operand<'py>)>> {
    out.map(|out| Ok((out, Operand::output(asked.operator(), out)?))).transpose()
}

/// The same of tensors in host memory.
fn run_on_host<'py>(
    mut input: Operand<'py>,
    asked: &Asked,
    mut counts: Option<Lengths>,
    output: Option<(&Bound<'py, PyAny>, Operand<'py>)>,
    table: Option<&Table>,
    py: Python<'py>,
) -> PyResult<Bound<'py, PyAny>> {
    // Convert.
    let (out, mut output) = match output {
        Some((out, given)) => {
            given.check_output(asked.operator(), &input)?;
            (out.clone(), given)
        }
        None => operand::empty_like(&input, &input.view(), py)?,
    };
    // Describe.
    input.describe(py)?;
    output.describe(py)?;
    counts.as_mut().map_or(Ok(()), |counts| counts.describe(py))?;
    let (from, to) = (input.view(), output.view());
    // Run.
    let operation = asked.operation(counts.as_ref(), &from.shape)?;
    let work = operation.work_on(&from);
    operation.visit(Move { py, from, to, work, table })?;
    Ok(out)
}

/// Moves elements between two tensors that were described just now, and are borrowed.
struct Move<'a, 'py> {
    py: Python<'py>,
    from: View,
    to: View,
    work: usize,
    table: Option<&'a Table>,
}

impl Visitor for Move<'_, '_> {
    type Output = ();

    fn visit<'r>(self, operator: &(impl Reversal<'r> + Sync)) -> PyResult<()> {
        let name = operator.operator();
        on_host("x", &self.from)?;
        on_host("out", &self.to)?;
        // SAFETY: the operands are borrowed for the whole call, and no Python code of this thread ran
        // since they were described. As with any NumPy function, the caller is responsible for other
        // threads that modify them at the same time.
        let (source, mut target) = unsafe { (self.from.tensor(name)?, self.to.tensor_mut(name)?) };
        let mut go = || {
            let (from, to) = (source.layout(), target.layout());
            let prepared = operation::prepare(operator, self.table, from, to)?;
            hint::of(prepared).run(source.memory(), target.memory())
        };
        let work = self.work;
        let done = if work < threads::DETACH_FROM {
            go()
        } else {
            self.py.detach(|| threads::run(work, go))
        };
        done.map_err(raised)
    }
}

/// Reverses an array of references: NumPy copies them, and then they are permuted in place.
///
/// To copy them may run Python code: that of a derived class, and of objects that are replaced. So
/// lengths are described for each step.
fn swap<'py>(
    array: &Bound<'py, PyUntypedArray>,
    asked: &Asked,
    mut lengths: Option<Lengths>,
    output: Option<(&Bound<'py, PyAny>, Operand<'py>)>,
) -> PyResult<Bound<'py, PyAny>> {
    let (py, name) = (array.py(), asked.operator());
    let (out, target) = match output {
        None => {
            let copy = ndarray::copied(array, NPY_ORDER::NPY_KEEPORDER)?;
            (copy.clone().into_any(), copy)
        }
        Some((out, output)) => {
            let input = Operand::Array(array.clone());
            output.check_output(name, &input)?;
            let Operand::Array(target) = output else { unreachable!("checked above") };
            let (from, to) = (ndarray::view(array), ndarray::view(&target));
            if from.origin != to.origin || from.strides != to.strides || from.shape != to.shape {
                lengths.as_mut().map_or(Ok(()), |lengths| lengths.describe(py))?;
                let operation = asked.operation(lengths.as_ref(), &from.shape)?;
                operation.visit(Check { from: &from, to: &to, work: operation.work_on(&from) })?;
                let numpy = py.import("numpy")?;
                if numpy.call_method1("may_share_memory", (array, &target))?.is_truthy()? {
                    return Err(PyValueError::new_err(format!(
                        "{name}: input and output overlap without being the same view"
                    )));
                }
                ndarray::assign(array, &target)?;
            }
            (out.clone(), target)
        }
    };
    lengths.as_mut().map_or(Ok(()), |lengths| lengths.describe(py))?;
    let view = ndarray::view(&target);
    let operation = asked.operation(lengths.as_ref(), &view.shape)?;
    operation.visit(InPlace { array: &target, work: operation.work_on(&view) })?;
    Ok(out)
}

/// Permutes an array in place, with the GIL, if there is one: another thread that read references
/// meanwhile would see one twice.
struct InPlace<'a, 'py> {
    array: &'a Bound<'py, PyUntypedArray>,
    work: usize,
}

impl Visitor for InPlace<'_, '_> {
    type Output = ();

    fn visit<'r>(self, operator: &(impl Reversal<'r> + Sync)) -> PyResult<()> {
        // SAFETY: the array is borrowed for the call. In place, a plan only swaps whole elements, so
        // every reference still exists exactly once.
        let mut target = unsafe { ndarray::view(self.array).tensor_mut(operator.operator())? };
        threads::run(self.work, || operator.in_place_view(&mut target)).map_err(raised)
    }
}

/// One of the operators, with a table that elements are looked up in while they are reversed. Its arguments
/// come last, without the output. `fresh`: the given output is uninitialised.
#[pyfunction]
#[pyo3(signature = (operator, x, table, out, fresh, /, *arguments))]
pub(crate) fn look_up<'py>(
    operator: &str,
    x: &Bound<'py, PyAny>,
    table: &[u8],
    out: Option<&Bound<'py, PyAny>>,
    fresh: bool,
    arguments: &Bound<'py, PyTuple>,
) -> PyResult<Bound<'py, PyAny>> {
    let table = Table::new(table).map_err(raised)?;
    let (asked, lengths) = Asked::named(operator, arguments)?;
    let counts = asked.convert(lengths.as_ref())?;
    let (input, output) = (Operand::of(x)?, given(out, &asked)?);
    run_there(x, &asked, input, counts, lengths.as_ref(), output, fresh, Some(&table))
}

/// Refuses the first byte that an operator would reverse and that is no letter of nucleic acids.
#[pyfunction]
#[pyo3(signature = (operator, x, /, *arguments))]
pub(crate) fn check_letters(
    operator: &str,
    x: PyReadonlyArrayDyn<'_, u8>,
    arguments: &Bound<'_, PyTuple>,
) -> PyResult<()> {
    let (asked, lengths) = Asked::named(operator, arguments)?;
    let mut counts = asked.convert(lengths.as_ref())?;
    // Nothing runs Python code from here on.
    counts.as_mut().map_or(Ok(()), |counts| counts.describe(x.py()))?;
    let letters = x.as_array();
    asked.operation(counts.as_ref(), letters.shape())?.visit(Letters(letters))
}

struct Letters<'a>(ArrayViewD<'a, u8>);

impl Visitor for Letters<'_> {
    type Output = ();

    fn visit<'r>(self, operator: &(impl Reversal<'r> + Sync)) -> PyResult<()> {
        let letters = self.0.as_standard_layout();
        let argument = "letters that were made contiguous are a slice";
        let bytes = letters.as_slice().expect(argument);
        let layout = Layout::dense(DType::U8, letters.shape())
            .map_err(|error| PyValueError::new_err(format!("reverse_complement: x: {error}")))?;
        let call = operator.table(&Table::dna()).prepare(&layout, &layout).map_err(raised)?;
        let look = || call.stray(&layout, bytes);
        match threads::run(bytes.len(), look).map_err(raised)? {
            Some(stray) => Err(PyValueError::new_err(format!("reverse_complement: x{stray}"))),
            None => Ok(()),
        }
    }
}

/// The complements of nucleic acids, as a table.
#[pyfunction]
#[pyo3(signature = (rna, /))]
pub(crate) fn complements(py: Python<'_>, rna: bool) -> Bound<'_, PyBytes> {
    let table = if rna { Table::rna() } else { Table::dna() };
    PyBytes::new(py, table.byte_entries())
}

/// Performs all checks before anything is written.
struct Check<'a> {
    from: &'a View,
    to: &'a View,
    work: usize,
}

impl Visitor for Check<'_> {
    type Output = ();

    fn visit<'r>(self, operator: &(impl Reversal<'r> + Sync)) -> PyResult<()> {
        let name = operator.operator();
        // SAFETY: only the layouts of the tensors are used.
        let (from, to) = unsafe { (self.from.tensor(name)?, self.to.tensor(name)?) };
        let prepared = operator.prepare(from.layout(), to.layout()).map_err(raised)?;
        threads::run(self.work, || prepared.check().map(|_| ())).map_err(raised)
    }
}
