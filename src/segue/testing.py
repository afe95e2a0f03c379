"""For the tests of those who build on Segue: a store of its own for each test, and a clock that stands.

    pytest_plugins = ["segue.testing"]

    def test_it_remembers(segue_store):
        segue_store.memories.remember("The importer reads one record at a time.")
        assert segue_store.context.assemble("change the importer").refs

Without pytest, `store()` is the same as a context manager. The store lies in memory where the system has a folder for
that (`/dev/shm`), else in a temporary one, and is gone afterwards.
"""

from __future__ import annotations

import contextlib
import os
import tempfile
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import segue

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from segue.app import Segue

START = datetime(2026, 1, 1, 12, 0, tzinfo=UTC)
_IN_MEMORY = Path("/dev/shm")  # noqa: S108 - a folder of the test's own is made in it


class FakeClock:
    """A clock that stands until it is moved; give it to `segue.open(clock=…)`."""

    def __init__(self, start: datetime = START) -> None:
        """Begin at `start`, which has an offset. Raises ValueError without one."""
        if start.tzinfo is None:
            raise ValueError("a clock needs a time with its offset from UTC")
        self._now = start

    def __call__(self) -> datetime:
        """Return the time that it is."""
        return self._now

    def advance(self, **by: float) -> datetime:
        """Move on by what `timedelta` takes, such as `days=1`, and return the time that it is then."""
        self._now += timedelta(**by)
        return self._now


@contextlib.contextmanager
def store(clock: Callable[[], datetime] | None = None, *, embedder: str = "static") -> Iterator[Segue]:
    """Yield an empty store of its own, opened in an empty folder. `clock` is a `FakeClock` by default.

    What the user has set, such as profiles of his own, has no part in it.
    """
    where = _IN_MEMORY if os.access(_IN_MEMORY, os.W_OK) else None
    with tempfile.TemporaryDirectory(prefix="segue-", dir=where) as folder:
        here = Path(folder) / "work"
        here.mkdir()
        location = Path(folder) / "segue.db"
        own = segue.open(location, directory=here, clock=clock or FakeClock(), embedder=embedder, redaction="refuse")
        own._given = replace(own._given, home=lambda: Path(folder))
        with own as opened:
            yield opened


try:
    import pytest
except ImportError:  # whoever has no pytest uses `store`
    pass
else:

    @pytest.fixture
    def segue_clock() -> FakeClock:
        """A clock that stands at noon of 1 January 2026 in UTC."""
        return FakeClock()

    @pytest.fixture
    def segue_store(segue_clock: FakeClock) -> Iterator[Segue]:
        """An empty store of its own, which goes by `segue_clock`."""
        with store(segue_clock) as opened:
            yield opened
