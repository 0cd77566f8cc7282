//! `--device cuda`: errors without a device; with one, files that equal the CPU's byte for byte
//! (`cargo test -p retrograde-cli -- --ignored cuda`).

use super::*;
use std::fs;

/// Runs the command on a machine without a device, or with all of them hidden.
fn without_device(folder: &Path, arguments: &[&str]) -> Outcome {
    let mut command = command(folder, arguments);
    command.env("CUDA_VISIBLE_DEVICES", "");
    run(command)
}

#[test]
fn without_a_device_one_line_says_so_and_nothing_is_written() {
    let folder = folder_with(&[("x.npy", array("|u1", &[2, 3], 0..6))]);
    let operators: [&[&str]; 3] = [
        &["reverse"],
        &["reverse-sequence", "--lengths=1,2,1"],
        &["reverse-subsequences", "--axis=1", "--lengths=1,2"],
    ];
    for operator in operators {
        for device in ["cuda", "cuda:1"] {
            for output in ["--output=out.npy", "--in-place"] {
                let mut arguments = operator.to_vec();
                arguments.extend(["x.npy", output, "--device", device]);
                let Outcome { code, stdout, stderr } = without_device(folder.path(), &arguments);
                assert_eq!((code, stdout.as_str()), (Some(1), ""), "{arguments:?}");
                assert!(stderr.starts_with("error: no CUDA device: "), "{stderr}");
                assert_eq!(stderr.lines().count(), 1, "{stderr}");
                assert_eq!(names(folder.path()), ["x.npy"]);
            }
        }
    }
    assert_eq!(read(&folder, "x.npy"), array("|u1", &[2, 3], 0..6));
}

#[test]
fn what_a_device_does_not_do_is_refused_without_looking_for_one() {
    let folder = folder_with(&[("x.npy", array("|u1", &[2, 3], 0..6))]);
    // A TensorProto of the strings "a" and "bc": dims, data_type, string_data.
    fs::write(folder.path().join("text.pb"), b"\x08\x02\x10\x08\x32\x01a\x32\x02bc").unwrap();
    let strings = "Reverse: strings do not run on --device cuda: omit --device to use the CPU";
    let cases: &[(&[&str], &str)] = &[
        (&["reverse", "text.pb", "--device=cuda", "-o", "out.pb"], strings),
        (&["explain", "reverse", "text.pb", "--device=cuda"], strings),
        (
            &["reverse", "x.npy", "--device=cuda"],
            "--device cuda needs an output: -o OUT or --in-place (pictures are drawn on the CPU)",
        ),
        (
            &["reverse", "x.npy", "--device=cuda", "--in-place=direct"],
            "--in-place=direct runs on the CPU only: omit --device, or use --in-place=copy",
        ),
        // The arguments are checked first: they are invalid on any machine.
        (
            &["reverse-sequence", "x.npy", "--lengths=1,3,1", "--device=cuda", "-o", "out.npy"],
            "ReverseSequence: lengths[1] is 3, outside [0, 2] (--policy clamp would make it 2)",
        ),
    ];
    for (arguments, expected) in cases {
        let Outcome { code, stdout, stderr } = without_device(folder.path(), arguments);
        let expected = format!("error: {expected}\n");
        assert_eq!((code, stdout.as_str(), stderr), (Some(1), "", expected), "{arguments:?}");
        assert_eq!(names(folder.path()), ["text.pb", "x.npy"]);
    }
    for arguments in [
        &["reverse", "x.npy", "--device=tpu", "-o", "out.npy"][..],
        &["show", "reverse", "x.npy", "--device=cuda"],
    ] {
        let Outcome { code, stderr, .. } = without_device(folder.path(), arguments);
        assert_eq!(code, Some(2), "{stderr}");
        assert!(stderr.contains("--device"), "{stderr}");
    }
    // The default device, named explicitly.
    let outcome = without_device(folder.path(), &["reverse", "x.npy", "--device=cpu", "-oout.npy"]);
    assert_eq!(outcome.code, Some(0));
    assert_eq!(names(folder.path()), ["out.npy", "text.pb", "x.npy"]);
}

#[test]
fn explain_knows_the_kernel_without_a_device() {
    let arguments = ["explain", "--device=cuda", "reverse", "examples/image.npy", "--axes=1"];
    let Outcome { code, stdout, stderr } = without_device(&repository(), &arguments);
    assert_eq!((code, stderr.as_str()), (Some(0), ""));
    let lines: Vec<_> = stdout.lines().collect();
    assert_eq!(lines[2], "plan    reverse whole axes: 48 units of 3 B each");
    assert!(lines[5].starts_with("device  no CUDA device: "), "{stdout}");
    assert!(lines[5].ends_with("; the following is for an H200"), "{stdout}");
    assert!(lines[6].starts_with("kernel  dense flips: "), "{stdout}");
    let moves =
        "moves   144 bytes to the device, 144 bytes back, in one piece; 288 bytes of its memory";
    assert_eq!(lines[7], moves);
    let bound = "bound   unknown without a device: the tensor crosses the bus twice; the CPU's is ";
    assert!(lines[8].starts_with(bound), "{stdout}");

    // What is looked up takes another kernel.
    let arguments = ["explain", "--device=cuda", "reverse", "examples/image.npy", "--table=dna"];
    let Outcome { code, stdout, stderr } = without_device(&repository(), &arguments);
    assert_eq!((code, stderr.as_str()), (Some(0), ""));
    assert!(stdout.contains("\nkernel  short rows, looked up: "), "{stdout}");

    // Fields that depend on the device are null; pieces are planned as with one.
    let folder = folder_with(&[("x.npy", array("<f4", &[64, 64], vec![0; 1 << 14]))]);
    let arguments = ["explain", "--device=cuda:3", "--json", "reverse", "x.npy", "--axes=1"];
    let mut command = command(folder.path(), &arguments);
    command.env("CUDA_VISIBLE_DEVICES", "").env("RETROGRADE_CUDA_PIECE", "4096");
    let record: serde_json::Value = serde_json::from_str(&run(command).stdout).unwrap();
    let cuda = &record["cuda"];
    assert_eq!((&cuda["device"], &cuda["kernel"]), (&3.into(), &"aligned rows".into()));
    assert_eq!((&cuda["pieces"], &cuda["overlapped"]), (&4.into(), &true.into()));
    assert_eq!(cuda["device_bytes"], 3 * 2 * 4096);
    for unknown in ["name", "least_seconds", "bytes_per_second_there"] {
        assert!(cuda[unknown].is_null(), "{record}");
    }
    assert!(cuda["missing"].as_str().unwrap().starts_with("no CUDA device: "));
}

/// Bytes that differ from their neighbours.
fn noise(len: usize) -> impl Iterator<Item = u8> {
    (0..len as u64).map(|at| (at.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 56) as u8)
}

/// Runs the command with pieces of this size.
fn written(folder: &Path, arguments: &[&str], piece: Option<&str>) -> String {
    let mut command = command(folder, arguments);
    if let Some(piece) = piece {
        command.env("RETROGRADE_CUDA_PIECE", piece);
    }
    let Outcome { code, stderr, .. } = run(command);
    assert_eq!(code, Some(0), "{arguments:?}: {stderr}");
    stderr
}

#[test]
#[ignore = "needs a CUDA device"]
fn cuda_writes_what_the_cpu_writes() {
    let folder = folder_with(&[
        ("f4.npy", array("<f4", &[37, 65, 3], noise(37 * 65 * 3 * 4))),
        ("u1.npy", array("|u1", &[100_003], noise(100_003))),
        ("i2.npy", array(">i2", &[40, 12, 5], noise(40 * 12 * 5 * 2))),
        ("wide.npy", array("<i4", &[40, 16, 64], noise(40 * 16 * 64 * 4))),
        ("text.npy", array("|S5", &[1000, 3], noise(15_000))),
        ("c16.npy", array("<c16", &[50, 7, 11], noise(50 * 7 * 11 * 16))),
        ("letters.npy", array("|u1", &[700, 150], noise(700 * 150))),
        ("mask.npy", array("|b1", &[700], noise(700).map(|byte| byte % 2))),
        ("nibbles.npy", array("|u1", &[16], (0..16).rev())),
        ("none.npy", array("<f8", &[0, 4], [])),
        ("scalar.npy", array("<f8", &[], noise(8))),
        (
            "lanes.npy",
            array("<i8", &[40, 1, 5], (0..200u64).flat_map(|at| (at % 13).to_le_bytes())),
        ),
    ]);
    let at = |name: &str| folder.path().join(name);
    let columns = NpyArray::new("<f4", &[60, 70], true, noise(60 * 70 * 4).collect()).unwrap();
    npy::write(at("columns.npy"), &columns).unwrap();
    fs::write(at("bits.raw"), noise(33 * 64 / 2).collect::<Vec<_>>()).unwrap();
    fs::write(at("odd.raw"), noise(5 * 7 * 3 / 2).chain([1]).collect::<Vec<_>>()).unwrap();
    // More than one piece of the default size, and not a multiple of any.
    fs::write(at("big.raw"), noise((100 << 20) + 3).collect::<Vec<_>>()).unwrap();
    let steps = "--lengths=40,0,1,39,7,8,9,10,11,12,13,14";
    let many = "--lengths=40,0,1,39,7,8,9,10,11,12,13,14,15,16,17,18";
    let rows: Vec<_> = (0..40).map(|row| (row % 13).to_string()).collect();
    let rows = format!("--lengths={}", rows.join(","));
    let cases: &[&[&str]] = &[
        &["reverse", "f4.npy"],
        &["reverse", "f4.npy", "--axes="],
        &["reverse", "f4.npy", "--axes=0"],
        &["reverse", "f4.npy", "--axes=1"],
        &["reverse", "f4.npy", "--axes=0,2"],
        &["reverse", "u1.npy"],
        &["reverse", "i2.npy", "--axes=1"],
        &["reverse", "text.npy", "--axes=0"],
        &["reverse", "c16.npy", "--axes=0,1"],
        &["reverse", "none.npy"],
        &["reverse", "scalar.npy"],
        &["reverse", "columns.npy", "--axes=0"],
        &["reverse", "columns.npy", "--to=safetensors"],
        &["reverse", "bits.raw", "--dtype=u4", "--shape=33,64", "--axes=0"],
        &["reverse", "bits.raw", "--dtype=u4", "--shape=33,64", "--axes=1"],
        &["reverse", "odd.raw", "--dtype=u4", "--shape=5,7,3"],
        &["reverse", "odd.raw", "--dtype=i4", "--shape=5,7,3", "--axes=1"],
        &["reverse", "bits.raw", "--dtype=u1", "--shape=33,256", "--axes=0,1"],
        &["reverse", "big.raw", "--dtype=u8"],
        &["reverse-sequence", "i2.npy", steps],
        &["reverse-sequence", "wide.npy", many],
        &["reverse-sequence", "i2.npy", "--time-axis=1", "--batch-axis=0", "--policy=clamp", &rows],
        &["reverse-subsequences", "i2.npy", "--axis=1", "--lengths=lanes.npy"],
        &["reverse-segments", "i2.npy", "--offsets=0,9,9,38", "--where=1,0,0"],
        &["reverse-segments", "i2.npy", "--axis=1", "--offsets=0,4,12", "--where=0,1"],
        &["reverse", "u1.npy", "--table=dna"],
        &[
            "reverse-segments",
            "u1.npy",
            "--offsets=0,5,70000,100000",
            "--where=1,0,1",
            "--table=rna",
        ],
        &["reverse-complement", "letters.npy", "--axis=1", "--where=mask.npy"],
        &["reverse", "bits.raw", "--dtype=u4", "--shape=33,64", "--axes=1", "--table=nibbles.npy"],
    ];
    for case in cases {
        let cpu = [case, &["-o", "cpu.out"][..]].concat();
        let cuda = [case, &["-o", "cuda.out", "--device=cuda"][..]].concat();
        // The input's format, unless another one is requested.
        let to: &[&str] = match case.iter().any(|word| word.starts_with("--to=")) {
            true => &[],
            false if case[1].ends_with(".raw") => &["--to=raw"],
            false => &["--to=npy"],
        };
        written(folder.path(), &[&cpu, to].concat(), None);
        let expected = fs::read(at("cpu.out")).unwrap();
        let is_big = case[1] == "big.raw";
        for piece in if is_big { [None, Some("50000000")] } else { [None, Some("300")] } {
            let said = written(folder.path(), &[&cuda, to].concat(), piece);
            assert!(said.contains("\ncuda:0 ("), "{said}");
            assert!(fs::read(at("cuda.out")).unwrap() == expected, "{case:?}, pieces of {piece:?}");
        }
    }

    // In place, and to a pipe.
    written(folder.path(), &["reverse", "f4.npy", "--axes=0", "-ocpu.npy"], None);
    let expected = fs::read(at("cpu.npy")).unwrap();
    let mut pipe =
        command(folder.path(), &["reverse", "f4.npy", "--axes=0", "-o-", "--device=cuda"]);
    let output = output(&mut pipe).unwrap();
    assert!(output.status.success() && output.stdout == expected);
    let in_place = ["reverse", "f4.npy", "--axes=0", "--in-place", "--device=cuda:0"];
    written(folder.path(), &in_place, Some("1000"));
    assert!(fs::read(at("f4.npy")).unwrap() == expected);

    // A device number that does not exist, on a machine with a device.
    let wrong = ["reverse", "u1.npy", "-ono.npy", "--device=cuda:99"];
    let Outcome { code, stderr, .. } = run(command(folder.path(), &wrong));
    assert_eq!(code, Some(1));
    assert!(stderr.starts_with("error: no CUDA device number 99: there are "), "{stderr}");
    assert!(!at("no.npy").exists());

    let explained = ["explain", "--json", "--device=cuda", "reverse", "f4.npy"];
    let record: serde_json::Value =
        serde_json::from_str(&shown_in(folder.path(), &explained)).unwrap();
    assert!(record["cuda"]["least_seconds"].as_f64().unwrap() > 0.0, "{record}");
    assert!(record["cuda"]["name"].is_string() && record["cuda"]["missing"].is_null());
}
