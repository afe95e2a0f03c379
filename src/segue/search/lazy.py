"""A value that is made when it is first asked for, once, however many threads ask."""

from __future__ import annotations

from threading import Lock
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

T = TypeVar("T")


class Lazy(Generic[T]):
    """Calling it returns the value; `made` is that or None, and never waits."""

    def __init__(self, make: Callable[[], T]) -> None:
        """`make` returns the value. An exception is raised to who asked, and the next one tries again."""
        self._make: Callable[[], T] | None = make
        self._lock = Lock()
        self.made: T | None = None

    def __call__(self) -> T:
        """Return the value."""
        with self._lock:
            if self._make is not None:
                self.made = self._make()
                self._make = None  # lets go of what it was made from
        return self.made  # type: ignore[return-value]
