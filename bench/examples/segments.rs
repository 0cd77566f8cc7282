//! Many short segments against a copy, into memory that was used before: lengths distributed evenly,
//! geometrically and as those of words, on one thread and on all. Speed as a ratio to `memcpy`.
//!
//! `cargo run --release -p retrograde-bench --example segments [KIND [SEGMENTS]]`

use retrograde::{DType, Layout, LengthsMemory, Reversal, ReverseSegments, cpu};
use retrograde_bench::copy;
use retrograde_bench::rounds::{Contestant, alternate, quantile};
use std::cell::RefCell;
use std::hint::black_box;
use std::time::Duration;

/// A sequence of numbers that look random.
fn random(state: &mut u64) -> usize {
    *state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
    (*state >> 33) as usize
}

/// A length from 1 on, geometrically distributed.
fn geometric(random: usize, mean: f64) -> usize {
    let part = (random as f64 + 0.5) / (1u64 << 31) as f64;
    1 + (part.ln() / (1.0 - 1.0 / mean).ln()) as usize
}

/// A name, the type of elements, their bytes, and a length for each random number.
type Kind = (&'static str, DType, usize, fn(usize) -> usize);

fn main() {
    let kinds: [Kind; 10] = [
        ("u8, 0 to 63", DType::U8, 1, |r| r % 64),
        ("u8, 0 to 15", DType::U8, 1, |r| r % 16),
        ("u8, words (mean 5)", DType::U8, 1, |r| {
            (r | 1 << 12).trailing_zeros() as usize * 3 + r / 64 % 5
        }),
        ("u8, reads of 100 to 150", DType::U8, 1, |r| 100 + r % 51),
        ("u8, geometric, mean 8", DType::U8, 1, |r| geometric(r, 8.0)),
        ("u8, geometric, mean 16", DType::U8, 1, |r| geometric(r, 16.0)),
        ("f32, geometric, mean 4", DType::F32, 4, |r| geometric(r, 4.0)),
        ("u16, 0 to 31", DType::U16, 2, |r| r % 32),
        ("f32, 0 to 199", DType::F32, 4, |r| r % 200),
        ("i64, 0 to 15", DType::I64, 8, |r| r % 16),
    ];
    let mut wanted = std::env::args().skip(1);
    let kind = wanted.next().unwrap_or_default();
    let only: Option<usize> = wanted.next().map(|count| count.parse().expect("a number"));
    println!("{:<28}{:>12}{:>12}{:>12}", "", "segments", "one thread", "all");
    for (name, dtype, width, length) in
        kinds.into_iter().filter(|kind_of| kind_of.0.starts_with(&kind))
    {
        for count in
            [1_000, 30_000, 1_000_000].into_iter().filter(|&count| only.is_none_or(|n| n == count))
        {
            let mut state = 7;
            let mut offsets = vec![0i64];
            for _ in 0..count {
                let last = *offsets.last().expect("an offset");
                offsets.push(last + length(random(&mut state)) as i64);
            }
            let len = *offsets.last().expect("an offset") as usize;
            let layout = Layout::dense(dtype, &[len]).expect("a layout");
            let list: Vec<u8> = offsets.iter().flat_map(|offset| offset.to_ne_bytes()).collect();
            let operator = ReverseSegments::along(0).offsets(&offsets[..]);
            let plan = operator.prepare(&layout, &layout).expect("a call").plan().clone();
            let src = vec![1u8; len * width];
            let dst = RefCell::new(vec![0u8; len * width]);
            let (src, dst, list, plan) = (&src, &dst, &list, &plan);
            let run = |threads: usize| {
                move |times: usize| {
                    cpu::with_threads(threads, || {
                        for _ in 0..times {
                            let lengths = LengthsMemory::new(DType::I64, list);
                            let mut dst = dst.borrow_mut();
                            cpu::execute(
                                plan,
                                black_box(&src[..]).into(),
                                Some(lengths),
                                (&mut dst[..]).into(),
                            )
                            .expect("a run");
                        }
                    });
                }
            };
            let copies = |threads: usize| {
                move |times: usize| {
                    let mut dst = dst.borrow_mut();
                    // SAFETY: both have the same length.
                    (0..times).for_each(|_| unsafe {
                        copy::copy(threads, src.as_ptr(), dst.as_mut_ptr(), src.len())
                    });
                }
            };
            let all = cpu::num_threads();
            let mut contestants = [
                Contestant { name: "copy 1", against: "copy 1", work: Box::new(copies(1)) },
                Contestant { name: "one", against: "copy 1", work: Box::new(run(1)) },
                Contestant { name: "copy", against: "copy", work: Box::new(copies(all)) },
                Contestant { name: "all", against: "copy", work: Box::new(run(all)) },
            ];
            let measured = alternate(&mut contestants, 9, Duration::from_millis(5));
            let ratio = |at: usize| quantile(&measured[at].ratios, 0.5);
            println!("{name:<28}{count:>12}{:>12.2}{:>12.2}", ratio(1), ratio(3));
        }
    }
}
