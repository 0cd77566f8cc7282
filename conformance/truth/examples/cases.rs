//! Prints the cases of the conformance kit, one JSON object a line: the request of the kit's
//! protocol, and what must come back. The tests of the browser package read them.

use retrograde_truth::cases::{self, SEED};
use serde_json::json;
use std::io::{self, BufWriter, Write};

fn main() -> io::Result<()> {
    let mut out = BufWriter::new(io::stdout().lock());
    for case in cases::all(SEED, false) {
        let line = json!({ "request": case.request(), "expected": case.expected_json() });
        writeln!(out, "{line}")?;
    }
    out.flush()
}
