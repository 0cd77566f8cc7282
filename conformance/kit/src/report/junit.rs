//! The report as JUnit XML, for CI: a suite for each runtime, a test case for each case.

use super::{Report, rule_of};
use crate::verdict::Verdict;
use std::collections::HashMap;
use std::fmt::Write;

/// The report as JUnit XML. Failures carry what the group of the case says.
pub fn junit(report: &Report) -> String {
    let mut messages: HashMap<(&str, &str, &str), &str> = HashMap::new();
    for group in &report.groups {
        let text = |name: &str| group[name].as_str().unwrap_or("");
        messages.insert((text("runtime"), text("rule"), text("verdict")), text("message"));
    }
    let mut out = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n");
    for row in &report.runtimes {
        let ran = row.verdicts.iter().filter(|&&letter| letter != '-').count();
        let (failures, skipped) = (row.failures(), row.count(Verdict::Skip));
        let (name, version) = (escaped(&row.name), escaped(&row.version));
        let _ = writeln!(
            out,
            "<testsuite name=\"{name} {version}\" tests=\"{ran}\" failures=\"{failures}\" skipped=\"{skipped}\">"
        );
        for (id, &letter) in report.cases.iter().zip(&row.verdicts) {
            let Some(verdict) = Verdict::lettered(letter) else { continue };
            let rule = rule_of(id);
            let _ = write!(out, "<testcase classname=\"{name}.{rule}\" name=\"{id}\"");
            let message = messages.get(&(&row.name, rule, verdict.name())).copied().unwrap_or("");
            let _ = match verdict {
                Verdict::Pass => writeln!(out, "/>"),
                Verdict::Skip => writeln!(out, "><skipped/></testcase>"),
                _ => writeln!(
                    out,
                    "><failure type=\"{}\" message=\"{}\"/></testcase>",
                    verdict.name(),
                    escaped(message)
                ),
            };
        }
        out.push_str("</testsuite>\n");
    }
    out + "</testsuites>\n"
}

/// Text for an attribute. Control characters are not allowed in XML at all.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            _ if character.is_control() || matches!(character, '\u{fffe}' | '\u{ffff}') => {
                out.push('\u{fffd}');
            }
            _ => out.push(character),
        }
    }
    out
}
