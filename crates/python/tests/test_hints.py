"""Arguments under the names of other libraries: refused, with the name that is meant."""

import inspect

import numpy as np
import pytest

import retrograde

X = np.arange(6).reshape(2, 3)


@pytest.fixture(params=["retrograde", "retrograde.jax"])
def module(request):
    return pytest.importorskip(request.param)


@pytest.mark.parametrize(
    "name, arguments, keywords, text",
    [
        ("reverse", (), {"axis": 1}, "takes axes=, not axis=: M.reverse(x, axes=1)"),
        ("reverse", (), {"dim": -1}, "takes axes=, not dim=: M.reverse(x, axes=-1)"),
        ("reverse", (), {"dims": (0, 1)}, "takes axes=, not dims=: M.reverse(x, axes=(0, 1))"),
        ("reverse", (), {"axis": np.zeros(9)}, "takes axes=, not axis=: M.reverse(x, axes=...)"),
        ("reverse", (0,), {"axis": 1}, "takes axes=, not axis=: M.reverse(x, axes=1)"),
        ("reverse", (), {"flip": 1}, "got an unexpected keyword argument 'flip'"),
        *(
            ("reverse_sequence", (), {other: [1, 2]}, f"takes lengths=, not {other}=: M.reverse_sequence(x, lengths)")
            for other in ("seq_lengths", "seq_lens", "sequence_lens", "sequence_lengths", "lens")
        ),
        *(
            ("reverse_sequence", ([1],), {other: 1}, f"takes time_axis=, not {other}=: M.reverse_sequence(x, lengths, time_axis=1)")
            for other in ("seq_axis", "seq_dim", "time_dim", "axis", "dim")
        ),
        ("reverse_sequence", ([1],), {"batch_dim": 0}, "takes batch_axis=, not batch_dim=: M.reverse_sequence(x, lengths, batch_axis=0)"),
        (
            "reverse_sequence",
            (),
            {"seq_lengths": [3, 2], "seq_axis": 1, "batch_axis": 0},
            "takes lengths=, not seq_lengths=; time_axis=, not seq_axis=: M.reverse_sequence(x, lengths, time_axis=1)",
        ),
        ("reverse_sequence", ([1],), {"pad": 0}, "got an unexpected keyword argument 'pad'"),
        ("reverse_sequence", (), {}, "missing 1 required positional argument: 'lengths'"),
        *(
            ("reverse_subsequences", ([1],), {other: 1}, f"takes axis=, not {other}=: M.reverse_subsequences(x, lengths, axis=1)")
            for other in ("axes", "dim", "dims", "seq_axis", "seq_dim", "time_axis")
        ),
        ("reverse_subsequences", (), {"seq_lens": [1], "axis": 1}, "takes lengths=, not seq_lens=: M.reverse_subsequences(x, lengths, axis=...)"),
        ("reverse_subsequences", (), {"axis": 1}, "missing 1 required positional argument: 'lengths'"),
        ("reverse_subsequences", ([1],), {}, "missing 1 required keyword-only argument: 'axis'"),
        ("reverse_subsequences", ([1],), {"axis": 1, "pad": 0}, "got an unexpected keyword argument 'pad'"),
    ],
)  # fmt: skip
def test_names(module, name, arguments, keywords, text):
    with pytest.raises(TypeError) as raised:
        getattr(module, name)(X, *arguments, **keywords)
    assert str(raised.value) == f"{name}() {text}".replace("M.", f"{module.__name__}.")


def test_explain_and_show_give_the_same_hints():
    for function in (retrograde.explain, retrograde.show):
        with pytest.raises(TypeError, match=r"^reverse\(\) takes axes=, not axis=: retrograde.reverse\(x, axes=1\)$"):
            function(retrograde.reverse, X, axis=1)
        with pytest.raises(TypeError, match=r"^reverse_sequence\(\) takes lengths=, not seq_lens="):
            function("reverse_sequence", X, seq_lens=[1])
        with pytest.raises(TypeError, match="pad"):
            function("reverse", X, pad=1)


def test_signatures_have_the_right_names_only(module):
    out = {} if module.__name__ == "retrograde.jax" else {"out": None}
    padding = {"align": "start", "tail": "keep"}
    for name, required, optional in [
        ("reverse", ["x"], {"axes": None, "mask": None, "duplicates": "set", **out}),
        ("reverse_sequence", ["x", "lengths"], {"time_axis": 0, "batch_axis": 1, "policy": "strict", **padding, **out}),
        ("reverse_subsequences", ["x", "lengths", "axis"], {"policy": "clamp", **padding, **out}),
        # A nested tensor has offsets of its own; JAX has none.
        ("reverse_segments", ["x", "offsets"], {"axis": 0}) if not out else ("reverse_segments", ["x"], {"offsets": None, "axis": 0, **out}),
    ]:
        parameters = inspect.signature(getattr(module, name)).parameters
        assert list(parameters) == [*required, *optional]
        for argument in required:
            assert parameters[argument].default is inspect.Parameter.empty
        for argument, default in optional.items():
            assert parameters[argument].default == default
