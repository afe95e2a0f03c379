"""What reaches the terminal: data on stdout, everything for people on stderr, nothing unescaped."""

from __future__ import annotations

import contextlib
import json
import os
import sys
from typing import TYPE_CHECKING, Any, TextIO

from segue.base.untrusted import visible

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


def data(text: str) -> None:
    """Print text for people or programs on stdout; control and invisible characters show escaped."""
    print(visible(text))


def stored_bytes(body: bytes) -> None:
    """Print stored bytes as they are; on a terminal, characters that act on it appear as JSON escapes."""
    if sys.stdout.isatty():
        shown = (char if char == "\n" or visible(char) == char else _json_escape(char) for char in body.decode())
        print("".join(shown))
    else:
        sys.stdout.flush()
        sys.stdout.buffer.write(body + b"\n")


def _json_escape(char: str) -> str:
    return json.dumps(char)[1:-1]


def as_json(value: Any) -> None:
    """Print a value as JSON on stdout, non-ASCII characters escaped (so that it is safe on any terminal)."""
    print(json.dumps(value, indent=2))


def note(text: str) -> None:
    """Print a line for people on stderr, behind what stdout holds already."""
    if sys.stdout is not None:
        sys.stdout.flush()
    with people_may_be_gone():
        print(visible(text), file=sys.stderr, flush=True)


def prompt(text: str) -> None:
    """Print what a person is asked on stderr, and stay on the line."""
    sys.stdout.flush()
    print(visible(text), end="", file=sys.stderr, flush=True)


@contextlib.contextmanager
def people_may_be_gone() -> Iterator[None]:
    """Let writing to stderr fail in silence inside the block: what a command does must not depend on its readers."""
    try:
        yield
    except OSError:
        abandon(sys.stderr)


def abandon(stream: TextIO) -> None:
    """Point a stream that takes no more at nothing, so that the interpreter's last flush is silent."""
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def notes(lines: Iterable[str]) -> None:
    """Print lines for people on stderr."""
    for line in lines:
        note(line)


@contextlib.contextmanager
def echoed(as_json: bool) -> Iterator[None]:
    """Show the writer what a refusal found; nobody else (decisions C-9 and P5)."""
    from segue.base.redaction import RedactionRefused

    try:
        yield
    except RedactionRefused as error:
        if not as_json:
            notes(f"  • {finding.kind}: {finding.found}" for finding in error.findings)
        raise


def counted(number: int, noun: str, nouns: str = "") -> str:
    """Return a number with its noun, in the plural where that is meant: `1 memory`, `1,200 memories`."""
    return f"{number:,} {noun if number == 1 else nouns or noun + 's'}"


def is_terminal() -> bool:
    """Whether a person can be asked: stdin and stdout are a terminal."""
    return bool(sys.stdin and sys.stdin.isatty() and sys.stdout and sys.stdout.isatty())
