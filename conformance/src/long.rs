//! Rows, lanes and columns of every length around the widths of vectors, lines and pages, where
//! kernels change from one way of working to the next.

use crate::backend::Backend;
use crate::case::{Case, CaseLengths, Integer, Operation, Output, Policy};
use crate::placement::{Kind, Placement, Width};
use crate::runner::{Runner, Share, Tally, split_mix};
use std::sync::Arc;
use std::thread;

/// How long rows and columns are.
fn sizes() -> impl Iterator<Item = usize> {
    (1..=70).chain(125..=131).chain([191, 192, 193, 255, 256, 257, 300, 511, 513, 600, 1100, 4500])
}

/// Elements a case has at most.
const MOST: usize = 9_000;

/// Runs it, or a share of it, on as many threads as there are.
pub fn run(backend: &dyn Backend, share: Share) -> Tally {
    let threads = thread::available_parallelism().map_or(1, |n| n.get());
    let mut total = Tally::default();
    thread::scope(|scope| {
        let workers: Vec<_> = (0..threads)
            .map(|worker| {
                let widths = Width::ALL.into_iter().skip(worker).step_by(threads);
                scope.spawn(move || {
                    let mut runner = Runner::new(backend, worker as u64, share);
                    widths.for_each(|width| run_width(&mut runner, width, share));
                    runner.finish()
                })
            })
            .collect();
        for worker in workers {
            total.add(worker.join().expect("a worker panicked"));
        }
    });
    total
}

fn run_width(runner: &mut Runner<'_>, width: Width, share: Share) {
    let mut state = 11;
    // A share is taken of the sizes too: laying tensors out costs more than running on them.
    let (sizes, most): (Vec<usize>, _) = match share {
        Share::All => (sizes().collect(), MOST),
        Share::OneIn(_) => (sizes().step_by(9).collect(), MOST / 12),
    };
    for size in sizes {
        for other in [1, 3, 18, 70] {
            if size * other <= most {
                rows(runner, width, size, other, &mut state);
                columns(runner, width, size, other, &mut state);
            }
        }
    }
}

/// Whole rows reversed, and each by a length of its own.
fn rows(runner: &mut Runner<'_>, width: Width, size: usize, count: usize, state: &mut u64) {
    let shape = [count, size];
    check(runner, width, &shape, Operation::Reverse { flips: vec![false, true] }, None);
    let operation = Operation::Sequence { time: 1, batch: 0, policy: Policy::Clamp };
    let values = (0..count).map(|_| draw(state, size + 1)).collect();
    let lengths = CaseLengths::new(values, &[count], Integer::I64, Kind::Dense);
    check(runner, width, &shape, operation, Some(lengths));
}

/// Rows in reverse order, and columns each by a length of its own; a few of them alike.
fn columns(runner: &mut Runner<'_>, width: Width, size: usize, count: usize, state: &mut u64) {
    let shape = [size, count];
    check(runner, width, &shape, Operation::Reverse { flips: vec![true, false] }, None);
    let operation = Operation::Sequence { time: 0, batch: 1, policy: Policy::Clamp };
    let alike = draw(state, size);
    let values = (0..count)
        .map(|column| if column % 80 < 64 { alike } else { draw(state, size + 1) })
        .collect();
    let lengths = CaseLengths::new(values, &[count], Integer::U32, Kind::Dense);
    check(runner, width, &shape, operation.clone(), Some(lengths));
    let values = (0..count).map(|_| draw(state, size)).collect();
    let lengths = CaseLengths::new(values, &[count], Integer::I32, Kind::Padded);
    check(runner, width, &shape, operation, Some(lengths));
}

fn draw(state: &mut u64, most: usize) -> i64 {
    (split_mix(state) % (most as u64 + 1)) as i64
}

/// One call on a few pairs of placements, and in place.
fn check(
    runner: &mut Runner<'_>,
    width: Width,
    shape: &[usize],
    operation: Operation,
    lengths: Option<CaseLengths>,
) {
    let place = |kind| Arc::new(Placement::new(kind, width, shape));
    let (dense, backwards, transposed, odd) =
        (place(Kind::Dense), place(Kind::Backwards), place(Kind::Transposed), place(Kind::Odd));
    let lengths = lengths.map(Arc::new);
    let mut case = Case { operation, input: dense.clone(), lengths, output: Output::InPlace };
    let expected = case.expected();
    runner.check(&case, &expected);
    for (input, output) in
        [(&dense, &dense), (&backwards, &dense), (&transposed, &dense), (&odd, &odd)]
    {
        case.input = input.clone();
        case.output = Output::Separate(output.clone());
        runner.check(&case, &expected);
    }
    case.input = odd;
    case.output = Output::InPlace;
    runner.check(&case, &expected);
}
