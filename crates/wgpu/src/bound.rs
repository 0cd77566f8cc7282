//! A call that is ready to encode.

use crate::params::Grid;

/// A plan bound to buffers: what a command encoder records, as often as wanted.
///
/// It keeps the buffers, and temporary ones, alive.
#[derive(Debug, Clone)]
pub struct Bound {
    pub(crate) steps: Vec<Step>,
}

#[derive(Debug, Clone)]
pub(crate) enum Step {
    Copy { from: wgpu::Buffer, start: u64, to: wgpu::Buffer, len: u64 },
    Dispatch { pipeline: wgpu::ComputePipeline, group: wgpu::BindGroup, grid: Grid },
}

impl Bound {
    /// Records the call. Nothing runs before the caller submits.
    pub fn encode(&self, encoder: &mut wgpu::CommandEncoder) {
        let mut steps = self.steps.iter().peekable();
        while let Some(step) = steps.peek() {
            if let Step::Copy { from, start, to, len } = step {
                encoder.copy_buffer_to_buffer(from, *start, to, 0, *len);
                steps.next();
                continue;
            }
            let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor::default());
            while let Some(Step::Dispatch { pipeline, group, grid }) =
                steps.next_if(|step| matches!(step, Step::Dispatch { .. }))
            {
                pass.set_pipeline(pipeline);
                pass.set_bind_group(0, group, &[]);
                pass.dispatch_workgroups(grid.x, grid.y, 1);
            }
        }
    }

    /// Number of dispatches and copies that it records.
    pub fn len(&self) -> usize {
        self.steps.len()
    }

    /// Whether it records nothing.
    pub fn is_empty(&self) -> bool {
        self.steps.is_empty()
    }
}
