//! The exported files: sizes, the shape of WebNN's tests, archives that tie each tensor to its case.

use retrograde_kit::export::{Format, Written, export};
use retrograde_truth::cases::{self, SEED};
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

fn exported(folder: &Path, format: Format) -> (Written, Value) {
    let all = cases::all(SEED, false);
    let written = export(&all, SEED, format, 22, folder).unwrap();
    let manifest = fs::read_to_string(folder.join("manifest.json")).unwrap();
    (written, serde_json::from_str(&manifest).unwrap())
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() { found.extend(files(&path)) } else { found.push(path) }
    }
    found
}

#[test]
fn all_cases_are_a_few_megabytes_of_npz() {
    let folder = tempfile::tempdir().unwrap();
    let (written, manifest) = exported(folder.path(), Format::Npy);
    assert_eq!(written.left_out, 0);
    let found = files(folder.path());
    let bytes: u64 = found.iter().map(|path| fs::metadata(path).unwrap().len()).sum();
    println!("{} files, {bytes} bytes", found.len());
    assert!(found.len() < 60 && bytes < 6 << 20, "{} files, {bytes} bytes", found.len());
    // Every tensor that is not text is in the archive of its rule, under the name of its case.
    for case in cases::all(SEED, false).iter().step_by(97) {
        let archive = fs::read(folder.path().join(format!("{}.npz", case.rule))).unwrap();
        let member = format!("{}/{}.npy", case.id, case.call.argument_name());
        assert!(archive.windows(member.len()).any(|part| part == member.as_bytes()), "{member}");
    }
    assert_eq!(manifest["cases"].as_array().unwrap().len(), written.cases);
}

fn keys(value: &Value) -> BTreeSet<&str> {
    value.as_object().unwrap().keys().map(String::as_str).collect()
}

/// The data types of WebNN, and what an element of each is in JSON.
fn check_tensor(tensor: &Value) {
    assert_eq!(keys(tensor), BTreeSet::from(["data", "descriptor"]));
    let descriptor = &tensor["descriptor"];
    assert_eq!(keys(descriptor), BTreeSet::from(["dataType", "shape"]));
    let sizes = descriptor["shape"].as_array().unwrap();
    let count: u64 = sizes.iter().map(|size| size.as_u64().unwrap()).product();
    assert!(count > 0);
    let data = tensor["data"].as_array().unwrap();
    assert_eq!(data.len() as u64, count);
    let kind = descriptor["dataType"].as_str().unwrap();
    let right = |element: &Value| match kind {
        "int64" => element.as_str().is_some_and(|text| text.parse::<i64>().is_ok()),
        "uint64" => element.as_str().is_some_and(|text| text.parse::<u64>().is_ok()),
        "int32" | "uint32" | "int8" | "uint8" | "int4" | "uint4" => element.is_i64(),
        "float32" | "float16" => element.is_number(),
        other => panic!("WebNN has no type {other}"),
    };
    assert!(data.iter().all(right), "{kind}: {data:?}");
}

/// The shape of webnn/conformance_tests/reverse.https.any.js, and of webnn/validation_tests.
#[test]
fn webnn_tests_have_the_shape_of_the_web_platform_tests() {
    let folder = tempfile::tempdir().unwrap();
    let (written, _) = exported(folder.path(), Format::WebNn);
    let (mut values, mut refusals) = (0, 0);
    for path in files(folder.path()) {
        if path.ends_with("manifest.json") {
            continue;
        }
        let test: Value = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
        assert!(test["name"].is_string());
        let whole = |axes: &Value| axes.as_array().unwrap().iter().all(Value::is_u64);
        if path.parent().unwrap().ends_with("refused") {
            assert_eq!(keys(&test), BTreeSet::from(["axes", "input", "name"]));
            assert_eq!(keys(&test["input"]), BTreeSet::from(["dataType", "shape"]));
            assert!(whole(&test["axes"]));
            refusals += 1;
            continue;
        }
        values += 1;
        assert_eq!(keys(&test), BTreeSet::from(["graph", "name"]));
        let graph = &test["graph"];
        assert_eq!(keys(graph), BTreeSet::from(["expectedOutputs", "inputs", "operators"]));
        let operators = graph["operators"].as_array().unwrap();
        assert_eq!(operators.len(), 1);
        assert_eq!(keys(&operators[0]), BTreeSet::from(["arguments", "name", "outputs"]));
        assert_eq!(operators[0]["name"], "reverse");
        let arguments = operators[0]["arguments"].as_array().unwrap();
        assert_eq!(keys(&arguments[0]), BTreeSet::from(["input"]));
        assert_eq!(keys(&arguments[1]), BTreeSet::from(["options"]));
        assert_eq!(keys(&arguments[1]["options"]), BTreeSet::from(["axes"]));
        assert!(whole(&arguments[1]["options"]["axes"]));
        // Names of tensors refer to each other.
        check_tensor(&graph["inputs"][arguments[0]["input"].as_str().unwrap()]);
        check_tensor(&graph["expectedOutputs"][operators[0]["outputs"].as_str().unwrap()]);
    }
    println!("{values} values, {refusals} refusals");
    assert_eq!(values + refusals, written.cases);
    assert!(values > 120 && refusals > 10, "{values} {refusals}");
}
