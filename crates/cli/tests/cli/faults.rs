//! Makes every file system call fail once, for every command: existing files are unchanged, nothing
//! is left behind, and the error names the file and the reason.
//!
//! `shim.c` is preloaded and makes one call fail. A run without a fault lists the calls that a
//! command makes; then each of them fails with each error, in a fresh folder.
#![cfg(target_os = "linux")]

use super::*;
use models::{U8, info, model, node};
use std::collections::BTreeMap;
use std::fs;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Mutex, OnceLock};

/// The error codes to inject, and their messages.
const ERRORS: [(i32, &str); 4] = [
    (28, "No space left on device"),
    (5, "Input/output error"),
    (4, "Interrupted system call"),
    (13, "Permission denied"),
];

/// The commands, each run on the files of [`folder`]; `-` means that the input comes from stdin.
const COMMANDS: &[&[&str]] = &[
    &["reverse", "x.npy", "-o", "new.npy"],
    &["reverse", "x.npy", "-o", "old.npy"],
    &["reverse", "x.npy", "-o", "old.npy", "--force"],
    &["reverse", "x.npy", "--in-place"],
    &["reverse", "x.npy", "--in-place=direct"],
    &["reverse", "x.npy", "-o", "new.npz"],
    &["reverse", "x.npy", "-o", "new.safetensors"],
    &["reverse", "packed.npz", "-o", "old.npz"],
    &["reverse", "strings.pb", "-o", "new.npy"],
    &["reverse", "strings.pb", "-o", "new.pb"],
    &["reverse", "-", "-o", "new.npy"],
    &["reverse", "x.npy", "-o", "-"],
    &["reverse-sequence", "x.npy", "--lengths", "lengths.csv", "-o", "new.npy"],
    &["rot90", "x.npy", "-o", "old.npy"],
    &["reverse-subsequences", "x.npy", "--lengths=2,1,0", "--axis=0", "-o", "new.raw"],
    &["run", "two.onnx", "-i", "x.npy", "-d", "results"],
    &["run", "two.onnx", "-i", "x.npy", "--output=y=old.npy", "--output=z=old.pb"],
    &["show", "reverse", "x.npy", "--svg", "new.svg"],
    &["show", "reverse", "x.npy", "--svg", "old.svg"],
    &["info", "x.npy"],
    &["explain", "reverse", "packed.npz"],
    &["man", "--dir", "pages"],
];

/// The library to preload; `None` if there is no C compiler.
fn shim(folder: &Path) -> Option<PathBuf> {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cli/faults/shim.c");
    let shim = folder.join("shim.so");
    let mut compiler = Command::new("cc");
    compiler.args(["-shared", "-fPIC", "-O1", "-o"]).arg(&shim).arg(source).arg("-ldl");
    match output(&mut compiler) {
        Ok(output) => {
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
            Some(shim)
        }
        Err(error) => {
            eprintln!("skipped: no C compiler: {error}");
            None
        }
    }
}

/// The content of everything in a folder, by path.
type Tree = BTreeMap<PathBuf, Vec<u8>>;

fn tree(folder: &Path) -> Tree {
    let mut tree = Tree::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            // Empty folders are recorded too.
            tree.insert(path.clone(), Vec::new());
            tree.extend(self::tree(&path));
        } else {
            tree.insert(path.clone(), fs::read(&path).unwrap());
        }
    }
    tree
}

/// The files that the commands work on.
fn files() -> Tree {
    let folder = folder_with(&[
        ("x.npy", array("|u1", &[2, 3], 1..7)),
        ("old.npy", array("|u1", &[2], [8, 9])),
    ]);
    let at = |name: &str| folder.path().join(name);
    fs::write(at("lengths.csv"), "2\n1\n0\n").unwrap();
    fs::write(at("old.pb"), "an older one").unwrap();
    fs::write(at("old.svg"), "an older one").unwrap();
    // ["ab", "c"] as strings of a TensorProto.
    fs::write(at("strings.pb"), b"\x08\x02\x10\x08\x32\x02ab\x32\x01c").unwrap();
    let two = [
        node("Identity", &["x"], "y", &[]),
        node("Identity", &["x"], "z", &[]),
        info(11, "x", U8, &["B", "T"]),
        info(12, "y", U8, &["B", "T"]),
        info(12, "z", U8, &["B", "T"]),
    ];
    fs::write(at("two.onnx"), model(&two)).unwrap();
    // Zeros, deflated by zlib: a member of 128 + 256 bytes.
    fs::write(at("packed.npz"), include_bytes!("faults/packed.npz")).unwrap();
    fs::copy(at("packed.npz"), at("old.npz")).unwrap();
    let tree = tree(folder.path());
    tree.into_iter().map(|(path, content)| (path.file_name().unwrap().into(), content)).collect()
}

fn folder(files: &Tree) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, content) in files {
        fs::write(folder.path().join(name), content).unwrap();
    }
    folder
}

/// The command in a folder without other programs, which it would ask for their manual pages.
fn alone() -> &'static Path {
    static LINK: OnceLock<PathBuf> = OnceLock::new();
    LINK.get_or_init(|| {
        // One place for all runs: links that stay would keep every old build.
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("alone");
        fs::create_dir_all(&folder).unwrap();
        let link = folder.join("retrograde");
        let _ = fs::remove_file(&link);
        fs::hard_link(env!("CARGO_BIN_EXE_retrograde"), &link).unwrap();
        link
    })
}

/// Runs a command with the shim and this environment.
fn run_with(
    shim: &Path,
    folder: &Path,
    arguments: &[&str],
    environment: &[(&str, &str)],
) -> Outcome {
    let mut command = Command::new(alone());
    command.current_dir(folder).args(arguments).env("PATH", "");
    command.env("LD_PRELOAD", shim).env("RETROGRADE_NUM_THREADS", "1");
    command.envs(environment.iter().copied());
    // A file, so that nothing has to write to a pipe that may be closed.
    command.stdin(match arguments.contains(&"-") {
        true => Stdio::from(fs::File::open(folder.join("x.npy")).unwrap()),
        false => Stdio::null(),
    });
    // Raw bytes, if the output is stdout.
    let output = piped(command).output();
    Outcome {
        code: output.status.code(),
        stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

/// Paths relative to the folder, so that folders can be compared.
fn relative(tree: Tree, folder: &Path) -> Tree {
    let within = |path: PathBuf| path.strip_prefix(folder).unwrap().to_owned();
    tree.into_iter().map(|(path, content)| (within(path), content)).collect()
}

/// Makes every call of the command fail with every error; returns how many runs failed and how many
/// succeeded.
fn every_fault(
    shim: &Path,
    files: &Tree,
    arguments: &[&str],
    environment: &[(&str, &str)],
) -> (usize, usize) {
    let whole = folder(files);
    let log = tempfile::NamedTempFile::new().unwrap();
    let path = log.path().to_str().unwrap();
    let logged: Vec<_> =
        environment.iter().copied().chain([("RETROGRADE_FAULT_LOG", path)]).collect();
    let done = run_with(shim, whole.path(), arguments, &logged);
    assert_eq!(done.code, Some(0), "{arguments:?}: {}", done.stderr);
    let complete = relative(tree(whole.path()), whole.path());
    let mut calls = BTreeMap::<String, usize>::new();
    for name in fs::read_to_string(log.path()).unwrap().lines() {
        *calls.entry(name.to_owned()).or_default() += 1;
    }
    assert!(calls.contains_key("open") || arguments[0] == "man", "the shim was not loaded");
    let direct = arguments.contains(&"--in-place=direct");
    let (mut failed, mut passed) = (0, 0);
    for (name, count) in &calls {
        for (nth, (code, words)) in (1..=*count).flat_map(|n| ERRORS.map(|error| (n, error))) {
            let fault = format!("{name}:{nth}:{code}");
            let what = format!("{arguments:?} with {fault}");
            let folder = folder(files);
            let faulty: Vec<_> =
                environment.iter().copied().chain([("RETROGRADE_FAULT", fault.as_str())]).collect();
            let outcome = run_with(shim, folder.path(), arguments, &faulty);
            let after = relative(tree(folder.path()), folder.path());
            match outcome.code {
                Some(0) => {
                    assert_eq!(after, complete, "{what}");
                    assert!(outcome.stdout == done.stdout || arguments[0] == "explain", "{what}");
                    passed += 1;
                }
                Some(1) => {
                    let line = &outcome.stderr;
                    assert!(
                        line.starts_with("error: ") && line.lines().count() == 1,
                        "{what}: {line}"
                    );
                    assert!(line.contains(words), "{what}: {line}");
                    let named = arguments.iter().any(|argument| {
                        let file = argument.rsplit('=').next().unwrap();
                        file.len() > 2 && line.contains(file) || file == "-" && line.contains(" -:")
                    });
                    assert!(named || line.contains("cannot write -: "), "{what}: {line}");
                    // With `--in-place=direct` the file may already be new when the disk fails to
                    // confirm it; it is never half changed.
                    assert!(after == *files || direct && after == complete, "{what}: {line}");
                    failed += 1;
                }
                code => panic!("{what}: {code:?}: {}", outcome.stderr),
            }
        }
    }
    (failed, passed)
}

#[test]
fn every_call_fails_once() {
    let folder = tempfile::tempdir().unwrap();
    let Some(shim) = shim(folder.path()) else { return };
    let files = files();
    // Where temporary files have names, too.
    let named = COMMANDS.iter().filter(|words| words.contains(&"-o") || words.contains(&"-d"));
    let all: Vec<_> = (COMMANDS.iter().map(|arguments| (arguments, &[][..])))
        .chain(named.map(|arguments| (arguments, &[("RETROGRADE_NO_TMPFILE", "1")][..])))
        .collect();
    let (next, counts) = (AtomicUsize::new(0), Mutex::new((0, 0)));
    // Most of the time is spent in the kernel, which starts thousands of processes.
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(2, usize::from) {
            scope.spawn(|| {
                while let Some((arguments, environment)) = all.get(next.fetch_add(1, Relaxed)) {
                    let (failed, passed) = every_fault(&shim, &files, arguments, environment);
                    assert!(failed > 0, "no fault has reached the command");
                    let mut counts = counts.lock().unwrap();
                    *counts = (counts.0 + failed, counts.1 + passed);
                }
            });
        }
    });
    let (failed, passed) = counts.into_inner().unwrap();
    println!("{} faults: {failed} gave an error, {passed} had no effect", failed + passed);
}

#[test]
fn a_full_folder_for_temporary_files_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let Some(shim) = shim(folder.path()) else { return };
    let files = self::folder(&files());
    let temporary = folder.path().to_str().unwrap();
    let full = [("RETROGRADE_FAULT", "write:1:28"), ("TMPDIR", temporary)];
    let outcome = run_with(&shim, files.path(), &["reverse", "-"], &full);
    let said = format!(
        "error: cannot read -: cannot copy it to a temporary file in {temporary}: No space left on \
         device\n"
    );
    assert_eq!((outcome.code, outcome.stderr), (Some(1), said));
}
