//! Chains of steps in other languages. DirectML's descriptors are run here by the reference; the
//! tests of the command and `lowered.py` run the other languages.

use retrograde_kit::lower::{
    Chain, Dim, Language, Lengths, Operand, Options, Refused, Step, lower,
};
use retrograde_truth::call::Call;
use retrograde_truth::case::{Case, Expected};
use retrograde_truth::cases::{self, SEED};
use retrograde_truth::extras::Extras;
use retrograde_truth::reference;
use retrograde_truth::tensor::Tensor;
use retrograde_truth::types::{Type, of};
use serde_json::Value;

const OPTIONS: Options = Options { opset: 22, trust_lengths: false };
const TRUSTING: Options = Options { opset: 22, trust_lengths: true };

fn operand(name: &str, tensor: &Tensor) -> Operand {
    let dims = tensor.shape.iter().map(|&size| Dim::Fixed(size)).collect();
    Operand { name: name.to_owned(), dtype: tensor.dtype, dims }
}

/// A case as a chain of one step; `None` if it is not a reversal with a result.
fn chain_of(case: &Case, constant: bool) -> Option<Chain> {
    let Expected::Value(_) = case.expected else { return None };
    if !case.extras.is_empty() {
        return None;
    }
    let rank = case.input.shape.len() as i64;
    let at = |axis: i64| axis.rem_euclid(rank.max(1)) as usize;
    let (step, inputs) = match case.call {
        Call::Reverse { mask: false } | Call::Flip => {
            let mut axes: Vec<usize> =
                case.argument.to_integers().iter().map(|&axis| at(axis as i64)).collect();
            axes.sort_unstable();
            axes.dedup();
            (Step::Axes(axes), vec![])
        }
        Call::Sequence { time, batch } | Call::AnySequence { time, batch } => {
            let (lengths, inputs) = match constant {
                true => (Lengths::Constant(case.argument.clone()), vec![]),
                false => (Lengths::Input(0), vec![operand("lens", &case.argument)]),
            };
            (Step::Sequence { time: at(time), batch: at(batch), lengths }, inputs)
        }
        _ => return None,
    };
    let input = operand("x", &case.input);
    Some(Chain { input, lengths: inputs, steps: vec![step], output: "y".to_owned() })
}

/// Runs descriptors: each operator by the reference, with the lengths that strides describe.
fn run_directml(text: &str, input: &Tensor, lengths: &Tensor) -> Tensor {
    let model: Value = serde_json::from_str(text).unwrap();
    let mut value = input.clone();
    for operator in model["Operators"].as_array().unwrap() {
        assert_eq!(operator["Type"], "DML_OPERATOR_REVERSE_SUBSEQUENCES");
        assert_eq!(operator["InputTensor"]["Sizes"], operator["OutputTensor"]["Sizes"]);
        let list = |value: &Value| -> Vec<usize> {
            value.as_array().unwrap().iter().map(|one| one.as_u64().unwrap() as usize).collect()
        };
        let described = &operator["SequenceLengthsTensor"];
        let (sizes, strides) = (list(&described["Sizes"]), list(&described["Strides"]));
        let data: Vec<i128> = match described["Data"].as_array() {
            Some(data) => data.iter().map(|one| one.as_u64().unwrap().into()).collect(),
            None => lengths.to_integers(),
        };
        let wide = described["DataType"] == "DML_TENSOR_DATA_TYPE_UINT64";
        let bytes = (data.len() * if wide { 8 } else { 4 }).next_multiple_of(4);
        assert_eq!(described["TotalTensorSizeInBytes"], bytes);
        let mut each = Vec::new();
        retrograde_truth::oracle::for_each_index(&sizes, |index| {
            let at: usize = index.iter().zip(&strides).map(|(at, stride)| at * stride).sum();
            each.push(data[at]);
        });
        let each = Tensor::integers(of("u32"), &each).reshaped(&sizes);
        let call = Call::Subsequences { axis: operator["Axis"].as_i64().unwrap() };
        value = reference::answer(&call, &value, &each, &Extras::default()).unwrap();
    }
    value
}

#[test]
fn directml_descriptors_do_the_same() {
    let (mut ran, mut refused) = (0, 0);
    for case in cases::all(SEED, false) {
        for constant in [false, true] {
            let Some(chain) = chain_of(&case, constant) else { continue };
            let options = if constant { OPTIONS } else { TRUSTING };
            let Ok(files) = lower(&chain, Language::DirectMl, options) else {
                refused += 1;
                continue;
            };
            let text = std::str::from_utf8(&files[0].1).unwrap();
            let got = run_directml(text, &case.input, &case.argument);
            assert_eq!(Expected::Value(got), case.expected, "{}", case.id);
            ran += 1;
        }
    }
    println!("{ran} chains ran, {refused} were refused");
    assert!(ran > 1000 && refused > 100, "{ran} {refused}");
}

#[test]
fn several_steps_run_in_their_order() {
    let x = Tensor::integers(of("u8"), &(0..12).collect::<Vec<_>>()).reshaped(&[3, 4]);
    let lengths = Tensor::integers(of("i64"), &[4, 0, 2]);
    let steps = vec![
        Step::Axes(vec![0]),
        Step::Axes(vec![]),
        Step::Sequence { time: 1, batch: 0, lengths: Lengths::Constant(lengths.clone()) },
    ];
    let chain = Chain { input: operand("x", &x), lengths: vec![], steps, output: "y".to_owned() };
    let files = lower(&chain, Language::DirectMl, OPTIONS).unwrap();
    let got = run_directml(std::str::from_utf8(&files[0].1).unwrap(), &x, &lengths);
    let expected = [11, 10, 9, 8, 4, 5, 6, 7, 1, 0, 2, 3];
    assert_eq!(got.to_integers(), expected);
    for language in [Language::Onnx, Language::OpenVino, Language::StableHlo] {
        assert!(lower(&chain, language, OPTIONS).is_ok(), "{language:?}");
    }
}

fn refusal(chain: &Chain, language: Language, options: Options) -> Refused {
    lower(chain, language, options).unwrap_err()
}

#[test]
fn what_is_not_exact_is_refused_with_the_reason() {
    use Language::{DirectMl, Onnx, OpenVino, StableHlo};
    let flip = |dtype: &'static Type, dims: &[Dim]| Chain {
        input: Operand { name: "x".to_owned(), dtype, dims: dims.to_vec() },
        lengths: vec![],
        steps: vec![Step::Axes(vec![0])],
        output: "y".to_owned(),
    };
    let fixed = [Dim::Fixed(3), Dim::Fixed(4)];
    let open = [Dim::Open(Some("T".to_owned())), Dim::Fixed(4)];
    let inexact = |chain: &Chain, language| match refusal(chain, language, OPTIONS) {
        Refused::Inexact(reason) => reason,
        other => panic!("{other:?}"),
    };
    assert_eq!(inexact(&flip(of("f8e5m2"), &fixed), Onnx), "ONNX Slice does not list f8e5m2");
    assert_eq!(inexact(&flip(of("c64"), &fixed), OpenVino), "OpenVINO has no type c64");
    assert_eq!(inexact(&flip(of("string"), &fixed), StableHlo), "StableHLO has no type string");
    let reason = inexact(&flip(of("bf16"), &fixed), DirectMl);
    assert_eq!(reason, "DirectML's ReverseSubsequences does not list bf16");
    let reason = inexact(&flip(of("f32"), &open), DirectMl);
    assert_eq!(reason, "input \"x\" has an axis of unknown size, and descriptors have sizes");
    let empty = [Dim::Fixed(3), Dim::Fixed(0)];
    let reason = inexact(&flip(of("f32"), &empty), DirectMl);
    assert_eq!(reason, "axis 1 has size 0, which DirectML excludes");
    let reason = inexact(&flip(of("f32"), &[]), Onnx);
    assert_eq!(reason, "step 0: axis 0 is outside [0, 0)");

    let sequence = |dtype: &'static Type, lengths: Lengths| Chain {
        lengths: vec![Operand {
            name: "lens".to_owned(),
            dtype: of("i64"),
            dims: vec![Dim::Fixed(4)],
        }],
        steps: vec![Step::Sequence { time: 0, batch: 1, lengths }],
        ..flip(dtype, &fixed)
    };
    let reason = inexact(&sequence(of("bf16"), Lengths::Input(0)), Onnx);
    assert_eq!(reason, "ONNX ReverseSequence has bfloat16 from opset 28 on, and the opset is 22");
    let later = Options { opset: 28, ..OPTIONS };
    assert!(lower(&sequence(of("bf16"), Lengths::Input(0)), Onnx, later).is_ok());
    for (language, does) in [(StableHlo, "StableHLO cannot refuse"), (DirectMl, "DirectML clamps")]
    {
        let chain = sequence(of("f32"), Lengths::Input(0));
        let reason = refusal(&chain, language, OPTIONS);
        let expected = format!(
            "the lengths are the input \"lens\", and {does} lengths outside the axis, which must be \
             refused"
        );
        assert_eq!(reason, Refused::Lengths(expected));
        assert!(lower(&chain, language, TRUSTING).is_ok());
    }
    let bad = Lengths::Constant(Tensor::integers(of("i64"), &[1, 2, 3, 4]));
    let reason = inexact(&sequence(of("f32"), bad), StableHlo);
    assert_eq!(reason, "step 0: lengths[3] is 4, outside [0, 3]");
}
