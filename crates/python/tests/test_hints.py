"""Arguments under the names of other libraries: refused, with the name that is meant."""

import importlib
import inspect

import numpy as np
import pytest

import retrograde

X = np.arange(6).reshape(2, 3)


@pytest.fixture(params=["retrograde", "retrograde.jax", "retrograde.torch"])
def module(request):
    pytest.importorskip(request.param.partition(".")[2] or "numpy")
    return importlib.import_module(request.param)


@pytest.fixture
def x(module):
    return importlib.import_module("torch").arange(6).reshape(2, 3) if module.__name__ == "retrograde.torch" else X


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
        ("reverse", (), {"batch_first": True}, "takes axes=, not batch_first=: M.reverse(x, axes=1)"),
        ("reverse_subsequences", ([1],), {"batch_first": True}, "takes axis=, not batch_first=: M.reverse_subsequences(x, lengths, axis=1)"),
        ("reverse_subsequences", ([1],), {"batch_first": False}, "takes axis=, not batch_first=: M.reverse_subsequences(x, lengths, axis=0)"),
        ("reverse_segments", ([0, 1],), {"batch_first": True}, "takes axis=, not batch_first=: M.reverse_segments(x, offsets, axis=1)"),
        ("reverse_segments", ([0, 1],), {"dims": 1}, "takes axis=, not dims=: M.reverse_segments(x, offsets, axis=1)"),
        ("reverse", (1, [1, 0]), {}, "takes mask= by keyword: M.reverse(x, mask=[1, 0])"),
        ("reverse", (1, None, "set", X, 0), {}, "takes at most 2 positional arguments, and 6 are given"),
        ("reverse_sequence", ([1], 1), {}, "takes time_axis= by keyword: M.reverse_sequence(x, lengths, time_axis=1)"),
        ("reverse_sequence", ([1], 1, 0), {}, "takes time_axis= and batch_axis= by keyword: M.reverse_sequence(x, lengths, time_axis=1, batch_axis=0)"),
        ("reverse_subsequences", ([1], 1), {}, "takes axis= by keyword: M.reverse_subsequences(x, lengths, axis=1)"),
        ("reverse_segments", ([0, 1], 1), {}, "takes axis= by keyword: M.reverse_segments(x, offsets, axis=1)"),
        ("flip", (), {"axes": 1}, "takes axis=, not axes=: M.flip(m, axis=1)"),
        ("flip", (1,), {"dims": 1}, "takes one of axis=, dim= and dims=, and axis= and dims= are given"),
        ("flip", (0, 1), {}, "takes at most 2 positional arguments, and 3 are given"),
        ("flip", (), {"pad": 0}, "got an unexpected keyword argument 'pad'"),
        ("fliplr", (), {"dims": 1}, "takes no axes: M.flip(m, axis=...) does"),
        ("flipud", (1,), {}, "takes at most 1 positional argument, and 2 are given"),
        ("flip", (), {"batch_first": True}, "takes axis=, not batch_first=: M.flip(m, axis=1)"),
        ("fliplr", (), {"batch_first": True}, "takes no axes: M.flip(m, axis=...) does"),
        ("rot90", (), {"batch_first": True}, "takes axes=, not batch_first=: M.rot90(m, axes=(1, 2)) turns images of a batch"),
        *(
            (name, (), {"seq_lengths": [1]}, "takes no lengths: M.reverse_sequence(x, lengths, ...) does")
            for name in ("reverse", "flip", "fliplr", "flipud", "rot90", "orient")
        ),
        ("reverse_segments", ([0, 1],), {"lengths": [1]}, "takes offsets=, not lengths=: numpy.cumsum([0, *lengths]) are offsets"),
        *(
            ("reverse_sequence", (), {other: X}, f"takes lengths=, not {other}=: M.reverse_sequence(x, lengths)")
            for other in ("mask", "attention_mask")
        ),
        ("rot90", (1,), {"dims": (1, 0)}, "takes axes=, not dims=: M.rot90(m, axes=(1, 0))"),
        ("orient", (), {"exif": 6}, "takes orientation=, not exif=: M.orient(x, orientation=6)"),
        ("orient", (6, (1, 2)), {}, "takes axes= by keyword: M.orient(x, axes=(1, 2))"),
    ],
)  # fmt: skip
def test_names(module, x, name, arguments, keywords, text):
    with pytest.raises(TypeError) as raised:
        getattr(module, name)(x, *arguments, **keywords)
    assert str(raised.value) == f"{name}() {text}".replace("M.", f"{module.__name__}.")


def test_explain_and_show_give_the_same_hints():
    for function in (retrograde.explain, retrograde.show):
        with pytest.raises(TypeError, match=r"^reverse\(\) takes axes=, not axis=: retrograde.reverse\(x, axes=1\)$"):
            function(retrograde.reverse, X, axis=1)
        with pytest.raises(TypeError, match=r"^reverse_sequence\(\) takes lengths=, not seq_lens="):
            function("reverse_sequence", X, seq_lens=[1])
        with pytest.raises(TypeError, match="pad"):
            function("reverse", X, pad=1)
        with pytest.raises(TypeError, match=r"^reverse_sequence\(\) takes time_axis= and batch_axis= by keyword: "):
            function("reverse_sequence", X, [1, 2], 1, 0)


def test_batch_first(module, x):
    for name, arguments in (("reverse_sequence", {}), ("reverse_sequence", {"policy": "clamp", "tail": "zero"})):
        function = getattr(module, name)
        wanted = function(x, [1, 3], time_axis=1, batch_axis=0, **arguments)
        assert function(x, [1, 3], batch_first=True, **arguments).tolist() == wanted.tolist()
        wanted = function(x, [1, 2, 0], **arguments).tolist()
        assert function(x, [1, 2, 0], batch_first=False, **arguments).tolist() == wanted
        assert function(x, [1, 2, 0], time_axis=0, batch_axis=1, **arguments).tolist() == wanted
        for axes in ({"time_axis": 1}, {"batch_axis": 0}, {"time_axis": 0, "batch_axis": 1}):
            (axis, value), *_ = axes.items()
            with pytest.raises(TypeError) as raised:
                function(x, [1, 3], batch_first=True, **axes)
            assert str(raised.value) == (
                "reverse_sequence: batch_first=True means time_axis=1, batch_axis=0, and"
                f" {axis}={value} is given too: omit one of them"
            )


def test_flip_has_the_names_of_pytorch(module, x):
    for axes in (0, -1, (0, 1), ()):
        wanted = np.flip(X, axes).tolist()
        for arguments in ({"axis": axes}, {"dim": axes}, {"dims": axes}):
            assert module.flip(x, **arguments).tolist() == wanted


def test_batch_first_of_plans_and_pictures():
    arguments = {"lengths": [1, 3], "time_axis": 1, "batch_axis": 0}
    short = {"lengths": [1, 3], "batch_first": True}
    for function in (retrograde.explain, retrograde.show):
        assert str(function("reverse_sequence", X, **short)) == str(function("reverse_sequence", X, **arguments))
    prepared = retrograde.prepare("reverse_sequence", X, **short)
    assert prepared(X).tolist() == retrograde.reverse_sequence(X, **arguments).tolist()
    assert prepared(X, [2, 2]).tolist() == [[1, 0, 2], [4, 3, 5]]


@pytest.mark.parametrize("name", ["reverse", "reverse_sequence", "reverse_subsequences", "reverse_segments", "flip"])
def test_dask_takes_the_same_words(name):
    pytest.importorskip("dask")
    module = importlib.import_module("retrograde.dask")
    parameters = inspect.signature(getattr(module, name)).parameters
    ours = inspect.signature(getattr(retrograde, name)).parameters
    # Masks and tables are for the main functions; those with masks take Dask's arrays too.
    masks = ("where", "table", "batch_axis") if name in ("reverse", "flip") else ("where", "table")
    assert list(parameters) == [p for p in ours if p not in ("out", *masks)]
    if name == "reverse_sequence":
        assert module.reverse_sequence(X, [1, 3], batch_first=True).compute().tolist() == [[0, 1, 2], [5, 4, 3]]
        with pytest.raises(TypeError, match="takes time_axis= and batch_axis= by keyword: retrograde.dask."):
            module.reverse_sequence(X, [1, 3], 1, 0)
    if name == "flip":
        assert module.flip(X, dims=1).compute().tolist() == X[:, ::-1].tolist()


def test_signatures_have_the_right_names_only(module):
    out = {"out": None} if module.__name__ != "retrograde.jax" else {}
    where = {"where": None} if out else {}
    batch = {**where, "batch_axis": 0} if out else {}
    # Of the main functions alone, as letters are.
    table = {"table": None} if module is retrograde else {}
    padding = {"align": "start", "tail": "keep", **where, **table}
    for name, required, optional in [
        ("reverse", ["x"], {"axes": None, "mask": None, "duplicates": "set", **batch, **table, **out}),
        (
            "reverse_sequence",
            ["x", "lengths"],
            {"time_axis": None, "batch_axis": None, "batch_first": None, "policy": "strict", **padding, **out},
        ),
        ("flip", ["m"], {"axis": None, "dim": None, "dims": None, **batch}),
        ("fliplr", ["m"], {}),
        ("flipud", ["m"], {}),
        ("rot90", ["m"], {"k": 1, "axes": (0, 1)}),
        ("orient", ["x"], {"orientation": None, "axes": None, "orientations": None, "batch_axis": None, **out}),
        ("reverse_subsequences", ["x", "lengths", "axis"], {"policy": "clamp", **padding, **out}),
        # A nested tensor has offsets of its own; JAX has none.
        ("reverse_segments", ["x", "offsets"], {"axis": 0}) if not out else ("reverse_segments", ["x"], {"offsets": None, "axis": 0, **where, **table, **out}),
    ]:
        parameters = inspect.signature(getattr(module, name)).parameters
        assert list(parameters) == [*required, *optional]
        for argument in required:
            assert parameters[argument].default is inspect.Parameter.empty
        for argument, default in optional.items():
            assert parameters[argument].default == default
