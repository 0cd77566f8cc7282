//! A CUDA device: its context, kernels and capabilities.

use crate::alarm::Alarm;
use crate::error::{Error, WithOperation, describe};
use crate::image;
use crate::kernel::{Entry, Kernel};
use crate::limits::Limits;
use crate::pool::{self, Pool};
use crate::scratch::ScratchPool;
use cudarc::driver::{DriverError, result, sys};
use std::ffi::{CString, c_int};
use std::sync::{Arc, Mutex, OnceLock};

/// A CUDA device, ready to run plans. Cheap to clone.
///
/// It shares the device's primary context with other users in the process, such as PyTorch, so that
/// their memory and streams can be used here.
#[derive(Clone)]
pub struct Cuda {
    shared: Arc<Shared>,
    limits: Limits,
}

struct Shared {
    ordinal: usize,
    device: sys::CUdevice,
    context: sys::CUcontext,
    module: sys::CUmodule,
    functions: Functions,
    name: String,
    capability: (u32, u32),
    driver: (u32, u32),
    /// Shared with threads that have reports of their own.
    reports: Arc<Mutex<Pool>>,
    alarm: Alarm,
    /// Created when it is first needed; `None` if the driver has no memory pools.
    scratch: OnceLock<Option<ScratchPool>>,
}

// SAFETY: the driver's handles may be used from any thread, and the rest is locked.
unsafe impl Send for Shared {}
// SAFETY: as above.
unsafe impl Sync for Shared {}

/// The number of CUDA devices; the error says why there are none.
pub fn device_count() -> Result<usize, Error> {
    if !driver_is_installed() {
        let reason = format!("the NVIDIA driver ({DRIVER}) is not installed");
        return Err(Error::NoDevice { reason });
    }
    let none = |error: DriverError| Error::NoDevice { reason: describe(error) };
    result::init().map_err(none)?;
    match result::device::get_count().map_err(none)? {
        0 => Err(Error::NoDevice { reason: "the driver found none".to_owned() }),
        count => Ok(count as usize),
    }
}

/// The driver's library, as it is called in errors.
const DRIVER: &str = if cfg!(windows) { "nvcuda.dll" } else { "libcuda" };

/// Whether the driver's library is there. `cudarc` panics if it is not, and its own check exists only
/// where it loads the library itself. The names are among those that it tries.
fn driver_is_installed() -> bool {
    let names: &[&str] = if cfg!(windows) { &[DRIVER] } else { &["libcuda.so", "libcuda.so.1"] };
    // SAFETY: the driver's initialisers may run at any time; it is what every caller loads next.
    names.iter().any(|name| unsafe { libloading::Library::new(*name) }.is_ok())
}

impl Cuda {
    /// Device number `ordinal`, counted from 0.
    pub fn device(ordinal: usize) -> Result<Self, Error> {
        Self::open(ordinal, true)
    }

    /// The same with kernels that the driver compiles from PTX, as it does for chips that are newer
    /// than this library: slow to open, and without features of newer chips. For tests.
    pub fn device_from_ptx(ordinal: usize) -> Result<Self, Error> {
        Self::open(ordinal, false)
    }

    fn open(ordinal: usize, native: bool) -> Result<Self, Error> {
        let count = device_count()?;
        if ordinal >= count {
            return Err(Error::NoSuchDevice { ordinal, count });
        }
        let device = result::device::get(ordinal as c_int).with_operation("open the device")?;
        let name = result::device::get_name(device).with_operation("query the device's name")?;
        let attribute = |what| {
            // SAFETY: the driver has just returned the device.
            let value = unsafe { result::device::get_attribute(device, what) };
            value.map(|value| value.max(0) as u32).with_operation("query the device")
        };
        use sys::CUdevice_attribute::*;
        let major = attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR)?;
        let minor = attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR)?;
        let shared = attribute(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN)?;
        let multiprocessors = attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)?;
        let cache = u64::from(attribute(CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE)?);
        if (major, minor) < (7, 5) {
            return Err(Error::TooOld { name, major, minor });
        }
        let mut version = 0;
        // SAFETY: writes one integer.
        unsafe { sys::cuDriverGetVersion(&mut version) }
            .result()
            .with_operation("query its version")?;
        let driver = (version as u32 / 1000, version as u32 % 1000 / 10);

        // SAFETY: the driver has just returned the device; released in `Shared::drop`.
        let context = unsafe { result::primary_ctx::retain(device) }
            .with_operation("retain its primary context")?;
        let made = Current::make(context).and_then(|_current| {
            let module = load(major, minor, native)?;
            Ok((module, functions(module, shared)?, Alarm::allocate()?))
        });
        let (module, functions, alarm) = match made {
            Ok(made) => made,
            Err(error) => {
                // SAFETY: retained above, and not released elsewhere. The first error is returned.
                let _ = unsafe { result::primary_ctx::release(device) };
                return Err(error);
            }
        };
        // Clusters need this function: PTX for older chips does not have it.
        let clusters = !functions.get(Entry(Kernel::ClusterColumns, 1)).is_null();
        let mut limits = Limits::new(major, shared as usize, multiprocessors as usize, cache);
        limits.clusters &= clusters;
        let shared = Shared {
            ordinal,
            device,
            context,
            module,
            functions,
            name,
            capability: (major, minor),
            driver,
            reports: Arc::default(),
            alarm,
            scratch: OnceLock::new(),
        };
        let cuda = Cuda { shared: Arc::new(shared), limits };
        let report = cuda.take_report()?;
        cuda.give_report_back(report);
        Ok(cuda)
    }

    /// Its number.
    pub fn ordinal(&self) -> usize {
        self.shared.ordinal
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.shared.name
    }

    /// Its compute capability.
    pub fn capability(&self) -> (u32, u32) {
        self.shared.capability
    }

    /// The newest CUDA version that the driver supports.
    pub fn driver_version(&self) -> (u32, u32) {
        self.shared.driver
    }

    /// The limits that the choice of kernels depends on.
    pub fn limits(&self) -> Limits {
        self.limits
    }

    /// The same device with other limits, to run kernels for smaller devices, and for measurements.
    /// Values above the device's own are reduced.
    pub fn limited(&self, limits: Limits) -> Self {
        let limits = limits.at_most(self.limits.shared, self.limits.clusters);
        Cuda { shared: self.shared.clone(), limits }
    }

    /// Whether kernels themselves wait for the length check before them.
    pub(crate) fn kernels_wait(&self) -> bool {
        // This kernel is compiled only for chips that support it.
        !self.function(Entry(Kernel::ClusterColumns, 4)).is_null()
    }

    /// Free and total bytes of its memory.
    pub fn memory(&self) -> Result<(usize, usize), Error> {
        let _current = self.current()?;
        result::mem_get_info().with_operation("query its free memory")
    }

    /// Makes the context current until the value is dropped.
    pub(crate) fn current(&self) -> Result<Current, Error> {
        Current::make(self.shared.context)
    }

    pub(crate) fn function(&self, entry: Entry) -> sys::CUfunction {
        self.shared.functions.get(entry)
    }

    /// The pool of scratch memory. The context is current.
    pub(crate) fn scratch(&self) -> Option<&ScratchPool> {
        self.shared.scratch.get_or_init(|| ScratchPool::new(self.ordinal()).ok()).as_ref()
    }

    /// The word that kernels set when a report gets an error.
    pub(crate) fn alarm(&self) -> &Alarm {
        &self.shared.alarm
    }

    /// The reports.
    pub(crate) fn reports(&self) -> &Arc<Mutex<Pool>> {
        &self.shared.reports
    }
}

impl std::fmt::Debug for Cuda {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Cuda({}: {})", self.ordinal(), self.name())
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        // Errors are ignored: the process may be ending, and the driver may have shut down.
        if let Ok(_current) = Current::make(self.context) {
            // SAFETY: loaded in `Cuda::device`; everything that can launch from it holds a clone of
            // us.
            let _ = unsafe { result::module::unload(self.module) };
            drop(self.scratch.take());
            for block in pool::lock(&self.reports).blocks.drain(..) {
                // SAFETY: allocated in `take_report`, for streams that hold a clone of us.
                let _ = unsafe { result::free_sync(block) };
            }
            // SAFETY: kernels that write to it were launched by streams that hold a clone of us,
            // and freeing the blocks has waited for them.
            unsafe { self.alarm.free() };
        }
        // SAFETY: retained in `Cuda::device`, released once.
        let _ = unsafe { result::primary_ctx::release(self.device) };
    }
}

/// Loads the kernels for a chip: the first image that the driver accepts.
fn load(major: u32, minor: u32, native: bool) -> Result<sys::CUmodule, Error> {
    let mut last = None;
    for image in image::images(major, minor, native) {
        // SAFETY: a complete cubin, or PTX that is NUL-terminated.
        match unsafe { result::module::load_data(image.as_ptr().cast()) } {
            Ok(module) => return Ok(module),
            Err(error) => last = Some(error),
        }
    }
    let reason = last.map_or_else(|| "there is no image for this chip".to_owned(), describe);
    Err(Error::Driver { what: "load the kernels", reason })
}

/// Every function of the kernels, with as much shared memory as the device allows.
fn functions(module: sys::CUmodule, shared: u32) -> Result<Functions, Error> {
    use sys::CUfunction_attribute::*;
    let mut functions = Functions([[std::ptr::null_mut(); WIDTHS]; Kernel::COUNT]);
    for entry in Entry::all() {
        let Entry(kernel, _) = entry;
        let name = CString::new(entry.name()).expect("names of kernels hold no zero");
        // SAFETY: the module is loaded.
        let function = match unsafe { result::module::get_function(module, name) } {
            Ok(function) => function,
            Err(_) if kernel.clusters() => continue,
            Err(error) => return Err(error).with_operation("find a kernel"),
        };
        let set = |attribute, value: u32| {
            // SAFETY: the function was just found.
            unsafe { result::function::set_function_attribute(function, attribute, value as c_int) }
                .with_operation("set a kernel's shared memory")
        };
        if kernel.stages() {
            set(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, shared)?;
        }
        if kernel == Kernel::ClusterColumns {
            set(CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1)?;
        }
        functions.set(entry, function);
    }
    Ok(functions)
}

/// The functions of the kernels by kernel and width, for fast lookup at each launch.
struct Functions([[sys::CUfunction; WIDTHS]; Kernel::COUNT]);

/// All widths by which kernels are numbered are less than this.
const WIDTHS: usize = 23;

impl Functions {
    /// Null if there is none.
    fn get(&self, Entry(kernel, width): Entry) -> sys::CUfunction {
        self.0[kernel as usize][usize::from(width)]
    }

    fn set(&mut self, Entry(kernel, width): Entry, function: sys::CUfunction) {
        self.0[kernel as usize][usize::from(width)] = function;
    }
}

/// A context that is current on this thread; the previous one is restored on drop.
pub(crate) struct Current {
    /// Whether ours was pushed onto the stack.
    pushed: bool,
}

impl Current {
    fn make(context: sys::CUcontext) -> Result<Self, Error> {
        if result::ctx::get_current().with_operation("query the current context")? == Some(context)
        {
            return Ok(Current { pushed: false });
        }
        // SAFETY: the context is retained for as long as a `Cuda` exists.
        unsafe { sys::cuCtxPushCurrent_v2(context) }
            .result()
            .with_operation("make its context current")?;
        Ok(Current { pushed: true })
    }
}

impl Drop for Current {
    fn drop(&mut self) {
        if self.pushed {
            let mut popped = std::ptr::null_mut();
            // SAFETY: pops what `make` pushed on this thread: a `Current` does not cross threads.
            let _ = unsafe { sys::cuCtxPopCurrent_v2(&mut popped) };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_function_has_its_place() {
        let mut seen = [[false; WIDTHS]; Kernel::COUNT];
        for entry in Entry::all() {
            let Entry(kernel, width) = entry;
            let place = &mut seen[kernel as usize][usize::from(width)];
            assert!(!std::mem::replace(place, true), "{} twice", entry.name());
        }
    }
}
