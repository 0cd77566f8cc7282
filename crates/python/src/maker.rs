//! Allocates outputs of a library's own type for small calls, so that the whole call is one step
//! for Python.

use crate::call;
use crate::dlpack::{self, RawTensor};
use crate::kept::{Kept, Order, Tensors};
use crate::operation::Asked;
use crate::view::Place;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyTuple, PyType};
use std::sync::OnceLock;

/// The index of the type in the arguments for a new output.
const DTYPE: usize = 2;

/// The operators on tensors of one class, with functions of its library that allocate a new one.
///
/// They return `None` for calls that need the full path: tensors that the library does not
/// describe, lazy ones, lengths that are not integers. No argument has been consumed then.
#[pyclass(frozen, module = "retrograde._engine")]
pub(crate) struct Maker {
    /// The memory order of outputs, which determines which cached arguments apply.
    order: Order,
    /// Allocates a tensor like another one.
    like: Py<PyAny>,
    /// The same, for the CPU and at least this many bytes.
    large: (Py<PyAny>, usize),
    /// Allocates a tensor of a shape, strides and a type on the CPU.
    here: Option<Py<PyAny>>,
    /// The same on the current CUDA device, and the function that returns its number.
    there: Option<(Py<PyAny>, Py<PyAny>)>,
}

#[pymethods]
impl Maker {
    #[new]
    #[pyo3(signature = (in_rows, class, like, large, least, here, there, /))]
    fn new(
        in_rows: bool,
        class: &Bound<'_, PyType>,
        like: Py<PyAny>,
        large: Py<PyAny>,
        least: usize,
        here: Option<Py<PyAny>>,
        there: Option<(Py<PyAny>, Py<PyAny>)>,
    ) -> PyResult<Self> {
        dlpack::know(class)?;
        let order = if in_rows { Order::Rows } else { Order::Input };
        Ok(Maker { order, like, large: (large, least), here, there })
    }

    #[pyo3(signature = (x, axes, mask, duplicates, /))]
    fn reverse<'py>(
        &self,
        x: &Bound<'py, PyAny>,
        axes: Option<&Bound<'py, PyAny>>,
        mask: Option<&Bound<'py, PyAny>>,
        duplicates: &str,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        self.make(x, None, || Asked::reverse(axes, mask, duplicates))
    }

    #[pyo3(signature = (x, lengths, time_axis, batch_axis, policy, align, tail, /))]
    #[expect(clippy::too_many_arguments, reason = "called from Python, by position")]
    fn reverse_sequence<'py>(
        &self,
        x: &Bound<'py, PyAny>,
        lengths: &Bound<'py, PyAny>,
        time_axis: &Bound<'py, PyAny>,
        batch_axis: &Bound<'py, PyAny>,
        policy: &str,
        align: &str,
        tail: &str,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        self.make(x, Some(lengths), || Asked::sequence(time_axis, batch_axis, policy, align, tail))
    }

    #[pyo3(signature = (x, lengths, axis, policy, align, tail, /))]
    fn reverse_subsequences<'py>(
        &self,
        x: &Bound<'py, PyAny>,
        lengths: &Bound<'py, PyAny>,
        axis: &Bound<'py, PyAny>,
        policy: &str,
        align: &str,
        tail: &str,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        self.make(x, Some(lengths), || Asked::subsequences(axis, policy, align, tail))
    }

    #[pyo3(signature = (x, offsets, axis, /))]
    fn reverse_segments<'py>(
        &self,
        x: &Bound<'py, PyAny>,
        offsets: &Bound<'py, PyAny>,
        axis: &Bound<'py, PyAny>,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        self.make(x, Some(offsets), || Asked::segments(axis))
    }

    /// `reverse` into a tensor; returns whether it was done.
    #[pyo3(signature = (x, axes, mask, duplicates, out, /))]
    fn reverse_into<'py>(
        &self,
        x: &Bound<'py, PyAny>,
        axes: Option<&Bound<'py, PyAny>>,
        mask: Option<&Bound<'py, PyAny>>,
        duplicates: &str,
        out: &Bound<'py, PyAny>,
    ) -> PyResult<bool> {
        write(x, None, || Asked::reverse(axes, mask, duplicates), out)
    }

    /// `reverse_sequence` into a tensor; returns whether it was done.
    #[pyo3(signature = (x, lengths, time_axis, batch_axis, policy, align, tail, out, /))]
    #[expect(clippy::too_many_arguments, reason = "called from Python, by position")]
    fn reverse_sequence_into<'py>(
        &self,
        x: &Bound<'py, PyAny>,
        lengths: &Bound<'py, PyAny>,
        time_axis: &Bound<'py, PyAny>,
        batch_axis: &Bound<'py, PyAny>,
        policy: &str,
        align: &str,
        tail: &str,
        out: &Bound<'py, PyAny>,
    ) -> PyResult<bool> {
        write(x, Some(lengths), || Asked::sequence(time_axis, batch_axis, policy, align, tail), out)
    }

    /// `reverse_subsequences` into a tensor; returns whether it was done.
    #[pyo3(signature = (x, lengths, axis, policy, align, tail, out, /))]
    #[expect(clippy::too_many_arguments, reason = "called from Python, by position")]
    fn reverse_subsequences_into<'py>(
        &self,
        x: &Bound<'py, PyAny>,
        lengths: &Bound<'py, PyAny>,
        axis: &Bound<'py, PyAny>,
        policy: &str,
        align: &str,
        tail: &str,
        out: &Bound<'py, PyAny>,
    ) -> PyResult<bool> {
        write(x, Some(lengths), || Asked::subsequences(axis, policy, align, tail), out)
    }

    /// `reverse_segments` into a tensor; returns whether it was done.
    #[pyo3(signature = (x, offsets, axis, out, /))]
    fn reverse_segments_into<'py>(
        &self,
        x: &Bound<'py, PyAny>,
        offsets: &Bound<'py, PyAny>,
        axis: &Bound<'py, PyAny>,
        out: &Bound<'py, PyAny>,
    ) -> PyResult<bool> {
        write(x, Some(offsets), || Asked::segments(axis), out)
    }
}

impl Maker {
    fn make<'py>(
        &self,
        x: &Bound<'py, PyAny>,
        lengths: Option<&Bound<'py, PyAny>>,
        asked: impl FnOnce() -> PyResult<Asked>,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        let Some(input) = plain(x)? else { return Ok(None) };
        if let Some(lengths) = lengths
            && !are_readable(lengths, &input)?
        {
            return Ok(None);
        }
        let asked = asked()?;
        let Some(tensors) = Tensors::seen(x, input, &asked, lengths) else {
            let out = self.like(x, &input)?;
            return call::run_checked(x, &asked, lengths, Some(&out)).map(Some);
        };
        let known = tensors.find(&asked, |kept| kept.fresh(self.order).get().is_some());
        if let Some(kept) = known
            && let Some(out) = self.another(x, &kept, &input)?
        {
            if let Some(output) = RawTensor::at(&out)
                && tensors.go(&kept, &output)?
            {
                return Ok(Some(out));
            }
            return call::run_checked(x, &asked, lengths, Some(&out)).map(Some);
        }
        let out = self.like(x, &input)?;
        match tensors.run(&asked, &out)? {
            Some(kept) => {
                self.remember(x, &kept, &out)?;
                Ok(Some(out))
            }
            None => call::run_checked(x, &asked, lengths, Some(&out)).map(Some),
        }
    }

    fn like<'py>(
        &self,
        x: &Bound<'py, PyAny>,
        input: &RawTensor<'_>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let large = input.place() == Some(Place::Host) && input.bytes() >= self.large.1;
        let like = if large { &self.large.0 } else { &self.like };
        like.bind(x.py()).call1((x,))
    }

    /// Allocates an output like that of an earlier call, if there is a fast way.
    fn another<'py>(
        &self,
        x: &Bound<'py, PyAny>,
        kept: &Kept,
        input: &RawTensor<'_>,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        let (py, Some(fresh)) = (x.py(), kept.fresh(self.order).get()) else { return Ok(None) };
        let fresh = fresh.bind(py);
        // Several types of a library may map to one type in DLPack.
        if !fresh.get_borrowed_item(DTYPE)?.is(x.getattr(intern!(py, "dtype"))?) {
            return Ok(None);
        }
        let make = match (input.place(), &self.here, &self.there) {
            (Some(Place::Host), Some(make), _) => make,
            (Some(Place::Cuda(device)), _, Some((make, current))) => {
                if are_several() && current.bind(py).call0()?.extract::<usize>()? != device {
                    return Ok(None);
                }
                make
            }
            _ => return Ok(None),
        };
        make.bind(py).call1(fresh).map(Some)
    }

    /// Stores the arguments with which to allocate another such output. Large ones are allocated
    /// differently.
    fn remember(&self, x: &Bound<'_, PyAny>, kept: &Kept, out: &Bound<'_, PyAny>) -> PyResult<()> {
        let py = x.py();
        let Some(output) = RawTensor::at(out) else { return Ok(()) };
        let possible = match output.place() {
            Some(Place::Host) => self.here.is_some() && output.bytes() < self.large.1,
            Some(Place::Cuda(_)) => self.there.is_some(),
            None => false,
        };
        if possible {
            let shape = PyTuple::new(py, output.shape())?;
            let strides = PyTuple::new(py, output.strides())?;
            let fresh = (shape, strides, x.getattr(intern!(py, "dtype"))?).into_pyobject(py)?;
            // If two threads store the same value, the first one is kept.
            let _ = kept.fresh(self.order).set(fresh.unbind());
        }
        Ok(())
    }
}

fn write<'py>(
    x: &Bound<'py, PyAny>,
    lengths: Option<&Bound<'py, PyAny>>,
    asked: impl FnOnce() -> PyResult<Asked>,
    out: &Bound<'py, PyAny>,
) -> PyResult<bool> {
    let (Some(input), Some(output)) = (plain(x)?, plain(out)?) else { return Ok(false) };
    if input.dtype() != output.dtype() || input.place() != output.place() {
        return Ok(false);
    }
    if let Some(lengths) = lengths
        && !are_readable(lengths, &input)?
    {
        return Ok(false);
    }
    let asked = asked()?;
    match Tensors::seen(x, input, &asked, lengths) {
        Some(tensors) if tensors.run(&asked, out)?.is_some() => {}
        _ => drop(call::run_checked(x, &asked, lengths, Some(out))?),
    }
    Ok(true)
}

/// A tensor without lazy conjugation. Only complex ones are checked for that; the caller knows that
/// none is lazily negated.
fn plain<'a>(x: &'a Bound<'_, PyAny>) -> PyResult<Option<RawTensor<'a>>> {
    let Some(raw) = RawTensor::at(x) else { return Ok(None) };
    let lazy = raw.is_complex() && x.call_method0(intern!(x.py(), "is_conj"))?.is_truthy()?;
    let usable = !lazy && !raw.lacks_memory() && raw.place().is_some();
    Ok(usable.then_some(raw))
}

/// Whether the engine can use lengths unchanged. If they are not a tensor, it tries to read them.
fn are_readable(lengths: &Bound<'_, PyAny>, input: &RawTensor<'_>) -> PyResult<bool> {
    if !dlpack::is_known(lengths) {
        return Ok(!lengths.hasattr(intern!(lengths.py(), "__dlpack__"))?
            || lengths.cast::<numpy::PyUntypedArray>().is_ok());
    }
    Ok(RawTensor::at(lengths).is_some_and(|raw| {
        let place = raw.place();
        raw.is_integer() && (place == Some(Place::Host) || place == input.place())
    }))
}

/// Whether there is more than one CUDA device, so that the current one may differ.
fn are_several() -> bool {
    static COUNT: OnceLock<usize> = OnceLock::new();
    *COUNT.get_or_init(|| retrograde_gpu::device_count().unwrap_or(0)) != 1
}
