"""Arguments that resize or free the tensors of their call while they are read, in a process of their own."""

import os
import subprocess
import sys
from pathlib import Path

import pytest


@pytest.mark.parametrize("library", ["numpy", "torch"])
def test_no_argument_reaches_freed_memory(library):
    if library == "torch":
        pytest.importorskip("torch")
    # Blocks of this size are unmapped when they are freed, so that no access to them goes unnoticed.
    environment = os.environ | {"MALLOC_MMAP_THRESHOLD_": "65536", "MALLOC_TOP_PAD_": "0"}
    command = [sys.executable, "-X", "faulthandler", Path(__file__).with_name("hostile_cases.py"), library]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=900)
    cases = done.stdout.splitlines()
    assert done.returncode == 0, f"{done.returncode} in: {cases[-1:]}\n{done.stderr[-2000:]}"
    assert cases[-1] == "survived"
