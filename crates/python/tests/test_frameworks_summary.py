"""What scripts/test frameworks makes of the reports of pytest: which files may be skipped as a whole."""

import importlib.util
import sys
from importlib.machinery import SourceFileLoader
from pathlib import Path

import deadline
import pytest

SCRIPT = Path(__file__).resolve().parents[3] / "scripts/parts/test/frameworks"

SKIPPED = """
import pytest
pytest.importorskip("no_such_module_1", reason="{} is not installed")
"""


@pytest.fixture
def frameworks(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    loader = SourceFileLoader("test_frameworks_script", str(SCRIPT))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
    loader.exec_module(module)
    module.TESTS = tmp_path
    return module


def ran(frameworks, folder, files):
    """Runs these files of tests in heavy/: a function that returns the failures, with or without a visible device."""
    paths, counts, written = [], {}, folder / "report.xml"
    for name, content in files.items():
        path = folder / "heavy" / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(content)
        paths.append(path)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", f"--junitxml={written}", *paths]
    deadline.run(command, cwd=folder)
    frameworks.results(written, counts)
    return lambda visible: frameworks.summary(paths, counts, visible)


def test_a_file_for_cupy_is_skipped_without_it(frameworks, tmp_path, capsys):
    files = {"test_dask_cupy.py": SKIPPED.format("cupy"), "test_torch.py": "def test(): pass"}
    failures = ran(frameworks, tmp_path, files)
    for visible in (False, True):
        assert failures(visible) == []
        printed = capsys.readouterr().out
        why = "cupy is not installed" if visible else "no CUDA device is visible, 1 skipped: cupy is not installed"
        assert f"  heavy/test_dask_cupy.py: skipped, {why}\n" in printed
        assert "  heavy/test_torch.py: 1 tests\n" in printed


def test_a_file_that_should_run_is_a_failure_without_tests(frameworks, tmp_path):
    files = {name: SKIPPED.format(needs) for name, needs in (("test_torch.py", "torch"), ("test_cuda.py", "torch"))}
    missing = "no test ran, 1 skipped: torch is not installed"
    torch, cuda = f"heavy/test_torch.py: {missing}", f"heavy/test_cuda.py: {missing}"
    failures = ran(frameworks, tmp_path, files)
    assert failures(True) == [torch, cuda]
    assert failures(False) == [torch]
    # It was not even collected.
    assert frameworks.summary([tmp_path / "heavy/test_arrow.py"], {}, False) == [
        "heavy/test_arrow.py: no test ran, 1 skipped: not in the report of pytest"
    ]
