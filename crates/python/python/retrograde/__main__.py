"""The ``retrograde`` command: the same as the Rust program of that name."""

import sys


def main() -> int:
    """Runs the command on the arguments of this process; returns its exit code."""
    from ._engine import command

    return command(["retrograde", *sys.argv[1:]], [sys.executable, "-m", "retrograde"])


if __name__ == "__main__":
    sys.exit(main())
