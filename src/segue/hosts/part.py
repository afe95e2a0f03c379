"""What Segue puts into one file of a host: the entry of its server, or its hooks. All pure: bytes in, bytes out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Protocol

from segue.base import untrusted

PROGRAMS = frozenset({"segue", "segue.exe", "segue.cmd", "segue.bat"})

_LONGEST_PROGRAM = 200

Kind = Literal["server", "hooks"]


@dataclass(frozen=True, slots=True)
class Found:
    """What a file holds of a part.

    `is_there`: something stands at its place; `is_ours`: it starts Segue, perhaps from another path or with more keys.
    `program` is what it starts, without arguments (these may hold secrets); of several programs one that is not to be
    written. `hooks` names the hooks. Both come from the file: show them as untrusted text. `note` says what keeps it
    from working.
    """

    is_there: bool
    is_ours: bool
    program: str = ""
    hooks: tuple[str, ...] = ()
    note: str = ""

    @property
    def shown_program(self) -> str:
        """The program as it may be shown to people: not at any length."""
        return untrusted.shorten(self.program, _LONGEST_PROGRAM)


class Part(Protocol):
    """One part, with the program that it is to start. Each method raises Unreadable for a text that it cannot edit."""

    @property
    def kind(self) -> Kind:
        """Which part it is."""

    @property
    def program(self) -> str:
        """The program that is written."""

    @property
    def is_empty(self) -> bool:
        """Whether nothing is to be written: what is there already is to go."""

    def look(self, raw: bytes) -> Found:
        """Return what `raw` holds of the part."""

    def put(self, raw: bytes, origin: bytes | None = None) -> bytes:
        """Return `raw` with the part in it; what is there of it already is brought up to date.

        `origin` is the text from before the part was put in first, if known: for what goes.
        """

    def drop(self, raw: bytes, origin: bytes | None) -> bytes | None:
        """Return `raw` without the part, None where nothing is left; `origin` is the text from before, if known."""

    def is_only_change(self, raw: bytes, origin: bytes) -> bool:
        """Whether `raw` is what an installation of the part as `raw` holds it makes of `origin`."""

    def differs(self, raw: bytes) -> bool:
        """Whether an installation with the hooks that `raw` holds would change it."""


def is_program(word: object, program: str) -> bool:
    """Whether a word of a command starts Segue: `program` itself, or one of its name in whatever folder."""
    if not isinstance(word, str):
        return False
    return word == program or word.replace("\\", "/").rsplit("/", 1)[-1].lower() in PROGRAMS
