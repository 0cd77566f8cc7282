"""Exported models with our operators inside, in stock ONNX Runtime; packed batches."""

import numpy as np
import pytest
import torch
from torch.nn.utils.rnn import pack_padded_sequence, pack_sequence, unpack_sequence
from torch_cases import quiet

import retrograde
import retrograde.torch as rt

onnxruntime = pytest.importorskip("onnxruntime")
pytest.importorskip("onnxscript")

N = torch.tensor([4, 0, 2])
LANES = torch.tensor([[0, 1], [2, 3], [3, 2], [3, 1]], dtype=torch.int32)
#: On tensors of shape [4, 3, 2], and lengths or offsets that are an input of the model.
MODELS = {
    "reverse": (lambda x, n: rt.reverse(x, (0, -1)), N),
    "none": (lambda x, n: rt.reverse(x, ()), N),
    "all": (lambda x, n: retrograde.reverse(x), N),
    "flip": (lambda x, n: rt.flip(x, 1), N),
    "rot90": (lambda x, n: rt.rot90(x, 1, (0, 2)), N),
    "sequence": (lambda x, n: rt.reverse_sequence(x, n), N),
    "batch first": (lambda x, n: rt.reverse_sequence(x, n, batch_first=True), torch.tensor([3, 0, 2, 1])),
    "other axes": (lambda x, n: rt.reverse_sequence(x, n, time_axis=-1, batch_axis=1), torch.tensor([2, 0, 1])),
    "clamp": (lambda x, n: rt.reverse_sequence(x, n, policy="clamp"), torch.tensor([9, 1, 4])),
    "end": (lambda x, n: rt.reverse_sequence(x, n, align="end"), N),
    "zero": (lambda x, n: rt.reverse_sequence(x, n, tail="zero"), N),
    "both": (lambda x, n: rt.reverse_sequence(x, n, batch_first=True, align="end", tail="zero"), torch.tensor([3, 0, 2, 1])),
    "int32": (lambda x, n: rt.reverse_sequence(x, n), N.int()),
    "lanes": (lambda x, n: rt.reverse_subsequences(x, n, axis=1), LANES),
    "lanes, end, zero": (lambda x, n: rt.reverse_subsequences(x, n, axis=1, align="end", tail="zero"), LANES),
    "segments": (lambda x, n: rt.reverse_segments(x, n), torch.tensor([0, 1, 1, 3])),
    "segments of axis 1": (lambda x, n: rt.reverse_segments(x, n, axis=1), torch.tensor([0, 2])),
}


class Model(torch.nn.Module):
    def __init__(self, call):
        super().__init__()
        self.call = call

    def forward(self, x, n):
        return self.call(x * 2, n)


@pytest.mark.parametrize("call, n", MODELS.values(), ids=MODELS)
def test_exported_models_run_in_stock_onnx_runtime(tmp_path, call, n):
    x = torch.randn(4, 3, 2)
    file = tmp_path / "model.onnx"
    table = rt.onnx_translations()
    quiet(lambda: torch.onnx.export(Model(call), (x, n), file, dynamo=True, verbose=False, custom_translation_table=table))
    session = onnxruntime.InferenceSession(file)
    names = [given.name for given in session.get_inputs()]
    for _ in range(2):
        (got,) = session.run(None, dict(zip(names, (x.numpy(), n.numpy()))))
        assert np.array_equal(got, Model(call)(x, n).numpy())
        x = torch.randn(4, 3, 2)


def test_a_network_with_sizes_that_change(tmp_path):
    class Both(torch.nn.Module):
        """A bidirectional network by hand."""

        def __init__(self):
            super().__init__()
            self.there, self.back = torch.nn.Linear(3, 4), torch.nn.Linear(3, 4)

        def forward(self, x, n):
            turned = rt.reverse_sequence(x, n, batch_first=True)
            back = rt.reverse_sequence(self.back(turned).cumsum(1), n, batch_first=True)
            return torch.cat([self.there(x).cumsum(1), back], 2)

    model, file = Both().eval(), tmp_path / "model.onnx"
    shapes = {"x": {0: "batch", 1: "time"}, "n": {0: "batch"}}
    example = torch.randn(2, 5, 3), torch.tensor([5, 2])
    table = rt.onnx_translations()
    quiet(lambda: torch.onnx.export(
        model, example, file, dynamo=True, verbose=False, dynamic_shapes=shapes, custom_translation_table=table
    ))  # fmt: skip
    session = onnxruntime.InferenceSession(file)
    for batch, time in [(2, 5), (4, 7)]:
        x, n = torch.randn(batch, time, 3), torch.randint(0, time + 1, (batch,))
        (got,) = session.run(None, {"x": x.numpy(), "n": n.numpy()})
        assert np.allclose(got, model(x, n).detach().numpy(), atol=1e-5)
    with pytest.raises(Exception, match="(?i)sequence|invalid"):
        session.run(None, {"x": x.numpy(), "n": n.numpy() + 99})


# Packed batches


@pytest.mark.parametrize("sort", [False, True])
def test_packed_batches(sort):
    rng = np.random.default_rng(1)
    for _ in range(20):
        lengths = sorted(rng.integers(1, 9, rng.integers(1, 7)).tolist(), reverse=True)
        if not sort:
            rng.shuffle(lengths)
        sequences = [torch.from_numpy(rng.standard_normal((length, 2))) for length in lengths]
        packed = pack_sequence(sequences, enforce_sorted=sort)
        got = rt.reverse_packed(packed)
        assert torch.equal(got.batch_sizes, packed.batch_sizes)
        for one, turned in zip(sequences, unpack_sequence(got)):
            assert torch.equal(turned, one.flip(0))
        assert torch.equal(rt.reverse_packed(got).data, packed.data)


def test_packed_batches_have_gradients():
    x = torch.randn(3, 5, 2, dtype=torch.float64, requires_grad=True)
    n = torch.tensor([2, 5, 3])

    def call(x):
        return rt.reverse_packed(pack_padded_sequence(x, n, batch_first=True, enforce_sorted=False)).data

    assert torch.autograd.gradcheck(call, (x,)) and torch.autograd.gradgradcheck(lambda x: call(x) ** 2, (x,))
    rnn = torch.nn.GRU(2, 4)
    packed = pack_padded_sequence(x.detach().float(), n, batch_first=True, enforce_sorted=False)
    out, _ = rnn(rt.reverse_packed(packed))
    assert rt.reverse_packed(out).data.shape == (10, 4)
    with pytest.raises(TypeError, match="packed is a Tensor, expected a torch.nn.utils.rnn.PackedSequence"):
        rt.reverse_packed(x)
