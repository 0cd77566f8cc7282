//! The JSON form of the web-platform tests of WebNN's `reverse`.
//!
//! Data are JSON numbers; 64-bit integers are strings, for BigInt. Cases with NaNs and infinities,
//! and calls that must be refused, have no place in that form.

use super::{Files, place, resolved_axes};
use crate::case::{Case, Expected};
use crate::tensor::Tensor;
use crate::types::Kind;
use serde_json::{Value, json};

/// The file of a case.
pub(super) fn files(case: &Case) -> Option<Files> {
    let Expected::Value(expected) = &case.expected else { return None };
    if case.argument.to_integers().iter().any(|&axis| axis < 0) {
        return None;
    }
    let axes = resolved_axes(case)?;
    let test = json!({
        "name": case.id,
        "graph": {
            "inputs": { "reverseInput": tensor(&case.input)? },
            "operators": [{
                "name": "reverse",
                "arguments": [{ "input": "reverseInput" }, { "options": { "axes": axes } }],
                "outputs": "reverseOutput",
            }],
            "expectedOutputs": { "reverseOutput": tensor(expected)? },
        },
    });
    Some(vec![(format!("{}.json", place(case)), format!("{test:#}\n").into_bytes())])
}

fn tensor(tensor: &Tensor) -> Option<Value> {
    let kind = tensor.dtype.webnn?;
    let element = |at: usize| match tensor.dtype.kind {
        Kind::Signed | Kind::Unsigned if tensor.dtype.bits == 64 => {
            Some(json!(tensor.integer(at).to_string()))
        }
        Kind::Signed | Kind::Unsigned => Some(json!(tensor.integer(at) as i64)),
        // "-0" is a negative zero in JavaScript's parser too; NaN and infinity are not JSON.
        _ => tensor.text(at).parse().ok().filter(|value: &f64| value.is_finite()).map(Value::from),
    };
    let data: Option<Vec<_>> = (0..tensor.len()).map(element).collect();
    Some(json!({ "data": data?, "descriptor": { "shape": tensor.shape, "dataType": kind } }))
}
