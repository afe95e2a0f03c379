"""The command `segue`."""

from __future__ import annotations

import gc
import sys


def main() -> None:
    """Run the command line with the process's arguments and end the process with its exit code."""
    gc.set_threshold(50_000)  # what loading makes mostly stays: to look through it every 700 objects is time lost
    if sys.argv[1:2] == ["hook"]:  # before anything else is imported: a host waits for it at each prompt
        gc.disable()  # it ends before there is anything to collect
        from segue.hosts import hook

        sys.exit(hook.main(sys.argv[2:]))
    from segue.cli.main import run

    sys.exit(run(sys.argv[1:]))


if __name__ == "__main__":
    main()
