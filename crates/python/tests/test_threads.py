"""Concurrent threads, forks, and memory leaks."""

import gc
import multiprocessing
import os
import re
import sys
import threading
from contextlib import contextmanager

import deadline
import naive
import numpy as np
import pytest
import retrograde
from together import together


@contextmanager
def changing(lengths, *values):
    """Meanwhile, another thread sets all lengths to each of the values in turn."""
    stop = threading.Event()

    def change():
        while not stop.is_set():
            for value in values:
                lengths[:] = value

    thread = threading.Thread(target=change)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()


@pytest.mark.parametrize("count", [100, 100_000, 3_000_000])
def test_one_input_many_readers(count):
    x = np.arange(count, dtype=np.uint32)
    expected = x[::-1].copy()

    def work(_):
        out = np.empty_like(x)
        for _ in range(max(3, 300_000 // count)):
            assert np.array_equal(retrograde.reverse(x), expected)
            assert np.array_equal(retrograde.reverse(x, out=out), expected)

    together(work)


def test_lengths_that_change_meanwhile():
    """A thread that changes lengths may corrupt the result, but no other memory."""
    x = np.arange(1 << 21, dtype=np.uint8).reshape(1 << 10, 1 << 11)
    lengths = np.full(1 << 11, 1 << 10)
    with changing(lengths, 1 << 40, 1 << 10):
        for _ in range(200):
            try:
                y = retrograde.reverse_sequence(x, lengths)
            except ValueError as error:
                assert "outside [0, 1024]" in str(error)
            else:
                assert np.array_equal(y, x[::-1])


def test_many_lengths_that_change_meanwhile():
    """Long lists are not copied: each lane may or may not see a change."""
    x = np.arange(2 << 20, dtype=np.uint32).reshape(1 << 20, 2)
    lengths = np.full(1 << 20, 2, np.int64)
    with changing(lengths, -1, 1 << 40, 2):
        for _ in range(50):
            y = retrograde.reverse_sequence(x, np.full(1 << 20, 2), time_axis=1, batch_axis=0)
            assert np.array_equal(y, x[:, ::-1])
            try:
                y = retrograde.reverse_sequence(x, lengths, time_axis=1, batch_axis=0)
            except ValueError as error:
                assert "outside [0, 2]" in str(error)
            else:
                assert ((y == x).all(1) | (y == x[:, ::-1]).all(1)).all()


def test_writers_in_one_array():
    """Each thread reverses its own row of one array, repeatedly."""
    x = naive.filled((8, 50_001), "u2")
    expected = x[:, ::-1].copy()

    def work(row):
        for _ in range(101):
            retrograde.reverse(x[row], out=x[row])

    together(work)
    assert np.array_equal(x, expected)


def test_threads_change_while_calls_run():
    x = np.arange(2_000_000, dtype=np.uint32)
    expected = x[::-1].copy()

    def work(number):
        for turn in range(30):
            if number == 0:
                retrograde.set_num_threads(1 + turn % 3)
            else:
                assert np.array_equal(retrograde.reverse(x), expected)

    try:
        together(work, 4)
        retrograde.set_num_threads(3)
        assert retrograde.get_num_threads() == 3
    finally:
        retrograde.set_num_threads(None)


def most_threads():
    """The largest allowed number, which depends on the processors that the engine may use."""
    with pytest.raises(ValueError) as raised:
        retrograde.set_num_threads(0)
    return int(re.fullmatch(r"threads is 0, outside \[1, (\d+)\]", str(raised.value))[1])


def test_how_many_threads_may_be_asked_for():
    most = most_threads()
    assert 256 <= most <= max(256, 4 * (os.cpu_count() or 1))
    for wrong in (-1, most + 1, 65_536, 10**6, 2**70):
        with pytest.raises(ValueError, match=rf"^threads is {wrong}, outside \[1, {most}\]$"):
            retrograde.set_num_threads(wrong)
    with pytest.raises(TypeError, match="^threads is of type float, expected an integer or None$"):
        retrograde.set_num_threads(2.0)
    try:
        retrograde.set_num_threads(most)
    finally:
        retrograde.set_num_threads(None)


@pytest.mark.parametrize("asked, used", [(3, 3), (256, 256), (10**6, None)])
def test_the_environment_sets_threads(asked, used):
    """The variable is limited to the same maximum."""
    code = "import retrograde; print(retrograde.get_num_threads())"
    environment = dict(os.environ, RETROGRADE_NUM_THREADS=str(asked))
    shown = deadline.run([sys.executable, "-c", code], env=environment, check=True)
    assert int(shown.stdout) == (used or most_threads())


STRICT = """
import os, numpy as np, retrograde
retrograde.set_num_threads(1)
letters = np.full(4 << 20, ord("A"), np.uint8)
letters[0] = ord("-")
before = len(os.listdir("/proc/self/task"))
retrograde.reverse_complement(letters, offsets=[0, 1, len(letters)], where=[False, True], strict=True)
print(len(os.listdir("/proc/self/task")) - before)
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs Linux's /proc")
def test_one_thread_looks_for_letters():
    done = deadline.run([sys.executable, "-c", STRICT], check=True)
    assert int(done.stdout) == 0


def in_child(queue):
    x = np.arange(3_000_000, dtype=np.uint32)
    y = retrograde.reverse_sequence(x.reshape(2, -1), [1_500_000, 3], time_axis=1, batch_axis=0)
    queue.put(y.sum(dtype=np.uint64) == x.sum(dtype=np.uint64) and bool(y[0, 0] == 1_499_999))


IDLE = """
import time, numpy as np, retrograde
retrograde.set_num_threads(4)
x = np.zeros(16 << 20, np.uint8)
for _ in range(50):
    retrograde.reverse(x)
time.sleep(0.1)
before = time.process_time()
time.sleep(1)
print(time.process_time() - before)
"""


def test_threads_that_have_nothing_to_do_sleep():
    """A tenth of a second after the last call, the process uses less than 0.1 % of a processor."""
    done = deadline.run([sys.executable, "-c", IDLE], check=True)
    assert float(done.stdout) < 1e-3


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
def test_forked_children():
    """A child has the parent's memory but not its threads, as in a data loader's workers."""
    x = np.arange(3_000_000, dtype=np.uint32)
    kept = retrograde.reverse(x)
    context = multiprocessing.get_context("fork")
    stop = threading.Event()

    def busy():
        while not stop.is_set():
            retrograde.reverse(x)

    thread = threading.Thread(target=busy)
    thread.start()
    try:
        for _ in range(5):
            queue = context.Queue()
            child = context.Process(target=in_child, args=(queue,))
            child.start()
            try:
                assert queue.get(timeout=60) is True
            finally:
                child.join(60)
                # It has no effect on one that has ended; Python waits for the others when it ends.
                child.kill()
            assert child.exitcode == 0
    finally:
        stop.set()
        thread.join()
    assert np.array_equal(kept, x[::-1])


def resident():
    """The resident memory of this process in bytes."""
    with open("/proc/self/statm") as statm:
        return int(statm.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs Linux's /proc")
def test_no_leak_in_a_hundred_thousand_calls():
    small = naive.filled((16, 16), "f4")
    objects = naive.filled((4, 4), object)
    texts = naive.filled((4, 4), np.dtypes.StringDType())
    masked = np.ma.array(small, mask=small > 0)
    out = np.empty_like(small)
    lengths = np.arange(16)
    large = np.zeros(5 << 20, np.uint8)

    def rounds(count):
        for turn in range(count):
            retrograde.reverse(small, (0, -1))
            retrograde.reverse(small, mask=[True, False], out=out)
            retrograde.reverse_sequence(small, lengths)
            retrograde.reverse_sequence(small, [0] * 16, time_axis=1, batch_axis=0, out=out)
            retrograde.reverse_subsequences(small, lengths, axis=0)
            retrograde.reverse(objects)
            retrograde.reverse(texts)
            retrograde.reverse_sequence(objects, [4, 3, 2, 1], out=objects)
            for wrong in (lambda: retrograde.reverse(small, 5), lambda: retrograde.reverse_sequence(small, [99] * 16)):
                try:
                    wrong()
                except ValueError:
                    pass
            if turn % 100 == 0:
                retrograde.reverse(large)
                retrograde.reverse(masked)
                retrograde.explain("reverse", small)

    rounds(1_000)
    gc.collect()
    before = resident()
    rounds(10_000)
    gc.collect()
    grown = resident() - before
    # 100,000 calls: a leak of one small array each would be 100 MB, of one word 800 kB.
    assert grown < 600_000, f"{grown} bytes more after 100,000 calls"
