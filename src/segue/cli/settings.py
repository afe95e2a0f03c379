"""What a user has set about hosts: in `config.toml` in Segue's home folder, and in variables of the environment."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from segue.base import files, redaction
from segue.base.errors import InvalidInput
from segue.client.credentials import HOST_VARIABLE
from segue.services.configuration import CONFIG_FILE

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from segue.client.credentials import Wanted

DEFAULT_TIMEOUT = 30
_MOST = 1 << 20
_PLACES: tuple[Wanted, ...] = ("auto", "file", "keyring")


@dataclass(frozen=True, slots=True)
class Settings:
    """The host that is meant ("" for none), where tokens are kept, and how long a request may take, in seconds."""

    host: str = ""
    credentials: Wanted = "auto"
    timeout: int = DEFAULT_TIMEOUT

    def shown(self) -> dict[str, str]:
        """Return what is set as texts, by key."""
        return {"credentials": self.credentials, "host": self.host, "timeout": str(self.timeout)}


def file(home: Path) -> Path:
    """Return the file that holds the settings."""
    return home / CONFIG_FILE


def read(home: Path, environment: Mapping[str, str] = os.environ) -> Settings:
    """Return what is set. Raises InvalidInput `config.invalid`, `host.invalid`."""
    import tomllib

    raw = _bytes(file(home))
    try:
        document = tomllib.loads(raw.decode("utf-8"))
    except (ValueError, RecursionError):
        raise InvalidInput("config.invalid", f"{file(home)} is no TOML") from None
    given = {key: document[key] for key in _READERS if key in document}
    if environment.get(HOST_VARIABLE):
        given["host"] = environment[HOST_VARIABLE]
    return Settings(**{key: _READERS[key](value) for key, value in given.items()})


def require_key(key: str) -> str:
    """Return a key that there is. Raises InvalidInput `config.unknown`, which lists the keys."""
    if key not in _READERS:
        raise InvalidInput(
            "config.unknown", f"no such key '{redaction.shown(key, 40)}'; there are {', '.join(sorted(_READERS))}"
        )
    return key


def put(home: Path, key: str, text: str) -> None:
    """Set a key, an empty text takes it away. All else in the file stays as it is. Raises InvalidInput `config.…`."""
    from segue.hosts import toml_editor

    require_key(key)
    path = file(home)
    raw = _bytes(path)
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
    return _READERS[key](text)


def _bytes(path: Path) -> bytes:
    return files.read_bytes(path, _MOST) if path.exists() else b""


def _host(value: Any) -> str:
    from segue.client.addresses import normalised

    if not isinstance(value, str):
        raise _wrong("host", "is a text")
    return normalised(value) if value.strip() else ""


def _credentials(value: Any) -> Wanted:
    for each in _PLACES:
        if value == each:
            return each
    raise _wrong("credentials", "is auto, file or keyring")


def _timeout(value: Any) -> int:
    written = str(value) if isinstance(value, str | int) and not isinstance(value, bool) else ""
    seconds = int(written) if written.isascii() and written.isdigit() and len(written) < 4 else 0
    if not 1 <= seconds <= 600:
        raise _wrong("timeout", "is 1 to 600 whole seconds")
    return seconds


def _wrong(key: str, rule: str) -> InvalidInput:
    return InvalidInput("config.invalid", f"{key} {rule}")


_READERS: dict[str, Callable[[Any], Any]] = {"host": _host, "credentials": _credentials, "timeout": _timeout}
