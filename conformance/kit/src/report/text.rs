//! The report as text: one screen of counts, then the failures by rule.

use super::{Report, rule_of};
use crate::verdict::Verdict;
use retrograde_truth::rules::RULES;
use std::fmt::Write;

/// The report as text.
pub fn text(report: &Report) -> String {
    let set = if report.full { "full set" } else { "default set" };
    let mut out = format!(
        "Conformance of reversal operators, {}: {} cases ({set}, version {}, seed {})\n\n",
        report.date,
        report.cases.len(),
        retrograde_truth::cases::VERSION,
        report.seed,
    );
    let _ = writeln!(
        out,
        "{:<32} {:>6} {:>6} {:>7} {:>8} {:>5} {:>4} {:>6} {:>7}",
        "runtime", "pass", "wrong", "refused", "accepted", "crash", "hang", "memory", "skipped"
    );
    for row in &report.runtimes {
        let name = format!("{} {}", row.name, row.version);
        let count = |verdict| row.count(verdict);
        let _ = writeln!(
            out,
            "{name:<32} {:>6} {:>6} {:>7} {:>8} {:>5} {:>4} {:>6} {:>7}",
            count(Verdict::Pass),
            count(Verdict::Wrong),
            count(Verdict::Refused),
            count(Verdict::Accepted),
            count(Verdict::Crash),
            count(Verdict::Hang),
            count(Verdict::Memory),
            count(Verdict::Skip),
        );
    }
    for (name, reason) in &report.missing {
        let _ = writeln!(out, "{name:<32} not run: {reason}");
    }
    out.push('\n');
    for rule in RULES {
        let broken: Vec<String> =
            report.runtimes.iter().filter_map(|row| line(report, row, rule.id)).collect();
        if !broken.is_empty() {
            let _ = writeln!(out, "{:<24} {}", rule.id, broken.join("; "));
        }
    }
    out
}

/// What a runtime does with a rule, if it breaks it.
fn line(report: &Report, row: &super::Row, rule: &str) -> Option<String> {
    let of_rule = || report.cases.iter().zip(&row.verdicts).filter(|(id, _)| rule_of(id) == rule);
    let ran = of_rule().filter(|(_, letter)| !"-S".contains(**letter)).count();
    let mut parts = Vec::new();
    for verdict in Verdict::ALL.into_iter().filter(|verdict| verdict.is_failure()) {
        let count = of_rule().filter(|(_, letter)| **letter == verdict.letter()).count();
        if count > 0 {
            parts.push(format!("{count} {}", verdict.name()));
        }
    }
    (!parts.is_empty()).then(|| format!("{} {} of {ran}", row.name, parts.join(", ")))
}
