"""What a test gets from a process that ends, and from one that does not."""

import os
import subprocess
import sys
import time
from pathlib import Path

import deadline
import pytest

pytestmark = pytest.mark.skipif(os.name != "posix", reason="the processes are scripts of a shell")


def failure(script, **options):
    began = time.monotonic()
    with pytest.raises(AssertionError) as raised:
        deadline.run(["sh", "-c", script], limit=0.5, **options)
    # Far less than what the script sleeps.
    assert time.monotonic() - began < 300
    return str(raised.value)


def test_a_process_that_ends_is_like_any_other():
    done = deadline.run(["sh", "-c", "read line; echo out$line; echo err >&2; exit 3"])
    assert (done.returncode, done.stdout, done.stderr) == (3, "out\n", "err\n")
    assert deadline.run(["cat"], input="x" * 1_000_000).stdout == "x" * 1_000_000
    with pytest.raises(AssertionError, match="status 3\nout\nerr"):
        deadline.run(["sh", "-c", "printf out; printf err >&2; exit 3"], check=True)
    with pytest.raises(FileNotFoundError):
        deadline.run(["no-such-program"])


def test_a_process_that_does_not_end_is_killed_and_fails_the_test():
    said = failure("echo out; echo err >&2; sleep 1000")
    assert "sleep 1000'] was killed after 0.5 s\n--- stdout:\nout\n\n--- stderr:\nerr\n" in said


def test_so_is_what_it_started():
    # The pipe stays open until the second sleep ends too.
    failure("sleep 1000 | sleep 1000")
    process = deadline.Process(["sh", "-c", "sleep 1000 & echo $!; wait"], stdout=subprocess.PIPE, text=True)
    child = int(process.stdout.readline())
    process.kill()
    process.communicate()
    for _ in range(1000):
        if not running(child):
            return
        time.sleep(0.01)
    pytest.fail("a child of a killed process runs on")


def running(pid):
    """Whether a process runs. One that nobody waits for is left over where init does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError:
        return False


def test_a_test_that_reads_from_it_is_released():
    process = deadline.Process(["sleep", "1000"], limit=0.5, stdout=subprocess.PIPE)
    assert process.stdout.read() == b""
    with pytest.raises(AssertionError, match="was killed"):
        process.communicate()


def test_forked_children():
    """In a process without threads, which may not survive a fork."""
    program = "import os, sys, time; sys.path.insert(0, sys.argv[1]); import deadline\n"
    program += "fork = lambda then: os.fork() or then()\n"
    program += "print(deadline.wait(fork(lambda: os._exit(3))))\n"
    program += "deadline.wait(fork(lambda: time.sleep(1000)), limit=0.1)"
    done = deadline.run([sys.executable, "-c", program, str(Path(deadline.__file__).parent)])
    assert done.stdout == f"{3 << 8}\n" and "was killed after 0.1 s" in done.stderr, done


IGNORING = """
import signal, sys
for ending in (signal.SIGINT, signal.SIGTERM):
    signal.signal(ending, signal.SIG_IGN)
sys.path.insert(0, sys.argv[1])
import deadline, subprocess
script = ["sh", "-c", "kill -INT $$; kill -TERM $$; echo ignored"]
print(subprocess.run(script, capture_output=True, text=True).stdout.strip())
print(deadline.run(script).returncode, deadline.run(script, preexec_fn=lambda: None).returncode)
"""


def test_signals_that_the_tests_ignore_have_their_default_handlers():
    done = deadline.run([sys.executable, "-c", IGNORING, str(Path(deadline.__file__).parent)], check=True)
    assert done.stdout == "ignored\n-2 -2\n"
