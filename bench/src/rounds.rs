//! Alternating measurement for contestants that are Rust closures.
//!
//! The Python harness implements the same in `harness/measure.py`.

use std::time::{Duration, Instant};

/// A contestant that takes longer than this many seconds per call runs fewer rounds.
const SLOW: f64 = 0.5;
/// The number of those rounds.
const FEWEST: usize = 3;

/// A contestant.
pub struct Contestant<'a> {
    /// Its name in the table.
    pub name: &'static str,
    /// The contestant that its time is compared with.
    pub against: &'static str,
    /// Runs the work this many times.
    pub work: Box<dyn FnMut(usize) + 'a>,
}

/// The measurements of one contestant.
#[derive(Debug, Clone)]
pub struct Sampled {
    /// Its name in the table.
    pub name: &'static str,
    /// Seconds per call, one entry per round.
    pub seconds: Vec<f64>,
    /// Time of the baseline divided by the time of this one, one entry per round.
    pub ratios: Vec<f64>,
}

/// The quantile of the values at `part`.
pub fn quantile(values: &[f64], part: f64) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let last = sorted.len().saturating_sub(1) as f64;
    sorted.get((last * part).round() as usize).copied().unwrap_or(f64::NAN)
}

/// Alternates all contestants, in an order that changes from round to round.
pub fn alternate(
    contestants: &mut [Contestant<'_>],
    rounds: usize,
    sample: Duration,
) -> Vec<Sampled> {
    let once: Vec<f64> = contestants.iter_mut().map(warmed).collect();
    let fitting = |once: &f64| ((sample.as_secs_f64() / once) as usize).clamp(1, 1 << 20);
    let iterations: Vec<usize> = once.iter().map(fitting).collect();
    let count = contestants.len();
    let mut seconds = vec![Vec::with_capacity(rounds); count];
    for round in 0..rounds {
        for turn in 0..count {
            // Odd rounds run in reverse order, so that no contestant always follows the same one.
            let turn = if round % 2 == 0 { turn } else { count - 1 - turn };
            let at = (turn + round / 2) % count;
            if round >= FEWEST && once[at] > SLOW {
                continue;
            }
            let start = Instant::now();
            (contestants[at].work)(iterations[at]);
            seconds[at].push(start.elapsed().as_secs_f64() / iterations[at] as f64);
        }
    }
    let ratios = |at: usize| {
        let yardstick = contestants.iter().position(|one| one.name == contestants[at].against);
        let yardstick = &seconds[yardstick.unwrap_or(at)];
        yardstick.iter().zip(&seconds[at]).map(|(yard, own)| yard / own).collect()
    };
    (0..count)
        .map(|at| Sampled {
            name: contestants[at].name,
            seconds: seconds[at].clone(),
            ratios: ratios(at),
        })
        .collect()
}

/// Seconds per call, after a warm-up call.
fn warmed(contestant: &mut Contestant<'_>) -> f64 {
    (contestant.work)(1);
    let start = Instant::now();
    (contestant.work)(1);
    start.elapsed().as_secs_f64().max(1e-9)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::RefCell;

    #[test]
    fn everyone_has_a_turn_in_every_round() {
        let turns = RefCell::new(Vec::new());
        let log = &turns;
        let contestant = |name, against| Contestant {
            name,
            against,
            work: Box::new(move |_| log.borrow_mut().push(name)),
        };
        let mut contestants = [contestant("a", "a"), contestant("b", "a"), contestant("c", "a")];
        let sampled = alternate(&mut contestants, 4, Duration::ZERO);
        assert!(sampled.iter().all(|one| one.seconds.len() == 4 && one.ratios.len() == 4));
        drop(contestants);
        for round in turns.into_inner()[6..].chunks(3) {
            let mut round = round.to_vec();
            round.sort_unstable();
            assert_eq!(round, ["a", "b", "c"]);
        }
    }

    #[test]
    fn quantiles_are_values_that_were_measured() {
        let values = [5.0, 1.0, 4.0, 2.0, 3.0];
        assert_eq!([0.0, 0.5, 1.0].map(|part| quantile(&values, part)), [1.0, 3.0, 5.0]);
        assert!(quantile(&[], 0.5).is_nan());
    }
}
