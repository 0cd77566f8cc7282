//! `conformance` and `verify`, as a user runs them.

use super::{Outcome, command, fed, run, run_model};
use retrograde_io::npy::{self, NpyArray};
use tempfile::TempDir;

#[test]
fn the_engine_is_a_runtime_of_the_kit() {
    let folder = TempDir::new().unwrap();
    let words = ["conformance", "run", "--runtime", "retrograde", "--case", "lengths", "--strict"];
    let done = run(command(folder.path(), &words));
    assert_eq!(done.code, Some(0), "{}", done.stderr);
    assert!(done.stdout.contains("retrograde"), "{}", done.stdout);
    let report = folder.path().join("conformance-report");
    for name in ["report.html", "report.json", "report.txt", "junit.xml", "results.jsonl"] {
        assert!(report.join(name).is_file(), "{name}");
    }
    // The second run continues the first, and its report is the same.
    let again = run(command(folder.path(), &words));
    assert!(again.stderr.contains("already done"), "{}", again.stderr);
    let json = "conformance-report/report.json";
    let same = run(command(folder.path(), &["conformance", "diff", json, json]));
    assert_eq!((same.code, same.stderr.as_str()), (Some(0), ""));
    assert!(same.stdout.contains("0 worse, 0 better"), "{}", same.stdout);
}

#[test]
fn a_runtime_that_is_missing_is_said() {
    let folder = TempDir::new().unwrap();
    let words = ["conformance", "run", "--runtime", "no-such-adapter", "--case", "shape.one"];
    let done = run(command(folder.path(), &words));
    assert_eq!(done.code, Some(1));
    assert!(done.stderr.contains("no-such-adapter: not run"), "{}", done.stderr);
}

#[test]
fn exports_of_models_run_here() {
    let folder = TempDir::new().unwrap();
    for format in ["onnx", "openvino"] {
        let done =
            run(command(folder.path(), &["conformance", "export", format, "--format", format]));
        assert_eq!(done.code, Some(0), "{}", done.stderr);
    }
    let case = "onnx/reversal/test_lengths.each.sequence.f32.4x3.1";
    let (model, x) = (format!("{case}/model.onnx"), format!("{case}/test_data_set_0/input_0.pb"));
    let lens = format!("{case}/test_data_set_0/input_1.pb");
    run_model(folder.path(), &model, &[("x", &x), ("lens", &lens)], "y.npy");
    let expected = format!("{case}/test_data_set_0/output_0.pb");
    let words = ["verify", "reverse", "y.npy", "--axes", "", "--against", &expected];
    let same = run(command(folder.path(), &words));
    assert_eq!(same.code, Some(0), "{}", same.stderr);
    let case = "openvino/axes.several.reverse.i64.2x3x4.1";
    let (model, x) = (format!("{case}/model.xml"), format!("{case}/input_0.npy"));
    run_model(folder.path(), &model, &[("x", &x)], "y.npy");
}

#[test]
fn verify_finds_the_first_difference_and_its_cause() {
    let folder = TempDir::new().unwrap();
    let file = |name: &str, shape: &[usize], values: [i64; 3]| {
        let data = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        npy::write(folder.path().join(name), &NpyArray::new("<i8", shape, false, data).unwrap())
            .unwrap();
    };
    let wide = (1 << 53) + 1;
    file("x.npy", &[3], [wide, 2, 3]);
    file("right.npy", &[3], [3, 2, wide]);
    file("narrow.npy", &[3], [3, 2, 1]);
    file("row.npy", &[1, 3], [1, 2, 3]);
    file("column.npy", &[3, 1], [3, 2, 1]);
    let words = ["verify", "orient", "row.npy", "--exif", "8", "--against"];
    let orient = |other: &str| run(command(folder.path(), &[&words[..], &[other]].concat()));
    assert_eq!(orient("column.npy").code, Some(0));
    let text = "error: verify: Orient: row.npy has shape [1, 3], expected [3, 1]\n";
    assert_eq!(orient("row.npy").stderr, text);
    let against = |other: &str| {
        run(command(
            folder.path(),
            &["verify", "reverse", "x.npy", "--axes", "0", "--against", other],
        ))
    };
    assert_eq!(against("right.npy").code, Some(0));
    let alone = run(command(folder.path(), &["verify", "reverse", "x.npy", "--axes", "0"]));
    assert_eq!(alone.code, Some(1));
    let text =
        "error: verify: --against FILE is missing: the result of another program (- is stdin)\n";
    assert_eq!(alone.stderr, text);
    let wrong = against("narrow.npy");
    assert_eq!(wrong.code, Some(1));
    let text = "error: verify: Reverse: narrow.npy: 1 of 3 elements differ, the first at [2]: 1, \
                expected 9007199254740993; likely cause: narrowed to the low 32 bits\n";
    assert_eq!(wrong.stderr, text);
}

#[test]
fn devices_that_are_missing_are_said_and_reports_are_joined() {
    let folder = TempDir::new().unwrap();
    let words = ["conformance", "run", "--runtime", "retrograde", "--case", "shape.one", "-d", "a"];
    assert_eq!(run(command(folder.path(), &words)).code, Some(0));
    // Either there is a device, or it is said why not.
    let words =
        ["conformance", "run", "--runtime", "retrograde-cuda", "--case", "shape.one", "-d", "b"];
    let done = run(command(folder.path(), &words));
    match done.code {
        Some(0) => assert!(done.stdout.contains("retrograde-cuda"), "{}", done.stdout),
        code => {
            assert_eq!(code, Some(1));
            let text = "retrograde-cuda: not run: cuda:0 (";
            assert!(done.stderr.contains(text), "{}", done.stderr);
            assert!(done.stderr.contains("needs an NVIDIA GPU and its driver"), "{}", done.stderr);
        }
    }
    let words = ["conformance", "merge", "a/report.json", "b/report.json", "-d", "both"];
    let joined = run(command(folder.path(), &words));
    assert_eq!(joined.code, Some(0), "{}", joined.stderr);
    assert!(joined.stdout.contains("retrograde-cuda"), "{}", joined.stdout);
    assert!(folder.path().join("both/report.html").is_file());
}

/// What `conformance serve` says to these lines.
fn served(lines: &str) -> Outcome {
    let folder = TempDir::new().unwrap();
    fed(&mut command(folder.path(), &["conformance", "serve"]), lines.as_bytes()).unwrap().into()
}

#[test]
fn blank_lines_are_no_requests() {
    let served = served("\n{\"hello\":1}\n  \n{\"id\":\"a\"}\n\n{\"id\":\"b\"}\n");
    assert_eq!((served.code, served.stderr.as_str()), (Some(0), ""));
    let lines: Vec<&str> = served.stdout.lines().collect();
    assert_eq!(lines.len(), 3, "{lines:?}");
    assert!(lines[0].contains("\"protocol\":1"), "{lines:?}");
    assert!(lines[1].contains("\"id\":\"a\"") && lines[2].contains("\"id\":\"b\""), "{lines:?}");
}

#[test]
fn what_is_no_request_is_an_error() {
    let hello = "expected {\"hello\":1} or a case";
    for (line, said) in [
        ("{}", format!("neither \"hello\" nor \"id\" is in it, {hello}")),
        ("[1]", format!("neither \"hello\" nor \"id\" is in it, {hello}")),
        ("{\"id\":5}", "\"id\" is not a string".to_owned()),
        ("hello", "not JSON: expected value at line 1 column 1".to_owned()),
    ] {
        let served = served(&format!("{{\"hello\":1}}\n\n{line}\n"));
        let stderr = format!("error: conformance serve: line 3: {said}\n");
        assert_eq!((served.code, served.stderr), (Some(1), stderr), "{line}");
        assert_eq!(served.stdout.lines().count(), 1, "{line}");
    }
}

#[test]
fn requests_that_cannot_be_read_are_answered_in_words() {
    let operators = "Reverse, Flip, ReverseSequence, ReverseSequenceAnyAxes, ReverseSubsequences, \
                     ReverseSegments, Orient";
    for (case, said) in [
        ("\"operator\":\"X\"", format!("no operator \"X\", expected one of {operators}")),
        ("\"operator\":7", "\"operator\" is not a string".to_owned()),
    ] {
        let served = served(&format!("{{\"id\":\"a\",{case}}}\n"));
        let answer: serde_json::Value = serde_json::from_str(&served.stdout).unwrap();
        assert_eq!(answer["outcome"], "unsupported");
        assert_eq!(answer["message"], said);
    }
}
