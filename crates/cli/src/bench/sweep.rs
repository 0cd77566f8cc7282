//! `retrograde bench --sweep`: time against size.

use super::measure;
use super::subject::Subject;
use super::turns::{Sampled, Style};
use crate::args::BenchArguments;
use crate::report;
use anstyle::Style as Weight;
use anyhow::Result;
use retrograde::Layout;
use std::time::Duration;

/// The sizes, as powers of two in bytes: 4 KiB to 64 MiB.
const SIZES: std::ops::RangeInclusive<u32> = 12..=26;

/// Measures every size for about this long, and prints a line for each when it is done.
pub(super) fn run(arguments: &BenchArguments, threads: usize, time: Duration) -> Result<()> {
    let mut headed = false;
    for size in SIZES.map(|bits| 1usize << bits) {
        let layout = of_about(arguments, size)?;
        let subject = Subject::of(arguments, &layout)?;
        if !headed {
            report::print(&heading(&subject, &layout, threads))?;
            headed = true;
        }
        let (sampled, _) = measure(&subject, &layout, threads, time)?;
        report::print(&line(layout.byte_len(), &sampled))?;
    }
    Ok(())
}

/// The layout of the arguments with another first axis, so that it has about this many bytes.
fn of_about(arguments: &BenchArguments, bytes: usize) -> Result<Layout> {
    let mut shape = arguments.shape.0.clone();
    if let Some(first) = shape.first_mut() {
        *first = 1;
        let one = Layout::dense(arguments.dtype, &shape)?.byte_len().max(1);
        shape[0] = (bytes / one).max(1);
    }
    Ok(Layout::dense(arguments.dtype, &shape)?)
}

fn heading(subject: &Subject, layout: &Layout, threads: usize) -> String {
    let bold = Weight::new().bold();
    let (operator, axes) = subject.headline();
    let rest = layout.shape().get(1..).unwrap_or_default();
    let rest: String = rest.iter().map(|size| format!(", {size}")).collect();
    let dtype = layout.dtype();
    let threads = report::threads(threads);
    format!(
        "{bold}{operator}{bold:#}  {dtype} [N{rest}]  {axes}  {threads}\n\n\
         microseconds (90th percentile), and the time of the fastest copy divided by it\n\n\
         {:>10}{:>26}{:>34}\n{:>10}{:>12}{:>16}{:>8}{:>12}{:>16}{:>8}\n",
        "",
        "reused output",
        "fresh output",
        "size",
        "copy",
        "reversed",
        "ratio",
        "copy",
        "reversed",
        "ratio",
    )
}

fn line(bytes: usize, sampled: &[Sampled]) -> String {
    let micro = |seconds: f64| seconds * 1e6;
    let cells = |style: Style| {
        let of_style = || sampled.iter().filter(move |one| one.style == style);
        let copies = of_style().filter(|one| one.is_copy()).map(|one| one.seconds);
        let copy = micro(copies.fold(f64::INFINITY, f64::min));
        let ours = of_style().find(|one| !one.is_copy());
        ours.map_or_else(String::new, |ours| {
            let time = format!("{:.1} ({:.1})", micro(ours.seconds), micro(ours.slow));
            format!("{copy:>12.1}{time:>16}{:>8.2}", ours.ratio[0])
        })
    };
    format!("{:>10}{}{}\n", report::bytes(bytes as u64), cells(Style::Reused), cells(Style::Fresh))
}
