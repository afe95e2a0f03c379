"""The errors of Segue.

    SegueError
    ├── InvalidInput      a document or a value breaks its rules           exit 3
    ├── Refused           allowed in form, not permitted                   exit 4
    │   └── Conflict      what is stored already says otherwise            exit 4
    │       └── Stale     what is stored was changed meanwhile             exit 4
    ├── NotFound          nothing has that name                            exit 5
    │   ├── Ambiguous     more than one thing has that name                exit 5
    │   └── Gone          it was good once, and is not any more            exit 5
    └── Failed            the machine did not do it: disk, store, network  exit 1

Each carries a stable `code` (`packet.schema`), a message that says what to do, and `details`.
No message holds a secret: documents are named by field, never quoted at length.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping


class SegueError(Exception):
    """Base of all errors that Segue raises on purpose.

    `code` is stable and made for programs; `message` is made for people; `details` holds values
    that go with the code (always JSON-compatible).
    """

    exit_code = 1

    def __init__(self, code: str, message: str, details: Mapping[str, Any] | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.details: dict[str, Any] = dict(details or {})

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.code, self.message, self.details)


class InvalidInput(SegueError):
    """A document or a value breaks the rules of its format."""

    exit_code = 3


class Refused(SegueError):
    """The request is well formed and is not permitted (redaction, guard, consent, path, access)."""

    exit_code = 4


class Conflict(Refused):
    """What is stored already contradicts the request."""


class Stale(Conflict):
    """What is stored is another version than the one that the request is about."""


class NotFound(SegueError):
    """Nothing has that name, as far as the caller may know."""

    exit_code = 5


class Ambiguous(NotFound):
    """More than one thing answers to that name."""


class Gone(NotFound):
    """What had that name was used up, ran out or was taken back."""


class Failed(SegueError):
    """The machine did not do it: disk full, store not writable, a program that is missing."""
