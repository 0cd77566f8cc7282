"""Calls that ``retrograde.torch`` refuses, and what it says."""

import numpy as np
import pytest
import torch
from torch_cases import quiet

import retrograde
import retrograde.torch as rt


def nested(x):
    return torch.nested.nested_tensor([x.detach()[0], x.detach()[1, :1]])


WRONG = [
    (ValueError, r"axes\[0\] is 2, outside \[-2, 1\]", lambda x: rt.reverse(x, 2)),
    (ValueError, "both given", lambda x: rt.reverse(x, 0, mask=[True, False])),
    (TypeError, r"axes\[0\] is True", lambda x: rt.reverse(x, [True, False])),
    (TypeError, "axes is 1.5", lambda x: rt.reverse(x, 1.5)),
    (ValueError, "mask", lambda x: rt.reverse(x, mask=[True])),
    (ValueError, "lengths", lambda x: rt.reverse_sequence(x, [1, 1])),
    (ValueError, r"lengths\[1\] is 3, outside \[0, 2\]", lambda x: rt.reverse_sequence(x, [1, 3, 1])),
    (ValueError, r"lengths\[1\] is -1", lambda x: rt.reverse_sequence(x, [1, -1, 1], policy="clamp")),
    (ValueError, "4294967297", lambda x: rt.reverse_sequence(x, torch.tensor([1, 2**32 + 1, 1]))),
    (TypeError, "float32, expected an integer", lambda x: rt.reverse_sequence(x, torch.ones(3))),
    (ValueError, "without steps, expected them along axis 1", lambda x: rt.reverse_sequence(x, torch.ones(3) > 0)),
    (TypeError, "float64, expected an integer", lambda x: rt.reverse_sequence(x, np.ones(3))),
    (ValueError, 'policy "lax"', lambda x: rt.reverse_sequence(x, [1, 1, 1], policy="lax")),
    (ValueError, "axis", lambda x: rt.reverse_sequence(x, [1, 1], time_axis=1, batch_axis=1)),
    (ValueError, "axis", lambda x: rt.reverse_subsequences(x, [1, 1], axis=5)),
    (ValueError, r"expected \[2, 1\] or \[2\]", lambda x: rt.reverse_subsequences(x, torch.ones(3, 2).int(), axis=1)),
    (ValueError, "rank 2, expected one boolean", lambda x: rt.reverse(x, mask=np.array([[True], [False]]))),
    (ValueError, "rank 2, expected one boolean", lambda x: rt.reverse(x, mask=torch.ones(2, 1) > 0)),
    (TypeError, r"mask\[0\] is \[True, False\]", lambda x: rt.reverse(x, mask=[[True, False]])),
    (TypeError, "torch.Tensor", lambda x: rt.reverse([1, 2])),
    (TypeError, "layout torch.sparse_coo", lambda x: rt.reverse(x.to_sparse())),
    (TypeError, "layout torch.sparse_csr", lambda x: quiet(lambda: rt.reverse(x.to_sparse_csr()))),
    (TypeError, "nested", lambda x: rt.reverse(quiet(lambda: nested(x)))),
    (TypeError, "bits1x8", lambda x: rt.flip(torch.zeros(3, dtype=torch.uint8).view(torch.bits1x8))),
    (ValueError, "the same axis as axes", lambda x: rt.reverse(x, (0, -2), duplicates="error")),
    (TypeError, "bits1x8", lambda x: rt.reverse(torch.zeros(3, dtype=torch.uint8).view(torch.bits1x8))),
]
# Autograd refuses a call with an output before it looks at it.
WRONG_OUTPUTS = [
    (ValueError, "shape", lambda x: rt.reverse(x, out=torch.empty(3, 2))),
    (TypeError, "out has dtype torch.float64", lambda x: rt.reverse(x, out=torch.empty(2, 3).double())),
    (TypeError, "out is a ndarray", lambda x: rt.reverse(x, out=np.empty((2, 3), np.float32))),
    (ValueError, "same memory", lambda x: rt.reverse(x, out=x[0].expand(2, 3))),
    (ValueError, "overlap", lambda x: rt.reverse(x.view(-1)[:4], out=x.view(-1)[1:5])),
]


@pytest.mark.parametrize("recorded", [False, True], ids=["plain", "recorded"])
@pytest.mark.parametrize("kind, text, call", WRONG)
def test_arguments_that_are_wrong(kind, text, call, recorded):
    with pytest.raises(kind, match=text):
        call(torch.ones(2, 3, requires_grad=recorded))


@pytest.mark.parametrize("kind, text, call", WRONG_OUTPUTS)
def test_outputs_that_are_wrong(kind, text, call):
    with pytest.raises(kind, match=text):
        call(torch.ones(2, 3))


@pytest.mark.parametrize(
    "text, call",
    [
        ("reverse() takes axes=, not dim=: retrograde.torch.reverse(x, axes=1)", lambda x: rt.reverse(x, dim=1)),
        ("reverse() takes axes=, not dims=: retrograde.reverse(x, axes=[1])", lambda x: retrograde.reverse(x, dims=[1])),
        ("reverse_sequence() takes lengths=, not seq_lens=: retrograde.torch.reverse_sequence(x, lengths)",
         lambda x: rt.reverse_sequence(x, seq_lens=[1])),
        ("reverse_sequence() missing 1 required positional argument: 'lengths'", lambda x: rt.reverse_sequence(x)),
        ("reverse_subsequences() takes axis=, not dim=: retrograde.torch.reverse_subsequences(x, lengths, axis=1)",
         lambda x: rt.reverse_subsequences(x, [1, 1], dim=1)),
        ("reverse_subsequences() missing 1 required keyword-only argument: 'axis'",
         lambda x: rt.reverse_subsequences(x, [1, 1])),
    ],
)  # fmt: skip
def test_names_of_other_libraries(text, call):
    with pytest.raises(TypeError) as raised:
        call(torch.ones(2, 3))
    assert str(raised.value) == text


def test_errors_leave_the_output_alone():
    x, out = torch.ones(4, 3), torch.zeros(4, 3)
    with pytest.raises(ValueError):
        rt.reverse_sequence(x, [4, 4, 5], out=out)
    assert not out.any()


@pytest.mark.parametrize("grad", [False, True])
def test_masked_lengths(grad):
    # With gradients, lengths are converted in Python.
    x, hidden = torch.ones(3, 2, requires_grad=grad), np.ma.array([1, 2], mask=[False, True])
    for call in (
        lambda: rt.reverse_sequence(x, hidden),
        lambda: rt.reverse_subsequences(x, hidden, axis=0),
        lambda: retrograde.prepare("reverse_sequence", x, hidden),
    ):
        with pytest.raises(ValueError, match=r"lengths\[1\] is masked, expected a value everywhere"):
            call()
    with pytest.raises(ValueError, match=r"ReverseSegments: offsets\[1\] is masked"):
        rt.reverse_segments(x, hidden)
