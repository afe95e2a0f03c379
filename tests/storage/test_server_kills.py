"""Killed at each recorded write: what people do on a server is done or not begun, and a sync goes on afterwards."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import killing
import pytest
import server_operations as operations

import segue
from client.served import Served
from segue.base.errors import Gone
from segue.client.contract import PacketServer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from killing import Run

pytestmark = [pytest.mark.usefixtures("own_migrations"), pytest.mark.soak]


@pytest.fixture
def template(tmp_path: Path) -> Path:
    """A server with a team of two, an invite into it, and packets of its owner and of its member."""
    folder = tmp_path / "template"
    folder.mkdir()
    with segue.open(folder / "segue.db") as opened:
        opened.accounts.init()
        tokens = {name: opened.accounts.issue(name.title()) for name in ("owner", "member")}
        owner, member = (opened.accounts.authenticate(each) for each in tokens.values())
        opened.teams.create(owner, operations.TEAM)
        opened.invites.accept(opened.invites.create(owner, operations.TEAM).code, member)
        for number, (who, team) in enumerate(((owner, None), (owner, None), (member, None), (member, operations.TEAM))):
            document = killing.DRAFT | {"id": f"packet-{number + 1:04}", "created_at": killing.CREATED}
            opened.hub.push(who, json.dumps(document).encode(), team=team)
        code = opened.invites.create(owner, operations.TEAM).code
    (folder / operations.TOKENS).write_text(json.dumps(tokens | {"code": code}))
    return folder


def _state(opened: segue.Segue, folder: Path) -> dict[str, Any]:
    """What there is to see of a server, after it was found in order."""
    assert opened.store.doctor() == []
    owner = operations.caller(opened, folder)
    team = [each.id for each in opened.hub.ls(owner, team=operations.TEAM).packets]
    people = [each.display for each in opened.teams.members(owner, operations.TEAM)]
    public = opened.publishing.of(owner.user_id, "packet-0001") is not None
    own = [each.id for each in opened.hub.ls(owner).packets]
    counted = {name: number for name, number in opened.store.counts().items() if name not in ("events", "settings")}
    return {"own": own, "team": team, "people": people, "public": public, "counts": counted}


def _accepted(opened: segue.Segue, folder: Path) -> None:
    with pytest.raises(Gone):
        opened.invites.accept(operations.named(folder)["code"])


AGAIN: dict[str, Callable[[Path], None]] = {
    name: (lambda folder, name=name: getattr(operations, name)(folder, "", lambda: None))  # type: ignore[misc]
    for name in ("accept", "move", "publish", "offboard")
}


@pytest.mark.parametrize("operation", AGAIN)
def test_a_deed_on_a_server_is_done_or_not_begun(template: Path, tmp_path: Path, operation: str) -> None:
    folder = tmp_path / "runs"
    folder.mkdir()
    with segue.open(template / "segue.db") as opened:
        before = _state(opened, template)
    after: dict[str, Any] = {}
    killed = 0
    for run in killing.runs(f"{Path(operations.__file__)}:{operation}", template, folder):
        with segue.open(run.folder / "segue.db") as opened:
            now = _state(opened, run.folder)
            if not after:  # the first run is recorded, and comes to its end
                assert not run.killed
                after = now
                assert after != before
            assert now == after or (now == before and not run.acknowledged), f"killed before {run.point} ({run.call})"
        if now == before:
            AGAIN[operation](run.folder)
            with segue.open(run.folder / "segue.db") as opened:
                assert _state(opened, run.folder) == after
        elif operation == "accept":
            with segue.open(run.folder / "segue.db") as opened:
                _accepted(opened, run.folder)
        killed += run.killed
        shutil.rmtree(run.folder)
    assert killed >= 3, "hardly a write was recorded"


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Served]:
    with Served(tmp_path / "server" / "server.db", rescan="off") as running:
        yield running


def test_a_killed_sync_goes_on(server: Served, tmp_path: Path) -> None:
    """Its packets are on both sides once, whatever it had done."""
    token = server.token("ann")
    theirs = {f"theirs-{number:04}" for number in range(3)}
    for each in theirs:
        document = killing.DRAFT | {"id": each, "created_at": killing.CREATED}
        server.store.hub.push(server.store.accounts.authenticate(token), json.dumps(document).encode())
    template, folder = tmp_path / "template", tmp_path / "runs"
    template.mkdir()
    folder.mkdir()
    with segue.open(template / "segue.db", directory=template) as opened:
        opened.packets.save(killing.DRAFT | {"id": "mine-00001", "created_at": killing.CREATED})
    expected, killed = {"mine-00001", *theirs}, 0
    location = f"{server.address} {token}"
    for run in killing.runs(f"{Path(operations.__file__)}:sync", template, folder, step=2, location=location):
        _go_on(run, server, token, expected)
        killed += run.killed
        shutil.rmtree(run.folder)
    assert killed >= 5, "hardly a write was recorded"


def _go_on(run: Run, server: Served, token: str, expected: set[str]) -> None:
    with segue.open(run.folder / "segue.db", directory=run.folder) as opened:
        assert opened.store.doctor() == []
        here = {each.id for each in opened.packets.ls(limit=500).packets}
        expected |= here  # what was saved before the kill
        host = PacketServer(server.address, token)
        done = opened.syncing.sync(host)
        host.close()
        assert not done.conflicts
        lines = [each.id for each in opened.packets.ls(limit=500).packets]
        assert sorted(lines) == sorted(expected), f"killed before {run.point} ({run.call})"
        assert opened.store.doctor() == []
    there = server.store.hub.ls(server.store.accounts.authenticate(token), limit=500).packets
    assert sorted(each.id for each in there) == sorted(expected)
