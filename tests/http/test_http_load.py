"""Sixty-four clients that push and list at once: nothing fails, nothing is lost, nothing is there twice."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import pytest
from http_live import packet

if TYPE_CHECKING:
    from http_live import Live

pytest_plugins = ["http_fixtures"]

CLIENTS = 64


@pytest.mark.parametrize("seconds", [0, pytest.param(60, marks=pytest.mark.soak)])
def test_many_push_and_list_at_once(live: Live, seconds: float) -> None:
    """Half of them share a team's scope, the others have their own; each does it twice, or for a minute."""
    owner = live.caller(live.token("owner"))
    team = f"crowd-{seconds}"
    live.segue.teams.create(owner, team)
    tokens = [live.token(f"user {each}") for each in range(CLIENTS)]
    for each in tokens[::2]:
        live.segue.invites.accept(live.segue.invites.create(owner, team).code, live.caller(each))
    deadline = time.monotonic() + seconds

    def work(number: int) -> list[str]:
        pushed: list[str] = []
        query = "" if number % 2 else f"?team={team}"
        client = live.client(tokens[number])
        while len(pushed) < 2 or time.monotonic() < deadline:
            document = packet()
            reply = client.post(f"/v1/packets{query}", json=document)
            assert reply.status_code == 201, reply.text
            pushed.append(reply.json()["id"])
            listed = client.get(f"/v1/packets{query}", params={"limit": "500"})
            assert listed.status_code == 200, listed.text
            if number % 2:
                assert {each["id"] for each in listed.json()["packets"]} >= set(pushed[-400:])
        return pushed

    with ThreadPoolExecutor(CLIENTS) as pool:
        pushed = list(pool.map(work, range(CLIENTS)))
    together = sorted(each for number, ids in enumerate(pushed) if number % 2 == 0 for each in ids)
    assert sorted(_all(live, owner_of=tokens[0], team=team)) == together
    for number in range(1, CLIENTS, 16):
        assert sorted(_all(live, owner_of=tokens[number])) == sorted(pushed[number])


def _all(live: Live, *, owner_of: str, team: str | None = None) -> list[str]:
    caller, cursor, found = live.caller(owner_of), None, []
    while True:
        page = live.segue.hub.ls(caller, team=team, limit=500, cursor=cursor)
        found += [each.id for each in page.packets]
        cursor = page.cursor
        if cursor is None:
            return found
