"""Sharded arrays of JAX on eight host devices: results, and the collectives in the compiled programs."""

import json
import os
import sys
from pathlib import Path

import deadline
import pytest

pytest.importorskip("jax")

SCRIPT = Path(__file__).with_name("jax_sharding_cases.py")
WHOLE = ("reverse", "flip", "rot90", "vmap")
BY_LENGTHS = ("sequence", "sequence, known", "subsequences", "segments")


def run(*arguments):
    """The results of the script by name."""
    flags = f"{os.environ.get('XLA_FLAGS', '')} --xla_force_host_platform_device_count=8"
    environment = os.environ | {"XLA_FLAGS": flags, "JAX_PLATFORMS": "cpu"}
    done = deadline.run([sys.executable, SCRIPT, *arguments], env=environment)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def check_operators(results, prefix=""):
    """Nothing moves if the time axis is not sharded; otherwise blocks do, and no device gets all of them."""
    checked = 0
    for name, result in results.items():
        operator, _, where = name.removeprefix(prefix).partition(": ")
        if not name.startswith(prefix) or operator not in (*WHOLE, *BY_LENGTHS, "gradient"):
            continue
        assert result["right"], name
        moves = result["moves"]
        if "time" not in where:
            assert moves == [], name
        elif operator in WHOLE:
            assert moves == ["collective-permute"], name
        elif operator in BY_LENGTHS:
            assert moves == ["all-to-all"] * 2, name
        else:
            assert set(moves) == {"all-to-all"}, name
        checked += 1
    return checked


@pytest.fixture(scope="module")
def results():
    return run("basic")


def test_operators(results):
    assert check_operators(results) == 18


@pytest.mark.parametrize(
    ("name", "moves", "spec"),
    [
        ("lengths on every device", [], "P('a', None, 'b')"),
        ("x on every device", [], "P('a',)"),
        ("both axes", ["collective-permute"], "P('a', 'b')"),
        ("inside the program", [], "P('a', None, 'b')"),
        ("scan", [], "P(None, None, 'b')"),
        ("devices in another order", ["collective-permute"], "P('v', 'u')"),
        ("two meshes", ["all-gather"], "P('a', None, 'b')"),
        ("no other axis", ["all-gather"], "P(None, 'a')"),
        ("shard_map", [], "P('a', 'b')"),
        ("shard_map, one axis", [], "P('a', None, 'b')"),
        ("shard_map, one axis, time", ["collective-permute"], "P('a', 'b')"),
        ("eager", [], "P('a',)"),
        ("eager, JAX lengths", [], "P('a',)"),
    ],
)
def test_other_cases(results, name, moves, spec):
    assert results[name] == {"moves": moves, "spec": spec, "right": True}


@pytest.mark.parametrize("name", ["uneven", "uneven time"])
def test_blocks_of_different_sizes_are_gathered(results, name):
    assert results[name]["right"] and set(results[name]["moves"]) == {"all-gather"}


def test_an_invalid_length_is_an_error(results):
    """With its position in the block of its device."""
    assert "lengths[1] is 99, outside [0, 16]" in results["invalid"]["text"]
