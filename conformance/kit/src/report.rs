//! The report of a run: verdicts of every runtime, and the failures in groups.
//!
//! A group is what one runtime does wrong with one rule of one operator. It shows its smallest case.

mod diff;
mod html;
mod junit;
mod text;

pub use diff::diff;
pub use html::html;
pub use junit::junit;
pub use text::text;

use crate::cause;
use crate::results::RuntimeResults;
use crate::verdict::{CaseResult, Verdict};
use retrograde_truth::case::{Case, Expected};
use retrograde_truth::cases;
use retrograde_truth::tensor::Tensor;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// At most this many elements of a tensor are in a report.
const SHOWN: usize = 64;

/// A runtime in a report.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    /// Its name.
    pub name: String,
    /// Its version.
    pub version: String,
    /// A letter for each case, in the order of [`Report::cases`]; `-` if it did not run.
    pub verdicts: Vec<char>,
}

impl Row {
    /// How many cases have this verdict.
    pub fn count(&self, verdict: Verdict) -> usize {
        self.verdicts.iter().filter(|&&letter| letter == verdict.letter()).count()
    }

    /// How many cases failed.
    pub fn failures(&self) -> usize {
        self.verdicts
            .iter()
            .filter_map(|&letter| Verdict::lettered(letter))
            .filter(|one| one.is_failure())
            .count()
    }
}

/// A report.
#[derive(Debug, Clone, PartialEq)]
pub struct Report {
    /// The seed of the cases.
    pub seed: u64,
    /// Whether every type was tested for every rule.
    pub full: bool,
    /// The day, as `2026-11-17`.
    pub date: String,
    /// The ids of the cases.
    pub cases: Vec<String>,
    /// The runtimes that ran.
    pub runtimes: Vec<Row>,
    /// The runtimes that did not, and why.
    pub missing: Vec<(String, String)>,
    /// The groups of failures, as they are in the file.
    pub groups: Vec<Value>,
}

/// The rule of a case, from its id.
pub fn rule_of(id: &str) -> &str {
    let end = id.match_indices('.').nth(1).map_or(id.len(), |(at, _)| at);
    &id[..end]
}

/// The type of a case, from its id.
pub fn type_of(id: &str) -> &str {
    id.split('.').nth(3).unwrap_or("")
}

impl Report {
    /// Makes a report.
    pub fn new(
        date: &str,
        (seed, full): (u64, bool),
        all: &[Case],
        results: &[RuntimeResults],
        missing: Vec<(String, String)>,
    ) -> Report {
        let row = |one: &RuntimeResults| Row {
            name: one.hello.runtime.clone(),
            version: one.hello.version.clone(),
            verdicts: all
                .iter()
                .map(|case| one.results.get(&case.id).map_or('-', |result| result.verdict.letter()))
                .collect(),
        };
        Report {
            seed,
            full,
            date: date.to_owned(),
            cases: all.iter().map(|case| case.id.clone()).collect(),
            runtimes: results.iter().map(row).collect(),
            missing,
            groups: results.iter().flat_map(|one| groups(all, one)).collect(),
        }
    }

    /// As JSON.
    pub fn to_json(&self) -> Value {
        let row = |row: &Row| {
            let verdicts: String = row.verdicts.iter().collect();
            json!({ "name": row.name, "version": row.version, "verdicts": verdicts })
        };
        let missing = |(name, reason): &(String, String)| json!({ "name": name, "reason": reason });
        json!({
            "kit": cases::VERSION,
            "seed": self.seed,
            "full": self.full,
            "date": self.date,
            "cases": self.cases,
            "runtimes": self.runtimes.iter().map(row).collect::<Vec<_>>(),
            "missing": self.missing.iter().map(missing).collect::<Vec<_>>(),
            "groups": self.groups,
        })
    }

    /// Reads a report. The error says what is wrong with it.
    pub fn from_json(value: &Value) -> Result<Report, String> {
        let list = |name: &str| {
            value[name]
                .as_array()
                .ok_or_else(|| format!("\"{name}\" is not a list: not a report of the kit"))
        };
        let text = |value: &Value, name: &str| value[name].as_str().unwrap_or("").to_owned();
        if value["kit"] != cases::VERSION {
            let (got, expected) = (&value["kit"], cases::VERSION);
            return Err(format!("the report has cases of version {got}, expected {expected}"));
        }
        let cases: Vec<_> =
            list("cases")?.iter().filter_map(Value::as_str).map(str::to_owned).collect();
        let mut runtimes = Vec::new();
        for one in list("runtimes")? {
            let (name, version) = (text(one, "name"), text(one, "version"));
            let verdicts: Vec<char> = text(one, "verdicts").chars().collect();
            if verdicts.len() != cases.len() {
                let (got, expected) = (verdicts.len(), cases.len());
                return Err(format!("{name} has {got} verdicts for {expected} cases"));
            }
            runtimes.push(Row { name, version, verdicts });
        }
        let missing =
            list("missing")?.iter().map(|one| (text(one, "name"), text(one, "reason"))).collect();
        Ok(Report {
            seed: value["seed"].as_u64().unwrap_or(0),
            full: value["full"] == true,
            date: text(value, "date"),
            cases,
            runtimes,
            missing,
            groups: list("groups")?.clone(),
        })
    }
}

impl Report {
    /// Joins reports of the same cases, such as those of several machines. A runtime that is in two
    /// has the results of the later one.
    pub fn merged(reports: &[Report]) -> Result<Report, String> {
        let (first, others) = reports.split_first().ok_or("there is no report")?;
        let mut out = first.clone();
        for (at, report) in others.iter().enumerate() {
            let same =
                (&report.cases, report.seed, report.full) == (&out.cases, out.seed, out.full);
            if !same {
                return Err(format!("report {} has other cases than the first", at + 2));
            }
            for row in &report.runtimes {
                match out.runtimes.iter_mut().find(|one| one.name == row.name) {
                    Some(earlier) => *earlier = row.clone(),
                    None => out.runtimes.push(row.clone()),
                }
                out.groups.retain(|group| group["runtime"] != row.name.as_str());
            }
            out.groups.extend(report.groups.iter().cloned());
            out.missing.retain(|(name, _)| !report.missing.iter().any(|(one, _)| one == name));
            out.missing.extend(report.missing.iter().cloned());
            out.date = out.date.max(report.date.clone());
        }
        let ran = |name: &String| out.runtimes.iter().any(|row| row.name == *name);
        let missing = out.missing.iter().filter(|(name, _)| !ran(name)).cloned().collect();
        Ok(Report { missing, ..out })
    }
}

/// A report as JSON, with a line for each case, runtime and group, so that two can be compared.
pub fn json(report: &Report) -> String {
    let Value::Object(fields) = report.to_json() else { return String::new() };
    let field = |(name, value): (&String, &Value)| match value {
        Value::Array(entries) if !entries.is_empty() => {
            let lines: Vec<_> = entries.iter().map(Value::to_string).collect();
            format!("{name:?}:[\n{}\n]", lines.join(",\n"))
        }
        other => format!("{name:?}:{other}"),
    };
    let fields: Vec<_> = fields.iter().map(field).collect();
    format!("{{{}}}\n", fields.join(",\n"))
}

/// A rule, an operator and a verdict.
type Key<'a> = (&'a str, &'a str, Verdict);

/// The failures of a runtime, in the order of the cases.
fn groups(all: &[Case], one: &RuntimeResults) -> Vec<Value> {
    let mut order: Vec<Key<'_>> = Vec::new();
    let mut found: BTreeMap<Key<'_>, Vec<(&Case, &CaseResult)>> = BTreeMap::new();
    for case in all {
        let Some(result) = one.results.get(&case.id).filter(|one| one.verdict.is_failure()) else {
            continue;
        };
        let key = (case.rule, case.call.operator(), result.verdict);
        if !found.contains_key(&key) {
            order.push(key);
        }
        found.entry(key).or_default().push((case, result));
    }
    order.iter().map(|key| group(&one.hello.runtime, *key, &found[key])).collect()
}

fn group(
    runtime: &str,
    (rule, operator, verdict): (&str, &str, Verdict),
    cases: &[(&Case, &CaseResult)],
) -> Value {
    let mut types: BTreeMap<&str, usize> = BTreeMap::new();
    for (case, _) in cases {
        *types.entry(case.input.dtype.name).or_default() += 1;
    }
    // The list is not empty: a group is made for a case.
    let smallest = cases.iter().min_by_key(|(case, _)| case.size());
    let (case, result) = smallest.copied().unwrap_or(cases[0]);
    let expected = match &case.expected {
        Expected::Value(tensor) => shown(tensor),
        Expected::Refusal(reason) => json!({ "refused": reason }),
    };
    let cause = match (&case.expected, &result.got) {
        (Expected::Value(expected), Some(got)) => {
            let Case { call, input, argument, extras, .. } = case;
            cause::likely(call, input, argument, extras, (expected, got))
        }
        _ => None,
    };
    json!({
        "runtime": runtime,
        "rule": rule,
        "operator": operator,
        "verdict": verdict.name(),
        "types": types,
        "count": cases.len(),
        "id": case.id,
        "call": case.line(),
        "before": shown(&case.input),
        "expected": expected,
        "got": result.got.as_ref().map(shown),
        "message": result.message,
        "cause": cause,
    })
}

/// A tensor for people.
fn shown(tensor: &Tensor) -> Value {
    let count = tensor.len().min(SHOWN);
    let texts: Vec<_> = (0..count).map(|at| tensor.text(at)).collect();
    json!({ "dtype": tensor.dtype.name, "shape": tensor.shape, "elements": texts })
}

/// The day of a time since 1970, as `2026-11-17` (UTC).
pub fn day(since: std::time::Duration) -> String {
    // Days are counted from 1 March of the year 0, so that leap days end a year.
    let days = (since.as_secs() / 86400) as i64 + 719_468;
    let (era, in_era) = (days / 146_097, days % 146_097);
    let year_of_era = (in_era - in_era / 1460 + in_era / 36524 - in_era / 146_096) / 365;
    let in_year = in_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted = (5 * in_year + 2) / 153;
    let day = in_year - (153 * shifted + 2) / 5 + 1;
    let month = if shifted < 10 { shifted + 3 } else { shifted - 9 };
    let year = era * 400 + year_of_era + i64::from(month <= 2);
    format!("{year}-{month:02}-{day:02}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn days_are_those_of_the_calendar() {
        assert_eq!(day(Duration::ZERO), "1970-01-01");
        assert_eq!(day(Duration::from_secs(951_782_400)), "2000-02-29");
        assert_eq!(day(Duration::from_secs(1_794_873_600)), "2026-11-17");
    }

    #[test]
    fn ids_have_rule_and_type() {
        assert_eq!(rule_of("bits.nan-payload.flip.f32.4x3.1"), "bits.nan-payload");
        assert_eq!(type_of("bits.nan-payload.flip.f32.4x3.1"), "f32");
    }
}
