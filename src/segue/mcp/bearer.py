"""The token of the local HTTP endpoint: made at the first start, kept in a file that only its owner reads."""

from __future__ import annotations

import contextlib
import os
import re
import secrets
from dataclasses import dataclass
from typing import TYPE_CHECKING

from segue.base import files
from segue.base.errors import Failed, InvalidInput

if TYPE_CHECKING:
    from pathlib import Path

FILE = "mcp-token"
_BYTES = 32
_MOST = 1_000
_WRITTEN = re.compile(rb"[A-Za-z0-9_-]{43}\n?")


@dataclass(frozen=True, slots=True)
class Token:
    """The token, the file that holds it, and whether it was made just now."""

    value: str
    path: Path
    new: bool


def token(home: Path) -> Token:
    """Return the token of `home`, making it where there is none. Raises Failed `http.token`, `file.write`."""
    path = home / FILE
    made = not path.exists() and _make(path)
    return Token(_read(path), path, made)


def _make(path: Path) -> bool:
    """Write a new token. Of two starts at the same time one writes it, and both use that one."""
    prepared = path.with_name(files.partial_name(path.name))
    files.write_bytes(prepared, f"{secrets.token_urlsafe(_BYTES)}\n".encode())
    try:
        os.link(prepared, path)
    except FileExistsError:
        return False
    except OSError as error:
        raise Failed("http.token", f"could not write {path}: {error.strerror or error}") from None
    finally:
        with contextlib.suppress(OSError):
            prepared.unlink()
    return True


def _read(path: Path) -> str:
    try:
        body = files.read_bytes(path, _MOST)
        open_to_others = os.name == "posix" and path.stat().st_mode & 0o077
    except (InvalidInput, OSError):
        raise Failed("http.token", f"cannot read {path}; delete it, and the next start makes a new one") from None
    if open_to_others:
        said = "others on this machine may read it; delete it, and the next start makes a new one"
        raise Failed("http.token", f"{path}: {said}")
    if not _WRITTEN.fullmatch(body):
        raise Failed("http.token", f"{path} holds no token; delete it, and the next start makes a new one")
    return body.decode().strip()
