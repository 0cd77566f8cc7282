//! Verdicts: what an outcome says about the runtime.

use crate::protocol::Outcome;
use retrograde_truth::case::{Case, Expected};
use retrograde_truth::tensor::Tensor;

/// The verdict on one case.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verdict {
    /// It did what the rule says.
    Pass,
    /// It returned something else.
    Wrong,
    /// It refused a call that has a result.
    Refused,
    /// It returned a result where it must refuse.
    Accepted,
    /// The process ended.
    Crash,
    /// There was no answer in time.
    Hang,
    /// The process took more memory than allowed.
    Memory,
    /// The case does not apply.
    Skip,
}

impl Verdict {
    /// All verdicts.
    pub const ALL: [Verdict; 8] = [
        Verdict::Pass,
        Verdict::Wrong,
        Verdict::Refused,
        Verdict::Accepted,
        Verdict::Crash,
        Verdict::Hang,
        Verdict::Memory,
        Verdict::Skip,
    ];

    /// Its name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Verdict::Pass => "pass",
            Verdict::Wrong => "wrong",
            Verdict::Refused => "refused",
            Verdict::Accepted => "accepted",
            Verdict::Crash => "crash",
            Verdict::Hang => "hang",
            Verdict::Memory => "memory",
            Verdict::Skip => "skip",
        }
    }

    /// Its letter in reports.
    pub fn letter(self) -> char {
        self.name().as_bytes()[0].to_ascii_uppercase().into()
    }

    /// The verdict with this name.
    pub fn named(name: &str) -> Option<Verdict> {
        Verdict::ALL.into_iter().find(|verdict| verdict.name() == name)
    }

    /// The verdict with this letter.
    pub fn lettered(letter: char) -> Option<Verdict> {
        Verdict::ALL.into_iter().find(|verdict| verdict.letter() == letter)
    }

    /// Whether the runtime broke the rule.
    pub fn is_failure(self) -> bool {
        !matches!(self, Verdict::Pass | Verdict::Skip)
    }
}

/// The result of one case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CaseResult {
    /// The verdict.
    pub verdict: Verdict,
    /// What the runtime said, or how its process ended.
    pub message: String,
    /// What it returned, if that is wrong.
    pub got: Option<Tensor>,
}

impl CaseResult {
    /// A result without a tensor.
    pub fn of(verdict: Verdict, message: impl Into<String>) -> CaseResult {
        CaseResult { verdict, message: message.into(), got: None }
    }
}

/// Compares an outcome with what is expected.
pub fn judge(case: &Case, outcome: Outcome) -> CaseResult {
    match (&case.expected, outcome) {
        (_, Outcome::Unsupported(message)) => CaseResult::of(Verdict::Skip, message),
        (_, Outcome::Invalid(message)) => CaseResult::of(Verdict::Wrong, message),
        (Expected::Value(expected), Outcome::Value(got)) => match got == *expected {
            true => CaseResult::of(Verdict::Pass, ""),
            false => {
                let message = difference(expected, &got);
                CaseResult { verdict: Verdict::Wrong, message, got: Some(got) }
            }
        },
        (Expected::Value(_), Outcome::Refused(message)) => {
            CaseResult::of(Verdict::Refused, message)
        }
        (Expected::Refusal(_), Outcome::Refused(message)) => CaseResult::of(Verdict::Pass, message),
        (Expected::Refusal(_), Outcome::Value(got)) => {
            let message = "returned a result".to_owned();
            CaseResult { verdict: Verdict::Accepted, message, got: Some(got) }
        }
    }
}

/// The first difference between two tensors, and how many there are.
fn difference(expected: &Tensor, got: &Tensor) -> String {
    if got.dtype != expected.dtype {
        return format!("type {}, expected {}", got.dtype.name, expected.dtype.name);
    }
    if got.shape != expected.shape {
        return format!("shape {:?}, expected {:?}", got.shape, expected.shape);
    }
    let differs =
        |at: &usize| got.bits(*at) != expected.bits(*at) || got.text(*at) != expected.text(*at);
    let mut all = (0..got.len()).filter(differs);
    match all.next() {
        None => "unused bits of the last byte are not zero, or text differs".to_owned(),
        Some(first) => {
            let (one, other) = (got.text(first), expected.text(first));
            let count = 1 + all.count();
            format!("{count} of {} differ, first [{first}]: {one}, expected {other}", got.len())
        }
    }
}
