"""What the tests share: the command, and a folder for each test."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[4]
sys.path.insert(0, str(ROOT / "scripts/parts"))

import deadline  # noqa: E402

PROGRAM = Path(os.environ.get("RETROGRADE_ZARR", ROOT / "target/debug/retrograde-zarr"))


def start(*words, **options):
    """Starts the command. It has a deadline, and the default handlers of signals."""
    command = [str(PROGRAM), *map(str, words)]
    return deadline.Process(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options)


def run(*words, code=0, **options):
    """Runs the command, which must end with this code; returns what it printed."""
    process = start(*words, **options)
    out, err = process.communicate()
    assert process.returncode == code, f"{words}: code {process.returncode}\n{out}{err}"
    return out + err


def tree(folder):
    """Every file of a folder with its bytes."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(Path(folder).rglob("*")) if path.is_file()}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path
