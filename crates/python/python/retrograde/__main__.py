"""The ``retrograde`` command: the same as the Rust program of that name."""

import sys
import sysconfig
from pathlib import Path


def main() -> int:
    """Runs the command on the arguments of this process; returns its exit code."""
    from ._engine import command

    # Other programs are beside the script of this one: its interpreter may be elsewhere.
    folders = [Path(sys.argv[0]).resolve().parent, Path(sysconfig.get_path("scripts"))]
    return command(["retrograde", *sys.argv[1:]], folders)


if __name__ == "__main__":
    sys.exit(main())
