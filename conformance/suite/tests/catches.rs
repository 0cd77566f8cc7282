//! Tests of the suite itself: backends that are each wrong in one way, and must all be caught.

use retrograde_suite::backend::{Backend, Call, Cpu, Outcome};
use retrograde_suite::case::{Case, Operation};
use retrograde_suite::placement::Width;
use retrograde_suite::random::Draw;
use retrograde_suite::runner::{Share, Tally};
use retrograde_suite::{examples, random};

/// A call from an input to an output.
type Apart = fn(&Case, &[u8], &mut [u8]) -> Outcome;

fn right(case: &Case, input: &[u8], output: &mut [u8]) -> Outcome {
    Cpu::best().run(case, Some(input), output)
}

/// The CPU backend with one change.
struct Wrong {
    name: &'static str,
    apart: Apart,
    in_place: fn(&Case, &mut [u8]) -> Outcome,
}

impl Wrong {
    fn new(name: &'static str) -> Self {
        Wrong { name, apart: right, in_place: |case, memory| Cpu::best().run(case, None, memory) }
    }
}

impl Backend for Wrong {
    fn name(&self) -> &str {
        self.name
    }

    fn run(&self, case: &Case, input: Option<&[u8]>, output: &mut [u8]) -> Outcome {
        match input {
            Some(input) => (self.apart)(case, input, output),
            None => (self.in_place)(case, output),
        }
    }
}

fn run(backend: &Wrong) -> Tally {
    random::run(backend, Draw { seed: 7, count: 200, most_elements: 500, share: Share::All })
}

#[test]
fn the_right_backend_is_clean() {
    let tally = run(&Wrong::new("right"));
    assert!(tally.is_clean() && tally.ran() > 100, "{tally}");
}

#[test]
fn one_wrong_bit_is_caught() {
    let tally = run(&Wrong {
        apart: |case, input, output| {
            let outcome = right(case, input, output);
            if let Some(byte) = output.last_mut() {
                *byte ^= 0x10;
            }
            outcome
        },
        ..Wrong::new("one wrong bit")
    });
    assert!(tally.failed > 20 && !tally.is_clean());
}

#[test]
fn one_wrong_bit_is_caught_in_a_sample_too() {
    let wrong = Wrong {
        apart: |case, input, output| {
            let outcome = right(case, input, output);
            if let Some(byte) = output.first_mut() {
                *byte ^= 0x10;
            }
            outcome
        },
        ..Wrong::new("one wrong bit")
    };
    let sample = Draw { seed: 7, count: 200, most_elements: 500, share: Share::OneIn(3) };
    let tally = random::run(&wrong, sample);
    let all = run(&wrong);
    assert!(tally.failed > 5 && !tally.is_clean());
    assert!(tally.given < all.given && tally.ran() > 0);
}

#[test]
fn doing_nothing_in_place_is_caught() {
    let tally = run(&Wrong { in_place: |_, _| Outcome::Done, ..Wrong::new("lazy") });
    assert!(tally.failed > 20 && !tally.is_clean());
}

#[test]
fn ignoring_bad_lengths_is_caught() {
    let tally = run(&Wrong {
        apart: |case, input, output| match right(case, input, output) {
            Outcome::BadLength(_) => Outcome::Done,
            outcome => outcome,
        },
        ..Wrong::new("careless")
    });
    assert!(tally.failed > 0 && !tally.is_clean());
}

#[test]
fn writing_before_refusing_is_caught() {
    let tally = run(&Wrong {
        apart: |case, input, output| {
            let outcome = right(case, input, output);
            if outcome != Outcome::Done {
                output.fill(0);
            }
            outcome
        },
        ..Wrong::new("hasty")
    });
    assert!(tally.failed > 0 && !tally.is_clean());
}

#[test]
fn blaming_the_wrong_length_is_caught() {
    let tally = run(&Wrong {
        apart: |case, input, output| match right(case, input, output) {
            Outcome::BadLength(index) => {
                Outcome::BadLength(index.iter().map(|at| at + 1).collect())
            }
            outcome => outcome,
        },
        ..Wrong::new("unjust")
    });
    assert!(tally.failed > 0 && !tally.is_clean());
}

#[test]
fn refusing_valid_calls_is_caught() {
    let tally = run(&Wrong {
        apart: |case, input, output| match case.operation {
            Operation::Reverse { .. } => Outcome::Refused("not today".to_owned()),
            _ => right(case, input, output),
        },
        ..Wrong::new("moody")
    });
    assert!(tally.failed > 0 && !tally.is_clean());
}

#[test]
fn what_is_skipped_is_counted_and_printed() {
    let tally = run(&Wrong {
        apart: |case, input, output| match case.input.width {
            Width::Bit => Outcome::Unsupported("no single bits".to_owned()),
            _ => right(case, input, output),
        },
        ..Wrong::new("partial")
    });
    assert!(tally.is_clean());
    assert!(tally.skipped["no single bits"] > 0);
    assert!(tally.to_string().contains("no single bits"), "{tally}");
}

fn with(case: &Case, operation: &Operation) -> Case {
    Case { operation: operation.clone(), ..case.clone() }
}

#[test]
fn passing_over_a_table_or_a_mask_is_caught() {
    let simple: [Apart; 2] = [
        |case, input, output| match &case.operation {
            Operation::LookUp { of, .. } => right(&with(case, of), input, output),
            _ => right(case, input, output),
        },
        |case, input, output| match &case.operation {
            Operation::Where { of, .. } => right(&with(case, of), input, output),
            _ => right(case, input, output),
        },
    ];
    for apart in simple {
        let tally = run(&Wrong { apart, ..Wrong::new("simple") });
        assert!(tally.failed > 5 && !tally.is_clean(), "{tally}");
    }
}

#[test]
fn a_lost_case_is_not_clean() {
    let tally = Tally { given: 2, moved: 1, ..Tally::default() };
    assert!(!tally.is_clean());
}

#[test]
fn a_wrong_example_is_caught() {
    let lazy = Wrong { apart: |_, _, _| Outcome::Done, ..Wrong::new("lazy") };
    for example in examples::all() {
        assert!(examples::check(&lazy, &example).is_err());
        assert_eq!(examples::check(&Cpu::best(), &example), Ok(()));
    }
}

/// A change to the memory of a batch after it ran.
type Spoil = fn(&[Call<'_>], &mut [u8]);

/// The CPU backend in batches.
struct Batched {
    spoil: Spoil,
}

impl Backend for Batched {
    fn name(&self) -> &str {
        "batched"
    }

    fn run(&self, case: &Case, input: Option<&[u8]>, output: &mut [u8]) -> Outcome {
        Cpu::best().run(case, input, output)
    }

    fn batch(&self) -> usize {
        7
    }

    fn run_batch(&self, calls: &[Call<'_>], arena: &mut [u8]) -> Vec<Outcome> {
        assert!((1..=7).contains(&calls.len()));
        let outcomes = Cpu::best().run_batch(calls, arena);
        (self.spoil)(calls, arena);
        outcomes
    }
}

fn run_batched(spoil: Spoil) -> Tally {
    let draw = Draw { seed: 7, count: 200, most_elements: 500, share: Share::All };
    random::run(&Batched { spoil }, draw)
}

#[test]
fn batches_run_the_same_cases() {
    let (batched, single) = (run_batched(|_, _| {}), run(&Wrong::new("right")));
    assert!(batched.is_clean(), "{batched}");
    let counts = |tally: &Tally| (tally.given, tally.moved, tally.refused);
    assert_eq!(counts(&batched), counts(&single));
}

#[test]
fn a_wrong_byte_of_a_batch_is_caught_wherever_it_is() {
    let spoils: [Spoil; 4] = [
        // The last output, guard bytes before the first and after the last buffer, and an input.
        |calls, arena| arena[calls[calls.len() - 1].output.end - 1] ^= 1,
        |calls, arena| arena[calls[0].output.start - 1] ^= 1,
        |calls, arena| arena[calls[calls.len() - 1].output.end] ^= 1,
        |calls, arena| {
            let input = calls.iter().find_map(|call| call.input.clone());
            input.into_iter().for_each(|input| arena[input.start] ^= 1);
        },
    ];
    for spoil in spoils {
        let tally = run_batched(spoil);
        assert!(tally.failed > 20 && !tally.is_clean(), "{tally}");
    }
}
