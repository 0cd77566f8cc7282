//! What a test gets from a process that ends, and from one that does not.

#![cfg(unix)]

use retrograde_deadline::{Process, output};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

fn shell(script: &str) -> Command {
    let mut shell = Command::new("sh");
    shell.args(["-c", script]).stdout(Stdio::piped()).stderr(Stdio::piped());
    shell
}

/// The message of the test that waits for this script, which may take a second.
fn failure(script: &str) -> String {
    let start = Instant::now();
    let limit = Duration::from_secs(1);
    let process = Process::start_within(limit, &mut shell(script)).unwrap();
    let failed = catch_unwind(AssertUnwindSafe(|| process.output())).unwrap_err();
    // Far less than what the script sleeps.
    assert!(start.elapsed() < Duration::from_secs(500));
    *failed.downcast::<String>().unwrap()
}

#[test]
fn a_process_that_ends_is_like_any_other() {
    let ended = output(&mut shell("read line; echo out$line; echo err >&2; exit 3")).unwrap();
    assert_eq!(ended.status.code(), Some(3));
    assert_eq!((&ended.stdout[..], &ended.stderr[..]), (&b"out\n"[..], &b"err\n"[..]));
    assert!(output(&mut Command::new("no-such-program")).is_err());
    // More than a pipe holds.
    let ended = output(&mut shell("head -c 1000000 /dev/zero")).unwrap();
    assert_eq!(ended.stdout.len(), 1_000_000);
}

#[test]
fn a_process_that_does_not_end_is_killed_and_fails_the_test() {
    let printed = failure("echo out; echo err >&2; sleep 1000");
    assert!(printed.contains("sleep 1000\" was killed after 1s"), "{printed}");
    assert!(printed.contains("--- stdout:\nout\n\n--- stderr:\nerr\n"), "{printed}");
}

#[test]
fn so_is_what_it_started() {
    // The pipe stays open until the second sleep ends too.
    failure("sleep 1000 | sleep 1000");
    // One that has left for itself is not waited for.
    let left = failure("sleep 30 & exit 0");
    assert!(left.contains("has ended, but not its output, after 1s"), "{left}");
}

#[test]
fn a_test_that_reads_from_it_is_released() {
    use std::io::Read;
    let limit = Duration::from_millis(100);
    let mut process = Process::start_within(limit, &mut shell("sleep 1000")).unwrap();
    let mut stdout = process.stdout.take().unwrap();
    assert_eq!(stdout.read(&mut [0; 10]).unwrap(), 0);
    assert!(catch_unwind(AssertUnwindSafe(|| process.wait())).is_err());
}

#[test]
fn signals_that_the_tests_ignore_have_their_default_handlers() {
    // A shell cannot reset a signal that was ignored when it started.
    let inner = "kill -INT $$; echo ignored";
    let ignoring = |name: &str| format!("trap '' INT TERM; exec {name}");
    let plain = output(&mut shell(&ignoring(&format!("sh -c '{inner}'")))).unwrap();
    assert_eq!(plain.stdout, b"ignored\n");
    // The same test again in a process that ignores them: what it starts does not.
    let own = std::env::current_exe().unwrap();
    if std::env::var_os("RETROGRADE_IGNORING").is_none() {
        let own = own.to_str().unwrap();
        let mut again = shell(&ignoring(&format!("\"$0\" --exact {}", NAME)));
        again.arg(own).env("RETROGRADE_IGNORING", "1");
        let again = output(&mut again).unwrap();
        let said = String::from_utf8_lossy(&again.stdout);
        assert!(again.status.success() && said.contains("1 passed"), "{said}");
        return;
    }
    let ended = output(&mut shell(inner)).unwrap();
    assert_eq!((ended.status.code(), &ended.stdout[..]), (None, &b""[..]));
}

const NAME: &str = "signals_that_the_tests_ignore_have_their_default_handlers";
