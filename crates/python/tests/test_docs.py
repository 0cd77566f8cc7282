"""The examples in the docstrings, in the README, and in the pages of docs/ that PAGES names."""

import doctest
import importlib
import inspect
import re
from pathlib import Path

import numpy as np
import pytest
import retrograde
import retrograde.cuda

ROOT = Path(__file__).parents[3]
# A fenced block of Python; after the language, the library that it needs besides NumPy.
BLOCK = re.compile(r"^```python *(\w*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)

LIBRARIES = ["", "jax", "onnx", "pyarrow", "torch", "dask", "xarray", "onnxruntime"]
# What lends list columns as arrays of Arrow; who else turns pictures.
COLUMNS, PICTURES = ["polars", "pandas", "duckdb"], ["PIL", "cv2", "nibabel", "torchvision"]
PAGES = [("docs/python.md", library) for library in LIBRARIES[:4]] + [("docs/dask.md", name) for name in LIBRARIES[5:7]]
PAGES += [("README.md", "torch"), ("docs/torch.md", "torch"), ("docs/sharding.md", "jax")]
PAGES += [("docs/images.md", name) for name in ("", "torch", *PICTURES)]
PAGES += [("docs/ragged.md", name) for name in ("", "pyarrow", "torch", *COLUMNS)]
PAGES += [("docs/quickstart.md", name) for name in ("", "torch", "xarray", "onnxruntime")]


@pytest.mark.parametrize("name", ["retrograde", "retrograde._explain", "retrograde._prepare", "retrograde._show"])
def test_examples(name):
    module = importlib.import_module(name)
    result = doctest.testmod(module, extraglobs={"np": np, "retrograde": retrograde})
    assert result.attempted > 0 and result.failed == 0


@pytest.mark.parametrize(
    ("page", "library"),
    [("README.md", ""), *PAGES],
)
def test_examples_of_pages(page, library):
    """A page's blocks that need this library, in order, as one program."""
    if library:
        pytest.importorskip(library)
    if library in COLUMNS:
        pytest.importorskip("pyarrow")
    text = (ROOT / page).read_text(encoding="utf-8")
    examples = []
    for block in BLOCK.finditer(text):
        assert block[1] in LIBRARIES + COLUMNS + PICTURES, block[1]
        if block[1] == library:
            before = text.count("\n", 0, block.start(2))
            found = doctest.DocTestParser().get_examples(block[2], page)
            assert found, f"{page}:{before}: a block of Python without >>>"
            for example in found:
                example.lineno += before
            examples += found
    test = doctest.DocTest(examples, {"np": np, "retrograde": retrograde}, page, str(ROOT / page), 0, text)
    result = doctest.DocTestRunner().run(test)
    assert result.attempted > 0 and result.failed == 0


@pytest.mark.parametrize(
    ("page", "languages"),
    [("docs/quickstart.md", {"python", "sh", "cpp"}), ("docs/images.md", {"python"})],
)
def test_first_results_are_quick(page, languages):
    """Each takes ten lines or less, whatever the language."""
    text = (ROOT / page).read_text(encoding="utf-8")
    blocks = re.findall(r"^```(\w+).*?\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)
    assert languages <= {language for language, _ in blocks}
    for _, block in blocks:
        # Without what Python prints.
        typed = [line for line in block.splitlines() if ">>>" not in block or line.startswith((">>>", "..."))]
        assert 1 <= len([line for line in typed if line.strip()]) <= 10, block


def signature_of(function):
    """Names and defaults, without types."""
    signature = inspect.signature(function)
    parameters = [parameter.replace(annotation=parameter.empty) for parameter in signature.parameters.values()]
    return signature.replace(parameters=parameters, return_annotation=signature.empty)


def test_every_public_function_is_in_the_page():
    """Is documented with its signature."""
    text = (ROOT / "docs/python.md").read_text(encoding="utf-8")
    for module in (retrograde, retrograde.cuda):
        for name in module.__all__:
            function = getattr(module, name)
            if not inspect.isclass(function):
                assert f"\n{module.__name__}.{name}{signature_of(function)}\n" in text


@pytest.mark.parametrize("library", ["dask", "xarray"])
def test_modules_for_chunked_arrays_are_documented(library):
    """The examples of the module, and the signatures in docs/dask.md."""
    pytest.importorskip(library)
    module = importlib.import_module(f"retrograde.{library}")
    result = doctest.testmod(module)
    assert result.attempted > 0 and result.failed == 0
    text = (ROOT / "docs/dask.md").read_text(encoding="utf-8")
    if library == "dask":
        signatures = {f"retrograde.dask.{name}{signature_of(getattr(module, name))}" for name in module.__all__}
    else:
        methods = {name: f for name, f in vars(module.Reversals).items() if not name.startswith("_")}
        signatures = {
            f"x.retrograde.{name}{signature_of(f)}".replace("(self, ", "(") for name, f in methods.items()
        }
    assert len(signatures) == 5
    for signature in signatures:
        assert f"\n{signature}\n" in text


def test_every_public_name_is_documented():
    for name in retrograde.__all__:
        assert getattr(retrograde, name).__doc__, name
