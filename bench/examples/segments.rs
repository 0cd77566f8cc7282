//! Many short segments and short lanes against a copy, into memory that was used before: lengths spread
//! evenly and as those of words and reads, offsets of 8 and of 4 bytes, on one thread and on two. Speed as
//! a ratio to `memcpy`.
//!
//! `cargo run --release -p retrograde-bench --example segments [KIND [COUNT [LEVEL]]]`

use retrograde::{DType, Layout, Lengths, LengthsMemory, Reversal, ReverseSegments};
use retrograde::{ReverseSubsequences, cpu};
use retrograde_bench::copy;
use retrograde_bench::rounds::{Contestant, alternate, quantile};
use std::cell::RefCell;
use std::hint::black_box;
use std::time::Duration;

/// Numbers from 0 to 1 that look random.
fn random(state: &mut u64) -> f64 {
    *state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
    (*state >> 11) as f64 / (1u64 << 53) as f64
}

/// A log-normal number of this mean, as lengths of texts and of list entries are.
fn log_normal(state: &mut u64, mean: f64, sigma: f64) -> usize {
    let (angle, part) = (random(state) * std::f64::consts::TAU, 1.0 - random(state));
    let normal = (-2.0 * part.ln()).sqrt() * angle.cos();
    (mean * (sigma * normal - sigma * sigma / 2.0).exp()).round() as usize
}

/// How lengths are spread around their mean.
#[derive(Clone, Copy)]
enum Spread {
    Even,
    LogNormal,
    /// 100 to 150 of 150.
    Reads,
    /// Lanes of twice the mean, reversed up to an evenly spread length.
    Lanes,
}

fn main() {
    use Spread::{Even, Lanes, LogNormal, Reads};
    let mut kinds = Vec::new();
    for (name, dtype, width) in [
        ("u8", DType::U8, 1),
        ("u16", DType::U16, 2),
        ("f32", DType::F32, 4),
        ("i64", DType::I64, 8),
    ] {
        for bytes in [8, 16, 32, 64, 150] {
            for (how, spread) in [("even", Even), ("log", LogNormal), ("lanes", Lanes)] {
                if bytes / width > 1 {
                    kinds.push((
                        format!("{name} {how} {bytes}"),
                        dtype,
                        width,
                        bytes / width,
                        spread,
                    ));
                }
            }
        }
    }
    kinds.push(("u8 log 20".into(), DType::U8, 1, 20, LogNormal));
    kinds.push(("u8 reads".into(), DType::U8, 1, 150, Reads));
    let mut wanted = std::env::args().skip(1);
    let kind = wanted.next().unwrap_or_default();
    let count: usize = wanted.next().map_or(1_000_000, |count| count.parse().expect("a number"));
    if let Some(level) = wanted.next() {
        let level = cpu::Isa::available().find(|isa| isa.name() == level).expect("a level");
        level.force();
    }
    println!("{count} on {}", cpu::Isa::current().name());
    let columns = ["copy, ns", "i64, 1", "i32, 1", "i64, 2", "i32, 2"];
    println!("{:<16}{}", "", columns.map(|column| format!("{column:>10}")).concat());
    for (name, dtype, width, mean, spread) in
        kinds.into_iter().filter(|kind_of| kind_of.0.starts_with(&kind))
    {
        let mut state = 7;
        let lengths: Vec<usize> = (0..count)
            .map(|_| match spread {
                Even | Lanes => (random(&mut state) * (2 * mean + 1) as f64) as usize,
                LogNormal => log_normal(&mut state, mean as f64, 0.8),
                Reads => 100 + (random(&mut state) * 51.0) as usize,
            })
            .collect();
        let (values, shape) = match spread {
            Lanes => (lengths, vec![count, 2 * mean]),
            _ => {
                let mut last = 0;
                let ends = lengths.iter().map(|len| {
                    last += len;
                    last
                });
                let offsets: Vec<usize> = std::iter::once(0).chain(ends).collect();
                (offsets, vec![last])
            }
        };
        let layout = Layout::dense(dtype, &shape).expect("a layout");
        let len = layout.byte_len();
        assert_eq!(len, shape.iter().product::<usize>() * width);
        let wide: Vec<u8> = values.iter().flat_map(|&value| (value as i64).to_ne_bytes()).collect();
        let narrow: Vec<u8> =
            values.iter().flat_map(|&value| (value as i32).to_ne_bytes()).collect();
        let src = vec![1u8; len];
        let dst = RefCell::new(vec![0u8; len]);
        let (src, dst, layout) = (&src, &dst, &layout);
        let copies = |threads: usize| {
            move |times: usize| {
                let mut dst = dst.borrow_mut();
                // SAFETY: both have the same length.
                (0..times).for_each(|_| unsafe {
                    copy::copy(threads, src.as_ptr(), dst.as_mut_ptr(), src.len())
                });
            }
        };
        let mut copy = 0.0;
        let mut ratios = Vec::new();
        // One after the other: the lists of all of them would not fit the caches beside the data.
        for threads in [1, 2] {
            for (dtype, list) in [(DType::I64, &wide), (DType::I32, &narrow)] {
                let lengths = Lengths::flat(dtype, &list[..]);
                let plan = match spread {
                    Lanes => ReverseSubsequences::along(1).lengths(lengths).prepare(layout, layout),
                    _ => ReverseSegments::along(0).offsets(lengths).prepare(layout, layout),
                };
                let plan = plan.expect("a call").plan().clone();
                let run = move |times: usize| {
                    cpu::with_threads(threads, || {
                        for _ in 0..times {
                            let lengths = LengthsMemory::new(dtype, list);
                            let (src, mut dst) = (black_box(&src[..]), dst.borrow_mut());
                            cpu::execute(&plan, src.into(), Some(lengths), (&mut dst[..]).into())
                                .expect("a run");
                        }
                    });
                };
                let mut contestants = [
                    Contestant { name: "copy", against: "copy", work: Box::new(copies(threads)) },
                    Contestant { name: "ours", against: "copy", work: Box::new(run) },
                ];
                let measured = alternate(&mut contestants, 15, Duration::from_millis(1));
                // The fastest of each: other programs only take time.
                let least = [0, 1].map(|at: usize| quantile(&measured[at].seconds, 0.0));
                copy = least[0] * 1e9 / count as f64;
                ratios.push(least[0] / least[1]);
            }
        }
        let ratios: String = ratios.iter().map(|ratio| format!("{ratio:>10.2}")).collect();
        println!("{name:<16}{copy:>10.2}{ratios}");
    }
}
