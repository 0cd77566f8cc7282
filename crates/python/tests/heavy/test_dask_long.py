"""``retrograde.dask`` for longer: many random calls, and a cluster of processes, one of which is killed."""

import os
import signal
import sys
import threading
import time
from pathlib import Path

import deadline
import numpy as np
import pytest

for needed in ("dask.array", "distributed", "hypothesis"):
    pytest.importorskip(needed, reason=f"{needed} is not installed")

import dask  # noqa: E402
import dask.array as da  # noqa: E402
import naive  # noqa: E402
from dask_cases import calls, check, same  # noqa: E402
from distributed import Client, LocalCluster, wait  # noqa: E402
from hypothesis import HealthCheck, given, settings  # noqa: E402

import retrograde.dask as rd  # noqa: E402

EXPRESSIONS = da.array_expr_enabled()


@given(calls())
@settings(max_examples=200 if EXPRESSIONS else 1000, deadline=None, suppress_health_check=list(HealthCheck))
def test_random_calls(call):
    check(call)


@pytest.fixture(scope="module")
def cluster():
    with dask.config.set({"distributed.scheduler.allowed-failures": 10}):
        with LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None) as cluster:
            with Client(cluster):
                yield cluster


def lazily(cluster, shape, sizes, pause=0.0):
    """An array that workers compute, slowly if asked, and the same in memory."""
    whole = np.arange(np.prod(shape), dtype=np.int64).reshape(shape)

    def made(block, pause=pause):
        time.sleep(pause)
        return block + 0

    return da.from_array(whole, chunks=sizes).map_blocks(made, dtype=whole.dtype, meta=whole[:0, :0]), whole


def both(x, whole, lengths):
    """Calls of every operator, with lengths that are known and computed, and what they must give."""
    lazy = da.from_array(lengths, chunks=7)
    offsets = np.array([0, 30, 31, 50, whole.shape[0]])
    expected = naive.reverse_sequence(whole, lengths, 0, 1)
    lanes = naive.reverse_sequence(whole, lengths, 0, 1, "end", "zero")
    options = {"axis": 0, "align": "end", "tail": "zero"}
    return [
        (rd.flip(x), np.flip(whole)),
        (rd.reverse_sequence(x, lengths), expected),
        (rd.reverse_sequence(x, lazy), expected),
        (rd.reverse_subsequences(x, lengths, **options), lanes),
        (rd.reverse_subsequences(x, lazy, **options), lanes),
        (rd.reverse_segments(x, offsets), naive.reverse_segments(whole, offsets, 0)),
        (rd.reverse_segments(x, da.from_array(offsets, chunks=2)), naive.reverse_segments(whole, offsets, 0)),
    ]


def test_processes(cluster):
    x, whole = lazily(cluster, (64, 12), (9, 6))
    for y, expected in both(x, whole, np.random.default_rng(1).integers(0, 65, 12)):
        same(y.compute(), expected)
        persisted = y.persist()
        wait(persisted)
        same(persisted.compute(), expected)


def test_errors_of_computed_lengths(cluster):
    x, _ = lazily(cluster, (64, 12), (9, 6))
    lengths = np.full(12, 50)
    lengths[10] = 65
    with pytest.raises(ValueError, match=r"^ReverseSequence: lengths\[10\] is 65, outside \[0, 64\]$"):
        rd.reverse_sequence(x, da.from_array(lengths, chunks=4)).compute()


def test_a_killed_worker_loses_nothing(cluster):
    """Its chunks and pieces are computed again by others, from the graph."""
    x, whole = lazily(cluster, (64, 12), (9, 6), pause=0.05)
    lengths = np.random.default_rng(2).integers(0, 65, 12)
    killed = []
    for y, expected in both(x, whole, lengths):
        victim = next(iter(cluster.workers.values()))
        timer = threading.Timer(0.3, lambda victim=victim: killed.append(kill(victim)))
        timer.start()
        result = y.compute()
        running = timer.is_alive()
        timer.join()
        assert not running, "the computation ended before the worker was killed"
        same(result, expected)
        while len(cluster.scheduler.workers) < 2:
            time.sleep(0.05)
    assert len(set(killed)) == 7


def kill(worker):
    """Kills the process of a worker by its id; its nanny starts another one."""
    pid = worker.process.pid
    os.kill(pid, signal.SIGKILL)
    return pid


@pytest.mark.skipif(EXPRESSIONS, reason="this is the process with expressions")
def test_expressions_too():
    environment = os.environ | {"DASK_ARRAY__QUERY_PLANNING": "True"}
    command = [sys.executable, "-m", "pytest", "-q", "-rs", "-p", "no:cacheprovider", __file__]
    done = deadline.run(command, limit=3600, env=environment, cwd=Path(__file__).parent)
    print(done.stdout)
    assert done.returncode == 0, done.stdout + done.stderr
    assert " passed, 1 skipped" in done.stdout
