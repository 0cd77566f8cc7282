"""The C library of `retrograde-bench`, through ctypes."""

import ctypes
import os

import numpy as np

OPERATORS = {"reverse": 0, "sequence": 1, "subsequences": 2}
STEPS = [
    "plan Reverse, rank 4",
    "plan ReverseSequence, rank 4",
    "plan ReverseSubsequences, rank 4",
    "run a plan on 1 KiB",
    "memcpy of 1 KiB",
]

size, pointer = ctypes.c_size_t, ctypes.c_void_p


class CallSpec(ctypes.Structure):
    _fields_ = [
        ("operator", ctypes.c_uint32),
        ("rank", ctypes.c_uint32),
        ("shape", pointer),
        ("strides", pointer),
        ("dtype", ctypes.c_char_p),
        ("axes", pointer),
        ("axes_len", size),
        ("lengths", pointer),
        ("lengths_len", size),
        ("lengths_dtype", ctypes.c_char_p),
    ]


def load(path):
    library = ctypes.CDLL(path)
    signatures = {
        "rb_error": (ctypes.c_char_p, []),
        "rb_call_new": (pointer, [ctypes.POINTER(CallSpec)]),
        "rb_call_free": (None, [pointer]),
        "rb_run": (ctypes.c_int, [pointer, size, pointer, pointer, ctypes.c_bool, size]),
        "rb_in_place": (ctypes.c_int, [pointer, size, pointer, size]),
        "rb_fresh": (ctypes.c_int, [pointer, size, pointer, pointer, size]),
        "rb_copy": (None, [size, pointer, pointer, size, size]),
        "rb_copy_fresh": (None, [size, pointer, size, size]),
        "rb_overhead": (ctypes.c_int, [size, size]),
    }
    for name, (result, arguments) in signatures.items():
        function = getattr(library, name)
        function.restype, function.argtypes = result, arguments
    return library


def named(variable):
    return load(os.environ[variable]) if variable in os.environ else None


#: None for benchmarks that call from Python alone.
LIBRARY = named("RETROGRADE_BENCH_LIBRARY")
#: Another build of it, to compare with.
BEFORE = named("RETROGRADE_BENCH_BEFORE")


def checked(code, library=LIBRARY):
    if code:
        raise RuntimeError(library.rb_error().decode())


class Call:
    """A prepared case, which holds the plan."""

    def __init__(self, case, lengths, strides, library=LIBRARY):
        self.library = library
        shape = np.array(case.shape, np.uintp)
        axes = np.array(case.axes, np.int64)
        strides = None if strides is None else np.array(strides, np.intp)
        spec = CallSpec(
            OPERATORS[case.operator],
            len(shape),
            shape.ctypes.data,
            None if strides is None else strides.ctypes.data,
            case.dtype.encode(),
            axes.ctypes.data,
            len(axes),
            None if lengths is None else lengths.ctypes.data,
            0 if lengths is None else lengths.nbytes,
            None if lengths is None else {"int64": b"i64", "uint32": b"u32"}[lengths.dtype.name],
        )
        self.handle = self.library.rb_call_new(ctypes.byref(spec))
        if not self.handle:
            raise RuntimeError(self.library.rb_error().decode())

    def __del__(self):
        if getattr(self, "handle", None):
            self.library.rb_call_free(self.handle)

    def run(self, threads, src, dst, plan_each_call, iterations):
        checked(self.library.rb_run(self.handle, threads, src.ctypes.data, dst.ctypes.data, plan_each_call, iterations), self.library)

    def in_place(self, threads, memory, iterations):
        checked(self.library.rb_in_place(self.handle, threads, memory.ctypes.data, iterations), self.library)

    def fresh(self, threads, src, keep, iterations):
        keep = None if keep is None else keep.ctypes.data
        checked(self.library.rb_fresh(self.handle, threads, src.ctypes.data, keep, iterations), self.library)


def copy(threads, src, dst, iterations):
    LIBRARY.rb_copy(threads, src.ctypes.data, dst.ctypes.data, src.nbytes, iterations)


def copy_fresh(threads, src, iterations):
    LIBRARY.rb_copy_fresh(threads, src.ctypes.data, src.nbytes, iterations)


def overhead(step, iterations):
    checked(LIBRARY.rb_overhead(step, iterations))
