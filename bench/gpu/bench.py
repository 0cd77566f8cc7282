#!/usr/bin/env python3
"""The benchmark on a CUDA device: Retrograde, a device copy and other libraries, alternating in one run.

    bench.py --out FOLDER [--native PATH/bench-gpu | --ours FILE] [--only TEXT,TEXT] [--rounds N] [--seconds N]

Needs PyTorch, the package `retrograde` (on PYTHONPATH, or installed), and CuPy and JAX if they are
to be measured. Writes table.md (the page of a record), results.json and chart.svg after every case.
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
    parser.add_argument("--out", required=True, type=Path, help="the folder for table.md, results.json and chart.svg")
    parser.add_argument("--native", type=Path, help="the program bench-gpu: it runs first, for the column *native*")
    parser.add_argument("--ours", type=Path, help="instead: what it wrote earlier (--json)")
    parser.add_argument("--only", default="", help="only cases whose names contain one of these texts")
    parser.add_argument("--peers", default="torch,torch.compile,cupy,jax", help="the libraries to compare with")
    parser.add_argument("--rounds", type=int, default=9, help="number of rounds (9)")
    parser.add_argument("--seconds", type=float, default=200, help="time limit, after which other libraries are not run (200)")
    parser.add_argument("--device", choices=["cuda", "cpu"], default="cuda")
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


def native_row(found, case, page):
    """A line of `bench-gpu` as a contestant."""
    row = {"name": page.NATIVE, "style": "in place" if case.in_place else "reused", "ratio": None}
    times = [us / 1e6 for us in found.get("call_us") or found["us"]]
    row |= {"seconds": times[1], "seconds_quartiles": times}
    if "ratio" in found:
        low, middle, high = found["ratio"]
        row |= {"ratio": middle, "ratio_p25": low, "ratio_p75": high, "gb_per_s": 2 * found["bytes"] / times[1] / 1e9}
    return row


def measured(case, libraries, device, options, late):
    """Measures one case: the figures of all contestants, and why some have none."""
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
            absent[library.name] = f"-: {reason}"
        except Exception as error:  # anything a foreign library may raise
            absent[library.name] = f"failed: {contestants.first_line(error)}"
    seconds, errors = measure.alternate(device, turns, options.rounds, case.small)
    for one, error in errors.items():
        absent[one.name] = f"failed: {contestants.first_line(error)}"
    for library in libraries:
        try:
            library.check(job)
        except Exception as error:  # calls that did not do their work get no figure
            absent[library.name] = f"failed: {contestants.first_line(error)}"
            seconds = {one: times for one, times in seconds.items() if one.name != library.name}
    return measure.summary(seconds, case.bytes), absent


def right(job, one):
    """Whether the first call returns the expected result."""
    if job.case.in_place:
        job.bytes(job.dst).copy_(job.bytes(job.src))
    else:
        job.dst.fill_(0xA5)
    result = one.call()
    one.wait(result)
    return job.is_right(one.tensor(result).view(job.x.dtype))


def write(record, where):
    from harness import chart, lines, table

    from gpu import page

    (where / "results.json").write_text(lines.dumps(record))
    (where / "table.md").write_text(page.markdown(record))
    note = f"{record['machine']['gpu']}, {record['date']}; 1 is the copy, more is faster; small tensors: whole calls"
    groups = table.groups([page.for_chart(one) for one in record["cases"]])
    (where / "chart.svg").write_text(chart.picture(groups, "Speed relative to a device-to-device copy", note))


def main():
    options = arguments()
    options.out.mkdir(parents=True, exist_ok=True)
    began = time.monotonic()
    from gpu import cases, page

    chosen = list(cases.chosen(options.only, options.max_bytes))
    if not chosen:
        return f"bench.py: no case contains {options.only!r}"
    same_lists(options, chosen)
    native = native_results(options)

    import torch
    from harness import machine

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

    record = {
        "date": datetime.date.today().isoformat(),
        "command": shlex.join(["bench/gpu/bench.py", *sys.argv[1:]]),
        "dry": device.kind != "cuda",
        "machine": device.facts() | machine.host(),
        "versions": {
            "source": options.source or machine.retrograde_version(),
            "python": sys.version.split()[0],
            **{one.name: one.version for one in libraries if one.name != "torch.compile"},
        },
        "rounds": options.rounds,
        "calls": measure.CALLS,
        "max_bytes": options.max_bytes,
        "native": "this run" if options.native else "an earlier run" if options.ours else None,
        "peers": [name for name in contestants.PEERS if name in wanted],
        "missing": missing,
        "cases": [],
    }
    print(" | ".join(page.headings(record)), flush=True)

    def late():
        return time.monotonic() - began > options.seconds

    for case in chosen:
        started, found = time.monotonic(), native.get(case.name)
        rows, absent = [], {}
        if case.in_python:
            rows, absent = measured(case, libraries, device, options, late)
        if found:
            rows.append(native_row(found, case, page))
        result = {
            "name": case.name,
            "group": case.group,
            "operator": case.operator,
            "dtype": case.dtype,
            "shape": case.shape,
            "axes": case.axes,
            "bytes": case.bytes,
            "kernel": found["kernel"] if found else "",
            "contestants": rows,
            "absent": absent | {name: "not installed" for name in missing if case.in_python},
            "took_seconds": time.monotonic() - started,
        }
        record["cases"].append(result)
        record["took_seconds"] = time.monotonic() - began
        write(record, options.out)
        cells = (page.small_cells if case.small else page.large_cells)(result, record)
        print(" | ".join(cells), f"({result['took_seconds']:.1f} s)", flush=True)
        for name, reason in absent.items():
            if reason.startswith("failed"):
                print(f"    {name}: {reason}", flush=True)
        device.tidy()

    print(f"written in {record['took_seconds']:.0f} s: table.md, results.json, chart.svg in {options.out}")
    own = [row for one in record["cases"] for row in one["contestants"] if row["name"] == measure.OWN]
    failed = any(one["absent"].get(measure.OWN, "").startswith("failed") for one in record["cases"])
    return 1 if failed or any(row["wrong"] for row in own) else 0


if __name__ == "__main__":
    sys.exit(main())
