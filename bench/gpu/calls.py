#!/usr/bin/env python3
"""The host-side cost of a small call: microseconds of wall time, without waiting for the device.

    calls.py [--device cuda|cpu] [--out FILE] [--rounds N] [--calls N]

The calls of a group alternate, in batches; numbers are medians of the rounds. The tensor is f32
[64,64], 16 KiB. Needs PyTorch and the package `retrograde`, and CuPy if it is to be measured.
"""

import argparse
import platform
import statistics
import sys
import time
from pathlib import Path

import torch

import retrograde
import retrograde.torch
from retrograde import _engine

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from harness import lines  # noqa: E402

SHAPE = (64, 64)


def groups(device):
    """Groups of equivalent calls, each with a name."""
    ours = retrograde.torch
    x = torch.randn(SHAPE, device=device)
    out = torch.empty_like(x)
    g = torch.randn(SHAPE, device=device, requires_grad=True)
    seed = torch.ones(SHAPE, device=device)
    lengths = torch.randint(0, SHAPE[0] + 1, SHAPE[1:], device=device)
    yield "reverse", {
        "torch.flip": lambda: torch.flip(x, (1,)),
        "retrograde.torch.reverse": lambda: ours.reverse(x, 1),
        "retrograde.reverse": lambda: retrograde.reverse(x, 1),
        "engine alone, into a tensor": lambda: _engine.reverse(x, 1, None, "set", out),
        "torch.empty_like": lambda: torch.empty_like(x),
    }
    yield "reverse, out=", {
        "retrograde.torch.reverse": lambda: ours.reverse(x, 1, out=out),
        "retrograde.reverse": lambda: retrograde.reverse(x, 1, out=out),
    }
    yield "reverse_sequence, lengths on the device", {
        "torch.gather": lambda: by_gather(x, 0, lengths),
        "retrograde.torch.reverse_sequence": lambda: ours.reverse_sequence(x, lengths),
        "retrograde.reverse_sequence": lambda: retrograde.reverse_sequence(x, lengths),
    }
    yield "reverse, requires_grad", {
        "torch.flip": lambda: torch.flip(g, (1,)),
        "retrograde.torch.reverse": lambda: ours.reverse(g, 1),
        "retrograde.reverse": lambda: retrograde.reverse(g, 1),
    }
    yield "reverse, forward and backward", {
        "torch.flip": lambda: torch.autograd.grad(torch.flip(g, (1,)), g, seed),
        "retrograde.torch.reverse": lambda: torch.autograd.grad(ours.reverse(g, 1), g, seed),
    }
    cupy = optional("cupy") if device == "cuda" else None
    if cupy is not None:
        array = cupy.zeros(SHAPE, cupy.float32)
        into = cupy.empty_like(array)
        yield "reverse of CuPy's", {
            "cupy.flip(x, 1).copy()": lambda: cupy.flip(array, 1).copy(),
            "retrograde.reverse": lambda: retrograde.reverse(array, 1),
            "retrograde.reverse, out=": lambda: retrograde.reverse(array, 1, out=into),
        }


def by_gather(x, axis, lengths):
    """The usual idiom: an index for every element."""
    t = torch.arange(x.shape[axis], device=x.device)[:, None]
    return torch.gather(x, axis, torch.where(t < lengths, lengths - 1 - t, t))


def optional(name):
    try:
        return __import__(name)
    except Exception as error:  # a missing package, or one that does not start here
        print(f"{name}: SKIPPED, {error}", file=sys.stderr)
        return None


def check(device):
    """Checks the results of the timed calls."""
    x = torch.arange(SHAPE[0] * SHAPE[1], dtype=torch.float32, device=device).view(SHAPE)
    lengths = torch.randint(0, SHAPE[0] + 1, SHAPE[1:], device=device)
    for _ in range(3):
        if not torch.equal(retrograde.torch.reverse(x, 1), torch.flip(x, (1,))):
            sys.exit("retrograde.torch.reverse and torch.flip differ")
        if not torch.equal(retrograde.torch.reverse_sequence(x, lengths), by_gather(x, 0, lengths)):
            sys.exit("retrograde.torch.reverse_sequence and torch.gather differ")


def timed(calls, number, rounds, wait):
    """Microseconds per call of each, by round."""
    for call in calls.values():
        for _ in range(50):
            call()
    taken = {name: [] for name in calls}
    for _ in range(rounds):
        for name, call in calls.items():
            wait()
            start = time.perf_counter_ns()
            for _ in range(number):
                call()
            taken[name].append((time.perf_counter_ns() - start) / number / 1000)
    wait()
    return taken


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", choices=["cuda", "cpu"], default="cuda")
    parser.add_argument("--out", metavar="FILE", help="write a line for each call, tab-separated")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--calls", type=int, default=2000)
    options = parser.parse_args()
    if options.device == "cuda" and not torch.cuda.is_available():
        sys.exit("there is no CUDA device (--device cpu needs none)")
    wait = torch.cuda.synchronize if options.device == "cuda" else lambda: None
    name = torch.cuda.get_device_name() if options.device == "cuda" else platform.processor() or platform.machine()
    print(f"{name}; PyTorch {torch.__version__}, Python {platform.python_version()}; microseconds a call")
    check(options.device)
    records = []
    for group, calls in groups(options.device):
        print(group)
        for who, taken in timed(calls, options.calls, options.rounds, wait).items():
            median = statistics.median(taken)
            print(f"  {who:36}{median:8.2f}   ({min(taken):.2f} to {max(taken):.2f})")
            figures = {"median us": median, "least": min(taken), "most": max(taken)}
            records.append({"group": group, "call": who} | {key: lines.number(value) for key, value in figures.items()})
    if options.out:
        about = {"device": name, "torch": torch.__version__, "python": platform.python_version()}
        Path(options.out).write_text(lines.dumps(about | {"shape": SHAPE, "calls": options.calls}, records))


if __name__ == "__main__":
    main()
