"""The contestants: a device copy, Retrograde, and other libraries with their usual idioms.

Outputs are reused by libraries that support it. Lengths are data of the call: an idiom that needs
an index computes it in the call. In place, the other libraries make a reversed copy and copy it
back. """

from collections.abc import Callable
from dataclasses import dataclass

import torch
import torch.utils.dlpack
from harness.peers import first_line

from .measure import COPY, OWN

# An index takes 8 bytes per element: from this size on, 4 GiB and more.
INDEXED = 1 << 29


class Unsupported(Exception):
    """The library has no such call, for this reason."""


@dataclass(eq=False)
class Contestant:
    name: str
    style: str  # what it does: reused, fresh, in place, or the idiom
    call: Callable
    wait: Callable  # waits for a result
    tensor: Callable = lambda result: result  # converts a result to a PyTorch tensor
    clock: bool = False  # it uses its own stream: timed by the wall clock, not by events
    wrong: bool = False


def copying(job, device):
    call = device.copier(job.bytes(job.dst), job.bytes(job.src))
    return Contestant(COPY, "reused", call, lambda _: device.wait())


class Peer:
    """A library; `contestants` yields its calls for a job or says why there are none."""

    def __init__(self, name, device):
        self.name, self.device = name, device

    def check(self, job):
        """Raises if calls did not do their work."""

    def made(self, style, call, tensor=lambda result: result):
        return Contestant(self.name, style, call, lambda _: self.device.wait(), tensor)


class Retrograde(Peer):
    def __init__(self, name, device):
        super().__init__(name, device)
        import retrograde
        import retrograde.cuda

        self.package, self.version = retrograde, retrograde.__version__

    def contestants(self, job):
        case, package, lengths = job.case, self.package, job.lengths
        x = job.out if case.in_place else job.x
        if case.operator == "reverse":
            axes = case.axes
            call = lambda out=job.out: package.reverse(x, axes, out=out)  # noqa: E731
        elif case.operator == "sequence":
            time, batch = case.axes

            def call(out=job.out):
                return package.reverse_sequence(x, lengths, time_axis=time, batch_axis=batch, out=out)

        else:
            (axis,) = case.axes

            # Strict, as sequences are, so that the check is included in the time.
            def call(out=job.out):
                return package.reverse_subsequences(x, lengths, axis=axis, policy="strict", out=out)

        yield self.made("in place" if case.in_place else "reused", call)
        if not case.in_place:  # the usual call, and what the other libraries do
            yield self.made("fresh", lambda: call(None))

    def check(self, job):
        """A call with an invalid length would not have written its output."""
        self.package.cuda.check(job.x)


def torch_flip(x, axes, dense):
    flipped = torch.flip(x, axes)
    # For a transposed tensor PyTorch returns a transposed one, which is a different task.
    return flipped.contiguous() if dense else flipped


def torch_index(size, dim, axis, lengths):
    """The source of every step of every lane."""
    steps = [1] * dim
    steps[axis] = size
    t = torch.arange(size, device=lengths.device).view(steps)
    return torch.where(t < lengths, lengths - 1 - t, t)


def torch_gather(x, axis, lengths):
    """The usual idiom: an index for every element."""
    return torch.gather(x, axis, torch_index(x.shape[axis], x.dim(), axis, lengths).expand(x.shape))


def torch_rows(x, time, lengths):
    """The idiom for rows: an index for each. Time and batch are the first two axes."""
    index = torch_index(x.shape[time], 2, time, lengths)
    batch = torch.arange(x.shape[1 - time], device=x.device).unsqueeze(time)
    return x[(index, batch) if time == 0 else (batch, index)]


def torch_calls(job):
    """Idioms: a name, a function and its tensors, of types that PyTorch fully supports."""
    case = job.case
    axis, axes, dense = case.axes[0], case.axes, case.transposed

    def plain(x):
        return x.view(torch.int16) if x.dtype == torch.uint16 else x

    x = plain(job.out if case.in_place else job.x)
    if case.operator == "reverse":
        calls = [("flip", lambda x: torch_flip(x, axes, dense), (x,))]
    else:
        lengths = job.broadcast_lengths()
        calls = [("gather", lambda x, lengths: torch_gather(x, axis, lengths), (x, lengths))]
        if case.has_rows:
            flat = lengths.flatten(2).squeeze(2)
            calls.append(("rows", lambda x, lengths: torch_rows(x, axis, lengths), (x, flat)))
    for style, function, tensors in calls:
        yield style, copied_back(function) if case.in_place else function, tensors


def copied_back(function):
    return lambda x, *lengths: x.copy_(function(x, *lengths))


class Torch(Peer):
    version = torch.__version__

    def contestants(self, job):
        found = False
        for style, function, tensors in torch_calls(job):
            if style == "gather" and job.case.count >= INDEXED:
                continue
            found = True
            yield self.made(style, lambda f=function, t=tensors: f(*t))
        if not found:
            raise Unsupported("its index would take 4 GiB or more")


class Compiled(Peer):
    version = torch.__version__

    def contestants(self, job):
        torch._dynamo.reset()
        # A dry run does not need Triton or a C++ compiler.
        backend = "inductor" if self.device.kind == "cuda" else "eager"
        for style, function, tensors in torch_calls(job):
            compiled = torch.compile(function, dynamic=False, fullgraph=True, backend=backend)
            yield self.made(style, lambda f=compiled, t=tensors: f(*t))


class Cupy(Peer):
    def __init__(self, name, device):
        super().__init__(name, device)
        if device.kind == "cuda":
            import cupy

            # All contestants use one stream; 0 is CuPy's default.
            if device.stream:
                cupy.cuda.ExternalStream(device.stream).use()
            self.array, self.version = cupy.from_dlpack, cupy.__version__
        else:
            import numpy as cupy  # its functions have the same names

            self.array, self.version = cupy.asarray, f"NumPy {cupy.__version__} in its place"
        self.cupy = cupy

    def contestants(self, job):
        case, cupy = job.case, self.cupy
        x, out = (self.array(one) for one in (job.out if case.in_place else job.x, job.out))
        if case.operator == "reverse":

            def reversed_view():
                return cupy.flip(x, case.axes)

            style = "flip"
        else:
            if case.count >= INDEXED and not case.has_rows:
                raise Unsupported("its index would take 4 GiB or more")
            axis = case.axes[0]
            lengths = self.array(job.broadcast_lengths())
            shape = [1] * x.ndim
            shape[axis] = x.shape[axis]

            def index():
                t = cupy.arange(x.shape[axis]).reshape(shape)
                return cupy.where(t < lengths, lengths - 1 - t, t)

            def rows():
                first = index().reshape(x.shape[:2])
                batch = cupy.expand_dims(cupy.arange(x.shape[1 - axis]), axis)
                return x[(first, batch) if axis == 0 else (batch, first)]

            def gathered():
                return cupy.take_along_axis(x, index(), axis)

            style, reversed_view = ("rows", rows) if case.has_rows else ("gather", gathered)

        def call():
            if case.operator != "reverse" and not case.in_place:
                return reversed_view()
            # A flip is a view, which is copied here.
            cupy.copyto(out, cupy.ascontiguousarray(reversed_view()) if case.in_place else reversed_view())
            return out

        yield self.made(style, call, self._tensor)

    def _tensor(self, result):
        return torch.from_dlpack(result)


class Jax(Peer):
    def __init__(self, name, device):
        super().__init__(name, device)
        import jax

        self.jax, self.version = jax, jax.__version__
        kind = jax.devices()[0].platform
        if device.kind == "cuda" and kind != "gpu":
            raise ImportError(f"it finds no GPU, only {kind}")

    def contestants(self, job):
        case, jax, numpy = job.case, self.jax, self.jax.numpy
        if case.in_place:
            raise Unsupported("its arrays are immutable")
        if case.offset:
            raise Unsupported("it places arrays itself")
        x = jax.dlpack.from_dlpack(job.base)
        turn = (lambda x: numpy.swapaxes(x, -1, -2)) if case.transposed else (lambda x: x)
        if case.operator == "reverse":
            style, arguments, function = "flip", (x,), lambda x: numpy.flip(turn(x), case.axes)
        else:
            axis = case.axes[0]
            # 32 bits: a 64-bit index would take twice the memory.
            lengths = jax.dlpack.from_dlpack(job.broadcast_lengths().to(torch.int32).contiguous())
            shape = [1] * x.ndim
            shape[axis] = x.shape[axis]

            def function(x, lengths):
                t = numpy.arange(x.shape[axis], dtype="int32").reshape(shape)
                index = numpy.where(t < lengths, lengths - 1 - t, t)
                return numpy.take_along_axis(x, index, axis, mode="promise_in_bounds")

            style, arguments = "gather", (x, lengths)
        compiled = jax.jit(function)
        self.device.wait()  # its own stream does not wait for the input
        call = lambda: compiled(*arguments)  # noqa: E731
        # Waited for, so that no stream has to be passed.
        as_torch = lambda y: torch.utils.dlpack.from_dlpack(y.__dlpack__())  # noqa: E731
        yield Contestant(self.name, style, call, lambda y: y.block_until_ready(), as_torch, clock=True)


PEERS = {OWN: Retrograde, "torch": Torch, "torch.compile": Compiled, "cupy": Cupy, "jax": Jax}


def load(wanted, device):
    """The available libraries, and why the others are not available."""
    found, missing = [], {}
    for name, kind in PEERS.items():
        if name not in (OWN, *wanted):
            continue
        try:
            found.append(kind(name, device))
        except Exception as error:  # a missing package, or one that does not start here
            missing[name] = first_line(error)
    return found, missing
