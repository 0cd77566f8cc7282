//! Which files an output may replace, and which attributes it keeps.
#![cfg(unix)]

use super::*;
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};

fn folder() -> TempDir {
    let lengths = [1i64, 2].iter().flat_map(|length| length.to_le_bytes());
    let folder = folder_with(&[
        ("x.npy", array("|u1", &[2, 3], 0..6)),
        ("l.npy", array("<i8", &[2], lengths)),
        ("old.npy", array("|u1", &[1], [9])),
        ("own.npy", array("|u1", &[1], [1])),
    ]);
    fs::hard_link(folder.path().join("l.npy"), folder.path().join("hard.npy")).unwrap();
    symlink("l.npy", folder.path().join("soft.npy")).unwrap();
    folder
}

fn mode(path: PathBuf) -> u32 {
    fs::metadata(path).unwrap().mode() & 0o7777
}

fn chmod(path: PathBuf, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

fn failed(stderr: String) -> Outcome {
    Outcome { code: Some(1), stdout: String::new(), stderr }
}

#[test]
fn a_private_file_stays_private() {
    let folder = folder();
    let at = |name: &str| folder.path().join(name);
    for (name, arguments) in [
        ("x.npy", &["reverse", "x.npy", "--in-place"][..]),
        ("x.npy", &["reverse", "x.npy", "--in-place=direct"]),
        ("old.npy", &["reverse", "x.npy", "-o", "old.npy"]),
    ] {
        for kept in [0o600, 0o640] {
            chmod(at(name), kept);
            done(folder.path(), arguments);
            assert_eq!(mode(at(name)), kept, "{arguments:?}");
        }
    }
    // A new file follows the umask.
    let mut shell = Command::new("sh");
    let script = "umask 027; exec \"$0\" reverse x.npy -o new.npy";
    shell.current_dir(folder.path()).args(["-c", script, env!("CARGO_BIN_EXE_retrograde")]);
    assert_eq!(run(shell).code, Some(0));
    assert_eq!(mode(at("new.npy")), 0o640);
}

#[test]
fn a_read_only_file_is_replaced_only_by_force() {
    let folder = folder();
    let at = |name: &str| folder.path().join(name);
    fs::write(at("old.svg"), "old").unwrap();
    for name in ["x.npy", "old.npy", "old.svg"] {
        chmod(at(name), 0o444);
    }
    let cases: &[(&str, &[&str])] = &[
        ("x.npy", &["reverse", "x.npy", "--in-place"]),
        ("x.npy", &["reverse", "x.npy", "--in-place=direct"]),
        ("old.npy", &["reverse", "x.npy", "-o", "old.npy"]),
        ("old.svg", &["show", "reverse", "x.npy", "--svg", "old.svg"]),
    ];
    for (name, arguments) in cases {
        let before = fs::read(at(name)).unwrap();
        let said = format!("error: cannot write {name}: it is read-only: --force overrides this\n");
        assert_eq!(run(command(folder.path(), arguments)), failed(said), "{arguments:?}");
        assert_eq!(fs::read(at(name)).unwrap(), before);
        let forced = [arguments, &["--force"][..]].concat();
        let outcome = run(command(folder.path(), &forced));
        // Without root's rights, a file without write permission cannot be changed in place.
        if arguments.contains(&"--in-place=direct") && outcome.code == Some(1) {
            assert!(outcome.stderr.contains("Permission denied"), "{outcome:?}");
            continue;
        }
        assert_eq!(outcome.code, Some(0), "{forced:?}: {outcome:?}");
        assert_ne!(fs::read(at(name)).unwrap(), before, "{forced:?}");
        assert_eq!(mode(at(name)), 0o444, "{forced:?}");
    }
}

#[test]
fn inputs_are_never_replaced() {
    let folder = folder();
    let at = |name: &str| folder.path().join(name);
    let before: Vec<_> =
        names(folder.path()).iter().map(|name| fs::read(at(name)).unwrap()).collect();
    let sequence = ["reverse-sequence", "x.npy", "--time-axis=1", "--batch-axis=0", "--lengths"];
    let mut cases = Vec::new();
    let mut add = |more: &[&str], output: &str, input: &str| {
        let other = if output == input { String::new() } else { format!(" ({input})") };
        let arguments: Vec<String> = more.iter().map(|word| word.to_string()).collect();
        let said = format!("cannot write {output}: it is an input{other}: choose another file");
        cases.push((arguments, said));
    };
    for output in ["l.npy", "hard.npy", "soft.npy"] {
        add(&[&sequence[..], &["l.npy", "-o", output]].concat(), output, "l.npy");
        add(&[&sequence[..], &["hard.npy", "-o", output]].concat(), output, "hard.npy");
    }
    // Lengths read from the file that is to be changed.
    let own = ["reverse-subsequences", "own.npy", "--axis=0", "--lengths", "own.npy"];
    add(&[&own[..], &["--in-place"]].concat(), "own.npy", "own.npy");
    add(&[&own[..], &["--in-place=direct"]].concat(), "own.npy", "own.npy");
    add(&[&own[..], &["-o", "own.npy"]].concat(), "own.npy", "own.npy");
    for (arguments, said) in &cases {
        let arguments: Vec<_> = arguments.iter().map(String::as_str).collect();
        let outcome = run(command(folder.path(), &arguments));
        assert_eq!(outcome, failed(format!("error: {said}\n")), "{arguments:?}");
    }
    // Also for pictures, even if the file is only named `.svg`.
    fs::hard_link(at("x.npy"), at("x.svg")).unwrap();
    let outcome = run(command(folder.path(), &["show", "reverse", "x.npy", "--svg", "x.svg"]));
    let said =
        "error: cannot write x.svg: it is an input (x.npy): choose another file\n".to_owned();
    assert_eq!(outcome, failed(said));
    fs::remove_file(at("x.svg")).unwrap();
    let after: Vec<_> =
        names(folder.path()).iter().map(|name| fs::read(at(name)).unwrap()).collect();
    assert_eq!(after, before);
}

#[test]
fn external_data_is_an_input_too() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    // A TensorProto whose data is two bytes in w.bin.
    let entry = b"\x0a\x08location\x12\x05w.bin";
    let tensor = [&b"\x08\x02\x10\x02\x70\x01\x6a"[..], &[entry.len() as u8], entry].concat();
    fs::write(at("w.pb"), tensor).unwrap();
    fs::write(at("w.bin"), [1, 2]).unwrap();
    let outcome = run(command(folder.path(), &["reverse", "w.pb", "-o", "w.bin"]));
    assert_eq!(outcome.code, Some(1), "{outcome:?}");
    assert!(outcome.stderr.starts_with("error: cannot write w.bin: it is an input"), "{outcome:?}");
    assert_eq!(fs::read(at("w.bin")).unwrap(), [1, 2]);
    done(folder.path(), &["reverse", "w.pb", "-o", "y.raw"]);
    assert_eq!(fs::read(at("y.raw")).unwrap(), [2, 1]);
}

#[test]
fn what_a_model_reads_is_never_replaced() {
    use models::{U8, info, model, node};
    let folder = folder();
    let at = |name: &str| folder.path().join(name);
    let two = [
        node("Identity", &["x"], "y", &[]),
        node("Identity", &["l"], "z", &[]),
        info(11, "x", U8, &["B", "T"]),
        info(11, "l", 7, &["B"]),
        info(12, "y", U8, &["B", "T"]),
        info(12, "z", 7, &["B"]),
    ];
    fs::write(at("two.onnx"), model(&two)).unwrap();
    fs::hard_link(at("two.onnx"), at("two.npy")).unwrap();
    let before: Vec<_> =
        names(folder.path()).iter().map(|name| fs::read(at(name)).unwrap()).collect();
    let inputs = ["run", "two.onnx", "-i", "x=x.npy", "-i", "l=l.npy", "--output"];
    for output in ["y=x.npy", "y=l.npy", "y=hard.npy", "y=soft.npy", "y=two.npy"] {
        let arguments = [&inputs[..], &[output]].concat();
        let outcome = run(command(folder.path(), &arguments));
        let file = output.split('=').nth(1).unwrap();
        let said = format!("error: cannot write {file}: it is an input");
        assert_eq!((outcome.code, outcome.stdout.as_str()), (Some(1), ""), "{output}");
        assert!(outcome.stderr.starts_with(&said), "{outcome:?}");
    }
    let after: Vec<_> =
        names(folder.path()).iter().map(|name| fs::read(at(name)).unwrap()).collect();
    assert_eq!(after, before);
    // Also in a folder: an output has the name of an input.
    fs::create_dir(at("results")).unwrap();
    fs::hard_link(at("x.npy"), at("results/y.npy")).unwrap();
    let arguments = [&inputs[..6], &["-d", "results"]].concat();
    let outcome = run(command(folder.path(), &arguments));
    assert!(outcome.stderr.contains("it is an input"), "{outcome:?}");
    assert_eq!(names(&at("results")), ["y.npy"]);
}

#[test]
fn a_link_to_nothing_leads_to_the_new_file() {
    let folder = folder();
    let at = |name: &str| folder.path().join(name);
    symlink("below.npy", at("link.npy")).unwrap();
    done(folder.path(), &["reverse", "x.npy", "-o", "link.npy"]);
    assert!(fs::symlink_metadata(at("link.npy")).unwrap().is_symlink());
    assert_eq!(npy::read(at("below.npy")).unwrap().data(), [5, 4, 3, 2, 1, 0]);
}

#[test]
fn only_regular_files_are_changed_in_place() {
    let folder = folder();
    let pipe = folder.path().join("pipe");
    assert!(output(Command::new("mkfifo").arg(&pipe)).unwrap().status.success());
    for input in ["pipe", "-", "/dev/null"] {
        for how in ["--in-place", "--in-place=direct"] {
            // Without the check, it would block until somebody writes to the pipe.
            let outcome = run(command(folder.path(), &["reverse", input, how]));
            let said = format!("error: cannot change {input} in place: it is not a regular file\n");
            assert_eq!(outcome, failed(said), "{input} {how}");
        }
    }
}
