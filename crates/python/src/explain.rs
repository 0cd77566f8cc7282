//! How a call would run, as data; the Python package formats it as text.

use crate::errors::raised;
use crate::operand::{Operand, on_host};
use crate::operation::{self, Asked, Visitor};
use crate::threads;
use crate::view::View;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use retrograde::cpu::Isa;
use retrograde::{Flow, Grain, Layout, Plan, Reversal, Table};

/// How the call of an operator would run; arguments are those of the operator after the tensor and a table.
#[pyfunction]
#[pyo3(signature = (operator, x, table, /, *arguments))]
pub(crate) fn explain<'py>(
    operator: &str,
    x: &Bound<'py, PyAny>,
    table: Option<&[u8]>,
    arguments: &Bound<'py, PyTuple>,
) -> PyResult<Bound<'py, PyDict>> {
    // Convert, then describe, as in a call.
    let table = table.map(Table::new).transpose().map_err(raised)?;
    let (asked, lengths) = Asked::named(operator, arguments)?;
    let (py, mut lengths, mut input) = (x.py(), asked.convert(lengths.as_ref())?, Operand::of(x)?);
    asked.check_elements(&input)?;
    input.describe(py)?;
    lengths.as_mut().map_or(Ok(()), |lengths| lengths.describe(py))?;
    let view = &input.view();
    let operation = asked.operation(lengths.as_ref(), &view.shape)?;
    on_host("x", view)?;
    operation.visit(Explain { py, view, work: operation.work_on(view), table: table.as_ref() })
}

struct Explain<'a, 'py> {
    py: Python<'py>,
    view: &'a View,
    work: usize,
    table: Option<&'a Table>,
}

impl<'py> Visitor for Explain<'_, 'py> {
    type Output = Bound<'py, PyDict>;

    fn visit<'r>(self, operator: &(impl Reversal<'r> + Sync)) -> PyResult<Self::Output> {
        let name = operator.operator();
        // SAFETY: only the layout of the tensor is used.
        let source = unsafe { self.view.tensor(name)? };
        let target = self.target().map_err(|error| raised(error.into()))?;
        let prepared =
            operation::prepare(operator, self.table, source.layout(), &target).map_err(raised)?;
        threads::run(self.work, || prepared.check().map(|_| ())).map_err(raised)?;
        let plan = prepared.plan();
        let written = u64::try_from(plan.bytes_moved() / 2).unwrap_or(u64::MAX);
        let program = prepared.program();
        let record = PyDict::new(self.py);
        record.set_item("operator", name.to_string())?;
        record.set_item("plan", plan.to_string())?;
        record.set_item("dims", dims(self.py, plan)?)?;
        record.set_item("unit_bits", u64::try_from(plan.unit().bits()).unwrap_or(u64::MAX))?;
        record.set_item("kernel", program.kernel().name())?;
        record.set_item("kernel_about", program.about())?;
        record.set_item("instructions", Isa::current().name())?;
        record.set_item("threads", threads::get_num_threads())?;
        record.set_item("bytes_read", written)?;
        record.set_item("bytes_written", written)?;
        Ok(record)
    }
}

impl Explain<'_, '_> {
    /// The layout of a new output.
    fn target(&self) -> Result<Layout, retrograde::LayoutError> {
        let view = self.view;
        if view.dtype.is_packed() {
            return Layout::dense(view.dtype, &view.shape);
        }
        let width = view.dtype.bits().unwrap_or(0) / 8;
        match view.dense_strides("out", width) {
            Ok(strides) => Layout::byte_strided(view.dtype, &view.shape, &strides, 0),
            // Too large: the dense layout returns the engine's error.
            Err(_) => Layout::dense(view.dtype, &view.shape),
        }
    }
}

fn dims<'py>(py: Python<'py>, plan: &Plan) -> PyResult<Vec<Bound<'py, PyDict>>> {
    let unit = match plan.unit().grain {
        Grain::Byte => "bytes",
        Grain::Packed { .. } => "elements",
    };
    let dim = |dim: &retrograde::Dim| {
        let record = PyDict::new(py);
        let flow = match dim.flow {
            Flow::Keep => "keep",
            Flow::Flip => "flip",
            Flow::FlipPrefix => "flip prefix",
            Flow::FlipSegments => "flip segments",
        };
        record.set_item("len", dim.len)?;
        record.set_item("flow", flow)?;
        record.set_item("src", dim.src)?;
        record.set_item("dst", dim.dst)?;
        record.set_item("strides_in", unit)?;
        Ok(record)
    };
    plan.dims().iter().map(dim).collect()
}
