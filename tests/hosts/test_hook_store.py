"""The contract of the store: what hooks read and write by plain SQL is what the library reads and writes."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import segue
from hosts.hook_samples import NOW
from segue.base import text, time
from segue.context import conversation
from segue.context.delta import Served
from segue.hosts import embedded, memory_rows, packet_rows, session_row
from segue.memories.filter import Filter
from segue.packets.model import Packet
from segue.services.projects import identify
from segue.storage import context_sessions, revision, schema
from segue.storage import memories as rows

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

PROJECT = "shop"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / PROJECT).mkdir()
    return tmp_path / PROJECT


@pytest.fixture
def store(tmp_path: Path, folder: Path) -> Iterator[segue.Segue]:
    with segue.open(tmp_path / "segue.db", directory=folder, clock=lambda: NOW) as opened:
        yield opened


@pytest.fixture
def read(store: segue.Segue, tmp_path: Path) -> Iterator[embedded.Embedded]:
    with embedded.opened(tmp_path / "segue.db") as opened:
        yield opened


def table(path: Path, name: str) -> list[dict[str, Any]]:
    """All rows of a table, without what differs between two stores."""
    with closing(sqlite3.connect(path)) as connection:
        connection.row_factory = sqlite3.Row
        found = [dict(row) for row in connection.execute(f"SELECT * FROM {name}")]
    for row in found:
        for column in ("scope_id", "owner_id"):
            row.pop(column, None)
    return sorted(found, key=repr)


def test_hooks_know_the_schema() -> None:
    assert revision.HEAD == schema.HEAD


def test_memories_are_read_the_same(store: segue.Segue, read: embedded.Embedded) -> None:
    keep = store.memories.remember
    day = timedelta(days=1)
    ids = [
        keep("Everywhere.", kind="decision", tags=["a"], entities=["Ana"], confidence=0.5).memory.id,
        keep("Here.", kind="constraint", project="Shop", summary="Short.").memory.id,
        keep("Elsewhere.", kind="decision", project="other").memory.id,
        keep("Over.", kind="decision", valid_to=time.to_text(NOW - day)).memory.id,
        keep("Not yet.", kind="decision", valid_from=time.to_text(NOW + day)).memory.id,
        keep("Soon over.", kind="decision", valid_to=time.to_text(NOW + day)).memory.id,
        store.memories.propose("Waiting.", kind="decision").memory.id,
        keep("Replaced.", kind="decision").memory.id,
    ]
    ids.append(store.memories.supersede(ids[-1], "Replacing.").memory.id)
    at = time.microseconds(NOW)
    wanted = Filter(statuses=("active",), projects=(PROJECT,), unassigned=True, holds_us=at)
    database, scope = store._database, store._scope
    with database.read() as connection:
        theirs = rows.by_ids(connection, scope, ids, wanted)
        newest = rows.newest(connection, scope, wanted, 100)
        decisions = rows.newest(connection, scope, Filter(**_members(wanted), kinds=("decision",)), 2)
        fates = context_sessions.fates(connection, scope, [*ids, "mem_unknown"])
    assert memory_rows.by_ids(read, PROJECT, at, [*ids, "mem_unknown"]) == theirs
    assert theirs.keys() == {ids[0], ids[1], ids[5], ids[8]}
    assert memory_rows.newest(read, PROJECT, at, 100) == newest
    assert memory_rows.newest(read, PROJECT, at, 2, "decision") == decisions
    assert memory_rows.became(read, [*ids, "mem_unknown"]) == fates
    assert memory_rows.pending(read, PROJECT) == 1


def _members(wanted: Filter) -> dict[str, Any]:
    return {
        "statuses": wanted.statuses,
        "projects": wanted.projects,
        "unassigned": wanted.unassigned,
        "holds_us": wanted.holds_us,
    }


PACKET = Packet.new(
    goal="Ship the 輸入 importer.\0",
    next_step="Run the tests.",
    now=NOW,
    tags=["draft", "claude-code"],
    project=segue.Project(name="Shop", ref="github.com/acme/shop"),
    decisions=[segue.Decision(what="Read by header.", why="Suppliers reorder.", locked=True)],
)


def test_a_packet_is_written_the_same(tmp_path: Path, folder: Path) -> None:
    paths = tmp_path / "library.db", tmp_path / "hook.db"
    packets = PACKET, Packet.from_document(PACKET.document() | {"goal": "Ship it.", "tags": ["draft", "later"]})
    for path in paths:
        with segue.open(path, directory=folder, clock=lambda: NOW, actor="hook") as store:
            if path == paths[0]:
                store.packets._remembering = None
                for packet in packets:
                    store.packets.submit(packet, replace_existing=True)
                continue
            with embedded.opened(path) as written:
                for packet, outcome in zip(packets, ("created", "replaced"), strict=True):
                    with written.writing():
                        assert packet_rows.put(written, packet, identify(folder), NOW) == outcome
                    with written.writing():
                        assert packet_rows.put(written, packet, identify(folder), NOW) == "unchanged"
                assert packet_rows.newest(written, identify(folder)) == store.packets.newest() == packets[1]
            assert store.store.doctor() == []
    for name in ("packets", "packet_tags", "packet_projects"):
        assert table(paths[0], name) == table(paths[1], name), name
    events = [[{**row, "id": ""} for row in table(path, "events")] for path in paths]
    assert sorted(events[0], key=repr) == sorted(events[1], key=repr)


def test_what_fails_leaves_nothing(store: segue.Segue, read: embedded.Embedded, folder: Path) -> None:
    def half() -> None:
        with read.writing():
            packet_rows.put(read, PACKET, identify(folder), NOW)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        half()
    assert store.packets.ls().packets == []
    assert store.store.counts()["packet_tags"] == 0


served = st.lists(st.tuples(st.integers(0, 5), st.sampled_from([None, 0.5, 1.0]), st.integers(0, 3)), max_size=4)
turns = st.lists(st.tuples(st.booleans(), served, st.integers(0, 40)), min_size=1, max_size=12)


@pytest.mark.requirement("context-delta-no-resend")
@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(turns=turns, gone=st.integers(0, 5), changed_at=st.integers(0, 6))
def test_sessions_are_told_the_same_by_both(
    store: segue.Segue, read: embedded.Embedded, turns: list[Any], gone: int, changed_at: int
) -> None:
    """One session is told by the library alone, another by hooks and the library in turn."""
    ids = [store.memories.remember(f"Memory {number} of {time.utc_now()}").memory.id for number in range(6)]
    now = NOW
    for name in ("alone", "mixed"):
        store.sessions.reset(name)
    for number, (by_hook, refs, days) in enumerate(turns):
        now += timedelta(days=days)
        told = [Served(ids[ref], relevance, version) for ref, relevance, version in refs]
        if number == changed_at:
            store.memories.supersede(ids[gone], f"Instead of {ids[gone]}")
        theirs = store.sessions.deliver("alone", told, task="the words", now=now).delta
        if by_hook:
            with read.writing():
                ours = session_row.announce(read, "mixed", told, tokens=("the", "words"), now=now)
        else:
            ours = store.sessions.deliver("mixed", told, task="the words", now=now).delta
        assert ours == theirs
        with store._database.read() as connection:
            alone, mixed = (context_sessions.get(connection, store._scope, name) for name in ("alone", "mixed"))
        assert alone is not None
        assert mixed is not None
        assert alone.texts == mixed.texts
        assert (alone.line.started_at, alone.line.updated_at) == (mixed.line.started_at, mixed.line.updated_at)
        assert session_row.state(read, "alone", now) == alone.state()


def test_a_session_is_forgotten_after_the_same_time(store: segue.Segue, read: embedded.Embedded) -> None:
    memory = store.memories.remember("Something.").memory
    with read.writing():
        session_row.announce(read, "s", [Served(memory.id)], tokens=(), now=NOW)
    last = NOW + conversation.KEPT
    assert session_row.state(read, "s", last) is not None
    assert session_row.state(read, "s", last + timedelta(microseconds=1)) is None
    assert store.sessions.show("s").state.known.keys() == {memory.id}


def test_names_in_folds_are_the_librarys(store: segue.Segue, read: embedded.Embedded) -> None:
    memory = store.memories.remember("Straße.", project="STRASSE  Shop").memory
    at = time.microseconds(NOW)
    assert memory_rows.newest(read, text.fold("straße shop"), at, 5) == [(at, memory.id)]
