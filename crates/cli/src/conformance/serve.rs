//! `retrograde conformance serve`: the engine as an adapter of the conformance kit.

use crate::report;
use anyhow::{Result, anyhow};
use retrograde::{
    DType, Layout, LengthsOperator, Reversal, Reverse, ReverseMode, ReverseSegments,
    ReverseSequence, ReverseSubsequences, TensorRef,
};
use retrograde_kit::call::{Call, OPERATORS};
use retrograde_kit::protocol::{Outcome, PROTOCOL, answer};
use retrograde_kit::tensor::{Data, Tensor};
use serde_json::{Value, json};
use std::io::BufRead;

/// The opset whose rules ReverseSequence has: the first with every type.
const OPSET: u32 = 28;

/// Answers until the input ends.
pub(crate) fn serve() -> Result<()> {
    for line in std::io::stdin().lock().lines() {
        let line = line?;
        let request: Value = serde_json::from_str(&line)
            .map_err(|error| anyhow!("conformance serve: a request is not JSON: {error}"))?;
        let reply = match request["id"].as_str() {
            None => json!({
                "protocol": PROTOCOL,
                "runtime": "retrograde",
                "version": env!("CARGO_PKG_VERSION"),
                "operators": OPERATORS,
            }),
            Some(id) => answer(id, &outcome(&request)),
        };
        report::print(&format!("{reply}\n"))?;
    }
    Ok(())
}

fn outcome(request: &Value) -> Outcome {
    let read = || {
        let call = Call::from_json(request)?;
        let input = Tensor::from_json(&request["input"])?;
        Ok::<_, String>((call, input, Tensor::from_json(&request[call.argument_name()])?))
    };
    match read() {
        Err(reason) => Outcome::Unsupported(reason),
        Ok((call, input, argument)) => match run(&call, &input, &argument) {
            Ok(tensor) => Outcome::Value(tensor),
            Err(error) => Outcome::Refused(error.to_string()),
        },
    }
}

/// Runs a call on the engine.
fn run(call: &Call, input: &Tensor, argument: &Tensor) -> Result<Tensor> {
    let none = Vec::new();
    let bytes = match &argument.data {
        Data::Bytes(bytes) => bytes,
        Data::Text(_) => &none,
    };
    let argument = TensorRef::dense(dtype(argument)?, &bytes[..], &argument.shape)?;
    match *call {
        Call::Reverse { mask } => {
            let mode = if mask { ReverseMode::Mask } else { ReverseMode::Index };
            moved(&Reverse::from_tensor(mode, &argument)?, input)
        }
        Call::Flip => {
            moved(&Reverse::from_tensor(ReverseMode::Index, &argument)?.distinct(), input)
        }
        Call::Sequence { time, batch } => {
            let operator = ReverseSequence::onnx(OPSET).time_axis(time).batch_axis(batch);
            if !input.dtype.is_text() {
                return moved(&operator.lengths(argument), input);
            }
            // Slices of strings have no type that an opset could list, so its other rules are
            // checked as for bytes.
            let bytes = Layout::dense(DType::U8, &input.shape)?;
            operator.plan(&bytes, argument.layout(), &bytes)?;
            let operator = ReverseSequence::new().time_axis(time).batch_axis(batch);
            moved(&operator.lengths(argument), input)
        }
        Call::AnySequence { time, batch } => {
            moved(&ReverseSequence::any_axes(time, batch).lengths(argument), input)
        }
        Call::Subsequences { axis } => {
            moved(&ReverseSubsequences::along(axis).lengths(argument), input)
        }
        Call::Segments { axis } => moved(&ReverseSegments::along(axis).offsets(argument), input),
    }
}

fn moved(reversal: &impl Reversal, input: &Tensor) -> Result<Tensor> {
    let data = match &input.data {
        Data::Text(texts) => Data::Text(reversal.to_vec_cloned(texts, &input.shape)?),
        Data::Bytes(bytes) => {
            let view = TensorRef::dense(dtype(input)?, &bytes[..], &input.shape)?;
            Data::Bytes(reversal.to_bytes(&view)?)
        }
    };
    Ok(Tensor { data, ..input.clone() })
}

/// The engine's type of the same name.
fn dtype(tensor: &Tensor) -> Result<DType> {
    let name = tensor.dtype.name;
    name.parse().map_err(|_| anyhow!("the engine has no type {name}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use retrograde_kit::types::TYPES;
    use retrograde_kit::verdict::{Verdict, judge};

    #[test]
    fn the_engine_passes_every_case() {
        let mut failures = Vec::new();
        for case in retrograde_kit::cases::all(retrograde_kit::cases::SEED, false) {
            let request = case.request();
            let result = judge(&case, outcome(&request));
            if result.verdict != Verdict::Pass {
                failures.push(format!("{}: {:?} {}", case.id, result.verdict, result.message));
            }
        }
        assert!(
            failures.is_empty(),
            "{} failures: {:#?}",
            failures.len(),
            &failures[..failures.len().min(20)]
        );
    }

    #[test]
    fn the_table_of_types_agrees_with_the_engine() {
        for row in TYPES {
            let dtype: DType = row.name.parse().unwrap();
            let names = dtype.names().unwrap();
            assert_eq!(names.bits.unwrap_or(0), row.bits, "{}", row.name);
            assert_eq!(names.onnx.map(|(code, _)| code as u64), row.onnx, "{}", row.name);
            assert_eq!(names.openvino, row.openvino, "{}", row.name);
            assert_eq!(names.directml.map(|(_, name)| name), row.directml, "{}", row.name);
        }
        let listed = DType::ALL.iter().filter_map(|dtype| dtype.names()).count();
        assert_eq!(listed, TYPES.len());
    }
}
