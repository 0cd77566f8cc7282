//! Kernels for runtimes without registries (1.23): each claimed node is fused alone, and compiled
//! here.

use crate::ffi::{OrtGraph, OrtKernelContext, OrtNode, OrtNodeComputeInfo, OrtStatus};
use crate::kernel::{Inputs, Kernel};
use crate::node::Node;
use crate::options::Options;
use crate::runtime::{Failure, Runtime};
use std::ffi::c_void;
use std::ptr;

/// A fused node as the runtime holds it. The runtime's struct is first, so that both have one
/// address.
#[repr(C)]
struct Compiled {
    table: OrtNodeComputeInfo,
    kernel: Kernel,
}

/// Compiles a graph of one node.
///
/// # Safety
/// The runtime asks to compile this graph as this fused node. [`release`] releases the result.
pub(crate) unsafe fn compile(
    runtime: Runtime,
    options: &Options,
    graph: *const OrtGraph,
    fused: *const OrtNode,
) -> Result<*mut OrtNodeComputeInfo, Failure> {
    // SAFETY: the runtime's own graph and node.
    let (nodes, fused) = unsafe { (Node::all_of(&runtime, graph)?, Node::new(&runtime, fused)?) };
    let [node] = &nodes[..] else {
        return Err(Failure::other(format!("{} nodes were fused, expected 1", nodes.len())));
    };
    let operation = node.operation(options).map_err(Failure::other)?;
    // The fused node has each value once, in an order of its own.
    let outer = fused.input_names();
    let mut inputs: Inputs = [None; 5];
    for (position, name) in inputs.iter_mut().zip(node.input_names()) {
        if name.is_empty() {
            continue;
        }
        *position = outer.iter().position(|outer| *outer == name);
        if position.is_none() {
            return Err(Failure::other(format!("a fused node lacks its input {name:?}")));
        }
    }
    let version = runtime.version;
    let table = OrtNodeComputeInfo { version, create_state, compute, release_state };
    let kernel = Kernel::new(runtime, operation, inputs, node.constants());
    Ok(Box::into_raw(Box::new(Compiled { table, kernel })).cast())
}

/// # Safety
/// Made by [`compile`], and released once; or null.
pub(crate) unsafe fn release(info: *mut OrtNodeComputeInfo) {
    if !info.is_null() {
        // SAFETY: made by `compile` from a box.
        drop(unsafe { Box::from_raw(info.cast::<Compiled>()) });
    }
}

/// # Safety
/// The runtime calls it.
unsafe extern "system" fn create_state(
    _: *mut OrtNodeComputeInfo,
    _: *mut c_void,
    out: *mut *mut c_void,
) -> *mut OrtStatus {
    // SAFETY: for the state, of which there is none.
    unsafe { *out = ptr::null_mut() };
    ptr::null_mut()
}

/// # Safety
/// The runtime calls it.
unsafe extern "system" fn release_state(_: *mut OrtNodeComputeInfo, _: *mut c_void) {}

/// # Safety
/// The runtime calls it, with a node that was compiled here.
unsafe extern "system" fn compute(
    this: *mut OrtNodeComputeInfo,
    _: *mut c_void,
    context: *mut OrtKernelContext,
) -> *mut OrtStatus {
    // SAFETY: made by `compile`, and not yet released.
    let kernel = unsafe { &(*this.cast::<Compiled>()).kernel };
    // SAFETY: the runtime called the node with this context.
    kernel.runtime().answer(|| unsafe { kernel.compute(context) })
}
