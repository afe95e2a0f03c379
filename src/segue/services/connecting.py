"""The host that is meant, and the token that goes along: `config.toml` in Segue's home folder, and the environment."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from segue.base import files
from segue.base.errors import InvalidInput, Refused
from segue.client.credentials import HOST_VARIABLE
from segue.services.configuration import CONFIG_FILE

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from segue.client.contract import PacketServer
    from segue.client.credentials import Credentials, Wanted

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


def raw(home: Path) -> bytes:
    """Return what the file of settings holds, nothing where there is none. Raises InvalidInput `file.read`."""
    path = file(home)
    return files.read_bytes(path, _MOST) if path.exists() else b""


def read(home: Path, environment: Mapping[str, str]) -> Settings:
    """Return what is set. Raises InvalidInput `config.invalid`, `host.invalid`."""
    import tomllib

    try:
        document = tomllib.loads(raw(home).decode("utf-8"))
    except (ValueError, RecursionError):
        raise InvalidInput("config.invalid", f"{file(home)} is no TOML") from None
    given = {key: document[key] for key in READERS if key in document}
    if environment.get(HOST_VARIABLE):
        given["host"] = environment[HOST_VARIABLE]
    return Settings(**{key: READERS[key](value) for key, value in given.items()})


def configured(home: Path, environment: Mapping[str, str]) -> Settings:
    """Return the settings, with a host. Raises InvalidInput `host.missing`, and what `read` raises."""
    found = read(home, environment)
    if not found.host:
        raise InvalidInput("host.missing", "no host is set; `segue auth HOST` signs you in at one")
    return found


def credentials(home: Path, environment: Mapping[str, str], given: Settings | None = None) -> Credentials:
    """Return the user's tokens."""
    from segue.client.credentials import Credentials, system_keyring

    wanted = (given or read(home, environment)).credentials
    keyring = None if wanted == "file" else system_keyring()
    return Credentials(home, environment=environment, keyring=keyring, wanted=wanted)


def connected(home: Path, environment: Mapping[str, str]) -> PacketServer:
    """Return the configured host with its token. Raises InvalidInput `host.missing`, Refused `auth.missing`."""
    from segue.client.contract import PacketServer

    found = configured(home, environment)
    credential = credentials(home, environment, found).get(found.host)
    if credential is None:
        raise Refused("auth.missing", f"there is no token for {found.host}; `segue auth {found.host}` takes one")
    return PacketServer(found.host, credential.token, timeout=found.timeout)


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


READERS: dict[str, Callable[[Any], Any]] = {"host": _host, "credentials": _credentials, "timeout": _timeout}
