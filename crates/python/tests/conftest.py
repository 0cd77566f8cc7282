"""Tests import ``deadline``, the processes of tests, from scripts/."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "scripts/parts"))
