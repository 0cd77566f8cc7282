"""The contestants: the baselines, Retrograde, and the interface of a peer."""

from collections.abc import Callable
from dataclasses import dataclass

from . import native

# Up to this size a call is timed including planning; beyond it, with a reused plan.
PLANNED_EACH_CALL = 1 << 20


class Unsupported(Exception):
    """A peer has no such operation, for this reason."""


def supported(case, types=None, strided=False, lanes=True):
    """Raises unless a peer of these types has the case; none works in place."""
    if case.in_place:
        raise Unsupported("nothing works in place")
    if types is None and case.packed:
        raise Unsupported("no packed types")
    if types is not None and case.dtype not in types:
        raise Unsupported(f"no {case.dtype}")
    if case.fortran and not strided:
        raise Unsupported("dense inputs only")
    if case.operator == "subsequences" and not lanes:
        raise Unsupported("no length per lane")


@dataclass
class Contestant:
    name: str
    style: str  # reused, fresh or in place: where the output goes
    work: Callable[[int], object]  # does it this many times
    result: Callable[[], object] | None  # the result of the last call; None for the baselines

    @property
    def label(self):
        return self.name if self.style == "reused" else f"{self.name}, {self.style}"


def right(job, contestant):
    """Whether its result equals NumPy's; baselines are not checked."""
    if contestant.result is None or contestant.name.startswith("copy"):
        return True
    if contestant.style == "reused":
        job.dst.fill(0xA5)
        contestant.work(1)
    return job.is_right(contestant.result())


def repeated(call):
    """Wraps a call without arguments in a loop."""

    def work(iterations):
        for _ in range(iterations):
            call()

    return work


def into(name, job, call):
    """A peer that writes to the job's output."""
    return Contestant(name, "reused", repeated(call), lambda: job.out)


def making(name, call, to_numpy=lambda result: result):
    """A peer that allocates its output, and frees it within the timed region."""
    return Contestant(name, "fresh", repeated(call), lambda: to_numpy(call()))


def from_python(job, threads):
    """Retrograde as called from Python, through the installed package."""
    import retrograde as package

    package.set_num_threads(threads)
    case, x, out = job.case, job.x, job.out
    if case.packed:
        return  # NumPy has no packed types
    if case.operator == "reverse":

        def call(x=x, out=None):
            return package.reverse(x, case.axes, out=out)

    elif case.operator == "sequence":
        time, batch = case.axes

        def call(x=x, out=None):
            return package.reverse_sequence(x, job.lengths, time_axis=time, batch_axis=batch, out=out)

    else:

        def call(x=x, out=None):
            return package.reverse_subsequences(x, job.lengths, axis=case.reversed_axis, out=out)

    name = "retrograde in Python"
    if case.in_place:

        def once():
            job.dst[:] = job.src
            return call(out, out)

        yield Contestant(name, "in place", repeated(lambda: call(out, out)), once)
        return
    yield into(name, job, lambda: call(out=out))
    if not case.fortran:  # a new output would be column-major too, which is a different case
        yield making(name, call)


def retrograde(job, threads):
    """The baselines, Retrograde, and another build of it if there is one."""
    case, src, dst = job.case, job.src, job.dst
    yield Contestant("memcpy", "reused", lambda n: native.copy(threads, src, dst, n), None)
    if not case.in_place:
        yield Contestant("memcpy", "fresh", lambda n: native.copy_fresh(threads, src, n), None)
    yield from from_rust("retrograde", native.LIBRARY, job, threads)
    if native.BEFORE:
        yield from from_rust("before", native.BEFORE, job, threads)


def from_rust(name, library, job, threads):
    """Retrograde as called from Rust, through the library of `retrograde-bench`."""
    case, src, dst = job.case, job.src, job.dst
    call = native.Call(case, job.lengths, job.strides(), library)
    whole = case.bytes <= PLANNED_EACH_CALL
    if case.in_place:

        def once():
            dst[:] = src
            call.in_place(threads, dst, 1)
            return job.out

        # Only the result of the first run is checked: each run undoes the one before.
        yield Contestant(name, "in place", lambda n: call.in_place(threads, dst, n), once)
        return
    yield Contestant(name, "reused", lambda n: call.run(threads, src, dst, whole, n), lambda: job.out)

    def kept():
        call.fresh(threads, src, dst, 1)
        return job.out

    yield Contestant(name, "fresh", lambda n: call.fresh(threads, src, None, n), kept)
