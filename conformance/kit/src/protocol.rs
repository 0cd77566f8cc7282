//! The protocol between the runner and an adapter: one JSON object a line, both ways.
//!
//! The first request is `{"hello": 1}`; every other one is a case. Answers come in any order, and
//! each names its case. `docs/conformance.md` describes it for authors of adapters.

use retrograde_truth::case::Case;
use retrograde_truth::tensor::Tensor;
use serde_json::{Value, json};

/// The version of the protocol.
pub const PROTOCOL: u64 = 1;

/// The first request.
pub fn hello() -> Value {
    json!({ "hello": PROTOCOL })
}

/// What an adapter says about itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hello {
    /// The runtime's name.
    pub runtime: String,
    /// Its version.
    pub version: String,
    /// The operators that it has, by the names of [`OPERATORS`](retrograde_truth::call::OPERATORS).
    pub operators: Vec<String>,
    /// Those of [`EXTRAS`](retrograde_truth::extras::EXTRAS) that it takes; none if it does not say.
    pub operands: Vec<String>,
}

impl Hello {
    /// Whether it has the operator of a case, and takes its operands.
    pub fn has(&self, case: &Case) -> bool {
        self.operators.iter().any(|one| one == case.call.operator())
            && case.extras.named().all(|(name, _)| self.operands.iter().any(|one| one == name))
    }
}

/// The answer to the first request: who it is, or why it cannot run and how to install it.
pub fn parse_hello(line: &str) -> Result<Hello, String> {
    let value: Value = serde_json::from_str(line).map_err(|error| format!("not JSON: {error}"))?;
    if let Some(missing) = value["missing"].as_str() {
        let install = value["install"].as_str().unwrap_or("see its documentation");
        return Err(format!("{missing} is not installed: {install}"));
    }
    if value["protocol"].as_u64() != Some(PROTOCOL) {
        return Err(format!("speaks protocol {}, expected {PROTOCOL}", value["protocol"]));
    }
    let text = |name: &str| value[name].as_str().unwrap_or("unknown").to_owned();
    let operators = value["operators"].as_array().ok_or("\"operators\" is not a list")?;
    let names = |list: &[Value]| list.iter().filter_map(Value::as_str).map(str::to_owned).collect();
    let operands = value["operands"].as_array().map_or(&[][..], Vec::as_slice);
    let (operators, operands) = (names(operators), names(operands));
    Ok(Hello { runtime: text("runtime"), version: text("version"), operators, operands })
}

/// What a runtime did with a case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// It returned this tensor.
    Value(Tensor),
    /// It refused the call, with this message.
    Refused(String),
    /// The adapter cannot express the call; the case says nothing about the runtime.
    Unsupported(String),
    /// The answer itself is wrong.
    Invalid(String),
}

/// The answer to a case, with its id; `None` if the line is not an answer.
pub fn parse_answer(line: &str) -> Option<(String, Outcome)> {
    let value: Value = serde_json::from_str(line).ok()?;
    let id = value["id"].as_str()?.to_owned();
    let message = || value["message"].as_str().unwrap_or("").to_owned();
    let outcome = match value["outcome"].as_str() {
        Some("value") => match Tensor::from_json(&value["output"]) {
            Ok(tensor) => Outcome::Value(tensor),
            Err(reason) => Outcome::Invalid(format!("output: {reason}")),
        },
        Some("refused") => Outcome::Refused(message()),
        Some("unsupported") => Outcome::Unsupported(message()),
        Some(other) => Outcome::Invalid(format!(
            "no outcome {other:?}, expected \"value\", \"refused\" or \"unsupported\""
        )),
        None => Outcome::Invalid("\"outcome\" is not a string".to_owned()),
    };
    Some((id, outcome))
}

/// The answer to a case, for adapters in Rust.
pub fn answer(id: &str, outcome: &Outcome) -> Value {
    match outcome {
        Outcome::Value(tensor) => {
            json!({ "id": id, "outcome": "value", "output": tensor.to_json() })
        }
        Outcome::Refused(message) => json!({ "id": id, "outcome": "refused", "message": message }),
        Outcome::Unsupported(message) | Outcome::Invalid(message) => {
            json!({ "id": id, "outcome": "unsupported", "message": message })
        }
    }
}
