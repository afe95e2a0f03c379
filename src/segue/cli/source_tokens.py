"""Tokens for the addresses of sources: asked for, kept for one address each, and never shown."""

from __future__ import annotations

import getpass
import sys
from typing import TYPE_CHECKING

from segue.base.errors import Refused
from segue.cli import connecting, output
from segue.cli.arguments import Usage
from segue.services import connecting as connections

if TYPE_CHECKING:
    from segue.client.credentials import Credentials

_MOST = 4_096


def require_hidden(option: str | None) -> None:
    """Raise Usage for a token that stands on the command line, where other programs see it."""
    if option not in (None, "-"):
        raise Usage("--bearer takes `-` alone: other programs see what stands on the command line")


def given(option: str | None, place: str) -> str:
    """Return the token that `--bearer -` is for, "" without the option.

    Raises Usage as `require_hidden` does, InvalidInput `token.invalid`.
    """
    require_hidden(option)
    if option is None:
        return ""
    from segue.client.credentials import checked

    if output.is_terminal():
        # It hides what is typed before it asks, and so all of it.
        return checked(getpass.getpass(f"Token for {place}: ", stream=sys.stderr))
    if sys.stdin is None:
        raise Refused("auth.no_terminal", "there is no terminal to ask on; give the token on standard input")
    return checked(sys.stdin.buffer.read(_MOST).decode("utf-8", "replace"))


def kept(place: str) -> str:
    """Return the token that is kept for an address, "" where there is none."""
    found = _tokens().get(place) if "://" in place else None
    return found.token if found is not None else ""


def keep(place: str, token: str) -> None:
    """Keep a token for an address, in the place of another."""
    _tokens().put(place, token)


def drop(place: str) -> None:
    """Forget the token for an address, where there is one."""
    if "://" in place:
        _tokens().drop(place)


def _tokens() -> Credentials:
    """The user's tokens. The variable SEGUE_TOKEN is for a packet server, and no token of a source."""
    return connections.credentials(connecting.home(), {})
