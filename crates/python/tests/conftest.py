"""Tests import ``deadline``, the processes of tests, from scripts/."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "scripts/parts"))
# They assert too: failures show values.
pytest.register_assert_rewrite("dask_cases", "naive", "together")
