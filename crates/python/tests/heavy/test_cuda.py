"""Tensors of PyTorch and CuPy on a CUDA device: streams, graphs, autograd and compilers.

Skipped without a device, as in CI. `bench/record/` says when it last ran on one. """

import naive
import numpy as np
import pytest
import retrograde
import retrograde.cuda

torch = pytest.importorskip("torch")
if not torch.cuda.is_available():
    pytest.skip("no CUDA device", allow_module_level=True)

import retrograde.torch  # noqa: E402

DTYPES = [
    torch.bool, torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64, torch.float16, torch.bfloat16,
    torch.float32, torch.float64, torch.complex64, torch.complex128, torch.float8_e4m3fn, torch.float8_e5m2,
]  # fmt: skip


def made(shape, dtype, seed=0):
    """Random bits on the device."""
    bits = np.random.default_rng(seed).integers(0, 256, int(np.prod(shape)) * dtype.itemsize, np.uint8)
    if dtype == torch.bool:
        bits &= 1
    if bits.size == 0:
        return torch.empty(shape, dtype=dtype, device="cuda")
    return torch.from_numpy(bits).cuda().view(dtype).reshape(shape)


def same(y, x):
    """Whether both are equal bit for bit, on any device."""
    if y.shape != x.shape or y.numel() == 0:
        return y.shape == x.shape
    return torch.equal(*(t.detach().cpu().contiguous().reshape(-1).view(torch.uint8) for t in (y, x)))


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_every_type_as_on_the_cpu(dtype):
    for shape in [(5,), (0, 3), (4, 7), (3, 33, 65), (2, 3, 4, 129)]:
        x = made(shape, dtype)
        for view in (x, x.flip(-1) if dtype.itemsize > 1 and not str(dtype).startswith("torch.float8") else x, x.transpose(0, -1), x[..., ::2]):
            axes = list(range(0, view.dim(), 2))
            before = view.clone()
            y = retrograde.reverse(view, axes)
            assert y.device == view.device and same(y, retrograde.reverse(view.cpu(), axes))
            assert same(view, before)
            out = torch.empty_like(view)
            assert retrograde.reverse(view, axes, out=out) is out and same(out, y)
            itself = view.clone()
            assert retrograde.reverse(itself, axes, out=itself) is itself and same(itself, y)
            if view.dim() < 2:
                continue
            for kind in (torch.int32, torch.int64):
                lengths = torch.arange(view.shape[1]) % (view.shape[0] + 1)
                expected = retrograde.reverse_sequence(view.cpu(), lengths)
                assert same(retrograde.reverse_sequence(view, lengths.to(kind).cuda()), expected)
                assert same(retrograde.reverse_sequence(view, lengths.tolist()), expected)
                itself = view.clone()
                retrograde.reverse_sequence(itself, lengths.to(kind).cuda(), out=itself)
                assert same(itself, expected)
            lanes = torch.randint(0, view.shape[-1] + 3, [*view.shape[:-1], 1])
            expected = retrograde.reverse_subsequences(view.cpu(), lanes, axis=-1)
            assert same(retrograde.reverse_subsequences(view, lanes.cuda(), axis=-1), expected)
            assert same(retrograde.reverse_subsequences(view, lanes.cuda().squeeze(-1), axis=-1), expected)


def test_wrong_lengths():
    x = made((4, 3), torch.float32)
    out = torch.zeros_like(x)
    with pytest.raises(ValueError, match=r"lengths\[1\] is 5, outside \[0, 4\]"):
        retrograde.reverse_sequence(x, [1, 5, 2], out=out)
    wrong = torch.tensor([1, 5, 2], device="cuda")
    retrograde.reverse_sequence(x, wrong, out=out)
    with pytest.raises(ValueError, match=r"is 5, outside \[0, 4\]"):
        retrograde.cuda.check(x)
    assert not out.any(), "a call with invalid lengths does not write to its output"
    retrograde.cuda.check(x)
    negative = torch.tensor([1, -5, 2], device="cuda")
    retrograde.reverse_sequence(x, negative, out=out, policy="clamp")
    with pytest.raises(ValueError, match="is -5"):
        retrograde.cuda.check(x)
    y = retrograde.reverse_sequence(x, wrong, policy="clamp")
    assert same(y, retrograde.reverse_sequence(x.cpu(), [1, 4, 2]))
    retrograde.cuda.check(x)


def test_calls_like_earlier_ones():
    whole = torch.randn(4096, device="cuda")
    side = torch.cuda.Stream()
    for _ in range(3):
        for offset in range(5):  # The same layout with different alignments.
            x = whole[offset : offset + 24].view(4, 6)
            for view in (x, x.t(), x[:, ::2], x[:1].expand(4, 6)):
                y = None
                before = torch.cuda.memory_allocated()
                y = retrograde.torch.reverse(view, 1)
                assert torch.cuda.memory_allocated() > before, "not from PyTorch's allocator"
                assert torch.equal(y, view.flip(1)) and y.stride() == torch.empty_like(view).stride()
                assert y.device == view.device and y.untyped_storage().resizable()
        lengths = torch.tensor([3, 0, 2, 4, 1, 2], device="cuda")
        y = retrograde.torch.reverse_sequence(x, lengths)
        assert torch.equal(y.cpu(), retrograde.torch.reverse_sequence(x.cpu(), lengths.cpu()))
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            late = torch.empty(1 << 26, device="cuda").fill_(1).view(-1, 2)
            late[:, 1] = 2
            y = retrograde.torch.reverse(late, 1)
        side.synchronize()
        assert y[-1].tolist() == [2, 1]


def test_side_streams():
    x = made((1 << 12, 1 << 12), torch.float32)
    torch.cuda.synchronize()
    streams = [torch.cuda.Stream() for _ in range(4)]
    results = []
    for turn in range(20):
        with torch.cuda.stream(streams[turn % 4]):
            y = x + turn
            results.append((turn, retrograde.reverse(retrograde.reverse(y, 1), (0, 1))))
    torch.cuda.synchronize()
    for turn, y in results:
        assert torch.equal(y, (x + turn).flip(0)) or same(y, (x + turn).flip(0))


def test_graphs():
    x, lengths = made((64, 128), torch.float32), torch.full((128,), 64, device="cuda")
    out = torch.empty_like(x)
    retrograde.reverse_sequence(x, lengths, out=out)  # the first call loads the kernels
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        y = retrograde.reverse(x, 1)
        retrograde.reverse_sequence(y, lengths, out=out)
    for turn in range(3):
        x.copy_(made((64, 128), torch.float32, seed=turn))
        lengths.copy_(torch.randint(0, 65, (128,)))
        graph.replay()
        torch.cuda.synchronize()
        assert same(out, retrograde.reverse_sequence(x.cpu().flip(1), lengths.cpu()))


def test_autograd_and_compilers():
    x = torch.randn(5, 6, 7, device="cuda", dtype=torch.float64, requires_grad=True)
    lengths = torch.tensor([3, 0, 5, 2, 1, 4], device="cuda")

    def both(x):
        return retrograde.torch.reverse_sequence(retrograde.torch.reverse(x, -1), lengths) * torch.arange(7.0, device="cuda")

    assert torch.autograd.gradcheck(both, x)
    compiled = torch.compile(both, fullgraph=True)
    assert torch.equal(compiled(x), both(x))
    (a,), (b,) = (torch.autograd.grad(f(x).sum(), x) for f in (compiled, both))
    assert torch.equal(a, b)
    for name, arguments in [("reverse", ([0],)), ("reverse_sequence", (lengths, 0, 1, "strict"))]:
        torch.library.opcheck(getattr(torch.ops.retrograde, name), (x, *arguments))


def test_more_than_two_to_the_thirty_one():
    x = torch.arange(2**32 + 5, dtype=torch.uint8, device="cuda")
    y = retrograde.reverse(x)
    assert torch.equal(y, x.flip(0))
    rows = x[: 2**32].view(2**16, 2**16)
    lengths = torch.arange(2**16, device="cuda")
    y = retrograde.reverse_sequence(rows, lengths, time_axis=1, batch_axis=0)
    for at in (0, 1, 77, 2**15, 2**16 - 1):
        assert torch.equal(y[at, :at], rows[at, :at].flip(0)) and torch.equal(y[at, at:], rows[at, at:])


def on_device(given):
    return {name: value.cuda() if isinstance(value, torch.Tensor) else value for name, value in given.items()}


@pytest.mark.parametrize("dtype", [torch.uint8, torch.int32, torch.complex128], ids=str)
def test_masks_of_segments(dtype):
    given = {"offsets": torch.tensor([0, 3, 3, 40, 90]), "where": torch.tensor([True, False, False, True])}
    for x in (made((97,), dtype), made((97, 5), dtype), made((5, 97), dtype).t()):
        expected = retrograde.reverse_segments(x.cpu(), **given)
        assert not same(expected, x)
        for arguments in (given, on_device(given), {"offsets": [0, 3, 3, 40, 90], "where": [True, False, False, True]}):
            y = retrograde.reverse_segments(x, **arguments)
            assert y.is_cuda and same(y, expected)
            itself = x.clone()
            assert retrograde.reverse_segments(itself, **arguments, out=itself) is itself and same(itself, expected)
    out = torch.zeros_like(x)
    retrograde.reverse_segments(x, torch.tensor([0, 98], device="cuda"), where=[True], out=out)
    with pytest.raises(ValueError, match=r"is 98, outside \[0, 97\]"):
        retrograde.cuda.check(x)
    assert not out.any()


def reads():
    """Reads and other bytes, in a batch and one behind the other, with arguments of reverse_complement."""
    rng = np.random.default_rng(3)
    rows = torch.from_numpy(rng.choice(np.frombuffer(b"ACGTNacgu-", np.uint8), (70, 150)))
    lengths, where = torch.from_numpy(rng.integers(0, 151, 70)), torch.from_numpy(rng.integers(0, 2, 70) == 1)
    flat, offsets = rows.reshape(-1), torch.cat([torch.zeros(1, dtype=torch.int64), lengths.cumsum(0)])
    batch = [{}, {"axis": 0}, {"lengths": lengths}, {"where": where}, {"lengths": lengths, "where": where}]
    packed = [{}, {"offsets": offsets}, {"offsets": offsets, "where": where}]
    columns = {"axis": 0, "lengths": lengths}
    return [(rows, given) for given in batch] + [(flat, given) for given in packed] + [(rows.t(), columns)]


@pytest.mark.parametrize("rna", [False, True])
def test_reverse_complements(rna):
    for x, given in reads():
        expected, there = retrograde.reverse_complement(x, **given, rna=rna), x.cuda()
        for arguments in (given, on_device(given)):
            y = retrograde.reverse_complement(there, **arguments, rna=rna)
            assert y.is_cuda and same(y, expected) and same(there, x)
            itself = there.clone()
            assert retrograde.reverse_complement(itself, **arguments, rna=rna, out=itself) is itself
            assert same(itself, expected)
    letters = torch.tensor(list(b"ACG-AC"), dtype=torch.uint8, device="cuda")
    offsets = torch.tensor([0, 3, 5], device="cuda")
    with pytest.raises(ValueError, match=r"x\[3\] is '-' \(45\)"):
        retrograde.reverse_complement(letters, strict=True)
    y = retrograde.reverse_complement(letters, offsets=offsets, where=[True, False], strict=True)
    assert bytes(y.tolist()) == b"CGT-AC"
    with pytest.raises(TypeError, match="x has type float32"):
        retrograde.reverse_complement(letters.float())


def test_cupy_with_masks_and_tables():
    cupy = pytest.importorskip("cupy")
    for x, given in reads():
        expected, there = retrograde.reverse_complement(x, **given).numpy(), cupy.asarray(x.numpy())
        numpy = {name: value.numpy() if isinstance(value, torch.Tensor) else value for name, value in given.items()}
        cupys = {name: cupy.asarray(value) if isinstance(value, np.ndarray) else value for name, value in numpy.items()}
        for arguments in (numpy, cupys):
            y = retrograde.reverse_complement(there, **arguments, strict=False)
            assert isinstance(y, cupy.ndarray) and (y.get() == expected).all()
        assert retrograde.reverse_complement(there, **cupys, out=there) is there and (there.get() == expected).all()
    x, mask = cupy.arange(12).reshape(3, 4), cupy.asarray([True, False, True])
    wanted = cupy.where(mask[:, None], x[:, ::-1], x)
    assert (retrograde.flip(x, 1, where=mask) == wanted).all()
    assert (retrograde.reverse_sequence(x, cupy.full(3, 4), batch_first=True, where=mask) == wanted).all()
    y = retrograde.reverse_segments(x.reshape(-1), cupy.asarray([0, 4, 8, 12]), where=mask)
    assert (y == wanted.reshape(-1)).all()
    with pytest.raises(ValueError, match=r"x\[1\] is '-'"):
        retrograde.reverse_complement(cupy.asarray(np.frombuffer(b"A-", np.uint8)), strict=True)


def test_cupy():
    cupy = pytest.importorskip("cupy")
    x = cupy.asarray(naive.filled((5, 6), "f4").view("i4"))
    assert isinstance(retrograde.reverse(x, 0), cupy.ndarray)
    assert (retrograde.reverse(x, 0) == x[::-1]).all()
    lengths = cupy.asarray([5, 4, 3, 2, 1, 0])
    expected = naive.reverse_sequence(x.get(), lengths.get(), 0, 1)
    assert (retrograde.reverse_sequence(x, lengths).get() == expected).all()
    with cupy.cuda.Stream():
        y = retrograde.reverse(x + 1, 1)
        assert (y == (x + 1)[:, ::-1]).all()
    retrograde.reverse(x, out=x)
    for call in (lambda f, x: f.flip(x, 1), lambda f, x: f.fliplr(x), lambda f, x: f.rot90(x, 3)):
        y = call(retrograde, x[::-1])
        assert isinstance(y, cupy.ndarray) and y.flags.c_contiguous
        assert (y.get() == call(np, x[::-1].get())).all()


def same_bits(a, b):
    """Whether two tensors are equal, also where they are not numbers."""
    # Of an empty tensor, no strides count, and not all can be viewed as bytes.
    a, b = (x.contiguous() for x in (a, b))
    return a.shape == b.shape and (a.numel() == 0 or torch.equal(a.view(torch.uint8), b.view(torch.uint8)))


def test_the_functions_of_numpy():
    for shape in [(4, 7), (3, 33, 65), (0, 3)]:
        for x in (made(shape, torch.float32), made(shape, torch.uint8).transpose(0, 1)):
            for _ in range(2):
                y = retrograde.flip(x, (0, -1))
                assert y.is_cuda and y.is_contiguous() and same_bits(y, x.flip(0, -1))
                for k in range(4):
                    y = retrograde.rot90(x, k)
                    assert y.is_contiguous() and same_bits(y, torch.rot90(x, k))
    x = torch.randn(3, 4, dtype=torch.float64, device="cuda", requires_grad=True)
    assert torch.autograd.gradcheck(retrograde.rot90, (x,))


def test_prepared_calls_with_lengths_on_the_device():
    x, lengths = made((5, 6), torch.float32), torch.arange(6, device="cuda") % 6
    rows = retrograde.prepare("reverse_sequence", x, lengths)
    assert torch.equal(rows(x), retrograde.reverse_sequence(x, lengths))
    assert torch.equal(rows(x, lengths.flip(0)), retrograde.reverse_sequence(x, lengths.flip(0)))
    flip = retrograde.prepare("reverse", x, 0)
    assert torch.equal(flip(x), x.flip(0))


def test_mixed_places():
    x = made((3, 4), torch.float32)
    with pytest.raises(ValueError, match="cuda:0|on the CPU|device"):
        retrograde.reverse(x, out=torch.empty(3, 4))
    with pytest.raises(ValueError, match="device|cuda"):
        retrograde.reverse(x.cpu(), out=x)
    lengths = torch.tensor([1, 2, 3, 0])
    expected = retrograde.reverse_sequence(x.cpu(), lengths)
    assert same(retrograde.reverse_sequence(x, lengths), expected)
    assert same(retrograde.reverse_sequence(x.cpu(), lengths.cuda()), expected)


def test_devices():
    assert retrograde.cuda.is_available() and retrograde.cuda.device_count() >= 1
