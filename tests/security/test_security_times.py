"""Times at the edges of what a calendar holds: kept, listed and shown, or refused, and never a broken store."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta, timezone
from typing import TYPE_CHECKING

import pytest
from mcp_types import CallToolResult

import segue
from cli.shell import InPlace, Shell
from segue.base import ids, time
from segue.mcp.server import Server

if TYPE_CHECKING:
    from pathlib import Path

EDGES = [
    "0001-01-01T00:00:00Z",
    "0001-01-01T00:00:00+14:00",
    "0001-01-01T00:00:00.000001+23:59",
    "9999-12-31T23:59:59Z",
    "9999-12-31T23:59:59-12:00",
    "9999-12-31T23:59:59.999999999-23:59",
    "1969-12-31T23:59:59.999999Z",
]


@pytest.fixture
def cli(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> InPlace:
    return InPlace(Shell(tmp_path), monkeypatch)


def document(number: int, created_at: str, parent: str | None) -> dict[str, str]:
    named = {"parent_id": parent} if parent else {}
    text = {"ltm_version": "0.2", "goal": f"Goal {number}.", "next_step": "Test."}
    return text | {"id": f"packet-{number:04d}", "created_at": created_at} | named


def fill(cli: InPlace) -> list[str]:
    found: list[str] = []
    for number, created_at in enumerate(EDGES):
        name = cli.write(f"{number}.json", document(number, created_at, found[-1] if found else None))
        saved = cli("save", name)
        assert saved.code == 0, saved.err
        found.append(saved.out.strip())
    return found


def test_packets_of_the_first_and_the_last_year(cli: InPlace) -> None:
    saved = fill(cli)
    assert cli("ls").code == 0
    listed = cli("ls", "--json").json["packets"]
    assert {each["id"]: each["created_at"] for each in listed} == dict(zip(saved, EDGES, strict=True))
    assert cli("ls", "--since", "0001-01-01").code == 0
    pages, cursor = [], None
    while True:
        page = cli("ls", "--json", "--limit", "2", *(["--cursor", cursor] if cursor else [])).json
        pages += [each["id"] for each in page["packets"]]
        cursor = page["cursor"]
        if cursor is None:
            break
    assert pages == [each["id"] for each in listed]
    for each in saved:
        for command in (["show", each], ["show", each, "--json"], ["resume", each], ["chain", each]):
            result = cli(*command)
            assert result.code == 0, result.err
    assert cli("diff", saved[0], saved[-1]).code == 0
    assert cli("status").code == 0
    assert cli("doctor").out.startswith("healthy")


def test_they_reach_an_agent_too(cli: InPlace) -> None:
    saved = fill(cli)
    with segue.open(cli.shell.segue_home / "segue.db", directory=cli.shell.project) as opened:
        server = Server(opened)
        calls = [("ls", {}), ("resume", {}), ("chain", {"id": saved[-1]}), ("whoami", {})]
        calls += [("show", {"id": each}) for each in saved]
        for tool, arguments in calls:
            answer = asyncio.run(server.call_tool(tool, arguments))
            assert isinstance(answer, CallToolResult)
            assert not answer.is_error
        listing = asyncio.run(server.call_tool("ls", {}))
    assert isinstance(listing, CallToolResult)
    assert all(each in getattr(listing.content[0], "text", "") for each in saved)


@pytest.mark.parametrize("now", [*EDGES[:3], *EDGES[4:], "soon", "9" * 5_000])
@pytest.mark.parametrize("command", [["ls"], ["status"], ["save", "-"], ["backup"], ["doctor"]])
def test_a_clock_outside_of_the_calendar_is_refused(cli: InPlace, now: str, command: list[str]) -> None:
    result = cli(*command, "--now", now, stdin=b'{"ltm_version": "0.2", "goal": "a", "next_step": "b"}')
    assert result.code == 3, result.err
    assert "--now takes" in result.err
    assert len(result.err) < 300


@pytest.mark.parametrize("now", ["1970-01-01T00:00:00Z", "9999-12-31T23:59:59Z", "1970-01-01T05:00:00+05:00"])
def test_a_clock_at_the_edge_is_taken(cli: InPlace, now: str) -> None:
    packet = b'{"ltm_version": "0.2", "goal": "a", "next_step": "b"}'
    assert cli("save", "-", "--now", now, stdin=packet).code == 0
    for command in (["ls"], ["status"], ["backup"], ["doctor"]):
        result = cli(*command, "--now", now)
        assert result.code == 0, result.err


def test_an_id_can_be_made_at_any_time() -> None:
    moments = [
        datetime(1969, 12, 31, 23, 59, 59, tzinfo=UTC),
        datetime(1, 1, 1, tzinfo=timezone(timedelta(hours=14))),
        datetime(1970, 1, 1, tzinfo=UTC),
        datetime(9999, 12, 31, tzinfo=timezone(-timedelta(hours=12))),
    ]
    made = [ids.new(moment) for moment in moments]
    assert [len(each) for each in made] == [26] * 4
    assert [each[:10] for each in made[:3]] == ["0" * 10] * 3
    assert made[2] < made[3]


def test_an_instant_beyond_the_calendar_becomes_its_edge() -> None:
    assert time.from_microseconds(10**18).year == 9999
    assert time.from_microseconds(-(10**18)).year == 1
    for text in EDGES:
        assert time.to_text(time.from_microseconds(time.microseconds(time.parse(text))))
