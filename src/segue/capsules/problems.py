"""What is wrong with a text that should be a capsule, and where."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

# A file of megabytes can break one rule on each line; a person mends the first few and checks again.
_LISTED = 20


@dataclass(frozen=True, slots=True)
class Problem:
    """One broken rule (`C1` to `C12`), its place (line and column from 1), and how to mend it."""

    code: str
    line: int
    column: int
    message: str

    def to_json(self) -> dict[str, Any]:
        """Return `{"code", "line", "column", "message"}`."""
        return {"code": self.code, "line": self.line, "column": self.column, "message": self.message}


@dataclass(slots=True)
class Problems:
    """Collects problems while a text is read; of one rule it lists the first twenty and counts the others."""

    found: list[Problem] = field(default_factory=list)
    counts: dict[str, int] = field(default_factory=dict)

    def add(self, code: str, line: int, column: int, message: str) -> None:
        """Note one problem."""
        count = self.counts.get(code, 0) + 1
        self.counts[code] = count
        if count <= _LISTED:
            self.found.append(Problem(code, line, column, message))

    def in_order(self) -> tuple[Problem, ...]:
        """Return the listed problems by place, and by number of the rule where places are equal."""
        return tuple(sorted(self.found, key=lambda it: (it.line, it.column, rule_number(it.code))))

    def unlisted(self) -> list[str]:
        """Return one sentence for each rule that has more problems than are listed."""
        return [
            f"{code}: {count - _LISTED} more places are not listed; mend these and check again"
            for code, count in sorted(self.counts.items(), key=lambda it: rule_number(it[0]))
            if count > _LISTED
        ]


def rule_number(code: str) -> int:
    """Return the number of a rule: 7 for `C7`."""
    return int(code[1:])


def quote(text: str, width: int = 24) -> str:
    """Return the beginning of `text` for a message: printable ASCII in quotes, never at length."""
    return ascii(text if len(text) <= width else text[: width - 3] + "...")
