//! The report as one HTML page that needs nothing else: data, style and script are in it.

use super::Report;
use retrograde_truth::rules::RULES;
use serde_json::json;

const PAGE: &str = include_str!("report.html");

/// The report as a page.
pub fn html(report: &Report) -> String {
    let rule = |rule: &retrograde_truth::rules::Rule| {
        let known =
            |one: &retrograde_truth::rules::Known| json!([one.runtime, one.does, one.thread]);
        json!({
            "id": rule.id,
            "sentence": rule.sentence,
            "silent": rule.silent,
            "known": rule.known.iter().map(known).collect::<Vec<_>>(),
        })
    };
    let mut data = report.to_json();
    data["rules"] = json!(RULES.iter().map(rule).collect::<Vec<_>>());
    // In a script, only the end tag and comments would be read as markup.
    let data = data.to_string().replace('<', "\\u003c");
    PAGE.replacen("/*DATA*/null", &data, 1)
}
