#!/usr/bin/env python3
"""Times ReverseSequence and reversing Slice nodes in ONNX Runtime, on its CPU provider and on ours.

    python bench/onnxruntime/run.py [large | small | strings] [--rounds N]

``large`` prints the time of the node from ONNX Runtime's own profile. ``small`` prints the time of a
node in a chain of 32, because the profile counts whole microseconds; it subtracts nothing, so both
sides include the same cost of the runtime. Both take the best of several rounds, alternating.
"""

import argparse
import json
import os
import sys
import tempfile
import time

import numpy as np
import onnxruntime as ort
import retrograde.onnxruntime
from onnx import TensorProto, helper

CPU = "CPUExecutionProvider"
TYPES = {
    "f32": TensorProto.FLOAT,
    "u8": TensorProto.UINT8,
    "f16": TensorProto.FLOAT16,
    "i64": TensorProto.INT64,
    "string": TensorProto.STRING,
}
NUMPY = {"f32": np.float32, "u8": np.uint8, "f16": np.float16, "i64": np.int64}
REVERSED = {"starts": [-1], "ends": [-(2**63)], "steps": [-1]}


def model(operator, dtype, shape, axes, chain):
    """A chain of equal nodes between input x and output y."""
    nodes, constants = [], []
    if operator == "Slice":
        constants = [helper.make_tensor(name, TensorProto.INT64, [1], value) for name, value in REVERSED.items()]
        constants.append(helper.make_tensor("axes", TensorProto.INT64, [1], [axes]))
    for at in range(chain):
        source, target = "x" if at == 0 else f"v{at}", "y" if at == chain - 1 else f"v{at + 1}"
        if operator == "Slice":
            nodes.append(helper.make_node("Slice", [source, "starts", "ends", "axes", "steps"], [target]))
        else:
            time_axis, batch_axis = axes
            attributes = {"time_axis": time_axis, "batch_axis": batch_axis}
            nodes.append(helper.make_node("ReverseSequence", [source, "n"], [target], **attributes))
    dynamic = [None] * len(shape)
    inputs = [helper.make_tensor_value_info("x", TYPES[dtype], dynamic)]
    if operator != "Slice":
        inputs.append(helper.make_tensor_value_info("n", TensorProto.INT64, [None]))
    outputs = [helper.make_tensor_value_info("y", TYPES[dtype], dynamic)]
    graph = helper.make_graph(nodes, "bench", inputs, outputs, constants)
    opsets = [helper.make_opsetid("", 17)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=8).SerializeToString()


def feeds(operator, dtype, shape, axes):
    random = np.random.default_rng(0)
    if dtype == "string":
        x = np.array([f"word {n}" for n in range(int(np.prod(shape)))], dtype=object).reshape(shape)
    else:
        x = random.integers(0, 100, shape).astype(NUMPY[dtype])
    if operator == "Slice":
        return {"x": x}
    time_axis, batch_axis = axes
    steps, count = shape[time_axis], shape[batch_axis]
    return {"x": x, "n": random.integers(steps // 2, steps + 1, count, np.int64)}


def sessions(model, **profile):
    made = []
    for ours in (False, True):
        options = ort.SessionOptions()
        options.log_severity_level = 3
        for name, value in profile.items():
            setattr(options, name, value)
        if ours:
            made.append(retrograde.onnxruntime.session(model, options))
        else:
            made.append(ort.InferenceSession(model, options, providers=[CPU]))
    return made


def by_profile(case, rounds):
    """The best time of the node, in microseconds, on either side."""
    operator, dtype, shape, axes = case
    feed = feeds(*case)
    with tempfile.TemporaryDirectory() as folder:
        both = sessions(model(*case, 1), enable_profiling=True, profile_file_prefix=os.path.join(folder, "p"))
        results = []
        for _ in range(rounds):
            results = [session.run(None, feed)[0] for session in both]
        assert np.array_equal(*results), case
        best = []
        for session, provider in zip(both, (CPU, retrograde.onnxruntime.NAME), strict=True):
            with open(session.end_profiling(), encoding="utf-8") as file:
                events = [e for e in json.load(file) if e["cat"] == "Node" and e["name"].endswith("kernel_time")]
            assert {event["args"]["provider"] for event in events} == {provider}, case
            best.append(min(event["dur"] for event in events))
        return best


def by_chain(case, rounds):
    """The best time of a node in a chain, in microseconds, on either side."""
    chain = 32
    feed = feeds(*case)
    both = sessions(model(*case, chain), intra_op_num_threads=0)
    calls = max(1, min(200, 20_000_000 // (feed["x"].nbytes * chain + 1)))
    best = [float("inf")] * 2
    results = [None, None]
    bound = []
    for session in both:
        binding = session.io_binding()
        for name, value in feed.items():
            if value.dtype == object:
                binding = None
                break
            binding.bind_cpu_input(name, value)
        else:
            binding.bind_output("y")
        bound.append(binding)
    for _ in range(rounds):
        for at, session in enumerate(both):
            start = time.perf_counter()
            for _ in range(calls):
                if bound[at] is None:
                    results[at] = session.run(None, feed)[0]
                else:
                    session.run_with_iobinding(bound[at])
            best[at] = min(best[at], (time.perf_counter() - start) / calls / chain * 1e6)
    if bound[0] is not None:
        results = [binding.copy_outputs_to_cpu()[0] for binding in bound]
    assert np.array_equal(*results), case
    return best


LARGE = [
    ("ReverseSequence", "f32", (4096, 8192), (1, 0)),
    ("ReverseSequence", "u8", (4096, 8192), (1, 0)),
    ("ReverseSequence", "f32", (8192, 4096), (0, 1)),
    ("ReverseSequence", "u8", (8192, 4096), (0, 1)),
    ("ReverseSequence", "f32", (64, 512, 256), (1, 0)),
    ("ReverseSequence", "f32", (512, 64, 256), (0, 1)),
    ("Slice", "f32", (4096, 8192), 1),
    ("Slice", "u8", (4096, 8192), 1),
    ("Slice", "f32", (4096, 8192), 0),
    ("Slice", "u8", (8, 3, 1024, 1024), 3),
]


def small():
    for size in (1 << 10, 4 << 10, 16 << 10, 64 << 10, 256 << 10, 1 << 20, 4 << 20):
        for dtype, width in (("f32", 4), ("u8", 1)):
            count = size // width
            side = 1 << ((count.bit_length() - 1) // 2)
            yield "ReverseSequence", dtype, (count // side, side), (1, 0)
            yield "ReverseSequence", dtype, (count // side, side), (0, 1)
            if count // 128 >= 4:
                steps = 1 << ((count // 128).bit_length() // 2)
                yield "ReverseSequence", dtype, (steps, count // 128 // steps, 128), (0, 1)
                yield "ReverseSequence", dtype, (count // 128 // steps, steps, 128), (1, 0)
            yield "Slice", dtype, (count // side, side), 1
            yield "Slice", dtype, (count // side, side), 0
            yield "Slice", dtype, (count,), 0


def strings():
    for count in (32, 256, 4096, 65536):
        side = 1 << (count.bit_length() // 2)
        yield "ReverseSequence", "string", (side, count // side), (1, 0)
        yield "Slice", "string", (side, count // side), 1


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", nargs="?", choices=["large", "small", "strings"], default="large")
    parser.add_argument("--rounds", type=int, default=9)
    arguments = parser.parse_args()
    print(f"onnxruntime {ort.__version__}, {os.cpu_count()} processors, best of {arguments.rounds}")
    print("| operator | type | shape | axes | CPU provider | Retrograde | |")
    print("|---|---|---|---|---|---|---|")
    slower = 0
    cases = {"large": LARGE, "small": small(), "strings": strings()}[arguments.what]
    for case in cases:
        before, after = (by_profile if arguments.what == "large" else by_chain)(case, arguments.rounds)
        slower += after > before
        operator, dtype, shape, axes = case
        scale, unit = (1000, "ms") if arguments.what == "large" else (1, "us")
        times = f"{before / scale:.2f} {unit} | {after / scale:.2f} {unit}"
        print(f"| {operator} | {dtype} | {list(shape)} | {axes} | {times} | {before / after:.1f} x |", flush=True)
    print(f"slower: {slower}")
    return 1 if slower else 0


if __name__ == "__main__":
    sys.exit(main())
