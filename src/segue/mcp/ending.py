"""The end of the process: soon after its client is gone, whatever is still running.

Where all is closed, nothing is left to do but to take the interpreter apart, which takes as long as starting it.
"""

from __future__ import annotations

import contextlib
import os
import sys
import threading
from typing import NoReturn

_GRACE = 0.6  # seconds; a write that is cut off is undone by the database


def end_soon(code: int = 0) -> None:
    """End this process after a moment, unless it ends by itself before.

    A call that runs on a thread cannot be stopped, and nobody waits for its answer any more.
    """
    timer = threading.Timer(_GRACE, os._exit, (code,))
    timer.daemon = True
    timer.start()


def end_now(code: int = 0) -> NoReturn:
    """End this process, everything being closed."""
    with contextlib.suppress(OSError, ValueError):
        sys.stderr.flush()
    os._exit(code)
