//! Outputs: elements, header, location and permissions.

use super::*;
use std::fs;

/// Runs the command on a copy of an example, writing to `out.npy`; returns that file's array.
fn written(example_name: &str, arguments: &[&str]) -> NpyArray {
    let folder = tempfile::tempdir().unwrap();
    fs::copy(example(example_name), folder.path().join("in.npy")).unwrap();
    let mut all = vec![arguments[0], "in.npy", "-o", "out.npy"];
    all.extend(&arguments[1..]);
    let outcome = run(command(folder.path(), &all));
    assert_eq!((outcome.code, outcome.stdout.as_str()), (Some(0), ""), "{outcome:?}");
    assert!(outcome.stderr.starts_with("out.npy: "), "{outcome:?}");
    read(&folder, "out.npy")
}

fn floats(array: &NpyArray) -> Vec<f32> {
    array.data().as_chunks::<4>().0.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect()
}

#[test]
fn onnx_example() {
    let out = written("onnx.npy", &["reverse-sequence", "--lengths", "4,3,2,1"]);
    assert_eq!(
        floats(&out),
        [3., 6., 9., 12., 2., 5., 8., 13., 1., 4., 10., 14., 0., 7., 11., 15.]
    );
}

#[test]
fn directml_example() {
    let out = written("grid.npy", &["reverse-subsequences", "--lengths", "2,4,3", "--axis", "-1"]);
    assert_eq!(out.shape(), [1, 1, 3, 4]);
    assert_eq!(floats(&out), [2., 1., 3., 4., 8., 7., 6., 5., 11., 10., 9., 12.]);
}

#[test]
fn lengths_of_lanes_have_the_axis_or_not() {
    let lengths = [0u8, 3, 2, 1];
    let columns = |shape: &str| {
        let header = format!("{{'descr': '|u1', 'fortran_order': True, 'shape': {shape}, }}");
        raw(&header, &[0, 2, 3, 1])
    };
    let folder = folder_with(&[
        ("x.npy", array("|u1", &[2, 3, 2], 0..12)),
        ("with.npy", array("|u1", &[2, 1, 2], lengths)),
        ("without.npy", array("<i2", &[2, 2], [0u8, 0, 3, 0, 2, 0, 1, 0])),
    ]);
    fs::write(folder.path().join("columns.npy"), columns("(2, 2)")).unwrap();
    fs::write(folder.path().join("lengths.csv"), "0,3\n2,1\n").unwrap();
    let expected = [0, 5, 2, 3, 4, 1, 8, 7, 6, 9, 10, 11];
    for given in ["with.npy", "without.npy", "columns.npy", "lengths.csv", "0,3,2,1"] {
        let lengths = format!("--lengths={given}");
        let all = ["reverse-subsequences", "x.npy", "--axis=-2", &lengths, "-o", "y.npy"];
        done(folder.path(), &all);
        assert_eq!(read(&folder, "y.npy").data(), expected, "{given}");
    }
}

#[test]
fn sequences_on_any_two_axes() {
    let folder = folder_with(&[
        ("x.npy", array("|u1", &[2, 2, 3], 0..12)),
        ("u8.npy", array("|u1", &[2], [3, 2])),
        ("i8.npy", array("<i8", &[2], [3, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0])),
    ]);
    for (axes, expected) in [
        (["--time-axis=2", "--batch-axis=0"], [2, 1, 0, 5, 4, 3, 7, 6, 8, 10, 9, 11]),
        (["--time-axis=-1", "--batch-axis=-2"], [2, 1, 0, 4, 3, 5, 8, 7, 6, 10, 9, 11]),
    ] {
        for lengths in ["--lengths=3,2", "--lengths=u8.npy", "--lengths=i8.npy"] {
            let all = ["reverse-sequence", "x.npy", lengths, axes[0], axes[1], "-o", "y.npy"];
            done(folder.path(), &all);
            assert_eq!(read(&folder, "y.npy").data(), expected);
        }
    }
}

#[test]
fn words_example() {
    let lengths = example("words-lengths.npy");
    let axes = ["--time-axis=1", "--batch-axis=0"];
    let arguments = ["reverse-sequence", "--lengths", lengths.to_str().unwrap(), axes[0], axes[1]];
    let out = written("words.npy", &arguments);
    let codes = out.data().as_chunks::<4>().0.iter().map(|bytes| u32::from_le_bytes(*bytes));
    let text: String = codes.map(|code| char::from_u32(code).unwrap()).collect();
    assert_eq!(text, "dessertsevil····reward··a·······strap···");
}

#[test]
fn image_example_by_mask_and_by_axes() {
    let image = npy::read(example("image.npy")).unwrap();
    let mirrored = written("image.npy", &["reverse", "--mask", "0,true,FALSE"]);
    for (out, input) in mirrored.data().chunks(24).zip(image.data().chunks(24)) {
        let pixels: Vec<_> = input.chunks(3).rev().flatten().copied().collect();
        assert_eq!(out, pixels);
    }
    for axes in [&["--axes", "-2"][..], &["--axes=-2,1"], &["--axes", "1"]] {
        let arguments: Vec<_> = ["reverse"].iter().chain(axes).copied().collect();
        assert_eq!(written("image.npy", &arguments), mirrored);
    }
    let all: Vec<_> = image.data().iter().rev().copied().collect();
    assert_eq!(written("image.npy", &["reverse"]).data(), all);
}

#[test]
fn headers_are_numpys_own() {
    // NumPy wrote the examples; reversing nothing must return the same bytes.
    for name in names(&repository().join("examples")) {
        if !name.ends_with(".npy") {
            continue;
        }
        let folder = tempfile::tempdir().unwrap();
        let out = folder.path().join("out.npy");
        let stderr = done(
            &repository(),
            &[
                "reverse",
                example(&name).to_str().unwrap(),
                "--axes",
                "",
                "-o",
                out.to_str().unwrap(),
            ],
        );
        assert!(stderr.ends_with(" reversed along no axis\n"), "{stderr}");
        assert_eq!(fs::read(out).unwrap(), fs::read(example(&name)).unwrap(), "{name}");
    }
}

#[test]
fn one_line_says_what_was_written() {
    let folder = folder_with(&[("x.npy", array("<f4", &[2, 512, 3], vec![0; 12288]))]);
    let line = |arguments: &[&str]| run(command(folder.path(), arguments));
    let saved = |text: &str| Outcome {
        code: Some(0),
        stdout: String::new(),
        stderr: format!("y.npy: f32 [2, 512, 3], 12 KiB reversed along {text}\n"),
    };
    assert_eq!(line(&["reverse", "x.npy", "-o", "y.npy", "--axes", "1"]), saved("axis 1"));
    assert_eq!(line(&["reverse", "x.npy", "-o", "y.npy", "--axes", "-1,0"]), saved("axes 0, 2"));
    let lengths = ["--lengths=1,600", "--policy=clamp", "--time-axis=1", "--batch-axis=0"];
    let mut sequence = vec!["reverse-sequence", "x.npy", "-o", "y.npy"];
    sequence.extend(lengths);
    assert_eq!(line(&sequence), saved("axis 1"));
    // With a picture on stdout, no summary is printed.
    let both = line(&["reverse", "x.npy", "-o", "y.npy", "--show"]);
    assert_eq!((both.code, both.stderr.as_str()), (Some(0), ""));
    assert!(both.stdout.starts_with("Reverse  x.npy  f32 [2, 512, 3]  axes 0, 1, 2\n"));
}

#[test]
fn the_output_may_be_the_input() {
    let folder = folder_with(&[("x.npy", array("|u1", &[3], [1, 2, 3]))]);
    done(folder.path(), &["reverse", "x.npy", "-o", "x.npy"]);
    assert_eq!(read(&folder, "x.npy").data(), [3, 2, 1]);
    assert_eq!(names(folder.path()), ["x.npy"]);
}

#[test]
fn fortran_order_stays_fortran_order() {
    // [[1, 2, 3], [4, 5, 6]] column by column.
    let columns = NpyArray::new("|i1", &[2, 3], true, vec![1, 4, 2, 5, 3, 6]).unwrap();
    let folder = folder_with(&[("x.npy", columns)]);
    done(folder.path(), &["reverse", "x.npy", "-o", "y.npy", "--axes", "1"]);
    let out = read(&folder, "y.npy");
    assert_eq!((out.fortran_order(), out.data()), (true, &[3, 6, 2, 5, 1, 4][..]));
    assert_eq!(
        shown_in(folder.path(), &["reverse", "x.npy", "--axes", "1"]).lines().last(),
        Some("  4 5 6      6 5 4")
    );
}

#[test]
fn big_endian_stays_big_endian() {
    let folder = folder_with(&[
        ("x.npy", array(">i2", &[2, 2], [0, 1, 0, 2, 0, 3, 0, 4])),
        ("lengths.npy", array(">i4", &[2], [0, 0, 0, 2, 0, 0, 0, 1])),
    ]);
    done(folder.path(), &["reverse-sequence", "x.npy", "-o", "y.npy", "--lengths", "lengths.npy"]);
    let out = read(&folder, "y.npy");
    assert_eq!((out.descr().as_str(), out.data()), (">i2", &[0, 3, 0, 2, 0, 1, 0, 4][..]));
}

#[test]
fn lengths_may_be_a_tensor_of_the_operators_shape_in_either_order_or_a_list() {
    let x = array("|u1", &[2, 2, 3], 0..12);
    // lengths[i, j, 0] = [[3, 2], [1, 0]]
    let folder = folder_with(&[
        ("x.npy", x),
        ("rows.npy", array("|u1", &[2, 2, 1], [3, 2, 1, 0])),
        (
            "columns.npy",
            NpyArray::new("<i2", &[2, 2, 1], true, vec![3, 0, 1, 0, 2, 0, 0, 0]).unwrap(),
        ),
        ("without.npy", array(">u2", &[2, 2], [0, 3, 0, 2, 0, 1, 0, 0])),
    ]);
    fs::write(folder.path().join("column.csv"), "3\n2\n1\n0\n").unwrap();
    fs::write(folder.path().join("row.txt"), "3 2 1 0").unwrap();
    fs::write(folder.path().join("nameless"), "3.0e+00\n2.0e+00\n1.0e+00\n0.0e+00\n").unwrap();
    let files = ["rows.npy", "columns.npy", "without.npy", "column.csv", "row.txt", "nameless"];
    for lengths in files.into_iter().chain(["3,2,1,0", " 3, 2, 1, 0 "]) {
        let arguments =
            ["reverse-subsequences", "x.npy", "-o", "y.npy", "--axis", "2", "--lengths", lengths];
        done(folder.path(), &arguments);
        let out = read(&folder, "y.npy");
        assert_eq!(out.data(), [2, 1, 0, 4, 3, 5, 6, 7, 8, 9, 10, 11], "{lengths}");
    }
}

#[test]
fn every_width_moves_untouched() {
    for (descr, width) in [
        ("|V3", 3),
        ("|S5", 5),
        ("<f16", 16),
        ("<f1", 1),
        ("<V2", 2),
        ("<M8[25us]", 8),
        (">c16", 16),
    ] {
        let data: Vec<u8> = (0..3 * width as u8).map(|n| n.wrapping_mul(37)).collect();
        let folder = folder_with(&[("x.npy", array(descr, &[3], data.clone()))]);
        done(folder.path(), &["reverse", "x.npy", "-o", "y.npy"]);
        let reversed: Vec<u8> = data.chunks(width).rev().flatten().copied().collect();
        let out = read(&folder, "y.npy");
        assert_eq!((out.descr().as_str(), out.data()), (descr, &reversed[..]));
    }
}

#[cfg(unix)]
#[test]
fn pipes_are_read_too() {
    let folder = tempfile::tempdir().unwrap();
    let mut reverse = command(folder.path(), &["reverse", "/dev/stdin", "-o", "y.npy"]);
    let input = fs::read(example("onnx.npy")).unwrap();
    assert!(fed(&mut reverse, &input).unwrap().status.success());
    let reversed: Vec<_> = (0..16).map(|n| ((n % 4) * 4 + n / 4) as f32).rev().collect();
    assert_eq!(floats(&read(&folder, "y.npy")), reversed);
}

#[test]
fn structured_arrays_are_reversed_as_wholes() {
    let descr = "[('x', '<f4'), ('', '|V2'), ('n', '>i2', (2,))]";
    let data: Vec<u8> = [1.5f32, -2.0]
        .iter()
        .zip([[1u8, 2], [3, 4]])
        .flat_map(|(x, [a, b])| [&x.to_le_bytes()[..], &[0xEE; 2], &[0, a, 0, b]].concat())
        .collect();
    let folder = folder_with(&[("x.npy", array(descr, &[2], data.clone()))]);
    let reversed = [&data[10..], &data[..10]].concat();
    for output in ["y.npy", "y.npz"] {
        let stderr = done(folder.path(), &["reverse", "x.npy", "-o", output]);
        let said = format!("{output}: (x f32, n i16 (big-endian)[2]) [2], 20 bytes reversed");
        assert!(stderr.starts_with(&said), "{stderr}");
    }
    let out = read(&folder, "y.npy");
    assert_eq!((out.descr().as_str(), out.data()), (descr, &reversed[..]));
    let shown = shown_in(folder.path(), &["reverse", "x.npy"]);
    assert!(shown.contains("(1.5, [1 2])   (-2, [3 4])"), "{shown}");
    let refused = run(command(folder.path(), &["reverse", "x.npy", "-o", "y.raw"]));
    assert!(refused.stderr.ends_with("elements; write .npy or .npz\n"), "{refused:?}");
}

#[test]
fn segments_and_zero_tails_are_written() {
    let folder = folder_with(&[
        ("x.npy", array("|u1", &[5, 2], 0..10)),
        ("offsets.npy", array("<i4", &[3], [0, 0, 0, 0, 2, 0, 0, 0, 5, 0, 0, 0])),
    ]);
    let at = |name: &str| folder.path().join(name);
    let done = |words: &str| {
        let arguments: Vec<&str> = words.split(' ').collect();
        done(folder.path(), &arguments)
    };
    assert_eq!(
        done("reverse-segments x.npy --offsets offsets.npy -o y.npy"),
        "y.npy: u8 [5, 2], 10 bytes reversed along axis 0, 2 segments\n"
    );
    let want = [2, 3, 0, 1, 8, 9, 6, 7, 4, 5];
    assert_eq!(npy::read(at("y.npy")).unwrap(), array("|u1", &[5, 2], want));
    done("reverse-subsequences x.npy --axis 0 --lengths 2,1 --tail zero -o z.npy");
    let want = [2, 1, 0, 0, 0, 0, 0, 0, 0, 0];
    assert_eq!(npy::read(at("z.npy")).unwrap(), array("|u1", &[5, 2], want));
    // In place, and refused without a change.
    done("reverse-segments x.npy --offsets 0,5 --in-place");
    let flipped = array("|u1", &[5, 2], [8, 9, 6, 7, 4, 5, 2, 3, 0, 1]);
    assert_eq!(npy::read(at("x.npy")).unwrap(), flipped);
    let outcome = run(command(
        folder.path(),
        &["reverse-segments", "x.npy", "--offsets", "0,3,2", "--in-place"],
    ));
    assert_eq!(outcome.code, Some(1), "{outcome:?}");
    assert!(
        outcome.stderr.contains("ReverseSegments: offsets[2] is 2, outside [3, 5]"),
        "{outcome:?}"
    );
    assert_eq!(npy::read(at("x.npy")).unwrap(), flipped);
}
