//! What a provider claimed in a session, as lines of JSON in a file that a user asked for.

use crate::ffi::OrtGraph;
use crate::options::Options;
use crate::runtime::{Failure, Runtime, text};
use std::fmt::Write as _;
use std::fs::File;
use std::io::Write as _;
use std::ptr;

/// A candidate and what became of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Line {
    pub(crate) graph: String,
    pub(crate) node: String,
    pub(crate) operator: String,
    pub(crate) output: String,
    /// Why it was not claimed; none if it was.
    pub(crate) reason: Option<String>,
}

impl Line {
    fn json(&self) -> String {
        let reason = self.reason.as_deref().map_or("null".to_owned(), quoted);
        format!(
            r#"{{"graph": {}, "node": {}, "operator": {}, "output": {}, "claimed": {}, "reason": {reason}}}"#,
            quoted(&self.graph),
            quoted(&self.node),
            quoted(&self.operator),
            quoted(&self.output),
            self.reason.is_none(),
        )
    }
}

/// The candidates of a session. The runtime asks for some graphs more than once.
#[derive(Debug, Default)]
pub(crate) struct Report {
    lines: Vec<Line>,
}

impl Report {
    /// Adds a candidate, or replaces what was said about it before.
    pub(crate) fn add(&mut self, line: Line) {
        let same = |old: &&mut Line| old.graph == line.graph && old.output == line.output;
        match self.lines.iter_mut().find(same) {
            Some(old) => *old = line,
            None => self.lines.push(line),
        }
    }

    /// Whether any node was claimed.
    pub(crate) fn has_claims(&self) -> bool {
        self.lines.iter().any(|line| line.reason.is_none())
    }

    /// Writes all of it to the file that the options name, if they name one.
    pub(crate) fn write_to(&self, options: &Options) -> Result<(), Failure> {
        let Some(path) = &options.report else { return Ok(()) };
        let mut all = String::new();
        for line in &self.lines {
            all += &line.json();
            all.push('\n');
        }
        File::create(path).and_then(|mut file| file.write_all(all.as_bytes())).map_err(|error| {
            let expected = "a file that can be written";
            let path = path.display().to_string();
            let text =
                format!("provider option \"report\" is {path:?}, expected {expected}: {error}");
            Failure::argument(text)
        })
    }
}

/// The name of a graph; for one inside a node, that of the node too.
///
/// # Safety
/// The graph is the runtime's.
pub(crate) unsafe fn graph_name(runtime: &Runtime, graph: *const OrtGraph) -> String {
    let (mut name, mut parent, mut outer) = (ptr::null(), ptr::null(), ptr::null());
    // SAFETY: as required; texts live as long as the graph.
    unsafe {
        let ok = |status| runtime.succeeded(status);
        let name = if ok(runtime.api.graph_name(graph, &mut name)) { text(name) } else { "" };
        if !ok(runtime.api.parent_node(graph, &mut parent)) || parent.is_null() {
            return name.to_owned();
        }
        let outer = if ok(runtime.api.node_name(parent, &mut outer)) { text(outer) } else { "" };
        format!("{outer}/{name}")
    }
}

fn quoted(text: &str) -> String {
    let mut quoted = String::from('"');
    for letter in text.chars() {
        match letter {
            '"' | '\\' => quoted.extend(['\\', letter]),
            '\0'..='\u{1f}' => {
                let _ = write!(quoted, "\\u{:04x}", u32::from(letter));
            }
            _ => quoted.push(letter),
        }
    }
    quoted.push('"');
    quoted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_quoted() {
        assert_eq!(quoted("a\"b\\c\n\u{e9}"), "\"a\\\"b\\\\c\\u000a\u{e9}\"");
    }

    #[test]
    fn a_node_has_one_line() {
        let line = |output: &str, reason: Option<&str>| Line {
            graph: "g".to_owned(),
            node: String::new(),
            operator: "Slice".to_owned(),
            output: output.to_owned(),
            reason: reason.map(str::to_owned),
        };
        let mut report = Report::default();
        report.add(line("y", None));
        report.add(line("z", Some("its steps are 1")));
        report.add(line("y", None));
        assert_eq!(report.lines.len(), 2);
        assert!(report.has_claims() && !Report::default().has_claims());
        assert_eq!(
            report.lines[1].json(),
            r#"{"graph": "g", "node": "", "operator": "Slice", "output": "z", "claimed": false, "reason": "its steps are 1"}"#
        );
    }
}
