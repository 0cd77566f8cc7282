//! `retrograde NAME` runs the program `retrograde-NAME`, with all arguments. So do stores
//! (`retrograde-zarr`) and `--device gpu` (`retrograde-wgpu`).

use super::*;

/// The command in a folder of its own, beside which there are no programs, and with no others in
/// `PATH`.
fn alone(folder: &Path, arguments: &[&str]) -> Command {
    let bin = folder.join("bin");
    let own = bin.join(format!("retrograde{}", std::env::consts::EXE_SUFFIX));
    if !own.exists() {
        std::fs::create_dir(&bin).unwrap();
        std::fs::hard_link(env!("CARGO_BIN_EXE_retrograde"), &own).unwrap();
    }
    let mut command = Command::new(own);
    command.current_dir(folder).args(arguments).env("PATH", "/bin:/usr/bin");
    command
}

/// A folder in the file system of the build, in which the command can be linked.
fn near() -> TempDir {
    tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap()
}

/// Writes a program as a script. Another process writes it: a file that is open for writing cannot be
/// run, and children of other tests inherit what is open here.
#[cfg(unix)]
fn program(path: &Path, script: &str) {
    let mut shell = Command::new("/bin/sh");
    shell.args(["-c", "printf '#!/bin/sh\\n%s\\n' \"$1\" >\"$0\" && chmod 755 \"$0\""]);
    assert!(output(shell.arg(path).arg(script)).unwrap().status.success());
}

#[test]
fn a_missing_program_is_named_and_nothing_is_written() {
    let folder = near();
    npy::write(folder.path().join("x.npy"), &array("|u1", &[2, 3], 0..6)).unwrap();
    let zarr = "in.zarr: Zarr stores, HDF5 files and URLs need";
    let cases: &[(&[&str], &str, &str, &str)] = &[
        (&["reverse", "in.zarr", "--axes", "x", "-o", "o.zarr"], zarr, "zarr", "crates/zarr"),
        (
            &["info", "s3://bucket/in.zarr"],
            "s3://bucket/in.zarr: Zarr stores, HDF5 files and URLs need",
            "zarr",
            "crates/zarr",
        ),
        (
            &["reverse", "no.nc:temperature", "-o", "out.npy"],
            "no.nc:temperature: Zarr stores, HDF5 files and URLs need",
            "zarr",
            "crates/zarr",
        ),
        (
            &["reverse", "x.npy", "-o", "out.npy", "--device", "gpu:1"],
            "--device gpu needs",
            "wgpu",
            "crates/wgpu-command",
        ),
        (&["zarr", "info", "in.zarr"], "zarr needs", "zarr", "crates/zarr"),
        (&["conformance", "rules"], "conformance needs", "conformance", "conformance/command"),
        (&["-q", "lower", "--help"], "lower needs", "lower", "conformance/command"),
        (&["verify", "reverse", "x.npy"], "verify needs", "verify", "conformance/command"),
    ];
    for (words, needed, name, path) in cases {
        let Outcome { code, stdout, stderr } = run(alone(folder.path(), words));
        assert_eq!((code, stdout.as_str()), (Some(1), ""), "{words:?}");
        let expected = format!(
            "error: {needed} the program retrograde-{name}, which is neither beside this one nor in \
             PATH: install it with `cargo install --path {path}`\n"
        );
        assert_eq!(stderr, expected);
        assert_eq!(names(folder.path()), ["bin", "x.npy"]);
    }
}

#[test]
fn other_operators_refuse_stores() {
    let folder = tempfile::tempdir().unwrap();
    for (words, name) in [
        (&["rot90", "in.zarr", "-o", "out.npy"][..], "rot90"),
        (&["reverse-segments", "x.npy", "--offsets", "0,1", "-o", "in.zarr"], "reverse-segments"),
        (&["show", "reverse", "in.zarr"], "show"),
    ] {
        let outcome = run(command(folder.path(), words));
        assert_eq!(outcome.code, Some(1));
        let expected = format!(
            "error: in.zarr: {name} does not take Zarr stores, HDF5 files or URLs; these do: \
             reverse, reverse-sequence, info\n"
        );
        assert_eq!(outcome.stderr, expected);
    }
}

#[test]
fn options_for_stores_are_refused_for_other_files() {
    let folder = folder_with(&[("x.npy", array("|u1", &[2, 3], 0..6))]);
    for option in ["--memory=1GiB", "--no-sync", "--verify"] {
        let outcome = run(command(folder.path(), &["reverse", "x.npy", "-o", "y.npy", option]));
        assert_eq!(outcome.code, Some(1), "{option}");
        let name = option.split('=').next().unwrap();
        let expected = format!(
            "error: {name} is for Zarr stores and HDF5 files, and x.npy is neither: omit it ("
        );
        assert!(outcome.stderr.starts_with(&expected), "{}", outcome.stderr);
    }
    let named = run(command(folder.path(), &["reverse", "x.npy", "--axes", "lat", "-o", "y.npy"]));
    let expected = "error: --axes: \"lat\" is a name, and only axes of Zarr and HDF5 arrays have \
                    one: give numbers such as 0,-1\n";
    assert_eq!((named.code, named.stderr.as_str()), (Some(1), expected));
    assert_eq!(names(folder.path()), ["x.npy"]);
    let help = shown(&["reverse", "--help"]);
    let (_, group) = help.split_once("Zarr and HDF5:\n").expect(&help);
    for option in ["--memory <SIZE>", "--no-sync", "--verify"] {
        assert!(group.contains(option), "{group}");
    }
    assert!(!shown(&["reverse-segments", "--help"]).contains("--no-sync"));
}

#[test]
fn help_says_which_programs_are_there() {
    let folder = near();
    let line = |name: &str| {
        let help = run(alone(folder.path(), &["--help"])).stdout;
        let start = format!("  {name} ");
        help.lines().find(|line| line.starts_with(&start)).expect(&help).to_owned()
    };
    let missing = "(not installed: cargo install --path crates/zarr)";
    assert!(line("zarr").ends_with(missing) && line("verify").contains("not installed"));
    #[cfg(unix)]
    {
        program(&folder.path().join("bin/retrograde-zarr"), "echo \"$@\"");
        assert!(!line("zarr").contains("not installed") && line("wgpu").contains("not installed"));
        program(&folder.path().join("bin/retrograde-own"), "");
        assert_eq!(line("Others"), "  Others that are installed: own");
        assert_eq!(run(alone(folder.path(), &["help", "zarr"])).stdout, "--help\n");
    }
}

#[cfg(unix)]
#[test]
fn a_program_gets_all_arguments_and_gives_its_exit_code() {
    let folder = near();
    drop(alone(folder.path(), &[]));
    for name in ["zarr", "wgpu", "own"] {
        let path = folder.path().join(format!("bin/retrograde-{name}"));
        program(&path, &format!("echo {name} \"$@\"\nexit 7"));
    }
    let cases: &[(&[&str], &str)] = &[
        (
            &["-q", "reverse", "in.zarr:a/b", "--axes", "lat", "--memory", "1G", "-o", "out.zarr"],
            "zarr -q reverse in.zarr:a/b --axes lat --memory 1G -o out.zarr",
        ),
        (&["reverse", "x.npy", "--verify", "-oy.zarr"], "zarr reverse x.npy --verify -oy.zarr"),
        (
            &["reverse-sequence", "x.npy", "--lengths=1,2", "--device=gpu", "--in-place"],
            "wgpu reverse-sequence x.npy --lengths=1,2 --device=gpu --in-place",
        ),
        (&["own", "a b", "--help", "-x"], "own a b --help -x"),
        (&["-q", "own", "--", "y"], "own --quiet -- y"),
        (&["zarr"], "zarr"),
    ];
    for (words, said) in cases {
        let outcome = run(alone(folder.path(), words));
        assert_eq!((outcome.code, outcome.stdout.trim()), (Some(7), *said), "{words:?}");
    }
}

#[cfg(unix)]
#[test]
fn programs_in_path_are_found_and_commands_come_first() {
    let folder = near();
    npy::write(folder.path().join("x.npy"), &array("|u1", &[3], 0..3)).unwrap();
    let others = folder.path().join("others");
    std::fs::create_dir(&others).unwrap();
    program(&others.join("retrograde-own"), "kill -TERM $$");
    program(&others.join("retrograde-reverse"), "exit 7");
    let with_path = |words: &[&str]| {
        let mut command = alone(folder.path(), words);
        command.env("PATH", format!("{}:/bin:/usr/bin", others.display()));
        output(&mut command).unwrap().status
    };
    use std::os::unix::process::ExitStatusExt;
    assert_eq!(with_path(&["own"]).signal(), Some(15));
    assert_eq!(with_path(&["-q", "reverse", "x.npy", "-o", "y.npy"]).code(), Some(0));
    assert_eq!(read(&folder, "y.npy").data(), [2, 1, 0]);
    assert_eq!(with_path(&["no-such-program"]).code(), Some(2));
    let unknown = run(alone(folder.path(), &["reverse-sequense", "x.npy"]));
    assert!(
        unknown.stderr.contains("similar subcommand")
            && unknown.stderr.contains("'reverse-sequence'"),
        "{unknown:?}"
    );
}

#[test]
fn explaining_knows_the_cpu_and_cuda() {
    let folder = folder_with(&[("x.npy", array("|u1", &[2, 3], 0..6))]);
    let Outcome { code, stderr, .. } =
        run(command(folder.path(), &["explain", "reverse", "x.npy", "--device=gpu"]));
    assert_eq!(code, Some(1));
    assert_eq!(stderr, "error: explain: --device gpu is not supported, expected cpu or cuda\n");
}
