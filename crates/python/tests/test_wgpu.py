"""`retrograde.wgpu`: an error that says how to build its library; with it and an adapter, results.

`crates/wgpu-library/tests/arrays.py` tests more, without the extension module (`scripts/test wgpu`).
"""

import numpy as np
import pytest

import retrograde
import retrograde.wgpu


def test_a_missing_library_says_how_to_build_it(monkeypatch):
    monkeypatch.setattr(retrograde.wgpu, "library_path", lambda: None)
    monkeypatch.setattr(retrograde.wgpu, "_loaded", None)
    assert not retrograde.wgpu.is_available()
    with pytest.raises(ImportError, match="scripts/build wgpu"):
        retrograde.wgpu.Gpu()


def test_results_are_those_of_the_cpu():
    if retrograde.wgpu.library_path() is None:
        pytest.skip("the library of retrograde.wgpu is not built")
    if not retrograde.wgpu.is_available():
        pytest.skip("there is no adapter")
    x = np.arange(60, dtype="i2").reshape(3, 4, 5)
    lengths = [0, 3, 2, 1]
    with retrograde.wgpu.Gpu() as gpu:
        assert (gpu.reverse(x, [0, -1]) == retrograde.reverse(x, [0, -1])).all()
        assert (gpu.reverse_sequence(x, lengths) == retrograde.reverse_sequence(x, lengths)).all()
        with pytest.raises(ValueError, match=r"lengths\[0\] is 4, outside \[0, 3\]"):
            gpu.reverse_sequence(x, [4, 0, 0, 0])
