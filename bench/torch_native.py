#!/usr/bin/env python3
"""Retrograde's native PyTorch library against `torch.flip` and usual idioms: checks results, then measures.

    bench/torch_native.py [--device cpu|cuda|all] [--quick] [--json FILE]

Needs torch, and retrograde with its native library (`scripts/build torch`). All alternatives of a row are measured in
turns in one process; a number is the median over rounds, in microseconds. A loop on a CUDA device ends with a wait, so
that a number is the larger of what a call costs the host and the device. A run takes less than two minutes.
"""

import argparse
import json
import platform
import statistics
import time

import torch

import retrograde
import retrograde.cuda
import retrograde.torch as rt

ROUNDS = 7
LOOP = 4e-3  # seconds


def measured(calls, cuda):
    """The median time of each of the calls, in microseconds."""
    wait = torch.cuda.synchronize if cuda else lambda: None
    counts, times = {}, {name: [] for name in calls}
    for name, call in calls.items():
        for _ in range(3):
            call()
        wait()
        start = time.perf_counter()
        call()
        wait()
        counts[name] = max(1, min(2000, int(LOOP / max(time.perf_counter() - start, 1e-7))))
    for _ in range(ROUNDS):
        for name, call in calls.items():
            wait()
            start = time.perf_counter()
            for _ in range(counts[name]):
                call()
            wait()
            times[name].append((time.perf_counter() - start) / counts[name] * 1e6)
    return {name: statistics.median(values) for name, values in times.items()}


def row(label, cuda, calls, ours=()):
    """Measures alternatives; those in `ours` with `torch.flip` on the engine, in a loop of their own."""
    times = measured({name: call for name, call in calls.items() if name not in ours}, cuda)
    if ours:
        with rt.installed():
            times |= measured({name: calls[name] for name in ours}, cuda)
    first = next(iter(times.values()))
    print(
        f"{label:44}",
        "  ".join(f"{name} {value:.2f} ({value / first:.2f})" for name, value in times.items()),
        flush=True,
    )
    return {"row": label, "us": {name: round(value, 3) for name, value in times.items()}}


def gather(x, n, time, batch):
    """The usual idiom: an index of each step, and a gather."""
    steps = torch.arange(x.shape[time], device=x.device)
    lengths = n.unsqueeze(1)
    index = torch.where(steps < lengths, lengths - 1 - steps, steps)
    if time == 0:
        index = index.T
    shape = [*index.shape, *[1] * (x.dim() - 2)]
    return x.gather(time, index.reshape(shape).expand(x.shape))


def check(device):
    """Every operator, with gradients, against PyTorch."""
    torch.manual_seed(1)
    count = 0
    for shape in [(5, 4, 3), (33, 17), (64, 31, 2), (2, 3, 8, 9)]:
        for dtype in (torch.float32, torch.float64, torch.bfloat16, torch.int64, torch.uint8, torch.complex64):
            x = torch.randint(0, 99, shape, device=device).to(dtype)
            for view in (x, x.transpose(0, 1), x[:, ::2]):
                for axes in ((0,), (1,), (0, -1)):
                    want = torch.flip(view, axes)
                    assert torch.equal(rt.reverse(view, axes), want) and torch.equal(rt.flip(view, axes), want)
                    with rt.installed():
                        got = torch.flip(view, axes)
                    assert torch.equal(got, want) and got.stride() == want.stride()
                    count += 3
            for where in ("cpu", device):
                n = torch.randint(0, shape[0] + 1, (shape[1],), device=where)
                assert torch.equal(rt.reverse_sequence(x, n), gather(x, n.to(device), 0, 1))
                count += 1
        x = torch.randn(shape, device=device, dtype=torch.float64, requires_grad=True)
        n = torch.randint(0, shape[0] + 1, (shape[1],), device=device)
        seed = torch.randn_like(x)
        for ours, theirs in [
            (lambda x: rt.reverse(x, (0, 1)), lambda x: torch.flip(x, (0, 1))),
            (lambda x: rt.reverse_sequence(x, n), lambda x: gather(x, n, 0, 1)),
        ]:
            grads = [torch.autograd.grad(call(x), x, seed)[0] for call in (ours, theirs)]
            assert torch.equal(*grads)
            assert torch.autograd.gradgradcheck(lambda x: ours(x) ** 2, (x,)) if x.numel() < 100 else True
            count += 1
    x, out = torch.ones(4, 3, device=device), torch.zeros(4, 3, device=device)
    try:
        rt.reverse_sequence(x, torch.tensor([4, 5, 1]), out=out)
        raise SystemExit("a wrong length was taken")
    except ValueError as error:
        assert "lengths[1] is 5, outside [0, 4]" in str(error) and not out.any()
    if device == "cuda":
        y = rt.reverse_sequence(x, torch.tensor([4, 5, 1], device=device))
        try:
            retrograde.cuda.check(y)
            raise SystemExit("a wrong length on the device was not reported")
        except ValueError as error:
            assert "5" in str(error)
        stream = torch.cuda.Stream()
        with torch.cuda.stream(stream):
            a = torch.randn(1 << 20, device=device)
            for _ in range(20):
                a = rt.reverse(a, 0)
        stream.synchronize()
        count += 2
    print(f"{device}: {count} results are right; {rt.native()}")


def measure(device, quick):
    cuda, rows = device == "cuda", []

    def add(label, calls, installed=True):
        """A row, in which `torch.flip` also runs on the engine."""
        more = {"installed": calls["torch.flip"]} if installed else {}
        rows.append(row(f"{device} {label}", cuda, calls | more, more))

    for kib in (4, 1024, 16384) if quick else (4, 16, 64, 256, 1024, 4096, 16384):
        side = max(32, int((kib * 256) ** 0.5))
        x = torch.randn(kib * 256 // side, side, device=device)
        leaf = x.clone().requires_grad_()
        n = torch.randint(0, side + 1, (x.shape[0],))
        there = n.to(device)
        seed = torch.ones_like(x)

        def both(call):
            def run():
                leaf.grad = None
                call().backward(seed, inputs=[leaf])

            return run

        def flips(x):
            return {"torch.flip": lambda: torch.flip(x, (1,)), "reverse": lambda: rt.reverse(x, 1)}

        recorded = flips(leaf) | {"reverse_sequence": lambda: rt.reverse_sequence(leaf, there, batch_first=True)}
        add(f"f32 {kib} KiB", flips(x) | {"flip": lambda: rt.flip(x, 1)})
        add(f"f32 {kib} KiB, requires_grad", recorded)
        add(f"f32 {kib} KiB, forward and backward", {name: both(call) for name, call in recorded.items()})
    if not cuda:
        for mib in (32, 64):
            x = torch.randn(mib << 18).reshape(1024, -1)
            out = torch.empty_like(x)
            calls = {
                "torch.flip": lambda: torch.flip(x, (1,)),
                "new": lambda: rt.reverse(x, 1),
                "out": lambda: rt.reverse(x, 1, out=out),
                "array": lambda: retrograde.reverse(x.numpy(), 1),
            }
            add(f"f32 {mib} MiB", calls, installed=False)
    jobs = [
        ("32 x 512 tokens", torch.randint(0, 9, (32, 512)), 1, 0),
        ("64 x 2000 x 80 audio", torch.randn(64, 2000, 80), 1, 0),
    ]
    for name, x, axis, batch in jobs:
        x = x.to(device)
        n = torch.randint(1, x.shape[axis] + 1, (x.shape[batch],), device=device)
        leaf = x.clone().requires_grad_(x.is_floating_point())
        seed = torch.ones_like(x)
        calls = {
            "gather": lambda x=x: gather(x, n, axis, batch),
            "reverse_sequence": lambda x=x: rt.reverse_sequence(x, n, batch_first=True),
        }
        add(name, calls, installed=False)
        if leaf.requires_grad:
            backward = {key: lambda call=call: torch.autograd.grad(call(leaf), leaf, seed) for key, call in calls.items()}
            add(f"{name}, forward and backward", backward, installed=False)
    photos = torch.randint(0, 256, (32, 3, 224, 224), dtype=torch.uint8, device=device)
    photos = photos.to(memory_format=torch.channels_last)
    images = torch.randn(32, 3, 224, 224, device=device)
    for name, x in [("images of channels-last bytes", photos), ("32 x 3 x 224 x 224 images", images)]:
        add(name, {"torch.flip": lambda: torch.flip(x, (-1,)), "reverse": lambda: rt.reverse(x, -1)})
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--device", choices=["cpu", "cuda", "all"], default="all")
    parser.add_argument("--quick", action="store_true", help="fewer sizes")
    parser.add_argument("--json", help="writes the numbers to this file")
    options = parser.parse_args()
    devices = ["cpu", "cuda"] if options.device == "all" else [options.device]
    if options.device == "all" and not torch.cuda.is_available():
        print("no CUDA device")
        devices = ["cpu"]
    rows = []
    for device in devices:
        check(device)
        name = torch.cuda.get_device_name() if device == "cuda" else platform.processor() or platform.machine()
        print(
            f"PyTorch {torch.__version__}, {name}, {torch.get_num_threads()} threads; microseconds (relative to the first)"
        )
        rows += measure(device, options.quick)
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump(rows, file, indent=1)


if __name__ == "__main__":
    main()
