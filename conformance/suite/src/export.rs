//! The oracle's answers as JSON lines, for runtimes that are not written in Rust.
//!
//! Each line is one call on the tensor whose element at ordinal `i` is `i`; `expected` is the
//! output. Other runtimes are run on the same calls to check whether they agree with the oracle,
//! which validates the oracle.

use crate::case::{Case, CaseLengths, Expected, Operation, Rule};
use crate::placement::{Kind, Placement, Width};
use crate::runner::split_mix;
use retrograde::DType;
use std::fmt::Display;
use std::io::{self, Write};
use std::sync::Arc;

/// Writes the engine's table of element types, one per line.
pub fn write_types(out: &mut impl Write) -> io::Result<usize> {
    fn text(name: Option<&str>) -> String {
        name.map_or("null".to_owned(), |name| format!("{name:?}"))
    }
    fn coded(code: Option<(impl Display, &str)>) -> String {
        code.map_or("null".to_owned(), |(code, name)| format!("[{code}, {name:?}]"))
    }
    for dtype in DType::ALL {
        let Some(row) = dtype.names() else { continue };
        let bits = row.bits.map_or("null".to_owned(), |bits| bits.to_string());
        writeln!(
            out,
            r#"{{"name": {:?}, "bits": {bits}, "onnx": {}, "openvino": {}, "directml": {}, "numpy": {}, "safetensors": {}}}"#,
            row.name,
            coded(row.onnx),
            text(row.openvino),
            coded(row.directml),
            text(row.numpy),
            text(row.safetensors),
        )?;
    }
    Ok(DType::ALL.len())
}

/// Writes a selection of calls that every runtime accepts: small shapes, some larger ones.
pub fn write(out: &mut impl Write) -> io::Result<usize> {
    let mut state = 0;
    let mut count = 0;
    let mut shapes = crate::exhaustive::shapes();
    shapes.extend([
        vec![5, 7],
        vec![13, 1, 6],
        vec![4, 9, 2, 5],
        vec![33, 17],
        vec![2, 3, 4, 5, 6],
    ]);
    for shape in shapes {
        let rank = shape.len();
        let mut draw = |limit: usize| (split_mix(&mut state) % (limit as u64 + 1)) as i64;
        let mut calls = Vec::new();
        for set in 0..1usize << rank {
            let flips = (0..rank).map(|axis| set >> axis & 1 == 1).collect();
            calls.push((Operation::Reverse { flips }, vec![]));
        }
        for (rows, columns) in crate::exhaustive::pairs(rank).filter(|_| rank <= 3) {
            let orient = |exif| (Operation::Orient { exif, rows, columns }, vec![]);
            calls.extend((1..=8).map(orient));
        }
        for (time, batch) in crate::exhaustive::pairs(rank) {
            let lengths = (0..shape[batch]).map(|_| draw(shape[time])).collect();
            let rule = Rule::STRICT;
            calls.push((Operation::Sequence { time, batch, rule }, lengths));
        }
        for axis in 0..rank {
            let operation = Operation::Subsequences { axis, rule: Rule::CLAMP };
            let lanes: usize = Case::lengths_shape(&operation, &shape).iter().product();
            let lengths = (0..lanes).map(|_| draw(shape[axis])).collect();
            calls.push((operation, lengths));
            let mut offsets: Vec<i64> = (0..3).map(|_| draw(shape[axis])).collect();
            offsets.sort_unstable();
            offsets.insert(0, 0);
            calls.push((Operation::Segments { axis }, offsets));
        }
        for (operation, lengths) in calls {
            writeln!(out, "{}", line(&operation, &shape, lengths))?;
            count += 1;
        }
    }
    Ok(count)
}

fn line(operation: &Operation, shape: &[usize], lengths: Vec<i64>) -> String {
    let attributes = match operation {
        Operation::Reverse { flips } => {
            let axes: Vec<usize> = (0..flips.len()).filter(|&axis| flips[axis]).collect();
            format!(r#""op": "Reverse", "axes": {axes:?}"#)
        }
        Operation::Sequence { time, batch, .. } => {
            format!(r#""op": "ReverseSequence", "time_axis": {time}, "batch_axis": {batch}"#)
        }
        Operation::Subsequences { axis, .. } => {
            format!(r#""op": "ReverseSubsequences", "axis": {axis}"#)
        }
        Operation::Segments { axis } => format!(r#""op": "ReverseSegments", "axis": {axis}"#),
        Operation::Orient { exif, rows, columns } => {
            format!(r#""op": "Orient", "exif": {exif}, "axes": [{rows}, {columns}]"#)
        }
        Operation::Where { .. } | Operation::LookUp { .. } => unreachable!("not drawn here"),
    };
    let place = Arc::new(Placement::new(Kind::Dense, Width::Bytes(8), shape));
    let lanes = match operation {
        Operation::Segments { .. } => vec![lengths.len()],
        _ => Case::lengths_shape(operation, shape),
    };
    let case = Case {
        operation: operation.clone(),
        input: place,
        lengths: Some(Arc::new(CaseLengths::new(lengths.clone(), &lanes, DType::I64, Kind::Dense)))
            .filter(|_| operation.limit(shape).is_some()),
        output: None,
    };
    let expected = match case.expected() {
        Expected::Sources(sources) => sources,
        Expected::BadLength(_) => unreachable!("lengths were drawn inside the axis"),
    };
    format!(
        r#"{{{attributes}, "shape": {shape:?}, "lengths": {lengths:?}, "expected": {expected:?}}}"#
    )
}
