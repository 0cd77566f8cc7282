//! Kernels for runtimes with registries (1.24 and later): the runtime creates one for each node that
//! was claimed. The output may take the memory of the input.

use crate::ffi::{
    OrtKernelContext, OrtKernelCreateFunc, OrtKernelDef, OrtKernelDefBuilder, OrtKernelImpl,
    OrtKernelInfo, OrtKernelRegistry, OrtStatus, unused,
};
use crate::kernel::{Inputs, Kernel, Operation};
use crate::options::Options;
use crate::runtime::{Failure, Runtime};
use crate::sequence::{Axes, DEFAULT_BATCH, DEFAULT_TIME};
use crate::slice::Operands;
use crate::tensor::{TYPES, Tensor};
use std::ffi::{CStr, c_int, c_void};
use std::ptr;

/// A later version than any: the meaning of the operators has not changed since opset 10, and the
/// runtime checks a model's types by the schema that it knows.
const LAST_VERSION: c_int = 1000;
/// The ONNX code of strings.
const STRING: i32 = 8;

/// Finds the options of the session that a kernel is created for.
pub(crate) type OptionsOf = unsafe fn(&Runtime, *const OrtKernelInfo) -> Result<Options, Failure>;

/// What the functions that create kernels need.
#[derive(Debug)]
pub(crate) struct Makers {
    runtime: Runtime,
    options_of: OptionsOf,
}

/// A registry, and the state of its functions.
#[derive(Debug)]
pub(crate) struct Registry {
    registry: *mut OrtKernelRegistry,
    makers: Box<Makers>,
}

impl Registry {
    /// Registers both operators for every type, under the provider's name.
    ///
    /// # Safety
    /// The runtime has registries. `options_of` may be called with what the runtime creates
    /// kernels of this provider with.
    pub(crate) unsafe fn new(
        runtime: Runtime,
        provider: &CStr,
        options_of: OptionsOf,
    ) -> Result<Self, Failure> {
        let makers = Box::new(Makers { runtime, options_of });
        let mut registry = ptr::null_mut();
        // SAFETY: the runtime has registries, as required.
        runtime.check(unsafe { runtime.ep.create_registry(&mut registry) })?;
        // From here on, dropping it releases it.
        let registry = Registry { registry, makers };
        let kernels: [(&CStr, &[&CStr], OrtKernelCreateFunc); 2] = [
            (c"ReverseSequence", &[c"T"], create_reverse_sequence),
            (c"Slice", &[c"T", c"Tind"], create_slice),
        ];
        let (strings, others): (Vec<i32>, Vec<i32>) =
            TYPES.iter().partition(|&&code| code == STRING);
        for (operator, constraints, create) in kernels {
            // Strings are copied one by one, and so not in place.
            for (types, in_place) in [(&others, true), (&strings, false)] {
                let definition = Definition { operator, constraints, types, in_place };
                // SAFETY: passed on.
                unsafe { registry.add(&definition, provider, create)? };
            }
        }
        Ok(registry)
    }

    /// The registry, for the runtime to copy.
    pub(crate) fn as_ptr(&self) -> *const OrtKernelRegistry {
        self.registry
    }

    /// # Safety
    /// As for [`new`](Self::new).
    unsafe fn add(
        &self,
        definition: &Definition<'_>,
        provider: &CStr,
        create: OrtKernelCreateFunc,
    ) -> Result<(), Failure> {
        let runtime = self.makers.runtime;
        let state = ptr::from_ref::<Makers>(&self.makers).cast_mut().cast();
        // SAFETY: as required. The registry copies the definition, which is released once. The
        // state lives as long as the registry, which the runtime's sessions do not outlive.
        unsafe {
            let built = definition.build(&runtime, provider)?;
            let status = runtime.ep.add_kernel(self.registry, built, create, state);
            runtime.ep.release_definition(built);
            runtime.check(status)
        }
    }
}

impl Drop for Registry {
    fn drop(&mut self) {
        // SAFETY: made by `create_registry` and released once. The runtime has copied it.
        unsafe { self.makers.runtime.ep.release_registry(self.registry) };
    }
}

/// Which nodes a kernel is for.
struct Definition<'a> {
    operator: &'a CStr,
    /// The type parameters of the operator's schema: of its data, then of its indices.
    constraints: &'a [&'a CStr],
    types: &'a [i32],
    in_place: bool,
}

impl Definition<'_> {
    /// # Safety
    /// The runtime has registries. The caller releases the result.
    unsafe fn build(
        &self,
        runtime: &Runtime,
        provider: &CStr,
    ) -> Result<*mut OrtKernelDef, Failure> {
        let mut builder = ptr::null_mut();
        // SAFETY: the runtime has registries, as required; the builder is released once.
        unsafe {
            runtime.check(runtime.ep.create_builder(&mut builder))?;
            let built = self.fill(runtime, builder, provider);
            runtime.ep.release_builder(builder);
            built
        }
    }

    /// # Safety
    /// As for [`build`](Self::build), with a new builder.
    unsafe fn fill(
        &self,
        runtime: &Runtime,
        builder: *mut OrtKernelDefBuilder,
        provider: &CStr,
    ) -> Result<*mut OrtKernelDef, Failure> {
        let ep = &runtime.ep;
        let mut definition = ptr::null_mut();
        // SAFETY: the runtime has registries, as required; it copies every argument.
        unsafe {
            runtime.check(ep.set_operator(builder, self.operator.as_ptr()))?;
            runtime.check(ep.set_domain(builder, c"".as_ptr()))?;
            runtime.check(ep.set_versions(builder, 10, LAST_VERSION))?;
            runtime.check(ep.set_provider(builder, provider.as_ptr()))?;
            for (constraint, codes) in self.constraints.iter().zip([self.types, &[6, 7]]) {
                let mut types = Vec::with_capacity(codes.len());
                for &code in codes {
                    let mut found = ptr::null();
                    runtime.check(ep.tensor_data_type(code, &mut found))?;
                    types.push(found);
                }
                let status =
                    ep.add_types(builder, constraint.as_ptr(), types.as_ptr(), types.len());
                runtime.check(status)?;
            }
            if self.in_place {
                runtime.check(ep.add_mutable_aliases(builder, &0, &0, 1))?;
            }
            runtime.check(ep.build(builder, &mut definition))?;
        }
        Ok(definition)
    }
}

/// A kernel as the runtime holds it. The runtime's struct is first, so that both have one address.
#[repr(C)]
struct Registered {
    table: OrtKernelImpl,
    kernel: Kernel,
}

/// # Safety
/// The runtime calls it, with a kernel that was made here.
unsafe extern "system" fn compute(
    this: *mut OrtKernelImpl,
    context: *mut OrtKernelContext,
) -> *mut OrtStatus {
    // SAFETY: made by `create`, and not yet released.
    let kernel = unsafe { &(*this.cast::<Registered>()).kernel };
    // SAFETY: the runtime called the node with this context.
    kernel.runtime().answer(|| unsafe { kernel.compute(context) })
}

/// # Safety
/// The runtime calls it once, with a kernel that was made here.
unsafe extern "system" fn release(this: *mut OrtKernelImpl) {
    // SAFETY: made by `create` from a box.
    drop(unsafe { Box::from_raw(this.cast::<Registered>()) });
}

/// # Safety
/// The runtime calls it, with the state that the kernel was registered with.
unsafe extern "system" fn create_reverse_sequence(
    state: *mut c_void,
    info: *const OrtKernelInfo,
    out: *mut *mut OrtKernelImpl,
) -> *mut OrtStatus {
    // SAFETY: passed on.
    unsafe { create(state, info, out, reverse_sequence) }
}

/// # Safety
/// The runtime calls it, with the state that the kernel was registered with.
unsafe extern "system" fn create_slice(
    state: *mut c_void,
    info: *const OrtKernelInfo,
    out: *mut *mut OrtKernelImpl,
) -> *mut OrtStatus {
    // SAFETY: passed on.
    unsafe { create(state, info, out, |_, _| Ok(Operation::Slice)) }
}

/// # Safety
/// `state` is that of a registry, and `info` the runtime's.
unsafe fn create(
    state: *mut c_void,
    info: *const OrtKernelInfo,
    out: *mut *mut OrtKernelImpl,
    operation: unsafe fn(&Makers, *const OrtKernelInfo) -> Result<Operation, Failure>,
) -> *mut OrtStatus {
    // SAFETY: the state of a registry, which is alive.
    let makers = unsafe { &*state.cast::<Makers>() };
    let runtime = makers.runtime;
    // SAFETY: the runtime's own description of the node; `out` is for the kernel.
    runtime.answer(|| unsafe {
        let operation = operation(makers, info)?;
        let mut count = 0;
        runtime.check(runtime.api.kernel_input_count(info, &mut count))?;
        let position = |index: usize| (index < count).then_some(index);
        let inputs: Inputs = std::array::from_fn(position);
        let table = OrtKernelImpl {
            version: runtime.version,
            flags: 0,
            compute,
            release,
            pre_pack_weight: unused(),
            set_shared_pre_packed_weight: unused(),
        };
        let constants = constants(&runtime, info, operation, &inputs);
        let kernel = Kernel::new(runtime, operation, inputs, constants);
        *out = Box::into_raw(Box::new(Registered { table, kernel })).cast();
        Ok(())
    })
}

/// The operands of a `Slice`, if all that it has are constant.
///
/// # Safety
/// As for [`create`].
unsafe fn constants(
    runtime: &Runtime,
    info: *const OrtKernelInfo,
    operation: Operation,
    inputs: &Inputs,
) -> Option<Operands> {
    if operation != Operation::Slice {
        return None;
    }
    let read = |index: usize, name: &str| {
        if inputs[index].is_none() {
            return Ok(None);
        }
        let (mut constant, mut value) = (0, ptr::null());
        // SAFETY: the runtime's own description of the node, which has this input; a constant
        // lives as long as the session.
        unsafe {
            let status = runtime.api.kernel_constant(info, index, &mut constant, &mut value);
            if !runtime.succeeded(status) || constant == 0 || value.is_null() {
                return Err(());
            }
            let tensor = Tensor::new(runtime, value);
            let integers = tensor.and_then(|tensor| tensor.integers(runtime, name));
            integers.map(Some).map_err(|failure| failure.release(runtime))
        }
    };
    Operands::read(read, |_| ()).ok()
}

/// # Safety
/// As for [`create`].
unsafe fn reverse_sequence(
    makers: &Makers,
    info: *const OrtKernelInfo,
) -> Result<Operation, Failure> {
    let runtime = &makers.runtime;
    let attribute = |name: &CStr, default: i64| {
        let mut value = default;
        // SAFETY: the runtime's own description of the node.
        let status = unsafe { runtime.api.kernel_attribute(info, name.as_ptr(), &mut value) };
        if runtime.succeeded(status) { value } else { default }
    };
    let (time, batch) =
        (attribute(c"time_axis", DEFAULT_TIME), attribute(c"batch_axis", DEFAULT_BATCH));
    let Some(axes) = Axes::new(time, batch) else {
        let text = format!("ReverseSequence: time_axis is {time} and batch_axis {batch}");
        return Err(Failure::argument(text));
    };
    // SAFETY: the runtime creates this kernel for our provider.
    let options = unsafe { (makers.options_of)(runtime, info)? };
    Ok(Operation::ReverseSequence(axes, options.policy))
}
