//! Timing: contestants alternate, in an order that changes from round to round.

use anyhow::Result;
use std::time::{Duration, Instant};

/// Fewer rounds give no meaningful spread.
const ROUNDS: usize = 9;
/// More rounds add no information.
const MOST_ROUNDS: usize = 999;
/// The minimum duration of a sample; short calls are repeated.
const SAMPLE: Duration = Duration::from_millis(2);

/// The names of the baselines: on all threads, and on one.
pub(super) const COPY: &str = "memcpy";
pub(super) const COPY_ALONE: &str = "memcpy on one thread";

/// Where the output goes. Each style has its own baseline.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Style {
    /// Memory that was used before.
    Reused,
    /// Newly allocated memory in every call.
    Fresh,
    /// The input's memory.
    InPlace,
}

/// Something to measure.
pub(super) struct Contestant<'a> {
    name: &'static str,
    style: Style,
    work: Box<dyn FnMut() -> Result<()> + 'a>,
    calls: u32,
    seconds: Vec<f64>,
}

impl<'a> Contestant<'a> {
    pub(super) fn new(
        name: &'static str,
        style: Style,
        work: impl FnMut() -> Result<()> + 'a,
    ) -> Self {
        Contestant { name, style, work: Box::new(work), calls: 1, seconds: Vec::new() }
    }

    /// Seconds per call.
    fn sample(&mut self) -> Result<f64> {
        let start = Instant::now();
        for _ in 0..self.calls {
            (self.work)()?;
        }
        Ok(start.elapsed().as_secs_f64() / f64::from(self.calls))
    }
}

/// The results of one contestant: median, 10th and 90th percentile.
#[derive(Debug)]
pub(super) struct Sampled {
    pub(super) name: &'static str,
    pub(super) style: Style,
    pub(super) seconds: f64,
    /// The 90th percentile of the seconds.
    pub(super) slow: f64,
    /// Time of the fastest copy of the same style divided by the time of this one.
    pub(super) ratio: [f64; 3],
}

impl Sampled {
    pub(super) fn is_copy(&self) -> bool {
        is_copy(self.name)
    }
}

fn is_copy(name: &str) -> bool {
    name == COPY || name == COPY_ALONE
}

/// Measures all contestants for about this long in total.
pub(super) fn alternate(
    mut contestants: Vec<Contestant<'_>>,
    time: Duration,
) -> Result<Vec<Sampled>> {
    for one in &mut contestants {
        one.sample()?; // warm up threads and caches
        let once = one.sample()?.max(1e-9);
        one.calls = ((SAMPLE.as_secs_f64() / once) as u32).max(1);
    }
    let (start, count) = (Instant::now(), contestants.len());
    for round in 0..MOST_ROUNDS {
        if round >= ROUNDS && start.elapsed() >= time {
            break;
        }
        for turn in 0..count {
            // Odd rounds run in reverse order, so that no contestant always follows the same one.
            let turn = if round % 2 == 0 { turn } else { count - 1 - turn };
            let one = &mut contestants[(turn + round / 2) % count];
            let seconds = one.sample()?;
            one.seconds.push(seconds);
        }
    }
    let sampled = |one: &Contestant<'_>| {
        let style = if one.style == Style::InPlace { Style::Reused } else { one.style };
        let is_yardstick = |other: &&Contestant<'_>| is_copy(other.name) && other.style == style;
        let median = |other: &&Contestant<'_>| quantile(&other.seconds, 0.5);
        let copies = contestants.iter().filter(is_yardstick);
        let yardstick = copies.min_by(|a, b| median(a).total_cmp(&median(b))).unwrap_or(one);
        let pairs = yardstick.seconds.iter().zip(&one.seconds);
        let ratios: Vec<f64> = pairs.map(|(copy, own)| copy / own).collect();
        Sampled {
            name: one.name,
            style: one.style,
            seconds: quantile(&one.seconds, 0.5),
            slow: quantile(&one.seconds, 0.9),
            ratio: [0.5, 0.1, 0.9].map(|part| quantile(&ratios, part)),
        }
    };
    Ok(contestants.iter().map(sampled).collect())
}

/// The quantile of the values at `part`.
fn quantile(values: &[f64], part: f64) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let last = sorted.len().saturating_sub(1) as f64;
    sorted.get((last * part).round() as usize).copied().unwrap_or(f64::NAN)
}
