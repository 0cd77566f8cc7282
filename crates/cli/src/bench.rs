//! `retrograde bench`: how fast this machine reverses a tensor, beside a plain copy.
//!
//! Copies and reversals take turns, so that whatever else the machine does meets them
//! alike; figures are medians over all turns.

mod buffers;
mod copies;
mod subject;
mod table;
mod turns;

use crate::args::BenchArguments;
use crate::report;
use anyhow::{Result, anyhow, bail};
use buffers::Buffers;
use rayon::ThreadPoolBuilder;
use retrograde::{Layout, Prepared, Reversal, TensorRef, cpu};
use std::cell::RefCell;
use std::hint::black_box;
use std::time::{Duration, Instant};
use subject::Subject;
use turns::{COPY, Contestant, Sampled, Style, alternate};

/// The largest copy that is measured to find a bound.
const MEASURED: usize = 64 << 20;
/// Of as many copies, the fastest counts.
const TRIES: usize = 7;

/// Measures what the arguments ask for and prints the table.
pub(crate) fn run(arguments: &BenchArguments) -> Result<()> {
    let layout = Layout::dense(arguments.dtype, &arguments.shape.0)?;
    let subject = Subject::of(arguments, &layout)?;
    let time = Duration::try_from_secs_f64(arguments.seconds)
        .map_err(|_| anyhow!("--seconds {}: expected a time", arguments.seconds))?;
    let (threads, most) = (arguments.threads.map_or(0, usize::from), cpu::max_threads());
    if threads > most {
        bail!("--threads {threads}: expected 1 to {most}");
    }
    let pool = ThreadPoolBuilder::new().num_threads(threads).build()?;
    // All of it on the pool: the engine takes the threads of whoever calls it.
    let text = pool.install(|| {
        subject.with(|reversal| {
            let prepared = reversal.prepare(&layout, &layout)?;
            let mut buffers = Buffers::new(layout.byte_len())?;
            let sampled = measure(reversal, &layout, &prepared, &mut buffers, time)?;
            Ok(table::draw(
                &subject,
                &layout,
                pool.current_num_threads(),
                prepared.plan(),
                &sampled,
            ))
        })
    })?;
    Ok(report::print(&text)?)
}

/// Bytes per second that a copy of so many bytes reaches here, at its best of a few: for a bound
/// on what any reversal can take. Larger copies are measured on a part of them.
pub(crate) fn copy_speed(bytes: usize) -> Result<f64> {
    let len = bytes.clamp(1 << 20, MEASURED);
    let (src, mut dst) = (buffers::filled(len, 1)?, buffers::filled(len, 2)?);
    let mut best = f64::INFINITY;
    for _ in 0..TRIES {
        let start = Instant::now();
        copies::into(black_box(&src), black_box(&mut dst));
        best = best.min(start.elapsed().as_secs_f64());
    }
    Ok(len as f64 / best.max(1e-9))
}

/// Lets copies and reversals take turns on the threads of the current pool.
fn measure(
    reversal: &dyn Reversal,
    layout: &Layout,
    prepared: &Prepared<'_>,
    buffers: &mut Buffers,
    time: Duration,
) -> Result<Vec<Sampled>> {
    let Buffers { src, dst, work } = buffers;
    let input = TensorRef::new(layout.clone(), &src[..])?;
    let src = &src[..];
    // Two contestants write to the same output, one after the other.
    let dst = RefCell::new(&mut dst[..]);
    let mut contestants = vec![
        Contestant::new(COPY, Style::Reused, || {
            copies::into(src, black_box(&mut dst.borrow_mut()));
            Ok(())
        }),
        Contestant::new("reversed", Style::Reused, || {
            let mut dst = dst.borrow_mut();
            Ok(prepared.run(black_box(src), &mut dst[..])?)
        }),
        Contestant::new(COPY, Style::Fresh, || {
            copies::fresh(black_box(src));
            Ok(())
        }),
        Contestant::new("reversed", Style::Fresh, || {
            drop(black_box(reversal.to_bytes(&input)?));
            Ok(())
        }),
    ];
    if prepared.plan().fits_in_place() {
        contestants.push(Contestant::new("reversed", Style::InPlace, || {
            Ok(prepared.run_in_place(&mut work[..])?)
        }));
    }
    alternate(contestants, time)
}
