//! What waking threads costs, and from which size on sharing a call pays: copies and flips of each
//! size on one thread, on rayon's pool, and on the engine's, back to back and after a pause in which
//! workers fall asleep. Microseconds: median, and 90th percentile.
//!
//! `cargo run --release -p retrograde-bench --example threads [most MiB]`

use rayon::prelude::*;
use retrograde::cpu::{self, Tuning};
use retrograde::{DType, Layout, Prepared, Reversal, Reverse};
use retrograde_bench::copy;
use std::hint::{black_box, spin_loop};
use std::time::{Duration, Instant};

/// Bytes that a thread of rayon copies at a time.
const PART: usize = 64 << 10;
/// Calls that are timed for each cell.
const CALLS: usize = 120;

type Work<'a> = Box<dyn Fn(&[u8], &mut [u8]) + 'a>;
type Contestant<'a> = (&'a str, Work<'a>);

/// Forward copy on the engine's pool.
fn pooled(threads: usize, src: &[u8], dst: &mut [u8]) {
    // SAFETY: both slices have the same length, and safe Rust does not lend overlapping ones.
    unsafe { copy::copy(threads, src.as_ptr(), dst.as_mut_ptr(), src.len()) };
}

fn on_rayon(src: &[u8], dst: &mut [u8]) {
    let parts = dst.par_chunks_mut(PART).zip(src.par_chunks(PART));
    parts.for_each(|(dst, src)| dst.copy_from_slice(src));
}

fn flip(prepared: &Prepared<'_>, tuning: Tuning, src: &[u8], dst: &mut [u8]) {
    tuning.apply();
    prepared.run(src, dst).expect("buffers of the layout's size");
}

fn main() {
    let most: usize = std::env::args().nth(1).map_or(64, |mib| mib.parse().expect("MiB"));
    let threads = cpu::num_threads();
    println!("{threads} threads; microseconds: median (90th percentile)");
    for pause in [Duration::ZERO, Duration::from_millis(1)] {
        println!("\n{}", if pause.is_zero() { "back to back" } else { "after a pause of 1 ms" });
        let mut headed = false;
        for bytes in (12..40).map(|bits| 1usize << bits).take_while(|&b| b <= most << 20) {
            let layout = Layout::dense(DType::F32, &[bytes.div_ceil(2048), bytes.min(2048) / 4]);
            let layout = layout.expect("a layout");
            let prepared = Reverse::axes([1]).prepare(&layout, &layout).expect("a flip");
            let never = Tuning { stream_from: Some(usize::MAX - 1), ..Tuning::default() };
            let always = Tuning { stream_from: Some(0), ..Tuning::default() };
            let alone = |tuning| Tuning { share_from: usize::MAX, ..tuning };
            let prepared = &prepared;
            let flips =
                |tuning| -> Work<'_> { Box::new(move |src, dst| flip(prepared, tuning, src, dst)) };
            let contestants: [Contestant<'_>; 8] = [
                ("memcpy", Box::new(|src, dst| dst.copy_from_slice(src))),
                ("copy rayon", Box::new(on_rayon)),
                ("copy pool", Box::new(|src, dst| pooled(threads, src, dst))),
                ("flip", flips(Tuning::default())),
                ("1, cached", flips(alone(never))),
                ("1, stream", flips(alone(always))),
                ("n, cached", flips(never)),
                ("n, stream", flips(always)),
            ];
            if !headed {
                let names = contestants.iter().map(|(name, _)| format!("{name:>16}"));
                println!("{:>9}{}", "KiB", names.collect::<String>());
                headed = true;
            }
            println!("{:>9}{}", bytes >> 10, row(&contestants, bytes, pause));
        }
    }
}

/// Everyone in turns, several calls each.
fn row(contestants: &[Contestant<'_>], bytes: usize, pause: Duration) -> String {
    let (src, mut dst) = (vec![1u8; bytes], vec![2u8; bytes]);
    let mut times = vec![Vec::new(); contestants.len()];
    let turns = if pause.is_zero() { 4 } else { 1 };
    for _ in 0..CALLS / turns {
        for ((_, work), times) in contestants.iter().zip(&mut times) {
            // The first call of a turn warms up, if calls follow each other.
            for turn in 0..=turns {
                let start = Instant::now();
                while start.elapsed() < pause {
                    spin_loop();
                }
                let start = Instant::now();
                work(black_box(&src), black_box(&mut dst));
                if turn > 0 {
                    times.push(start.elapsed().as_secs_f64() * 1e6);
                }
            }
        }
    }
    let cell = |times: &mut Vec<f64>| {
        times.sort_by(f64::total_cmp);
        let at = |part: usize| times[(times.len() - 1) * part / 10];
        format!("{:>16}", format!("{:.1} ({:.1})", at(5), at(9)))
    };
    times.iter_mut().map(cell).collect()
}
