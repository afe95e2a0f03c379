"""The demonstration: two recorded sessions are saved, listed, followed and resumed, by the commands themselves."""

from __future__ import annotations

import contextlib
import io
import os
from typing import TYPE_CHECKING

from segue import examples
from segue.base.errors import Failed
from segue.cli import output
from segue.location import current_directory

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_STORY = (
    ("Monday, on one machine: a session ends. Its packet is saved.", ["save", examples.FIRST]),
    (
        "Tuesday, with another model: the work went on. The second packet continues the first.",
        ["save", examples.SECOND],
    ),
    ("What is stored:", ["ls", "--now", "2026-09-16T08:00:00Z"]),
    ("How the sessions follow one another:", ["chain", "4KFGD7SB", "--now", "2026-09-16T08:00:00Z"]),
    ("Wednesday, anywhere: the next session begins with this block.", ["resume", "4KFGD7SB"]),
)


def run(folder: Path, *, as_json: bool) -> int:
    """Run the demonstration with `folder` as home and working folder. Raises Failed where a step does not succeed."""
    steps = []
    for name in (examples.FIRST, examples.SECOND):
        (folder / name).write_bytes(examples.read(name))
    with _inside(folder):
        for title, arguments in _STORY:
            text = _command(arguments)
            steps.append({"title": title, "command": "segue " + " ".join(_shown(arguments)), "output": text})
            if not as_json:
                output.data(f"# {title}\n$ {steps[-1]['command']}\n{text}")
    if as_json:
        output.as_json({"steps": steps})
    else:
        output.note("That was real: five commands on a store that is gone now. Next: segue hosts install claude-code")
    return 0


def _shown(arguments: list[str]) -> list[str]:
    return [each for each in arguments if each != "--now" and not each.startswith("2026-")]


def _command(arguments: list[str]) -> str:
    from segue.cli.main import run as run_command

    caught = io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True)
    with contextlib.redirect_stdout(caught):
        code = run_command(arguments)
    if code != 0:
        raise Failed("demo.failed", f"`segue {' '.join(arguments)}` ended with {code}; see the message above")
    return caught.buffer.getvalue().decode()


@contextlib.contextmanager
def _inside(folder: Path) -> Iterator[None]:
    kept = {name: os.environ.get(name) for name in ("SEGUE_HOME", "SEGUE_DB")}
    before = current_directory()
    os.environ["SEGUE_HOME"] = str(folder / "home")
    os.environ.pop("SEGUE_DB", None)
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)
        for name, value in kept.items():
            os.environ.pop(name, None) if value is None else os.environ.update({name: value})
