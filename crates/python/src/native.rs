//! What the native library for PyTorch (`crates/torch`) calls in a process with Python: the C interface of
//! this engine, with the package's settings of threads, hints and kept memory.

use crate::cuda;
use crate::hint;
use crate::memory;
use crate::threads;
use pyo3::prelude::*;
use retrograde::cpu::Block;
use retrograde_c::call::{Call, run_inside};
use retrograde_c::cuda::{How, Place, run_on_device};
use retrograde_c::status::Status;
use std::ffi::c_void;
use std::ptr;

/// Work of fewer bytes is never shared, so that the number of threads need not be found.
const ALONE: usize = threads::DETACH_FROM;

/// `retrograde_run` on the threads that the package's other calls use.
unsafe extern "C" fn run(
    call: *const Call,
    input: *const c_void,
    input_bytes: usize,
    lengths: *const c_void,
    lengths_bytes: usize,
    output: *mut c_void,
    output_bytes: usize,
) -> Status {
    // Lengths of lanes may be more than elements.
    let work = input_bytes.max(lengths_bytes);
    // SAFETY: passed on. The handle was checked before its program is looked at.
    unsafe {
        run_inside(call, input, input_bytes, lengths, lengths_bytes, output, output_bytes, |go| {
            let hinted = hint::get().map(|hint| (*call).program().clone().hint(hint));
            match work < ALONE {
                true => go(hinted.as_ref()),
                false => threads::run(work, || go(hinted.as_ref())),
            }
        })
    }
}

macro_rules! on_device {
    ($name:ident, $fresh:literal) => {
        unsafe extern "C" fn $name(
            call: *const Call,
            device: usize,
            stream: *mut c_void,
            input: *const c_void,
            input_bytes: usize,
            lengths: *const c_void,
            lengths_bytes: usize,
            place: Place,
            output: *mut c_void,
            output_bytes: usize,
        ) -> Status {
            let how = How { fresh: $fresh, wait: cuda::is_blocking() };
            let (input, output) = (Some((input, input_bytes)), (output, output_bytes));
            let lengths = (lengths, lengths_bytes, place);
            // SAFETY: passed on.
            unsafe { run_on_device(call, device, stream, input, lengths, output, how) }
        }
    };
}

on_device!(run_cuda, false);
on_device!(run_cuda_new, true);

/// Memory for a large output, and in `owner` what [`give`] takes back; null if there is none.
unsafe extern "C" fn take(bytes: usize, owner: *mut *mut c_void) -> *mut c_void {
    let Ok(block) = memory::block(bytes) else { return ptr::null_mut() };
    let data = block.as_ptr();
    // SAFETY: the library passes a place for it.
    unsafe { owner.write(Box::into_raw(Box::new(block)).cast()) };
    data.cast()
}

/// Frees memory that was taken.
unsafe extern "C" fn give(owner: *mut c_void) {
    // SAFETY: made by `take`, and given once.
    drop(unsafe { Box::from_raw(owner.cast::<Block>()) });
}

/// The functions that `crates/torch/engine.h` lists, by name.
#[pyfunction]
pub(crate) fn native_functions() -> Vec<(&'static str, usize)> {
    macro_rules! same {
        ($($module:ident::$name:ident),* $(,)?) => {
            vec![$((stringify!($name), retrograde_c::$module::$name as *const () as usize)),*]
        };
    }
    let mut functions = same![
        version::retrograde_abi_version,
        guard::retrograde_last_error,
        tensor::retrograde_tensor_bytes,
        operator::retrograde_operator_create,
        operator::retrograde_operator_destroy,
        operator::retrograde_operator_set_axes,
        operator::retrograde_operator_set_axis,
        operator::retrograde_operator_set_time_axis,
        operator::retrograde_operator_set_batch_axis,
        operator::retrograde_operator_set_policy,
        operator::retrograde_operator_set_align,
        operator::retrograde_operator_set_tail,
        call::retrograde_prepare,
        call::retrograde_call_destroy,
        cuda::retrograde_cuda_earlier,
    ];
    functions.extend([
        ("retrograde_run", run as *const () as usize),
        ("retrograde_run_cuda", run_cuda as *const () as usize),
        ("retrograde_run_cuda_new", run_cuda_new as *const () as usize),
        ("take_memory", take as *const () as usize),
        ("give_memory", give as *const () as usize),
    ]);
    functions
}
