//! The provider of one session.

use crate::claim::claim;
use crate::compile;
use crate::ffi::{
    OrtEp, OrtEpGraphSupportInfo, OrtGraph, OrtKernelInfo, OrtKernelRegistry, OrtLogger, OrtNode,
    OrtNodeComputeInfo, OrtStatus, unused,
};
use crate::live::Live;
use crate::options::Options;
use crate::report::Report;
use crate::runtime::{Failure, Runtime};
use std::ffi::{CStr, c_char, c_int};
use std::ptr;
use std::sync::{Mutex, PoisonError};

/// The name that users choose the provider by.
pub(crate) const NAME: &CStr = c"RetrogradeExecutionProvider";

/// Channels first, which every provider has unless it says otherwise (`OrtEpDataLayout_NCHW`).
const CHANNELS_FIRST: c_int = 0;

/// A provider as the runtime holds it. The runtime's struct is first, so that both have one
/// address.
#[repr(C)]
pub(crate) struct Provider {
    table: OrtEp,
    runtime: Runtime,
    options: Options,
    logger: *const OrtLogger,
    registry: *const OrtKernelRegistry,
    report: Mutex<Report>,
    /// Why no session can be made. The runtime answers an error of `CreateEp` or `GetCapability`
    /// with a session on the CPU: Python's `InferenceSession` tries again without the provider, and
    /// the other one is only logged. So both are kept until the runtime asks for something whose
    /// error ends the initialization of the session (`get_preferred_data_layout`).
    fault: Mutex<Option<Failure>>,
    _live: Live,
}

impl Provider {
    /// The provider of a session with these options, on the heap; [`release`](Self::release)
    /// releases it. With invalid options, the session gets an error when it is initialized.
    ///
    /// # Safety
    /// The logger is the session's. The registry is null or one that outlives the provider.
    pub(crate) unsafe fn create(
        runtime: Runtime,
        options: Result<Options, Failure>,
        logger: *const OrtLogger,
        registry: *const OrtKernelRegistry,
    ) -> *mut OrtEp {
        let compiles = !runtime.has_registries();
        let table = OrtEp {
            version: runtime.version,
            get_name,
            get_capability,
            compile: if compiles { Some(compile_nodes) } else { None },
            release_node_compute_infos: if compiles { Some(release_nodes) } else { None },
            get_preferred_data_layout,
            should_convert_data_layout_for_op: unused(),
            set_dynamic_options: unused(),
            on_run_start: unused(),
            on_run_end: unused(),
            create_allocator: unused(),
            create_sync_stream_for_device: unused(),
            get_compiled_model_compatibility_info: unused(),
            get_kernel_registry: if compiles { None } else { Some(get_kernel_registry) },
            is_concurrent_run_supported: unused(),
        };
        let report = Report::default();
        let checked = options.and_then(|options| {
            // A path that cannot be written to is reported now, whatever the model has.
            report.write_to(&options)?;
            Ok(options)
        });
        let (options, fault) = match checked {
            Ok(options) => (options, None),
            Err(fault) => (Options::default(), Some(fault)),
        };
        let (report, fault) = (Mutex::new(report), Mutex::new(fault));
        let _live = Live::new();
        let provider = Provider { table, runtime, options, logger, registry, report, fault, _live };
        Box::into_raw(Box::new(provider)).cast()
    }

    /// # Safety
    /// Made by [`create`](Self::create), and released once.
    pub(crate) unsafe fn release(ep: *mut OrtEp) {
        // SAFETY: as required.
        let provider = unsafe { Box::from_raw(ep.cast::<Provider>()) };
        let fault = provider.fault.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(fault) = fault {
            fault.release(&provider.runtime);
        }
    }

    /// The options of the session that a kernel is created for.
    ///
    /// # Safety
    /// The runtime creates the kernel for one of our providers.
    pub(crate) unsafe fn options_of(
        runtime: &Runtime,
        info: *const OrtKernelInfo,
    ) -> Result<Options, Failure> {
        let mut ep = ptr::null();
        // SAFETY: the runtime's own description of a kernel, whose provider was made by `create`.
        unsafe {
            runtime.check(runtime.ep.kernel_provider(info, &mut ep))?;
            Ok((*ep.cast::<Provider>()).options.clone())
        }
    }
}

/// # Safety
/// The runtime calls it.
unsafe extern "system" fn get_name(_: *const OrtEp) -> *const c_char {
    NAME.as_ptr()
}

/// # Safety
/// The runtime calls it, with a provider that was made here and its own graph.
unsafe extern "system" fn get_capability(
    this: *mut OrtEp,
    graph: *const OrtGraph,
    info: *mut OrtEpGraphSupportInfo,
) -> *mut OrtStatus {
    // SAFETY: made by `create`, and not yet released.
    let provider = unsafe { &*this.cast::<Provider>() };
    let Provider { runtime, options, logger, .. } = provider;
    runtime.answer(|| {
        let mut fault = provider.fault.lock().unwrap_or_else(PoisonError::into_inner);
        if fault.is_some() {
            return Ok(());
        }
        let mut report = provider.report.lock().unwrap_or_else(PoisonError::into_inner);
        // SAFETY: passed on.
        let claimed = unsafe { claim(runtime, options, *logger, graph, info, &mut report) };
        *fault = claimed.and_then(|()| report.write_to(options)).err();
        Ok(())
    })
}

/// Nothing depends on the layout here. The runtime asks for it after [`get_capability`], while it
/// initializes the session, and passes an error on.
///
/// # Safety
/// The runtime calls it, with a provider that was made here.
unsafe extern "system" fn get_preferred_data_layout(
    this: *mut OrtEp,
    out: *mut c_int,
) -> *mut OrtStatus {
    // SAFETY: made by `create`, and not yet released.
    let provider = unsafe { &*this.cast::<Provider>() };
    provider.runtime.answer(|| {
        // SAFETY: `out` is for the layout.
        unsafe { *out = CHANNELS_FIRST };
        match provider.fault.lock().unwrap_or_else(PoisonError::into_inner).take() {
            Some(fault) => Err(fault),
            None => Ok(()),
        }
    })
}

/// # Safety
/// The runtime calls it, with a provider that was made here.
unsafe extern "system" fn get_kernel_registry(
    this: *mut OrtEp,
    out: *mut *const OrtKernelRegistry,
) -> *mut OrtStatus {
    // SAFETY: made by `create`, and not yet released; `out` is for the registry.
    unsafe { *out = (*this.cast::<Provider>()).registry };
    ptr::null_mut()
}

/// # Safety
/// The runtime calls it, with graphs that this provider claimed and the nodes that stand for them.
unsafe extern "system" fn compile_nodes(
    this: *mut OrtEp,
    graphs: *const *const OrtGraph,
    fused: *const *const OrtNode,
    count: usize,
    infos: *mut *mut OrtNodeComputeInfo,
    _: *mut *mut OrtNode,
) -> *mut OrtStatus {
    // SAFETY: made by `create`, and not yet released.
    let provider = unsafe { &*this.cast::<Provider>() };
    provider.runtime.answer(|| {
        for at in 0..count {
            // SAFETY: there are `count` of each. If one fails, the runtime releases the others.
            unsafe {
                let (graph, fused) = (*graphs.add(at), *fused.add(at));
                let compiled = compile::compile(provider.runtime, &provider.options, graph, fused)?;
                *infos.add(at) = compiled;
            }
        }
        Ok(())
    })
}

/// # Safety
/// The runtime calls it, with what [`compile_nodes`] made.
unsafe extern "system" fn release_nodes(
    _: *mut OrtEp,
    infos: *mut *mut OrtNodeComputeInfo,
    count: usize,
) {
    for at in 0..count {
        // SAFETY: there are `count`, each made by `compile`, or null.
        unsafe { compile::release(*infos.add(at)) };
    }
}
