//! A device with its kernels: the caller's, or one that is opened here.

use crate::cut::Window;
use crate::error::Error;
use crate::kernels::Kernels;
use crate::report::Reports;
use std::sync::Arc;

/// Which adapter is opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Options {
    /// A software adapter only, such as lavapipe.
    pub software: bool,
    /// The number of the adapter, in the order of [`Gpu::adapters`]; otherwise the fastest.
    pub number: Option<usize>,
    /// The limits that every WebGPU device has, instead of those of the adapter: bindings of
    /// 128 MiB.
    pub default_limits: bool,
}

/// A device that runs plans, with its report of invalid lengths.
///
/// Calls are submitted in order. A clone is the same device with the same report.
#[derive(Debug, Clone)]
pub struct Gpu {
    shared: Arc<Shared>,
    window: Window,
    words_each: u32,
    tests_small: bool,
    pub(crate) reports: Arc<Reports>,
    pub(crate) report: u32,
}

#[derive(Debug)]
struct Shared {
    device: wgpu::Device,
    queue: wgpu::Queue,
    kernels: Kernels,
    /// What is bound where a kernel needs nothing: one to read, one to write.
    nothing: [wgpu::Buffer; 2],
    groups: u32,
    info: wgpu::AdapterInfo,
}

impl Gpu {
    /// Opens the fastest adapter, with its own limits.
    pub async fn new() -> Result<Self, Error> {
        Self::open(Options::default()).await
    }

    /// Opens an adapter.
    pub async fn open(options: Options) -> Result<Self, Error> {
        let adapter = match options.number {
            Some(number) => {
                let mut all = adapters().await;
                let count = all.len();
                let none = || format!("there is no adapter number {number}: there are {count}");
                match number < count {
                    true => all.swap_remove(number),
                    false => return Err(Error::NoDevice { reason: none() }),
                }
            }
            None => best(options.software).await?,
        };
        let found = adapter.limits();
        let mut limits = wgpu::Limits::default().or_worse_values_from(&found);
        if !options.default_limits {
            limits.max_storage_buffer_binding_size = found.max_storage_buffer_binding_size;
            limits.max_buffer_size = found.max_buffer_size;
        }
        let descriptor = wgpu::DeviceDescriptor {
            label: Some("retrograde"),
            required_limits: limits,
            ..Default::default()
        };
        let refused =
            |error: wgpu::RequestDeviceError| Error::NoDevice { reason: error.to_string() };
        let (device, queue) = adapter.request_device(&descriptor).await.map_err(refused)?;
        Ok(Self::from_device(device, queue))
    }

    /// The names of the adapters here.
    pub async fn adapters() -> Vec<String> {
        let name = |adapter: &wgpu::Adapter| {
            let info = adapter.get_info();
            format!("{} ({})", info.name, info.backend)
        };
        adapters().await.iter().map(name).collect()
    }

    /// On a device of the caller's. Its limits are respected, and it needs no features.
    pub fn from_device(device: wgpu::Device, queue: wgpu::Queue) -> Self {
        let info = device.adapter_info();
        // Several loads in flight hide the latency of memory. Processors do that themselves, and
        // take long to compile large kernels.
        let words_each = if info.device_type == wgpu::DeviceType::Cpu { 1 } else { 4 };
        let limits = device.limits();
        let window = Window::of(
            limits.max_storage_buffer_binding_size,
            limits.min_storage_buffer_offset_alignment.into(),
        );
        let nothing = [(), ()].map(|()| {
            device.create_buffer(&wgpu::BufferDescriptor {
                label: Some("retrograde: nothing"),
                size: 16,
                usage: wgpu::BufferUsages::STORAGE,
                mapped_at_creation: false,
            })
        });
        let kernels = Kernels::new(&device);
        let reports = Arc::new(Reports::on(&device, 1));
        let groups = limits.max_compute_workgroups_per_dimension;
        let shared = Shared { device, queue, kernels, nothing, groups, info };
        Gpu { shared: Arc::new(shared), window, words_each, tests_small: false, reports, report: 0 }
    }

    /// The device.
    pub fn device(&self) -> &wgpu::Device {
        &self.shared.device
    }

    /// Its queue.
    pub fn queue(&self) -> &wgpu::Queue {
        &self.shared.queue
    }

    /// The adapter's name and interface.
    pub fn name(&self) -> String {
        format!("{} ({})", self.shared.info.name, self.shared.info.backend)
    }

    /// The same device with another report.
    ///
    /// # Panics
    /// If there is no such report.
    pub fn reporting_to(&self, reports: &Arc<Reports>, at: usize) -> Gpu {
        assert!(at < reports.len(), "report {at} of {}", reports.len());
        Gpu { reports: reports.clone(), report: at as u32, ..self.clone() }
    }

    /// The same device as if a binding took at most so many bytes: larger tensors are cut into more
    /// pieces. No fewer than 1024, and no more than the device takes. Lengths are never cut.
    pub fn with_bindings_of(&self, bytes: u64) -> Gpu {
        let most = (bytes / 4 * 4).clamp(1024, self.window.most);
        Gpu { window: Window { most, ..self.window }, ..self.clone() }
    }

    /// The same device with kernels as on a GPU, or as on a processor, for tests.
    #[doc(hidden)]
    pub fn with_words_each(&self, words: u32) -> Gpu {
        Gpu { words_each: if words > 1 { 4 } else { 1 }, ..self.clone() }
    }

    /// The same device, on which small tensors take the kernels of large ones, for tests.
    #[doc(hidden)]
    pub fn testing_small(&self) -> Gpu {
        Gpu { tests_small: true, ..self.clone() }
    }

    pub(crate) fn tests_small(&self) -> bool {
        self.tests_small
    }

    pub(crate) fn words_each(&self) -> u32 {
        self.words_each
    }

    pub(crate) fn kernels(&self) -> &Kernels {
        &self.shared.kernels
    }

    pub(crate) fn window(&self) -> Window {
        self.window
    }

    /// The most bytes of a binding that cannot be cut.
    pub(crate) fn most_bound(&self) -> u64 {
        self.device().limits().max_storage_buffer_binding_size
    }

    /// The most workgroups along one dimension of a grid.
    pub(crate) fn most_groups(&self) -> u32 {
        self.shared.groups
    }

    pub(crate) fn nothing_to_read(&self) -> &wgpu::Buffer {
        &self.shared.nothing[0]
    }

    pub(crate) fn nothing_to_write(&self) -> &wgpu::Buffer {
        &self.shared.nothing[1]
    }
}

fn instance() -> wgpu::Instance {
    // The environment chooses among interfaces (WGPU_BACKEND).
    wgpu::Instance::new(wgpu::InstanceDescriptor::new_without_display_handle_from_env())
}

async fn adapters() -> Vec<wgpu::Adapter> {
    instance().enumerate_adapters(wgpu::Backends::all()).await
}

async fn best(software: bool) -> Result<wgpu::Adapter, Error> {
    let options = wgpu::RequestAdapterOptions {
        power_preference: wgpu::PowerPreference::HighPerformance,
        force_fallback_adapter: software,
        ..Default::default()
    };
    let missing = |error: wgpu::RequestAdapterError| Error::NoDevice { reason: error.to_string() };
    instance().request_adapter(&options).await.map_err(missing)
}
