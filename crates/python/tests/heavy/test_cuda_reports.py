"""Invalid lengths on a CUDA device: what a call returns then, and when its error is raised. Streams of
several libraries, and of libraries that do not tell theirs.

Skipped without a device, as in CI. `bench/record/` says when it last ran on one. """

import os
import re
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
import retrograde
import retrograde.cuda
from retrograde import _engine

torch = pytest.importorskip("torch")
if not torch.cuda.is_available():
    pytest.skip("no CUDA device", allow_module_level=True)

import retrograde.torch  # noqa: E402

WRONG = [1, 5, -2]
CLAMPED = [1, 4, 0]
EARLIER = r"an earlier call on cuda:0 failed: .*; this call did not run"


@pytest.fixture(autouse=True)
def nothing_is_left():
    """Each test begins without reports, and without a new output that looks right by accident."""
    torch.cuda.synchronize()
    retrograde.cuda.set_blocking(False)
    quiet()
    yield
    retrograde.cuda.set_blocking(False)
    torch.cuda.synchronize()
    quiet()


def quiet():
    """Takes all reports that there are."""
    x = torch.zeros(2, device="cuda")
    for _ in range(100):
        try:
            retrograde.reverse(x)
            return
        except ValueError as error:
            assert "an earlier call" in str(error)
    pytest.fail("reports without end")


def data(shape=(4, 3)):
    x = torch.arange(float(torch.Size(shape).numel()), device="cuda").reshape(shape)
    # What the allocator returns next was in use before.
    for _ in range(4):
        torch.full(shape, -777.0, device="cuda")
    return x


def wrong():
    return torch.tensor(WRONG, device="cuda")


def through_the_dispatcher(x, lengths):
    return torch.ops.retrograde.reverse_sequence(x, lengths, 0, 1, "strict")


@pytest.mark.parametrize("call", [retrograde.reverse_sequence, through_the_dispatcher])
def test_a_new_output_is_never_uninitialised(call):
    for turn in range(20):
        x = data()
        y = call(x, wrong())
        expected = retrograde.reverse_sequence(x.cpu(), CLAMPED)
        assert torch.equal(y.cpu(), expected), turn
        with pytest.raises(ValueError, match=r"is 5, outside \[0, 4\]"):
            retrograde.cuda.check(x)


@pytest.mark.parametrize("steps", [7, 5_000, 100_000])
@pytest.mark.parametrize("dtype", [torch.float32, torch.uint8])
def test_a_new_output_of_segments_is_made_of_the_input(steps, dtype):
    for offsets in ([0, 5, 3, steps], [1, steps], [0, steps + 9], [0, 2**40, -(2**40), 5]):
        x = (torch.arange(steps, device="cuda") % 100 + 1).to(dtype)
        for _ in range(4):
            torch.full((steps,), 177, device="cuda").to(dtype)
        y = retrograde.reverse_segments(x, torch.tensor(offsets, device="cuda"))
        assert torch.isin(y, x).all(), offsets
        with pytest.raises(ValueError, match="offset"):
            retrograde.cuda.check(x)


def test_cupy_too():
    cupy = pytest.importorskip("cupy")
    x = cupy.arange(12, dtype="f4").reshape(4, 3)
    for _ in range(20):
        cupy.full((4, 3), -777, "f4")
        y = retrograde.reverse_sequence(x, cupy.asarray(WRONG))
        assert (y.get() == retrograde.reverse_sequence(x.get(), CLAMPED)).all()
        with pytest.raises(ValueError, match="is 5"):
            retrograde.cuda.check(x)


def test_the_next_call_raises_the_error():
    x, side = data(), torch.cuda.Stream()
    for first, second in [(None, None), (None, side), (side, None)]:
        for out in (None, torch.zeros_like(x)):
            with torch.cuda.stream(first):
                retrograde.reverse_sequence(x, wrong(), out=out)
            torch.cuda.synchronize()
            if out is not None:
                assert not out.any(), "a given output is unchanged"
            target = torch.zeros_like(x)
            with torch.cuda.stream(second), pytest.raises(ValueError, match=EARLIER + ".*set_blocking") as raised:
                retrograde.reverse(x, 0, out=target)
            assert "is 5, outside [0, 4]" in str(raised.value)
            torch.cuda.synchronize()
            assert not target.any(), "the call that raises does not run"
            # Once.
            assert torch.equal(retrograde.reverse(x, 0), x.flip(0))
            retrograde.cuda.check(x)


def test_the_errors_of_several_streams_are_raised_one_by_one():
    x, raised = data(), []

    def run(turn, call):
        try:
            call()
        except ValueError as error:
            assert re.match(EARLIER, str(error))
            raised.append(turn)

    for _ in range(3):
        with torch.cuda.stream(torch.cuda.Stream()):
            # The second and third raise the error before if that has arrived.
            run(-1, lambda: retrograde.reverse_sequence(x, wrong()))
    torch.cuda.synchronize()
    for turn in range(10):
        run(turn, lambda: retrograde.reverse(x))
    assert 1 <= len(raised) <= 3 and max(raised) < 3


def test_many_wrong_calls_in_a_row_are_not_silent():
    x, lengths = data((64, 3)), torch.tensor([1, 65, 2], device="cuda")
    raised = 0
    for _ in range(2_000):
        try:
            retrograde.reverse_sequence(x, lengths)
        except ValueError as error:
            assert "is 65, outside [0, 64]" in str(error)
            raised += 1
    assert raised > 10


def test_a_checked_error_is_not_raised_again():
    x = data()
    retrograde.reverse_sequence(x, wrong())
    with pytest.raises(ValueError, match="is 5"):
        retrograde.cuda.check(x)
    assert torch.equal(retrograde.reverse(x, 0), x.flip(0))


def test_never_in_a_capture():
    x, lengths, out = data(), wrong(), torch.zeros(4, 3, device="cuda")
    retrograde.reverse_sequence(x, lengths)
    torch.cuda.synchronize()
    for blocking in (False, True):
        retrograde.cuda.set_blocking(blocking)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            retrograde.reverse_sequence(x, lengths, out=out)
            y = retrograde.reverse_sequence(x, lengths)
        retrograde.cuda.set_blocking(False)
    with pytest.raises(ValueError, match=EARLIER):
        retrograde.reverse(x)
    # A replay reports as a call does, and writes as a call does.
    graph.replay()
    torch.cuda.synchronize()
    with pytest.raises(ValueError, match=EARLIER):
        retrograde.reverse(x)
    assert not out.any() and torch.equal(y.cpu(), retrograde.reverse_sequence(x.cpu(), CLAMPED))
    lengths.copy_(torch.tensor(CLAMPED))
    graph.replay()
    torch.cuda.synchronize()
    assert torch.equal(out, y) and torch.equal(retrograde.reverse(x, 0), x.flip(0))


def test_blocking_calls_raise_their_own_errors():
    x, out = data(), torch.zeros(4, 3, device="cuda")
    retrograde.cuda.set_blocking(True)
    for _ in range(3):  # the first call plans, the others use the plan
        for given in (None, out):
            with pytest.raises(ValueError, match=r"^ReverseSequence: lengths\[1\] is 5, outside \[0, 4\]"):
                retrograde.reverse_sequence(x, wrong(), out=given)
            assert torch.equal(retrograde.reverse_sequence(x, torch.tensor(CLAMPED, device="cuda")).cpu(),
                               retrograde.reverse_sequence(x.cpu(), CLAMPED))  # fmt: skip
    assert not out.any()
    with pytest.raises(ValueError, match="offset"):
        retrograde.reverse_segments(x, torch.tensor([0, 3, 2], device="cuda"))
    retrograde.cuda.check(x)


def test_the_environment_sets_blocking():
    program = (
        "import torch, retrograde\n"
        "x, wrong = torch.zeros(4, 3, device='cuda'), torch.tensor([1, 5, 2], device='cuda')\n"
        "try:\n    retrograde.reverse_sequence(x, wrong)\n"
        "except ValueError as error:\n    print(error)\n"
    )
    for value, expected in [("1", "lengths[1] is 5"), ("0", "")]:
        environment = {**os.environ, "CUDA_LAUNCH_BLOCKING": value}
        done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, timeout=300)
        assert done.returncode == 0, done.stderr
        assert expected in done.stdout and bool(done.stdout) == bool(expected)


class Unknown:
    """A tensor of a library that is not known here: DLPack is all that it has."""

    def __init__(self, array):
        self.array = array

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()

    def __dlpack__(self, **asked):
        return self.array.__dlpack__(**asked)


def test_a_library_that_does_not_tell_its_stream():
    cupy = pytest.importorskip("cupy")
    size = 1 << 24
    right = 0
    for turn in range(10):
        with cupy.cuda.Stream(non_blocking=True):
            x, out = cupy.zeros(size, "f4"), cupy.zeros(size, "f4")
            for _ in range(40):
                x += 1
            x[0] = turn
            retrograde.reverse(Unknown(x), out=Unknown(out))
            # Read at once, on the stream of the library.
            right += float(out[-1]) == turn and int(cupy.count_nonzero(out == 40)) == size - 1
            x.fill(-1)
    assert right == 10


def test_lengths_and_outputs_of_other_libraries():
    cupy = pytest.importorskip("cupy")
    steps = 1 << 22
    for turn in range(12):
        with torch.cuda.stream(torch.cuda.Stream()), cupy.cuda.Stream(non_blocking=True):
            x, busy = cupy.zeros((steps, 2), "f4"), torch.zeros(1 << 25, device="cuda")
            for _ in range(40):
                x += 1
                busy += 1
            x[0, 0] = turn
            # 0 until the work before it is done, as is the output.
            lengths = (busy[:2] / 40).long() * steps
            out = torch.zeros(steps, 2, device="cuda")
            given = lengths if turn % 3 else Unknown(lengths)
            _engine.reverse_sequence(x, given, 0, 1, "strict", "start", "keep", out if turn % 2 else Unknown(out))
            assert float(out[-1, 0]) == turn and float(out[-1, 1]) == 40, turn


def test_each_thread_has_its_own_default_stream():
    cupy = pytest.importorskip("cupy")
    x = cupy.arange(12, dtype="f4").reshape(4, 3)

    def call(lengths):
        with cupy.cuda.Stream.ptds:
            retrograde.reverse_sequence(x, cupy.asarray(lengths), out=cupy.zeros_like(x))
            cupy.cuda.get_current_stream().synchronize()

    def check():
        with cupy.cuda.Stream.ptds:
            assert cupy.cuda.get_current_stream().ptr == 2
            retrograde.cuda.check(x)

    with ThreadPoolExecutor(1) as one, ThreadPoolExecutor(1) as other:
        other.submit(call, CLAMPED).result(60)
        one.submit(call, WRONG).result(60)
        # The same handle, but another stream.
        other.submit(check).result(60)
        with pytest.raises(ValueError, match="is 5"):
            one.submit(check).result(60)
    # Reports of threads that have ended are used again at some point.
    for _ in range(600):
        thread = threading.Thread(target=call, args=(CLAMPED,))
        thread.start()
        thread.join(60)


def capsule(x):
    """What TensorFlow's `to_dlpack` returns."""
    return torch.utils.dlpack.to_dlpack(x)


def test_tensors_that_cannot_be_written_get_a_new_one():
    for dtype in (torch.float32, torch.uint8, torch.complex64):
        x = (torch.arange(60, device="cuda") % 50).to(dtype).reshape(3, 4, 5)
        torch.cuda.synchronize()
        for view in (x, x.transpose(0, 2), x[:0]):
            y = torch.from_dlpack(_engine.reverse(capsule(view), [0, 2], None, "set"))
            assert y.is_cuda and y.dtype == dtype and torch.equal(y, view.flip(0, 2))
            y = torch.from_dlpack(_engine.flip(capsule(view), [0], (0, 2)))
            assert y.is_contiguous() and torch.equal(y, view.transpose(0, 2).flip(0))
    x = data()
    torch.cuda.synchronize()
    rules = (0, 1, "strict", "start", "keep")
    y = torch.from_dlpack(_engine.reverse_sequence(capsule(x), CLAMPED, *rules))
    assert torch.equal(y.cpu(), retrograde.reverse_sequence(x.cpu(), CLAMPED))
    with pytest.raises(ValueError, match=r"lengths\[1\] is 5"):
        _engine.reverse_sequence(capsule(x), WRONG, *rules)
    y = _engine.reverse_sequence(capsule(x), torch.tensor(WRONG, device="cuda"), *rules)
    assert y.__dlpack_device__() == (2, 0)
    assert torch.equal(torch.from_dlpack(y).cpu(), retrograde.reverse_sequence(x.cpu(), CLAMPED))


def test_results_in_our_memory_outlive_the_call():
    kept = []
    for number in range(50):
        x = torch.full((1 << 16,), float(number), device="cuda")
        torch.cuda.synchronize()
        kept.append(torch.from_dlpack(_engine.reverse(capsule(x), [0], None, "set")))
    assert all(bool((y == number).all()) for number, y in enumerate(kept))
    del kept
    torch.cuda.synchronize()
