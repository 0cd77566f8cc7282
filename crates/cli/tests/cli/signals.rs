//! Signals: whatever ends the command, nothing is left behind and the input is unchanged.
#![cfg(target_os = "linux")]

use super::*;
use std::fs;
use std::io::Read;
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;
use std::time::{Duration, Instant};

/// A sparse file of this many zeros, which takes no disk space.
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

/// Sends a signal, by its name without SIG.
fn signal(process: &Process, name: &str) {
    let (pid, option) = (process.id().to_string(), format!("-{name}"));
    assert!(output(Command::new("kill").args([&option, &pid])).unwrap().status.success());
}

/// Waits until an output without a name has been created, or the command ends.
fn begun(folder: &Path, process: &Process) -> bool {
    let start = Instant::now();
    let folder = folder.canonicalize().unwrap();
    let descriptors = format!("/proc/{}/fd", process.id());
    while start.elapsed() < Duration::from_secs(20) && process.ended().is_none() {
        let open = fs::read_dir(&descriptors).into_iter().flatten().flatten();
        let targets = open.filter_map(|entry| fs::read_link(entry.path()).ok());
        let nameless = |path: &PathBuf| path.to_string_lossy().ends_with(" (deleted)");
        if targets.filter(nameless).any(|path| path.starts_with(&folder)) {
            return true;
        }
        std::thread::sleep(Duration::from_micros(200));
    }
    false
}

#[test]
fn an_interrupted_command_leaves_nothing() {
    for (name, code) in ENDING {
        interrupted_by(name, code);
    }
}

/// Signals that request termination, and the exit codes that shells expect: 128 and the number.
const ENDING: [(&str, i32); 4] = [("INT", 130), ("TERM", 143), ("HUP", 129), ("QUIT", 131)];

fn interrupted_by(name: &str, code: i32) {
    let folder = tempfile::tempdir().unwrap();
    sparse(&folder.path().join("x.npy"), 1 << 29);
    fs::write(folder.path().join("y.npy"), b"old").unwrap();
    let before = names(folder.path());
    // The command may finish before the signal; then try again.
    for _ in 0..10 {
        let mut reverse = command(folder.path(), &["reverse", "x.npy", "-o", "y.npy"]);
        reverse.env("RETROGRADE_NUM_THREADS", "1");
        let process = piped(reverse);
        if begun(folder.path(), &process) {
            signal(&process, name);
        }
        let output = process.output();
        assert_eq!(names(folder.path()), before);
        if output.status.code() == Some(code) {
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
    // Before the handler is installed, an interruption ends the process by its signal. On a busy
    // machine that may take a while.
    for tenths in 1..30 {
        let mut reverse = command(folder.path(), &["reverse", "-", "-o", "y.npy"]);
        reverse.stdin(Stdio::piped());
        let mut process = piped(reverse);
        // Held open: waiting for a process closes its stdin, which would end it too.
        let stdin = process.stdin.take();
        std::thread::sleep(Duration::from_millis(100 * tenths));
        signal(&process, "INT");
        let status = process.wait();
        drop(stdin);
        assert!(names(folder.path()).is_empty());
        if status.code() == Some(130) {
            return;
        }
        assert_eq!(status.signal(), Some(2));
    }
    panic!("never interrupted while waiting");
}

#[test]
fn a_limit_on_file_sizes_is_an_error_like_any_other() {
    let folder = tempfile::tempdir().unwrap();
    sparse(&folder.path().join("x.npy"), 1 << 22);
    // By default SIGXFSZ would end the process. Whether the shell ignores it must not matter.
    for output in ["y.npy", "y.npz"] {
        for before in ["", "trap '' XFSZ; "] {
            let script = format!("{before}ulimit -f 1000; exec \"$0\" reverse x.npy -o {output}");
            let mut limited = Command::new("sh");
            limited.current_dir(folder.path());
            limited.args(["-c", &script, env!("CARGO_BIN_EXE_retrograde")]);
            let stderr = format!("error: cannot write {output}: File too large\n");
            assert_eq!(run(limited), Outcome { code: Some(1), stdout: String::new(), stderr });
            assert_eq!(names(folder.path()), ["x.npy"]);
        }
    }
}

/// A command that waits for its lengths, with its input mapped, started by this script.
struct Waiting {
    folder: TempDir,
    process: Process,
}

impl Waiting {
    fn new(script: &str, output: &[&str]) -> Waiting {
        let folder = tempfile::tempdir().unwrap();
        sparse(&folder.path().join("x.npy"), 1 << 20);
        let pipe = folder.path().join("lengths");
        assert!(super::output(Command::new("mkfifo").arg(&pipe)).unwrap().status.success());
        let script = format!("{script} exec \"$0\" \"$@\"");
        let mut shell = Command::new("sh");
        shell.current_dir(folder.path()).args(["-c", &script, env!("CARGO_BIN_EXE_retrograde")]);
        shell.args(["reverse-subsequences", "x.npy", "--axis=0", "--lengths=lengths"]);
        shell.args(output);
        Waiting { process: piped(shell), folder }
    }

    /// The pipe of the lengths, once the command has opened it: its input is mapped then.
    fn pipe(&mut self) -> fs::File {
        let mut open = fs::File::options();
        // Without this flag, it would wait for ever for a command that ends before.
        open.write(true).custom_flags(libc::O_NONBLOCK);
        loop {
            match open.open(self.path().join("lengths")) {
                Ok(pipe) => return pipe,
                Err(error) => assert_eq!(error.raw_os_error(), Some(libc::ENXIO), "{error}"),
            }
            if self.process.ended().is_some() {
                let (status, said) = self.said();
                panic!("{status}, before it read the lengths: {said}");
            }
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    /// How it ended, and its stderr.
    fn said(&mut self) -> (ExitStatus, String) {
        let mut said = String::new();
        let stderr = self.process.stderr.take();
        stderr.unwrap().read_to_string(&mut said).unwrap();
        (self.process.wait(), said)
    }

    fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Calls `meanwhile`, then sends the lengths; returns the exit code and stderr.
    fn end(mut self, meanwhile: impl FnOnce(&mut Waiting)) -> (Option<i32>, String, TempDir) {
        let mut pipe = self.pipe();
        meanwhile(&mut self);
        // The command may have ended.
        let _ = pipe.write_all(b"1048576\n");
        drop(pipe);
        let (status, said) = self.said();
        (status.code(), said, self.folder)
    }
}

#[test]
fn signals_that_were_ignored_at_the_start_stay_ignored() {
    for (name, ends) in ENDING {
        let waiting = Waiting::new(&format!("trap '' {name};"), &["-o", "y.npy"]);
        let (code, said, folder) = waiting.end(|waiting| signal(&waiting.process, name));
        assert_eq!(code, Some(0), "{name}: {said}");
        assert!(said.starts_with("y.npy: "), "{name}: {said}");
        assert_eq!(names(folder.path()), ["lengths", "x.npy", "y.npy"]);
        // If they were not ignored, they end it.
        let waiting = Waiting::new("", &["-o", "y.npy"]);
        let (code, said, folder) = waiting.end(|waiting| {
            signal(&waiting.process, name);
            // Wait before it gets its lengths: on a busy machine the signal may be late.
            while waiting.process.ended().is_none() {
                std::thread::sleep(Duration::from_millis(1));
            }
        });
        assert_eq!((code, said.as_str()), (Some(ends), "interrupted: nothing was written\n"));
        assert_eq!(names(folder.path()), ["lengths", "x.npy"]);
    }
}

#[test]
fn an_input_that_becomes_shorter_is_an_error() {
    let shorten = |waiting: &mut Waiting| {
        let file = fs::File::options().write(true).open(waiting.path().join("x.npy")).unwrap();
        file.set_len(4096).unwrap();
    };
    let lost = "error: cannot read x.npy: it was truncated, or its disk failed, while it was \
                being read";
    for output in [&["-o", "y.npy"][..], &["-o", "y.npz"], &["-o", "x.npy"]] {
        let (code, said, folder) = Waiting::new("", output).end(shorten);
        assert_eq!((code, said), (Some(1), format!("{lost}\n")), "{output:?}");
        assert_eq!(names(folder.path()), ["lengths", "x.npy"]);
    }
    let (code, said, _) = Waiting::new("", &["--in-place=direct"]).end(shorten);
    assert_eq!((code, said), (Some(1), format!("{lost}: it may be half reversed\n")));
}

#[test]
fn other_bus_errors_end_the_process_as_ever() {
    let mut waiting = Waiting::new("ulimit -c 0;", &["-o", "y.npy"]);
    let pipe = waiting.pipe();
    signal(&waiting.process, "BUS");
    assert_eq!(waiting.process.wait().signal(), Some(7));
    drop(pipe);
    assert_eq!(names(waiting.path()), ["lengths", "x.npy"]);
}

#[test]
fn one_process_at_a_time_changes_a_file_in_place() {
    let waiting = Waiting::new("", &["--in-place=direct"]);
    let (code, said, _) = waiting.end(|waiting| {
        for name in ["x.npy", "link.npy"] {
            let _ = fs::hard_link(waiting.path().join("x.npy"), waiting.path().join("link.npy"));
            let other = run(command(waiting.path(), &["reverse", name, "--in-place=direct"]));
            let stderr =
                format!("error: cannot write {name}: another process is changing it in place\n");
            assert_eq!((other.code, other.stderr), (Some(1), stderr));
        }
    });
    assert_eq!(code, Some(0), "{said}");
}

/// A pseudo-random number, the same in every run.
fn random(state: &mut u64) -> u64 {
    *state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
    *state >> 33
}

#[test]
fn killed_at_any_moment_it_leaves_the_old_file_or_the_new_one() {
    const BYTES: usize = 8 << 20;
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let ascending: Vec<u8> = (0..BYTES).map(|n| (n / 37) as u8).collect();
    let input = array("|u1", &[BYTES], ascending);
    let reversed: Vec<u8> = input.data().iter().rev().copied().collect();
    let reversed = array("|u1", &[BYTES], reversed);
    npy::write(at("x.npy"), &input).unwrap();
    npy::write(at("z.npy"), &input).unwrap();
    fs::write(at("old.npy"), b"old").unwrap();
    let mut files = ["old.npy", "x.npy", "z.npy"].map(str::to_owned).to_vec();
    let (input, reversed) = (fs::read(at("x.npy")).unwrap(), {
        npy::write(at("r.npy"), &reversed).unwrap();
        fs::read(at("r.npy")).unwrap()
    });
    fs::remove_file(at("r.npy")).unwrap();
    let commands: [&[&str]; 4] = [
        &["reverse", "x.npy", "-o", "new.npy"],
        &["reverse", "x.npy", "-o", "old.npy"],
        &["reverse", "z.npy", "--in-place"],
        &["reverse", "x.npy", "-o", "new.npz"],
    ];
    // The duration of a whole run, to spread the moments over it.
    let start = Instant::now();
    done(folder.path(), commands[0]);
    let whole = start.elapsed().as_micros() as u64;
    fs::remove_file(at("new.npy")).unwrap();
    let (mut state, mut killed) = (7, 0);
    for round in 0..100 {
        let arguments = commands[round % commands.len()];
        let mut process = piped(command(folder.path(), arguments));
        std::thread::sleep(Duration::from_micros(random(&mut state) % (whole * 3 / 2)));
        process.kill();
        killed += usize::from(process.wait().code().is_none());
        let content = |name: &str| fs::read(at(name)).unwrap();
        let left = names(folder.path());
        // Between two system calls a complete file has a temporary name.
        let ours = |name: &&String| !name.starts_with(".retrograde-");
        let (new, known): (Vec<_>, Vec<_>) =
            left.iter().filter(ours).partition(|name| name.starts_with("new."));
        assert_eq!(known, files.iter().collect::<Vec<_>>(), "round {round}");
        for name in new {
            if name == "new.npy" {
                assert_eq!(content(name), reversed, "round {round}");
            }
            let read = run(command(folder.path(), &["info", name]));
            assert_eq!(read.code, Some(0), "round {round}: {read:?}");
            fs::remove_file(at(name)).unwrap();
        }
        assert_eq!(content("x.npy"), input, "round {round}");
        let old = content("old.npy");
        assert!(old == b"old" || old == reversed, "round {round}");
        let z = content("z.npy");
        assert!(z == input || z == reversed, "round {round}");
    }
    assert!(killed > 20, "only {killed} of 100 runs were killed in time");
    // The next run removes files that were left over.
    let last = run(command(folder.path(), &["reverse", "x.npy", "-o", "last.npy"]));
    assert_eq!(last.code, Some(0), "{last:?}");
    files.insert(0, "last.npy".to_owned());
    assert_eq!(names(folder.path()), files);
}

#[test]
fn a_reader_that_has_seen_enough_ends_the_command_without_a_word() {
    let folder = tempfile::tempdir().unwrap();
    sparse(&folder.path().join("x.npy"), 1 << 26);
    let mut process = piped(command(folder.path(), &["reverse", "x.npy", "-o", "-"]));
    process.stdout.take().unwrap().read_exact(&mut [0; 10]).unwrap();
    let output = process.output();
    assert_eq!(output.status.code(), Some(141));
    assert_eq!(String::from_utf8(output.stderr).unwrap(), "");
}
