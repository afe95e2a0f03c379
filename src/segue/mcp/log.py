"""What goes to stderr, written on a thread of its own: a host that does not read it must not stop the server."""

from __future__ import annotations

import contextlib
import logging
import os
import queue
import threading
import time

_MOST_LINES = 1_000
_DRAINED = 0.2  # seconds at the end


class Log(logging.Handler):
    """Writes each record to a file's handle, in order; what finds no room any more is dropped."""

    def __init__(self, handle: int) -> None:
        super().__init__()
        self._handle = handle
        self._lines: queue.Queue[bytes] = queue.Queue(_MOST_LINES)
        threading.Thread(target=self._write, name="log", daemon=True).start()

    def emit(self, record: logging.LogRecord) -> None:
        line = f"{self.format(record)}\n".encode("utf-8", "backslashreplace")
        with contextlib.suppress(queue.Full):
            self._lines.put_nowait(line)

    def _write(self) -> None:
        while True:
            line = self._lines.get()
            with contextlib.suppress(OSError):
                while line:
                    line = line[os.write(self._handle, line) :]
            self._lines.task_done()

    def drain(self) -> None:
        """Wait until all is written, but not for long."""
        deadline = time.monotonic() + _DRAINED
        while self._lines.unfinished_tasks and time.monotonic() < deadline:
            time.sleep(0.005)
