//! Processes of tests. Each has a deadline, after which it is killed with everything that it started
//! and the test fails with what it had printed; none waits for ever. Each starts with the default
//! handlers of the signals that request termination, whatever the tests were started with (`nohup`
//! and background jobs ignore some of them).

#[cfg(not(unix))]
mod other;
#[cfg(unix)]
mod unix;

#[cfg(not(unix))]
use other as system;
#[cfg(unix)]
use unix as system;

use std::io::{self, Read, Write};
use std::path::Path;
use std::process::{
    Child, ChildStderr, ChildStdin, ChildStdout, Command, ExitStatus, Output, Stdio,
};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// How long a process may take. No test needs a tenth of it, but machines may be busy, emulated, or
/// both.
pub const LIMIT: Duration = Duration::from_secs(600);

/// How often it is checked whether a process has ended.
const TICK: Duration = Duration::from_millis(1);

/// Runs a command without input and returns what it printed, like [`Command::output`].
pub fn output(command: &mut Command) -> io::Result<Output> {
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    Ok(Process::start(command)?.output())
}

/// Runs a command with this on its stdin, of which it may not read everything.
pub fn fed(command: &mut Command, stdin: &[u8]) -> io::Result<Output> {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut process = Process::start(command)?;
    if let Some(mut pipe) = process.stdin.take() {
        let _ = pipe.write_all(stdin);
    }
    Ok(process.output())
}

/// A program in this folder, without environment variables that change what our programs print.
pub fn program(path: &str, folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(path);
    command.current_dir(folder).args(arguments);
    for variable in ["COLUMNS", "NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE"] {
        command.env_remove(variable);
    }
    command
}

/// What a program printed, which is text, and its exit code.
#[derive(Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names are self-explanatory")]
pub struct Outcome {
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

impl From<Output> for Outcome {
    fn from(output: Output) -> Outcome {
        let text = |bytes| String::from_utf8(bytes).expect("programs print text");
        let (stdout, stderr) = (text(output.stdout), text(output.stderr));
        Outcome { code: output.status.code(), stdout, stderr }
    }
}

/// A running process. It is killed when this is dropped.
#[derive(Debug)]
pub struct Process {
    /// Its input, if it is a pipe. It is closed before its end is waited for.
    pub stdin: Option<ChildStdin>,
    /// Its output, if it is a pipe.
    pub stdout: Option<ChildStdout>,
    /// Its errors, if they are a pipe.
    pub stderr: Option<ChildStderr>,
    child: Arc<Mutex<Child>>,
    id: u32,
    /// The command, for messages.
    command: String,
    limit: Duration,
    deadline: Instant,
    expired: Arc<AtomicBool>,
    printed: [Option<Pipe>; 2],
    /// The watch ends when this is dropped.
    _watched: Sender<()>,
}

/// A pipe that a thread reads.
#[derive(Debug)]
struct Pipe {
    bytes: Arc<Mutex<Vec<u8>>>,
    closed: Receiver<()>,
}

impl Process {
    /// Starts a command with [`LIMIT`].
    pub fn start(command: &mut Command) -> io::Result<Process> {
        Process::start_within(LIMIT, command)
    }

    /// Starts a command that may take this long.
    pub fn start_within(limit: Duration, command: &mut Command) -> io::Result<Process> {
        system::prepare(command);
        let mut child = command.spawn()?;
        let (id, deadline) = (child.id(), Instant::now() + limit);
        let (stdin, stdout, stderr) =
            (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let (child, expired) = (Arc::new(Mutex::new(child)), Arc::new(AtomicBool::new(false)));
        let (watched, end) = channel();
        let (subject, late) = (Arc::clone(&child), Arc::clone(&expired));
        // A thread of its own, because the test may be waiting for what the process prints.
        thread::spawn(move || {
            if end.recv_timeout(limit) == Err(RecvTimeoutError::Timeout) {
                late.store(kill(&mut locked(&subject)), Ordering::SeqCst);
            }
        });
        let command = format!("{command:?}");
        let printed = [None, None];
        let process = Process {
            stdin,
            stdout,
            stderr,
            child,
            id,
            command,
            limit,
            deadline,
            expired,
            printed,
            _watched: watched,
        };
        Ok(process)
    }

    /// Its number.
    pub fn id(&self) -> u32 {
        self.id
    }

    /// How it ended, if it has.
    pub fn ended(&self) -> Option<ExitStatus> {
        locked(&self.child).try_wait().expect("it is our child")
    }

    /// Kills it, with everything that it started.
    pub fn kill(&self) {
        kill(&mut locked(&self.child));
    }

    /// Closes its input and waits for its end.
    ///
    /// # Panics
    /// If it is killed because it took too long.
    pub fn wait(&mut self) -> ExitStatus {
        drop(self.stdin.take());
        if let Some(pipe) = self.stdout.take() {
            self.printed[0] = Some(Pipe::read(pipe));
        }
        if let Some(pipe) = self.stderr.take() {
            self.printed[1] = Some(Pipe::read(pipe));
        }
        loop {
            if let Some(status) = self.ended() {
                if self.expired.load(Ordering::SeqCst) {
                    self.fail("was killed");
                }
                return status;
            }
            thread::sleep(TICK);
        }
    }

    /// Waits for its end and returns everything that it printed to pipes.
    ///
    /// # Panics
    /// If it is killed because it took too long.
    pub fn output(mut self) -> Output {
        let status = self.wait();
        let [stdout, stderr] = [0, 1].map(|at| match &self.printed[at] {
            // What it started may still hold the pipe.
            Some(pipe) if !pipe.ends(self.deadline) => self.fail("has ended, but not its output,"),
            Some(pipe) => std::mem::take(&mut *locked(&pipe.bytes)),
            None => Vec::new(),
        });
        Output { status, stdout, stderr }
    }

    fn fail(&self, how: &str) -> ! {
        let [stdout, stderr] = self.printed.each_ref().map(|pipe| {
            let Some(pipe) = pipe else { return "not a pipe".to_owned() };
            // The last of it may still be on its way.
            pipe.ends(Instant::now() + Duration::from_secs(1));
            String::from_utf8_lossy(&locked(&pipe.bytes)).into_owned()
        });
        let (command, limit) = (&self.command, self.limit);
        panic!("{command} {how} after {limit:?}\n--- stdout:\n{stdout}\n--- stderr:\n{stderr}");
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let mut child = locked(&self.child);
        if kill(&mut child) {
            let _ = child.wait();
        }
    }
}

impl Pipe {
    fn read(mut from: impl Read + Send + 'static) -> Pipe {
        let bytes = Arc::new(Mutex::new(Vec::new()));
        let (kept, (open, closed)) = (Arc::clone(&bytes), channel());
        thread::spawn(move || {
            let mut piece = vec![0; 1 << 16];
            while let Ok(count @ 1..) = from.read(&mut piece) {
                locked(&kept).extend_from_slice(&piece[..count]);
            }
            drop::<Sender<()>>(open);
        });
        Pipe { bytes, closed }
    }

    /// Whether it is read to its end before the deadline.
    fn ends(&self, deadline: Instant) -> bool {
        let left = deadline.saturating_duration_since(Instant::now());
        self.closed.recv_timeout(left) == Err(RecvTimeoutError::Disconnected)
    }
}

/// Kills a child, with everything that it started; whether it was still running.
fn kill(child: &mut Child) -> bool {
    // Its number is its own only until its end was noticed, so this is checked under the same lock.
    let running = matches!(child.try_wait(), Ok(None));
    if running {
        system::kill(child);
    }
    running
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
