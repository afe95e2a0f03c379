"""Tables as wide as the terminal. What identifies a row is never cut."""

from __future__ import annotations

import os
import shutil
from typing import TYPE_CHECKING

from segue.cli import output

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_LAST_WIDTH = 73
_MIDDLE_WIDTH = 28
_PIPE_WIDTH = 160
_LEAST_WIDTH = 20


def print_table(
    rows: Sequence[Mapping[str, str]], least: Mapping[str, int], *, empty: str, last: int = _LAST_WIDTH
) -> None:
    """Print rows, which all have the same columns, on stdout; the note `empty` on stderr where there are none.

    The first column is shown whole, the last one takes the room that is left, up to `last` cells. `least` says from
    which width of the terminal on a column in between is shown. The cells are safe to show already.
    """
    if not rows:
        output.note(empty)
        return
    from rich.cells import cell_len
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    # Left to itself Rich takes every dumb terminal for 80 columns wide, and COLUMNS=0 for none.
    width = max(shutil.get_terminal_size((_PIPE_WIDTH, 0)).columns, _LEAST_WIDTH)
    console = Console(highlight=False, width=width, height=25)
    fits = console.is_terminal or "COLUMNS" in os.environ
    table = Table(box=None, pad_edge=False, show_edge=False, padding=(0, 2, 0, 0), expand=fits)
    shown = [name for name in rows[0] if width >= least.get(name, 0)]
    for name in shown[:-1]:
        widest = max(len(name), *(cell_len(row[name]) for row in rows))
        limit = widest if name == shown[0] else min(widest, _MIDDLE_WIDTH)
        table.add_column(name, no_wrap=True, overflow="ellipsis", width=limit)
    table.add_column(shown[-1], no_wrap=True, overflow="ellipsis", ratio=1, max_width=last)
    for row in rows:
        table.add_row(*(Text(row[name], style="bold" if name == shown[0] else "") for name in shown))
    console.print(table)
