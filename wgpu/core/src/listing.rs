//! A call as data, for callers that talk to WebGPU themselves: JavaScript in a browser.
//!
//! Nothing here needs a device. [`SOURCE`](crate::SOURCE) is the module of the kernels; their five
//! bindings are input, output, lengths, a report of 64 bytes, and parameters.

use crate::choose::{self, Kernel, Route};
use crate::cut::Window;
use crate::error::Error;
use crate::params::{MOST_AXES, Params, Read, Site};
use crate::shape::Shape;
use crate::source::{entry, overrides};
use retrograde::Plan;
use std::ops::Range;

/// Words that an invocation takes: as on GPUs.
const WORDS_EACH: u32 = 4;

/// What a device allows, by WebGPU's names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// `maxStorageBufferBindingSize`.
    pub binding_size: u64,
    /// `minStorageBufferOffsetAlignment`.
    pub offset_alignment: u64,
    /// `maxComputeWorkgroupsPerDimension`.
    pub workgroups: u32,
}

/// One dispatch of a call.
#[derive(Debug, Clone, PartialEq)]
pub struct Dispatch {
    /// The entry point.
    pub entry: &'static str,
    /// The constants of the pipeline.
    pub constants: Vec<(&'static str, f64)>,
    /// The parameters, for a uniform buffer.
    pub params: Vec<u8>,
    /// Workgroups.
    pub grid: [u32; 2],
    /// The bytes of the input to bind; `None` if the kernel swaps elements of the output.
    pub src: Option<Range<u64>>,
    /// The bytes of the output to bind.
    pub dst: Range<u64>,
}

/// The dispatches of a plan from one buffer to another, in order.
///
/// Both tensors begin with the first byte of their buffers, whose sizes are multiples of 4. So do
/// lengths, which are dense, and which the caller has checked ([`cpu::Checked`](retrograde::cpu)).
pub fn list(plan: &Plan, limits: Limits) -> Result<Vec<Dispatch>, Error> {
    check(plan)?;
    let shape = Shape::of(plan);
    if choose::choose(plan, &shape).route == Route::Nothing {
        return Ok(Vec::new());
    }
    let pieces = shape.pieces(window(limits), 0, 0);
    let listed = pieces.iter().map(|piece| {
        dispatch(plan, choose::specialised(Route::Gather, piece), piece, limits, false)
    });
    Ok(listed.collect())
}

/// The same in one buffer; `None` if the plan has to read a copy of it, as [`list`] lists it.
pub fn list_in_place(plan: &Plan, limits: Limits) -> Result<Option<Vec<Dispatch>>, Error> {
    check(plan)?;
    let shape = Shape::of(plan);
    let fits = shape.fits(window(limits), 0, 0);
    let kernel = choose::choose_in_place(plan, &shape, 0, fits);
    Ok(match kernel.route {
        Route::Nothing => Some(Vec::new()),
        Route::Exchange => Some(vec![dispatch(plan, kernel, &shape, limits, true)]),
        _ => None,
    })
}

/// What the kernels' parameters cannot count.
fn check(plan: &Plan) -> Result<(), Error> {
    let lengths = plan.lengths();
    let rank = plan.dims().len().max(lengths.map_or(0, |lengths| lengths.dims.len()));
    if rank > MOST_AXES {
        return Err(Error::TooManyDims { rank, most: MOST_AXES });
    }
    let most = u64::from(u32::MAX) - 1;
    let steps = lengths.map_or(0, |lengths| lengths.limit.max(lengths.count()) as u64);
    if steps > most {
        return Err(Error::TooManySteps { steps, most });
    }
    Ok(())
}

fn window(limits: Limits) -> Window {
    Window {
        most: u64::from(u32::MAX).min(limits.binding_size) / 4 * 4,
        // Words begin at multiples of 4 of what is bound.
        aligned: limits.offset_alignment.max(4),
    }
}

fn dispatch(
    plan: &Plan,
    kernel: Kernel,
    shape: &Shape,
    limits: Limits,
    in_place: bool,
) -> Dispatch {
    let window = window(limits);
    let per_byte = shape.grain.per_byte() as u64;
    let lengths = plan.lengths().filter(|lengths| lengths.count() > 0);
    let lengths = lengths.map(|lengths| (lengths, Read::default()));
    let mut params = Params::of(shape, lengths, Site::of(shape, window, 0, 0));
    let grid = params.grid(WORDS_EACH, limits.workgroups);
    let bytes = |reach: Range<u64>| window.bytes(&reach, per_byte, 0);
    Dispatch {
        entry: entry(&kernel),
        constants: overrides(&kernel, WORDS_EACH),
        params: bytemuck::bytes_of(&params).to_vec(),
        grid: [grid.x, grid.y],
        src: (!in_place).then(|| bytes(shape.src_reach())),
        dst: bytes(shape.dst_reach()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use retrograde::{DType, Layout, Reverse};

    const LIMITS: Limits =
        Limits { binding_size: 1 << 27, offset_alignment: 256, workgroups: 65535 };

    fn plan(dtype: DType, shape: &[usize]) -> Plan {
        let layout = Layout::dense(dtype, shape).unwrap();
        Reverse::axes([-1]).plan(&layout, &layout).unwrap()
    }

    #[test]
    fn one_dispatch_covers_a_small_tensor() {
        let listed = list(&plan(DType::F32, &[3, 5]), LIMITS).unwrap();
        let [one] = &listed[..] else { panic!("{listed:?}") };
        assert_eq!((one.entry, one.grid), ("gather", [1, 1]));
        assert_eq!((one.src.clone(), one.dst.clone()), (Some(0..60), 0..60));
        assert!(list(&plan(DType::F32, &[0, 5]), LIMITS).unwrap().is_empty());
    }

    #[test]
    fn words_are_exchanged_and_parts_of_them_need_a_copy() {
        let words = list_in_place(&plan(DType::F32, &[3, 5]), LIMITS).unwrap().unwrap();
        assert_eq!((words[0].entry, words[0].src.clone()), ("exchange", None));
        assert_eq!(list_in_place(&plan(DType::U8, &[3, 5]), LIMITS).unwrap(), None);
    }

    #[test]
    fn large_tensors_are_cut_to_the_limit() {
        let limits = Limits { binding_size: 4096, ..LIMITS };
        let listed = list(&plan(DType::F32, &[64, 64]), limits).unwrap();
        assert!(listed.len() >= 4, "{}", listed.len());
        for one in &listed {
            assert!(one.dst.end - one.dst.start <= 4096);
            assert!(one.dst.start.is_multiple_of(256));
        }
    }
}
