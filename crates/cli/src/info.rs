//! `retrograde info`: what a file holds, for people and for programs.

use crate::args::InfoArguments;
use crate::elements::printable;
use crate::report;
use anstyle::Style;
use anyhow::Result;
use retrograde::DType;
use retrograde_io::{ElementType, Listed, Listing, list};
use serde::Serialize;
use std::fmt::Write;
use unicode_width::UnicodeWidthStr;

/// A file, as JSON.
#[derive(Serialize)]
struct FileRecord {
    file: String,
    format: &'static str,
    file_bytes: u64,
    tensors: Vec<TensorRecord>,
}

/// A tensor, as JSON.
#[derive(Serialize)]
struct TensorRecord {
    name: Option<String>,
    dtype: String,
    numpy: Option<String>,
    shape: Vec<usize>,
    elements: usize,
    bytes: usize,
    order: &'static str,
    byte_order: Option<&'static str>,
    offset: Option<u64>,
    deflated_bytes: Option<u64>,
}

/// Prints what the file holds.
pub(crate) fn run(arguments: &InfoArguments) -> Result<()> {
    let location = &arguments.input.input;
    let listing = list(location, &arguments.input.opening(None))?;
    let file = location.path.display().to_string();
    let text = if arguments.json { json(file, &listing)? } else { words(&file, &listing) };
    Ok(report::print(&text)?)
}

fn json(file: String, listing: &Listing) -> Result<String> {
    let record = |tensor: &Listed| TensorRecord {
        name: tensor.name.clone(),
        dtype: match tensor.element.dtype() {
            DType::Bytes(_) => tensor.element.to_string(),
            dtype => dtype.to_string(),
        },
        numpy: match &tensor.element {
            ElementType::Numpy(descr) => Some(descr.to_string()),
            ElementType::Plain(_) => None,
        },
        shape: tensor.shape.clone(),
        elements: elements(tensor),
        bytes: tensor.bytes,
        order: if tensor.fortran_order { "F" } else { "C" },
        byte_order: (tensor.element.number_bytes() > 1)
            .then_some(if tensor.element.is_big_endian() { "big" } else { "little" }),
        offset: tensor.offset,
        deflated_bytes: tensor.deflated,
    };
    let record = FileRecord {
        file,
        format: listing.format.name(),
        file_bytes: listing.file_bytes,
        tensors: listing.tensors.iter().map(record).collect(),
    };
    Ok(serde_json::to_string_pretty(&record)? + "\n")
}

fn words(file: &str, listing: &Listing) -> String {
    let bold = Style::new().bold();
    let size = report::bytes(usize::try_from(listing.file_bytes).unwrap_or(usize::MAX));
    let mut text = format!("{bold}{}{bold:#}  {}, {size}\n", printable(file), listing.format);
    let name = |tensor: &Listed| tensor.name.as_deref().map(printable).unwrap_or_default();
    let kind = |tensor: &Listed| format!("{} {:?}", tensor.element, tensor.shape);
    let widest = |of: &dyn Fn(&Listed) -> String| {
        listing.tensors.iter().map(|tensor| of(tensor).width()).max().unwrap_or(0)
    };
    let (names, kinds) = (widest(&name), widest(&kind));
    for tensor in &listing.tensors {
        text.push_str("  ");
        if names > 0 {
            pad(&mut text, &name(tensor), names + 2);
        }
        pad(&mut text, &kind(tensor), kinds + 2);
        let order = if tensor.fortran_order { "column-major" } else { "row-major" };
        let _ = write!(text, "{}, {order}", report::bytes(tensor.bytes));
        if let Some(offset) = tensor.offset {
            let _ = write!(text, ", from byte {offset}");
        }
        if let Some(bytes) = tensor.deflated {
            let bytes = report::bytes(usize::try_from(bytes).unwrap_or(usize::MAX));
            let _ = write!(text, ", deflated to {bytes}");
        }
        text.push('\n');
    }
    if listing.tensors.is_empty() {
        text.push_str("  (no tensors)\n");
    }
    text
}

/// The text, filled up with spaces.
fn pad(out: &mut String, text: &str, width: usize) {
    out.push_str(text);
    out.push_str(&" ".repeat(width.saturating_sub(text.width())));
}

fn elements(tensor: &Listed) -> usize {
    // A product that overflows has an empty axis: the file was found to hold the tensor.
    if tensor.shape.contains(&0) { 0 } else { tensor.shape.iter().product() }
}
