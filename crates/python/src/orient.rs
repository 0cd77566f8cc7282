//! Orientations of images: what each does, one of an array, and batches with one for each image.

use crate::call;
use crate::errors::raised;
use crate::kept;
use crate::operand::{Operand, on_host};
use crate::operation::Asked;
use crate::threads;
use numpy::{PyUntypedArray, PyUntypedArrayMethods};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};
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

/// `retrograde.rot90` of an array. `None`, with nothing done, for arguments that are wrong or of rare
/// types: those are left to Python code (`_names`), which serves all kinds of tensors and takes longer
/// than to turn a small image.
#[pyfunction]
#[pyo3(signature = (m, k, axes, /))]
pub(crate) fn rot90<'py>(
    m: &Bound<'py, PyUntypedArray>,
    k: &Bound<'py, PyAny>,
    axes: &Bound<'py, PyAny>,
) -> PyResult<Option<Bound<'py, PyAny>>> {
    let (Ok(turns), Some(plane)) = (k.extract(), plane(m, Some(axes))) else { return Ok(None) };
    call::turned(m, &Asked::oriented(Orientation::from_turns(turns), plane)).map(Some)
}

/// `retrograde.orient` of an array, into a new output or a given one. `None` as above, and for
/// outputs that need the full path.
#[pyfunction]
#[pyo3(signature = (x, orientation, axes, out, /))]
pub(crate) fn orient<'py>(
    x: &Bound<'py, PyUntypedArray>,
    orientation: &Bound<'py, PyAny>,
    axes: Option<&Bound<'py, PyAny>>,
    out: Option<&Bound<'py, PyAny>>,
) -> PyResult<Option<Bound<'py, PyAny>>> {
    let (Some(orientation), Some(plane)) = (named(orientation), plane(x, axes)) else {
        return Ok(None);
    };
    let asked = &Asked::oriented(orientation, plane);
    let Some(out) = out else { return call::turned(x, asked).map(Some) };
    if orientation.transposes() && out.is(x) {
        return Ok(None);
    }
    let call = kept::Call { x, asked, counts: None, lengths: None, fresh: false };
    Ok(call.run(out)?.map(|_| out.clone()))
}

/// The orientation of this number or name.
fn named(given: &Bound<'_, PyAny>) -> Option<Orientation> {
    let Ok(text) = given.cast::<PyString>() else {
        return Orientation::from_exif(given.extract().ok()?).ok();
    };
    let name = text.to_str().ok()?;
    // A number in a text is no name.
    name.parse().ok().filter(|one: &Orientation| one.names().contains(&name))
}

/// The axes of rows and columns, from the start: the first two unless they are given.
fn plane(x: &Bound<'_, PyUntypedArray>, axes: Option<&Bound<'_, PyAny>>) -> Option<[usize; 2]> {
    let given: [i64; 2] = axes.map_or(Ok([0, 1]), |axes| axes.extract()).ok()?;
    // Read now: conversions run Python code.
    let rank = x.ndim();
    let from_start = |axis: i64| {
        let axis = if axis < 0 { axis + rank as i64 } else { axis };
        usize::try_from(axis).ok().filter(|&axis| axis < rank)
    };
    let [rows, columns] = given.map(from_start);
    let plane = [rows?, columns?];
    (plane[0] != plane[1]).then_some(plane)
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
