//! PyTorch's state on this thread: whether operations run one by one, or a mode, a transform or a
//! tracer has to see them.

use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyInt};

/// What tells it, as `_torch_private.state` finds it.
pub(crate) struct State {
    asked: Asked,
    /// What can be read instead of asking PyTorch through Python, which takes longer than a small
    /// reversal.
    reads_keys: bool,
    counts_modes: bool,
    /// The level of forward-mode differentiation without any.
    no_level: Py<PyInt>,
}

/// Functions of PyTorch for Python.
#[derive(FromPyObject)]
struct Asked {
    /// Returns how many `__torch_function__` modes are active.
    function_modes: Py<PyAny>,
    /// The same for `__torch_dispatch__`.
    dispatch_modes: Py<PyAny>,
    /// Returns the active tracer, or `None`.
    tracer: Py<PyAny>,
    /// Returns the active transform of `torch.func`, or `None`.
    transform: Py<PyAny>,
    /// The variables of the module with the level of forward-mode differentiation, negative if there
    /// is none.
    forward: Py<PyDict>,
    is_recording: Py<PyAny>,
    is_inference: Py<PyAny>,
    /// Tells autograd that tensors were written to.
    written: Py<PyAny>,
    /// Includes or excludes one of this thread's dispatch keys, if this release has the function.
    set_key: Option<Py<PyAny>>,
    /// Makes an object the innermost of the modes in `function_modes`, and removes it. The same.
    push_mode: Option<Py<PyAny>>,
    pop_mode: Option<Py<PyAny>>,
}

impl<'a, 'py> FromPyObject<'a, 'py> for State {
    type Error = PyErr;

    fn extract(object: Borrowed<'a, 'py, PyAny>) -> PyResult<Self> {
        let (py, asked) = (object.py(), object.extract::<Asked>()?);
        let reads_keys = asked.set_key.as_ref().is_some_and(|set| read::knows_keys(set.bind(py)));
        let counts_modes = match (&asked.push_mode, &asked.pop_mode) {
            (Some(push), Some(pop)) => read::knows_modes(push.bind(py), pop.bind(py))?,
            _ => false,
        };
        let no_level = PyInt::new(py, -1).unbind();
        Ok(State { asked, reads_keys, counts_modes, no_level })
    }
}

impl State {
    /// Whether operations are run one by one: no mode, transform or tracer is active. Inside a
    /// transform even a tensor that it does not transform needs the full path: new ones are wrapped
    /// there, and a gradient has several levels.
    pub(crate) fn is_quiet(&self, py: Python<'_>) -> PyResult<bool> {
        let count = |of: &Py<PyAny>| of.bind(py).call0()?.extract::<usize>();
        let asked = &self.asked;
        if !(self.counts_modes && read::has_no_modes()) && count(&asked.function_modes)? > 0 {
            return Ok(false);
        }
        // PyTorch's dispatcher learns from the keys which of these has to see a call.
        if !(self.reads_keys && read::has_default_keys()) {
            let is_active = |of: &Py<PyAny>| Ok::<_, PyErr>(!of.bind(py).call0()?.is_none());
            if count(&asked.dispatch_modes)? > 0
                || is_active(&asked.transform)?
                || is_active(&asked.tracer)?
            {
                return Ok(false);
            }
        }
        let Some(level) = asked.forward.bind(py).get_item(intern!(py, "_current_level"))? else {
            return Ok(false);
        };
        Ok(level.is(&self.no_level) || level.extract::<i64>()? < 0)
    }

    pub(crate) fn is_recording(&self, py: Python<'_>) -> PyResult<bool> {
        self.asked.is_recording.bind(py).call0()?.is_truthy()
    }

    /// Whether this tensor may be written to here: one of inference mode may not be outside of it.
    pub(crate) fn allows_writing(&self, out: &Bound<'_, PyAny>) -> PyResult<bool> {
        let py = out.py();
        let frozen = out.call_method0(intern!(py, "is_inference"))?.is_truthy()?;
        Ok(!frozen || self.asked.is_inference.bind(py).call0()?.is_truthy()?)
    }

    /// Tells autograd that a tensor was written to.
    pub(crate) fn was_written(&self, out: &Bound<'_, PyAny>) -> PyResult<()> {
        self.asked.written.bind(out.py()).call1(((out,),)).map(drop)
    }
}

#[cfg(all(target_os = "linux", target_env = "gnu"))]
pub(crate) use read::find;

/// The state of a thread, read where code that is compiled against PyTorch reads it.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
mod read {
    use pyo3::prelude::*;
    use std::cell::Cell;
    use std::ffi::{CStr, c_void};
    use std::mem::transmute;
    use std::ptr::{self, NonNull};
    use std::sync::atomic::{AtomicPtr, Ordering};

    /// The dispatch keys that PyTorch adds to those of all tensors of a thread, and those that it
    /// removes, both as a difference from the default: `c10::impl::raw_local_dispatch_key_set`.
    type Keys = [u64; 2];
    const KEYS: [&CStr; 2] = [c"libc10.so", c"_ZN3c104impl26raw_local_dispatch_key_setE"];

    /// Returns the number of `__torch_function__` modes of a thread:
    /// `at::impl::PythonTorchFunctionTLS::stack_len`.
    type Count = unsafe extern "C" fn() -> i64;
    const COUNT: [&CStr; 2] =
        [c"libtorch_cpu.so", c"_ZN2at4impl22PythonTorchFunctionTLS9stack_lenEv"];

    /// The keys of modes, transforms and tracers.
    const WATCHED: [&str; 3] = ["Python", "FuncTorchDynamicLayerFrontMode", "Tracer"];

    thread_local! {
        static OWN_KEYS: Cell<Option<NonNull<Keys>>> = const { Cell::new(None) };
    }
    static COUNTS: AtomicPtr<c_void> = AtomicPtr::new(ptr::null_mut());

    /// An address in a library that is loaded; the library then stays.
    pub(crate) fn find([library, name]: [&CStr; 2]) -> *mut c_void {
        // SAFETY: names end with NUL. Only a library that PyTorch has loaded is found, and it is
        // never closed here.
        unsafe {
            let library = libc::dlopen(library.as_ptr(), libc::RTLD_NOLOAD | libc::RTLD_NOW);
            if library.is_null() { ptr::null_mut() } else { libc::dlsym(library, name.as_ptr()) }
        }
    }

    /// Whether this thread has the default keys. False if they cannot be read.
    pub(super) fn has_default_keys() -> bool {
        keys() == Some([0; 2])
    }

    /// Whether this thread has no `__torch_function__` modes. False if they cannot be counted.
    pub(super) fn has_no_modes() -> bool {
        modes() == Some(0)
    }

    fn keys() -> Option<Keys> {
        #[cold]
        fn look() -> Option<NonNull<Keys>> {
            // For a variable of threads, this is the address of this thread's.
            let found = NonNull::new(find(KEYS).cast::<Keys>()).filter(|found| found.is_aligned());
            OWN_KEYS.set(found);
            found
        }
        let keys = OWN_KEYS.get().or_else(look)?;
        // SAFETY: two words of this thread, in a library that stays loaded, and which nothing but this
        // thread changes. `knows_keys` checks what they mean.
        Some(unsafe { keys.read_volatile() })
    }

    fn modes() -> Option<i64> {
        let count = COUNTS.load(Ordering::Relaxed);
        // SAFETY: a function without arguments, by its name in C++. `knows_modes` checks what it
        // returns.
        (!count.is_null()).then(|| unsafe { transmute::<*mut c_void, Count>(count)() })
    }

    /// Whether the keys are where they are expected: they change with each key that is watched.
    pub(super) fn knows_keys(set: &Bound<'_, PyAny>) -> bool {
        let changes = |key: &&str| -> PyResult<bool> {
            let before = keys();
            set.call1((*key, true))?;
            let within = keys();
            set.call1((*key, false))?;
            Ok(before.is_some() && within != before && keys() == before)
        };
        WATCHED.iter().all(|key| changes(key).unwrap_or(false))
    }

    /// Whether the function that counts modes is there, and counts one more.
    pub(super) fn knows_modes(push: &Bound<'_, PyAny>, pop: &Bound<'_, PyAny>) -> PyResult<bool> {
        COUNTS.store(find(COUNT), Ordering::Relaxed);
        let Some(before) = modes() else { return Ok(false) };
        push.call1((push,))?;
        let within = modes();
        pop.call0()?;
        Ok(within == Some(before + 1) && modes() == Some(before))
    }
}

/// Elsewhere nothing has a name to find it by.
#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
mod read {
    use pyo3::prelude::*;

    pub(super) fn has_default_keys() -> bool {
        false
    }

    pub(super) fn has_no_modes() -> bool {
        false
    }

    pub(super) fn knows_keys(_: &Bound<'_, PyAny>) -> bool {
        false
    }

    pub(super) fn knows_modes(_: &Bound<'_, PyAny>, _: &Bound<'_, PyAny>) -> PyResult<bool> {
        Ok(false)
    }
}
