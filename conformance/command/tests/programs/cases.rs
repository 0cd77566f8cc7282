//! Every case of the conformance kit through the command: models for the operators that models have,
//! files for the others. The command runs in this process, because there are thousands of them.

use retrograde_io::npy::{self, NpyArray};
use retrograde_kit::export::{Format, export};
use retrograde_truth::call::Call;
use retrograde_truth::case::{Case, Expected};
use retrograde_truth::cases::{self, SEED};
use retrograde_truth::tensor::{Data, Tensor};
use std::path::Path;

/// Has every type of ReverseSequence.
const OPSET: u64 = 28;

fn retrograde(words: &[String]) -> u8 {
    let own = ["retrograde", "--quiet"].map(String::from);
    super::retrograde(own.iter().chain(words).map(Into::into).collect())
}

fn bytes(tensor: &Tensor) -> &[u8] {
    match &tensor.data {
        Data::Bytes(bytes) => bytes,
        Data::Text(_) => &[],
    }
}

/// The words of the command for a case, which writes `out`; `None` if the command has no such call.
fn words(case: &Case, folder: &Path) -> Option<Vec<String>> {
    let at = |name: &str| folder.join(name).display().to_string();
    std::fs::write(folder.join("x.raw"), bytes(&case.input)).unwrap();
    std::fs::write(folder.join("n.raw"), bytes(&case.argument)).unwrap();
    let place = match case.is_refusal() {
        true => format!("refused/{}", case.id),
        false => case.id.clone(),
    };
    let list = || {
        let texts: Vec<_> = case.argument.to_integers().iter().map(i128::to_string).collect();
        texts.join(",")
    };
    let on_file = |operator: &str, rest: &[&str]| {
        let sizes: Vec<_> = case.input.shape.iter().map(usize::to_string).collect();
        let (x, out) = (at("x.raw"), at("out.raw"));
        let mut words = vec![operator, &x, "-o", &out, "--dtype", case.input.dtype.name];
        let sizes = format!("--shape={}", sizes.join(","));
        words.push(&sizes);
        words.extend(rest);
        let table = at("table.raw");
        if let Some(entries) = &case.extras.table {
            std::fs::write(&table, bytes(entries)).unwrap();
            words.extend(["--table", &table]);
        }
        let mask = case.extras.mask.as_ref().map(bytes);
        let mask = mask.map(|mask| mask.iter().map(u8::to_string).collect::<Vec<_>>().join(","));
        if let Some(mask) = &mask {
            words.extend(["--where", mask]);
        }
        Some(words.into_iter().map(str::to_owned).collect())
    };
    let on_model = |model: String, second: Option<&str>| {
        let mut words = vec!["run".to_owned(), model];
        words.extend(["-i".to_owned(), format!("x={}", at("x.raw"))]);
        if let Some(name) = second {
            words.extend(["-i".to_owned(), format!("{name}={}", at("n.raw"))]);
        }
        words.extend(["--from", "raw", "--output"].map(str::to_owned));
        words.push(format!("y={}", at("out.raw")));
        Some(words)
    };
    let lengths = || {
        let argument = &case.argument;
        let data = bytes(argument).to_vec();
        let array = NpyArray::new(argument.dtype.npy.unwrap(), &argument.shape, false, data);
        npy::write(folder.join("n.npy"), &array.unwrap()).unwrap();
        at("n.npy")
    };
    match case.call {
        // Raw files have no strings.
        _ if case.input.dtype.is_text() => None,
        // Models have no masks and tables.
        Call::Sequence { .. } | Call::AnySequence { .. } if !case.extras.is_empty() => None,
        // These models do not declare sizes, which raw files would need.
        Call::Sequence { .. } => {
            let prefix = if case.is_refusal() { "" } else { "reversal/test_" };
            let test = at(&format!("onnx/{prefix}{place}"));
            let set = format!("{test}/test_data_set_0");
            let words = [
                "run".to_owned(),
                format!("{test}/model.onnx"),
                "-i".to_owned(),
                format!("x={set}/input_0.pb"),
                "-i".to_owned(),
                format!("lens={set}/input_1.pb"),
                "--output".to_owned(),
                format!("y={}", at("out.raw")),
            ];
            Path::new(&words[1]).exists().then(|| words.to_vec())
        }
        Call::Reverse { .. } => on_model(at(&format!("openvino/{place}/model.xml")), None),
        Call::AnySequence { .. } => {
            on_model(at(&format!("openvino/{place}/model.xml")), Some("lengths"))
                .filter(|words| Path::new(&words[1]).exists())
        }
        Call::Flip => {
            let axes = format!("--axes={}", list());
            on_file("reverse", &[&axes, "--duplicates", "error"])
        }
        // The command also takes lengths without the axis of size 1.
        Call::Subsequences { .. } if case.argument.shape.len() < case.input.shape.len() => None,
        Call::Subsequences { axis } => {
            let (lengths, axis) = (lengths(), format!("--axis={axis}"));
            on_file("reverse-subsequences", &["--lengths", &lengths, &axis])
        }
        Call::Segments { axis } => {
            let (offsets, axis) = (lengths(), format!("--axis={axis}"));
            on_file("reverse-segments", &["--offsets", &offsets, &axis])
        }
        Call::Orient { orientation } => {
            let (orientation, axes) = (orientation.to_string(), format!("--axes={}", list()));
            on_file("orient", &["--orientation", &orientation, &axes])
        }
    }
}

#[test]
fn every_case_passes_through_the_command() {
    let folder = tempfile::tempdir().unwrap();
    let all = cases::all(SEED, false);
    for (name, format) in [("onnx", Format::Onnx), ("openvino", Format::OpenVino)] {
        export(&all, SEED, format, OPSET, &folder.path().join(name)).unwrap();
    }
    let (mut ran, mut left, mut wrong) = (0, 0, Vec::new());
    for case in &all {
        let Some(words) = words(case, folder.path()) else {
            left += 1;
            continue;
        };
        ran += 1;
        let out = folder.path().join("out.raw");
        let _ = std::fs::remove_file(&out);
        let code = retrograde(&words);
        let right = match &case.expected {
            // The parser of arguments knows the orientations, and that there are two axes.
            Expected::Refusal(_) if matches!(case.call, Call::Orient { .. }) => {
                [1, 2].contains(&code) && !out.exists()
            }
            Expected::Refusal(_) => code == 1 && !out.exists(),
            Expected::Value(expected) => {
                code == 0 && std::fs::read(&out).unwrap() == bytes(expected)
            }
        };
        if !right {
            wrong.push(format!("{}: exit code {code}: {}", case.id, words.join(" ")));
        }
    }
    println!("{ran} cases ran, {left} left out");
    assert!(wrong.is_empty(), "{} wrong: {:#?}", wrong.len(), &wrong[..wrong.len().min(20)]);
    assert!(ran > 2300, "{ran}");
}
