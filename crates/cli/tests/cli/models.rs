//! `retrograde run` on models that are built here; `conformance/peers/models.py` covers those of
//! the official packages.

use super::*;
use std::fs;

/// A field of a protocol buffer that holds bytes.
pub(super) fn field(number: u8, content: &[u8]) -> Vec<u8> {
    let mut bytes = vec![number << 3 | 2];
    let mut length = content.len();
    while length > 127 {
        bytes.push(length as u8 & 127 | 128);
        length >>= 7;
    }
    bytes.push(length as u8);
    bytes.extend_from_slice(content);
    bytes
}

pub(super) fn text_field(number: u8, content: &str) -> Vec<u8> {
    field(number, content.as_bytes())
}

/// A NodeProto; attributes are integers below 128.
pub(super) fn node(
    kind: &str,
    inputs: &[&str],
    output: &str,
    attributes: &[(&str, u8)],
) -> Vec<u8> {
    let attribute = |(name, value): &(&str, u8)| {
        [text_field(1, name), vec![3 << 3, *value, 20 << 3 & 127 | 128, 1, 2]].concat()
    };
    let attributes: Vec<Vec<u8>> = attributes.iter().map(attribute).collect();
    let attributes: Vec<&[u8]> = attributes.iter().map(Vec::as_slice).collect();
    attribute_node(kind, inputs, output, &attributes)
}

/// A NodeProto with these AttributeProtos.
pub(super) fn attribute_node(
    kind: &str,
    inputs: &[&str],
    output: &str,
    attributes: &[&[u8]],
) -> Vec<u8> {
    let mut bytes: Vec<u8> = inputs.iter().flat_map(|input| text_field(1, input)).collect();
    bytes.extend(
        [text_field(2, output), text_field(3, &format!("the {kind}")), text_field(4, kind)]
            .concat(),
    );
    for attribute in attributes {
        bytes.extend(field(5, attribute));
    }
    field(1, &bytes)
}

/// A ValueInfoProto with named sizes.
pub(super) fn info(number: u8, name: &str, kind: u8, dims: &[&str]) -> Vec<u8> {
    let dims: Vec<u8> = dims.iter().flat_map(|dim| field(1, &text_field(2, dim))).collect();
    let tensor = [vec![1 << 3, kind], field(2, &dims)].concat();
    field(number, &[text_field(1, name), field(2, &field(1, &tensor))].concat())
}

pub(super) fn model(parts: &[Vec<u8>]) -> Vec<u8> {
    [vec![1 << 3, 8], field(7, &parts.concat()), field(8, &[2 << 3, 13])].concat()
}

pub(super) const U8: u8 = 2;
pub(super) const I64: u8 = 7;

/// Rows of bytes, each reversed by its length; the output's name is not a valid file name.
fn rows() -> Vec<u8> {
    model(&[
        node("Identity", &["x"], "a", &[]),
        node("ReverseSequence", &["a", "lens"], "out/y:0", &[("time_axis", 1), ("batch_axis", 0)]),
        info(11, "x", U8, &["B", "T"]),
        info(11, "lens", I64, &["B"]),
        info(12, "out/y:0", U8, &["B", "T"]),
    ])
}

const IR: &str = r#"<?xml version="1.0"?>
<net name="m" version="11"><layers>
<layer id="0" name="x" type="Parameter" version="opset1"><data shape="?,3" element_type="u8"/>
<output><port id="0" precision="U8" names="x"><dim>-1</dim><dim>3</dim></port></output></layer>
<layer id="1" name="axes" type="Const" version="opset1"><data element_type="i8" shape="1" offset="0" size="1"/>
<output><port id="0" precision="I8"><dim>1</dim></port></output></layer>
<layer id="2" name="turn" type="Reverse" version="opset1"><data mode="index"/>
<input><port id="0"/><port id="1"/></input><output><port id="2" names="y"/></output></layer>
<layer id="3" name="result" type="Result" version="opset1"><input><port id="0"/></input></layer>
</layers><edges>
<edge from-layer="0" from-port="0" to-layer="2" to-port="0"/>
<edge from-layer="1" from-port="0" to-layer="2" to-port="1"/>
<edge from-layer="2" from-port="2" to-layer="3" to-port="0"/>
</edges></net>"#;

fn folder() -> TempDir {
    let lens = [3i64, 2].iter().flat_map(|length| length.to_le_bytes());
    let folder = folder_with(&[
        ("x.npy", array("|u1", &[2, 3], 0..6)),
        ("lens.npy", array("<i8", &[2], lens)),
        ("wide.npy", array("|u1", &[2, 4], 0..8)),
    ]);
    fs::write(folder.path().join("rows.onnx"), rows()).unwrap();
    let foreign = [
        node("Sin", &["x"], "a", &[]),
        node("Conv", &["a", "a"], "y", &[]),
        info(11, "x", U8, &["B", "T"]),
        info(12, "y", U8, &["B", "T"]),
    ];
    fs::write(folder.path().join("foreign.onnx"), model(&foreign)).unwrap();
    fs::write(folder.path().join("turn.xml"), IR).unwrap();
    fs::write(folder.path().join("turn.bin"), [255u8]).unwrap();
    folder
}

#[test]
fn an_onnx_model_is_run() {
    let folder = folder();
    let inputs = ["run", "rows.onnx", "--input", "x=x.npy", "--input", "lens=lens.npy"];
    assert_eq!(shown_in(folder.path(), &inputs), "out/y:0: u8 [2, 3], 6 bytes\n");
    let Outcome { code, stdout, stderr } =
        run(command(folder.path(), &[&inputs[..], &["-d", "results"]].concat()));
    assert_eq!((code, stdout.as_str()), (Some(0), ""));
    assert_eq!(stderr, "results/out_y_0.npy: u8 [2, 3], 6 bytes\n");
    let y = read(&folder, "results/out_y_0.npy");
    assert_eq!((y.shape(), y.data()), (&[2, 3][..], &[2, 1, 0, 4, 3, 5][..]));
    assert_eq!(names(&folder.path().join("results")), ["out_y_0.npy"]);
}

#[test]
fn an_ir_is_run_and_names_may_be_left_out() {
    let folder = folder();
    for output in ["y.npy", "y=y.npy", "result=y.npy"] {
        let arguments = ["run", "turn.xml", "-i", "x.npy", "-o", output];
        let Outcome { code, stderr, .. } = run(command(folder.path(), &arguments));
        assert_eq!((code, stderr.as_str()), (Some(0), "y.npy: u8 [2, 3], 6 bytes\n"));
        let y = read(&folder, "y.npy");
        assert_eq!(y.data(), [2, 1, 0, 5, 4, 3]);
        fs::remove_file(folder.path().join("y.npy")).unwrap();
    }
    // A TensorProto works as an output and as an input.
    let arguments = ["run", "turn.xml", "-i", "x.npy", "--output", "y.pb"];
    done(folder.path(), &arguments);
    let arguments = ["run", "turn.xml", "-i", "y.pb", "--output", "z.npy"];
    done(folder.path(), &arguments);
    assert_eq!(read(&folder, "z.npy").data(), [0, 1, 2, 3, 4, 5]);
}

/// Inputs and outputs may have any format; the model declares the type of raw bytes.
#[test]
fn every_format_goes_in_and_out_of_a_model() {
    let folder = folder();
    let at = |arguments: &[&str]| {
        let outcome = run(command(folder.path(), arguments));
        assert_eq!((outcome.code, outcome.stdout.as_str()), (Some(0), ""), "{outcome:?}");
        outcome.stderr
    };
    at(&["reverse", "x.npy", "--axes", "", "-o", "x.safetensors:x"]);
    at(&["reverse", "x.npy", "--axes", "", "-o", "x.npz:a"]);
    at(&["reverse", "x.npy", "--axes", "", "-o", "x.pb"]);
    at(&["reverse", "x.npy", "--axes", "", "-o", "x.raw"]);
    for input in ["x.npy", "x.npz", "x.npz:a", "x.safetensors:x", "x.pb", "x.raw"] {
        for output in ["y.npy", "y.npz:r", "y.safetensors", "y.pb", "y.raw"] {
            let said = at(&["run", "turn.xml", "-i", input, "--output", output]);
            assert_eq!(said, format!("{output}: u8 [2, 3], 6 bytes\n"));
            at(&["reverse", output, "--axes", "", "-o", "z.raw", "--dtype=u8", "--shape=2,3"]);
            assert_eq!(
                fs::read(folder.path().join("z.raw")).unwrap(),
                [2, 1, 0, 5, 4, 3],
                "{input} {output}"
            );
        }
    }
    // Two sizes are unknown, which raw bytes do not determine.
    let raw = ["run", "rows.onnx", "-i", "x=x.raw", "-i", "lens=lens.npy"];
    assert_eq!(
        run(command(folder.path(), &raw)).stderr,
        "error: x.raw: raw bytes, but the model does not declare their type and shape (u8 [B, T]): \
         use another format\n"
    );
}

#[test]
fn outputs_appear_together_or_not_at_all() {
    let folder = folder();
    let two = model(&[
        node("Identity", &["x"], "a", &[]),
        node("Identity", &["x"], "b", &[]),
        info(11, "x", U8, &["B", "T"]),
        info(12, "a", U8, &["B", "T"]),
        info(12, "b", U8, &["B", "T"]),
    ]);
    fs::write(folder.path().join("two.onnx"), two).unwrap();
    let before = names(folder.path());
    // A file is one output; all of them need a folder.
    let outcome = run(command(folder.path(), &["run", "two.onnx", "-i", "x.npy", "-o", "y.npy"]));
    let expected = "error: --output y.npy: the model has 2 outputs: name one of them, \"a\" or \"b\", \
                    as in -o NAME=y.npy, or write all of them to a folder with -d DIR\n";
    assert_eq!((outcome.code, outcome.stderr.as_str()), (Some(1), expected));
    assert_eq!(names(folder.path()), before);
    let arguments =
        ["run", "two.onnx", "-i", "x.npy", "--output", "a=a.npy", "--output", "b=no/b.npy"];
    let outcome = run(command(folder.path(), &arguments));
    assert_eq!(outcome.stderr, "error: cannot write no/b.npy: No such file or directory\n");
    assert_eq!((outcome.code, names(folder.path())), (Some(1), before));
    let arguments =
        ["run", "two.onnx", "-i", "x.npy", "--output", "a=r.npz:a", "--output", "b=r.npz:b"];
    let outcome = run(command(folder.path(), &arguments));
    assert_eq!(outcome.stderr, "error: --output r.npz: given for two outputs\n");
    // Under different names.
    fs::write(folder.path().join("there.npy"), b"old").unwrap();
    fs::create_dir(folder.path().join("sub")).unwrap();
    #[allow(unused_mut)]
    let mut pairs = vec![("y.npy", "./y.npy"), ("sub/../y.npy", "y.npy"), ("-", "-")];
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink("there.npy", folder.path().join("link.npy")).unwrap();
        fs::hard_link(folder.path().join("there.npy"), folder.path().join("hard.npy")).unwrap();
        std::os::unix::fs::symlink("sub", folder.path().join("other")).unwrap();
        let found =
            [("link.npy", "there.npy"), ("there.npy", "hard.npy"), ("sub/y.npy", "other/y.npy")];
        pairs.extend(found);
    }
    let before = names(folder.path());
    for (one, other) in pairs {
        let (a, b) = (format!("a={one}"), format!("b={other}"));
        let arguments = ["run", "two.onnx", "-i", "x.npy", "--output", &a, "--output", &b];
        let outcome = run(command(folder.path(), &arguments));
        assert_eq!(outcome.stderr, format!("error: --output {other}: given for two outputs\n"));
        assert_eq!((outcome.code, names(folder.path())), (Some(1), before.clone()));
    }
    // A folder that was created for outputs is removed with them.
    let arguments = ["run", "two.onnx", "-i", "x.npy", "-d", "new", "--to", "safetensors"];
    done(folder.path(), &arguments);
    assert_eq!(names(&folder.path().join("new")), ["a.safetensors", "b.safetensors"]);
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink("a.npy", folder.path().join("new/b.npy")).unwrap();
        fs::write(folder.path().join("new/a.npy"), b"old").unwrap();
        let outcome = run(command(folder.path(), &["run", "two.onnx", "-i", "x.npy", "-d", "new"]));
        assert_eq!(outcome.stderr, "error: new/b.npy: is the file of two outputs\n");
        assert_eq!(fs::read(folder.path().join("new/a.npy")).unwrap(), b"old");
    }
}

/// Options set the format if names do not imply one.
#[test]
fn formats_can_be_said() {
    let folder = folder();
    let at = |arguments: &[&str]| {
        done(folder.path(), arguments);
    };
    at(&["run", "turn.xml", "-i", "x.npy", "--output", "y", "--to", "pb"]);
    at(&["run", "turn.xml", "-i", "y", "--from", "pb", "--output", "y.raw", "--to", "npy"]);
    // An extension takes precedence over an option.
    assert_eq!(fs::read(folder.path().join("y.raw")).unwrap(), [0, 1, 2, 3, 4, 5]);
    at(&["run", "turn.xml", "-i", "x.npy", "-d", "out", "--to", "npz"]);
    at(&["run", "turn.xml", "-i", "out/y.npz:y", "--output", "z.npy"]);
    assert_eq!(read(&folder, "z.npy").data(), [0, 1, 2, 3, 4, 5]);
    let mut raw = command(folder.path(), &["run", "turn.xml", "-i", "-", "--from", "raw"]);
    raw.stdin(fs::File::open(folder.path().join("y.raw")).unwrap());
    // One size is unknown, and a stream has no known size.
    let raw = Outcome::from(piped(raw).output());
    assert!(raw.stderr.contains("the model does not declare their type"), "{raw:?}");
}

#[test]
fn info_lists_what_a_model_reads_gives_back_and_is_made_of() {
    let folder = folder();
    let size = rows().len();
    assert_eq!(
        shown_in(folder.path(), &["info", "rows.onnx"]),
        format!(
            "rows.onnx  ONNX model, IR version 8, opset 13, {size} bytes\n  \
             input   x                    u8 [B, T]\n  \
             input   lens                 i64 [B]\n  \
             node    the Identity         Identity\n  \
             node    the ReverseSequence  ReverseSequence\n  \
             output  out/y:0              u8 [B, T]\n"
        )
    );
    let text = shown_in(folder.path(), &["info", "turn.xml", "--json"]);
    let record: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(record["format"], "openvino");
    assert_eq!(record["inputs"][0]["names"][0], "x");
    assert_eq!(record["inputs"][0]["dtype"], "u8");
    assert_eq!(record["inputs"][0]["shape"], serde_json::json!(["?", 3]));
    assert_eq!(record["outputs"][0]["names"][0], "y");
    assert_eq!(record["nodes"][0]["kind"], "Reverse");
    assert_eq!((&record["ir_version"], &record["cannot_run"]), (&11.into(), &().into()));
    assert_eq!(record["nodes"][0]["runs"], true);
}

/// `info` works on models that `run` refuses.
#[test]
fn info_lists_models_that_cannot_be_run() {
    let folder = folder();
    let size = fs::metadata(folder.path().join("foreign.onnx")).unwrap().len();
    let refused = "`retrograde run` refuses it:";
    assert_eq!(
        shown_in(folder.path(), &["info", "foreign.onnx"]),
        format!(
            "foreign.onnx  ONNX model, IR version 8, opset 13, {size} bytes\n  \
             input   x         u8 [B, T]\n  \
             node    the Sin   Sin  cannot be run\n  \
             node    the Conv  Conv  cannot be run\n  \
             output  y         u8 [B, T]\n  \
             {refused} it has nodes that retrograde cannot run: the Sin (Sin), the Conv (Conv)\n"
        )
    );
    let text = shown_in(folder.path(), &["info", "foreign.onnx", "--json"]);
    let record: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(record["opsets"], serde_json::json!([{"domain": "", "version": 13}]));
    assert_eq!((&record["ir_version"], &record["nodes"][1]["runs"]), (&8.into(), &false.into()));
    assert!(record["cannot_run"].as_str().unwrap().contains("the Conv (Conv)"));

    let ir = IR.replace("type=\"Reverse\"", "type=\"Relu\"").replace("\"u8\"", "\"u3\"");
    fs::write(folder.path().join("relu.xml"), ir).unwrap();
    let text = shown_in(folder.path(), &["info", "relu.xml"]);
    assert!(text.starts_with("relu.xml  OpenVINO IR version 11, "), "{text}");
    assert!(text.contains("input   x     ? [?, 3]\n"), "{text}");
    assert!(text.contains("node    turn  Relu  cannot be run\n"), "{text}");
    assert_eq!(text.matches(refused).count(), 1, "{text}");

    // An unsupported operator set, and a value that is not a tensor.
    let old = [vec![1 << 3, 3], field(7, &node("Relu", &["x"], "y", &[])), field(8, &[2 << 3, 6])];
    fs::write(folder.path().join("old.onnx"), old.concat()).unwrap();
    let text = shown_in(folder.path(), &["info", "old.onnx"]);
    assert!(text.contains("its opset is 6, expected 7 to 28"), "{text}");
    let sequence = field(11, &[text_field(1, "s"), field(2, &field(4, &[]))].concat());
    fs::write(folder.path().join("sequence.onnx"), model(&[sequence])).unwrap();
    let text = shown_in(folder.path(), &["info", "sequence.onnx"]);
    assert!(text.contains("input   s  a sequence\n"), "{text}");

    // A file that is not a model is an error.
    let broken = run(command(folder.path(), &["info", "rows.onnx", "--from", "npy"]));
    assert_eq!(broken.code, Some(1));
    fs::write(folder.path().join("broken.onnx"), b"hello").unwrap();
    let broken = run(command(folder.path(), &["info", "broken.onnx"]));
    assert_eq!((broken.code, broken.stdout.as_str()), (Some(1), ""));
}

#[test]
fn the_example_models_are_run() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| example(name).to_str().unwrap().to_owned();
    let words = format!("words={}", at("words.npy"));
    let arguments = ["run", &at("words.onnx"), "--input", &words, "-d", "results"];
    done(folder.path(), &arguments);
    let letters = read(&folder, "results/reversed.npy");
    let first: String = letters.data()[..32].chunks(4).map(|code| code[0] as char).collect();
    assert_eq!((letters.shape(), first.as_str()), (&[5, 8][..], "desserts"));

    let arguments = ["run", &at("turn.xml"), "-i", &at("image.npy"), "--output", "turned.npy"];
    done(folder.path(), &arguments);
    let turned = read(&folder, "turned.npy");
    let image = npy::read(example("image.npy")).unwrap();
    assert_eq!(turned.element(&[0, 0, 1]), image.element(&[5, 7, 1]));
    assert_eq!(turned.element(&[5, 6, 0]), image.element(&[0, 1, 0]));
}

/// Calls, and what they say.
const FAILURES: &str = r#"
foreign.onnx => foreign.onnx: it has nodes that retrograde cannot run: the Sin (Sin), the Conv
    (Conv)
rows.onnx -i x=x.npy => rows.onnx: input "lens" is missing (i64 [B]): give it with --input lens=FILE
rows.onnx -i x.npy => --input x.npy: the model has 2 inputs, name one with --input NAME=x.npy
rows.onnx -i x=lens.npy -i lens=lens.npy => rows.onnx: input "x": has type i64, expected u8 [B, T]
turn.xml -i wide.npy => turn.xml: input "x": has shape [2, 4], expected u8 [?, 3]
turn.xml -i x.npy --output z=z.npy => there is no output "z", expected "y"
turn.xml -i x.npy --output y.npy --output result=y.npy => --output y.npy: given for two outputs
turn.xml -i x.npy -o results => results: expected a name that ends in .npy, .npz, .safetensors, .pb,
    .raw or .bin, or --to FORMAT; -d DIR writes all outputs to a folder
turn.xml -i x.npy --output turn.bin => cannot write turn.bin: it is an input: choose another file
turn.xml -i x.npy --to pb => --to FORMAT needs a destination: -o FILE or -d DIR
turn.xml -i x.npy -o y.npy -d out => --output-dir and --output exclude each other
turn.xml -i x.npy --threads=9999999 => --threads 9999999: expected 1 to 
none.onnx => cannot read none.onnx: No such file or directory
x.npy => x.npy: not an ONNX model: ModelProto: 
"#;

#[test]
fn failures_are_one_line_each() {
    let folder = folder();
    let before = names(folder.path());
    for (arguments, text) in cases(FAILURES) {
        let Outcome { code, stdout, stderr } =
            run(command(folder.path(), &[&["run"], &arguments[..]].concat()));
        assert_eq!((code, stdout.as_str()), (Some(1), ""), "{arguments:?}");
        assert!(stderr.starts_with(&format!("error: {text}")), "{arguments:?}: {stderr}");
        assert_eq!(stderr.lines().count(), 1, "{stderr}");
    }
    assert_eq!(names(folder.path()), before);
}
