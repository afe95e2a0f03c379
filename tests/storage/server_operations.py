"""What is killed at each of its writes: deeds of people on a server, and a sync (see `killing`)."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import httpx2  # noqa: F401 - imported here, so that no fork has to
import killing

import segue
from segue.client.contract import PacketServer
from segue.services import hub, invites, mirroring, publishing, syncing, visiting  # noqa: F401

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from segue.services.callers import Caller

TOKENS = "tokens.json"
TEAM = "bakers"


def named(folder: Path) -> dict[str, Any]:
    """What the template says: tokens, the code of an invite."""
    return dict(json.loads((folder / TOKENS).read_text("utf-8")))


def caller(opened: segue.Segue, folder: Path) -> Caller:
    """The owner of the team."""
    return opened.accounts.authenticate(named(folder)["owner"])


def accept(folder: Path, _: str, acknowledge: Callable[[], None]) -> None:
    with segue.open(folder / "segue.db") as opened:
        opened.invites.accept(named(folder)["code"], display="Newcomer")
        acknowledge()


def move(folder: Path, _: str, acknowledge: Callable[[], None]) -> None:
    with segue.open(folder / "segue.db") as opened:
        opened.hub.move(caller(opened, folder), "packet-0001", TEAM)
        acknowledge()


def publish(folder: Path, _: str, acknowledge: Callable[[], None]) -> None:
    with segue.open(folder / "segue.db") as opened:
        opened.publishing.publish(caller(opened, folder), "packet-0001")
        acknowledge()


def offboard(folder: Path, _: str, acknowledge: Callable[[], None]) -> None:
    with segue.open(folder / "segue.db") as opened:
        opened.accounts.offboard("Member")
        acknowledge()


def sync(folder: Path, location: str, acknowledge: Callable[[], None]) -> None:
    """Save a packet here and sync with the server at `location`: its address and a token."""
    address, token = location.split()
    with segue.open(folder / "segue.db", directory=folder) as opened:
        opened.packets.save(killing.DRAFT | {"id": killing.new_id(folder), "created_at": killing.CREATED})
        host = PacketServer(address, token)
        opened.syncing.sync(host)
        host.close()
        acknowledge()
