#!/usr/bin/env python3
"""The benchmark on a CUDA device: Retrograde, a device copy and other libraries, alternating in one run.

    bench.py --out FOLDER [--native PATH/bench-gpu | --ours FILE] [--only TEXT,TEXT] [--rounds N] [--seconds N]

Needs PyTorch, the package `retrograde` (on PYTHONPATH, or installed), and CuPy and JAX if they are
to be measured. Writes a record (README.md and cases.tsv) after every case.
`--device cpu` is a smoke test without a GPU, on small tensors.
"""

import argparse
import datetime
import json
import os
import shlex
import subprocess
import sys
import time
from pathlib import Path

BENCH = Path(__file__).resolve().parents[1]
sys.path[0] = str(BENCH)
sys.dont_write_bytecode = True
# Set before any of them is imported. JAX: allow 64-bit types, and do not preallocate memory. Only
# one kernel is compiled at a time, and starting many compilers takes longer.
os.environ |= {
    "JAX_ENABLE_X64": "1",
    "XLA_PYTHON_CLIENT_PREALLOCATE": "false",
    "TF_CPP_MIN_LOG_LEVEL": "3",
    "TORCHINDUCTOR_COMPILE_THREADS": "1",
}

DRY_BYTES = 65536


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", required=True, type=Path, help="the folder for the record")
    parser.add_argument("--native", type=Path, help="the program bench-gpu: it runs first, for the column *native*")
    parser.add_argument("--ours", type=Path, help="instead: what it wrote earlier (--json)")
    parser.add_argument("--only", default="", help="only cases whose names contain one of these texts")
    parser.add_argument("--peers", default="torch,torch.compile,cupy,jax", help="the libraries to compare with")
    parser.add_argument("--rounds", type=int, default=9, help="number of rounds (9)")
    parser.add_argument("--seconds", type=float, default=200, help="time limit, after which other libraries are not run (200)")
    parser.add_argument("--device", choices=["cuda", "cpu"], default="cuda")
    parser.add_argument("--samples", type=Path, metavar="FOLDER", help="append the raw samples to samples.jsonl there")
    parser.add_argument("--source", help="the commit, if git is not available")
    parser.add_argument("--max-bytes", type=int, help=f"shrink larger cases (on the CPU: {DRY_BYTES})")
    options = parser.parse_args()
    if options.rounds < 1:
        parser.error("--rounds must be at least 1")
    if options.native and options.ours:
        parser.error("--native and --ours exclude each other")
    if options.device == "cpu":
        options.max_bytes = options.max_bytes or DRY_BYTES
        os.environ["JAX_PLATFORMS"] = "cpu"
    return options


def native_results(options):
    """The results of `bench-gpu`, by case."""
    path = options.ours
    if options.native:
        path = options.out / "native.jsonl"
        path.unlink(missing_ok=True)
        command = [options.native.resolve(), "--json", path, "--rounds", str(options.rounds), "--only", options.only]
        subprocess.run(command, check=True)
        if not path.exists():
            print("bench-gpu: NOT RUN, it found no device", flush=True)
            return {}
    if path is None:
        return {}
    return {one["case"]: one for one in map(json.loads, path.read_text().splitlines())}


def same_lists(options, chosen):
    """Prints the cases that only one of the two programs has."""
    if options.native is None:
        return
    command = [options.native.resolve(), "--list", "--only", options.only]
    theirs = set(subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines())
    mine = {case.name for case in chosen}
    for name in sorted(theirs ^ mine):
        print(f"{name}: only in {'bench-gpu' if name in theirs else 'bench/cases.jsonl'}", flush=True)


def native_row(found, case):
    """A line of `bench-gpu` as a contestant."""
    _, middle, _ = found.get("call_us") or found["us"]
    low, ratio, high = found.get("ratio") or [None] * 3
    figures = {"seconds": middle / 1e6, "ratio": ratio, "low": low, "high": high}
    return {"name": "retrograde native", "style": "in place" if case.in_place else "reused", **figures}


def measured(case, libraries, device, options, late):
    """Measures one case: the figures of all contestants, and why some have none."""
    from harness import record

    from gpu import contestants, measure
    from gpu.job import Job

    job, absent = Job(case, device.kind), {}
    turns = [contestants.copying(job, device)]
    for library in libraries:
        if library.name != measure.OWN and late():
            absent[library.name] = "not run: time limit reached"
            continue
        try:
            for one in library.contestants(job):
                one.wrong = not right(job, one)
                turns.append(one)
        except contestants.Unsupported as reason:
            absent[library.name] = str(reason)
        except Exception as error:  # anything a foreign library may raise
            absent[library.name] = f"failed on {case.name}: {contestants.first_line(error)}"
    seconds, errors = measure.alternate(device, turns, options.rounds, case.small)
    for one, error in errors.items():
        absent[one.name] = f"failed on {case.name}: {contestants.first_line(error)}"
    for library in libraries:
        try:
            library.check(job)
        except Exception as error:  # calls that did not do their work get no figure
            absent[library.name] = f"failed on {case.name}: {contestants.first_line(error)}"
            seconds = {one: times for one, times in seconds.items() if one.name != library.name}
    raw = {f"{one.name}, {one.style}": list(times.values()) for one, times in seconds.items()}
    record.keep(options.samples, case.name, raw)
    return measure.summary(seconds), absent


def right(job, one):
    """Whether the first call returns the expected result."""
    if job.case.in_place:
        job.bytes(job.dst).copy_(job.bytes(job.src))
    else:
        job.dst.fill_(0xA5)
    result = one.call()
    one.wait(result)
    return job.is_right(one.tensor(result).view(job.x.dtype))


def main():
    options = arguments()
    options.out.mkdir(parents=True, exist_ok=True)
    began = time.monotonic()
    from gpu import cases

    chosen = list(cases.chosen(options.only, options.max_bytes))
    if not chosen:
        return f"bench.py: no case contains {options.only!r}"
    same_lists(options, chosen)
    native = native_results(options)

    import torch
    from harness import machine, record, table

    from gpu import contestants, measure
    from gpu.device import Cuda, Host

    if options.device == "cuda" and not torch.cuda.is_available():
        return "bench.py: SKIPPED, PyTorch finds no CUDA device (--device cpu tries everything else)"
    device = Cuda() if options.device == "cuda" else Host()
    wanted = options.peers.split(",")
    libraries, missing = contestants.load(wanted, device)
    for name, reason in missing.items():
        print(f"{name}: NOT MEASURED, {reason}", flush=True)
    if measure.OWN in missing:
        # Checked now, not at the end of a run that takes minutes of a device.
        return "bench.py: put the folder that holds the package `retrograde` on PYTHONPATH, or pip install it"

    facts = {
        "date": datetime.date.today().isoformat(),
        "command": shlex.join(["bench/gpu/bench.py", *sys.argv[1:]]),
        "spread": "quartiles",
        **device.facts(),
        **machine.host(),
        "source": options.source or machine.retrograde_version(),
        "python": sys.version.split()[0],
        **{one.name: one.version for one in libraries if one.name != "torch.compile"},
        "native": "this run" if options.native else "an earlier run" if options.ours else "not run",
    }
    title = f"CUDA, {facts['gpu']}" if device.kind == "cuda" else "A dry run on the CPU: the figures mean nothing"
    skipped = [{"peer": name, "reason": reason} for name, reason in missing.items()]
    results, failed = [], False

    def late():
        return time.monotonic() - began > options.seconds

    for case in chosen:
        started, found = time.monotonic(), native.get(case.name)
        rows, absent = [], {}
        if case.in_python:
            rows, absent = measured(case, libraries, device, options, late)
        if found:
            rows.append(native_row(found, case))
        kernel = {"kernel": found["kernel"]} if found else {}
        results.append({"group": case.group, "name": case.name, "bytes": case.bytes, **kernel, "contestants": rows})
        skipped += [{"peer": name, "case": case.name, "reason": reason} for name, reason in absent.items()]
        written = record.write(options.out, {"facts": facts | record.without(skipped), "cases": results}, title)
        print(table.line(results[-1]), f"({time.monotonic() - started:.1f} s)", flush=True)
        for name, reason in absent.items():
            if reason.startswith("failed"):
                print(f"    {name}: {reason}", flush=True)
        failed |= absent.get(measure.OWN, "").startswith("failed")
        failed |= any(row["wrong"] for row in rows if row["name"] == measure.OWN)
        device.tidy()

    print(f"written in {time.monotonic() - began:.0f} s: {written}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
