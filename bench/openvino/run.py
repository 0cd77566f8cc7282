#!/usr/bin/env python3
"""Times Reverse and ReverseSequence in OpenVINO's CPU plugin: its own operators, and ours in C++ and Python.

    python bench/openvino/run.py [small | large] [--rounds N]

Prints the time of a whole ``infer()`` of a model with one node, the median of several rounds in which the
contestants alternate. Results are compared. ``small`` has static and dynamic shapes.
"""

import argparse
import os
import statistics
import sys
import tempfile
import time

import numpy as np
import openvino as ov
import openvino.opset13 as ops
import retrograde.openvino
from openvino.utils.node_factory import NodeFactory

#: Operator, type, shape, time axis and batch axis or the reversed axis.
LARGE = [
    ("ReverseSequence", "f32", (4096, 8192), (1, 0)),
    ("ReverseSequence", "u8", (4096, 8192), (1, 0)),
    ("ReverseSequence", "f32", (8192, 4096), (0, 1)),
    ("ReverseSequence", "f32", (64, 512, 256), (1, 0)),
    ("Reverse", "f32", (4096, 8192), 1),
    ("Reverse", "u8", (4096, 8192), 1),
    ("Reverse", "f32", (4096, 8192), 0),
    ("Reverse", "u8", (8, 3, 1024, 1024), 3),
]
SMALL = [
    (operator, dtype, shape, (1, 0) if operator == "ReverseSequence" else 1)
    for operator in ("ReverseSequence", "Reverse")
    for dtype in ("f32", "u8")
    for shape in ((4, 8), (64, 64), (256, 256))
]
TYPES = {"f32": np.float32, "u8": np.uint8}


def model(case, is_dynamic):
    operator, dtype, shape, axes = case
    data = ops.parameter([-1] * len(shape) if is_dynamic else list(shape), TYPES[dtype], name="x")
    if operator == "Reverse":
        node = NodeFactory("opset1").create("Reverse", [data.output(0), ops.constant([axes]).output(0)], {"mode": "index"})
        return ov.Model([node], [data], "bench")
    time_axis, batch_axis = axes
    lengths = ops.parameter([-1 if is_dynamic else shape[batch_axis]], np.int32, name="n")
    return ov.Model([ops.reverse_sequence(data, lengths, batch_axis, time_axis)], [data, lengths], "bench")


def feeds(case):
    operator, dtype, shape, axes = case
    random = np.random.default_rng(0)
    x = random.integers(0, 100, shape).astype(TYPES[dtype])
    if operator == "Reverse":
        return [x]
    return [x, random.integers(shape[axes[0]] // 2, shape[axes[0]] + 1, shape[axes[1]], np.int32)]


def cores():
    found = {"OpenVINO": ov.Core(), "C++": ov.Core(), "Python": ov.Core()}
    retrograde.openvino.register(found["Python"], native=False)
    if retrograde.openvino.library_path() is None:
        print("skipped: C++, which was not built (scripts/build openvino)")
        del found["C++"]
    else:
        retrograde.openvino.register(found["C++"], native=True)
    return found


def measure(case, is_dynamic, found, rounds):
    """Median microseconds by contestant."""
    inputs = feeds(case)
    requests, times = {}, {}
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "model.xml")
        ov.serialize(model(case, is_dynamic), path, path[:-3] + "bin")
        for name, core in found.items():
            requests[name] = core.compile_model(core.read_model(path), "CPU").create_infer_request()
    for request in requests.values():
        for at, value in enumerate(inputs):
            request.set_input_tensor(at, ov.Tensor(value))
        request.infer()
    wanted = requests["OpenVINO"].get_output_tensor().data
    for name, request in requests.items():
        assert np.array_equal(request.get_output_tensor().data, wanted), (case, name)
        times[name] = []
    for _ in range(rounds):
        for name, request in requests.items():
            start = time.perf_counter()
            request.infer()
            times[name].append((time.perf_counter() - start) * 1e6)
    return {name: statistics.median(all_) for name, all_ in times.items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", nargs="?", choices=["small", "large"], default="large")
    parser.add_argument("--rounds", type=int)
    arguments = parser.parse_args()
    rounds = arguments.rounds or {"small": 2000, "large": 9}[arguments.what]
    found = cores()
    scale, unit = (1000, "ms") if arguments.what == "large" else (1, "us")
    print(f"openvino {ov.__version__}, {os.cpu_count()} processors, median of {rounds}")
    print(f"| operator | type | shape | axes | sizes | {' | '.join(found)} |")
    print("|---|---|---|---|---|" + "---|" * len(found))
    for case in LARGE if arguments.what == "large" else SMALL:
        for is_dynamic in (False, True) if arguments.what == "small" else (False,):
            times = measure(case, is_dynamic, found, rounds)
            operator, dtype, shape, axes = case
            columns = " | ".join(f"{took / scale:.1f} {unit}" for took in times.values())
            sizes = "dynamic" if is_dynamic else "static"
            print(f"| {operator} | {dtype} | {list(shape)} | {axes} | {sizes} | {columns} |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
