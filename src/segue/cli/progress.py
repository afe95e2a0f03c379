"""How far something long has come, for people who watch: on stderr, gone when it is done."""

from __future__ import annotations

import contextlib
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


@contextlib.contextmanager
def shown(label: str) -> Iterator[Callable[[int, int], None] | None]:
    """Yield what is to be told how much of how much is done, None where nobody watches. `label` is safe to show."""
    if sys.stderr is None or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}", markup=False), BarColumn(), TaskProgressColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True, highlight=False), transient=True) as progress:
        task = progress.add_task(label, total=None)

        def tell(done: int, total: int) -> None:
            progress.update(task, completed=done, total=total or None)

        yield tell
