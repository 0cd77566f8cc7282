//! `rot90` and `orient`: the same elements and shapes as `numpy.rot90` and the definition of EXIF.

use super::*;
use std::fs;

/// Runs `rot90 x.npy -o y.npy` with these options; returns the array.
fn rotated(folder: &Path, options: &[&str]) -> NpyArray {
    let mut all = vec!["rot90", "x.npy", "-o", "y.npy"];
    all.extend(options);
    let outcome = run(command(folder, &all));
    assert_eq!((outcome.code, outcome.stdout.as_str()), (Some(0), ""), "{options:?} {outcome:?}");
    npy::read(folder.join("y.npy")).unwrap()
}

/// `numpy.rot90` of the numbers 0, 1, 2... in this shape, element by element.
fn expected(shape: &[usize], k: i64, (first, second): (usize, usize)) -> (Vec<usize>, Vec<u8>) {
    let mut turned = shape.to_vec();
    if k.rem_euclid(2) == 1 {
        turned.swap(first, second);
    }
    let mut elements = Vec::new();
    for number in 0..turned.iter().product() {
        let (mut index, mut rest) = (vec![0; shape.len()], number);
        for (at, size) in index.iter_mut().zip(&turned).rev() {
            (*at, rest) = (rest % size, rest / size);
        }
        let (a, b) = (index[first], index[second]);
        (index[first], index[second]) = match k.rem_euclid(4) {
            0 => (a, b),
            1 => (b, shape[second] - 1 - a),
            2 => (shape[first] - 1 - a, shape[second] - 1 - b),
            _ => (shape[first] - 1 - b, a),
        };
        let at = index.iter().zip(shape).fold(0, |sum, (at, size)| sum * size + at);
        elements.push(at as u8);
    }
    (turned, elements)
}

#[test]
fn every_turn_in_every_plane() {
    // From the documentation of NumPy: rot90([[1, 2], [3, 4]]) is [[2, 4], [1, 3]].
    assert_eq!(expected(&[2, 2], 1, (0, 1)), (vec![2, 2], vec![1, 3, 0, 2]));
    let shape = [2, 3, 4];
    let folder = folder_with(&[("x.npy", array("|u1", &shape, 0..24))]);
    for k in -5..6 {
        for (first, second) in [(0, 1), (1, 0), (0, 2), (2, 0), (1, 2), (2, 1)] {
            let (turns, plane) = (k.to_string(), format!("{first},{}", second - 3));
            let out = rotated(folder.path(), &["-k", &turns, "--axes", &plane]);
            let axes = (first as usize, second as usize);
            let want = expected(&shape, k, axes);
            assert_eq!((out.shape().to_vec(), out.data().to_vec()), want, "k {k}, axes {axes:?}");
        }
    }
    let usual = rotated(folder.path(), &[]);
    let (shape, data) = expected(&[2, 3, 4], 1, (0, 1));
    assert_eq!((usual.shape(), usual.data()), (&shape[..], &data[..]));
}

#[test]
fn files_of_every_kind_and_order() {
    let folder = folder_with(&[("text.npy", array("<U1", &[1, 3], *b"a\0\0\0b\0\0\0c\0\0\0"))]);
    let header = "{'descr': '>u2', 'fortran_order': True, 'shape': (2, 3), }";
    let columns = [1, 4, 2, 5, 3, 6].map(|number: u8| [0, number]);
    fs::write(folder.path().join("x.npy"), raw(header, columns.as_flattened())).unwrap();
    // [[1, 2, 3], [4, 5, 6]], column-major and big-endian.
    let out = rotated(folder.path(), &[]);
    assert_eq!((out.shape(), out.data()), (&[3, 2][..], &[0, 3, 0, 6, 0, 2, 0, 5, 0, 1, 0, 4][..]));
    // Through every format, strings included, and back.
    let steps: &[&[&str]] = &[
        &["rot90", "x.npy", "-o", "x.npz"],
        &["rot90", "x.npz", "-o", "x.safetensors"],
        &["rot90", "x.safetensors", "-o", "x.pb"],
        &["rot90", "x.pb", "-o", "x.raw"],
        &["rot90", "text.npy", "-o", "text.pb"],
        &["rot90", "text.pb", "-o", "text2.npy", "-k", "-1"],
        &["rot90", "text.pb", "-o", "text.pb", "-k2"],
        &["rot90", "text.pb", "-o", "text3.npy"],
    ];
    for step in steps {
        done(folder.path(), step);
    }
    let raw = fs::read(folder.path().join("x.raw")).unwrap();
    assert_eq!(raw, [1, 0, 2, 0, 3, 0, 4, 0, 5, 0, 6, 0]);
    let text = |name| read(&folder, name);
    assert_eq!(text("text2.npy"), text("text.npy"));
    // One, two and one quarter turns are a whole one.
    assert_eq!(text("text3.npy"), text("text.npy"));
}

#[test]
fn packed_elements_and_large_files() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("x.raw"), [0x21, 0x43, 0x65]).unwrap();
    let all = ["rot90", "x.raw", "--dtype", "u4", "--shape", "2,3", "-o", "y.raw"];
    done(folder.path(), &all);
    // [[1, 2, 3], [4, 5, 6]] becomes [[3, 6], [2, 5], [1, 4]].
    assert_eq!(fs::read(folder.path().join("y.raw")).unwrap(), [0x63, 0x52, 0x41]);
    let numbers: Vec<u8> = (0..5_000_000u32).flat_map(u32::to_le_bytes).collect();
    fs::write(folder.path().join("x.raw"), &numbers).unwrap();
    let all = ["rot90", "x.raw", "--dtype", "u32", "--shape", "2500,2000", "-o", "y.raw", "-k3"];
    let outcome = run(command(folder.path(), &all));
    assert_eq!(outcome.stderr, "y.raw: u32 [2000, 2500], 19 MiB oriented as 6 (rot270)\n");
    let out = fs::read(folder.path().join("y.raw")).unwrap();
    let element = |row: usize, column: usize| {
        let at = 4 * (row * 2500 + column);
        u32::from_le_bytes(out[at..at + 4].try_into().unwrap())
    };
    for (row, column) in [(0, 0), (0, 2499), (1999, 0), (1999, 2499), (77, 1234)] {
        assert_eq!(element(row, column) as usize, (2499 - column) * 2000 + row);
    }
}

#[test]
fn errors() {
    let folder = folder_with(&[
        ("x.npy", array("|u1", &[2, 3], 0..6)),
        ("vector.npy", array("|u1", &[4], 0..4)),
    ]);
    let cases: &[(&[&str], i32, &str)] = &[
        (
            &["x.npy", "--axes", "0,2"],
            1,
            "Orient: axes[1] is 2, outside [-2, 1] for a tensor of rank 2",
        ),
        (
            &["x.npy", "--axes", "-3,1"],
            1,
            "Orient: axes[0] is -3, outside [-2, 1] for a tensor of rank 2",
        ),
        (&["x.npy", "--axes=1,-1"], 1, "Orient: axes[1] and axes[0] are both axis 1"),
        (&["vector.npy"], 1, "Orient: axes[1] is 1, outside [-1, 0] for a tensor of rank 1"),
        (&["none.npy"], 1, "cannot read none.npy: No such file or directory"),
        (&["x.npy", "-k", "1.5"], 2, "invalid value '1.5' for '-k <N>'"),
        (
            &["x.npy", "--axes", "0"],
            2,
            "invalid value '0' for '--axes <A,B>': expected two axes such as 0,1 or -2,-1",
        ),
        (&["x.npy", "--axes", "0,1,2"], 2, "expected two axes such as 0,1"),
        (&["x.npy", "--threads", "9999999"], 1, "--threads 9999999: expected 1 to "),
    ];
    for (options, code, text) in cases {
        let mut all = vec!["rot90", "-o", "y.npy"];
        all.extend(*options);
        let outcome = run(command(folder.path(), &all));
        assert_eq!(outcome.code, Some(*code), "{options:?} {outcome:?}");
        assert!(outcome.stderr.contains(text), "{options:?} {outcome:?}");
        assert_eq!(names(folder.path()), ["vector.npy", "x.npy"]);
    }
    for (orientation, text) in [
        ("9", "orientation is 9, expected 1 to 8 or one of identity, fliplr"),
        ("Rot90", "orientation is \"Rot90\", expected 1 to 8"),
    ] {
        let all = ["orient", "x.npy", "-o", "y.npy", "--orientation", orientation];
        let outcome = run(command(folder.path(), &all));
        assert_eq!(outcome.code, Some(2), "{outcome:?}");
        assert!(outcome.stderr.contains(text), "{outcome:?}");
    }
    let outcome = run(command(folder.path(), &["orient", "x.npy", "-o", "y.npy"]));
    assert_eq!(outcome.code, Some(2), "{outcome:?}");
    let outcome = run(command(folder.path(), &["rot90", "x.npy", "--in-place=direct"]));
    assert!(outcome.stderr.contains("which does not run in place"), "{outcome:?}");
    assert_eq!(read(&folder, "x.npy").data(), [0, 1, 2, 3, 4, 5]);
}

#[test]
fn a_file_replaces_itself() {
    let folder = folder_with(&[("x.npy", array("|u1", &[2, 3], 0..6))]);
    let outcome = run(command(folder.path(), &["rot90", "x.npy", "-o", "x.npy"]));
    assert_eq!(outcome.stderr, "x.npy: u8 [3, 2], 6 bytes oriented as 8 (rot90)\n");
    let out = read(&folder, "x.npy");
    assert_eq!((out.shape(), out.data()), (&[3, 2][..], &[2, 5, 1, 4, 0, 3][..]));
    assert_eq!(names(folder.path()), ["x.npy"]);
}

#[test]
fn every_orientation_by_number_and_name() {
    let folder = folder_with(&[("x.npy", array("|u1", &[2, 3], 0..6))]);
    let wanted: [(&str, &[u8]); 8] = [
        ("identity", &[0, 1, 2, 3, 4, 5]),
        ("mirror", &[2, 1, 0, 5, 4, 3]),
        ("rot180", &[5, 4, 3, 2, 1, 0]),
        ("flipud", &[3, 4, 5, 0, 1, 2]),
        ("transpose", &[0, 3, 1, 4, 2, 5]),
        ("rot270", &[3, 0, 4, 1, 5, 2]),
        ("transverse", &[5, 2, 4, 1, 3, 0]),
        ("rot90", &[2, 5, 1, 4, 0, 3]),
    ];
    for ((name, elements), number) in wanted.into_iter().zip(1..) {
        let shape = if number < 5 { [2, 3] } else { [3, 2] };
        for (option, value) in [("--exif", &number.to_string()[..]), ("--orientation", name)] {
            done(folder.path(), &["orient", "x.npy", "-o", "y.npy", option, value]);
            let out = read(&folder, "y.npy");
            assert_eq!((out.shape(), out.data()), (&shape[..], elements), "{option} {value}");
        }
    }
    // Without an output, a picture of both shapes.
    let outcome = run(command(folder.path(), &["orient", "x.npy", "--exif", "6"]));
    let picture = "Orient  x.npy  u8 [2, 3]  orientation 6 (rot270)\n\n  \
                   before     after\n  0 1 2      3 0\n  3 4 5   →  4 1\n             5 2\n";
    assert_eq!(outcome.stdout, picture);
    done(folder.path(), &["orient", "x.npy", "--in-place=direct", "--exif", "3"]);
    assert_eq!(read(&folder, "x.npy").data(), [5, 4, 3, 2, 1, 0]);
    done(folder.path(), &["orient", "x.npy", "--in-place", "--exif", "5"]);
    assert_eq!(read(&folder, "x.npy").data(), [5, 2, 4, 1, 3, 0]);
}
