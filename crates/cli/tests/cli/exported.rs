//! `retrograde run` and `info` on models as exporters write them: slices, shapes and arithmetic of
//! indices around a reversal. `conformance/peers/exported.py` covers the exporters themselves.

use super::models::{I64, U8, attribute_node, field, info, model, node, text_field};
use super::*;
use std::fs;

/// A list of integers, as an initializer.
fn list(name: &str, values: &[i64]) -> Vec<u8> {
    let raw: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
    let dims = [vec![1 << 3], vec![values.len() as u8]].concat();
    let tensor = [dims, vec![2 << 3, I64], text_field(8, name), field(9, &raw)];
    field(5, &tensor.concat())
}

/// As `torch.flip(x, [1])` is exported.
fn flip() -> Vec<u8> {
    model(&[
        node("Slice", &["x", "starts", "ends", "axes", "steps"], "y", &[]),
        list("starts", &[-1]),
        list("ends", &[i64::MIN]),
        list("axes", &[1]),
        list("steps", &[-1]),
        info(11, "x", U8, &["B", "T"]),
        info(12, "y", U8, &["B", "T"]),
    ])
}

/// As tf2onnx writes `tf.reverse(x, [1])`: every length is the size of the axis.
fn reverse() -> Vec<u8> {
    model(&[
        node("Shape", &["x"], "shape", &[]),
        node("Gather", &["shape", "one"], "time", &[("axis", 0)]),
        node("Gather", &["shape", "zero"], "batch", &[("axis", 0)]),
        node("Expand", &["time", "batch"], "lens", &[]),
        node("ReverseSequence", &["x", "lens"], "r", &[("time_axis", 1), ("batch_axis", 0)]),
        node("Transpose", &["r"], "y", &[]),
        list("zero", &[0]),
        list("one", &[1]),
        info(11, "x", U8, &["B", "T"]),
        info(12, "y", U8, &["T", "B"]),
    ])
}

/// A padded reversal in PyTorch: indices are computed from lengths.
fn padded() -> Vec<u8> {
    model(&[
        node("Unsqueeze", &["lens", "one"], "column", &[]),
        node("Less", &["times", "column"], "inside", &[]),
        node("Sub", &["column", "one"], "last", &[]),
        node("Sub", &["last", "times"], "mirrored", &[]),
        node("Where", &["inside", "mirrored", "times"], "indices", &[]),
        node("GatherElements", &["x", "indices"], "y", &[("axis", 1)]),
        list("one", &[1]),
        list("times", &[0, 1, 2]),
        info(11, "x", U8, &["B", "T"]),
        info(11, "lens", I64, &["B"]),
        info(12, "y", U8, &["B", "T"]),
    ])
}

fn folder() -> TempDir {
    let lens = [3i64, 2].iter().flat_map(|length| length.to_le_bytes());
    let folder = folder_with(&[
        ("x.npy", array("|u1", &[2, 3], 0..6)),
        ("lens.npy", array("<i8", &[2], lens)),
    ]);
    fs::write(folder.path().join("flip.onnx"), flip()).unwrap();
    fs::write(folder.path().join("reverse.onnx"), reverse()).unwrap();
    fs::write(folder.path().join("padded.onnx"), padded()).unwrap();
    folder
}

#[test]
fn reversals_run_as_exporters_write_them() {
    /// A model, more inputs, and the shape and the bytes of the result.
    type Case = (&'static str, &'static [&'static str], &'static [usize], &'static [u8]);
    let folder = folder();
    let cases: &[Case] = &[
        ("flip.onnx", &[], &[2, 3], &[2, 1, 0, 5, 4, 3]),
        ("reverse.onnx", &[], &[3, 2], &[2, 5, 1, 4, 0, 3]),
        ("padded.onnx", &["-i", "lens=lens.npy"], &[2, 3], &[2, 1, 0, 4, 3, 5]),
    ];
    for (model, more, shape, expected) in cases {
        let arguments = ["run", model, "-i", "x=x.npy", "--output", "y.npy", "--force"];
        let outcome = run(command(folder.path(), &[&arguments[..], more].concat()));
        assert_eq!(outcome.code, Some(0), "{model}: {}", outcome.stderr);
        let y = read(&folder, "y.npy");
        assert_eq!((y.shape(), y.data()), (*shape, *expected), "{model}");
        let text = shown_in(folder.path(), &["info", model]);
        assert!(!text.contains("cannot be run") && !text.contains("refuses"), "{text}");
    }
}

/// A ReverseSequence whose attribute is this message.
fn with_attribute(content: &[u8]) -> Vec<u8> {
    model(&[
        attribute_node("ReverseSequence", &["x", "lens"], "y", &[content]),
        info(11, "x", U8, &["B", "T"]),
        info(11, "lens", I64, &["B"]),
        info(12, "y", U8, &["B", "T"]),
    ])
}

/// What is wrong with a node is said before any input is given, and by `info` too.
#[test]
fn invalid_nodes_are_reported_at_once() {
    let folder = folder();
    let name = text_field(1, "time_axis");
    let kind = |code: u8| vec![20 << 3 & 127 | 128, 1, code];
    let float = [name.clone(), vec![2 << 3 | 5, 0, 0, 128, 63], kind(1)].concat();
    let text = [name.clone(), text_field(4, "1"), kind(3)].concat();
    let reference = [name.clone(), vec![21 << 3 & 127 | 128 | 2, 1, 1, b'a'], kind(2)].concat();
    let two = [name.clone(), vec![3 << 3, 2], kind(2)].concat();
    const SEQUENCE: &str = "the ReverseSequence (ReverseSequence)";
    let slice = |lists: &[Vec<u8>], dims: &[&str]| {
        let slice = node("Slice", &["x", "starts", "ends", "axes", "steps"], "y", &[]);
        let ports = [info(11, "x", U8, dims), info(12, "y", U8, dims)];
        model(&[&[slice], lists, &ports].concat())
    };
    let lists = |axis: i64, step: i64| {
        [list("starts", &[-1]), list("ends", &[0]), list("axes", &[axis]), list("steps", &[step])]
    };
    let lens = |kind: u8| {
        model(&[
            node("ReverseSequence", &["x", "lens"], "y", &[]),
            info(11, "x", U8, &["T", "B"]),
            info(11, "lens", kind, &["B"]),
            info(12, "y", U8, &["T", "B"]),
        ])
    };
    let output = model(&[
        node("Shape", &["x"], "y", &[]),
        info(11, "x", U8, &["T", "B"]),
        info(12, "y", U8, &["N"]),
    ]);
    // What is said of the sequence begins with a colon.
    let cases = [
        (with_attribute(&float), ": attribute \"time_axis\" is FLOAT, expected INT"),
        (with_attribute(&text), ": attribute \"time_axis\" is STRING, expected INT"),
        (
            with_attribute(&reference),
            ": attribute \"time_axis\" is a reference to \"a\", expected a value, since this is not a \
             function",
        ),
        (with_attribute(&name), ": attribute \"time_axis\" is without a value, expected INT"),
        (with_attribute(&two), ": ReverseSequence: time_axis is 2, expected 0 or 1"),
        (lens(6), ": ReverseSequence: lengths have type i32, expected i64"),
        (slice(&lists(2, -1), &["B", "T"]), "the Slice (Slice): axes[0] is 2, outside [-2, 1]"),
        (
            slice(&lists(1, 0), &["B", "T"]),
            "the Slice (Slice): steps[0] is 0, expected a positive or a negative step",
        ),
        (output, "output \"y\": has type i64, expected u8 [N]"),
    ];
    for (content, text) in cases {
        let sequence = if text.starts_with(':') { SEQUENCE } else { "" };
        let text = format!("{sequence}{text}");
        fs::write(folder.path().join("wrong.onnx"), content).unwrap();
        let outcome = run(command(folder.path(), &["run", "wrong.onnx"]));
        assert_eq!(outcome.stderr, format!("error: wrong.onnx: {text}\n"));
        let shown = shown_in(folder.path(), &["info", "wrong.onnx"]);
        assert!(shown.ends_with(&format!("`retrograde run` refuses it: {text}\n")), "{shown}");
    }
}

/// A Reverse and a ReverseSequence of an IR, with a constant of this type, shape and bytes.
fn ir(kind: &str, dtype: &str, shape: &str, bytes: usize) -> String {
    let data = if kind == "Reverse" { r#"mode="index""# } else { r#"seq_axis="1" batch_axis="0""# };
    format!(
        r#"<?xml version="1.0"?>
<net name="m" version="11"><layers>
<layer id="0" name="x" type="Parameter" version="opset1"><data shape="2,3" element_type="u8"/>
<output><port id="0" precision="U8" names="x"><dim>2</dim><dim>3</dim></port></output></layer>
<layer id="1" name="c" type="Const" version="opset1">
<data element_type="{dtype}" shape="{shape}" offset="0" size="{bytes}"/>
<output><port id="0"/></output></layer>
<layer id="2" name="turn" type="{kind}" version="opset1"><data {data}/>
<input><port id="0"/><port id="1"/></input><output><port id="2" names="y"/></output></layer>
<layer id="3" name="result" type="Result" version="opset1"><input><port id="0"/></input></layer>
</layers><edges>
<edge from-layer="0" from-port="0" to-layer="2" to-port="0"/>
<edge from-layer="1" from-port="0" to-layer="2" to-port="1"/>
<edge from-layer="2" from-port="2" to-layer="3" to-port="0"/>
</edges></net>"#
    )
}

#[test]
fn constants_of_an_ir_may_be_empty_packed_or_floats() {
    let folder = folder();
    let floats = |values: &[f32]| values.iter().flat_map(|value| value.to_le_bytes()).collect();
    let cases: [(&str, &str, &str, Vec<u8>, &str); 6] = [
        ("Reverse", "i64", "0", vec![0], "0 1 2 3 4 5"),
        ("Reverse", "i4", "2", vec![0xEF], "5 4 3 2 1 0"),
        ("Reverse", "u4", "1", vec![1], "2 1 0 5 4 3"),
        ("ReverseSequence", "f32", "2", floats(&[2.0, 3.0]), "1 0 2 5 4 3"),
        ("ReverseSequence", "f16", "2", vec![0, 0x40, 0, 0], "1 0 2 3 4 5"),
        ("ReverseSequence", "i4", "2", vec![0x32], "1 0 2 5 4 3"),
    ];
    for (kind, dtype, shape, bytes, expected) in cases {
        fs::write(folder.path().join("m.xml"), ir(kind, dtype, shape, bytes.len())).unwrap();
        fs::write(folder.path().join("m.bin"), bytes).unwrap();
        let arguments = ["run", "m.xml", "-i", "x.npy", "--output", "y.npy", "--force"];
        let outcome = run(command(folder.path(), &arguments));
        assert_eq!(outcome.code, Some(0), "{kind} {dtype}: {}", outcome.stderr);
        let y = read(&folder, "y.npy");
        let found: Vec<String> = y.data().iter().map(u8::to_string).collect();
        assert_eq!(found.join(" "), expected, "{kind} {dtype}");
    }
    fs::write(folder.path().join("m.xml"), ir("ReverseSequence", "f32", "2", 8)).unwrap();
    fs::write(folder.path().join("m.bin"), floats(&[2.0, 1.5])).unwrap();
    let outcome = run(command(folder.path(), &["run", "m.xml"]));
    assert_eq!(
        outcome.stderr,
        "error: m.xml: turn (ReverseSequence): lengths[1] is 1.5, expected a whole number\n"
    );
}

/// Sequences of tensors pass through an Identity; other operators refuse them.
#[test]
fn sequences_pass_through_an_identity() {
    let folder = folder();
    let port = |number: u8, name: &str| {
        field(number, &[text_field(1, name), field(2, &field(4, &[]))].concat())
    };
    let with = |kind: &str| model(&[node(kind, &["s"], "t", &[]), port(11, "s"), port(12, "t")]);
    fs::write(folder.path().join("same.onnx"), with("Identity")).unwrap();
    // A name, the type of the elements, and a tensor of two bytes.
    let tensor = [vec![1 << 3, 2, 2 << 3, U8], field(9, &[7, 8])].concat();
    let sequence = [text_field(1, "s"), vec![2 << 3, 1], field(3, &tensor)].concat();
    fs::write(folder.path().join("s.pb"), &sequence).unwrap();
    for output in [&["--output", "t.pb"][..], &["-d", "out"]] {
        let arguments = [&["run", "same.onnx", "-i", "s.pb"], output].concat();
        let stderr = done(folder.path(), &arguments);
        let size = sequence.len();
        assert!(stderr.ends_with(&format!(": a sequence or an optional value, {size} bytes\n")));
    }
    for name in ["t.pb", "out/t.pb"] {
        assert_eq!(fs::read(folder.path().join(name)).unwrap(), sequence);
    }
    fs::write(folder.path().join("turned.onnx"), with("Transpose")).unwrap();
    let cases: &[(&[&str], &str)] = &[
        (
            &["same.onnx", "-i", "x.npy"],
            "x.npy: the input is a sequence, which only a .pb file can hold",
        ),
        (
            &["same.onnx", "-i", "broken.pb"],
            "broken.pb: not a sequence: field 4 is not a tensor or a sequence",
        ),
        (
            &["same.onnx", "-i", "s.pb", "--output", "t.npy"],
            "t.npy: the output is a sequence or an optional value: choose a .pb file",
        ),
        (
            &["turned.onnx"],
            "turned.onnx: the Transpose (Transpose): input 0 is a sequence or an optional value, \
             expected a tensor",
        ),
    ];
    fs::write(folder.path().join("broken.pb"), [4 << 3 | 2, 0]).unwrap();
    for (arguments, text) in cases {
        let outcome = run(command(folder.path(), &[&["run"], *arguments].concat()));
        assert_eq!(outcome.stderr, format!("error: {text}\n"));
    }
}
