"""Tokens, each bound to the host that it is for: in a file that only its owner reads, or in the system's keyring."""

from __future__ import annotations

import hashlib
import importlib
import os
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, Protocol

from segue.base import files, jsontext
from segue.base.errors import Failed, InvalidInput
from segue.client.addresses import normalised

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

Place = Literal["file", "keyring", "environment"]
Wanted = Literal["auto", "file", "keyring"]

FILE = "credentials.json"
SERVICE = "segue"
HOST_VARIABLE = "SEGUE_HOST"
TOKEN_VARIABLE = "SEGUE_TOKEN"  # noqa: S105 - the variable's name
_MOST = 1 << 20
_MAX_TOKEN = 512


@dataclass(frozen=True, slots=True)
class Credential:
    """The token for a host, and where it lies. Shown, it has its fingerprint alone."""

    host: str
    token: str = field(repr=False)
    place: Place

    @property
    def fingerprint(self) -> str:
        """The first eight hex digits of the token's SHA-256."""
        return hashlib.sha256(self.token.encode()).hexdigest()[:8]


class Keyring(Protocol):
    """The three calls of the `keyring` library that are needed."""

    def get_password(self, service_name: str, username: str) -> str | None: ...
    def set_password(self, service_name: str, username: str, password: str) -> None: ...
    def delete_password(self, service_name: str, username: str) -> None: ...


def system_keyring() -> Keyring | None:
    """Return the system's keyring, None where the `keyring` library is not installed or has nothing to keep it in."""
    try:
        backend: Any = importlib.import_module("keyring").get_keyring()
        return backend if backend.priority > 0 else None
    except Exception:  # noqa: BLE001 - its backends raise what they like, and then there is no keyring
        return None


class Credentials:
    """The tokens of one user, under Segue's home folder `home`.

    `environment` may give one for a single run: SEGUE_TOKEN, for the host that SEGUE_HOST names. `wanted` says where
    new ones are kept: auto is the keyring where there is one.
    """

    def __init__(
        self,
        home: Path,
        *,
        environment: Mapping[str, str],
        keyring: Keyring | None = None,
        wanted: Wanted = "auto",
    ) -> None:
        self._path = home / FILE
        self._environment = environment
        self._keyring = keyring
        self._wanted = wanted

    def get(self, host: str) -> Credential | None:
        """Return the token for a host, in the one spelling of `addresses.normalised`, None where there is none.

        Raises Failed `credentials.unreadable`, `keyring.failed`; InvalidInput `token.invalid`.
        """
        given = self._from_environment(host)
        if given is not None:
            return given
        entry = self._read().get(host)
        if entry is None:
            return None
        if entry:
            return Credential(host, checked(entry), "file")
        found = self._ring("read", lambda ring: ring.get_password(SERVICE, host))
        return Credential(host, checked(found), "keyring") if found else None

    def _from_environment(self, host: str) -> Credential | None:
        token, named = self._environment.get(TOKEN_VARIABLE), self._environment.get(HOST_VARIABLE)
        if not token:
            return None
        if not named:
            raise InvalidInput("token.unbound", f"{TOKEN_VARIABLE} needs {HOST_VARIABLE}: a token is for one host")
        return Credential(host, checked(token), "environment") if normalised(named) == host else None

    def put(self, host: str, token: str) -> Place:
        """Keep the token for a host in the place of another, and return where.

        Raises InvalidInput `token.invalid`, Failed `keyring.missing`, `keyring.failed`, `file.write`.
        """
        token = checked(token)
        place = self._place()
        if place == "keyring":
            self._ring("write", lambda ring: ring.set_password(SERVICE, host, token))
        # What lies in the keyring is named here without its token: a keyring cannot be listed.
        self._write(self._read() | {host: "" if place == "keyring" else token})
        return place

    def prepare(self) -> None:
        """Make sure that a token could be kept, before one is made that is told once.

        Raises Failed `credentials.unreadable`, `keyring.missing`, `file.write`.
        """
        self._place()
        self._write(self._read())

    def _place(self) -> Place:
        if self._wanted == "keyring" and self._keyring is None:
            raise Failed("keyring.missing", "there is no keyring here; install `keyring`, or set credentials to file")
        return "keyring" if self._keyring is not None and self._wanted != "file" else "file"

    def drop(self, host: str) -> bool:
        """Forget the token for a host; return whether there was one. Raises Failed `keyring.failed`, `file.write`."""
        kept = self._read()
        if host not in kept:
            return False
        if not kept.pop(host):
            self._ring("delete", lambda ring: ring.delete_password(SERVICE, host))
        self._write(kept)
        return True

    def hosts(self) -> tuple[str, ...]:
        """Return the hosts that a token is kept for."""
        return tuple(sorted(self._read()))

    def _ring(self, what: str, call: Any) -> Any:
        if self._keyring is None:
            raise Failed("keyring.missing", "the token lies in the system's keyring, and there is none here")
        try:
            return call(self._keyring)
        except Exception as error:  # noqa: BLE001 - its backends raise what they like, at times with the secret
            raise Failed("keyring.failed", f"the keyring could not {what} it ({type(error).__name__})") from None

    def _read(self) -> dict[str, str]:
        try:
            mode = self._path.stat().st_mode
        except FileNotFoundError:
            return {}
        except OSError:
            raise self._unreadable("cannot be read") from None
        if os.name == "posix" and mode & 0o077:
            raise self._unreadable("may be read by others on this machine")
        try:
            document = jsontext.parse(files.read_bytes(self._path, _MOST))
        except InvalidInput:
            raise self._unreadable("cannot be read") from None
        hosts = document.get("hosts") if isinstance(document, dict) else None
        if not isinstance(hosts, dict) or not all(isinstance(each, str) for each in hosts.values()):
            raise self._unreadable("does not hold credentials")
        return hosts

    def _write(self, hosts: dict[str, str]) -> None:
        files.write_bytes(self._path, jsontext.dump({"hosts": hosts}, indent=True, sort_keys=True) + b"\n", mode=0o600)

    def _unreadable(self, why: str) -> Failed:
        return Failed("credentials.unreadable", f"{self._path} {why}; delete it, and `segue auth` makes a new one")


def checked(token: str) -> str:
    """Return a token without white space around it. Raises InvalidInput `token.invalid`."""
    token = token.strip()
    if not 8 <= len(token) <= _MAX_TOKEN or not token.isascii() or not token.isprintable() or " " in token:
        raise InvalidInput(
            "token.invalid", "that is no token: it has 8 letters, digits or signs at least, and no space"
        )
    return token
