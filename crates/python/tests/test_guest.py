"""In a process that belongs to someone else: as many threads as we are given, and memory that is given back."""

import os
import sys

import deadline
import pretended
import pytest

if not os.path.isdir("/proc/self/task"):
    pytest.skip("needs Linux's /proc", allow_module_level=True)

# Each child prints how many threads it has started since it imported everything.
START = """
import os, sys, numpy as np, retrograde
def tasks():
    return len(os.listdir("/proc/self/task"))
x = np.arange(1 << 20, dtype=np.uint32)
def flip():
    assert np.array_equal(retrograde.reverse(x), x[::-1])
before = tasks()
"""


def output(code, environment):
    """What a child prints."""
    return deadline.run([sys.executable, "-c", START + code], env=environment, check=True).stdout


def started(code, environment):
    return int(output(code + "\nprint(tasks() - before)", environment))


@pytest.mark.parametrize(
    "code, variables, threads",
    [
        ("retrograde.get_num_threads()", {}, 0),
        ("flip()", {"RETROGRADE_NUM_THREADS": "1"}, 0),
        ("flip()", {"OMP_NUM_THREADS": "1"}, 0),
        ("flip()", {"OMP_NUM_THREADS": "3,1"}, 2),
        ("flip()", {"RAYON_NUM_THREADS": "1"}, 0),
        ("flip()", {"RETROGRADE_NUM_THREADS": "4", "OMP_NUM_THREADS": "1"}, 3),
        ("retrograde.set_num_threads(1); flip()", {"RETROGRADE_NUM_THREADS": "4"}, 0),
        ("retrograde.set_num_threads(3); flip()", {"OMP_NUM_THREADS": "1"}, 2),
        # A number is a limit, not another pool.
        ("retrograde.set_num_threads(3); flip(); retrograde.set_num_threads(2); flip(); flip()", {}, 2),
    ],
)
def test_threads_started(tmp_path, code, variables, threads):
    environment = pretended.environment(tmp_path, 64) | variables
    assert started(code, environment) == threads


def test_all_processors_without_any_limit(tmp_path):
    """A quota of the control group may still be one."""
    code = "flip(); print(retrograde.get_num_threads())"
    threads, more = map(int, output(code + "\nprint(tasks() - before)", pretended.environment(tmp_path, 64)).split())
    assert more == threads - 1


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="no affinity on this system")
def test_affinity_is_a_limit():
    assert started("os.sched_setaffinity(0, {min(os.sched_getaffinity(0))}); flip()", pretended.plain()) == 0


def test_packed_columns_of_jax_follow_the_number(tmp_path):
    pytest.importorskip("jax")
    code = """
import jax, jax.numpy as jnp, retrograde.jax
jax.config.update("jax_platforms", "cpu")
retrograde.set_num_threads(1)
x = jnp.ones((512, 512), jnp.int4)
lengths = jnp.arange(512, dtype=jnp.int32)
run = jax.jit(lambda x, lengths: retrograde.jax.reverse_subsequences(x, lengths, axis=0))
run(x, lengths).block_until_ready()
names = {open(f"/proc/self/task/{task}/comm").read().strip() for task in os.listdir("/proc/self/task")}
print(sum(name.startswith("retrograde-") for name in names))
"""
    assert output(code, pretended.environment(tmp_path, 64)).split()[-1] == "0"


WORKERS = """
import multiprocessing
flip()
context = multiprocessing.get_context("fork")
def work(told, queue):
    before = tasks()
    if told:
        retrograde.set_num_threads(told)
    flip()
    queue.put((tasks() - before, retrograde.get_num_threads(), retrograde.config.kept_now))
queue = context.Queue()
for told in (None, 3):
    workers = [context.Process(target=work, args=(told, queue)) for _ in range(8)]
    [worker.start() for worker in workers]
    found = {queue.get(timeout=60) for _ in workers}
    [worker.join(60) for worker in workers]
    print(sorted(found))
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
def test_eight_workers_on_64_processors(tmp_path):
    """As those of a data loader: a forked child uses one thread unless it is told otherwise."""
    environment = pretended.environment(tmp_path, 64)
    # A process keeps what the last call wrote, 4 MiB.
    lines = output(WORKERS, environment | {"PYTHONWARNINGS": "ignore"}).splitlines()
    assert lines == [f"[(0, 1, {4 << 20})]", f"[(2, 3, {4 << 20})]"]


FORKED = """
import signal, time
y = retrograde.reverse(x)
flip()
kept = retrograde.config.kept_now
child = os.fork()
if child == 0:
    signal.alarm(60)
    print(kept > 0, retrograde.config.kept_now, np.array_equal(y, x[::-1]), flush=True)
    os._exit(0)
os.waitpid(child, 0)
"""


def test_a_forked_child_keeps_no_memory_of_its_parent():
    assert output(FORKED, pretended.plain()).split() == ["True", "0", "True"]


MEMORY = """
import time
def resident():
    with open("/proc/self/statm") as statm:
        return int(statm.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") >> 20
flip()
large = np.zeros(256 << 20, np.uint8)
large[:] = 1
first = resident()
for size in (4, 16, 64, 256):
    retrograde.reverse(large[: size << 20])
held = retrograde.config.kept_now >> 20
for _ in range(80):
    time.sleep(0.1)
    # What is not kept any more may still be on its way.
    if not retrograde.config.kept_now and resident() - first < 32:
        break
print(held, retrograde.config.kept_now, resident() - first)
"""


def test_memory_that_is_not_used_is_given_back():
    """After four calls of 4 to 256 MiB, an idle process gives back all that it kept."""
    held, kept, more = map(int, output("retrograde.set_num_threads(2)" + MEMORY, pretended.plain()).split())
    assert held > 0 and kept == 0 and more < 32


def test_a_process_with_one_thread_keeps_little():
    """There, only the next calls can give memory back; small ones do."""
    held, _, more = map(int, output("retrograde.set_num_threads(1)" + MEMORY, pretended.plain()).split())
    assert held <= 64 and more < 96
    code = """
retrograde.set_num_threads(1)
for size in (4, 16, 40):
    retrograde.reverse(np.zeros(size << 20, np.uint8))
print(retrograde.config.kept_now >> 20)
time.sleep(2.5)
for _ in range(8):
    retrograde.reverse(np.zeros(10, np.uint8))
print(retrograde.config.kept_now)
"""
    assert output("import time" + code, pretended.plain()).split() == ["60", "0"]


def test_how_much_memory_is_kept():
    code = """
retrograde.config.kept_memory = 8 << 20
for size in (4, 8, 16):
    retrograde.reverse(np.zeros(size << 20, np.uint8))
print(retrograde.config.kept_now >> 20)
retrograde.config.kept_memory = 0
print(retrograde.config.kept_now)
retrograde.config.kept_memory = None
retrograde.reverse(np.zeros(16 << 20, np.uint8))
print(retrograde.config.kept_now >> 20)
"""
    assert output(code, pretended.plain()).split() == ["0", "0", "16"]
