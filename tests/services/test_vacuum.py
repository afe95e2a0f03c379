"""Store.vacuum: what was forgotten is not in the files any more."""

from __future__ import annotations

import sqlite3
from typing import TYPE_CHECKING, Any

import pytest
import sqlalchemy as sa

import segue
from segue.storage import compaction
from segue.storage.tables import memory_index, memory_words, metadata

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

KEPT = "The weather station reports the wind."
PIECES = (
    "Zephyrone Zephyrtwo Zephyrthree Zephyrfour Zephyrfive Zephyrsix Zephyrseven Zephyreight Zephyrnine Zephyrten"
    " Zephyreleven Zephyrtwelve"
).split()


def _remembered(opened: segue.Segue, _folder: Path) -> None:
    """A text that was edited, replaced, filed in every way, and is contradicted by another."""
    memories = opened.memories
    first = memories.remember(
        f"The {PIECES[0]} probe measures salt.",
        summary=f"It is about {PIECES[1]}.",
        tags=[PIECES[2]],
        entities=[PIECES[3]],
        project=PIECES[4],
        author=PIECES[5],
        url=f"https://example.org/{PIECES[6]}",
        ref=f"{PIECES[7]}#{PIECES[8]}",
    ).memory
    memories.edit(first.id, content=f"The {PIECES[9]} probe measures 10 salts today.")
    second = memories.supersede(first.id, f"The {PIECES[10]} probe measures 20 salts today.").memory
    third = memories.remember(f"The {PIECES[11]} probe never measures salts today.", project=PIECES[4]).memory
    memories.forget(first.id, second.id, third.id, reason="asked for")


def _rejected(opened: segue.Segue, _folder: Path) -> None:
    waiting = opened.memories.propose(f"An agent says {PIECES[0]}.", tags=[PIECES[1]], entities=[PIECES[2]]).memory
    opened.memories.edit(waiting.id, content=f"An agent says {PIECES[3]}.")
    opened.memories.reject(waiting.id)


def _from_a_source(opened: segue.Segue, folder: Path) -> None:
    notes = folder / "notes"
    notes.mkdir()
    for text in (f"# {PIECES[0]}\n\nThe station stands at {PIECES[1]}.\n", f"# {PIECES[2]}\n\nIt was moved.\n"):
        (notes / "station.md").write_text(text)
        opened.ingestion.ingest(notes)
    for source, _ in opened.memories.sources():
        if source.startswith("markdown:"):
            opened.memories.forget_source(source, confirmed=opened.memories.said_by(source)[1])


def _edited_once(opened: segue.Segue, _folder: Path) -> None:
    memory = opened.memories.remember(f"Once it was {PIECES[0]}.").memory
    opened.memories.edit(memory.id, content=f"Now it is {PIECES[1]}.", tags=[PIECES[2]])
    opened.memories.edit(memory.id, content=f"Then it was {PIECES[3]}.", tags=[])
    opened.memories.forget(memory.id)


def _in_a_conversation(opened: segue.Segue, _folder: Path) -> None:
    said = [
        opened.memories.remember(f"I say {piece}!", thread=PIECES[0], position=place, speaker=PIECES[1]).memory.id
        for place, piece in enumerate(PIECES[2:6])
    ]
    opened.memories.forget(*said)


def _a_packet(opened: segue.Segue, _folder: Path) -> None:
    packet = opened.packets.save({"ltm_version": "0.2", "goal": f"Find {PIECES[0]}.", "next_step": f"Ask {PIECES[1]}."})
    opened.packets.rm(packet.id)


WAYS: dict[str, Callable[[segue.Segue, Path], None]] = {
    "remembered": _remembered,
    "rejected": _rejected,
    "from a source": _from_a_source,
    "edited": _edited_once,
    "in a conversation": _in_a_conversation,
    "a packet": _a_packet,
}


def _bytes(opened: segue.Segue) -> bytes:
    """All that a store holds: its files, or every column of every table of a server."""
    path = opened.store.path
    if path is not None:
        files = [path.with_name(path.name + suffix) for suffix in ("", "-wal", "-shm", "-journal")]
        return b"\n".join(file.read_bytes() for file in files if file.exists())
    with opened._database.read() as connection:
        names = sa.inspect(connection).get_table_names()
        assert set(metadata.tables) <= set(names)
        rows = [connection.exec_driver_sql(f'SELECT t::text FROM "{name}" AS t').scalars().all() for name in names]
        binary = [
            connection.exec_driver_sql(f'SELECT encode("{column.name}", $$escape$$) FROM "{table.name}"')
            .scalars()
            .all()
            for table in metadata.sorted_tables
            for column in table.columns
            if isinstance(column.type, sa.LargeBinary)
        ]
    return "\n".join(str(value) for some in (*rows, *binary) for value in some).encode()


def _left(opened: segue.Segue) -> list[str]:
    held = _bytes(opened).lower()
    return [piece for piece in PIECES if piece.lower().encode() in held]


@pytest.mark.requirement("memories-12")
@pytest.mark.parametrize("way", WAYS)
def test_nothing_is_left_of_what_was_forgotten(segue_: segue.Segue, tmp_path: Path, way: str) -> None:
    segue_.memories.remember(KEPT)
    WAYS[way](segue_, tmp_path)
    done = segue_.store.vacuum()
    assert _left(segue_) == []
    assert KEPT.encode() in _bytes(segue_)
    assert min(done.before, done.after) > 0
    assert done.to_json() == {"before": done.before, "after": done.after, "backups": 0}
    with segue_._database.read() as connection:
        rows = connection.execute(sa.select(memory_index.c.memory_id)).scalars().all()
        words = set(connection.execute(sa.select(memory_words.c.word)).scalars())
    assert rows == [each.id for each in segue_.memories.ls().memories]
    assert words >= {"weather", "wind"}
    assert not any("zephyr" in word for word in words)
    assert [hit.memory.content for hit in segue_.search.find("wind")] == [KEPT]
    assert segue_.search.find(PIECES[0]).hits == [] or segue_.search.find(PIECES[0]).hits[0].memory.content == KEPT
    assert segue_.store.doctor() == []
    if segue_.store.path is not None:
        assert segue_.store.path.with_name(segue_.store.path.name + "-wal").stat().st_size == 0


def test_the_bytes_are_looked_at_where_they_are(segue_: segue.Segue, tmp_path: Path) -> None:
    """The search of this test would find each piece, while it is remembered."""
    memories = [segue_.memories.remember(f"It is {piece}.", tags=[piece]).memory.id for piece in PIECES]
    assert _left(segue_) == PIECES
    segue_.memories.forget(*memories[:-1])
    segue_.store.vacuum()
    assert _left(segue_) == PIECES[-1:]


def test_words_that_were_left_behind_go(segue_: segue.Segue) -> None:
    """Another version may have split texts into other words than the one that forgets them."""
    memory = segue_.memories.remember(KEPT).memory
    with segue_._database.write() as connection:
        connection.execute(
            sa.insert(memory_words).values(scope_id=segue_._scope, word=PIECES[0].lower(), count=2, generation=1)
        )
    segue_.memories.forget(memory.id)
    segue_.store.vacuum()
    assert _left(segue_) == []
    assert segue_.store.counts()["memory_words"] == 0


def test_a_store_becomes_smaller(segue_: segue.Segue) -> None:
    said = [segue_.memories.remember(f"Number {number}: " + "word " * 1_000).memory.id for number in range(60)]
    segue_.store.vacuum()
    segue_.memories.forget(*said)
    done = segue_.store.vacuum()
    assert done.after < done.before


def test_backups_are_told(segue_: segue.Segue) -> None:
    if segue_.store.path is None:
        assert segue_.store.vacuum().backups == 0
        return
    segue_.memories.remember(KEPT)
    segue_.store.backup()
    assert segue_.store.vacuum().backups == 1


def test_others_who_have_it_open_go_on(segue_: segue.Segue, location: str, project_directory: Path) -> None:
    kept = segue_.memories.remember(KEPT).memory
    gone = segue_.memories.remember(f"The wind blows at {PIECES[0]}.").memory
    with segue.open(location, directory=project_directory) as other:
        assert {hit.memory.id for hit in other.search.find("wind")} == {kept.id, gone.id}
        segue_.memories.forget(gone.id)
        segue_.store.vacuum()
        assert [hit.memory.id for hit in other.search.find("wind")] == [kept.id]
        new = other.memories.remember("The wind is back.").memory
        assert {hit.memory.id for hit in segue_.search.find("wind")} == {kept.id, new.id}


def test_it_is_logged(segue_: segue.Segue) -> None:
    segue_.store.vacuum()
    assert segue_.store.events(1)[0].kind == "store.vacuumed"


def test_a_store_that_others_hold_is_busy(segue_: segue.Segue, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compaction, "WAIT_SECONDS", 0.3)
    memory = segue_.memories.remember(f"It is {PIECES[0]}.").memory
    with segue_._database.read() as reading:
        reading.execute(sa.text("SELECT content FROM memories")).all()
        segue_.memories.forget(memory.id)
        with pytest.raises(segue.Failed) as failed:
            segue_.store.vacuum()
    assert failed.value.code == "store.busy"
    segue_.store.vacuum()
    assert _left(segue_) == []


def test_a_store_that_cannot_be_written(tmp_path: Path, draft: Any) -> None:
    path = tmp_path / "segue.db"
    with segue.open(path) as opened:
        opened.packets.save(draft())
        opened._database.read_only = True
        with pytest.raises(segue.Failed) as failed:
            opened.store.vacuum()
    assert failed.value.code == "store.read_only"


def test_deleted_bytes_are_overwritten_at_once(segue_: segue.Segue) -> None:
    """The file itself holds nothing of it before a vacuum either, once its log is written back."""
    path = segue_.store.path
    if path is None:
        return
    memory = segue_.memories.remember(f"It is {PIECES[0]}.").memory
    segue_.memories.forget(memory.id)
    with sqlite3.connect(path) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.close()
    assert _left(segue_) == []
