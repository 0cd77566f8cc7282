"""More of ``test_jax_sharding.py``: all shardings, explicit mesh axes, exports, types, and other partitioners."""

import pytest

pytest.importorskip("jax")

from test_jax_sharding import check_operators, run  # noqa: E402


@pytest.fixture(scope="module")
def results():
    return run("long")


def test_every_sharding(results):
    assert check_operators(results) == 63


def test_explicit_mesh_axes(results):
    assert check_operators(results, "explicit ") == 18
    assert results["explicit rot90: batch and features"]["spec"] == "P(None, 'a', 'b')"


@pytest.mark.parametrize("name", ["exported for one", "exported for eight", "exported without devices"])
def test_exported_programs_are_partitioned(results, name):
    assert results[name] == {"moves": [], "spec": "P('a', None, 'b')", "right": True}


def test_types_and_shapes(results):
    for name, result in results.items():
        if name.startswith(("type ", "shape ")):
            assert result["right"], name
            assert result["moves"] == (["all-to-all"] * 2 if name.endswith("time") else []), name


def test_the_partitioner_before_shardy():
    assert check_operators(run("gspmd")) == 63


def test_without_names_that_are_not_documented():
    """Right, but gathered."""
    results = run("without")
    assert all(result["right"] for result in results.values())
    assert "all-gather" in results["reverse: batch"]["moves"]
