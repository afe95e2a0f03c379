"""The host that commands talk to, and the token that goes along."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from segue.base.errors import InvalidInput, Refused
from segue.cli import settings

if TYPE_CHECKING:
    from segue.client.contract import PacketServer
    from segue.client.credentials import Credentials

Team = Annotated[str | None, typer.Option("--team", "-t", metavar="TEAM", help="In this team, not one's own packets.")]
TheTeam = Annotated[str, typer.Option("--team", "-t", metavar="TEAM", show_default=False, help="The team.")]


def home() -> Path:
    """Return the folder of Segue's own files."""
    from segue import app

    return app.home(os.environ)


def credentials(given: settings.Settings | None = None) -> Credentials:
    """Return the user's tokens."""
    from segue.client.credentials import Credentials, system_keyring

    folder = home()
    wanted = (given or settings.read(folder)).credentials
    keyring = None if wanted == "file" else system_keyring()
    return Credentials(folder, environment=os.environ, keyring=keyring, wanted=wanted)


def configured() -> settings.Settings:
    """Return the settings, with a host. Raises InvalidInput `host.missing`."""
    found = settings.read(home())
    if not found.host:
        raise InvalidInput("host.missing", "no host is set; `segue auth HOST` signs you in at one")
    return found


def connected() -> PacketServer:
    """Return the configured host with its token. Raises InvalidInput `host.missing`, Refused `auth.missing`."""
    from segue.client.contract import PacketServer

    found = configured()
    credential = credentials(found).get(found.host)
    if credential is None:
        raise Refused("auth.missing", f"there is no token for {found.host}; `segue auth {found.host}` takes one")
    return PacketServer(found.host, credential.token, timeout=found.timeout)
