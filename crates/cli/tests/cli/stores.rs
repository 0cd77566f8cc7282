//! Stores go to the program `retrograde-zarr`, with all arguments.

use super::{command, run};

#[test]
fn a_missing_program_is_named() {
    let folder = tempfile::tempdir().unwrap();
    for words in [
        &["reverse", "in.zarr", "--axes", "x", "-o", "out.zarr"][..],
        &["info", "s3://bucket/in.zarr"],
        &["reverse", "no.nc:temperature", "-o", "out.npy"],
    ] {
        let mut command = command(folder.path(), words);
        let outcome = run({
            command.env("PATH", folder.path());
            command
        });
        assert_eq!(outcome.code, Some(1), "{words:?}");
        assert!(outcome.stderr.contains("cargo install --path zarr"), "{}", outcome.stderr);
        assert!(outcome.stderr.contains(words[1]), "{}", outcome.stderr);
    }
}

#[test]
fn other_operators_refuse_stores() {
    let folder = tempfile::tempdir().unwrap();
    let outcome = run(command(folder.path(), &["rot90", "in.zarr", "-o", "out.zarr"]));
    assert_eq!(outcome.code, Some(1));
    let expected = "error: in.zarr: rot90 does not take Zarr stores, HDF5 files or URLs; these \
                    do: reverse, reverse-sequence, info\n";
    assert_eq!(outcome.stderr, expected);
}

#[cfg(unix)]
#[test]
fn the_program_gets_all_arguments_and_gives_its_exit_code() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("retrograde-zarr");
    std::fs::write(&program, "#!/bin/sh\necho \"$@\"\nexit 7\n").unwrap();
    std::fs::set_permissions(&program, PermissionsExt::from_mode(0o755)).unwrap();
    let words =
        ["-q", "reverse", "in.zarr:a/b", "--axes", "lat", "--memory", "1G", "-o", "out.zarr"];
    let mut command = command(folder.path(), &words);
    command.env("PATH", format!("{}:/bin:/usr/bin", folder.path().display()));
    let outcome = run(command);
    assert_eq!((outcome.code, outcome.stdout.trim()), (Some(7), words.join(" ").as_str()));
}
