"""What a user has set about hosts, read and changed (see `segue.services.connecting`)."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from segue.base import files, redaction
from segue.base.errors import InvalidInput
from segue.services import connecting
from segue.services.connecting import READERS, Settings, file

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

__all__ = ["Settings", "file", "put", "read", "require_key"]


def read(home: Path, environment: Mapping[str, str] = os.environ) -> Settings:
    """Return what is set. Raises InvalidInput `config.invalid`, `host.invalid`."""
    return connecting.read(home, environment)


def require_key(key: str) -> str:
    """Return a key that there is. Raises InvalidInput `config.unknown`, which lists the keys."""
    if key not in READERS:
        raise InvalidInput(
            "config.unknown", f"no such key '{redaction.shown(key, 40)}'; there are {', '.join(sorted(READERS))}"
        )
    return key


def put(home: Path, key: str, text: str) -> None:
    """Set a key, an empty text takes it away. All else in the file stays as it is. Raises InvalidInput `config.…`."""
    from segue.hosts import toml_editor

    require_key(key)
    path, raw = file(home), connecting.raw(home)
    try:
        if not text:
            changed = toml_editor.drop(raw, (), key, raw)
        elif toml_editor.get(raw, (), key) is None:
            changed = _line(key, _written(key, text)) + raw
        else:
            changed = toml_editor.put(raw, (), key, _written(key, text))
    except ValueError as error:
        raise InvalidInput("config.invalid", f"{path} cannot be changed: {error}") from None
    files.write_bytes(path, changed or b"", mode=0o600)


def _line(key: str, value: object) -> bytes:
    return f'{key} = "{value}"\n'.encode() if isinstance(value, str) else f"{key} = {value}\n".encode()


def _written(key: str, text: str) -> Any:
    return READERS[key](text)
