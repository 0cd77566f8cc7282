//! Measures Retrograde and other Rust crates that reverse tensors.
//!
//! Prints one line of JSON per case and thread count, and one per peer that was skipped;
//! `bench/run` reads them.

mod cases;
mod ndarray_peer;
mod rten_peer;

#[cfg(feature = "heavy")]
mod burn_peer;
#[cfg(feature = "heavy")]
mod candle_peer;
#[cfg(feature = "reads")]
mod reads;

use cases::Job;
use clap::Parser;
use retrograde_bench::call::{Call, Failure, Plans};
use retrograde_bench::copy;
use retrograde_bench::rounds::{Contestant, Sampled, alternate, quantile};
use serde_json::json;
use std::cell::RefCell;
use std::time::Duration;

/// Measures Retrograde and other Rust crates.
#[derive(Debug, Parser)]
struct Arguments {
    /// Number of rounds
    #[arg(long, default_value_t = 9)]
    rounds: usize,
    /// Thread counts to measure
    #[arg(long, value_delimiter = ',', default_value = "1")]
    threads: Vec<usize>,
    /// Shrink larger cases to at most this size
    #[arg(long, default_value_t = 256 << 20)]
    max_bytes: usize,
    /// Only cases whose name contains this
    #[arg(long, default_value = "")]
    filter: String,
}

/// A peer's implementation of a job.
struct Offer<'a> {
    name: &'static str,
    /// The copy that its time is compared with.
    against: &'static str,
    /// Runs it once, and returns the bytes of the result if requested.
    work: Work<'a>,
}

type Work<'a> = Box<dyn FnMut(Wanted) -> Result<Option<Vec<u8>>, Failure> + 'a>;

/// Whether the result is needed as bytes; that conversion is not measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Wanted {
    Bytes,
    Nothing,
}

impl Wanted {
    fn then(self, bytes: impl FnOnce() -> Vec<u8>) -> Option<Vec<u8>> {
        (self == Wanted::Bytes).then(bytes)
    }
}

fn main() -> Result<(), Failure> {
    let arguments = Arguments::parse();
    if cfg!(not(feature = "heavy")) {
        let reason = "large to build: bench/run --peers all measures them";
        println!("{}", json!({ "peer": "candle, burn", "reason": reason }));
    }
    for case in cases::all()? {
        let case = case.shrunk(arguments.max_bytes);
        if !case.name().to_lowercase().contains(&arguments.filter.to_lowercase()) {
            continue;
        }
        let job = Job::new(case)?;
        for &threads in &arguments.threads {
            // Peers that use rayon run on its threads.
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build()?;
            let sampled = pool.install(|| measure(&job, threads, &arguments))?;
            print(&job.case.name(), job.src.len(), threads, &sampled);
        }
    }
    #[cfg(feature = "reads")]
    for reads in reads::all(arguments.max_bytes) {
        if reads.name.contains(&arguments.filter.to_lowercase()) {
            let (bytes, sampled) = reads.measure(arguments.rounds)?;
            print(reads.name, bytes, 1, &sampled);
        }
    }
    Ok(())
}

/// Alternates all contestants that support the job.
fn measure(job: &Job, threads: usize, arguments: &Arguments) -> Result<Vec<Sampled>, Failure> {
    let src = &job.src[..];
    let dst = RefCell::new(vec![1u8; src.len()]);
    let call = job.call()?;
    let mut contestants = copies(threads, src, &dst);
    contestants.extend([
        contestant("retrograde", "memcpy", |n| {
            call.run(threads, src, &mut dst.borrow_mut(), Plans::Reused, n)
        }),
        contestant("retrograde fresh", "memcpy fresh", |n| call.fresh(threads, src, None, n)),
    ]);
    contestants.extend(checked(offers(job)?, &expected(&call, src)?, &job.case.name())?);
    Ok(alternate(&mut contestants, arguments.rounds, Duration::from_millis(2)))
}

/// Copies into memory used before, which `dst` is, and into new memory.
fn copies<'a>(threads: usize, src: &'a [u8], dst: &'a RefCell<Vec<u8>>) -> Vec<Contestant<'a>> {
    let reused = move |n| {
        // SAFETY: both vectors have that many bytes and do not overlap.
        unsafe {
            let dst = dst.borrow_mut().as_mut_ptr();
            copy::reused(threads, src.as_ptr(), dst, src.len(), n);
        }
        Ok(())
    };
    let fresh = move |n| {
        copy::fresh(threads, src, n);
        Ok(())
    };
    vec![contestant("memcpy", "memcpy", reused), contestant("memcpy fresh", "memcpy fresh", fresh)]
}

/// The offers as contestants, if each gives the expected result.
fn checked<'a>(
    offers: Vec<Offer<'a>>,
    expected: &[u8],
    case: &str,
) -> Result<Vec<Contestant<'a>>, Failure> {
    let check = |Offer { name, against, mut work }: Offer<'a>| {
        if work(Wanted::Bytes)?.as_deref() != Some(expected) {
            return Err(format!("{name} gives another result for {case}").into());
        }
        Ok(contestant(name, against, move |n| {
            for _ in 0..n {
                work(Wanted::Nothing)?;
            }
            Ok(())
        }))
    };
    offers.into_iter().map(check).collect()
}

fn offers(job: &Job) -> Result<Vec<Offer<'_>>, Failure> {
    let mut offers = ndarray_peer::offers(job);
    offers.extend(rten_peer::offers(job)?);
    #[cfg(feature = "heavy")]
    {
        offers.extend(candle_peer::offers(job)?);
        offers.extend(burn_peer::offers(job));
    }
    Ok(offers)
}

fn expected(call: &Call, src: &[u8]) -> Result<Vec<u8>, Failure> {
    let mut out = vec![0; src.len()];
    call.run(1, src, &mut out, Plans::Reused, 1)?;
    Ok(out)
}

fn contestant<'a>(
    name: &'static str,
    against: &'static str,
    mut work: impl FnMut(usize) -> Result<(), Failure> + 'a,
) -> Contestant<'a> {
    // The same call has succeeded before; if it fails now, there is nothing to measure.
    let work = move |n| work(n).unwrap_or_else(|error| panic!("{name}: {error}"));
    Contestant { name, against, work: Box::new(work) }
}

fn print(name: &str, bytes: usize, threads: usize, sampled: &[Sampled]) {
    let rows: Vec<_> = sampled.iter().map(|one| row(one, bytes)).collect();
    println!(
        "{}",
        json!({ "name": name, "bytes": bytes, "threads": threads, "contestants": rows })
    );
}

fn row(one: &Sampled, bytes: usize) -> serde_json::Value {
    let seconds = quantile(&one.seconds, 0.5);
    json!({
        "name": one.name,
        "seconds": seconds,
        "gb_per_s": 2.0 * bytes as f64 / seconds / 1e9,
        "ratio": quantile(&one.ratios, 0.5),
        "ratio_p10": quantile(&one.ratios, 0.1),
        "ratio_p90": quantile(&one.ratios, 0.9),
        "rounds": one.seconds.len(),
    })
}
