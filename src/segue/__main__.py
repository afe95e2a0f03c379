"""The command `segue`."""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command line with the process's arguments and end the process with its exit code."""
    from segue.cli.main import run

    sys.exit(run(sys.argv[1:]))


if __name__ == "__main__":
    main()
