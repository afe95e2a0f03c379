"""What the texts of a source must not hold: credentials (decision S3), and line breaks where one line is due.

A credential is what the core redaction patterns find, but for mere paths.
"""

from __future__ import annotations

import unicodedata
from typing import TYPE_CHECKING, Any

from segue.base.redaction import Field, scan, scan_text
from segue.sources.problems import Problem

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_PATH = "abs-path"  # which lets nobody in


def credentials(found: Iterable[str], where: str, text: str = "") -> list[Problem]:
    """Return one problem for each kind of credential in the texts; `text`, if given, is searched too, for its line."""
    fields = [Field(where, each, True) for each in (*found, text)]
    labels = dict.fromkeys(each.label for each in scan(fields, core_only=True) if each.label != _PATH)
    return [
        Problem(
            rule=f"credential.{label}",
            message=f"it holds what looks like a credential ({label}); sources carry none",
            where=where,
            line=_line(label, text),
            refused=True,
        )
        for label in labels
    ]


def is_one_line(text: str) -> bool:
    """Whether a text has neither a line break of any kind nor a control character, nor half a character."""
    return not any(unicodedata.category(char) in ("Cc", "Zl", "Zp", "Cs") for char in text)


def texts(value: Any) -> Iterator[str]:
    """Yield every text in a value of lists and mappings, keys included."""
    pending = [value]
    while pending:
        each = pending.pop()
        if isinstance(each, str):
            yield each
        elif isinstance(each, dict):
            pending.extend(each)
            pending.extend(each.values())
        elif isinstance(each, list):
            pending.extend(each)


def _line(label: str, text: str) -> int | None:
    lines = enumerate(text.split("\n"), 1)
    return next((number for number, line in lines if label in _labels(line)), None)


def _labels(line: str) -> list[str]:
    return [each.label for each in scan_text(line, core_only=True)]
