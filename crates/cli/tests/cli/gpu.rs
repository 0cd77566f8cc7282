//! `--device gpu` goes to the program `retrograde-wgpu`, with all arguments.

use super::*;

#[test]
fn a_missing_program_is_named_and_nothing_is_written() {
    let folder = folder_with(&[("x.npy", array("|u1", &[2, 3], 0..6))]);
    for device in ["gpu", "gpu:1"] {
        let words = ["reverse", "x.npy", "-o", "out.npy", "--device", device];
        let mut command = command(folder.path(), &words);
        command.env("PATH", folder.path());
        let Outcome { code, stdout, stderr } = run(command);
        assert_eq!((code, stdout.as_str()), (Some(1), ""));
        let expected = "error: --device gpu needs the program retrograde-wgpu, which is neither \
                        beside this one nor in PATH: install it with `cargo install --path \
                        crates/wgpu-command`\n";
        assert_eq!(stderr, expected);
        assert_eq!(names(folder.path()), ["x.npy"]);
    }
}

#[test]
fn explaining_knows_the_cpu_and_cuda() {
    let folder = folder_with(&[("x.npy", array("|u1", &[2, 3], 0..6))]);
    let Outcome { code, stderr, .. } =
        run(command(folder.path(), &["explain", "reverse", "x.npy", "--device=gpu"]));
    assert_eq!(code, Some(1));
    assert_eq!(stderr, "error: explain: --device gpu is not supported, expected cpu or cuda\n");
}

#[cfg(unix)]
#[test]
fn the_program_gets_all_arguments_and_gives_its_exit_code() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("retrograde-wgpu");
    std::fs::write(&program, "#!/bin/sh\necho \"$@\"\nexit 7\n").unwrap();
    std::fs::set_permissions(&program, PermissionsExt::from_mode(0o755)).unwrap();
    let words = ["-q", "reverse-sequence", "x.npy", "--lengths=1,2", "--device=gpu", "--in-place"];
    let mut command = command(folder.path(), &words);
    command.env("PATH", format!("{}:/bin:/usr/bin", folder.path().display()));
    let outcome = run(command);
    assert_eq!((outcome.code, outcome.stdout.trim()), (Some(7), words.join(" ").as_str()));
}
