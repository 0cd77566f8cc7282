"""Processes of the tests in Python, as crates/deadline has them for Rust.

Each has a deadline, after which it is killed with everything that it started, and the test fails with what it had
printed. Each starts with the default handlers of the signals that request termination, whatever the tests were started
with: `nohup` and background jobs ignore some of them.
"""

import os
import signal
import subprocess
import threading
import time

#: How many seconds a process may take. No test needs a tenth of it, but machines may be busy, emulated, or both.
LIMIT = 600

_ENDING = [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT") if hasattr(signal, name)]


class Process(subprocess.Popen):
    """A running process. It ends at the latest after ``limit`` seconds; wait for it with ``communicate``."""

    def __init__(self, command, *, limit=LIMIT, preexec_fn=None, **options):
        self.limit, self.expired = limit, False
        if os.name == "posix":
            options |= {"start_new_session": True, "preexec_fn": _prepared(preexec_fn)}
        super().__init__(command, **options)
        self._deadline = time.monotonic() + limit
        # A thread of its own, because the test may be waiting for what the process prints.
        self._watch = threading.Timer(limit, self._expire)
        self._watch.daemon = True
        self._watch.start()

    def kill(self):
        """Kills it, with everything that it started."""
        if self.poll() is None:
            if os.name == "posix":
                os.killpg(self.pid, signal.SIGKILL)
            else:
                super().kill()

    def communicate(self, input=None, timeout=None):
        """Waits for its end and returns what it printed to pipes. Fails if it takes too long."""
        left = max(0, self._deadline - time.monotonic())
        try:
            # A little longer than until it is killed: what it started may hold its pipes.
            printed = super().communicate(input, left + 5 if timeout is None else timeout)
        except subprocess.TimeoutExpired as error:
            self.kill()
            raise self._failure(error.stdout, error.stderr) from None
        self._watch.cancel()
        if self.expired:
            raise self._failure(*printed)
        return printed

    def _expire(self):
        if self.poll() is None:
            self.expired = True
            self.kill()

    def _failure(self, *printed):
        out, err = (text.decode(errors="replace") if isinstance(text, bytes) else text for text in printed)
        return AssertionError(f"{self.args} was killed after {self.limit} s\n--- stdout:\n{out}\n--- stderr:\n{err}")


def run(command, *, input=None, check=False, **options):
    """Runs a command and returns what it printed, as text. With ``check``, it must succeed."""
    streams = {"stdin": subprocess.DEVNULL if input is None else subprocess.PIPE}
    streams |= {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    with Process(command, **streams | options) as process:
        try:
            out, err = process.communicate(input)
        except BaseException:
            process.kill()
            raise
    if check and process.returncode:
        raise AssertionError(f"{command} exited with status {process.returncode}\n{out}\n{err}")
    return subprocess.CompletedProcess(command, process.returncode, out, err)


def wait(child, limit=LIMIT):
    """Waits for a forked child by its number; its status as of ``os.waitpid``. Fails if it takes too long."""
    end = time.monotonic() + limit
    while True:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            return status
        if time.monotonic() > end:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            raise AssertionError(f"the forked child {child} was killed after {limit} s")
        time.sleep(0.001)


def _prepared(preexec_fn):
    """What a child does before it becomes another program. Nothing if it can be avoided: it is code between fork and
    exec in a process with threads."""
    ignored = [ending for ending in _ENDING if signal.getsignal(ending) is signal.SIG_IGN]
    if not ignored:
        return preexec_fn

    def prepare():
        for ending in ignored:
            signal.signal(ending, signal.SIG_DFL)
        if preexec_fn is not None:
            preexec_fn()

    return prepare
