//! One adapter process: requests in, answers out, within limits of time and memory.
//!
//! Memory is the resident size in `/proc`, so it is limited on Linux only.

use crate::protocol;
use std::ffi::OsString;
use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

/// What a process may take.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// Until it has said who it is: importing a framework takes long.
    pub start: Duration,
    /// Between two answers.
    pub case: Duration,
    /// Resident bytes.
    pub memory: u64,
}

impl Default for Limits {
    fn default() -> Limits {
        let seconds = Duration::from_secs;
        Limits { start: seconds(180), case: seconds(20), memory: 8 << 30 }
    }
}

/// How a process ended before it had answered everything.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ended {
    /// It exited, with this description.
    Exited(String),
    /// It did not answer in time.
    Silent,
    /// It took too much memory.
    Memory,
}

/// A running adapter.
pub(crate) struct Process {
    child: Child,
    lines: Receiver<String>,
    errors: Arc<Mutex<Vec<u8>>>,
    limits: Limits,
}

/// How often time and memory are checked.
const TICK: Duration = Duration::from_millis(50);
/// How much of the end of stderr is kept.
const KEPT: usize = 2000;

impl Process {
    /// Starts an adapter, sends these lines to it and closes its input.
    pub(crate) fn start(
        command: &[OsString],
        requests: Vec<String>,
        limits: Limits,
    ) -> Result<Process, String> {
        let (program, arguments) = command.split_first().ok_or("the command is empty")?;
        let mut child = Command::new(program)
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(|error| format!("{}: {error}", program.to_string_lossy()))?;
        if let Some(mut stdin) = child.stdin.take() {
            // A process that ended does not read; that shows at its end.
            thread::spawn(move || {
                let hello = protocol::hello().to_string();
                for line in std::iter::once(hello).chain(requests) {
                    if writeln!(stdin, "{line}").is_err() {
                        break;
                    }
                }
            });
        }
        let (sender, lines) = channel();
        if let Some(stdout) = child.stdout.take() {
            thread::spawn(move || {
                for line in BufReader::new(stdout).split(b'\n').map_while(Result::ok) {
                    let line = String::from_utf8_lossy(&line).into_owned();
                    if sender.send(line).is_err() {
                        break;
                    }
                }
            });
        }
        let errors = Arc::new(Mutex::new(Vec::new()));
        if let Some(mut stderr) = child.stderr.take() {
            let kept = Arc::clone(&errors);
            thread::spawn(move || {
                let mut piece = [0; 4096];
                while let Ok(count @ 1..) = stderr.read(&mut piece) {
                    let Ok(mut kept) = kept.lock() else { break };
                    kept.extend_from_slice(&piece[..count]);
                    let surplus = kept.len().saturating_sub(KEPT);
                    kept.drain(..surplus);
                }
            });
        }
        Ok(Process { child, lines, errors, limits })
    }

    /// The next line that is an object, within the limits.
    pub(crate) fn line(&mut self, first: bool) -> Result<String, Ended> {
        let limit = if first { self.limits.start } else { self.limits.case };
        let start = Instant::now();
        loop {
            match self.lines.recv_timeout(TICK) {
                Ok(line) if line.starts_with('{') => return Ok(line),
                Ok(_) => {}
                Err(RecvTimeoutError::Disconnected) => return Err(self.end()),
                Err(RecvTimeoutError::Timeout) => {
                    if start.elapsed() > limit {
                        return Err(Ended::Silent);
                    }
                    if resident(self.child.id()).is_some_and(|bytes| bytes > self.limits.memory) {
                        return Err(Ended::Memory);
                    }
                }
            }
        }
    }

    /// Waits for the end of a process that has answered everything; `None` if it ends well. One
    /// that does not end is stopped, which is not held against it.
    pub(crate) fn finish(&mut self) -> Option<Ended> {
        let start = Instant::now();
        while start.elapsed() < self.limits.case {
            match self.child.try_wait() {
                Ok(Some(status)) if status.success() => return None,
                Ok(Some(status)) => return Some(Ended::Exited(self.described(status))),
                Ok(None) => thread::sleep(TICK / 5),
                Err(error) => return Some(Ended::Exited(error.to_string())),
            }
        }
        None
    }

    /// Waits for a process whose output is closed, and says how it ended.
    fn end(&mut self) -> Ended {
        let start = Instant::now();
        while start.elapsed() < self.limits.case {
            match self.child.try_wait() {
                Ok(Some(status)) => return Ended::Exited(self.described(status)),
                Ok(None) => thread::sleep(TICK / 5),
                Err(error) => return Ended::Exited(error.to_string()),
            }
        }
        Ended::Silent
    }

    fn described(&self, status: ExitStatus) -> String {
        // What was written last may still be on its way.
        thread::sleep(TICK);
        let errors = self.errors.lock().map(|kept| kept.clone()).unwrap_or_default();
        let errors = String::from_utf8_lossy(&errors).into_owned();
        let last = errors.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or("").trim();
        let how = how_it_ended(status);
        if last.is_empty() { how } else { format!("{how}: {last}") }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // Both fail if it has ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[cfg(unix)]
fn how_it_ended(status: ExitStatus) -> String {
    use std::os::unix::process::ExitStatusExt;
    match status.signal() {
        Some(6) => "aborted (SIGABRT)".to_owned(),
        Some(11) => "segmentation fault (SIGSEGV)".to_owned(),
        Some(8) => "arithmetic exception (SIGFPE)".to_owned(),
        Some(signal) => format!("ended by signal {signal}"),
        None => status.to_string(),
    }
}

#[cfg(not(unix))]
fn how_it_ended(status: ExitStatus) -> String {
    status.to_string()
}

/// The resident size of a process, where the system has `/proc`.
fn resident(id: u32) -> Option<u64> {
    let status = std::fs::read_to_string(format!("/proc/{id}/status")).ok()?;
    let line = status.lines().find(|line| line.starts_with("VmRSS:"))?;
    let kilobytes: u64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kilobytes * 1024)
}
