//! Compiled kernels: one pipeline for each specialisation, made when it is first needed.

use crate::dispatches::Key;
use crate::source::SOURCE;
use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

/// The kernels of a device.
#[derive(Debug)]
pub(crate) struct Kernels {
    module: wgpu::ShaderModule,
    pub(crate) bindings: wgpu::BindGroupLayout,
    layout: wgpu::PipelineLayout,
    made: Mutex<HashMap<Key, wgpu::ComputePipeline>>,
}

impl Kernels {
    pub(crate) fn new(device: &wgpu::Device) -> Self {
        let source = wgpu::ShaderModuleDescriptor {
            label: Some("retrograde"),
            source: wgpu::ShaderSource::Wgsl(SOURCE.into()),
        };
        let checks = wgpu::ShaderRuntimeChecks {
            force_loop_bounding: false,
            ..wgpu::ShaderRuntimeChecks::checked()
        };
        // SAFETY: accesses are still checked. Every loop ends, whatever is in memory: those over
        // dimensions and rows count them, those over grains advance by at least one (a part of a
        // row contains the grain that it was found for), and the search for a segment halves its
        // range.
        let module = unsafe { device.create_shader_module_trusted(source, checks) };
        let bound = |(binding, ty): (usize, wgpu::BufferBindingType)| wgpu::BindGroupLayoutEntry {
            binding: binding as u32,
            visibility: wgpu::ShaderStages::COMPUTE,
            ty: wgpu::BindingType::Buffer { ty, has_dynamic_offset: false, min_binding_size: None },
            count: None,
        };
        let storage = |read_only| wgpu::BufferBindingType::Storage { read_only };
        // Input, output, lengths, report, parameters.
        let types = [
            storage(true),
            storage(false),
            storage(true),
            storage(false),
            wgpu::BufferBindingType::Uniform,
        ];
        let entries: Vec<_> = types.into_iter().enumerate().map(bound).collect();
        let bindings = device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor {
            label: Some("retrograde"),
            entries: &entries,
        });
        let layout = device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
            label: Some("retrograde"),
            bind_group_layouts: &[Some(&bindings)],
            immediate_size: 0,
        });
        Kernels { module, bindings, layout, made: Mutex::default() }
    }

    /// The pipeline for a specialisation.
    pub(crate) fn get(&self, device: &wgpu::Device, key: Key) -> wgpu::ComputePipeline {
        let mut made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        made.entry(key).or_insert_with(|| self.make(device, key)).clone()
    }

    fn make(&self, device: &wgpu::Device, key: Key) -> wgpu::ComputePipeline {
        device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
            label: Some(key.entry()),
            layout: Some(&self.layout),
            module: &self.module,
            entry_point: Some(key.entry()),
            compilation_options: wgpu::PipelineCompilationOptions {
                constants: &key.constants(),
                // A kernel writes what it uses of it. What it reads beyond that chooses bits that
                // are not written, from addresses that are checked.
                zero_initialize_workgroup_memory: false,
            },
            cache: None,
        })
    }
}
