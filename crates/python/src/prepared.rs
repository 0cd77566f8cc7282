//! Prepared calls on NumPy arrays: checked and planned once, for arrays of the same type, shape
//! and strides. Arrays of references, and tensors of other libraries, are prepared in Python.

use crate::errors::raised;
use crate::hint;
use crate::kept::{self, Known};
use crate::lengths::Lengths;
use crate::ndarray;
use crate::operand::{self, Operand};
use crate::operation::{Asked, Operation, Visitor};
use crate::threads;
use crate::view::{Shape, Strides, View};
use numpy::{PyArrayDescr, PyArrayDescrMethods, PyUntypedArray, PyUntypedArrayMethods};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use retrograde::cpu::Program;
use retrograde::{Layout, LengthsMemory, Reversal};

/// A call that was checked and planned for a NumPy array and a new output.
#[pyclass(frozen, module = "retrograde._engine")]
pub(crate) struct Prepared {
    asked: Asked,
    /// A copy, which nobody else can change.
    lengths: Option<Lengths>,
    dtype: Py<PyArrayDescr>,
    shape: Shape,
    strides: Strides,
    planned: Planned,
    /// The plan with what it is for as NumPy describes it in C: such calls need no other checks. None where
    /// that is not enough, and for large arrays.
    known: Option<Known>,
}

/// The plan, and the layouts of the output and the lengths that it is for.
struct Planned {
    program: Program,
    output: Strides,
    lengths: Option<Layout>,
}

/// Prepares the call of an operator; arguments are those of the operator after the array. None if the
/// array holds references, which are moved in another way.
#[pyfunction]
#[pyo3(signature = (operator, x, /, *arguments))]
pub(crate) fn prepare(
    operator: &str,
    x: &Bound<'_, PyUntypedArray>,
    arguments: &Bound<'_, PyTuple>,
) -> PyResult<Option<Prepared>> {
    let (asked, lengths) = Asked::named(operator, arguments)?;
    let lengths = asked.convert(lengths.as_ref())?.map(Lengths::kept).transpose()?;
    asked.check_elements(&Operand::Array(x.clone()))?;
    if ndarray::holds_references(x) {
        return Ok(None);
    }
    let view = ndarray::view(x);
    let operation = asked.operation(lengths.as_ref(), &view.shape)?;
    let planned = operation.visit(MakePlan { view: &view, operation: &operation })?;
    let (shape, strides) = (view.shape, view.strides);
    let call = kept::Call {
        x: x.as_any(),
        asked: &asked,
        counts: lengths.as_ref(),
        lengths: None,
        fresh: false,
    };
    let known = match call.bytes().filter(|&bytes| bytes < threads::DETACH_FROM) {
        Some(bytes) => call.known(ndarray::like(x, bytes)?.as_any()),
        None => None,
    };
    let dtype = x.dtype().unbind();
    Ok(Some(Prepared { asked, lengths, dtype, shape, strides, planned, known }))
}

impl Prepared {
    /// Runs the plan that is known, if it is for these arrays and the lengths are valid.
    fn run_known<'py>(
        &self,
        call: &kept::Call<'_, 'py>,
        x: &Bound<'py, PyUntypedArray>,
        out: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        let (Some(known), Some(bytes)) = (&self.known, call.bytes()) else { return Ok(None) };
        let (now, dtype) = (x.dtype(), self.dtype.bind(x.py()));
        if !now.is(dtype) && !now.is_equiv_to(dtype) {
            return Ok(None);
        }
        let out = match out {
            Some(out) => out.clone(),
            None => ndarray::like(x, bytes)?.into_any(),
        };
        Ok(call.run_with(known, &out)?.then_some(out))
    }

    /// Whether an array is like the one that the call was prepared for.
    fn check(&self, x: &Bound<'_, PyUntypedArray>, view: &View) -> PyResult<()> {
        let dtype = self.dtype.bind(x.py());
        if view.shape == self.shape && view.strides == self.strides && x.dtype().is_equiv_to(dtype)
        {
            return Ok(());
        }
        Err(PyValueError::new_err(format!(
            "x has type {}, shape {:?} and strides {:?}; the call was prepared for type {dtype}, \
             shape {:?} and strides {:?}",
            x.dtype(),
            view.shape,
            view.strides,
            self.shape,
            self.strides
        )))
    }
}

#[pymethods]
impl Prepared {
    /// Runs the call on another array, with other lengths if they are given.
    #[pyo3(signature = (x, lengths=None, out=None, /))]
    fn run<'py>(
        &self,
        x: &Bound<'py, PyUntypedArray>,
        lengths: Option<&Bound<'py, PyAny>>,
        out: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        // Convert.
        let (py, input) = (x.py(), Operand::Array(x.clone()));
        let mut given = match lengths {
            Some(lengths) => self.asked.convert(Some(&self.asked.unmarked(lengths)?))?,
            None => None,
        };
        let counts = given.as_ref().or(self.lengths.as_ref());
        let (asked, any) = (&self.asked, x.as_any());
        let call = kept::Call { x: any, asked, counts, lengths: None, fresh: false };
        if let Some(done) = self.run_known(&call, x, out)? {
            return Ok(done);
        }
        let name = self.asked.operator();
        let given_out = out.map(|out| Operand::output(name, out)).transpose()?;
        let (out, output) = match out.zip(given_out) {
            Some((out, output)) => (out.clone(), output),
            None => {
                // Before an output is made for it.
                self.check(x, &ndarray::view(x))?;
                operand::empty_like(&input, &ndarray::view(x), py)?
            }
        };
        // Describe.
        given.as_mut().map_or(Ok(()), |lengths| lengths.describe(py))?;
        let (from, to) = (ndarray::view(x), output.view());
        self.check(x, &from)?;
        output.check_output(name, &input)?;
        // Run.
        let lengths = given.as_ref().or(self.lengths.as_ref());
        let operation = &self.asked.operation(lengths, &from.shape)?;
        operation.visit(Run { py, planned: &self.planned, operation, from, to })?;
        Ok(out)
    }

    /// The plan as text.
    #[getter]
    fn plan(&self) -> String {
        self.planned.program.plan().to_string()
    }
}

/// Plans the call for a new output.
struct MakePlan<'a> {
    view: &'a View,
    operation: &'a Operation<'a>,
}

impl Visitor for MakePlan<'_> {
    type Output = Planned;

    fn visit<'r>(self, operator: &(impl Reversal<'r> + Sync)) -> PyResult<Planned> {
        let name = operator.operator();
        // SAFETY: the tensor is used for its layout alone.
        let source = unsafe { self.view.tensor(name)? };
        let width = self.view.dtype.bits().unwrap_or(0) / 8;
        let output = self.view.dense_strides("out", width)?;
        let to = View { strides: output.clone(), ..self.view.clone() };
        // SAFETY: as above.
        let target = unsafe { to.tensor(name)? };
        let prepared = operator.prepare(source.layout(), target.layout()).map_err(raised)?;
        let work = self.operation.work_on(self.view);
        threads::run(work, || prepared.check().map(|_| ())).map_err(raised)?;
        let lengths = prepared.lengths().map(|lengths| lengths.layout().clone());
        Ok(Planned { program: prepared.program().clone(), output, lengths })
    }
}

/// Runs the call with the kept plan, or with a new one for an output of other strides.
struct Run<'a, 'py> {
    py: Python<'py>,
    planned: &'a Planned,
    operation: &'a Operation<'a>,
    from: View,
    to: View,
}

impl Visitor for Run<'_, '_> {
    type Output = ();

    fn visit<'r>(self, operator: &(impl Reversal<'r> + Sync)) -> PyResult<()> {
        let (name, from, to) = (operator.operator(), &self.from, &self.to);
        // SAFETY: input and output are borrowed for the whole call, and were described after the last
        // Python code of this thread. Other threads that access them meanwhile are responsible for
        // the result, as with NumPy's own functions.
        let (source, mut target) = unsafe { (from.tensor(name)?, to.tensor_mut(name)?) };
        let lengths = self.operation.lengths_tensor()?;
        let same = to.shape == from.shape
            && to.strides == self.planned.output
            && lengths.as_ref().map(|lengths| lengths.layout()) == self.planned.lengths.as_ref();
        let program = hint::of_kept(&self.planned.program);
        let work = self.operation.work_on(from);
        let mut go = || {
            if !same {
                let prepared = operator.prepare(source.layout(), target.layout())?;
                return hint::of(prepared).run(source.memory(), target.memory());
            }
            let given = lengths.as_ref().map(LengthsMemory::from);
            program.execute(source.memory(), given, target.memory()).map_err(|error| {
                let (plan, lengths) = (program.plan().clone(), lengths.clone());
                retrograde::Prepared::from_plan(name, plan, lengths).explain(error)
            })
        };
        let done = if work < threads::DETACH_FROM {
            go()
        } else {
            self.py.detach(|| threads::run(work, go))
        };
        done.map_err(raised)
    }
}
