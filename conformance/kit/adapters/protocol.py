"""The protocol of adapters: reads requests, writes answers, converts tensors to NumPy and back.

A runtime calls `serve`. Its function gets a `Call` and returns a tensor as (dtype, shape, data), or
raises: `Unsupported` if it cannot express the call, anything else if the runtime refused it.
"""

import json
import os
import sys

WIDTHS = {
    "bool": 8, "u8": 8, "i8": 8, "u16": 16, "i16": 16, "u32": 32, "i32": 32, "u64": 64, "i64": 64,
    "f16": 16, "bf16": 16, "f32": 32, "f64": 64, "c64": 64, "c128": 128, "f8e4m3fn": 8,
    "f8e4m3fnuz": 8, "f8e5m2": 8, "f8e5m2fnuz": 8, "f8e8m0": 8, "f4e2m1": 4, "nf4": 4, "u4": 4,
    "i4": 4, "u2": 2, "i2": 2, "u1": 1,
}  # fmt: skip
NUMPY = {
    "bool": "bool", "u8": "uint8", "i8": "int8", "u16": "uint16", "i16": "int16", "u32": "uint32",
    "i32": "int32", "u64": "uint64", "i64": "int64", "f16": "float16", "f32": "float32",
    "f64": "float64", "c64": "complex64", "c128": "complex128",
}  # fmt: skip
ML_DTYPES = {
    "bf16": "bfloat16", "f8e4m3fn": "float8_e4m3fn", "f8e4m3fnuz": "float8_e4m3fnuz",
    "f8e5m2": "float8_e5m2", "f8e5m2fnuz": "float8_e5m2fnuz", "f8e8m0": "float8_e8m0fnu",
    "f4e2m1": "float4_e2m1fn", "u4": "uint4", "i4": "int4", "u2": "uint2", "i2": "int2",
}  # fmt: skip


class Unsupported(Exception):
    """The adapter cannot express the call."""


class Tensor:
    """A tensor of a request: `data` is bytes, or a list of byte strings."""

    def __init__(self, value):
        self.dtype, self.shape = value["dtype"], value["shape"]
        data = value["data"]
        self.data = bytes.fromhex(data) if isinstance(data, str) else [bytes.fromhex(d) for d in data]

    def numpy(self):
        """As an array. Packed elements take a byte each, as in ml_dtypes."""
        import numpy as np

        if self.dtype == "string":
            texts = np.empty(len(self.data), object)
            texts[:] = [text.decode() for text in self.data]
            return texts.reshape(self.shape)
        dtype = numpy_type(self.dtype)
        if WIDTHS[self.dtype] >= 8:
            return np.frombuffer(self.data, dtype).reshape(self.shape)
        return unpacked(self.data, self.dtype, self.shape).view(dtype)


class Call:
    """A request."""

    def __init__(self, request):
        self.operator = request["operator"]
        self.attributes = request["attributes"]
        self.input = Tensor(request["input"])
        name = next(name for name in ("axes", "lengths", "offsets") if name in request)
        self.argument = Tensor(request[name])
        self.mask, self.table = (Tensor(request[name]) if name in request else None for name in ("where", "table"))


def numpy_type(name):
    import numpy as np

    if name in NUMPY:
        return np.dtype(NUMPY[name])
    if name not in ML_DTYPES:
        raise Unsupported(f"NumPy has no {name}")
    import ml_dtypes

    if not hasattr(ml_dtypes, ML_DTYPES[name]):
        raise Unsupported(f"this ml_dtypes has no {name}")
    return np.dtype(getattr(ml_dtypes, ML_DTYPES[name]))


def unpacked(data, name, shape):
    """Packed elements, one in the low bits of each byte; i4 and i2 are sign-extended."""
    import numpy as np

    width = WIDTHS[name]
    raw = np.frombuffer(data, np.uint8)
    shifts = range(0, 8, width)
    parts = [(raw >> shift) & ((1 << width) - 1) for shift in shifts]
    if width == 1:
        parts.reverse()
    flat = np.stack(parts, -1).reshape(-1)[: int(np.prod(shape, dtype=np.int64))]
    if name in ("i4", "i2"):
        sign = 1 << (width - 1)
        flat = ((flat ^ sign).astype(np.int8) - sign).view(np.uint8)
    return np.ascontiguousarray(flat).reshape(shape)


def packed(array, name):
    """The bytes of elements that take a byte each."""
    import numpy as np

    width = WIDTHS[name]
    flat = np.ascontiguousarray(array).reshape(-1).view(np.uint8) & ((1 << width) - 1)
    per = 8 // width
    flat = np.concatenate([flat, np.zeros(-len(flat) % per, np.uint8)]).reshape(-1, per)
    shifts = [shift for shift in range(0, 8, width)]
    if width == 1:
        shifts.reverse()
    return b"".join(int(sum(int(v) << s for v, s in zip(row, shifts))).to_bytes(1, "little") for row in flat)


def from_numpy(array, name):
    """An array as a tensor of the type that the request has."""
    import numpy as np

    array = np.asarray(array)
    if name == "string":
        texts = [t if isinstance(t, bytes) else str(t).encode() for t in array.reshape(-1).tolist()]
        return "string", list(array.shape), texts
    expected = numpy_type(name)
    if array.dtype != expected:
        found = {numpy_name(k): k for k in (*NUMPY, *ML_DTYPES)}
        name = found.get(array.dtype.name, name)
    data = np.ascontiguousarray(array)
    return name, list(array.shape), packed(data, name) if WIDTHS[name] < 8 else data.tobytes()


def numpy_name(name):
    return NUMPY.get(name) or ML_DTYPES.get(name)


def output(tensor):
    dtype, shape, data = tensor
    data = [text.hex() for text in data] if dtype == "string" else bytes(data).hex()
    return {"dtype": dtype, "shape": [int(size) for size in shape], "data": data}


def serve(runtime, operators, start, install, operands=()):
    """Answers requests. `start` imports the runtime; it returns its version and the function. `operands`
    are those of "where" and "table" that it takes; no other call has them."""
    # A runtime that prints must not disturb the protocol: what it prints goes to stderr.
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)
    say = lambda answer: (answers.write(json.dumps(answer) + "\n"), answers.flush())
    if not sys.stdin.readline():
        return
    try:
        version, run = start()
    except ImportError as error:
        return say({"missing": f"{runtime} ({error})", "install": install})
    say({"protocol": 1, "runtime": runtime, "version": version, "operators": operators, "operands": operands})
    for line in sys.stdin:
        request = json.loads(line)
        answer = {"id": request["id"]}
        try:
            answer |= {"outcome": "value", "output": output(run(Call(request)))}
        except Unsupported as error:
            answer |= {"outcome": "unsupported", "message": str(error)}
        except Exception as error:  # a runtime may raise anything
            text = " ".join(str(error).split())
            answer |= {"outcome": "refused", "message": f"{type(error).__name__}: {text}"[:300]}
        say(answer)
