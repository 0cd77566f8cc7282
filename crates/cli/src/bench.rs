//! `retrograde bench`: the throughput of a reversal on this machine, compared with the fastest copy.
//!
//! Copies and reversals alternate, so that background load affects them equally. Results are
//! medians over all rounds.

mod buffers;
mod copies;
mod subject;
mod sweep;
mod table;
mod turns;

use crate::args::BenchArguments;
use crate::report;
use anyhow::{Result, anyhow};
use buffers::Buffers;
use retrograde::cpu;
use retrograde::{Layout, Plan, Prepared, Reversal, TensorRef};
use std::cell::RefCell;
use std::hint::black_box;
use std::time::{Duration, Instant};
use subject::Subject;
use turns::{COPY, COPY_ALONE, Contestant, Sampled, Style, alternate};

/// The largest copy that is timed to estimate memory bandwidth.
const MEASURED: usize = 64 << 20;
/// Number of copies, of which the fastest counts.
const TRIES: usize = 7;

/// Runs the measurement and prints the table.
pub(crate) fn run(arguments: &BenchArguments) -> Result<()> {
    let time = Duration::try_from_secs_f64(arguments.seconds)
        .map_err(|_| anyhow!("--seconds {}: expected a time", arguments.seconds))?;
    let threads = arguments.threads.checked()?.unwrap_or_else(cpu::num_threads);
    if arguments.sweep {
        return sweep::run(arguments, threads, time);
    }
    let layout = Layout::dense(arguments.dtype, &arguments.shape.0)?;
    let subject = Subject::of(arguments, &layout)?;
    let (sampled, plan) = measure(&subject, &layout, threads, time)?;
    Ok(report::print(&table::draw(&subject, &layout, threads, &plan, &sampled))?)
}

/// The bandwidth of a memory copy of this size in bytes per second, best of a few: a lower bound on
/// the time of any reversal. Larger copies are timed on a part of the buffer.
pub(crate) fn copy_speed(bytes: usize) -> Result<f64> {
    let len = bytes.clamp(1 << 20, MEASURED);
    let (src, mut dst) = (buffers::filled(len, 1)?, buffers::filled(len, 2)?);
    let mut best = f64::INFINITY;
    for _ in 0..TRIES {
        let start = Instant::now();
        copies::into(cpu::num_threads(), black_box(&src), black_box(&mut dst));
        best = best.min(start.elapsed().as_secs_f64());
    }
    Ok(len as f64 / best.max(1e-9))
}

/// Alternates copies and reversals, on so many threads.
fn measure(
    subject: &Subject,
    layout: &Layout,
    threads: usize,
    time: Duration,
) -> Result<(Vec<Sampled>, Plan)> {
    let mut buffers = Buffers::new(layout.byte_len())?;
    cpu::with_threads(threads, || {
        subject.with(|reversal| {
            let prepared = reversal.prepare(layout, layout)?;
            let sampled = alternate_all(reversal, layout, &prepared, &mut buffers, threads, time)?;
            Ok((sampled, prepared.plan().clone()))
        })
    })
}

fn alternate_all(
    reversal: &dyn Reversal<'_>,
    layout: &Layout,
    prepared: &Prepared<'_>,
    buffers: &mut Buffers,
    threads: usize,
    time: Duration,
) -> Result<Vec<Sampled>> {
    let Buffers { src, dst, work } = buffers;
    let input = TensorRef::new(layout.clone(), &src[..])?;
    let src = &src[..];
    // Several contestants write to the same output, one after the other.
    let dst = RefCell::new(&mut dst[..]);
    let dst = &dst;
    let mut contestants = Vec::new();
    // Small copies do not pay for threads.
    let copiers = match threads {
        1 => vec![(COPY, 1)],
        _ => vec![(COPY, threads), (COPY_ALONE, 1)],
    };
    for &(name, threads) in &copiers {
        contestants.push(Contestant::new(name, Style::Reused, move || {
            copies::into(threads, black_box(src), black_box(&mut dst.borrow_mut()));
            Ok(())
        }));
    }
    contestants.push(Contestant::new("reversed", Style::Reused, || {
        let mut dst = dst.borrow_mut();
        Ok(prepared.run(black_box(src), &mut dst[..])?)
    }));
    for &(name, threads) in &copiers {
        contestants.push(Contestant::new(name, Style::Fresh, move || {
            copies::fresh(threads, black_box(src));
            Ok(())
        }));
    }
    contestants.push(Contestant::new("reversed", Style::Fresh, || {
        drop(black_box(reversal.to_bytes(&input)?));
        Ok(())
    }));
    if prepared.plan().fits_in_place() {
        contestants.push(Contestant::new("reversed", Style::InPlace, || {
            Ok(prepared.run_in_place(&mut work[..])?)
        }));
    }
    alternate(contestants, time)
}
