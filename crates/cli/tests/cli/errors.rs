//! Errors are reported in one line, and nothing is left behind.

use super::*;
use std::fs;

fn with(descr: &str, shape: &str, data: &[u8]) -> Vec<u8> {
    raw(&format!("{{'descr': {descr}, 'fortran_order': False, 'shape': {shape}, }}"), data)
}

/// Valid and invalid inputs under short names.
fn folder() -> TempDir {
    let folder = folder_with(&[
        ("x.npy", array("|u1", &[2, 3], 0..6)),
        ("vector.npy", array("|u1", &[4], 0..4)),
        ("scalar.npy", array("|u1", &[], [1])),
        ("floats.npy", array("<f4", &[3], vec![0; 12])),
        ("square.npy", array("<i4", &[2, 2], vec![0; 16])),
        ("cube.npy", array("|u1", &[2, 3, 2], 0..12)),
    ]);
    let bad = [
        ("text.npy", b"hello, world".to_vec()),
        ("zip.npy", b"PK\x03\x04........".to_vec()),
        ("short.npy", with("'<f4'", "(3,)", &[0; 11])),
        ("long.npy", with("'<f4'", "(3,)", &[0; 13])),
        ("claims.npy", with("'<f8'", "(1099511627776, 1024)", &[])),
        ("overflows.npy", with("'<f8'", "(4294967296, 4294967296)", &[])),
        ("negative.npy", with("'<f8'", "(-1,)", &[])),
        ("records.npy", with("[('a', '|O')]", "(3,)", &[0; 12])),
        ("objects.npy", with("'|O'", "(3,)", b"pickle")),
        ("subarray.npy", with("('<f4', (2,))", "(3,)", &[0; 24])),
        ("unknown.npy", with("'<x4'", "(3,)", &[0; 12])),
        ("broken.npy", raw("{'descr': '<f4'", &[])),
        ("cut.npy", raw("{'descr': '<f4'", &[])[..20].to_vec()),
    ];
    for (name, bytes) in bad {
        fs::write(folder.path().join(name), bytes).unwrap();
    }
    folder
}

/// Calls, and what they say.
const FAILURES: &str = r#"
# Files that cannot be read.
reverse none.npy => cannot read none.npy: No such file or directory
reverse . => cannot read .: is a directory
reverse text.npy => text.npy: not a .npy file: it begins with "hello, w", not with \x93NUMPY
reverse zip.npy => zip.npy: not a .npy file: it begins with "PK\x03\x04....", not with \x93NUMPY (an
    .npz archive? name it .npz)
reverse short.npy => short.npy: shape [3] of "<f4" takes 12 bytes but the file has 11: it is cut
    short
reverse long.npy => long.npy: shape [3] of "<f4" takes 12 bytes but the file has 13: either the
    shape is wrong or something was appended
reverse claims.npy => claims.npy: shape [1099511627776, 1024] of "<f8" takes 9007199254740992 bytes
    but the file has 0: it is cut short
reverse overflows.npy => overflows.npy: impossible shape: shape [4294967296, 4294967296] of f64
    needs more than 9223372036854775807 bytes
reverse negative.npy => negative.npy: axis 0 has the negative size -1
reverse records.npy => records.npy: object array ("|O"): its elements are pickled Python objects,
    not fixed-width data; save it with a plain dtype, such as x.astype('U') for strings
reverse objects.npy => objects.npy: object array ("|O"): its elements are pickled Python objects,
    not fixed-width data; save it with a plain dtype, such as x.astype('U') for strings
reverse subarray.npy => subarray.npy: subarray dtype (its dtype is a tuple): save it as an array
    with more axes
reverse unknown.npy => unknown.npy: unknown dtype "<x4", expected one such as '<f4', '>i8', '|u1',
    '<U5' or '|V16'
reverse broken.npy => broken.npy: malformed header: expected ',' or '}' at byte 15, found nothing
reverse cut.npy => cut.npy: the file is cut short: its header should have 15 bytes but only 10
    follow
# Arguments that do not fit the tensor.
reverse x.npy --axes 0,2 => Reverse: axes[1] is 2, outside [-2, 1] for a tensor of rank 2
reverse x.npy --axes -3 => Reverse: axes[0] is -3, outside [-2, 1] for a tensor of rank 2
reverse x.npy --axes=-9223372036854775808 => Reverse: axes[0] is -9223372036854775808, outside [-2,
    1] for a tensor of rank 2
reverse scalar.npy --axes 0 => Reverse: axes[0] is 0, but a scalar (rank 0) has no axes
reverse x.npy --axes 0,1,-2 --duplicates error => Reverse: axes[2] is -2, the same axis as axes[0],
    expected distinct axes
reverse x.npy --mask 1,0,1 => Reverse: the mask has 3 entries, expected 2, one per axis
reverse-sequence vector.npy --lengths 1 => ReverseSequence: input has rank 1, expected at least 2
reverse-sequence x.npy --lengths 1 --time-axis -3 => ReverseSequence: time_axis is -3, outside [-2,
    1] for a tensor of rank 2
reverse-sequence x.npy --lengths 1 --batch-axis 0 => ReverseSequence: time_axis and batch_axis are
    both 0, they must differ
reverse-subsequences x.npy --lengths 1 --axis -3 => ReverseSubsequences: axis is -3, outside [-2, 1]
    for a tensor of rank 2
# Lengths.
reverse-sequence x.npy --lengths '' => ReverseSequence: lengths have shape [0], expected [3]: axis 1
    (batch_axis) has size 3, axis 0 (time_axis) has size 2
reverse-sequence x.npy --lengths 1,2,3 => ReverseSequence: lengths[2] is 3, outside [0, 2] (--policy
    clamp would make it 2)
reverse-sequence x.npy --lengths -1,2,2 --policy clamp => ReverseSequence: lengths[0] is -1, outside
    [0, 2]
reverse-subsequences x.npy --axis=1 --lengths=4,1 --policy=strict => ReverseSubsequences: lengths[0,
    0] is 4, outside [0, 3] (--policy clamp would make it 3)
reverse-sequence x.npy --lengths square.npy => ReverseSequence: lengths have shape [2, 2], expected
    [3]: axis 1 (batch_axis) has size 3, axis 0 (time_axis) has size 2
reverse-sequence x.npy --lengths 1,2 => ReverseSequence: lengths have shape [2], expected [3]: axis
    1 (batch_axis) has size 3, axis 0 (time_axis) has size 2: did you mean --time-axis 1
    --batch-axis 0, for a file in which axis 0 is the batch?
reverse-sequence x.npy --lengths 1,2,2,1 => ReverseSequence: lengths have shape [4], expected [3]:
    axis 1 (batch_axis) has size 3, axis 0 (time_axis) has size 2
reverse-subsequences x.npy --axis=1 --lengths=square.npy => ReverseSubsequences: lengths have shape
    [2, 2], expected [2, 1] or [2]
reverse-subsequences cube.npy --axis=1 --lengths=vector.npy => ReverseSubsequences: lengths have
    shape [4], expected [2, 1, 2] or [2, 2]
reverse-subsequences cube.npy --axis=1 --lengths=1,2,3 => ReverseSubsequences: 3 lengths given,
    expected 4, one per lane of shape [2, 1, 2]
reverse-sequence x.npy --lengths floats.npy => floats.npy: its elements are "<f4", expected integers
    such as '<i8' or '|u1'
reverse-sequence x.npy --lengths none.npy => --lengths none.npy: neither a list of integers nor a
    file
reverse-sequence x.npy --lengths 1,,2 => --lengths 1,,2: neither a list of integers nor a file
reverse-segments x.npy --axis=0 --offsets nofile => --offsets nofile: neither a list of integers nor
    a file
"#;

#[test]
fn failures_are_one_line_each_and_leave_no_file() {
    let folder = folder();
    let before = names(folder.path());
    for (arguments, message) in cases(FAILURES) {
        let all = [&arguments[..], &["-o", "out.npy", "--show"]].concat();
        let stderr = format!("error: {message}\n");
        let expected = Outcome { code: Some(1), stdout: String::new(), stderr };
        assert_eq!(run(command(folder.path(), &all)), expected, "{arguments:?}");
        assert_eq!(names(folder.path()), before, "{arguments:?}");
    }
}

#[test]
fn outputs_that_cannot_be_written_are_failures() {
    let folder = folder();
    let before = names(folder.path());
    for (output, message) in [
        ("none/out.npy", "cannot write none/out.npy: No such file or directory"),
        (".", "cannot write .: is a directory"),
        ("x.npy/out.npy", "cannot write x.npy/out.npy: Not a directory"),
    ] {
        let outcome = run(command(folder.path(), &["reverse", "x.npy", "--show", "-o", output]));
        let stderr = format!("error: {message}\n");
        assert_eq!(outcome, Outcome { code: Some(1), stdout: String::new(), stderr });
        assert_eq!(names(folder.path()), before);
    }
}

#[test]
fn a_failure_keeps_the_file_that_was_to_be_replaced() {
    let folder = folder();
    let before = fs::read(folder.path().join("x.npy")).unwrap();
    let outcome = run(command(folder.path(), &["reverse", "x.npy", "-o", "x.npy", "--axes", "7"]));
    assert_eq!(outcome.code, Some(1));
    assert_eq!(fs::read(folder.path().join("x.npy")).unwrap(), before);
}

/// Calls, and what they say.
const WRONG_USAGE: &str = r#"
flip => error: unrecognized subcommand 'flip'
reverse => error: the following required arguments were not provided:
reverse x.npy --axes 0,,1 => error: invalid value '0,,1' for '--axes <AXES>': expected axes such as
    0,-1 or lat,lon
reverse x.npy --mask yes => error: invalid value 'yes' for '--mask <MASK>': expected a mask such as
    true,false or 1,0
reverse x.npy --axes 0 --mask 1,0 => error: the argument '--axes <AXES>' cannot be used with '--mask
    <MASK>'
reverse-sequence x.npy => error: the following required arguments were not provided:
reverse-sequence x.npy --lengths 1 --policy lax => error: invalid value 'lax' for '--policy
    <POLICY>'
reverse-subsequences x.npy --lengths 1 => error: the following required arguments were not provided:
"#;

#[test]
fn wrong_usage_has_a_code_of_its_own() {
    let folder = folder();
    for (arguments, first_line) in cases(WRONG_USAGE) {
        let Outcome { code, stdout, stderr } = run(command(folder.path(), &arguments));
        assert_eq!((code, stdout.as_str()), (Some(2), ""), "{arguments:?}");
        assert_eq!(stderr.lines().next(), Some(&*first_line), "{arguments:?}");
    }
}

#[test]
fn empty_axes_of_any_size_are_no_trouble() {
    let folder = tempfile::tempdir().unwrap();
    let shape = "(9223372036854775807, 4, 0)";
    fs::write(folder.path().join("x.npy"), with("'<f4'", shape, &[])).unwrap();
    fs::write(folder.path().join("wide.npy"), with("'|V0'", "(1152921504606846976,)", &[]))
        .unwrap();
    for name in ["x.npy", "wide.npy"] {
        let mut coloured = command(folder.path(), &["reverse", name]);
        coloured.env("CLICOLOR_FORCE", "1");
        assert_eq!(run(coloured).code, Some(0));
        done(folder.path(), &["reverse", name, "-o", "y.npy"]);
    }
}

#[test]
fn errors_say_what_to_do_instead() {
    let folder = folder();
    fs::write(folder.path().join("m.onnx"), b"\x08\x08").unwrap();
    fs::write(folder.path().join("l.csv"), "2\nlength\n").unwrap();
    let sequence = ["reverse-sequence", "x.npy", "--lengths"];
    let cases: &[(&[&str], &[u8], &str)] = &[
        (
            &["reverse", "m.onnx"],
            b"",
            "m.onnx: is a model: `retrograde run m.onnx` runs it, `info` lists what it holds",
        ),
        (&["reverse", "-"], b"", "cannot read -: standard input is empty"),
        (&[&sequence[..], &["-"]].concat(), b"", "cannot read -: standard input is empty"),
        (
            &[&sequence[..], &["l.csv"]].concat(),
            b"",
            "l.csv: line 2: expected an integer, found \"length\"",
        ),
        (
            &["reverse", "-"],
            b"12,13",
            "-: cannot tell what kind of file this is: expected a name that ends in .npy, .npz, \
             .safetensors or .pb; for raw bytes, give --dtype and --shape",
        ),
        (
            &["show", "reverse", "x.npy", "--svg", "s.png"],
            b"",
            "--svg s.png: expected a name that ends in .svg, or - for stdout",
        ),
    ];
    for (arguments, stdin, message) in cases {
        let stderr = format!("error: {message}\n");
        let expected = Outcome { code: Some(1), stdout: String::new(), stderr };
        assert_eq!(
            Outcome::from(fed(&mut command(folder.path(), arguments), stdin).unwrap()),
            expected,
            "{arguments:?}"
        );
    }
    let threads = run(command(folder.path(), &["bench", "--shape=4", "--threads=100000"]));
    assert_eq!(threads.code, Some(1));
    assert!(threads.stderr.starts_with("error: --threads 100000: expected 1 to "), "{threads:?}");
}

#[test]
#[cfg(unix)]
fn what_never_ends_is_read_no_further_than_it_says() {
    let folder = folder();
    let raw = ["reverse", "/dev/zero", "--dtype", "u8", "--shape", "4"];
    let outcome = run(command(folder.path(), &raw));
    let said = "error: /dev/zero: shape [4] of u8 takes 4 bytes but the file has more\n";
    assert_eq!((outcome.code, outcome.stderr.as_str()), (Some(1), said));
    let unknown = run(command(folder.path(), &["reverse", "/dev/zero"]));
    assert!(unknown.stderr.contains("cannot tell what kind of file"), "{unknown:?}");
    let mut shell = Command::new("sh");
    let script = "cat x.npy /dev/zero | \"$0\" reverse -";
    shell.current_dir(folder.path()).args(["-c", script, env!("CARGO_BIN_EXE_retrograde")]);
    let outcome = run(shell);
    assert_eq!(outcome.code, Some(1), "{outcome:?}");
    assert!(outcome.stderr.contains("takes 6 bytes but the file has more"), "{outcome:?}");
}

#[test]
#[cfg(target_os = "linux")]
fn what_cannot_be_printed_is_an_error() {
    for arguments in [&["--help"][..], &["--version"], &["reverse", "--help"], &["man"]] {
        let mut command = command(&repository(), arguments);
        command.stdout(fs::File::options().write(true).open("/dev/full").unwrap());
        let output = Process::start(command.stderr(Stdio::piped())).unwrap().output();
        let said = String::from_utf8(output.stderr).unwrap();
        let expected = "error: cannot write -: No space left on device\n";
        assert_eq!((output.status.code(), said.as_str()), (Some(1), expected), "{arguments:?}");
    }
}

#[test]
fn a_picture_of_a_large_file_says_that_nothing_was_written() {
    let folder = folder_with(&[
        ("small.npy", array("|u1", &[4096], vec![0; 4096])),
        ("large.npy", array("|u1", &[4097], vec![0; 4097])),
    ]);
    let note = |replace: &str| {
        format!(
            "nothing was written: -o OUT writes the result{replace} (--show says that the picture \
             is what you want)\n"
        )
    };
    let silent = String::new();
    for (arguments, expected) in [
        (&["reverse", "small.npy"][..], silent.clone()),
        (&["reverse", "large.npy"], note(", --in-place replaces the input")),
        (
            &["reverse-segments", "large.npy", "--offsets=0,9"],
            note(", --in-place replaces the input"),
        ),
        (&["reverse", "large.npy", "--show"], silent.clone()),
        (&["reverse", "large.npy", "--quiet"], silent.clone()),
        (&["show", "reverse", "large.npy"], silent),
    ] {
        let outcome = run(command(folder.path(), arguments));
        assert_eq!((outcome.code, outcome.stderr), (Some(0), expected), "{arguments:?}");
        assert!(outcome.stdout.starts_with("Reverse"), "{arguments:?}");
    }
    let input = std::fs::read(folder.path().join("large.npy")).unwrap();
    let piped = fed(&mut command(folder.path(), &["reverse", "-"]), &input).unwrap();
    assert_eq!(Outcome::from(piped).stderr, note(""));
    assert_eq!(names(folder.path()), ["large.npy", "small.npy"]);
}

#[test]
fn threads_are_a_number_for_every_command_that_moves_data() {
    let folder = folder_with(&[("x.npy", array("|u1", &[2, 3], 0..6))]);
    let commands: &[&[&str]] = &[
        &["reverse", "x.npy", "-o", "y.npy"],
        &["reverse", "x.npy", "--in-place=direct"],
        &["reverse-sequence", "x.npy", "--lengths=1,2,1", "-o", "y.npy"],
        &["reverse-subsequences", "x.npy", "--axis=0", "--lengths=1,2,1", "-o", "y.npy"],
        &["reverse-segments", "x.npy", "--offsets=0,2", "-o", "y.npy"],
        &["rot90", "x.npy", "-o", "y.npy"],
    ];
    for words in commands {
        let outcome = run(command(folder.path(), &[*words, &["--threads=1"]].concat()));
        assert_eq!(outcome.code, Some(0), "{words:?}: {outcome:?}");
        let outcome = run(command(folder.path(), &[*words, &["--threads=0"]].concat()));
        assert_eq!(outcome.code, Some(2), "{words:?}: {outcome:?}");
        let outcome = run(command(folder.path(), &[*words, &["--threads=9999999"]].concat()));
        assert_eq!(outcome.code, Some(1), "{words:?}: {outcome:?}");
        let said = "error: --threads 9999999: expected 1 to ";
        assert!(outcome.stderr.starts_with(said), "{words:?}: {outcome:?}");
    }
}

#[test]
fn quiet_leaves_nothing_but_errors() {
    let folder = folder();
    for arguments in [
        &["reverse", "x.npy", "-o", "y.npy", "--quiet"][..],
        &["-q", "reverse", "x.npy", "--in-place"],
    ] {
        let nothing = Outcome { code: Some(0), stdout: String::new(), stderr: String::new() };
        assert_eq!(run(command(folder.path(), arguments)), nothing, "{arguments:?}");
    }
    let failed = run(command(folder.path(), &["-q", "reverse", "none.npy"]));
    assert_eq!(failed.stderr, "error: cannot read none.npy: No such file or directory\n");
}
