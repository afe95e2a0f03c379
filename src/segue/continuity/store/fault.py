"""What is wrong with a memory store: where, and how to mend it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from segue.base.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Iterable


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing that is wrong: its class, the file in the store, the line (from 1), what to do about it.

    A fault that does not block leaves the store usable (the soft limits of the index).
    """

    code: str
    file: str
    line: int
    message: str
    mend: str
    blocks: bool = True

    def to_json(self) -> dict[str, Any]:
        """Return `{"code", "severity", "file", "line", "message", "mend"}`."""
        return {
            "code": self.code,
            "severity": "error" if self.blocks else "warning",
            "file": self.file,
            "line": self.line,
            "message": self.message,
            "mend": self.mend,
        }


def require_none(faults: Iterable[Fault], said: str) -> None:
    """Raise InvalidInput `memory.invalid` where any of the faults blocks; `said` begins the message."""
    blocking = [each for each in faults if each.blocks]
    if not blocking:
        return
    first = blocking[0]
    more = f" (and {len(blocking) - 1} more; `segue continuity doctor` lists them)" if len(blocking) > 1 else ""
    raise InvalidInput(
        "memory.invalid",
        f"{said}: {first.file}, line {first.line}: {first.message}; {first.mend}{more}",
        {"memory_status": "invalid", "faults": [each.to_json() for each in blocking]},
    )
