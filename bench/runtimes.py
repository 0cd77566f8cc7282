#!/usr/bin/env python3
"""Times reversals in ONNX Runtime or in OpenVINO: the runtime's own operators, and ours.

    python bench/runtimes.py onnxruntime [large | small | strings] [--rounds N]
    python bench/runtimes.py openvino [large | small] [--rounds N]

Contestants alternate, and results are compared.

ONNX Runtime: ReverseSequence and reversing Slice nodes, on its CPU provider and on ours. ``large`` prints
the time of the node from ONNX Runtime's own profile. ``small`` and ``strings`` print the time of a node in a
chain of 32, because the profile counts whole microseconds; they subtract nothing, so both sides include the
same cost of the runtime. The best of the rounds counts.

OpenVINO: ReverseSequence and Reverse in the CPU plugin, its own operators and those of our extension. The
median time of a whole ``infer()`` of a model with one node; ``small`` has static and dynamic shapes.
"""

import argparse
import json
import os
import statistics
import sys
import tempfile
import time

import numpy as np

NUMPY = {"f32": np.float32, "u8": np.uint8}
#: Operator, type, shape, time axis and batch axis or the reversed axis.
LARGE = [
    ("ReverseSequence", "f32", (4096, 8192), (1, 0)),
    ("ReverseSequence", "u8", (4096, 8192), (1, 0)),
    ("ReverseSequence", "f32", (8192, 4096), (0, 1)),
    ("ReverseSequence", "u8", (8192, 4096), (0, 1)),
    ("ReverseSequence", "f32", (64, 512, 256), (1, 0)),
    ("ReverseSequence", "f32", (512, 64, 256), (0, 1)),
    ("Reverse", "f32", (4096, 8192), 1),
    ("Reverse", "u8", (4096, 8192), 1),
    ("Reverse", "f32", (4096, 8192), 0),
    ("Reverse", "u8", (8, 3, 1024, 1024), 3),
]


def feeds(case):
    """The tensor, and the lengths if there are any."""
    operator, dtype, shape, axes = case
    random = np.random.default_rng(0)
    if dtype == "string":
        x = np.array([f"word {n}" for n in range(int(np.prod(shape)))], dtype=object).reshape(shape)
    else:
        x = random.integers(0, 100, shape).astype(NUMPY[dtype])
    if operator == "Reverse":
        return [x]
    steps, count = shape[axes[0]], shape[axes[1]]
    return [x, random.integers(steps // 2, steps + 1, count, np.int64)]


class OnnxRuntime:
    """The CPU provider and ours."""

    ROUNDS = {"large": 9, "small": 9, "strings": 9}

    def __init__(self):
        import onnxruntime as ort
        import retrograde.onnxruntime

        self.ort, self.ours = ort, retrograde.onnxruntime
        self.providers = {"CPU provider": "CPUExecutionProvider", "Retrograde": self.ours.NAME}
        self.about = f"onnxruntime {ort.__version__}"

    def cases(self, what):
        return (((case, what), case) for case in {"large": LARGE, "small": small(), "strings": strings()}[what])

    def model(self, case, chain):
        """A chain of equal nodes between input x and output y."""
        from onnx import TensorProto, helper

        operator, dtype, shape, axes = case
        kind = {"f32": TensorProto.FLOAT, "u8": TensorProto.UINT8, "string": TensorProto.STRING}[dtype]
        nodes, constants = [], []
        if operator == "Reverse":
            lists = {"starts": [-1], "ends": [-(2**63)], "axes": [axes], "steps": [-1]}
            constants = [helper.make_tensor(name, TensorProto.INT64, [1], value) for name, value in lists.items()]
        for at in range(chain):
            source, target = "x" if at == 0 else f"v{at}", "y" if at == chain - 1 else f"v{at + 1}"
            if operator == "Reverse":
                nodes.append(helper.make_node("Slice", [source, "starts", "ends", "axes", "steps"], [target]))
            else:
                attributes = {"time_axis": axes[0], "batch_axis": axes[1]}
                nodes.append(helper.make_node("ReverseSequence", [source, "n"], [target], **attributes))
        dynamic = [None] * len(shape)
        inputs = [helper.make_tensor_value_info("x", kind, dynamic)]
        if operator != "Reverse":
            inputs.append(helper.make_tensor_value_info("n", TensorProto.INT64, [None]))
        outputs = [helper.make_tensor_value_info("y", kind, dynamic)]
        graph = helper.make_graph(nodes, "bench", inputs, outputs, constants)
        opsets = [helper.make_opsetid("", 17)]
        return helper.make_model(graph, opset_imports=opsets, ir_version=8).SerializeToString()

    def sessions(self, model, **profile):
        for name in self.providers:
            options = self.ort.SessionOptions()
            options.log_severity_level = 3
            for key, value in profile.items():
                setattr(options, key, value)
            if name == "Retrograde":
                yield self.ours.session(model, options)
            else:
                yield self.ort.InferenceSession(model, options, providers=[self.providers[name]])

    def measure(self, case, what, rounds):
        """The best time of the node, in microseconds, on either side."""
        feed = dict(zip("xn", feeds(case)))
        times = (self.by_profile if what == "large" else self.by_chain)(case, feed, rounds)
        return dict(zip(self.providers, times))

    def by_profile(self, case, feed, rounds):
        with tempfile.TemporaryDirectory() as folder:
            profile = {"enable_profiling": True, "profile_file_prefix": os.path.join(folder, "p")}
            both = list(self.sessions(self.model(case, 1), **profile))
            for _ in range(rounds):
                results = [session.run(None, feed)[0] for session in both]
            assert np.array_equal(*results), case
            for session, provider in zip(both, self.providers.values(), strict=True):
                with open(session.end_profiling(), encoding="utf-8") as file:
                    events = [e for e in json.load(file) if e["cat"] == "Node" and e["name"].endswith("kernel_time")]
                assert {event["args"]["provider"] for event in events} == {provider}, case
                yield min(event["dur"] for event in events)

    def by_chain(self, case, feed, rounds):
        chain = 32
        both = list(self.sessions(self.model(case, chain), intra_op_num_threads=0))
        calls = max(1, min(200, 20_000_000 // (feed["x"].nbytes * chain + 1)))
        best, results = [float("inf")] * 2, [None, None]
        # Strings cannot be bound.
        bound = [session.io_binding() if feed["x"].dtype != object else None for session in both]
        for binding in filter(None, bound):
            for name, value in feed.items():
                binding.bind_cpu_input(name, value)
            binding.bind_output("y")
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
            yield "Reverse", dtype, (count // side, side), 1
            yield "Reverse", dtype, (count // side, side), 0
            yield "Reverse", dtype, (count,), 0


def strings():
    for count in (32, 256, 4096, 65536):
        side = 1 << (count.bit_length() // 2)
        yield "ReverseSequence", "string", (side, count // side), (1, 0)
        yield "Reverse", "string", (side, count // side), 1


class OpenVino:
    """Its own operators and ours."""

    ROUNDS = {"large": 9, "small": 2000}

    def __init__(self):
        import openvino as ov
        import retrograde.openvino

        self.ov = ov
        if retrograde.openvino.library_path() is None:
            sys.exit("the extension was not built (scripts/build openvino)")
        self.cores = {"OpenVINO": ov.Core(), "Retrograde": ov.Core()}
        retrograde.openvino.register(self.cores["Retrograde"])
        self.about = f"openvino {ov.__version__}"

    def cases(self, what):
        if what == "large":
            return (((case, "static"), case) for case in LARGE)
        small = (
            (operator, dtype, shape, (1, 0) if operator == "ReverseSequence" else 1)
            for operator in ("ReverseSequence", "Reverse")
            for dtype in ("f32", "u8")
            for shape in ((4, 8), (64, 64), (256, 256))
        )
        return (((case, sizes), (*case, sizes)) for case in small for sizes in ("static", "dynamic"))

    def model(self, case, inputs, sizes):
        import openvino.opset13 as ops
        from openvino.utils.node_factory import NodeFactory

        operator, _, _, axes = case
        shapes = [[-1] * x.ndim if sizes == "dynamic" else list(x.shape) for x in inputs]
        ports = [ops.parameter(shape, x.dtype.type) for shape, x in zip(shapes, inputs, strict=True)]
        if operator == "Reverse":
            given = [ports[0].output(0), ops.constant([axes]).output(0)]
            node = NodeFactory("opset1").create("Reverse", given, {"mode": "index"})
        else:
            node = ops.reverse_sequence(*ports, axes[1], axes[0])
        return self.ov.Model([node], ports, "bench")

    def measure(self, case, sizes, rounds):
        """Median microseconds by contestant."""
        inputs, requests = feeds(case), {}
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "model.xml")
            self.ov.serialize(self.model(case, inputs, sizes), path, path[:-3] + "bin")
            for name, core in self.cores.items():
                requests[name] = core.compile_model(core.read_model(path), "CPU").create_infer_request()
        for request in requests.values():
            for at, value in enumerate(inputs):
                request.set_input_tensor(at, self.ov.Tensor(value))
            request.infer()
        wanted = requests["OpenVINO"].get_output_tensor().data
        for name, request in requests.items():
            assert np.array_equal(request.get_output_tensor().data, wanted), (case, name)
        times = {name: [] for name in requests}
        for _ in range(rounds):
            for name, request in requests.items():
                start = time.perf_counter()
                request.infer()
                times[name].append((time.perf_counter() - start) * 1e6)
        return {name: statistics.median(all_) for name, all_ in times.items()}


def main():
    runtimes = {"onnxruntime": OnnxRuntime, "openvino": OpenVino}
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("runtime", choices=runtimes)
    parser.add_argument("what", nargs="?", choices=["large", "small", "strings"], default="large")
    parser.add_argument("--rounds", type=int)
    arguments = parser.parse_args()
    known = runtimes[arguments.runtime].ROUNDS
    if arguments.what not in known:
        parser.error(f"{arguments.runtime} has no {arguments.what}")
    rounds = arguments.rounds or known[arguments.what]
    runtime = runtimes[arguments.runtime]()
    print(f"{runtime.about}, {os.cpu_count()} processors, {rounds} rounds")
    scale, unit = (1000, "ms") if arguments.what == "large" else (1, "us")
    slower = 0
    for at, (call, named) in enumerate(runtime.cases(arguments.what)):
        times = runtime.measure(*call, rounds)
        if at == 0:
            print(f"| case | {' | '.join(times)} |\n|---|{'---|' * len(times)}")
        theirs, ours = times.values()
        slower += ours > theirs
        cells = [f"{took / scale:.2f} {unit}" for took in times.values()]
        print(f"| {' '.join(map(str, named))} | {' | '.join(cells)} |", flush=True)
    print(f"slower: {slower}")
    return slower > 0


if __name__ == "__main__":
    sys.exit(main())
