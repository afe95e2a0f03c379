"""Sixty-four clients that push and list at once: nothing fails, nothing is lost, nothing is there twice."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import pytest
from http_live import packet, served

if TYPE_CHECKING:
    from collections.abc import Callable

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


def test_connections_that_break_under_load(
    locate: Callable[[str], str], postgres_server: Any, seconds: float = 2
) -> None:
    """The database ends every connection, again and again: clients are told so, and nothing acknowledged is lost."""
    location = locate("postgres")
    name = location.split("/")[3].split("?")[0]
    cut = "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE datname = %s AND pid <> pg_backend_pid()"
    with served(location) as live:
        token = live.token("writer")
        deadline = time.monotonic() + seconds

        def push(_: int) -> tuple[list[str], list[int]]:
            pushed: list[str] = []
            refused: list[int] = []
            client = live.client(token)
            while time.monotonic() < deadline or not pushed:
                reply = client.post("/v1/packets", json=packet())
                if reply.status_code == 201:
                    pushed.append(reply.json()["id"])
                else:
                    refused.append(reply.status_code)
            return pushed, refused

        with ThreadPoolExecutor(6) as pool, postgres_server.connect() as other:
            work = pool.map(push, range(6))
            ended = 0
            while time.monotonic() < deadline:
                time.sleep(0.1)
                ended += other.execute(cut, (name,)).fetchone()[0]
            done = list(work)
        pushed = [each for ids, _ in done for each in ids]
        assert ended > 0
        assert {status for _, refused in done for status in refused} <= {503}, [
            each for each in live.lines() if each["status"] == 500
        ]
        there = _all(live, owner_of=token)
        assert set(pushed) <= set(there)
        assert len(there) == len(set(there))
        assert live.client(token).get("/readyz").status_code == 200


def _all(live: Live, *, owner_of: str, team: str | None = None) -> list[str]:
    caller, cursor, found = live.caller(owner_of), None, []
    while True:
        page = live.segue.hub.ls(caller, team=team, limit=500, cursor=cursor)
        found += [each.id for each in page.packets]
        cursor = page.cursor
        if cursor is None:
            return found
