//! Planning an operator, and running a plan on a small tensor, asks the heap for nothing. Its own
//! test binary, because it counts what the whole process allocates.

use retrograde::{
    DType, Layout, LengthsOperator, Orient, Orientation, Plan, Reversal, Reverse, ReverseSequence,
    ReverseSubsequences, cpu,
};
use std::alloc::{GlobalAlloc, Layout as Block, System};
use std::cell::Cell;
use std::hint::black_box;

thread_local! {
    static COUNT: Cell<usize> = const { Cell::new(0) };
}

/// The system's allocator, counting what the current thread asks for.
struct Counting;

fn count() {
    // A thread that is ending has no counter any more, and nothing here to count.
    let _ = COUNT.try_with(|count| count.set(count.get() + 1));
}

// SAFETY: every call goes to the system's allocator as it came.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, block: Block) -> *mut u8 {
        count();
        // SAFETY: the contract of `GlobalAlloc`, passed on to the system's allocator.
        unsafe { System.alloc(block) }
    }

    unsafe fn alloc_zeroed(&self, block: Block) -> *mut u8 {
        count();
        // SAFETY: the contract of `GlobalAlloc`, passed on to the system's allocator.
        unsafe { System.alloc_zeroed(block) }
    }

    unsafe fn realloc(&self, old: *mut u8, block: Block, size: usize) -> *mut u8 {
        count();
        // SAFETY: the contract of `GlobalAlloc`, passed on to the system's allocator.
        unsafe { System.realloc(old, block, size) }
    }

    unsafe fn dealloc(&self, old: *mut u8, block: Block) {
        // SAFETY: the contract of `GlobalAlloc`, passed on to the system's allocator.
        unsafe { System.dealloc(old, block) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// How often the heap is asked while this runs.
fn allocations<T>(work: impl FnOnce() -> T) -> (usize, T) {
    let before = COUNT.get();
    let result = black_box(work());
    (COUNT.get() - before, result)
}

/// Dense layouts of rank 4 that take 1 KiB each, and what a length per lane looks like.
fn layouts() -> impl Iterator<Item = Layout> {
    let whole = [
        (DType::U8, [4, 8, 16, 2]),
        (DType::F16, [8, 4, 4, 4]),
        (DType::F32, [4, 4, 4, 4]),
        (DType::I64, [2, 4, 4, 4]),
        (DType::C128, [2, 2, 8, 2]),
        (DType::U4, [8, 8, 8, 4]),
        (DType::U1, [8, 8, 16, 8]),
    ];
    // Miri takes a minute for what takes a millisecond: a few of them, and smaller ones.
    whole.into_iter().step_by(if cfg!(miri) { 3 } else { 1 }).map(|(dtype, shape)| {
        let layout = Layout::dense(dtype, &shape).unwrap();
        assert_eq!(layout.byte_len(), 1024);
        if cfg!(miri) { Layout::dense(dtype, &[2, 2, 2, 4]).unwrap() } else { layout }
    })
}

/// Plans that are as different as they come, each made while counting.
fn plans(layout: &Layout) -> Vec<(String, Plan, Option<Vec<u8>>)> {
    let shape = layout.shape().to_vec();
    let dtype = layout.dtype();
    let mut all = Vec::new();
    for axes in [&[0][..], &[3], &[-2, 1], &[0, 1, 2, 3], &[]] {
        let (asked, plan) =
            allocations(|| Reverse::axes(axes.iter().copied()).plan(layout, layout).unwrap());
        assert_eq!(asked, 0, "planning Reverse {axes:?} of {dtype}");
        all.push((format!("Reverse {axes:?} of {dtype}"), plan, None));
    }
    for orientation in Orientation::ALL {
        let operator = Orient::new(orientation);
        let turned = operator.output_shape(&shape).unwrap();
        let turned = Layout::dense(dtype, &turned).unwrap();
        let (asked, plan) = allocations(|| operator.plan(layout, &turned).unwrap());
        assert_eq!(asked, 0, "planning Orient {orientation} of {dtype}");
        all.push((format!("Orient {orientation} of {dtype}"), plan, None));
    }
    for (time, batch) in [(0, 1), (1, 0), (3, 0), (2, 3)] {
        let entries = shape[batch as usize];
        let lengths = Layout::dense(DType::U8, &[entries]).unwrap();
        let operator = ReverseSequence::new().time_axis(time).batch_axis(batch);
        let (asked, plan) = allocations(|| operator.plan(layout, &lengths, layout).unwrap());
        let what = format!("ReverseSequence {time} {batch} of {dtype}");
        assert_eq!(asked, 0, "planning {what}");
        all.push((what, plan, Some((0..entries).map(|at| (at % 3) as u8).collect())));
    }
    for axis in 0..4 {
        let mut lanes = shape.clone();
        lanes[axis as usize] = 1;
        let lengths = Layout::dense(DType::U8, &lanes).unwrap();
        let operator = ReverseSubsequences::along(axis);
        let (asked, plan) = allocations(|| operator.plan(layout, &lengths, layout).unwrap());
        let what = format!("ReverseSubsequences {axis} of {dtype}");
        assert_eq!(asked, 0, "planning {what}");
        all.push((what, plan, Some((0..lengths.len()).map(|at| (at % 3) as u8).collect())));
    }
    all
}

#[test]
fn small_calls_leave_the_heap_alone() {
    let input: Vec<u8> = (0..=255).cycle().take(1024).collect();
    let mut output = vec![0u8; 1024];
    for layout in layouts() {
        for (what, plan, lengths) in plans(&layout) {
            let mut run = |in_place: bool| {
                let lengths = lengths.as_deref().map(Into::into);
                let output = output.as_mut_slice().into();
                match in_place {
                    false => cpu::execute(&plan, input.as_slice().into(), lengths, output),
                    true => cpu::execute_in_place(&plan, lengths, output),
                }
            };
            for in_place in [false, true] {
                if in_place && !plan.fits_in_place() {
                    continue;
                }
                // What is found out once per process (the processor, the environment) may allocate.
                run(in_place).unwrap();
                let (asked, result) = allocations(|| run(in_place));
                result.unwrap();
                assert_eq!(asked, 0, "running {what}, in place: {in_place}");
            }
        }
    }
}

#[test]
fn the_counter_counts() {
    assert_eq!(allocations(|| Box::new(1)).0, 1);
    let mut vec = vec![0u8; 8];
    assert_eq!(allocations(|| vec.reserve_exact(1 << 20)).0, 1);
    assert_eq!(allocations(|| vec![0u8; 64]).0, 1);
    // A shape of more axes than are kept inline does ask the heap.
    assert!(allocations(|| Layout::dense(DType::U8, &[1; 9]).unwrap()).0 > 0);
}
