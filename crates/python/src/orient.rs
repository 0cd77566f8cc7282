//! Orientations of images: what each does, and batches with one for each image.

use crate::errors::raised;
use crate::operand::{Operand, on_host};
use crate::threads;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use retrograde::{Error, Operator, OrientEach, Orientation};

/// Every orientation by its number and by its names: the number, whether rows and columns are swapped,
/// and whether the rows and the columns of the result run backward.
#[pyfunction]
pub(crate) fn orientations(py: Python<'_>) -> PyResult<Bound<'_, PyDict>> {
    let table = PyDict::new(py);
    for one in Orientation::ALL {
        let [rows, columns] = one.flips();
        let row = (one.exif(), one.transposes(), rows, columns);
        table.set_item(one.exif(), row)?;
        one.names().iter().try_for_each(|name| table.set_item(name, row))?;
    }
    Ok(table)
}

/// The shape of a batch whose images were oriented; checks the arguments.
#[pyfunction]
#[pyo3(signature = (shape, numbers, axes, batch_axis, /))]
pub(crate) fn oriented_shape(
    shape: Vec<usize>,
    numbers: Vec<i64>,
    axes: Option<(i64, i64)>,
    batch_axis: i64,
) -> PyResult<Vec<usize>> {
    each(numbers, axes, batch_axis)?.output_shape(&shape).map_err(raised)
}

/// Orients the images of a batch on the CPU, into another tensor or in place.
#[pyfunction]
#[pyo3(signature = (x, numbers, axes, batch_axis, out, /))]
pub(crate) fn orient_each(
    x: &Bound<'_, PyAny>,
    numbers: Vec<i64>,
    axes: Option<(i64, i64)>,
    batch_axis: i64,
    out: &Bound<'_, PyAny>,
) -> PyResult<()> {
    let (py, name, each) = (x.py(), Operator::Orient, each(numbers, axes, batch_axis)?);
    let (mut input, mut output) = (Operand::of(x)?, Operand::output(name, out)?);
    output.check_output(name, &input)?;
    input.describe(py)?;
    output.describe(py)?;
    let (from, to) = (input.view(), output.view());
    on_host("x", &from)?;
    on_host("out", &to)?;
    // SAFETY: the operands are borrowed for the whole call, and no Python code of this thread ran since
    // they were described.
    let (source, mut target) = unsafe { (from.tensor(name)?, to.tensor_mut(name)?) };
    let work = from.bytes();
    py.detach(|| threads::run(work, || each.apply_view(&source, &mut target))).map_err(raised)
}

fn each(numbers: Vec<i64>, axes: Option<(i64, i64)>, batch_axis: i64) -> PyResult<OrientEach> {
    let orientations = numbers.into_iter().map(Orientation::from_exif);
    let orientations: Result<Vec<_>, _> = orientations.collect();
    let each = OrientEach::new(orientations.map_err(|error| raised(Error::from(error)))?);
    let each = each.batch_axis(batch_axis);
    Ok(match axes {
        Some((rows, columns)) => each.axes(rows, columns),
        None => each,
    })
}
