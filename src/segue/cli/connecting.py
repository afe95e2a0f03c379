"""The host that commands talk to, and the token that goes along."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from segue.cli import settings
from segue.services import connecting

if TYPE_CHECKING:
    from segue.client.contract import PacketServer
    from segue.client.credentials import Credentials

Team = Annotated[str | None, typer.Option("--team", "-t", metavar="TEAM", help="In this team, not one's own packets.")]
TheTeam = Annotated[str, typer.Option("--team", "-t", metavar="TEAM", show_default=False, help="The team.")]


def home() -> Path:
    """Return the folder of Segue's own files."""
    from segue import location

    return location.home(os.environ)


def credentials(given: settings.Settings | None = None) -> Credentials:
    """Return the user's tokens."""
    return connecting.credentials(home(), os.environ, given)


def configured() -> settings.Settings:
    """Return the settings, with a host. Raises InvalidInput `host.missing`."""
    return connecting.configured(home(), os.environ)


def connected() -> PacketServer:
    """Return the configured host with its token. Raises InvalidInput `host.missing`, Refused `auth.missing`."""
    return connecting.connected(home(), os.environ)
