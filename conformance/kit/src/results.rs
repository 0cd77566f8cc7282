//! The results of a run: one verdict for each case and runtime, kept in a file as they come.
//!
//! A run that was interrupted is continued from that file. Results of another set of cases, or of
//! another version of a runtime, are not used.

use crate::protocol::Hello;
use crate::verdict::{CaseResult, Verdict};
use retrograde_truth::case::Case;
use retrograde_truth::tensor::Tensor;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{self, BufRead, BufReader, Write};
use std::path::Path;

/// A wrong tensor of more elements is not kept; the message says what differs.
const KEPT_ELEMENTS: usize = 4096;

/// What one runtime did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RuntimeResults {
    /// Who it is.
    pub hello: Hello,
    /// By the id of the case.
    pub results: BTreeMap<String, CaseResult>,
}

/// A file of results.
#[derive(Debug)]
pub struct Journal {
    file: File,
}

/// Results by runtime and version, and then by case.
pub type Held = BTreeMap<(String, String), BTreeMap<String, CaseResult>>;

/// Which set of cases a file of results belongs to.
fn header(seed: u64, full: bool) -> Value {
    json!({ "kit": retrograde_truth::cases::VERSION, "seed": seed, "full": full })
}

impl Journal {
    /// Opens the file to add to it. A file of another set of cases is begun anew, and so is any file
    /// if `fresh`. Also returns what it already holds, by runtime and version.
    pub fn open(path: &Path, seed: u64, full: bool, fresh: bool) -> io::Result<(Journal, Held)> {
        let mut held = Held::new();
        let expected = header(seed, full);
        let mut usable = false;
        if !fresh && let Ok(file) = File::open(path) {
            let mut lines = BufReader::new(file).lines().map_while(Result::ok);
            let first = lines.next().and_then(|line| serde_json::from_str::<Value>(&line).ok());
            usable = first == Some(expected.clone());
            // A line that was cut by an interruption is not read; its case runs again.
            let lines = lines.take_while(|_| usable);
            for value in lines.filter_map(|line| serde_json::from_str::<Value>(&line).ok()) {
                let text = |name: &str| value[name].as_str().unwrap_or("").to_owned();
                let Some(verdict) = Verdict::named(&text("verdict")) else { continue };
                let got = Tensor::from_json(&value["got"]).ok();
                let result = CaseResult { verdict, message: text("message"), got };
                let of: &mut BTreeMap<_, _> =
                    held.entry((text("runtime"), text("version"))).or_default();
                of.insert(text("id"), result);
            }
        }
        let mut file = OpenOptions::new()
            .create(true)
            .write(true)
            .append(usable)
            .truncate(!usable)
            .open(path)?;
        // After a cut line, the next one must begin anew.
        writeln!(file, "{}", if usable { String::new() } else { expected.to_string() })?;
        Ok((Journal { file }, held))
    }

    /// Adds one result.
    pub fn add(&mut self, hello: &Hello, case: &Case, result: &CaseResult) -> io::Result<()> {
        let mut line = json!({
            "runtime": hello.runtime,
            "version": hello.version,
            "id": case.id,
            "verdict": result.verdict.name(),
        });
        if !result.message.is_empty() {
            line["message"] = json!(result.message);
        }
        if let Some(got) = result.got.as_ref().filter(|got| got.len() <= KEPT_ELEMENTS) {
            line["got"] = got.to_json();
        }
        // One write a line: what is in the file is whole lines but for the last.
        self.file.write_all(format!("{line}\n").as_bytes())
    }
}
