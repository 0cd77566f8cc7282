"""Calls whose arguments, when they are read, resize or free the tensors of the call. Run as a program, by test_hostile.

Each argument of each function is replaced in turn by objects with every protocol that Python code can answer. A call may
succeed or raise; it must not touch memory that is no longer the tensor's. Freed blocks leave the address space at once
(MALLOC_MMAP_THRESHOLD_), so that a stale pointer ends the process.
"""

import itertools
import sys

import numpy as np

import retrograde
from retrograde import _engine

ROWS, COLUMNS = 64, 512
LENGTHS = np.arange(COLUMNS) % ROWS
OFFSETS = np.array([0, 3, 50, ROWS])


class Harm:
    """Does the harm once, when it is asked to."""

    def __init__(self, do):
        self.do, self.done = do, False

    def __call__(self):
        if not self.done:
            self.done = True
            self.do()


class Hostile:
    """In place of a value: does the harm when it is asked for the value."""

    def __init__(self, value, harm):
        self.value, self.harm = value, harm

    def listed(self):
        return np.ravel(self.value).tolist()

    def harmful(self, answer):
        self.harm()
        return answer


class WithArray(Hostile):
    def __array__(self, *args, **kwargs):
        return self.harmful(np.array(self.value))


class WithDlpack(Hostile):
    def __dlpack__(self, **kwargs):
        return self.harmful(np.array(self.value).__dlpack__())

    def __dlpack_device__(self):
        return 1, 0


class WithIndex(Hostile):
    def __index__(self):
        return self.harmful(int(self.listed()[0]))

    __int__ = __index__


class WithIterator(Hostile):
    def __iter__(self):
        return self.harmful(iter(self.listed()))

    def __len__(self):
        return self.harmful(np.size(self.value))


class WithItems(Hostile):
    def __getitem__(self, at):
        return self.harmful(self.listed()[at])

    def __len__(self):
        return self.harmful(np.size(self.value))


class WithAttributes(Hostile):
    def __getattr__(self, name):
        self.harm()
        raise AttributeError(name)

    def __iter__(self):
        return iter(self.listed())

    def __index__(self):
        return int(self.listed()[0])

    def __repr__(self):
        return self.harmful("hostile")


class WithBuffer(Hostile):
    def __buffer__(self, flags):
        return self.harmful(memoryview(np.array(self.value)))

    def __array__(self, *args, **kwargs):
        return np.asarray(memoryview(self))


class Truth(Hostile):
    dtype = np.dtype(bool)

    def __bool__(self):
        return self.harmful(True)


def with_truth(value, harm):
    return [Truth(value, harm) for _ in range(np.size(value))]


def with_torch_function(value, harm):
    class Override:
        @classmethod
        def __torch_function__(cls, function, types, args=(), kwargs=None):
            harm()
            return NotImplemented

    return Override()


def in_list(value, harm):
    first, *others = np.ravel(value).tolist()
    return [WithIndex(first, harm), *others]


def in_tuple(value, harm):
    return tuple(in_list(value, harm))


def nested(value, harm):
    return [WithArray(v, harm) for v in np.ravel(value)]


KINDS = (
    *(WithArray, WithDlpack, WithIndex, WithIterator, WithItems, WithAttributes, with_truth, WithBuffer),
    *(with_torch_function, in_list, in_tuple, nested),
)

#: The honest arguments of each function, after the tensor.
ARGUMENTS = {
    "reverse": {"axes": 0},
    "reverse (mask)": {"mask": [True, False]},
    "reverse_sequence": {"lengths": LENGTHS, "time_axis": 0, "batch_axis": 1},
    "reverse_subsequences": {"lengths": LENGTHS, "axis": 0},
    "reverse_segments": {"offsets": OFFSETS, "axis": 0},
    "flip": {"axis": 0},
    "rot90": {"k": 1, "axes": (0, 1)},
    "orient": {"orientation": 6, "axes": (0, 1)},
}
OPERATORS = ("reverse", "reverse_sequence", "reverse_subsequences", "reverse_segments")

#: What was harmed while an argument was read.
reached = set()


def run(case, harm, call):
    print(*case, flush=True)
    try:
        call()
    except Exception as error:
        # Not an error of the interpreter, such as a SystemError.
        assert isinstance(error, (TypeError, ValueError, BufferError, IndexError, RuntimeError, NotImplementedError)), error
    if harm.done:
        reached.add(case[1:3])


def direct(library):
    """Every argument of every function, in a direct call, into an output, in place, explained and shown."""
    for how, (name, given) in itertools.product(library.hows, ARGUMENTS.items()):
        function = name.partition(" ")[0]
        if how != "new" and function not in OPERATORS:
            continue
        for argument, kind, change in itertools.product(given, KINDS, library.changes):
            x, out = library.new(), library.new()
            harm = Harm(lambda: change(x, out))
            arguments = {**given, argument: kind(given[argument], harm)}
            # Both paths: without and with a plan of an equal call.
            for again in range(2):
                harm.done = False
                if again:
                    x, out = library.new(), library.new()
                    try:
                        getattr(retrograde, function)(x, **given)
                    except Exception:
                        continue
                call = {
                    "new": lambda: getattr(retrograde, function)(x, **arguments),
                    "out": lambda: getattr(retrograde, function)(x, **arguments, out=out),
                    "in place": lambda: getattr(retrograde, function)(x, **arguments, out=x),
                    "explain": lambda: retrograde.explain(function, x, **arguments),
                    "show": lambda: str(retrograde.show(function, x, **arguments)),
                }[how]
                run((library.name, function, argument, how, kind.__name__, change.__name__), harm, call)


def outputs(library):
    """Outputs that are exported."""
    for name, given in ARGUMENTS.items():
        function = name.partition(" ")[0]
        if function not in OPERATORS:
            continue
        for kind, change in itertools.product((WithArray, WithDlpack, WithAttributes), library.changes):
            x, real = library.new(), library.new()
            harm = Harm(lambda: change(x, real))
            out = kind(np.zeros((ROWS, COLUMNS), np.float32), harm)
            case = (library.name, function, "out", kind.__name__, change.__name__)
            run(case, harm, lambda: getattr(retrograde, function)(x, **given, out=out))
            x = library.new()
            harm.done = False
            order = {**{"axes": None, "mask": None, "duplicates": "set"}, **given} if function == "reverse" else {
                **given, **({"policy": "clamp", "align": "start", "tail": "keep"} if "lengths" in given else {})
            }
            run((*case, "engine"), harm, lambda: getattr(_engine, function)(x, *order.values(), out))


def prepared(library):
    """Lengths and outputs of prepared calls."""
    for name, given in ARGUMENTS.items():
        counts = next((c for c in ("lengths", "offsets") if c in given), None)
        if name not in OPERATORS:
            continue
        for kind, change in itertools.product(KINDS, library.changes):
            x, out = library.new(), library.new()
            harm = Harm(lambda: change(x, out))
            call = retrograde.prepare(name, x, **given)
            if counts:
                hostile = kind(given[counts], harm)
                case = (library.name, name, counts, "prepared", kind.__name__, change.__name__)
                run(case, harm, lambda: call(x, hostile))
                run(case, harm, lambda: call(x, hostile, out=out))
                run(case, harm, lambda: retrograde.prepare(name, library.new(), **{**given, counts: hostile}))
            x = library.new()
            harm.done = False
            output = kind(np.zeros((ROWS, COLUMNS), np.float32), harm)
            run((library.name, name, "out", "prepared", kind.__name__, change.__name__), harm, lambda: call(x, out=output))


class Numpy:
    name = "numpy"
    hows = "new", "out", "in place", "explain", "show"

    @staticmethod
    def new():
        return np.ones((ROWS, COLUMNS), np.float32)

    def free(x, out):
        x.resize((0,), refcheck=False)
        out.resize((0,), refcheck=False)

    def grow(x, out):
        x.resize((4 * ROWS, COLUMNS), refcheck=False)
        out.resize((4 * ROWS, COLUMNS), refcheck=False)

    def reshape(x, out):
        # Frees the arrays of sizes and strides.
        x.resize((2,) * 17, refcheck=False)

    changes = free, grow, reshape


class Torch:
    name = "torch"
    hows = "new", "out", "in place", "explain", "show"

    @staticmethod
    def new():
        import torch

        return torch.ones(ROWS, COLUMNS)

    def grow(x, out):
        x.resize_(4 * ROWS, COLUMNS)
        out.resize_(4 * ROWS, COLUMNS)

    def replace(x, out):
        x.set_()
        out.set_()

    def free(x, out):
        x.untyped_storage().resize_(0)
        out.untyped_storage().resize_(0)

    def reshape(x, out):
        x.resize_((2,) * 17)

    changes = grow, replace, free, reshape


def arrays():
    """What only NumPy's arrays have: derived classes, long lengths in place, and references."""
    harms = []

    class Derived(np.ndarray):
        def __array_finalize__(self, other):
            for harm in harms:
                harm()

    many = 1 << 17
    functions = (
        lambda x, n: retrograde.reverse_sequence(x, n),
        lambda x, n: retrograde.reverse_subsequences(x, n, axis=0),
        lambda x, n: retrograde.reverse(x, 0),
        lambda x, n: retrograde.rot90(x),
        lambda x, n: retrograde.flip(x, 0),
        lambda x, n: retrograde.prepare("reverse_sequence", x, n)(x, n),
    )
    # NumPy's own copy of references would read what was freed.
    for function, (what, dtype) in itertools.product(functions, [("x", "u1"), ("lengths", "u1"), ("lengths", "O")]):
        harms.clear()
        lengths, x = np.full(many, 2), np.ndarray.__new__(Derived, (2, many), dtype)
        x[...] = 1
        harm = Harm(lambda: (x if what == "x" else lengths).resize((2,), refcheck=False))
        harms.append(harm)
        run(("numpy", "derived", what, dtype), harm, lambda: function(x, lengths))

    class Dying:
        def __del__(self):
            for harm in harms:
                harm()

    harms.clear()
    lengths = np.full(many, 2)
    x, out = np.empty((2, many), object), np.empty((2, many), object)
    out[1, 5] = Dying()
    harm = Harm(lambda: lengths.resize((2,), refcheck=False))
    harms.append(harm)
    run(("numpy", "references", "out"), harm, lambda: retrograde.reverse_sequence(x, lengths, out=out))
    harms.clear()


def main(name):
    library = {"numpy": Numpy, "torch": Torch}[name]
    direct(library)
    outputs(library)
    prepared(library)
    if library is Numpy:
        arrays()
    wanted = {(function.partition(" ")[0], argument) for function, given in ARGUMENTS.items() for argument in given}
    wanted |= {(function, "out") for function in OPERATORS}
    if library is Numpy:
        wanted |= {("derived", "x"), ("derived", "lengths"), ("references", "out")}
    # Each argument was read in a call, and did its harm.
    assert wanted <= reached, wanted - reached
    print("survived")


if __name__ == "__main__":
    main(*sys.argv[1:])
