"""Where a store is: the file of an embedded one, told from a path or a URL without loading a database."""

from __future__ import annotations

import re
from pathlib import Path

from segue.base.errors import Failed, InvalidInput

_LOCATIONS = "give a path, sqlite:///FILE or postgresql+psycopg://USER@HOST/NAME"
_MISSPELT = re.compile(r"(?:sqlite|postgres(?:ql)?)(?:\+\w+)?:/{0,1}[^/]", re.IGNORECASE)


def embedded_path(location: str | Path) -> Path | None:
    """Return the file that a path or `sqlite:///FILE` names, None for another URL.

    Raises Failed `store.cannot_open`, InvalidInput `store.url` for what looks like a misspelt URL.
    """
    text = str(location)
    if "://" in text and not text.startswith("sqlite:///"):
        return None
    if _MISSPELT.match(text):
        raise InvalidInput("store.url", f"this looks like a URL with a slash too few; {_LOCATIONS}")
    path = Path(text.removeprefix("sqlite:///"))
    try:
        return path.expanduser().absolute()
    except RuntimeError:
        raise Failed("store.cannot_open", f"cannot open {path}: that user has no home folder") from None
