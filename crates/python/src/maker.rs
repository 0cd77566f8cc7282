//! Calls on PyTorch tensors in one step for Python: what Python code would check and allocate takes
//! longer than the reversal of a small tensor.

use crate::call;
use crate::dlpack::{self, RawTensor};
use crate::kept::{self, Kept, Order};
use crate::operation::Asked;
use crate::torch_state::State;
use crate::view::Place;
use dlpark::ffi::DLDataType;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyTuple, PyType};
use std::sync::atomic::{AtomicUsize, Ordering};

/// The index of the type in the arguments for a new output.
const DTYPE: usize = 2;

/// The operators on tensors of PyTorch's own class, with functions that allocate a new one.
///
/// They return `None` for calls that need the full path, and have done nothing then: while a mode,
/// transform or tracer is active, for tensors that are lazy or have gradients, for lengths that are
/// not integers.
#[pyclass(frozen, module = "retrograde._engine")]
pub(crate) struct Maker {
    /// The memory order of outputs, which determines which cached arguments apply.
    order: Order,
    /// The class of inputs, which the caller checks, and outputs.
    class: Py<PyType>,
    /// Without it, all calls need the full path.
    state: Option<State>,
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
    #[pyo3(signature = (in_rows, class, state, like, large, least, here, there, /))]
    #[expect(clippy::too_many_arguments, reason = "called from Python, by position")]
    fn new(
        in_rows: bool,
        class: &Bound<'_, PyType>,
        state: Option<State>,
        like: Py<PyAny>,
        large: Py<PyAny>,
        least: usize,
        here: Option<Py<PyAny>>,
        there: Option<(Py<PyAny>, Py<PyAny>)>,
    ) -> PyResult<Self> {
        dlpack::know(class)?;
        let order = if in_rows { Order::Rows } else { Order::Input };
        let class = class.clone().unbind();
        Ok(Maker { order, class, state, like, large: (large, least), here, there })
    }

    /// Without `recorded`, inputs whose gradients PyTorch has to record need the full path; with it,
    /// the caller records them.
    #[pyo3(signature = (x, axes, mask, duplicates, out, recorded=false, /))]
    fn reverse<'py>(
        &self,
        x: &Bound<'py, PyAny>,
        axes: Option<&Bound<'py, PyAny>>,
        mask: Option<&Bound<'py, PyAny>>,
        duplicates: &str,
        out: Option<&Bound<'py, PyAny>>,
        recorded: bool,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        self.run(x, None, || Asked::reverse(axes, mask, duplicates), out, recorded)
    }

    #[pyo3(signature = (x, lengths, time_axis, batch_axis, policy, align, tail, out, recorded=false, /))]
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
        out: Option<&Bound<'py, PyAny>>,
        recorded: bool,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        let asked = || Asked::sequence(time_axis, batch_axis, policy, align, tail);
        self.run(x, Some(lengths), asked, out, recorded)
    }

    #[pyo3(signature = (x, lengths, axis, policy, align, tail, out, recorded=false, /))]
    #[expect(clippy::too_many_arguments, reason = "called from Python, by position")]
    fn reverse_subsequences<'py>(
        &self,
        x: &Bound<'py, PyAny>,
        lengths: &Bound<'py, PyAny>,
        axis: &Bound<'py, PyAny>,
        policy: &str,
        align: &str,
        tail: &str,
        out: Option<&Bound<'py, PyAny>>,
        recorded: bool,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        let asked = || Asked::subsequences(axis, policy, align, tail);
        self.run(x, Some(lengths), asked, out, recorded)
    }

    #[pyo3(signature = (x, offsets, axis, out, recorded=false, /))]
    fn reverse_segments<'py>(
        &self,
        x: &Bound<'py, PyAny>,
        offsets: &Bound<'py, PyAny>,
        axis: &Bound<'py, PyAny>,
        out: Option<&Bound<'py, PyAny>>,
        recorded: bool,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        let asked = || Asked::segments(axis, offsets).map(|(asked, _)| asked);
        self.run(x, Some(offsets), asked, out, recorded)
    }
}

fn has_gradient(x: &Bound<'_, PyAny>) -> PyResult<bool> {
    x.getattr(intern!(x.py(), "requires_grad"))?.is_truthy()
}

fn is_negative(x: &Bound<'_, PyAny>) -> PyResult<bool> {
    x.call_method0(intern!(x.py(), "is_neg"))?.is_truthy()
}

impl Maker {
    fn run<'py>(
        &self,
        x: &Bound<'py, PyAny>,
        lengths: Option<&Bound<'py, PyAny>>,
        asked: impl FnOnce() -> PyResult<Asked>,
        out: Option<&Bound<'py, PyAny>>,
        recorded: bool,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        let py = x.py();
        let Some(state) = &self.state else { return Ok(None) };
        if out.is_some_and(|out| !out.get_type().is(&self.class)) {
            return Ok(None);
        }
        let gradients = has_gradient(x)? || out.map_or(Ok(false), has_gradient)?;
        if gradients && !recorded && state.is_recording(py)? {
            return Ok(None);
        }
        if !state.is_quiet(py)? || is_negative(x)? {
            return Ok(None);
        }
        let Some(out) = out else { return self.make(x, lengths, asked) };
        let dtype = |x: &Bound<'py, PyAny>| x.getattr(intern!(py, "dtype"));
        if !dtype(out)?.is(&dtype(x)?) || is_negative(out)? || !state.allows_writing(out)? {
            return Ok(None);
        }
        if !write(x, lengths, asked, out)? {
            return Ok(None);
        }
        state.was_written(out)?;
        Ok(Some(out.clone()))
    }

    fn make<'py>(
        &self,
        x: &Bound<'py, PyAny>,
        lengths: Option<&Bound<'py, PyAny>>,
        asked: impl FnOnce() -> PyResult<Asked>,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        // Whether the engine can run the call: nothing is converted yet.
        let Some(input) = Plain::of(x)? else { return Ok(None) };
        if let Some(lengths) = lengths
            && !are_readable(lengths, &input)?
        {
            return Ok(None);
        }
        // Convert, which includes a new output. The calls below describe tensors when they run.
        let asked = &asked()?;
        let counts = asked.convert(lengths)?;
        let call = kept::Call { x, asked, counts: counts.as_ref(), lengths, fresh: true };
        let known = call.find(|kept| kept.fresh(self.order).get().is_some());
        if let Some(kept) = known
            && let Some(out) = self.another(x, &kept)?
        {
            if call.run_with(&kept, &out)? {
                return Ok(Some(out));
            }
            return call::run_checked(x, asked, counts, lengths, Some(&out), true).map(Some);
        }
        let out = self.like(x)?;
        match call.run(&out)? {
            Some(kept) => {
                self.remember(x, &kept, &out)?;
                Ok(Some(out))
            }
            None => call::run_checked(x, asked, counts, lengths, Some(&out), true).map(Some),
        }
    }

    fn like<'py>(&self, x: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let (py, dtype) = (x.py(), intern!(x.py(), "dtype"));
        let large = |input: &RawTensor<'_>| {
            input.place() == Some(Place::Host) && input.bytes() >= self.large.1
        };
        let Some(input) = RawTensor::at(x).filter(large) else {
            return self.like.bind(py).call1((x,));
        };
        // Several types of a library may be one type to DLPack.
        if (self.order == Order::Rows || input.is_in_rows())
            && let Some(out) = dlpack::own_in_rows(x, &input)?
            && out.getattr(dtype)?.is(x.getattr(dtype)?)
        {
            return Ok(out);
        }
        self.large.0.bind(py).call1((x,))
    }

    /// Allocates an output like that of an earlier call, if there is a fast way.
    fn another<'py>(
        &self,
        x: &Bound<'py, PyAny>,
        kept: &Kept,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        let (py, Some(fresh)) = (x.py(), kept.fresh(self.order).get()) else { return Ok(None) };
        let fresh = fresh.bind(py);
        // Several types of a library may be one type to DLPack.
        if !kept.is_usual() && !fresh.get_borrowed_item(DTYPE)?.is(x.getattr(intern!(py, "dtype"))?)
        {
            return Ok(None);
        }
        let make = match (kept.place, &self.here, &self.there) {
            (Place::Host, Some(make), _) => make,
            (Place::Cuda(device), _, Some((make, current))) => {
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
            // Copied before objects are made, which may run Python code.
            let (shape, strides) = (output.shape().to_vec(), output.strides().to_vec());
            let (shape, strides) = (PyTuple::new(py, shape)?, PyTuple::new(py, strides)?);
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
    // Whether the engine can run the call: nothing is converted yet.
    let (Some(input), Some(output)) = (Plain::of(x)?, Plain::of(out)?) else { return Ok(false) };
    if input != output {
        return Ok(false);
    }
    if let Some(lengths) = lengths
        && !are_readable(lengths, &input)?
    {
        return Ok(false);
    }
    // Convert. The calls below describe tensors when they run.
    let asked = &asked()?;
    let counts = asked.convert(lengths)?;
    let call = kept::Call { x, asked, counts: counts.as_ref(), lengths, fresh: false };
    if call.run(out)?.is_none() {
        call::run_checked(x, asked, counts, lengths, Some(out), false)?;
    }
    Ok(true)
}

/// What decides whether the engine can run a call on a tensor.
#[derive(PartialEq, Eq)]
struct Plain {
    dtype: DLDataType,
    place: Place,
}

impl Plain {
    /// `None` for a tensor with lazy conjugation, which only complex ones can have. Lazy negation was
    /// checked before.
    fn of(x: &Bound<'_, PyAny>) -> PyResult<Option<Self>> {
        let Some(raw) = RawTensor::at(x).filter(|raw| !raw.lacks_memory()) else { return Ok(None) };
        let Some(place) = raw.place() else { return Ok(None) };
        let plain = Plain { dtype: raw.dtype(), place };
        let lazy = raw.is_complex() && x.call_method0(intern!(x.py(), "is_conj"))?.is_truthy()?;
        Ok((!lazy).then_some(plain))
    }
}

/// Whether the engine can use lengths unchanged. If they are not a tensor, it tries to read them.
fn are_readable(lengths: &Bound<'_, PyAny>, input: &Plain) -> PyResult<bool> {
    if !dlpack::is_known(lengths) {
        return Ok(!lengths.hasattr(intern!(lengths.py(), "__dlpack__"))?
            || lengths.cast::<numpy::PyUntypedArray>().is_ok());
    }
    Ok(RawTensor::at(lengths).is_some_and(|raw| {
        let place = raw.place();
        raw.is_integer() && (place == Some(Place::Host) || place == Some(input.place))
    }))
}

/// Whether there is more than one CUDA device, so that the current one may differ.
fn are_several() -> bool {
    // One more than there are, or 0 before they were counted. No lock, which a forked child could inherit.
    static COUNT: AtomicUsize = AtomicUsize::new(0);
    if COUNT.load(Ordering::Relaxed) == 0 {
        COUNT.store(1 + retrograde_cuda::device_count().unwrap_or(0), Ordering::Relaxed);
    }
    COUNT.load(Ordering::Relaxed) != 2
}
