"""A host that knows older versions of packets alone: nothing counts as accepted, and nothing is made older for it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

import segue
from client.scripted import Answer, Scripted
from segue.base.errors import InvalidInput
from segue.client.contract import PacketServer

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

UNKNOWN = Answer(400, {"error": 'unsupported ltm_version "0.2" (supported: 0.1)'})
NOBODY, NO_TEAMS, EMPTY = Answer(404, {"error": "not found"}), Answer(200, {"teams": []}), Answer(200, {"packets": []})
MADE = "2026-05-04T09:30:00Z"


@pytest.fixture(scope="module")
def old() -> Iterator[Scripted]:
    with Scripted() as host:
        yield host


@pytest.fixture
def client(old: Scripted) -> Iterator[PacketServer]:
    with PacketServer(old.address, "tok" + "A1b2C3d4" * 6, timeout=5, pause=lambda _: None) as opened:
        yield opened


@pytest.fixture
def store(tmp_path: Path) -> Iterator[segue.Segue]:
    (tmp_path / "project").mkdir()
    with segue.open(tmp_path / "segue.db", directory=tmp_path / "project") as opened:
        yield opened


def packet(version: str) -> dict[str, Any]:
    name = f"packet-{version.replace('.', '')}00"
    return {"ltm_version": version, "id": name, "created_at": MADE, "goal": "Ship it.", "next_step": "Test it."}


def versions(old: Scripted) -> list[str]:
    return [json.loads(each.body)["ltm_version"] for each in old.asked if each.method == "POST"]


@pytest.mark.requirement("packets-85")
def test_a_push_says_what_the_host_says(store: segue.Segue, old: Scripted, client: PacketServer) -> None:
    saved = store.packets.save(packet("0.2"))
    old.answers(UNKNOWN)
    with pytest.raises(InvalidInput, match=r"unsupported ltm_version \"0\.2\" \(supported: 0\.1\)"):
        store.delivery.push(client, saved.id)
    assert versions(old) == ["0.2"]  # once, and as it is
    assert store.packets.get(saved.id) == saved


@pytest.mark.requirement("packets-85")
def test_a_sync_goes_on_and_tries_again(store: segue.Segue, old: Scripted, client: PacketServer) -> None:
    for version in ("0.1", "0.2"):
        store.packets.save(packet(version))
    old.answers(NOBODY, NO_TEAMS, EMPTY, Answer(201, {"id": "packet-0100"}), UNKNOWN)
    done = store.syncing.sync(client)
    assert (done.pushed, [each.id for each in done.held]) == (1, ["packet-0200"])
    assert "supported: 0.1" in done.held[0].message
    line = {"id": "packet-0100", "created_at": MADE, "goal": "Ship it."}
    body = Answer(200, packet("0.1"))
    # It is not taken to be there: once the host knows the version, the same packet goes.
    old.answers(NOBODY, NO_TEAMS, Answer(200, {"packets": [line]}), body, Answer(201, {"id": "packet-0200"}))
    again = store.syncing.sync(client)
    assert (again.pushed, again.unchanged, again.held) == (1, 1, ())
    assert versions(old) == ["0.2"]
