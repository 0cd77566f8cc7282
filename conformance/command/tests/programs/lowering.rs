//! `lower`, as a user runs it: models from the kit's exports, lowered and run here.

use super::{command, run, run_model};
use std::path::Path;
use tempfile::TempDir;

/// A folder with exported models.
fn exported() -> TempDir {
    let folder = TempDir::new().unwrap();
    for format in ["onnx", "openvino"] {
        let words = ["conformance", "-q", "export", format, "--format", format];
        assert_eq!(run(command(folder.path(), &words)).code, Some(0));
    }
    folder
}

fn done(folder: &Path, words: &[&str]) -> String {
    let done = run(command(folder, words));
    assert_eq!(done.code, Some(0), "{words:?}: {}", done.stderr);
    done.stdout
}

fn refused(folder: &Path, words: &[&str]) -> String {
    let done = run(command(folder, words));
    assert_eq!(done.code, Some(1), "{words:?}: {}", done.stdout);
    done.stderr.trim_end().to_owned()
}

/// Runs a model on the operands of an IR's case, and compares the result with the expected one.
fn check(folder: &Path, model: &str, case: &str, lengths: bool) {
    let (x, n) = (format!("{case}/input_0.npy"), format!("{case}/input_1.npy"));
    let inputs = [("x", x.as_str()), ("lengths", &n)];
    run_model(folder, model, &inputs[..if lengths { 2 } else { 1 }], "y.npy");
    let expected = format!("{case}/output_0.npy");
    done(folder, &["verify", "reverse", "y.npy", "--axes", "", "--against", &expected]);
}

#[test]
fn models_are_lowered_between_onnx_and_openvino_and_run_the_same() {
    let folder = exported();
    let folder = folder.path();
    let cases = [
        ("axes.several.reverse.i64.2x3x4.1", false),
        ("axes.none.reverse.f32.3x4.1", false),
        ("axes.mask.mask.u8.2x3x4.2", false),
        ("lengths.each.anyaxes.f32.4x3.1", true),
        ("sequence.any-axes.anyaxes.f32.2x3x4x2.1", true),
        ("sequence.any-axes.anyaxes.u8.3x2x4.2", true),
    ];
    for (id, lengths) in cases {
        let case = format!("openvino/{id}");
        let ir = format!("{case}/model.xml");
        // There, and back where the other language has nothing around the reversal.
        done(folder, &["lower", &ir, "--to", "onnx", "-o", "there.onnx"]);
        check(folder, "there.onnx", &case, lengths);
        done(folder, &["lower", &ir, "--to", "openvino", "-o", "same.xml"]);
        check(folder, "same.xml", &case, lengths);
        if !id.starts_with("sequence.any-axes") {
            done(folder, &["lower", "there.onnx", "--to", "openvino", "-o", "back.xml"]);
            check(folder, "back.xml", &case, lengths);
            done(folder, &["lower", "there.onnx", "--to", "onnx", "-o", "again.onnx"]);
            check(folder, "again.onnx", &case, lengths);
        }
    }
}

#[test]
fn text_goes_to_stdout() {
    let folder = exported();
    let ir = "openvino/axes.several.reverse.f32.3x4.1/model.xml";
    let text = done(folder.path(), &["lower", ir, "--to", "stablehlo"]);
    let expected = "// %arg0: \"x\"\n// result: \"y\"\nmodule @lowered {\n  func.func public \
                    @main(%arg0: tensor<3x4xf32>) -> tensor<3x4xf32> {\n    %0 = stablehlo.reverse \
                    %arg0, dims = [0, 1] : tensor<3x4xf32>\n    return %0 : tensor<3x4xf32>\n  }\n}\n";
    assert_eq!(text, expected);
    let json = done(folder.path(), &["lower", ir, "--to", "directml"]);
    assert_eq!(json.matches("DML_OPERATOR_REVERSE_SUBSEQUENCES").count(), 2);
    let binary = refused(folder.path(), &["lower", ir, "--to", "onnx"]);
    assert_eq!(binary, "error: lower: an ONNX model is not text: give -o FILE.onnx");
    let pair = refused(folder.path(), &["lower", ir, "--to", "openvino"]);
    assert_eq!(pair, "error: lower: an IR is two files: give -o FILE.xml");
}

#[test]
fn what_cannot_be_lowered_is_refused_with_the_reason() {
    let folder = exported();
    let folder = folder.path();
    let sequence = "onnx/reversal/test_lengths.each.sequence.f32.4x3.1/model.onnx";
    let reason = refused(folder, &["lower", sequence, "--to", "directml", "--trust-lengths"]);
    assert!(
        reason.ends_with("has an axis of unknown size, and descriptors have sizes"),
        "{reason}"
    );
    let ir = "openvino/lengths.each.anyaxes.f32.4x3.1/model.xml";
    let reason = refused(folder, &["lower", ir, "--to", "stablehlo"]);
    assert!(
        reason.ends_with(
            "the lengths are the input \"lengths\", and StableHLO cannot refuse lengths outside the \
             axis, which must be refused (--trust-lengths promises that there are none)"
        ),
        "{reason}"
    );
    done(folder, &["lower", ir, "--to", "stablehlo", "--trust-lengths"]);
    let strings = "onnx/reversal/test_types.every.sequence.string.3x8.1/model.onnx";
    let reason = refused(folder, &["lower", strings, "--to", "stablehlo", "--trust-lengths"]);
    assert!(reason.ends_with("StableHLO has no type string"), "{reason}");
    // A Transpose around a reversal is not a reversal.
    let any = "openvino/sequence.any-axes.anyaxes.f32.2x3x4x2.1/model.xml";
    done(folder, &["lower", any, "--to", "onnx", "-o", "turned.onnx"]);
    let reason = refused(folder, &["lower", "turned.onnx", "--to", "openvino", "-o", "t.xml"]);
    assert!(reason.ends_with("(Transpose) is not a reversal of the input"), "{reason}");
    assert!(!folder.join("t.xml").exists() && !folder.join("t.bin").exists());
    // The model itself is kept.
    let own = ["lower", "turned.onnx", "--to", "onnx", "-o", "turned.onnx"];
    assert_eq!(run(command(folder, &own)).code, Some(1));
}
