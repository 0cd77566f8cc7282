//! Masks (`--where`), tables (`--table`) and `reverse-complement`, compared with a naive result.

use super::*;
use std::fs;
use std::ops::Range;

const LETTERS: &[u8; 16] = b"ACGTURYSWKMBDHVN";
const COMPLEMENTS: &[u8; 16] = b"TGCAAYRSWMKVHDBN";

/// The complements of letters; other bytes stay.
fn complements(rna: bool) -> Vec<u8> {
    let of = |byte: u8| {
        let upper = byte.to_ascii_uppercase();
        let Some(at) = LETTERS.iter().position(|&letter| letter == upper) else { return byte };
        let entry = if rna && upper == b'A' { b'U' } else { COMPLEMENTS[at] };
        if byte == upper { entry } else { entry.to_ascii_lowercase() }
    };
    (0..=255).map(of).collect()
}

fn same() -> Vec<u8> {
    (0..=255).collect()
}

/// Every byte whose position on the axis is in one of the ranges of its index is reversed in that range
/// and looked up; the others stay.
fn naive(
    x: &[u8],
    shape: &[usize],
    axis: usize,
    table: &[u8],
    ranges: impl Fn(&[usize]) -> Vec<Range<usize>>,
) -> Vec<u8> {
    let place =
        |index: &[usize]| index.iter().zip(shape).fold(0, |sum, (at, size)| sum * size + at);
    let byte = |number: usize| {
        let (mut index, mut rest) = (vec![0; shape.len()], number);
        for (at, size) in index.iter_mut().zip(shape).rev() {
            (*at, rest) = (rest % size, rest / size);
        }
        let Some(range) = ranges(&index).into_iter().find(|range| range.contains(&index[axis]))
        else {
            return x[number];
        };
        index[axis] = range.start + range.end - 1 - index[axis];
        table[usize::from(x[place(&index)])]
    };
    (0..x.len()).map(byte).collect()
}

/// Bytes without a pattern, letters among them.
fn bytes(count: usize) -> Vec<u8> {
    let mut state = 7u32;
    let mut next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 24) as u8
    };
    (0..count)
        .map(|at| if at % 3 == 0 { LETTERS[usize::from(next()) % 16] } else { next() })
        .collect()
}

/// Runs the command on an array out of place and in place in both ways: each time with this result.
fn agrees(folder: &TempDir, x: &NpyArray, words: &[&str], expected: &[u8]) {
    for how in [&["-o", "y.npy"][..], &["--in-place"], &["--in-place=direct"]] {
        npy::write(folder.path().join("x.npy"), x).unwrap();
        let all: Vec<_> = [&words[..1], &["x.npy"], &words[1..], how].concat();
        done(folder.path(), &all);
        let result = read(folder, if how[0] == "-o" { "y.npy" } else { "x.npy" });
        assert_eq!(result.shape(), x.shape(), "{all:?}");
        let first = result.data().iter().zip(expected).position(|(got, want)| got != want);
        assert!(result.data() == expected, "{all:?}: the first that differs is {first:?}");
    }
}

/// The one range that is reversed of a lane.
fn only(range: Range<usize>) -> Vec<Range<usize>> {
    vec![range]
}

/// Calls on a tensor of this shape, without the mask, and what is reversed of each lane of entry `at`
/// of the mask.
#[expect(clippy::type_complexity)]
fn calls()
-> Vec<(&'static [&'static str], [usize; 3], usize, usize, fn(&[usize]) -> (usize, Range<usize>))> {
    vec![
        (&["reverse", "--axes=2"], [5, 3, 7], 2, 5, |at| (at[0], 0..7)),
        (&["reverse", "--axes=0", "--batch-axis=-1"], [5, 3, 7], 0, 7, |at| (at[2], 0..5)),
        (&["reverse-sequence", "--lengths=5,0,3"], [5, 3, 7], 0, 3, |at| {
            (at[1], 0..[5, 0, 3][at[1]])
        }),
        (
            &["reverse-sequence", "--lengths=1,4,7", "--time-axis=2", "--align=end"],
            [5, 3, 7],
            2,
            3,
            |at| (at[1], 7 - [1, 4, 7][at[1]]..7),
        ),
        (&["reverse-subsequences", "--axis=1", "--lengths=3,2,3,1,0,9"], [2, 4, 3], 1, 6, |at| {
            let lane = at[0] * 3 + at[2];
            (lane, 0..[3, 2, 3, 1, 0, 4][lane])
        }),
        (&["reverse-segments", "--axis=1", "--offsets=0,3,3,8,9"], [2, 11, 3], 1, 4, |at| match at
            [1]
        {
            0..3 => (0, 0..3),
            3..8 => (2, 3..8),
            8 => (3, 8..9),
            _ => (0, 0..0),
        }),
    ]
}

#[test]
fn what_a_mask_does_not_name_stays() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    for (words, shape, axis, entries, reversed) in calls() {
        let data = bytes(shape.iter().product());
        let x = array("|u1", &shape, data.iter().copied());
        for seed in 0..4 {
            // All, none, every second, and others.
            let mask: Vec<bool> =
                (0..entries).map(|at| [true, false, at % 2 == 1, at % 3 == 0][seed]).collect();
            let flags: Vec<u8> = mask.iter().map(|&flag| u8::from(flag)).collect();
            let list: Vec<_> = flags.iter().map(u8::to_string).collect();
            npy::write(at("m.npy"), &array("|b1", &[entries], flags.iter().copied())).unwrap();
            fs::write(at("m.csv"), list.join("\n")).unwrap();
            fs::write(at("m.bin"), &flags).unwrap();
            let table = [None, Some("rna")][seed % 2];
            let table_entries = if table.is_some() { complements(true) } else { same() };
            let expected = naive(&data, &shape, axis, &table_entries, |index| {
                let (entry, range) = reversed(index);
                if mask[entry] { vec![range] } else { vec![] }
            });
            // A tensor for lanes has their shape.
            let file = if words[0] == "reverse-subsequences" { "m.bin" } else { "m.npy" };
            let joined = list.join(",");
            let given = [&joined, "m.csv", "m.bin", file][seed];
            let only = format!("--where={given}");
            let lookup = table.map(|name| format!("--table={name}"));
            let more: Vec<_> = [only.as_str()].into_iter().chain(lookup.as_deref()).collect();
            agrees(&folder, &x, &[words, &more].concat(), &expected);
        }
    }
}

#[test]
fn masks_of_lanes_have_the_axis_or_not() {
    let (data, shape) = (bytes(24), [2, 4, 3]);
    let mask = [1u8, 0, 0, 1, 1, 0];
    let folder = folder_with(&[
        ("with.npy", array("|b1", &[2, 1, 3], mask)),
        ("without.npy", array("|b1", &[2, 3], mask)),
    ]);
    // Column-major.
    let header = "{'descr': '|b1', 'fortran_order': True, 'shape': (2, 3), }";
    fs::write(folder.path().join("columns.npy"), raw(header, &[1, 1, 0, 1, 0, 0])).unwrap();
    let expected = naive(&data, &shape, 1, &same(), |at| {
        if mask[at[0] * 3 + at[2]] == 1 { only(0..3) } else { vec![] }
    });
    let x = array("|u1", &shape, data);
    for given in ["with.npy", "without.npy", "columns.npy", "true,0,False,1,TRUE,0"] {
        let only = format!("--where={given}");
        let words = ["reverse-subsequences", "--axis=1", "--lengths=3,3,3,3,3,3", &only];
        agrees(&folder, &x, &words, &expected);
    }
}

#[test]
fn neighbouring_axes_are_reversed_where_a_mask_says() {
    let (data, shape) = (bytes(60), [3, 4, 5]);
    let folder = tempfile::tempdir().unwrap();
    let once = naive(&data, &shape, 1, &same(), |at| if at[0] == 1 { vec![] } else { only(0..4) });
    let twice = naive(&once, &shape, 2, &same(), |at| if at[0] == 1 { vec![] } else { only(0..5) });
    let x = array("|u1", &shape, data);
    agrees(&folder, &x, &["reverse", "--axes=1,2", "--where=1,0,1"], &twice);
}

#[test]
fn tables_are_names_and_files_of_every_kind() {
    let folder = tempfile::tempdir().unwrap();
    let entries: Vec<u8> = bytes(256);
    npy::write(folder.path().join("t.npy"), &array("|u1", &[256], entries.iter().copied()))
        .unwrap();
    for name in ["t.bin", "t", "t.tab"] {
        fs::write(folder.path().join(name), &entries).unwrap();
    }
    let (data, shape) = (bytes(70), [7, 10]);
    for (name, table) in [
        ("dna", complements(false)),
        ("rna", complements(true)),
        ("t.npy", entries.clone()),
        ("t.bin", entries.clone()),
        ("t", entries.clone()),
        ("t.tab", entries.clone()),
    ] {
        let lookup = format!("--table={name}");
        for descr in ["|u1", "|i1", "|S1"] {
            let x = array(descr, &shape, data.iter().copied());
            let expected = naive(&data, &shape, 1, &table, |_| only(0..10));
            agrees(&folder, &x, &["reverse", "--axes=1", &lookup], &expected);
            // No axis: everything is looked up and keeps its place.
            let expected: Vec<u8> = data.iter().map(|&byte| table[usize::from(byte)]).collect();
            agrees(&folder, &x, &["reverse", "--axes=", &lookup], &expected);
            agrees(&folder, &x, &["orient", "--exif=1", &lookup], &expected);
        }
        // Rows become columns.
        npy::write(folder.path().join("x.npy"), &array("|u1", &shape, data.iter().copied()))
            .unwrap();
        done(folder.path(), &["rot90", "x.npy", &lookup, "-o", "y.npy"]);
        let turned: Vec<u8> =
            (0..70).map(|at| table[usize::from(data[at % 7 * 10 + 9 - at / 7])]).collect();
        let y = read(&folder, "y.npy");
        assert_eq!((y.shape(), y.data()), (&[10, 7][..], &turned[..]), "{name}");
    }
}

#[test]
fn tables_of_packed_elements() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    for (bits, dtypes) in [(4, ["u4", "i4"]), (2, ["u2", "i2"])] {
        let (count, all) = (37, 1usize << bits);
        let elements: Vec<u8> = bytes(count).iter().map(|byte| byte % all as u8).collect();
        let entries: Vec<u8> = (0..all).map(|entry| ((5 * entry + 3) % all) as u8).collect();
        let packed = |elements: &[u8]| {
            let per = 8 / bits;
            let byte = |group: &[u8]| {
                group.iter().enumerate().fold(0, |sum, (at, one)| sum | one << (at * bits))
            };
            elements.chunks(per).map(byte).collect::<Vec<u8>>()
        };
        fs::write(at("t.bin"), &entries).unwrap();
        let expected = naive(&elements, &[count], 0, &entries, |at| match at[0] {
            0..9 => only(0..9),
            20..33 => only(20..33),
            _ => vec![],
        });
        let (dtype, shape) = ("--dtype", format!("--shape={count}"));
        for name in dtypes {
            for how in [&["-o", "y.bin"][..], &["--in-place=direct"]] {
                fs::write(at("x.bin"), packed(&elements)).unwrap();
                let words =
                    ["reverse-segments", "x.bin", dtype, name, &shape, "--offsets=0,9,20,33"];
                let all = [&words[..], &["--where=1,0,1", "--table=t.bin"], how].concat();
                done(folder.path(), &all);
                let result = fs::read(at(if how[0] == "-o" { "y.bin" } else { "x.bin" })).unwrap();
                assert_eq!(result, packed(&expected), "{all:?}");
            }
        }
    }
}

#[test]
fn reverse_complement_is_a_reversal_with_a_table() {
    let folder = tempfile::tempdir().unwrap();
    let (data, shape) = (bytes(44), [4, 11]);
    type Ranges = fn(&[usize]) -> Vec<Range<usize>>;
    let cases: &[(&[&str], usize, Ranges)] = &[
        (&[], 1, |_| only(0..11)),
        (&["--axis=0"], 0, |_| only(0..4)),
        (&["--lengths=11,0,3,7"], 1, |at| only(0..[11, 0, 3, 7][at[0]])),
        (&["--where=0,1,1,0"], 1, |at| if at[0] % 3 == 0 { vec![] } else { only(0..11) }),
        (&["--lengths=99,5,3,7", "--where=0,1,true,0"], 1, |at| only(0..[0, 5, 3, 0][at[0]])),
        (&["--offsets=0,4,9"], 1, |_| vec![0..4, 4..9]),
        (&["--offsets=0,4,9", "--where=0,1"], 1, |_| only(4..9)),
        (&["--offsets=0,1,4", "--axis=-2", "--where=1,0"], 0, |_| only(0..1)),
    ];
    for (words, axis, ranges) in cases {
        for (rna, descr) in [(false, "|S1"), (true, "|u1")] {
            let expected = naive(&data, &shape, *axis, &complements(rna), ranges);
            let x = array(descr, &shape, data.iter().copied());
            let more = if rna { &["--rna"][..] } else { &[] };
            agrees(&folder, &x, &[&["reverse-complement"], *words, more].concat(), &expected);
        }
    }
}

#[test]
fn strict_looks_only_at_what_is_complemented() {
    let letters = *b"ACGT-acgu..NnNn-";
    let folder = folder_with(&[("x.npy", array("|S1", &[2, 8], letters))]);
    // The same letters, column by column.
    let header = "{'descr': '|S1', 'fortran_order': True, 'shape': (2, 8), }";
    let columns: Vec<u8> = (0..16).map(|at| letters[at % 2 * 8 + at / 2]).collect();
    fs::write(folder.path().join("columns.npy"), raw(header, &columns)).unwrap();
    let cases: &[(&[&str], Option<&str>)] = &[
        (&[], Some("x[0, 4] is '-' (45)")),
        (&["--axis=0"], Some("x[0, 4] is '-' (45)")),
        (&["--lengths=4,1"], None),
        (&["--lengths=4,2"], Some("x[1, 1] is '.' (46)")),
        (&["--lengths=9,1", "--where=0,1"], None),
        (&["--where=0,1"], Some("x[1, 1] is '.' (46)")),
        (&["--offsets=0,4,5,8", "--where=0,0,0"], None),
        (&["--offsets=0,1,5,7", "--where=1,0,1"], None),
        (&["--offsets=0,1,5,8", "--where=1,0,1"], Some("x[1, 7] is '-' (45)")),
        (&["--offsets=0,1", "--axis=0"], Some("x[0, 4] is '-' (45)")),
    ];
    for file in ["x.npy", "columns.npy"] {
        for (words, stray) in cases {
            let _ = fs::remove_file(folder.path().join("y.npy"));
            let all = [&["reverse-complement", file, "--strict", "-o", "y.npy"], *words].concat();
            let Outcome { code, stderr, .. } = run(command(folder.path(), &all));
            let written = folder.path().join("y.npy").exists();
            match stray {
                None => assert!(code == Some(0) && written, "{all:?}: {stderr}"),
                Some(stray) => {
                    let said = format!(
                        "error: reverse-complement: {stray}, expected one of ACGTURYSWKMBDHVN, in either \
                         case (without --strict it keeps its value)\n"
                    );
                    assert_eq!((code, stderr, written), (Some(1), said, false), "{all:?}");
                }
            }
        }
    }
}

/// Files of several pieces of 16 MiB: masks and tables hold in all of them.
#[test]
fn large_files_are_done_in_pieces() {
    let folder = tempfile::tempdir().unwrap();
    // Odd, so that a byte in the middle keeps its place.
    let (rows, columns) = (3, 7_000_011);
    let data = bytes(rows * columns);
    let x = array("|u1", &[rows, columns], data.iter().copied());
    let table = complements(false);
    let reversed =
        |row: &[u8]| row.iter().rev().map(|&byte| table[usize::from(byte)]).collect::<Vec<u8>>();
    let lengths = [0, 6_000_000, columns];
    let padded: Vec<u8> = (0..rows)
        .flat_map(|row| {
            let (row, length) = (&data[row * columns..][..columns], lengths[row]);
            [&reversed(&row[..length])[..], &row[length..]].concat()
        })
        .collect();
    let words = ["reverse-complement", "--lengths=7000011,6000000,7000011", "--where=0,1,1"];
    agrees(&folder, &x, &words, &padded);

    let rotated: Vec<u8> =
        data.chunks(columns).rev().flatten().map(|&b| table[usize::from(b)]).collect();
    agrees(&folder, &x, &["reverse", "--axes=0", "--table=dna"], &rotated);

    let x = array("|u1", &[data.len()], data.iter().copied());
    let offsets = [0, 5, 9_000_000, 9_000_000, 9_000_777, 21_000_000];
    let mask = [true, false, true, true, true];
    let packed: Vec<u8> = (0..5)
        .flat_map(|at| {
            let segment = &data[offsets[at]..offsets[at + 1]];
            if mask[at] { reversed(segment) } else { segment.to_vec() }
        })
        .chain(data[offsets[5]..].iter().copied())
        .collect();
    let list = format!("--offsets={}", offsets.map(|offset| offset.to_string()).join(","));
    let words = ["reverse-segments", &list, "--where=1,0,1,1,1", "--table=dna"];
    agrees(&folder, &x, &words, &packed);
    agrees(&folder, &x, &["reverse", "--table=dna"], &reversed(&data));
}

/// Calls, and what they say.
const REFUSED: &str = r#"
# Masks.
reverse x.npy --axes=1 --where=1,0,1 => Reverse: where has shape [3], expected [2], one for each
    batch entry
reverse x.npy --axes=1 --where=square.npy => Reverse: where has shape [2, 2], expected [2], one for
    each batch entry
reverse x.npy --where=1,0 => Reverse: batch_axis is 0, which is reversed itself, expected another
    axis
reverse x.npy --axes=1 --where=1,0 --batch-axis=2 => Reverse: batch_axis is 2, outside [-2, 1] for a
    tensor of rank 2
reverse cube.npy --axes=0,2 --where=1,0,1 --batch-axis=1 => Reverse: with where, the axes that are
    reversed must be neighbours in memory, on both sides: reverse one axis after the other
reverse-sequence x.npy --lengths=1,2,2 --where=1,0 => ReverseSequence: where has shape [2], expected
    [3], one for each sequence
reverse-sequence x.npy --lengths=1,2,2 --where=1,0,1 --tail=zero => ReverseSequence: where keeps
    what it does not reverse, tail=zero does not: use one of them
reverse-sequence x.npy --lengths=1,3,2 --where=0,1,1 => ReverseSequence: lengths[1] is 3, outside
    [0, 2] (--policy clamp would make it 2)
reverse-subsequences cube.npy --axis=1 --lengths=1,2,3,1 --where=two.npy => ReverseSubsequences:
    where has shape [2], expected [2, 1, 2] or [2, 2]
reverse-subsequences cube.npy --axis=1 --lengths=1,2,3,1 --where=1,0 => ReverseSubsequences: where
    has shape [2], expected [2, 1, 2], one for each lane
reverse-segments x.npy --offsets=0,1,2 --where=1 => ReverseSegments: where has shape [1], expected
    [2], one for each segment
reverse-segments x.npy --offsets=0,1,9 --where=1,0 => ReverseSegments: offsets[2] is 9, outside [1,
    2]
reverse x.npy --axes=1 --where=1,2 => --where 1,2: neither a list of booleans such as 1,0,1 nor a
    file
reverse x.npy --axes=1 --where=two.csv => --where two.csv: number 1 is 2, expected 0 or 1
reverse x.npy --axes=1 --where=numbers.npy => --where numbers.npy: its elements are i64, expected
    bool: save x != 0
# Tables.
reverse x.npy --table=protein => --table protein: neither dna, rna nor a file
reverse x.npy --table=short.npy => --table short.npy: a table has 3 entries, expected 256 (bytes),
    16 (4-bit elements) or 4 (2-bit elements)
reverse x.npy --table=t.bin => --table t.bin: a table has 255 entries, expected 256 (bytes), 16
    (4-bit elements) or 4 (2-bit elements)
reverse x.npy --table=grid.npy => --table grid.npy: has shape [16, 16], expected [256], [16] or [4]
reverse x.npy --table=wide.npy => --table wide.npy: its elements are i16, expected u8: save
    x.astype(np.uint8)
reverse x.npy --table=beyond.npy => --table beyond.npy: table[15] is 16, outside [0, 15]
reverse x.npy --table=nibbles.npy => Reverse: a table of 16 entries is for elements of 4 bits (u4,
    i4), got u8: view them as such
reverse-segments floats.npy --offsets=0,1 --table=dna => ReverseSegments: a table of 256 entries is
    for elements of one byte (u8, i8), got f32: view them as such (raw bytes: --dtype u8)
# Complements.
reverse-complement floats.npy => reverse-complement: the input has type f32, expected letters of one
    byte (u8, i8, S1): save wider strings as S1 with one more axis
reverse-complement words.npy => reverse-complement: the input has type bytes4, expected letters of
    one byte (u8, i8, S1): save wider strings as S1 with one more axis
reverse-complement scalar.npy => reverse-complement: axis is -1, but a scalar (rank 0) has no axes
reverse-complement x.npy --axis=2 => reverse-complement: axis is 2, outside [-2, 1] for a tensor of
    rank 2
reverse-complement x.npy --lengths=1,4 => ReverseSubsequences: lengths[1, 0] is 4, outside [0, 3]
reverse-complement x.npy --where=1,0,1 => ReverseSubsequences: where has shape [3], expected [2, 1],
    one for each lane
reverse-complement x.npy --offsets=0,4 => ReverseSegments: offsets[1] is 4, outside [0, 3]
# Stores have neither.
reverse x.zarr --axes=1 --where=1,0 => x.zarr: --where is not for Zarr stores, HDF5 files or URLs:
    omit it, or give a file such as .npy
reverse-complement x.zarr => x.zarr: reverse-complement does not take Zarr stores, HDF5 files or
    URLs; these do: reverse, reverse-sequence, info
"#;

#[test]
fn refused_masks_and_tables_are_one_line_and_write_nothing() {
    let folder = folder_with(&[
        ("x.npy", array("|u1", &[2, 3], 0..6)),
        ("cube.npy", array("|u1", &[2, 3, 2], 0..12)),
        ("scalar.npy", array("|u1", &[], [1])),
        ("floats.npy", array("<f4", &[2, 3], vec![0; 24])),
        ("words.npy", array("|S4", &[2], *b"ACGTacgt")),
        ("two.npy", array("|b1", &[2], [1, 0])),
        ("square.npy", array("|b1", &[2, 2], [1, 0, 1, 0])),
        ("numbers.npy", array("<i8", &[2], vec![0; 16])),
        ("short.npy", array("|u1", &[3], 0..3)),
        ("grid.npy", array("|u1", &[16, 16], 0..=255)),
        ("wide.npy", array("<i2", &[256], vec![0; 512])),
        ("nibbles.npy", array("|u1", &[16], 0..16)),
        ("beyond.npy", array("|u1", &[16], 1..17)),
    ]);
    fs::write(folder.path().join("two.csv"), "1\n2\n").unwrap();
    fs::write(folder.path().join("t.bin"), [0; 255]).unwrap();
    let content = || {
        let files = names(folder.path()).into_iter();
        files.map(|name| (fs::read(folder.path().join(&name)).unwrap(), name)).collect::<Vec<_>>()
    };
    let before = content();
    for (words, message) in cases(REFUSED) {
        for how in [&["-o", "out.npy"][..], &["--in-place"], &["--in-place=direct"]] {
            let all = [&words[..], how].concat();
            let stderr = format!("error: {message}\n");
            let expected = Outcome { code: Some(1), stdout: String::new(), stderr };
            assert_eq!(run(command(folder.path(), &all)), expected, "{all:?}");
            assert_eq!(content(), before, "{all:?}");
        }
    }
}

#[test]
fn options_that_do_not_go_together_are_invalid_usage() {
    for (words, said) in [
        (&["reverse", "x.npy", "--batch-axis=1"][..], "required arguments were not provided"),
        (&["reverse-complement", "x.npy", "--lengths=1", "--offsets=0,1"], "cannot be used with"),
        (&["orient", "x.npy", "--exif=1", "--where=1"], "unexpected argument '--where'"),
        (&["reverse-complement", "x.npy", "--table=dna"], "unexpected argument '--table'"),
    ] {
        let Outcome { code, stderr, .. } = run(command(&repository(), words));
        assert!(code == Some(2) && stderr.contains(said), "{words:?}: {stderr}");
    }
}

#[test]
fn no_output_replaces_a_mask_or_a_table() {
    let folder = folder_with(&[
        ("x.npy", array("|u1", &[2, 3], 0..6)),
        ("m.npy", array("|b1", &[2], [1, 0])),
        ("t.npy", array("|u1", &[256], 0..=255)),
    ]);
    for (words, file) in [
        (&["reverse", "x.npy", "--axes=1", "--where=m.npy"][..], "m.npy"),
        (&["reverse", "x.npy", "--table=t.npy"], "t.npy"),
        (&["reverse-complement", "x.npy", "--where=m.npy"], "m.npy"),
    ] {
        let before = fs::read(folder.path().join(file)).unwrap();
        let outcome = run(command(folder.path(), &[words, &["-o", file]].concat()));
        assert_eq!(outcome.code, Some(1), "{outcome:?}");
        assert!(outcome.stderr.ends_with(": choose another file\n"), "{outcome:?}");
        assert_eq!(fs::read(folder.path().join(file)).unwrap(), before);
    }
}

#[test]
fn pictures_and_reports_say_what_stays_and_what_changes() {
    let folder = folder_with(&[
        ("reads.npy", array("|S1", &[11], *b"AACGTTTGCCA")),
        ("batch.npy", array("|S1", &[2, 4], *b"ACGT.AA-")),
        ("image.npy", array("|u1", &[2, 2, 2], 0..8)),
    ]);
    let picture = |words: &[&str]| shown_in(folder.path(), words);
    let reads = ["reverse-complement", "reads.npy", "--offsets=0,4,7,10", "--where=1,0,1"];
    assert_eq!(
        picture(&reads),
        "\
ReverseSegments  reads.npy  S1 [11]  axis 0, 3 segments, where 2 of 3, table dna

  before                    after
  A A C G T T T G C C A  →  C G T T T T T G G C A
"
    );
    assert_eq!(
        picture(&[
            "reverse-subsequences",
            "batch.npy",
            "--axis=1",
            "--lengths=3,4",
            "--where=0,1",
            "--table=dna"
        ]),
        "\
ReverseSubsequences  batch.npy  S1 [2, 4]  axis 1, where 1 of 2, table dna

  len  before      after
    0  A C G T  →  A C G T
    4  . A A -     - T T .
"
    );
    assert_eq!(
        picture(&["reverse", "image.npy", "--axes=1,2", "--where=0,1"]),
        "\
Reverse  image.npy  u8 [2, 2, 2]  axes 1, 2, where 1 of 2

  before     after

  [0, :, :]
  0 1     →  0 1
  2 3        2 3

  [1, :, :]
  4 5     →  7 6
  6 7        5 4
"
    );
    let said = done(folder.path(), &[&reads[..], &["-o", "y.npy"]].concat());
    assert_eq!(
        said,
        "y.npy: S1 [11], 11 bytes reversed along axis 0, 3 segments, where 2 of 3, table dna\n"
    );
    let explained = picture(&[&["explain"], &reads[..]].concat());
    assert!(explained.contains("only marked segments are reversed"), "{explained}");
    let record = picture(&[&["explain", "--json"], &reads[..]].concat());
    assert!(record.contains("\"table\": \"dna\""), "{record}");
}

#[test]
fn help_pages_and_completions_list_them() {
    for name in ["reverse", "reverse-sequence", "reverse-subsequences", "reverse-segments"] {
        let help = shown(&[name, "--help"]);
        assert!(help.contains("--where <MASK>") && help.contains("--table <TABLE>"), "{help}");
    }
    let help = shown(&["reverse-complement", "--help"]);
    for option in ["--axis", "--lengths", "--offsets", "--where", "--rna", "--strict"] {
        assert!(help.contains(option), "{help}");
    }
    assert!(!help.contains("--no-sync"));
    let completions = shown(&["completions", "bash"]);
    for word in ["reverse-complement", "--where", "--table", "--batch-axis"] {
        assert!(completions.contains(word), "{word}");
    }
    let folder = tempfile::tempdir().unwrap();
    done(folder.path(), &["man", "--dir", "."]);
    let page = fs::read_to_string(folder.path().join("retrograde-reverse-complement.1")).unwrap();
    assert!(page.contains("\\-\\-strict"), "{page}");
}
