"""Pictures: equal to those of the command, and robust against hostile input."""

import re
import sys
import types
import xml.etree.ElementTree as ElementTree
from html.parser import HTMLParser
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest
import retrograde
from foreign import OnlyDlpack

EXAMPLES = Path(__file__).parents[3] / "examples"
COMMAND = Path(__file__).parents[2] / "cli" / "tests" / "cli"
RNG = np.random.default_rng(11)


def body(picture):
    """Without the headline, which differs from the command's in file and type names."""
    return str(picture).split("\n", 2)[2]


def test_words_as_the_command_has_them():
    words = np.load(EXAMPLES / "words.npy")
    lengths = np.load(EXAMPLES / "words-lengths.npy")
    picture = retrograde.show(retrograde.reverse_sequence, words, lengths, time_axis=1, batch_axis=0)
    assert str(picture) == (
        "ReverseSequence  U1 [5, 8]  time axis 1, batch axis 0\n"
        "\n"
        "  len  before              after\n"
        "    8  s t r e s s e d     d e s s e r t s\n"
        "    4  l i v e · · · ·     e v i l · · · ·\n"
        "    6  d r a w e r · ·  →  r e w a r d · ·\n"
        "    1  a · · · · · · ·     a · · · · · · ·\n"
        "    5  p a r t s · · ·     s t r a p · · ·"
    )


def expected_by_the_command(test):
    """The picture that a test of the command expects, without its headline."""
    source = (COMMAND / "pictures.rs").read_text(encoding="utf-8")
    literal = re.search(rf'fn {test}\(\).*?assert_eq!\(.*?"\\\n(.*?)\n"\n', source, re.DOTALL)
    return literal[1].split("\n", 2)[2]


def test_the_command_draws_the_same():
    onnx = np.load(EXAMPLES / "onnx.npy")
    grid = np.load(EXAMPLES / "grid.npy")
    batch = np.arange(12, dtype=np.uint8).reshape(2, 3, 2)
    elements = np.arange(4, dtype=np.uint8).reshape(2, 1, 2)
    pictures = {
        "onnx": retrograde.show("reverse_sequence", onnx, [4, 3, 2, 1]),
        "grid": retrograde.show("reverse_subsequences", grid, [[[2, 4, 3]]], axis=3),
        "lengths_of_the_words_themselves": retrograde.show("reverse", np.array([8, 4, 6, 1, 5])),
        "a_batch_in_front_has_its_lengths_in_the_captions": retrograde.show(
            "reverse_sequence", batch, [3, 2], time_axis=1, batch_axis=0
        ),
        "lengths_of_single_elements_are_not_shown": retrograde.show(
            "reverse_subsequences", elements, [[2, 1]], axis=-3
        ),
    }
    for test, picture in pictures.items():
        assert body(picture) == expected_by_the_command(test), test
    image = retrograde.show("reverse", np.load(EXAMPLES / "image.npy"), axes=1)
    assert body(image) == (COMMAND / "image.txt").read_text(encoding="utf-8").split("\n", 2)[2].rstrip("\n")


def test_scalars_and_nothing_at_all():
    assert str(retrograde.show("reverse", np.uint8(7))) == (
        "Reverse  uint8 []  no axis\n\n  before     after\n  7       →  7"
    )
    empty = retrograde.show("reverse", np.zeros((3, 0, 2)))
    assert str(empty) == "Reverse  float64 [3, 0, 2]  axes 0, 1, 2\n\n  (no elements)"
    assert "(no elements)" in empty._repr_html_() and "(no elements)" in empty._repr_svg_()
    assert "(no elements)" in str(retrograde.show("reverse_sequence", np.zeros((3, 0)), []))
    assert "len 0" in str(retrograde.show("reverse_sequence", np.zeros((1, 2, 1, 1)), [0, 0]))


class Cells(HTMLParser):
    """The cells of the tables, with their attributes."""

    def __init__(self, html):
        super().__init__()
        self.tags, self.cells, self.is_open = [], [], False
        self.feed(html)

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        if tag in ("td", "th"):
            self.is_open = True
            self.cells.append((tag, dict(attributes), ""))

    def handle_endtag(self, tag):
        if tag in ("td", "th"):
            self.is_open = False

    def handle_data(self, data):
        if self.is_open:
            tag, attributes, text = self.cells[-1]
            self.cells[-1] = (tag, attributes, text + data)


def moved_in_svg(picture):
    """For every box that is drawn as moved: its text, and the source that it shows."""
    root = ElementTree.fromstring(picture.svg())
    space = "{http://www.w3.org/2000/svg}"
    groups = [group for group in root.iter(f"{space}g") if group.get("class") == "moved"]
    return [(group.find(f"{space}text").text, group.find(f"{space}title").text) for group in groups]


def moved_in_html(picture):
    cells = Cells(picture.html()).cells
    return [(text, attributes["title"]) for _, attributes, text in cells if "title" in attributes]


def naive_origins(name, shape, arguments):
    """The source of every index of the result."""
    for index in np.ndindex(*shape):
        origin = list(index)
        if name == "reverse":
            for axis in arguments["axes"]:
                origin[axis] = shape[axis] - 1 - index[axis]
        else:
            if name == "reverse_sequence":
                axis, length = arguments["time_axis"], arguments["lengths"][index[arguments["batch_axis"]]]
            else:
                axis = arguments["axis"]
                lane = index[:axis] + index[axis + 1 :]
                length = arguments["lengths"][lane]
            if index[axis] < length:
                origin[axis] = int(length) - 1 - index[axis]
        yield index, tuple(origin)


def random_call():
    rank = int(RNG.integers(1, 5))
    shape = tuple(int(size) for size in RNG.integers(1, [7, 5, 4, 3][rank - 1], size=rank))
    if np.prod(shape[:-2]) > 6:
        shape = (1, 1, *shape[-2:])
    rank = len(shape)
    axis = int(RNG.integers(rank))
    kind = RNG.integers(3) if rank > 1 else RNG.choice([0, 2])
    if kind == 0:
        return "reverse", shape, {"axes": [a for a in range(rank) if RNG.integers(2)]}
    if kind == 1:
        batch = int(RNG.choice([a for a in range(rank) if a != axis]))
        lengths = RNG.integers(shape[axis] + 1, size=shape[batch])
        return "reverse_sequence", shape, {"lengths": lengths, "time_axis": axis, "batch_axis": batch}
    lanes = shape[:axis] + shape[axis + 1 :]
    return "reverse_subsequences", shape, {"lengths": RNG.integers(shape[axis] + 1, size=lanes), "axis": axis}


@pytest.mark.parametrize("_", range(80))
def test_what_is_marked_is_what_moved_even_where_values_are_equal(_):
    name, shape, arguments = random_call()
    # Few distinct values: a picture that compared values would miss most moves.
    x = RNG.integers(2, size=shape).astype(np.int8)
    expected = [
        (str(x[origin]), f"from {list(origin)}")
        for index, origin in naive_origins(name, shape, arguments)
        if origin != index
    ]
    picture = retrograde.show(name, x, **arguments)
    assert sorted(moved_in_svg(picture)) == sorted(expected)
    assert sorted(moved_in_html(picture)) == sorted(expected)


@pytest.mark.parametrize("_", range(20))
def test_values_after_are_those_of_the_operator(_):
    name, shape, arguments = random_call()
    x = np.arange(np.prod(shape)).reshape(shape)
    y = getattr(retrograde, name)(x, **arguments)
    cells = [
        (a, text) for tag, a, text in Cells(retrograde.show(name, x, **arguments).html()).cells if tag == "td"
    ]
    shown = [int(text) for _, text in cells if text.isdigit()]
    assert sorted(shown) == sorted([*x.flat, *y.flat])
    width = shape[-1]
    rows = [shown[at : at + 2 * width] for at in range(0, len(shown), 2 * width)]
    assert [row[:width] for row in rows] == x.reshape(-1, width).tolist()
    assert [row[width:] for row in rows] == y.reshape(-1, width).tolist()


HOSTILE = [
    "<script>alert(1)</script>",
    "</td>&\"'",
    "\x1b[31mred\x00",
    "\u202eabc",
    "\ud800",
    "a\nb",
    "]]>",
    "\ufffe",
]


def test_strings_cannot_break_out():
    x = np.array(HOSTILE, object)
    picture = retrograde.show("reverse", x)
    html, svg, text = picture._repr_html_(), picture._repr_svg_(), picture.text(1000)
    assert "<script" not in html and "<script" not in svg
    root = ElementTree.fromstring(svg)
    assert {element.tag.rpartition("}")[2] for element in root.iter()} == {
        "svg", "title", "desc", "style", "rect", "g", "text"
    }  # fmt: skip
    assert set(Cells(html).tags) <= {
        "div", "style", "strong", "table", "tr", "td", "th", "caption", "b"
    }  # fmt: skip
    for drawn in (html, svg, text):
        assert not re.search("[\x00-\x09\x0b-\x1f\u202e\ud800\ufffe]", drawn)
        drawn.encode("utf-8")
    assert len(text.splitlines()) == 4
    assert r"\u{1b}[31mred\u{0}" in text and r"\u{202e}abc" in text and r"\ud800" in text
    # The name of a type is untrusted text too.
    named = np.zeros(2, [("<i>", "u1")])
    assert "<i>" not in retrograde.show("reverse", named).html()


class Broken:
    def __repr__(self):
        raise RuntimeError("no")


@pytest.mark.parametrize(
    ("x", "texts"),
    [
        (np.array([1 / 3, 0.1, 1e-9, 12345.678, 2.5e9, -0.0, np.nan, -np.inf]),
         ["0.33333", "0.1", "1e-9", "12346", "2.5e9", "-0", "nan", "-inf"]),
        (np.array([0.1, 16777217, 3.14159265], np.float32), ["0.1", "16777216", "3.1416"]),
        (np.array([0.1, 65504], np.float16), ["0.1", "65504"]),
        (np.array([0.1, 1 / 3, -2], ml_dtypes.bfloat16), ["0.1", "0.334", "-2"]),
        (np.array([0.5, 448], ml_dtypes.float8_e4m3fn), ["0.5", "448"]),
        (np.array([-8, 7], ml_dtypes.int4), ["-8", "7"]),
        (np.array([1 + 2j, 0.1 - 0.5j, complex(np.nan, -0.0)], np.complex64), ["1+2j", "0.1-0.5j", "nan-0j"]),
        (np.array([True, False]), ["True", "False"]),
        (np.array([2**63 - 1, -(2**63)]), ["9223372036854775807", "-9223372036854775808"]),
        (np.array(["a", "é"]), ["a", "é"]),
        (np.array([b"ab", b"\xff"]), ["ab", "\ufffd"]),
        (np.array(["2026-11-15", "NaT"], "M8[D]"), ["2026-11-15", "NaT"]),
        (np.array([b"\x01\x02", b"\xff\x00"], "V2"), ["0102", "ff00"]),
        (np.array([(1, 2.5)], "i4,f8"), ["(1, 2.5)"]),
        (np.array([None, [1], "text", Broken()], object), ["None", "[1]", "text", "<Broken>"]),
        (np.array(["x" * 100, "漢" * 20], object), ["x" * 23 + "…", "漢" * 11 + "…"]),
        (np.ma.array([1, 2], mask=[False, True]), ["1", "--"]),
        (np.array([1, 2], ">i4"), ["1", "2"]),
    ],
)  # fmt: skip
def test_elements_are_short(x, texts):
    cells = Cells(retrograde.show("reverse", x).html()).cells
    shown = [text for tag, _, text in cells if tag == "td" and text not in ("", "→")]
    assert shown == texts + texts[::-1]


def test_strings_of_any_length():
    if not hasattr(np.dtypes, "StringDType"):
        pytest.skip("NumPy 2 has them")
    assert "abc" in str(retrograde.show("reverse", np.array(["abc", "d"], np.dtypes.StringDType())))


def test_wide_characters_line_up():
    lines = str(retrograde.show("reverse", np.array([["漢", "a"], ["b", "e\u0301"]]))).splitlines()[3:]
    assert lines == ["  漢  a   →  e\u0301   b", "  b   e\u0301      a   漢"]


def test_large_tensors_show_their_ends():
    x = np.arange(100 * 100).reshape(100, 100)
    lines = body(retrograde.show("reverse", x, 1)).splitlines()
    assert lines[1:4:2] == [
        "     0     1     2  …    97    98    99       99    98    97  …     2     1     0",
        "   200   201   202  …   297   298   299      299   298   297  …   202   201   200",
    ]
    assert lines[4] == "     ⋮     ⋮     ⋮  ⋱     ⋮     ⋮     ⋮  →     ⋮     ⋮     ⋮  ⋱     ⋮     ⋮     ⋮"
    assert len(lines) == 8
    many = retrograde.show("reverse", np.zeros((50, 2, 2, 2), np.uint8))
    captions = re.findall(r"\[\d+, \d+, :, :\]", str(many))
    assert captions == [f"[{a}, {b}, :, :]" for a, b in [(0, 0), (0, 1), (1, 0), (48, 1), (49, 0), (49, 1)]]
    assert "⋮" in str(many)
    most = retrograde.show("reverse", np.zeros((6, 12, 32)))
    assert len(most.svg()) < 1_000_000 and len(most.html()) < 300_000
    # A view of more elements than fit in memory must not be materialised.
    huge = np.broadcast_to(np.uint8(1), (1 << 20, 1 << 10, 1 << 20))
    assert "[1048575, :, :]" in str(retrograde.show("reverse", huge, [0, 1]))
    assert "[0, :, :]" in str(retrograde.show("reverse", np.broadcast_to(np.uint8(1), (1 << 40, 2, 2))))
    deep = np.arange(2**12).reshape((2,) * 12)
    assert "[1, 1, 1, 1, 1, 1, 1, 1, 1, 1, :, :]" in str(retrograde.show("reverse", deep))


def test_long_axes():
    x = np.arange(1 << 23, dtype=np.int32)
    lines = body(retrograde.show("reverse", x)).splitlines()
    assert lines[-1].split() == ["8388607", "8388606", "8388605", "…", "2", "1", "0"]
    lines = body(retrograde.show("reverse_subsequences", x, [2**64 - 1], axis=0)).splitlines()
    assert lines[-1].split() == ["8388607", "8388606", "8388605", "…", "2", "1", "0"]
    lines = body(retrograde.show("reverse_sequence", x[None], [2], time_axis=1, batch_axis=0)).splitlines()
    assert lines[-1].split() == ["1", "0", "2", "…", "8388605", "8388606", "8388607"]


def test_the_text_fits_where_it_can():
    x = np.arange(40, dtype=np.int64).reshape(2, 20) * 1000
    picture = retrograde.show("reverse_sequence", x, [20, 7], time_axis=1, batch_axis=0)
    for columns in (200, 120, 80, 40, 30):
        assert max(map(len, picture.text(columns).splitlines()[2:])) <= columns
    assert max(map(len, picture.text(5).splitlines())) > 5
    assert "  →  " in picture.text(400) and "…" not in picture.text(400)
    # One below the other.
    below = picture.text(30).splitlines()[2:]
    assert [line.split()[-1] for line in below if "before" in line or "after" in line] == ["before", "after"]


def test_lengths_beyond_the_axis_are_shown_as_they_are_given():
    picture = retrograde.show("reverse_subsequences", np.arange(3), [9], axis=0)
    assert body(picture).splitlines() == ["  len  before     after", "    9  0 1 2   →  2 1 0"]


def test_the_picture_keeps_what_it_shows():
    x = np.arange(3)
    picture = retrograde.show(retrograde.reverse, x)
    before = str(picture), picture.svg(), picture.html()
    retrograde.reverse(x, out=x)
    x[:] = 7
    assert (str(picture), picture.svg(), picture.html()) == before
    assert "0 1 2" in before[0] and "2 1 0" in before[0]


def test_padding_and_what_moved_look_different():
    picture = retrograde.show("reverse_sequence", np.arange(8).reshape(4, 2), [3, 1])
    groups = re.findall(r"<g( class=\"\w+\")?>", picture.svg())
    assert groups.count(' class="moved"') == 2
    assert groups.count(' class="padding"') == 8
    assert groups.count("") == 6
    assert "prefers-color-scheme:dark" in picture.svg()
    assert picture.html().count('class="e p"') == 8 and picture.html().count('class="e m"') == 2


def test_pictures_say_what_they_are():
    picture = retrograde.show("reverse", np.arange(3))
    root = ElementTree.fromstring(picture.svg())
    assert root.get("role") == "img"
    children = {child.tag.rpartition("}")[2]: child.text for child in root}
    assert children["title"] == "Reverse  int64 [3]  axis 0"
    assert children["desc"].startswith("Reverse of int64 [3]  axis 0: the tensor before")
    assert 'aria-label="Reverse of int64 [3]  axis 0: the tensor before' in picture.html()


def test_files(tmp_path):
    picture = retrograde.show("reverse", np.array(["<a>", "é"]))
    picture.save(tmp_path / "a.svg")
    ElementTree.parse(tmp_path / "a.svg")
    picture.save(str(tmp_path / "a.HTML"))
    page = (tmp_path / "a.HTML").read_text(encoding="utf-8")
    assert page.startswith("<!DOCTYPE html>") and picture.html() in page and "<a>" not in page
    picture.save(tmp_path / "a.txt")
    assert (tmp_path / "a.txt").read_text(encoding="utf-8") == f"{picture}\n"
    with pytest.raises(ValueError, match="path ends in '.png', expected .svg, .html or .txt"):
        picture.save(tmp_path / "a.png")
    assert not (tmp_path / "a.png").exists()


def test_a_notebook_gets_one_of_them(monkeypatch):
    shown = []
    package, module = types.ModuleType("IPython"), types.ModuleType("IPython.display")
    module.display = lambda data, raw: shown.append((data, raw))
    monkeypatch.setitem(sys.modules, "IPython", package)
    monkeypatch.setitem(sys.modules, "IPython.display", module)
    picture = retrograde.show("reverse", np.arange(3))
    picture._ipython_display_()
    assert shown == [({"text/plain": str(picture), "text/html": picture.html()}, True)]


@pytest.mark.parametrize(
    ("show", "error", "text"),
    [
        (lambda x: retrograde.show("reverse", x, 2), ValueError, "axes[0] is 2, outside [-2, 1]"),
        (
            lambda x: retrograde.show("reverse_sequence", x, [1, 5, 1]),
            ValueError,
            "lengths[1] is 5, outside [0, 2]",
        ),
        (
            lambda x: retrograde.show("reverse_sequence", x, [1, 1]),
            ValueError,
            "lengths have shape [2], expected [3]",
        ),
        (
            lambda x: retrograde.show("reverse_sequence", x, [1.5, 1, 1]),
            TypeError,
            "expected an integer type",
        ),
        (lambda x: retrograde.show("reverse_subsequences", x, [1, 1]), TypeError, "axis"),
        (lambda x: retrograde.show("transpose", x), ValueError, "operator is 'transpose', expected"),
        (
            lambda x: retrograde.show("reverse", object()),
            TypeError,
            "x is of type object, expected an array or a tensor",
        ),
    ],
)
def test_errors_are_those_of_the_operator(show, error, text):
    with pytest.raises(error) as raised:
        show(np.zeros((2, 3)))
    assert text in str(raised.value)


def test_axes_in_every_form():
    x = np.arange(6).reshape(2, 3)
    expected = str(retrograde.show("reverse", x, [0, 1]))
    for axes in ((0, 1), (-1, 0, 1), iter([1, 0]), np.array([0, 1]), {0, 1}, None, range(2)):
        assert str(retrograde.show("reverse", x, axes)) == expected
    assert str(retrograde.show("reverse", x, mask=[True, True])) == expected
    assert str(retrograde.show("reverse", x, mask=iter([True, True]))) == expected
    one = str(retrograde.show("reverse", x, 1))
    for axes in (-1, np.int64(1), [1], np.array(1), np.array([1])):
        assert str(retrograde.show("reverse", x, axes)) == one
    assert str(retrograde.show("reverse", x, mask=np.array([False, True]))) == one
    assert "no axis" in str(retrograde.show("reverse", x, []))


def test_tensors_of_jax():
    jax = pytest.importorskip("jax.numpy")
    x = jax.arange(6, dtype=jax.bfloat16).reshape(2, 3)
    picture = retrograde.show(retrograde.reverse_sequence, x, jax.array([2, 1, 0]))
    assert str(picture) == str(
        retrograde.show("reverse_sequence", np.arange(6).reshape(2, 3).astype(ml_dtypes.bfloat16), [2, 1, 0])
    )
    assert "bfloat16 [2, 3]" in str(picture)


def test_tensors_of_cupy(monkeypatch):
    class Array:
        """As in CuPy: it does not convert to a NumPy array implicitly."""

        dtype = np.dtype(np.int64)

        def __array__(self, *arguments, **named):
            raise TypeError("use .get()")

        def get(self):
            return np.arange(3)

    monkeypatch.setitem(sys.modules, "cupy", types.SimpleNamespace(ndarray=Array))
    assert str(retrograde.show("reverse", Array())) == str(retrograde.show("reverse", np.arange(3)))


def test_tensors_of_any_library():
    x = np.arange(6).reshape(2, 3)
    assert str(retrograde.show("reverse", OnlyDlpack(x))) == str(retrograde.show("reverse", x))
    assert str(retrograde.show("reverse", x.tolist())) == str(retrograde.show("reverse", x))
