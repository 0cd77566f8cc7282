//! `retrograde bench`: the throughput of a reversal on this machine, compared with memcpy.
//!
//! Copies and reversals alternate, so that background load affects them equally. Results are
//! medians over all rounds.

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

/// The largest copy that is timed to estimate memory bandwidth.
const MEASURED: usize = 64 << 20;
/// Number of copies, of which the fastest counts.
const TRIES: usize = 7;

/// Runs the measurement and prints the table.
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
    // Everything runs on this pool, because the engine uses the pool of its caller.
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

/// The bandwidth of a memory copy of this size in bytes per second, best of a few: a lower bound on
/// the time of any reversal. Larger copies are timed on a part of the buffer.
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

/// Alternates copies and reversals on the threads of the current pool.
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
