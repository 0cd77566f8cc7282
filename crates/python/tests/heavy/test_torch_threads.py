"""Large calls beside PyTorch's OpenMP threads: right, also in threads, in forked children and inside its settings,
and on no more threads than PyTorch uses."""

import os
import sys
import threading

import deadline
import numpy as np
import pretended
import pytest

import retrograde

torch = pytest.importorskip("torch")

SHAPE = (4096, 513)


def reversed_right(rounds=20):
    """Calls that follow each other, in turns with PyTorch's: the second and later ones run on its threads."""
    x = np.arange(SHAPE[0] * SHAPE[1], dtype=np.float32).reshape(SHAPE)
    tensor, expected, out = torch.from_numpy(x), x[:, ::-1], np.empty_like(x)
    for index in range(rounds):
        if index % 3 == 0:
            assert torch.equal(tensor.flip(1), torch.from_numpy(expected.copy()))
        assert np.array_equal(retrograde.reverse(x, 1), expected)
        out[:] = 0
        assert np.array_equal(retrograde.reverse(x, 1, out=out), expected)
        lengths = np.full(SHAPE[0], SHAPE[1] - index)
        got = retrograde.reverse_sequence(x, lengths, time_axis=1, batch_axis=0)
        assert np.array_equal(got[:, : SHAPE[1] - index], x[:, : SHAPE[1] - index][:, ::-1])
    return True


def test_in_turns_with_pytorch():
    assert reversed_right()


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_with_other_numbers_of_threads(threads):
    before = torch.get_num_threads()
    try:
        torch.set_num_threads(threads)
        assert reversed_right()
    finally:
        torch.set_num_threads(before)


def test_with_a_number_of_our_own():
    try:
        retrograde.set_num_threads(3)
        assert retrograde.get_num_threads() == 3
        assert reversed_right(5)
    finally:
        retrograde.set_num_threads(None)


def test_on_other_threads_at_once():
    right = []
    threads = [threading.Thread(target=lambda: right.append(reversed_right(6))) for _ in range(3)]
    for thread in threads:
        thread.start()
    assert reversed_right(6)
    for thread in threads:
        thread.join()
    assert right == [True] * 3


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")
def test_in_a_forked_child():
    """OpenMP's threads do not exist there; a region would wait for them for ever."""
    assert reversed_right(3)
    child = os.fork()
    if child == 0:
        x = np.arange(1 << 20, dtype=np.float32).reshape(1024, 1024)
        right = all(np.array_equal(retrograde.reverse(x, 1), x[:, ::-1]) for _ in range(10))
        os._exit(0 if right else 1)
    assert deadline.wait(child) == 0


START = """
import os, threading, numpy as np, torch, retrograde, retrograde.torch
def ours():
    tasks = [f"/proc/self/task/{task}/comm" for task in os.listdir("/proc/self/task")]
    return sum(open(task).read().startswith("retrograde-") for task in tasks)
x = torch.arange(1 << 20, dtype=torch.float32)
def flip():
    for _ in range(3):
        assert torch.equal(retrograde.torch.reverse(x, 0), x.flip(0))
        assert np.array_equal(retrograde.reverse(x.numpy()), x.numpy()[::-1])
"""


def output(code, environment):
    return deadline.run([sys.executable, "-c", START + code], env=environment, check=True).stdout.splitlines()


@pytest.mark.parametrize(
    "code, variables, threads, started",
    [
        ("torch.set_num_threads(1)", {}, 1, 0),
        ("", {"OMP_NUM_THREADS": "1"}, 1, 0),
        ("torch.set_num_threads(3)", {}, 3, 2),
        ("torch.set_num_threads(1); retrograde.set_num_threads(3)", {}, 3, 2),
        ("torch.set_num_threads(5); retrograde.set_num_threads(2)", {}, 2, 1),
        ("torch.set_num_threads(5)", {"RETROGRADE_NUM_THREADS": "2"}, 2, 1),
    ],
)
def test_pytorch_says_how_many_threads(tmp_path, code, variables, threads, started):
    """On the main thread, and on others, where OpenMP has settings of its own."""
    environment = pretended.environment(tmp_path, 64) | variables
    work = """
flip()
print(retrograde.get_num_threads(), ours())
other = threading.Thread(target=lambda: (flip(), print(retrograde.get_num_threads(), ours())))
other.start()
other.join()
"""
    assert output(f"{code}\n{work}", environment) == [f"{threads} {started}"] * 2


LOADER = """
from torch.utils.data import DataLoader, Dataset
class Flipped(Dataset):
    def __len__(self):
        return 32
    def __getitem__(self, index):
        flip()
        return torch.tensor([retrograde.get_num_threads(), ours()])
if __name__ == "__main__":
    flip()
    rows = torch.cat(list(DataLoader(Flipped(), batch_size=2, num_workers=8)))
    print(len(rows), rows[:, 0].max().item(), rows[:, 1].max().item())
"""


def test_eight_workers_of_a_data_loader_on_64_processors(tmp_path):
    assert output(LOADER, pretended.environment(tmp_path, 64)) == ["32 1 0"]
