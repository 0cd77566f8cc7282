"""The examples that need only NumPy: they run, check their results, and print them."""

import sys
from pathlib import Path

import deadline

EXAMPLES = Path(__file__).parents[3] / "examples" / "python"


def printed(name, before=""):
    """The output of an example, whose asserts must pass."""
    program = f"{before}\nimport runpy; runpy.run_path({str(EXAMPLES / name)!r}, run_name='__main__')"
    result = deadline.run([sys.executable, "-c", program])
    assert result.returncode == 0, result.stderr
    return result.stdout


def test_reverse_complement():
    output = printed("reverse_complement.py")
    assert "GATTACA-  ->  TGTAATC-" in output and "20000 reads of up to 150 bases" in output


def test_image_augmentation():
    output = printed("image_augmentation.py")
    assert "as slices of NumPy have it" in output
    rows = [line.split() for line in output.splitlines() if line.startswith(("all", "half"))]
    assert [row[0] for row in rows] == ["all", "all", "half", "half"]
    assert all(float(row[-1]) > 0 for row in rows)


def test_from_tensorflow_without_it():
    output = printed("from_tensorflow.py", before="import sys; sys.modules['tensorflow'] = None")
    assert output.count("as plain loops, tensorflow is not installed") == 4
    assert "lengths[0] is 9, outside [0, 8]" in output


def test_every_example_is_in_the_table():
    scripts = sorted(path.name for path in EXAMPLES.glob("*.py"))
    assert len(scripts) == 4
    text = (EXAMPLES / "README.md").read_text(encoding="utf-8")
    assert [name for name in scripts if f"| `{name}` |" not in text] == []
