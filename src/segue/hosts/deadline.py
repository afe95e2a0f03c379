"""A time after which a hook ends whatever it is doing: no host waits for Segue."""

from __future__ import annotations

import contextlib
import os
import signal
import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_GRACE = 1.0  # seconds, for what does not hear the alarm


class Expired(BaseException):
    """The time is up. No error of Segue's: nothing on the way may take it for one and go on."""


@contextlib.contextmanager
def limited(seconds: float, last_words: Callable[[], None]) -> Iterator[None]:
    """Raise Expired in the block after that time; where that is not heard, say `last_words` and end the process.

    The alarm lets go of files, locks and programs that were started. It is heard in the main thread only, on systems
    that have it.
    """
    guard = threading.Timer(seconds + _GRACE, _end, (last_words,))
    guard.daemon = True
    guard.start()
    alarmed = hasattr(signal, "setitimer") and threading.current_thread() is threading.main_thread()
    before = signal.signal(signal.SIGALRM, _expire) if alarmed else None
    try:
        if alarmed:
            signal.setitimer(signal.ITIMER_REAL, seconds)
        yield
    finally:
        if alarmed:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, before)
        guard.cancel()


def _expire(_number: int, _frame: object) -> None:
    raise Expired


def _end(last_words: Callable[[], None]) -> None:
    with contextlib.suppress(Exception):
        last_words()
    os._exit(0)
