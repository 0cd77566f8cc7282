"""``DTensor`` of PyTorch in two processes (gloo): results, placements, and what is communicated."""

import json
import os
import sys
from pathlib import Path

import deadline
import pytest
import torch.distributed

SCRIPT = Path(__file__).with_name("torch_dtensor_cases.py")
if not torch.distributed.is_available() or not torch.distributed.is_gloo_available():
    pytest.skip("PyTorch is built without gloo", allow_module_level=True)


def run(*arguments):
    """The results of each process, by name."""
    # Both processes are on this machine.
    environment = os.environ | {"GLOO_SOCKET_IFNAME": "lo"}
    done = deadline.run([sys.executable, SCRIPT, *arguments], env=environment)
    assert done.returncode == 0, done.stdout + done.stderr
    return json.loads(done.stdout.splitlines()[-1])


@pytest.fixture(scope="module")
def results():
    first, second = run()
    assert first == second
    return first


def cases(results, *places):
    return {name: result for name, result in results.items() if name.partition(": ")[2] in places}


def test_every_result_is_right(results):
    checked = [result["right"] for result in results.values() if isinstance(result, dict)]
    assert len(checked) == 65 and all(checked)
    assert all(results[f"out is filled: {where}"] for where in ("batch", "time", "features", "nothing"))


def test_nothing_moves_if_the_sharded_axis_is_not_reversed(results):
    for name, result in cases(results, "batch", "features", "nothing").items():
        if name in ("other axes: batch", "out is filled: batch") or isinstance(result, bool):
            continue
        assert result["moves"] == 0, name
    for name in ("reverse", "sequence, alike", "subsequences", "segments", "gradient", "in place", "out"):
        assert [results[f"{name}: {where}"]["placement"] for where in ("batch", "features", "nothing")] == [
            "S(0)", "S(2)", "R",
        ], name  # fmt: skip


def test_a_sharded_axis_that_is_reversed_is_redistributed_once(results):
    for name, result in cases(results, "time").items():
        if isinstance(result, dict) and not name.startswith(("gradient", "out", "in place")):
            assert result["moves"] == 1, name
    assert results["in place: time"]["placement"] == results["out: time"]["placement"] == "S(1)"
    assert results["other axes: batch"]["moves"] == 1


def test_partial_sums_stay_partial(results):
    for name in ("partial", "partial, lengths", "partial, maximum"):
        assert results[name]["moves"] == 0 and results[name]["placement"].startswith("P"), name


def test_compiled_and_in_inference_mode(results):
    assert results["compiled"] == {"moves": None, "placement": "S(0)", "right": True}
    assert results["inference"] == {"moves": 0, "placement": "S(0)", "right": True}


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("shape", "ValueError: ReverseSequence: lengths have shape [6], expected [7]"),
        ("shape, operator", "RuntimeError: ReverseSequence: lengths have shape [6], expected [7]"),
        ("mixed", "RuntimeError"),
        ("operator in place", "NotImplementedError"),
        ("operator with out", "NotImplementedError"),
    ],
)
def test_errors_are_raised_by_every_process(results, name, text):
    assert results[name].startswith(text)


def test_without_names_that_are_not_documented():
    """Right, but flips gather."""
    first, second = run("without")
    assert first == second
    assert all(result["right"] for result in first.values() if isinstance(result, dict))
    assert first["reverse: batch"]["moves"] == 1 and first["sequence, alike: batch"]["moves"] == 0
