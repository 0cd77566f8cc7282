"""The command in the wheel: the same command line as the Rust program's."""

import os
import sys
import sysconfig
from importlib.metadata import entry_points
from pathlib import Path

import deadline
import numpy as np
import pytest

import retrograde

WINDOWS = os.name == "nt"
SCRIPT = Path(sysconfig.get_path("scripts")) / ("retrograde.exe" if WINDOWS else "retrograde")
# pip makes the script. Under wine (scripts/test windows) the wheel is unpacked without it.
installed = pytest.mark.skipif(WINDOWS and not SCRIPT.exists(), reason="the wheel was unpacked, not installed by pip")
WAYS = [
    pytest.param([sys.executable, "-m", "retrograde"], id="module"),
    pytest.param([str(SCRIPT)], id="script", marks=installed),
]


def run(way, *arguments, **more):
    return deadline.run([*way, *map(str, arguments)], **more)


@pytest.fixture(params=WAYS)
def way(request):
    return request.param


def test_the_wheel_installs_it():
    (entry,) = entry_points(group="console_scripts", name="retrograde")
    assert entry.value == "retrograde.__main__:main"


@installed
def test_pip_installs_the_script():
    assert SCRIPT.exists()


def test_it_reverses_files(way, tmp_path):
    x = np.arange(24, dtype=np.int16).reshape(2, 3, 4)
    np.save(tmp_path / "x.npy", x)
    result = run(way, "reverse", "x.npy", "--axes", "1", "-o", "y.npy", cwd=tmp_path)
    assert (result.returncode, result.stdout) == (0, "")
    assert result.stderr == "y.npy: i16 [2, 3, 4], 48 bytes reversed along axis 1\n"
    np.testing.assert_array_equal(np.load(tmp_path / "y.npy"), np.flip(x, 1))


def test_it_says_its_name_and_version(way):
    assert run(way, "--version").stdout == f"retrograde {retrograde.__version__}\n"
    assert "Usage: retrograde [OPTIONS] <COMMAND>" in run(way, "--help").stdout


def test_exit_codes_are_the_commands(way, tmp_path):
    missing = run(way, "reverse", "none.npy", cwd=tmp_path)
    assert missing.returncode == 1
    assert missing.stderr.startswith("error: cannot read none.npy: ")
    assert WINDOWS or missing.stderr.endswith(": No such file or directory\n")
    assert run(way, "reverse").returncode == 2


@pytest.mark.skipif(WINDOWS, reason="a closed pipe is a signal only on Unix")
def test_a_closed_pipe_ends_it_like_other_commands(way, tmp_path):
    np.save(tmp_path / "x.npy", np.zeros(1 << 24, np.uint8))
    script = f"{' '.join(way)} reverse x.npy -o - | head -c 10 >/dev/null; echo ${{PIPESTATUS[0]}}"
    closed = deadline.run(["bash", "-c", script], cwd=tmp_path)
    assert (closed.stdout, closed.stderr) == ("141\n", "")


@pytest.mark.skipif(os.name != "posix", reason="file names are bytes only on Unix")
def test_file_names_may_be_any_bytes(way, tmp_path):
    name = os.fsdecode(b"\xff\xfe.npy")
    np.save(tmp_path / "x.npy", np.arange(3))
    assert run(way, "reverse", "x.npy", "-o", name, cwd=tmp_path, errors="replace").returncode == 0
    np.testing.assert_array_equal(np.load(os.path.join(tmp_path, name)), [2, 1, 0])


@pytest.mark.skipif(WINDOWS, reason="programs are no scripts there")
def test_programs_beside_the_script_are_found(way, tmp_path):
    program = Path(SCRIPT.parent, f"retrograde-test{os.getpid()}")
    try:
        program.write_text('#!/bin/sh\necho "$@"\nexit 7\n')
        program.chmod(0o755)
        found = run(way, "-q", program.name.removeprefix("retrograde-"), "a b", cwd=tmp_path)
        assert (found.returncode, found.stdout) == (7, "--quiet a b\n")
    finally:
        program.unlink(missing_ok=True)
    missing = run(way, program.name.removeprefix("retrograde-"))
    assert missing.returncode == 2 and "unrecognized subcommand" in missing.stderr


def test_importing_the_package_does_not_import_the_command():
    program = "import sys, retrograde; print('retrograde.__main__' in sys.modules)"
    assert run([sys.executable], "-c", program).stdout == "False\n"
