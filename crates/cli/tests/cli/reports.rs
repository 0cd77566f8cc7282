//! The output of `info`, `explain`, `show`, `completions` and `man`.

use super::*;
use std::fs;

#[test]
fn info_says_what_a_file_holds() {
    assert_eq!(
        shown(&["info", "examples/words.npy"]),
        "examples/words.npy  npy, 288 bytes\n  U1 [5, 8]  160 bytes, row-major, from byte 128\n"
    );
    let columns = NpyArray::new(">f8", &[1, 2], true, vec![0; 16]).unwrap();
    let folder = folder_with(&[("f.npy", columns), ("none.npy", array("|u1", &[0, 9], []))]);
    assert_eq!(
        shown_in(folder.path(), &["info", "f.npy"]),
        "f.npy  npy, 144 bytes\n  f64 (big-endian) [1, 2]  16 bytes, column-major, from byte 128\n"
    );
    let json = shown_in(folder.path(), &["info", "none.npy", "--json"]);
    let expected = r#"{
  "file": "none.npy",
  "format": "npy",
  "file_bytes": 128,
  "tensors": [
    {
      "name": null,
      "dtype": "u8",
      "numpy": "|u1",
      "shape": [
        0,
        9
      ],
      "elements": 0,
      "bytes": 0,
      "order": "C",
      "byte_order": null,
      "offset": 128,
      "deflated_bytes": null
    }
  ]
}
"#;
    assert_eq!(json, expected);
}

#[test]
fn explain_names_plan_kernel_bytes_and_bound() {
    let text = shown(&["explain", "reverse", "examples/image.npy", "--axes", "1"]);
    let lines: Vec<_> = text.lines().collect();
    assert_eq!(
        &lines[..5],
        [
            "Reverse  image.npy  u8 [6, 8, 3]  axis 1",
            "",
            "plan    reverse whole axes: 48 units of 3 B each",
            "                   6 x keep         step 24 B in, 24 B out",
            "                   8 x flip         step 3 B in, 3 B out",
        ]
    );
    assert!(lines[5].starts_with(
        "kernel  rows: contiguous runs of units, forward or backward, units of 3 bytes, with "
    ));
    assert_eq!(lines[6], "moves   144 bytes read, 144 bytes written");
    assert!(lines[7].starts_with("bound   ") && lines[7].contains(" at least: "), "{text}");

    for (arguments, kernel) in [
        (&["reverse-sequence", "examples/onnx.npy", "--lengths", "4,3,2,1"][..], "columns"),
        (
            &["reverse-subsequences", "examples/grid.npy", "--axis=3", "--lengths=2,4,3"],
            "short lanes",
        ),
        (&["reverse", "examples/image.npy", "--axes", "0"], "rows"),
    ] {
        let all: Vec<_> = ["explain", "--json"].iter().chain(arguments).copied().collect();
        let record: serde_json::Value = serde_json::from_str(&shown(&all)).unwrap();
        assert_eq!(record["kernel"], kernel, "{arguments:?}");
        assert!(record["least_seconds"].as_f64().unwrap() > 0.0);
        assert_eq!(record["bytes_read"], record["bytes_written"]);
    }
}

#[test]
fn show_is_the_picture_and_its_svg_is_an_image() {
    let operator = ["reverse-sequence", "examples/onnx.npy", "--lengths", "4,3,2,1"];
    let all: Vec<_> = ["show"].iter().chain(&operator).copied().collect();
    assert_eq!(shown(&all), shown(&operator));
    let folder = folder_with(&[("x.npy", array("|S3", &[2], *b"<a>\"&\x01"))]);
    let arguments = ["show", "reverse", "x.npy", "--svg", "x.svg"];
    assert_eq!(shown_in(folder.path(), &arguments), "");
    let image = fs::read_to_string(folder.path().join("x.svg")).unwrap();
    assert_eq!(image, include_str!("escaped.svg"));
    assert_eq!(names(folder.path()), ["x.npy", "x.svg"]);
    assert_eq!(shown_in(folder.path(), &["show", "reverse", "x.npy", "--svg", "-"]), image);
    assert_eq!(names(folder.path()), ["x.npy", "x.svg"]);
}

#[test]
fn completions_know_every_command() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = shown(&["completions", shell]);
        let options = ["in-place", "memory", "threads", "no-sync", "batch-axis", "output-dir"];
        for name in ["reverse-subsequences", "info", "explain"].into_iter().chain(options) {
            assert!(script.contains(name), "{shell}: {name}");
        }
    }
}

#[test]
fn the_manual_has_a_page_for_every_command() {
    let page = shown(&["man"]);
    assert!(page.starts_with(".ie") && page.contains("EXIT CODES") && page.contains("NO_COLOR"));
    let folder = tempfile::tempdir().unwrap();
    let pages = folder.path().to_str().unwrap();
    assert_eq!(shown(&["man", "--dir", pages]), "");
    let written = names(folder.path());
    for name in ["retrograde.1", "retrograde-reverse.1", "retrograde-info.1"] {
        assert!(written.iter().any(|page| page == name), "{written:?}");
    }
    let outcome = run(command(&repository(), &["man", "--dir", "/dev/null/pages"]));
    assert_eq!(outcome.code, Some(1));
    assert_eq!(outcome.stderr, "error: cannot write /dev/null/pages: Not a directory\n");
}

#[test]
fn help_and_manual_name_stores_and_their_options() {
    let folder = tempfile::tempdir().unwrap();
    shown(&["man", "--dir", folder.path().to_str().unwrap()]);
    let page = |name: &str| fs::read_to_string(folder.path().join(name)).unwrap().replace('\\', "");
    let general = [shown(&["--help"]), page("retrograde.1")];
    let reverse = [shown(&["reverse", "--help"]), page("retrograde-reverse.1")];
    let sequence = [shown(&["reverse-sequence", "--help"]), page("retrograde-reverse-sequence.1")];
    for text in general.iter().chain(&reverse) {
        assert!(text.contains("lat,lon"), "{text}");
    }
    for text in general.iter().chain(&reverse).chain(&sequence) {
        for word in
            ["Zarr", "HDF5", "NetCDF4", "file.nc:NAME", "--memory", "--threads", "--no-sync"]
        {
            assert!(text.contains(word), "{word}: {text}");
        }
    }
    // What does not take stores does not say so.
    for words in [&["show", "reverse", "--help"][..], &["rot90", "--help"], &["run", "--help"]] {
        assert!(!shown(words).contains("file.nc"), "{words:?}");
    }
    for words in ["rot90", "run", "reverse-segments", "reverse-subsequences", "bench"] {
        assert!(shown(&[words, "--help"]).contains("--threads <N>"), "{words}");
    }
}

#[test]
fn help_documents_exit_codes() {
    let help = shown(&["--help"]);
    for line in [
        "  0    success",
        "  2    invalid usage",
        "  130  interrupted by Ctrl-C; by another signal, 128 and its number: 143 for SIGTERM",
    ] {
        assert!(help.lines().any(|own| own == line), "{help}");
    }
}
