//! Ctrl-C leaves nothing behind, and the input as it was.
#![cfg(target_os = "linux")]

use super::*;
use std::fs;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

/// A file of this many zeros that takes no room on the disk.
fn sparse(path: &Path, bytes: u64) {
    let header = {
        let folder = folder_with(&[("h.npy", array("|u1", &[0], []))]);
        fs::read(folder.path().join("h.npy")).unwrap()
    };
    let text = String::from_utf8_lossy(&header[10..]).replace("(0,)", &format!("({bytes},)"));
    let mut file = header[..10].to_vec();
    file.extend(text.trim_end().as_bytes());
    file.resize(127, b' ');
    file.push(b'\n');
    assert_eq!(header.len(), 128);
    fs::write(path, file).unwrap();
    fs::File::options().write(true).open(path).unwrap().set_len(128 + bytes).unwrap();
}

fn interrupt(child: &Child) {
    let pid = child.id().to_string();
    assert!(Command::new("kill").args(["-INT", &pid]).status().unwrap().success());
}

/// Waits for a temporary file to appear, for as long as the command runs.
fn begun(folder: &Path, child: &mut Child) -> bool {
    let start = Instant::now();
    while start.elapsed() < Duration::from_secs(20) && child.try_wait().unwrap().is_none() {
        if names(folder).iter().any(|name| name.starts_with(".retrograde-")) {
            return true;
        }
        std::thread::sleep(Duration::from_micros(200));
    }
    false
}

#[test]
fn an_interrupted_command_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    sparse(&folder.path().join("x.npy"), 1 << 29);
    fs::write(folder.path().join("y.npy"), b"old").unwrap();
    let before = names(folder.path());
    // It may be too quick for us; then there is another try.
    for _ in 0..10 {
        let mut child = command(folder.path(), &["reverse", "x.npy", "-o", "y.npy"])
            .env("RETROGRADE_NUM_THREADS", "1")
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        if begun(folder.path(), &mut child) {
            interrupt(&child);
        }
        let output = child.wait_with_output().unwrap();
        assert_eq!(names(folder.path()), before);
        if output.status.code() == Some(130) {
            let said = String::from_utf8(output.stderr).unwrap();
            assert_eq!(said, "interrupted: nothing was written\n");
            assert_eq!(fs::read(folder.path().join("y.npy")).unwrap(), b"old");
            assert_eq!(fs::metadata(folder.path().join("x.npy")).unwrap().len(), 128 + (1 << 29));
            return;
        }
        assert_eq!(output.status.code(), Some(0));
        fs::write(folder.path().join("y.npy"), b"old").unwrap();
    }
    panic!("ten times too late to interrupt");
}

#[test]
fn waiting_for_input_can_be_interrupted() {
    let folder = tempfile::tempdir().unwrap();
    // Until the handler is there, an interruption ends the process as any other, by its signal;
    // on a busy machine that may take a while.
    for tenths in 1..30 {
        let mut child = command(folder.path(), &["reverse", "-", "-o", "y.npy"])
            .stdin(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        // Held open: waiting for a child closes its input, which would end it too.
        let stdin = child.stdin.take();
        std::thread::sleep(Duration::from_millis(100 * tenths));
        interrupt(&child);
        let code = child.wait().unwrap().code();
        drop(stdin);
        assert!(names(folder.path()).is_empty());
        if code == Some(130) {
            return;
        }
        assert_eq!(code, None);
    }
    panic!("never interrupted while waiting");
}

#[test]
fn a_limit_on_file_sizes_is_an_error_like_any_other() {
    let folder = tempfile::tempdir().unwrap();
    sparse(&folder.path().join("x.npy"), 1 << 22);
    let script = "trap '' XFSZ; ulimit -f 1000; exec \"$0\" reverse x.npy -o y.npy";
    let mut limited = Command::new("sh");
    limited.current_dir(folder.path()).args(["-c", script, env!("CARGO_BIN_EXE_retrograde")]);
    let stderr = "error: cannot write y.npy: File too large\n".to_owned();
    assert_eq!(run(limited), Outcome { code: Some(1), stdout: String::new(), stderr });
    assert_eq!(names(folder.path()), ["x.npy"]);
}
