//! The JSON form of the web-platform tests of WebNN's `reverse`.
//!
//! Values are as in `webnn/conformance_tests/reverse.https.any.js`, calls that must be refused as in
//! `webnn/validation_tests`. Data are JSON numbers; 64-bit integers are strings, which BigInt reads.
//! Cases with NaNs and infinities have no place in that form.

use super::{Files, place, resolved_axes};
use retrograde_truth::case::{Case, Expected};
use retrograde_truth::tensor::Tensor;
use retrograde_truth::types::Kind;
use serde_json::{Value, json};

/// The file of a case.
pub(super) fn files(case: &Case) -> Option<Files> {
    // WebNN has neither negative axes nor axes of size 0.
    let axes = case.argument.to_integers();
    if axes.iter().any(|&axis| axis < 0) || case.input.shape.contains(&0) {
        return None;
    }
    let test = match &case.expected {
        Expected::Value(expected) => json!({
            "name": case.id,
            "graph": {
                "inputs": { "reverseInput": tensor(&case.input)? },
                "operators": [{
                    "name": "reverse",
                    "arguments": [
                        { "input": "reverseInput" },
                        { "options": { "axes": resolved_axes(case)? } },
                    ],
                    "outputs": "reverseOutput",
                }],
                "expectedOutputs": { "reverseOutput": tensor(expected)? },
            },
        }),
        Expected::Refusal(_) => {
            let axes: Option<Vec<u32>> = axes.iter().map(|&axis| axis.try_into().ok()).collect();
            json!({ "name": case.id, "input": descriptor(&case.input)?, "axes": axes? })
        }
    };
    Some(vec![(format!("{}.json", place(case)), format!("{test:#}\n").into_bytes())])
}

fn descriptor(tensor: &Tensor) -> Option<Value> {
    Some(json!({ "shape": tensor.shape, "dataType": tensor.dtype.webnn? }))
}

fn tensor(tensor: &Tensor) -> Option<Value> {
    let descriptor = descriptor(tensor)?;
    let element = |at: usize| match tensor.dtype.kind {
        Kind::Signed | Kind::Unsigned if tensor.dtype.bits == 64 => {
            Some(json!(tensor.integer(at).to_string()))
        }
        Kind::Signed | Kind::Unsigned => Some(json!(tensor.integer(at) as i64)),
        // "-0" is a negative zero in JavaScript's parser too; NaN and infinity are not JSON.
        _ => tensor.text(at).parse().ok().filter(|value: &f64| value.is_finite()).map(Value::from),
    };
    let data: Option<Vec<_>> = (0..tensor.len()).map(element).collect();
    Some(json!({ "data": data?, "descriptor": descriptor }))
}
