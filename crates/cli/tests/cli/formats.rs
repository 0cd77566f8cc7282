//! Conversion between all formats, and the errors if they do not fit.

use super::*;
use std::fs;

fn folder() -> TempDir {
    let folder = folder_with(&[
        ("x.npy", array("<f4", &[2, 3], 0..24)),
        ("big.npy", array(">i2", &[3], [0, 1, 0, 2, 0, 3])),
        ("text.npy", array("<U2", &[2], [0x41; 16])),
        ("void.npy", array("<V2", &[2], [0x80, 0x3f, 0, 0x40])),
    ]);
    fs::write(folder.path().join("bytes"), [1u8; 12]).unwrap();
    fs::write(folder.path().join("bytes.bin"), [1u8; 12]).unwrap();
    folder
}

#[test]
fn one_format_becomes_another_by_its_extension() {
    let folder = folder();
    let at = |arguments: &[&str]| done(folder.path(), arguments);
    assert_eq!(
        at(&["reverse", "x.npy", "--axes", "1", "-o", "a.npz:w"]),
        "a.npz:w: f32 [2, 3], 24 bytes reversed along axis 1\n"
    );
    at(&["reverse", "a.npz:w", "--axes", "", "-o", "b.safetensors"]);
    at(&["reverse", "b.safetensors:w", "--axes", "", "-o", "c.raw"]);
    at(&["reverse", "c.raw", "--dtype=f32", "--shape=2,3", "--axes", "", "-o", "d.npy"]);
    let flipped = [8, 9, 10, 11, 4, 5, 6, 7, 0, 1, 2, 3];
    let both: Vec<u8> = flipped.iter().copied().chain(flipped.map(|byte| byte + 12)).collect();
    assert_eq!(read(&folder, "d.npy"), array("<f4", &[2, 3], both));
    // The same file again after two conversions.
    let info = shown_in(folder.path(), &["info", "b.safetensors:w"]);
    assert_eq!(
        info,
        "b.safetensors  safetensors, 96 bytes\n  w  f32 [2, 3]  24 bytes, row-major, from byte 72\n"
    );
}

#[test]
fn names_of_tensors_may_contain_colons() {
    let folder = folder();
    let at = |arguments: &[&str]| done(folder.path(), arguments);
    let name = "dense/kernel:0";
    for file in ["k.npz", "k.safetensors"] {
        let tensor = format!("{file}:{name}");
        assert_eq!(
            at(&["reverse", "x.npy", "-o", &tensor]),
            format!("{tensor}: f32 [2, 3], 24 bytes reversed along axes 0, 1\n")
        );
        assert!(shown_in(folder.path(), &["info", &tensor]).contains(name));
        at(&["reverse", &tensor, "-o", "y.npy"]);
        let (x, y) = (folder.path().join("x.npy"), folder.path().join("y.npy"));
        assert_eq!(fs::read(x).unwrap(), fs::read(y).unwrap());
        let none = run(command(folder.path(), &["reverse", &format!("{tensor}:1")]));
        let only = format!("error: {file}: it has no tensor \"{name}:1\", only \"{name}\"\n");
        assert_eq!((none.code, none.stderr), (Some(1), only));
    }
}

#[test]
fn big_endian_numbers_are_turned_where_the_format_has_only_the_other_order() {
    let folder = folder();
    done(folder.path(), &["reverse", "big.npy", "-o", "y.raw"]);
    assert_eq!(fs::read(folder.path().join("y.raw")).unwrap(), [3, 0, 2, 0, 1, 0]);
    done(folder.path(), &["reverse", "big.npy", "-o", "y.npz"]);
    assert!(shown_in(folder.path(), &["info", "y.npz"]).contains("i16 (big-endian) [3]"));
}

#[test]
fn opaque_elements_can_be_told_what_they_are() {
    let folder = folder();
    done(folder.path(), &["reverse", "void.npy", "--dtype", "bf16", "-o", "y.safetensors"]);
    assert_eq!(
        shown_in(folder.path(), &["reverse", "y.safetensors"]),
        "Reverse  y.safetensors  bf16 [2]  axis 0\n\n  before     after\n  2 1     →  1 2\n"
    );
    done(folder.path(), &["reverse", "y.safetensors", "-o", "z.npy"]);
    let back = read(&folder, "z.npy");
    assert_eq!(back, read(&folder, "void.npy"));
}

/// TensorProto is a format like the others; text becomes its strings and vice versa.
#[test]
fn tensor_protos_are_files_like_any_other() {
    let folder = folder();
    let at = |arguments: &[&str]| done(folder.path(), arguments);
    at(&["reverse", "big.npy", "-o", "y.pb"]);
    // Field 1 (dims) 3, field 2 (type) 5 = INT16, field 9 (raw_data) of 6 bytes.
    let message = [0x0a, 1, 3, 0x10, 5, 0x4a, 6, 3, 0, 2, 0, 1, 0];
    let written = fs::read(folder.path().join("y.pb")).unwrap();
    assert!(written.ends_with(&message[3..]), "{written:?}");
    let info = shown_in(folder.path(), &["info", "y.pb"]);
    let start = written.len() - 6;
    let size = written.len();
    assert_eq!(
        info,
        format!("y.pb  pb, {size} bytes\n  i16 [3]  6 bytes, row-major, from byte {start}\n")
    );
    at(&["reverse", "y.pb", "-o", "z.npy"]);
    assert_eq!(read(&folder, "z.npy"), array("<i2", &[3], [1, 0, 2, 0, 3, 0]));
    at(&["reverse-sequence", "x.npy", "--lengths", "2,1,0", "-o", "w.pb"]);
    at(&["reverse", "w.pb", "--axes", "", "-o", "w.safetensors:w"]);

    let words: Vec<u8> =
        "abc".chars().chain(['\0'; 3]).flat_map(|c| u32::from(c).to_le_bytes()).collect();
    npy::write(folder.path().join("words.npy"), &array("<U2", &[3], words)).unwrap();
    at(&["reverse", "words.npy", "-o", "words.pb"]);
    assert!(
        shown_in(folder.path(), &["info", "words.pb"])
            .ends_with("  string [3]  3 bytes, row-major\n")
    );
    assert_eq!(
        shown_in(folder.path(), &["reverse", "words.pb"]).lines().last(),
        Some("      c   ab  →  ab  c")
    );
    at(&["reverse", "words.pb", "-o", "back.npy"]);
    assert_eq!(read(&folder, "back.npy"), read(&folder, "words.npy"));
}

#[test]
fn packed_elements_go_through_raw_files() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("x.raw"), [0x21, 0x43, 0x05]).unwrap();
    let said = ["--dtype", "u4", "--shape", "5"];
    done(folder.path(), &[&["reverse", "x.raw", "-o", "y.raw"][..], &said].concat());
    assert_eq!(fs::read(folder.path().join("y.raw")).unwrap(), [0x45, 0x23, 0x01]);
    done(folder.path(), &[&["reverse", "x.raw", "-o", "y.pb"][..], &said].concat());
    assert!(fs::read(folder.path().join("y.pb")).unwrap().ends_with(&[0x45, 0x23, 0x01]));
    let picture = shown_in(folder.path(), &[&["reverse", "x.raw"][..], &said].concat());
    assert_eq!(picture.lines().last(), Some("  1 2 3 4 5  →  5 4 3 2 1"));
}

#[test]
fn files_can_be_replaced_with_or_without_a_second_one() {
    for how in ["--in-place", "--in-place=copy", "--in-place=direct"] {
        let folder = folder();
        let said = done(folder.path(), &["reverse", "big.npy", how]);
        assert_eq!(said, "big.npy: i16 (big-endian) [3], 6 bytes reversed along axis 0\n");
        let back = read(&folder, "big.npy");
        assert_eq!(back, array(">i2", &[3], [0, 3, 0, 2, 0, 1]), "{how}");
        done(folder.path(), &["reverse", "bytes.bin", "--dtype=u32", how]);
        let lengths = ["--lengths=2,0,1", "--axis=0"];
        done(folder.path(), &[&["reverse-subsequences", "x.npy", how][..], &lengths].concat());
        let expected = [12, 13, 14, 15, 4, 5, 6, 7, 8, 9, 10, 11]
            .into_iter()
            .chain([0, 1, 2, 3])
            .chain(16..24);
        assert_eq!(read(&folder, "x.npy").data(), Vec::from_iter(expected));
        assert_eq!(
            names(folder.path()),
            ["big.npy", "bytes", "bytes.bin", "text.npy", "void.npy", "x.npy"]
        );
    }
}

#[cfg(unix)]
#[test]
fn dashes_are_the_standard_streams() {
    let folder = folder();
    let piped = |arguments: &[&str], input: &[u8]| {
        let output = fed(&mut command(folder.path(), arguments), input).unwrap();
        assert!(output.status.success(), "{output:?}");
        (output.stdout, String::from_utf8(output.stderr).unwrap())
    };
    let (out, said) =
        piped(&["reverse", "-", "-o", "-"], &fs::read(folder.path().join("big.npy")).unwrap());
    assert_eq!(said, "stdout: i16 (big-endian) [3], 6 bytes reversed along axis 0\n");
    assert!(out.starts_with(b"\x93NUMPY") && out.ends_with(&[0, 3, 0, 2, 0, 1]));
    let (out, _) = piped(&["reverse", "-", "--dtype=u8", "-o", "-", "--to=raw"], b"abc");
    assert_eq!(out, b"cba");
    let (out, _) = piped(&["info", "-", "--dtype=u8", "--json"], b"abc");
    assert!(String::from_utf8(out).unwrap().contains("\"format\": \"raw\""));
}

/// Calls, and what they say.
const FAILURES: &str = r#"
# Which tensor.
one.npz:b -o y.npy => one.npz: it has no tensor "b", only "a"
one.safetensors:b => one.safetensors: it has no tensor "b", only "a"
x.npy:a => x.npy:a: npy files hold one tensor, which needs no name: leave out ":a"
x.npy -o one.npz:b => one.npz: holds other tensors ("a"), which would be lost: write to a new file
x.npy -o y.npz:../b => y.npz: "../b" is not a valid tensor name: expected one that is not empty and,
    as a path, stays inside the archive
# Which format.
bytes => bytes: cannot tell what kind of file this is: expected a name that ends in .npy, .npz,
    .safetensors or .pb; for raw bytes, give --dtype and --shape
bytes.bin => bytes.bin: raw bytes have no header: give --dtype (such as f32) and --shape (such as
    480,640,3)
x.npy -o y => y: cannot tell which format to write: expected a name that ends in .npy, .npz,
    .safetensors, .pb, .raw or .bin, or --to FORMAT
x.npy --from npz => x.npy: not a readable .npz archive: invalid Zip archive: Could not find EOCD
# Which elements.
bytes --dtype=f64 => bytes: the file has 12 bytes, not a whole number of f64 elements
bytes --dtype=f32 --shape=2,2 => bytes: shape [2, 2] of f32 takes 16 bytes but the file has 12
bytes --dtype=u8 --shape=4294967296,4294967296 => bytes: impossible shape: shape [4294967296,
    4294967296] of u8 needs more than 9223372036854775807 bytes
x.npy --dtype=f64 => x.npy: its elements are f32, not f64: --dtype is for raw bytes, and for opaque
    elements of the same width (such as bf16 for V2)
x.npy --shape=6 => x.npy: its shape is [2, 3], not [6]: --shape is for raw bytes
text.npy -o y.safetensors => y.safetensors: safetensors files have no U2 elements; write .npy or
    .npz, or give their type with --dtype
bytes --dtype=u4 -o y.npy => y.npy: npy files have no u4 elements; write .pb, .safetensors or .raw
void.npy -o y.pb => y.pb: pb files have no V2 elements; write .npy, .npz or .raw, or give their type
    with --dtype
bytes --from=pb => bytes: not a TensorProto: failed to decode Protobuf message: invalid tag value: 0
# In place.
one.npz --in-place => one.npz: npz files cannot be changed in place, only npy and raw ones: use -o
one.safetensors --in-place=direct => one.safetensors: safetensors files cannot be changed in place,
    only npy and raw ones: use -o
x.npy -o - --show => --show and -o - both write to stdout: use one of them, or -o FILE
"#;

#[test]
fn what_does_not_fit_is_said_in_one_line() {
    let folder = folder();
    done(folder.path(), &["reverse", "x.npy", "-o", "one.npz:a"]);
    done(folder.path(), &["reverse", "x.npy", "-o", "one.safetensors:a"]);
    let before = names(folder.path());
    for (arguments, message) in cases(FAILURES) {
        let all = [&["reverse"], &arguments[..]].concat();
        let stderr = format!("error: {message}\n");
        let expected = Outcome { code: Some(1), stdout: String::new(), stderr };
        assert_eq!(run(command(folder.path(), &all)), expected, "{arguments:?}");
        assert_eq!(names(folder.path()), before, "{arguments:?}");
    }
    for wrong in [
        &["x.npy", "--to", "npz"][..],
        &["x.npy", "--in-place", "-o", "y.npy"],
        &["x.npy", "--in-place=backwards"],
        &["x.npy", "--from", "csv"],
        &["x.npy", "--shape", "a,b"],
    ] {
        let all: Vec<_> = ["reverse"].iter().chain(wrong).copied().collect();
        assert_eq!(run(command(folder.path(), &all)).code, Some(2), "{wrong:?}");
    }
}
