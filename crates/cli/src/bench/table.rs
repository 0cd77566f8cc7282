//! The table of results: throughput, ratio to memcpy, plan and kernel.

use super::subject::Subject;
use super::turns::{Sampled, Style};
use crate::report;
use anstyle::Style as Weight;
use retrograde::{Layout, Plan};
use std::fmt::Write;

/// Formats the table.
pub(super) fn draw(
    subject: &Subject,
    layout: &Layout,
    threads: usize,
    plan: &Plan,
    sampled: &[Sampled],
) -> String {
    let bold = Weight::new().bold();
    let (operator, axes) = subject.headline();
    let (dtype, shape, size) =
        (layout.dtype(), layout.shape(), report::bytes(layout.byte_len() as u64));
    let threads = report::threads(threads);
    let mut text =
        format!("{bold}{operator}{bold:#}  {dtype} {shape:?}  {axes}  {size}  {threads}\n\n");
    // Writing to a string cannot fail.
    let _ = writeln!(text, "  {:37}{:>9}{:>11}{:>15}", "", "GB/s", "of memcpy", "p10 to p90");
    for one in sampled {
        let gigabytes = plan.bytes_moved() as f64 / one.seconds / 1e9;
        let _ = write!(text, "  {:37}{gigabytes:>9.1}", label(one));
        let [median, low, high] = one.ratio;
        if one.is_copy() {
            text.push('\n');
        } else {
            let spread = format!("{low:.2} to {high:.2}");
            let _ = writeln!(text, "{median:>11.2}{spread:>15}");
        }
    }
    let _ = writeln!(text, "\n{bold}plan{bold:#}  {plan}");
    text
}

fn label(one: &Sampled) -> String {
    let place = match one.style {
        Style::Reused => "reused output",
        Style::Fresh => "fresh output",
        Style::InPlace => "in place",
    };
    format!("{}, {place}", one.name)
}
