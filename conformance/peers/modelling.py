"""What the comparisons share: counting, running the command in a temporary folder, drawing random
tensors, and building ONNX models.
"""

import os
import resource
import sys
import tempfile
import warnings
from collections import Counter
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "scripts/parts"))

import deadline  # noqa: E402

PASSED, FAILED = Counter(), Counter()
RNG = np.random.default_rng(7)
# The most memory that a run may reserve; a hostile file must not exceed it.
MOST_MEMORY = 1 << 30
# Types that ml_dtypes stores one per byte.
PACKED = {"int4": 4, "uint4": 4, "float4_e2m1fn": 4, "int2": 2, "uint2": 2}


def check(group, ok, what):
    (PASSED if ok else FAILED)[group] += 1
    if not ok and FAILED[group] <= 5:
        print(f"FAILED {group}: {str(what)[:800]}")


class Folder:
    """A temporary folder, and the command run in it."""

    def __init__(self, binary):
        self.binary = binary

    def __enter__(self):
        self.held = tempfile.TemporaryDirectory()
        self.path = Path(self.held.name)
        return self

    def __exit__(self, *_):
        self.held.cleanup()

    def __truediv__(self, name):
        return self.path / name

    def run(self, *arguments):
        def limit():
            resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))

        command = [self.binary, "run", *map(str, arguments)]
        env = {**os.environ, "NO_COLOR": "1", "RAYON_NUM_THREADS": "2"}
        return deadline.run(command, cwd=self.path, preexec_fn=limit, env=env)

    def expect(self, group, what, *arguments):
        """A run that must succeed."""
        done = self.run(*arguments)
        check(group, done.returncode == 0, (what, done.stderr.strip()))
        return done.returncode == 0

    def refused(self, what, text, *arguments):
        """A run that must fail with one line that contains this text, and write nothing."""
        before = sorted(self.path.rglob("*"))
        done = self.run(*arguments)
        lines = done.stderr.splitlines()
        ok = done.returncode == 1 and len(lines) == 1 and text in lines[0]
        ok &= lines[:1] != [] and lines[0].startswith("error: ") and len(lines[0]) < 20_000
        check("models: refused", ok, (what, done.returncode, done.stderr[:500]))
        check("models: nothing left behind", sorted(self.path.rglob("*")) == before, what)


def reverse_sequence(x, lens, time, batch):
    y = x.copy()
    for entry, length in enumerate(lens):
        at = [slice(None)] * x.ndim
        at[batch], at[time] = entry, slice(0, length)
        to = tuple(at)
        axis = (time if time < batch else time - 1) % (x.ndim - 1)
        y[to] = np.flip(x[to], axis)
    return y


def same(a, b):
    if a.dtype == b.dtype and a.dtype.name in PACKED:
        # Only the low bits of a byte are the element; the others are not always a sign extension.
        mask = (1 << PACKED[a.dtype.name]) - 1
        return a.shape == b.shape and np.array_equal(a.view(np.uint8) & mask, b.view(np.uint8) & mask)
    if a.dtype.kind in "OUT" or b.dtype.kind in "OUT":
        return a.shape == b.shape and list(map(text, a.flat)) == list(map(text, b.flat))
    return a.shape == b.shape and a.tobytes() == b.tobytes()


def text(cell):
    return cell.decode() if isinstance(cell, bytes) else str(cell)


def draw(name, shape, quiet=False):
    """A random array of an ONNX type, with every bit pattern that is valid.

    Typed fields go through Python's floats, which make signalling NaNs quiet: `quiet` does that in
    advance.
    """
    count = int(np.prod(shape))
    if name == "STRING":
        words = ["", "a", "größe", "\U0001f980", "two words", "x" * 40]
        return np.array([words[at] for at in RNG.integers(0, len(words), count)], object).reshape(shape)
    dtype = np.dtype(helper.tensor_dtype_to_np_dtype(getattr(TensorProto, name)))
    raw = RNG.integers(0, 256, count * dtype.itemsize, np.uint8)
    if name == "BOOL":
        raw &= 1
    if quiet and name in ("FLOAT", "COMPLEX64"):
        raw.view(np.uint32)[np.isnan(raw.view(np.float32))] |= 1 << 22
    if bits(name) < 8:
        raw &= (1 << bits(name)) - 1
        if name.startswith("INT"):
            sign = 1 << (bits(name) - 1)
            raw = ((raw.astype(np.int16) ^ sign) - sign).astype(np.int8).view(np.uint8)
    return raw.view(dtype).reshape(shape)


def bits(name):
    return {"UINT4": 4, "INT4": 4, "FLOAT4E2M1": 4, "UINT2": 2, "INT2": 2}.get(name, 8)


def model_of(nodes, inputs, outputs, opset=10, **more):
    graph = helper.make_graph(nodes, "g", inputs, outputs, **more)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)


def info(name, kind, dims):
    return helper.make_tensor_value_info(name, kind, dims)


def sequence(time=0, inputs=("x", "lens"), outputs=("y",), name="reverse"):
    return helper.make_node(
        "ReverseSequence", list(inputs), list(outputs), name, time_axis=time, batch_axis=1 - time
    )


def sequence_model(kind, opset=10, dims=("A", "B", "C"), time=0):
    lens = info("lens", TensorProto.INT64, [dims[1 - time]])
    return model_of([sequence(time)], [info("x", kind, dims), lens], [info("y", kind, dims)], opset)


def tensor_of(name, x):
    if x.dtype == object:
        return helper.make_tensor(name, TensorProto.STRING, x.shape, [text(v).encode() for v in x.flat])
    return numpy_helper.from_array(x, name)


def typed(name, kind, x):
    """A TensorProto whose elements are in a typed field."""
    if kind == "STRING":
        return tensor_of(name, x)
    proto = TensorProto(name=name, data_type=getattr(TensorProto, kind), dims=x.shape)
    if kind in ("FLOAT", "COMPLEX64"):
        proto.float_data.extend(np.ascontiguousarray(x).view(np.float32).ravel())
    elif kind in ("DOUBLE", "COMPLEX128"):
        proto.double_data.extend(np.ascontiguousarray(x).view(np.float64).ravel())
    elif kind == "INT64":
        proto.int64_data.extend(x.ravel().tolist())
    elif kind in ("UINT32", "UINT64"):
        proto.uint64_data.extend(x.ravel().tolist())
    elif bits(kind) < 8:
        proto.int32_data.extend(numpy_helper.from_array(x).raw_data)
    elif kind in ("INT8", "INT16", "INT32", "BOOL"):
        proto.int32_data.extend(x.ravel().astype(np.int64).tolist())
    else:
        proto.int32_data.extend(x.view(f"u{x.dtype.itemsize}").ravel().tolist())
    return proto


def varint(number):
    """A number of protocol buffers."""
    out = bytearray()
    while number > 127:
        out.append(number & 127 | 128)
        number >>= 7
    return bytes([*out, number])


def write(path, proto):
    path.write_bytes(proto.SerializeToString())
    return path


def load(path):
    """The command's output, read by the official library of its format."""
    if path.suffix == ".pb":
        return numpy_helper.to_array(onnx.load_tensor(str(path)))
    return np.load(path, allow_pickle=False)


def result_is(group, what, path, expected):
    if not path.exists():
        check(group, False, (what, "no output"))
        return
    found = load(path)
    if path.suffix == ".npy" and found.dtype.kind == "V":
        found = found.view(expected.dtype)  # NumPy reads an extension type as raw bytes
    check(group, same(found, expected), (what, found, expected))


def array_of(value):
    """Packed elements are messages."""
    return numpy_helper.to_array(value) if isinstance(value, TensorProto) else np.asarray(value)


def official(binary, chosen, operator=None):
    """Runs the node tests of the onnx package that `chosen` accepts on their data; those that ran."""
    from onnx.backend.test.case import node

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        cases = [case for case in node.collect_testcases(operator) if case.model and chosen(case)]
    for case, (inputs, outputs) in ((case, data) for case in cases for data in case.data_sets):
        with Folder(binary) as folder:
            write(folder / "model.onnx", case.model)
            arguments = []
            for proto, x in zip(case.model.graph.input, inputs):
                write(folder / f"{proto.name}.pb", tensor_of(proto.name, array_of(x)))
                arguments += ["--input", f"{proto.name}={proto.name}.pb"]
            if folder.expect("onnx: official cases", case.name, "model.onnx", *arguments, "-d", "out", "--to", "pb"):
                for proto, y in zip(case.model.graph.output, outputs):
                    result_is("onnx: official cases", case.name, folder / f"out/{proto.name}.pb", array_of(y))
                yield case


def summary(what):
    """Prints the counts of each group; the exit status."""
    for group in sorted(PASSED | FAILED):
        print(f"{group}: {PASSED[group]} agree, {FAILED[group]} differ")
    print(f"{what}: {PASSED.total()} passed, {FAILED.total()} failed")
    return 1 if FAILED.total() or not PASSED.total() else 0
