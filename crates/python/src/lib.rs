//! The extension module `retrograde._engine`: the operators on NumPy arrays and on all tensors that
//! support DLPack.
//!
//! A call converts its arguments to an operator of the engine ([`operation`]), then describes its
//! tensors as views ([`operand`]), and then runs the operator on the views ([`call`]). Pure Python code (kinds of
//! tensors, pictures, frameworks) is in the package around it.

mod axes;
mod call;
mod command;
mod cuda;
mod dlpack;
mod errors;
mod explain;
mod hint;
mod kept;
mod lengths;
mod maker;
mod mask;
mod memory;
mod model;
mod native;
mod ndarray;
mod openmp;
mod operand;
mod operation;
mod orient;
mod picture;
mod prepared;
mod threads;
mod torch_state;
mod view;
mod xla;

use pyo3::prelude::*;

/// ONNX Runtime looks these up in the module's file, which is a library like any other.
pub use retrograde_onnxruntime::{CreateEpFactories, ReleaseEpFactory, RetrogradeLiveSessions};

/// The engine behind `retrograde`; use that module, not this one.
///
/// It asks free-threaded interpreters for the GIL: none has been tested.
#[pymodule(gil_used = true)]
mod _engine {
    #[pymodule_export]
    use crate::call::{
        check_letters, complements, empty_like, flip, look_up, reverse, reverse_segments,
        reverse_sequence, reverse_subsequences,
    };
    #[pymodule_export]
    use crate::command::command;
    #[pymodule_export]
    use crate::cuda::{cuda_check, cuda_device_count, cuda_set_blocking};
    #[pymodule_export]
    use crate::dlpack::Buffer;
    #[pymodule_export]
    use crate::explain::explain;
    #[pymodule_export]
    use crate::hint::{hint, set_hint};
    #[pymodule_export]
    use crate::lengths::refuse_masked;
    #[pymodule_export]
    use crate::maker::Maker;
    #[pymodule_export]
    use crate::memory::{kept_memory, kept_memory_limit, set_kept_memory};
    #[pymodule_export]
    use crate::model::OnnxModel;
    #[pymodule_export]
    use crate::native::native_functions;
    #[pymodule_export]
    use crate::operation::{Marked, kept_steps};
    #[pymodule_export]
    use crate::orient::{orient, orient_each, orientations, oriented_shape, rot90};
    #[pymodule_export]
    use crate::picture::{Scene, number_text, printable};
    #[pymodule_export]
    use crate::prepared::{Prepared, prepare};
    #[pymodule_export]
    use crate::threads::{after_fork_in_child, get_num_threads, set_num_threads};
    #[pymodule_export]
    use crate::xla::{xla_check, xla_handlers};

    use super::*;
    use numpy::PyArrayDescrMethods;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        // Look up NumPy's C API now, not in the first call: a child that was forked while another
        // thread was looking it up would wait forever.
        numpy::dtype::<u8>(module.py()).itemsize();
        crate::cuda::follow_environment();
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
