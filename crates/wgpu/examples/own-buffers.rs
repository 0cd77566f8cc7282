//! Reverses sequences inside an application that already uses wgpu: its device, its queue, its
//! buffers and its command encoder. The lengths are on the device, too.

use retrograde::{DType, Layout, LengthsOperator, ReverseSequence};
use retrograde_wgpu::wgpu::{self, util::DeviceExt};
use retrograde_wgpu::{Gpu, View};
use std::error::Error;

fn main() -> Result<(), Box<dyn Error>> {
    pollster::block_on(run())
}

async fn run() -> Result<(), Box<dyn Error>> {
    // What the application has.
    let instance =
        wgpu::Instance::new(wgpu::InstanceDescriptor::new_without_display_handle_from_env());
    let adapter = instance.request_adapter(&Default::default()).await?;
    let (device, queue) = adapter.request_device(&Default::default()).await?;
    let buffer = |contents: &[u8]| {
        device.create_buffer_init(&wgpu::util::BufferInitDescriptor {
            label: None,
            contents,
            usage: wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_SRC,
        })
    };
    // A batch of three sequences of up to four steps, and their lengths.
    let batch: [f32; 12] = [1., 2., 3., 4., 5., 6., 0., 0., 7., 8., 9., 0.];
    let input = buffer(bytemuck::cast_slice(&batch));
    let output = buffer(bytemuck::cast_slice(&[0f32; 12]));
    let lengths = buffer(bytemuck::cast_slice(&[4i32, 2, 3]));

    // Planned once, bound once, recorded as often as the application wants.
    let gpu = Gpu::from_device(device.clone(), queue.clone());
    let rows = Layout::dense(DType::F32, &[3, 4])?;
    let lanes = Layout::dense(DType::I32, &[3])?;
    let plan = ReverseSequence::new().time_axis(1).batch_axis(0).plan(&rows, &lanes, &rows)?;
    let lengths = (DType::I32, View::whole(&lengths)).into();
    let bound = gpu.bind(&plan, (&input).into(), Some(lengths), (&output).into())?;
    let mut encoder = device.create_command_encoder(&Default::default());
    bound.encode(&mut encoder);
    queue.submit([encoder.finish()]);

    // Whether all lengths were valid; an application may ask later, or for many calls at once.
    gpu.check().await?;
    let bytes = gpu.download(&output, 0..48).await?;
    let reversed: Vec<f32> =
        bytes.as_chunks().0.iter().map(|&number| f32::from_ne_bytes(number)).collect();
    println!("{batch:?}\n{reversed:?}");
    assert_eq!(reversed, [4., 3., 2., 1., 6., 5., 0., 0., 9., 8., 7., 0.]);
    Ok(())
}
