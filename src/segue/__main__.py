"""The command `segue`."""

from __future__ import annotations

import gc
import sys


def main() -> None:
    """Run the command line with the process's arguments and end the process with its exit code."""
    gc.set_threshold(50_000)  # what loading makes mostly stays: to look through it every 700 objects is time lost
    from segue.cli.main import run

    sys.exit(run(sys.argv[1:]))


if __name__ == "__main__":
    main()
