//! The difference between two reports: what a runtime does better or worse than before.

use super::{Report, Row, rule_of};
use crate::verdict::Verdict;
use std::collections::{BTreeMap, HashMap};
use std::fmt::Write;

/// What changed, as text, and how many cases failed only in the new report. Runtimes are matched by
/// name; of several versions the last is used.
pub fn diff(old: &Report, new: &Report) -> (String, usize) {
    let mut out = String::new();
    let mut regressions = 0;
    let by_name = |report: &Report| -> BTreeMap<String, Row> {
        report.runtimes.iter().map(|row| (row.name.clone(), row.clone())).collect()
    };
    let (before, after) = (by_name(old), by_name(new));
    for (name, now) in &after {
        let Some(then) = before.get(name) else {
            let _ = writeln!(out, "{name} {}: only in the new report", now.version);
            continue;
        };
        regressions += compared(&mut out, (old, then), (new, now));
    }
    for (name, then) in before.iter().filter(|(name, _)| !after.contains_key(*name)) {
        let _ = writeln!(out, "{name} {}: only in the old report", then.version);
    }
    (out, regressions)
}

fn compared(out: &mut String, (old, then): (&Report, &Row), (new, now): (&Report, &Row)) -> usize {
    let earlier: HashMap<&str, char> =
        old.cases.iter().map(String::as_str).zip(then.verdicts.iter().copied()).collect();
    // Rule, verdict before, verdict now: how many, and the first.
    let mut changes: BTreeMap<(&str, Verdict, Verdict), (usize, &str)> = BTreeMap::new();
    for (id, &letter) in new.cases.iter().zip(&now.verdicts) {
        let was = earlier.get(&id[..]).and_then(|&letter| Verdict::lettered(letter));
        let (Some(was), Some(is)) = (was, Verdict::lettered(letter)) else { continue };
        if was != is {
            changes.entry((rule_of(id), was, is)).or_insert((0, id)).0 += 1;
        }
    }
    let version = match then.version == now.version {
        true => now.version.clone(),
        false => format!("{} -> {}", then.version, now.version),
    };
    let worse = |(_, was, is): &(&str, Verdict, Verdict)| !was.is_failure() && is.is_failure();
    let count = |chosen: &dyn Fn(&(&str, Verdict, Verdict)) -> bool| -> usize {
        changes.iter().filter(|(key, _)| chosen(key)).map(|(_, (count, _))| count).sum()
    };
    let regressed = count(&worse);
    let fixed = count(&|(_, was, is)| was.is_failure() && !is.is_failure());
    let _ = writeln!(out, "{} {version}: {regressed} worse, {fixed} better", now.name);
    for (key, (count, first)) in &changes {
        let (rule, was, is) = key;
        let mark = if worse(key) {
            "worse "
        } else if is.is_failure() {
            "other "
        } else {
            "better"
        };
        let (was, is) = (was.name(), is.name());
        let _ = writeln!(out, "  {mark} {rule:<24} {was} -> {is}: {count}, first {first}");
    }
    regressed
}
