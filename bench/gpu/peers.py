#!/usr/bin/env python3
"""Times the others on the cases of `bench-gpu` and puts both into one table.

    peers.py --ours bench.jsonl --out DIR [--rounds N]

Needs a machine with a CUDA device and PyTorch; CuPy and JAX where they are installed. Device time
by events, each round a copy of the same bytes and then the call; the table has medians of copy
over call, so that 1.00 is the speed of a device-to-device copy.
"""
import argparse
import json
import statistics
import sys

import torch

torch.manual_seed(1)
DEV = "cuda"


def case_tensors(name):
    """Input, axes or lengths of a case by its name; None where the others have no such call."""
    u8, f16, f32, f64 = torch.uint8, torch.float16, torch.float32, torch.float64
    square, batch = (16384, 16384), (512, 512, 1024)
    table = {
        "flip u8 1 GiB": (u8, (1 << 30,), "flip", (0,)),
        "flip f16 [16384,32768] axis 1": (f16, (16384, 32768), "flip", (1,)),
        "flip f32 [16384,16384] axis 1": (f32, square, "flip", (1,)),
        "flip f32 [16384,16384] axis 0": (f32, square, "flip", (0,)),
        "flip f32 [16384,16384] both": (f32, square, "flip", (0, 1)),
        "flip f64 [16384,8192] axis 1": (f64, (16384, 8192), "flip", (1,)),
        "flip c128 [8192,8192] axis 1": (torch.complex128, (8192, 8192), "flip", (1,)),
        "flip u8 [512,704,704,3] axis 2": (u8, (512, 704, 704, 3), "flip", (2,)),
        "flip u16 [512,704,704,3] axis 2": (torch.int16, (512, 704, 704, 3), "flip", (2,)),
        "flip f32 [256,704,704,3] axis 2": (f32, (256, 704, 704, 3), "flip", (2,)),
        "flip u8 [512,704,705,3] axis 2": (u8, (512, 704, 705, 3), "flip", (2,)),
        "flip f32 [16384,16383] axis 1": (f32, (16384, 16383), "flip", (1,)),
        "flip f16 [16384,32767] axis 1": (f16, (16384, 32767), "flip", (1,)),
        "flip u8 [32768,32767] axis 1": (u8, (32768, 32767), "flip", (1,)),
        "flip f64 [16384,8191] axis 1": (f64, (16384, 8191), "flip", (1,)),
        "flip u8 [4194304,256] axis 1": (u8, (4194304, 256), "flip", (1,)),
        "flip u8 [16777216,63] axis 1": (u8, (16777216, 63), "flip", (1,)),
        "flip f32 [16777216,16] axis 1": (f32, (16777216, 16), "flip", (1,)),
        "flip f32 [16384,16383] axis 0": (f32, (16384, 16383), "flip", (0,)),
        "sequence f32 [512,512,1024] time 0": (f32, batch, "sequence", (0, 1)),
        "sequence f32 [512,512,1024] time 1": (f32, batch, "sequence", (1, 0)),
        "sequence f32 [16384,16384] time 1": (f32, square, "sequence", (1, 0)),
        "sequence f32 [16384,16384] time 0": (f32, square, "sequence", (0, 1)),
        "sequence f16 [16384,32768] time 1": (f16, (16384, 32768), "sequence", (1, 0)),
        "sequence f64 [16384,8192] time 1": (f64, (16384, 8192), "sequence", (1, 0)),
        "sequence u8 [32768,32768] time 1": (u8, (32768, 32768), "sequence", (1, 0)),
        "sequence u8 [32768,32768] time 0": (u8, (32768, 32768), "sequence", (0, 1)),
        "sequence f16 [2048,262144] time 0": (f16, (2048, 262144), "sequence", (0, 1)),
        "sequence u8 [2048,524288] time 0": (u8, (2048, 524288), "sequence", (0, 1)),
        "sequence f32 [128,2097152] time 0": (f32, (128, 2097152), "sequence", (0, 1)),
        "lanes f32 [64,2048,2048] axis 2": (f32, (64, 2048, 2048), "lanes", 2),
        "lanes f32 [64,2048,2048] axis 1": (f32, (64, 2048, 2048), "lanes", 1),
        "lanes f32 [2048,64,2048] axis 0": (f32, (2048, 64, 2048), "lanes", 0),
        "small: flip f32 [64,64] axis 1": (f32, (64, 64), "flip", (1,)),
        "small: flip u8 [3,3] axis 0": (u8, (3, 3), "flip", (0,)),
        "small: sequence f32 [32,64] time 1": (f32, (32, 64), "sequence", (1, 0)),
        "small: lanes f32 [4,64,64] axis 1": (f32, (4, 64, 64), "lanes", 1),
    }
    return table.get(name)


def fill(dtype, shape):
    """Random bits."""
    size = torch.empty((), dtype=dtype).element_size()
    count = 1
    for n in shape:
        count *= n
    raw = torch.randint(0, 256, (count * size,), dtype=torch.uint8, device=DEV)
    return raw.view(dtype).view(shape)


def as_lanes(shape, kind, how):
    """The reversed axis, and lengths that broadcast along everything else."""
    if kind == "lanes":
        lanes = [1 if a == how else n for a, n in enumerate(shape)]
        return how, torch.randint(0, shape[how] + 1, lanes, device=DEV)
    time, batch = how
    lanes = [1] * len(shape)
    lanes[batch] = shape[batch]
    return time, torch.randint(0, shape[time] + 1, lanes, device=DEV)


def by_gather(x, axis, lengths):
    """The usual idiom: an index for every element."""
    steps = [1] * x.dim()
    steps[axis] = x.shape[axis]
    t = torch.arange(x.shape[axis], device=x.device).view(steps)
    index = torch.where(t < lengths, lengths - 1 - t, t)
    return torch.gather(x, axis, index.expand(x.shape))


def event_time(call):
    start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    start.record()
    call()
    end.record()
    end.synchronize()
    return start.elapsed_time(end) * 1000


def timed(call, copy, rounds):
    """Median microseconds of the call, and of a copy between the calls."""
    for _ in range(2):
        call()
    torch.cuda.synchronize()
    copies, calls = [], []
    for _ in range(rounds):
        copies.append(event_time(copy))
        calls.append(event_time(call))
    return statistics.median(calls), statistics.median(copies)


def optional(name):
    try:
        return __import__(name, fromlist=["x"])
    except Exception as error:  # a missing package, or one that does not start here
        print(f"{name}: SKIPPED, {error}")
        return None


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--ours", required=True)
    parser.add_argument("--out", required=True)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--seconds", type=float, default=200)
    options = parser.parse_args()
    import time

    begin = time.monotonic()
    cupy = optional("cupy")
    jax = optional("jax")
    compiled_flip = torch.compile(lambda x, axes: torch.flip(x, axes), dynamic=False)
    compiled_gather = torch.compile(by_gather, dynamic=False)
    ours = [json.loads(line) for line in open(options.ours)]
    rows = []
    for entry in ours:
        found = case_tensors(entry["case"])
        row = {"case": entry["case"], "kernel": entry["kernel"]}
        small = "call_us" in entry
        row["retrograde"] = entry["call_us"][1] if small else entry["ratio"][1]
        if not small:
            row["spread"] = [entry["ratio"][0], entry["ratio"][2]]
        rows.append(row)
        if found is None or time.monotonic() - begin > options.seconds:
            row["note"] = "no such call elsewhere" if found is None else "not timed: out of time"
            continue
        dtype, shape, kind, how = found
        torch.cuda.empty_cache()
        x = fill(dtype, shape)
        out = torch.empty_like(x)

        def copy():
            out.copy_(x)

        calls = {}
        if kind == "flip":
            want = lambda: torch.flip(x, how)
            calls["torch"] = want
            calls["torch.compile"] = lambda: compiled_flip(x, how)
            if cupy is not None:
                held = cupy.from_dlpack(x)
                calls["cupy"] = lambda: cupy.ascontiguousarray(cupy.flip(held, how))
            if jax is not None and dtype not in (torch.float64, torch.complex128):
                view = jax.dlpack.from_dlpack(x)
                flip = jax.jit(lambda v: jax.numpy.flip(v, how))
                calls["jax"] = lambda: flip(view).block_until_ready()
        else:
            axis, lengths = as_lanes(shape, kind, how)
            calls["torch.compile"] = lambda: compiled_gather(x, axis, lengths)
            if x.numel() < 1 << 29:  # the index alone takes 8 bytes an element
                calls["torch"] = lambda: by_gather(x, axis, lengths)
        for name, call in calls.items():
            try:
                if small:
                    for _ in range(50):
                        call()
                    torch.cuda.synchronize()
                    started = time.perf_counter()
                    for _ in range(2000):
                        call()
                    torch.cuda.synchronize()
                    row[name] = (time.perf_counter() - started) / 2000 * 1e6
                elif name == "jax":
                    # Another stream than PyTorch's: by the clock, which at this size is the same.
                    for _ in range(2):
                        call()
                    times = []
                    for _ in range(options.rounds):
                        started = time.perf_counter()
                        call()
                        times.append((time.perf_counter() - started) * 1e6)
                    row[name] = timed(copy, copy, options.rounds)[0] / statistics.median(times)
                else:
                    if name == "cupy":
                        with cupy.cuda.ExternalStream(torch.cuda.current_stream().cuda_stream):
                            mine, theirs = timed(call, copy, options.rounds)
                    else:
                        mine, theirs = timed(call, copy, options.rounds)
                    row[name] = theirs / mine
            except Exception as error:
                row[name] = None
                print(f"{entry['case']}: {name}: {str(error).splitlines()[0][:120]}")
        print(json.dumps(row), flush=True)
        del x, out, copy, calls
        torch._dynamo.reset()
    names = ["torch", "torch.compile", "cupy", "jax"]
    versions = {"torch": torch.__version__, "cupy": getattr(cupy, "__version__", None), "jax": getattr(jax, "__version__", None)}
    device = torch.cuda.get_device_properties(0).name
    with open(f"{options.out}/gpu.json", "w") as f:
        json.dump({"device": device, "versions": versions, "cases": rows}, f, indent=1)
    with open(f"{options.out}/table.md", "w") as f:
        for small in (False, True):
            unit = "microseconds a call" if small else "copy = 1.00"
            f.write(f"| case ({unit}) | kernel | retrograde | " + " | ".join(names) + " |\n")
            f.write("|" + "---|" * (3 + len(names)) + "\n")
            for row in rows:
                if row["case"].startswith("small") != small:
                    continue
                number = lambda v: "-" if v is None else f"{v:.1f}" if small else f"{v:.2f}"
                cells = " | ".join(number(row.get(name)) for name in names)
                f.write(f"| {row['case']} | {row['kernel']} | **{number(row['retrograde'])}** | {cells} |\n")
            f.write("\n")
    sys.stdout.write(open(f"{options.out}/table.md").read())


main()
