"""Store.doctor on memories: what does not follow from them is found, and made again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
import sqlalchemy as sa

import segue
from segue.base.errors import SegueError
from segue.storage.tables import metadata

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Draft = Callable[..., dict[str, Any]]

BYTES = "(SELECT substr(terms, 1, 5) FROM memory_index LIMIT 1)"
EMPTY = "(SELECT substr(terms, 1, 0) FROM memory_index LIMIT 1)"
# Names in braces are the ids of `filled`; what search keeps is compared with these tables after each repair.
MENDED = {
    "hash": ("UPDATE memories SET content_hash = 'sha256:0'", "doctor.columns"),
    "identity": ("UPDATE memories SET identity = '0' WHERE id = '{wind}'", "doctor.columns"),
    "project": ("UPDATE memories SET project_key = NULL WHERE id = '{wind}'", "doctor.columns"),
    "occurrences": ("UPDATE memories SET occurrences = 7 WHERE id = '{wind}'", "doctor.columns"),
    "no occurrences": ("UPDATE memories SET occurrences = 0", "doctor.columns"),
    "tag gone": ("DELETE FROM memory_tags WHERE memory_id = '{wind}'", "doctor.lists"),
    "tag changed": ("UPDATE memory_tags SET tag = 'zzz' WHERE memory_id = '{wind}'", "doctor.lists"),
    "tag too many": ("INSERT INTO memory_tags SELECT scope_id, 'zzz', id FROM memories", "doctor.lists"),
    "entities gone": ("DELETE FROM memory_entities", "doctor.lists"),
    "entity changed": ("UPDATE memory_entities SET key = 'zzz' WHERE memory_id = '{wind}'", "doctor.lists"),
    "successor does not know": ("UPDATE memories SET supersedes = NULL WHERE id = '{new}'", "doctor.supersession"),
    "successor knows another": (
        """UPDATE memories SET supersedes = '["{wind}"]' WHERE id = '{new}'""",
        "doctor.supersession",
    ),
    "successor of too many": (
        """UPDATE memories SET supersedes = '["{old}","{wind}"]' WHERE id = '{new}'""",
        "doctor.supersession",
    ),
    "row gone": ("DELETE FROM memory_index WHERE memory_id = '{wind}'", "doctor.index"),
    "row of a retired one gone": ("DELETE FROM memory_index WHERE memory_id = '{old}'", "doctor.index"),
    "rows gone": ("DELETE FROM memory_index", "doctor.index"),
    "vector gone": ("UPDATE memory_index SET vector = NULL WHERE memory_id = '{wind}'", "doctor.index"),
    "vector of nobody": ("UPDATE memory_index SET embedder = NULL WHERE memory_id = '{wind}'", "doctor.index"),
    "terms cut": (f"UPDATE memory_index SET terms = {BYTES}", "doctor.index"),
    "terms of another": (
        """UPDATE memory_index SET terms = (SELECT terms FROM memory_index WHERE memory_id = '{wind}'),
        counts = (SELECT counts FROM memory_index WHERE memory_id = '{wind}')""",
        "doctor.index",
    ),
    "counts cut": (f"UPDATE memory_index SET counts = {BYTES} WHERE memory_id = '{{wind}}'", "doctor.index"),
    "length": ("UPDATE memory_index SET length = 77 WHERE memory_id = '{wind}'", "doctor.index"),
    "question": ("UPDATE memory_index SET is_question = NOT is_question", "doctor.index"),
    "tells time": ("UPDATE memory_index SET tells_time = NOT tells_time", "doctor.index"),
    "vector cut": (f"UPDATE memory_index SET vector = {BYTES} WHERE memory_id = '{{wind}}'", "doctor.index"),
    "vectors cut": (f"UPDATE memory_index SET vector = {BYTES}", "doctor.index"),
    "vector empty": (f"UPDATE memory_index SET vector = {EMPTY} WHERE memory_id = '{{wind}}'", "doctor.index"),
    "source gone": ("DELETE FROM memory_sources WHERE memory_id = '{new}'", "doctor.sources"),
    "bounds": ("UPDATE memory_index SET ends_us = NULL", "doctor.index"),
    "thread": ("UPDATE memory_index SET thread = 'other', position = 3", "doctor.index"),
    "speaker": ("UPDATE memory_index SET speaker = 'Eve' WHERE memory_id = '{wind}'", "doctor.index"),
    "time": ("UPDATE memory_index SET captured_us = 7, occurred_us = 8", "doctor.index"),
    "row of a pending one": (
        """INSERT INTO memory_index SELECT scope_id, '{waiting}', generation, terms, counts, length, thread, position,
        speaker, occurred_us, captured_us, begins_us, ends_us, is_question, tells_time, embedder, vector
        FROM memory_index WHERE memory_id = '{wind}'""",
        "doctor.index",
    ),
    "words gone": ("DELETE FROM memory_words", "doctor.index"),
    "word gone": ("DELETE FROM memory_words WHERE word = 'wind'", "doctor.index"),
    "word too many": (
        "INSERT INTO memory_words SELECT scope_id, 'zzz', 2, 1 FROM scopes",
        "doctor.index",
    ),
    "word miscounted": ("UPDATE memory_words SET count = count + 1 WHERE word = 'wind'", "doctor.index"),
    "words in all": ("UPDATE memory_state SET words = words + 1", "doctor.index"),
    "state gone": ("DELETE FROM memory_state", "doctor.index"),
    "index": ("DROP INDEX memories_by_time", "doctor.schema"),
}
FOUND = {
    "other embedder": ("UPDATE memory_index SET embedder = 'other:1'", "doctor.embedder"),
    "no vector": ("UPDATE memory_index SET embedder = NULL, vector = NULL", "doctor.embedder"),
    "cycle": (
        """UPDATE memories SET status = 'retired', retired_us = 1, superseded_by = '{old}', supersedes = '["{old}"]'
        WHERE id = '{new}'; UPDATE memories SET supersedes = '["{new}"]' WHERE id = '{old}'""",
        "doctor.supersession",
    ),
    "replaced and active": (
        "UPDATE memories SET status = 'active' WHERE id = '{old}'",
        "doctor.supersession",
    ),
    "replaced by what waits": (
        "UPDATE memories SET status = 'retired', retired_us = 1, superseded_by = '{waiting}' WHERE id = '{wind}'",
        "doctor.supersession",
    ),
    "retired since nobody knows when": (
        "UPDATE memories SET retired_us = NULL WHERE id = '{old}'",
        "doctor.memory",
    ),
    "status": ("UPDATE memories SET status = 'gone' WHERE id = '{wind}'", "doctor.memory"),
    "kind": ("UPDATE memories SET kind = 'rumour'", "doctor.memory"),
    "trust": ("UPDATE memories SET trust = 2", "doctor.memory"),
    "revision": ("UPDATE memories SET revision = 0", "doctor.memory"),
    "tags": ("UPDATE memories SET tags = '['", "doctor.memory"),
    "supersedes": ("UPDATE memories SET supersedes = 'x'", "doctor.memory"),
    "tags of numbers": ("UPDATE memories SET tags = '[1]'", "doctor.memory"),
    "tags are a text": ("""UPDATE memories SET tags = '"ab"'""", "doctor.memory"),
    "entities are no list": ("""UPDATE memories SET entities = '{"a":1}' WHERE id = '{wind}'""", "doctor.memory"),
    "captured after all time": ("UPDATE memories SET captured_us = 9000000000000000000", "doctor.memory"),
    "occurred before all time": (
        "UPDATE memories SET occurred_us = -9000000000000000000 WHERE id = '{wind}'",
        "doctor.memory",
    ),
    "valid beyond all time": ("UPDATE memories SET valid_to_us = 300000000000000000", "doctor.memory"),
    "content": ("UPDATE memories SET content = ''", "doctor.memory"),
    "scope gone": ("DELETE FROM scopes", "doctor.scope"),
    "table gone": ("DROP TABLE memory_meanings", "doctor.schema"),
}
SQLITE_ONLY = {
    "time is a text": ("UPDATE memories SET captured_us = 'soon' WHERE id = '{wind}'", "doctor.memory"),
    "content is a number": ("UPDATE memories SET content = x'00ff' WHERE id = '{wind}'", "doctor.memory"),
    "occurred is a text": ("UPDATE memories SET occurred_us = 'soon'", "doctor.memory"),
    "tags are bytes": ("UPDATE memories SET tags = x'5b5d'", "doctor.memory"),
    "occurrences are a text": ("UPDATE memories SET occurrences = 'many'", "doctor.memory"),
}
SQLITE_MENDED = {
    "terms are a text": ("UPDATE memory_index SET terms = 'x' WHERE memory_id = '{wind}'", "doctor.index"),
    "vector is a number": ("UPDATE memory_index SET vector = 7", "doctor.index"),
    "length is a text": ("UPDATE memory_index SET length = 'long'", "doctor.index"),
    "question is a text": ("UPDATE memory_index SET is_question = 'why'", "doctor.index"),
}
COMPARED = ("memories", "memory_tags", "memory_entities", "memory_index", "memory_words")
NOT_COMPARED = ("generation", "vector")  # vectors are weighed by what is known when they are made


def _run(opened: segue.Segue, statement: str, ids: dict[str, str]) -> None:
    for name, memory_id in ids.items():
        statement = statement.replace("{" + name + "}", memory_id)
    with opened._database.write() as connection:
        for each in statement.split("; "):
            connection.exec_driver_sql(each)


def _codes(findings: Any) -> set[tuple[str, bool]]:
    return {(finding.code, finding.repaired) for finding in findings}


def _rows(opened: segue.Segue) -> dict[str, Any]:
    found: dict[str, Any] = {}
    with opened._database.read() as connection:
        for name in COMPARED:
            columns = [column for column in metadata.tables[name].columns if column.name not in NOT_COMPARED]
            found[name] = sorted(map(repr, connection.execute(sa.select(*columns)).all()))
        found["words"] = connection.execute(sa.select(metadata.tables["memory_state"].c.words)).scalars().all()
    return found


@pytest.fixture
def ids(segue_: segue.Segue) -> dict[str, str]:
    """The ids of memories of every kind, in a store that is well."""
    memories = segue_.memories
    wind = memories.remember(
        "The station reports the wind.", tags=["air"], entities=["Station"], project="Größe"
    ).memory.id
    memories.remember("the STATION reports the wind.", project="größe")
    old = memories.remember("It measures salt.", valid_to="2030-01-01T00:00:00Z").memory.id
    new = memories.supersede(old, "It measures salt and light.").memory.id
    waiting = memories.propose("It measures rain.").memory.id
    for position, said in enumerate(("Hello?", "Hello!")):
        memories.remember(said, thread="talk", position=position, speaker="Ada", occurred_at="2026-01-01T00:00:00Z")
    gone = memories.supersede(memories.remember("One.").memory.id, "Two.", project="x").replaced[0]
    memories.forget(gone)  # is named on by what replaced it
    return {"wind": wind, "old": old, "new": new, "waiting": waiting}


@pytest.mark.usefixtures("ids")
def test_a_store_that_is_well(segue_: segue.Segue) -> None:
    assert segue_.store.doctor() == []
    assert segue_.store.doctor(repair=True) == []


@pytest.mark.requirement("memories-30")
@pytest.mark.parametrize("name", [*MENDED, *SQLITE_MENDED])
def test_what_is_mended(segue_: segue.Segue, ids: dict[str, str], kind: str, name: str) -> None:
    if name in SQLITE_MENDED and kind == "postgres":
        return
    statement, code = (MENDED | SQLITE_MENDED)[name]
    before = _rows(segue_)
    _run(segue_, statement, ids)
    assert _codes(segue_.store.doctor()) == {(code, False)}
    assert _codes(segue_.store.doctor()) == {(code, False)}  # looking changes nothing
    assert _codes(segue_.store.doctor(repair=True)) == {(code, True)}
    assert segue_.store.doctor() == []
    assert _rows(segue_) == before


@pytest.mark.requirement("memories-30")
@pytest.mark.parametrize("name", [*FOUND, *SQLITE_ONLY])
def test_what_is_only_found(segue_: segue.Segue, ids: dict[str, str], kind: str, name: str) -> None:
    if name in SQLITE_ONLY and kind == "postgres":
        return
    statement, code = (FOUND | SQLITE_ONLY)[name]
    _run(segue_, statement, ids)
    assert (code, False) in _codes(segue_.store.doctor())
    assert not any(finding.repaired for finding in segue_.store.doctor(repair=True) if finding.code == code)
    assert (code, False) in _codes(segue_.store.doctor())


SPOILT = {
    **{name: FOUND[name][0] for name in ("tags", "supersedes", "tags of numbers", "entities are no list")},
    **{name: SQLITE_ONLY[name][0] for name in ("time is a text", "occurred is a text")},
    **{name: MENDED[name][0] for name in ("terms cut", "counts cut", "vector cut", "vectors cut", "vector empty")},
    **{name: SQLITE_MENDED[name][0] for name in SQLITE_MENDED},
}


@pytest.mark.parametrize("name", SPOILT)
def test_what_cannot_be_read_is_said(segue_: segue.Segue, ids: dict[str, str], kind: str, name: str) -> None:
    """Of a row that is damaged nobody sees an error of the program: the message says who finds it."""
    if name in SQLITE_ONLY | SQLITE_MENDED and kind == "postgres":
        return
    _run(segue_, SPOILT[name], ids)
    lines: list[bytes] = []
    said = []
    for ask in (
        segue_.memories.ls,
        lambda: segue_.search.find("wind"),
        lambda: segue_.context.assemble("wind"),
        lambda: segue_.memories.history(ids["wind"]),
        lambda: segue_.transfer.export(lines.append),
        lambda: segue_.memories.remember("It rains."),
    ):
        try:
            ask()
        except SegueError as error:
            said.append((error.code, "segue doctor" in error.message))
    assert set(said) <= {("store.corrupt", True)}
    assert segue_.store.doctor() != []


def test_running_searches_notice_a_repair(
    segue_: segue.Segue, ids: dict[str, str], location: str, project_directory: Path
) -> None:
    _run(segue_, "DELETE FROM memory_index WHERE memory_id = '{wind}'", ids)
    with segue.open(location, directory=project_directory) as other:
        assert ids["wind"] not in {hit.memory.id for hit in other.search.find("wind")}
        segue_.store.doctor(repair=True)
        assert other.search.find("wind").hits[0].memory.id == ids["wind"]


def test_a_reindex_mends_the_vectors_of_another_embedder(segue_: segue.Segue, ids: dict[str, str]) -> None:
    _run(segue_, "UPDATE memory_index SET embedder = 'other:1'", ids)
    findings = segue_.store.doctor()
    assert [finding.code for finding in findings] == ["doctor.embedder"]
    assert "segue reindex" in findings[0].message
    segue_.memories.reindexing.reindex()
    assert segue_.store.doctor() == []


def test_what_was_remembered_without_an_embedder_is_told(
    segue_: segue.Segue, ids: dict[str, str], location: str, project_directory: Path
) -> None:
    with segue.open(location, directory=project_directory, embedder="none") as other:
        other.memories.remember("This has no vector.")
        assert _codes(other.store.doctor(repair=True)) == {("doctor.embedder", False)}
        assert "1 memory has" in other.store.doctor()[0].message
        other.memories.reindexing.reindex()
        assert other.store.doctor() == []


def test_a_store_without_an_embedder_is_well(location: str, project_directory: Path) -> None:
    with segue.open(location, directory=project_directory, embedder="none") as opened:
        opened.memories.remember("This has no vector.")
        assert opened.store.doctor() == []
        _run(opened, "DELETE FROM memory_index", {})
        assert _codes(opened.store.doctor(repair=True)) == {("doctor.index", True)}
        assert opened.store.doctor() == []


def test_many_are_told_as_one(segue_: segue.Segue) -> None:
    for number in range(5):
        segue_.memories.remember(f"Fact {number}.")
    _run(segue_, "DELETE FROM memory_index", {})
    findings = segue_.store.doctor()
    assert len(findings) == 1
    assert "5 memories (mem_" in findings[0].message


def test_a_restore_mends_and_refuses_alike(segue_: segue.Segue, ids: dict[str, str], tmp_path: Path) -> None:
    before = _rows(segue_)
    _run(segue_, MENDED["tag gone"][0], ids)
    _run(segue_, MENDED["identity"][0], ids)
    segue_.store.backup(tmp_path / "mended.db")
    segue_.store.restore(tmp_path / "mended.db")
    assert segue_.store.doctor() == []
    assert _rows(segue_) == before
    _run(segue_, FOUND["kind"][0], ids)
    segue_.store.backup(tmp_path / "broken.db")
    with pytest.raises(segue.InvalidInput) as refused:
        segue_.store.restore(tmp_path / "broken.db")
    assert refused.value.code == "restore.invalid"


def test_running_searches_notice_a_restore(
    segue_: segue.Segue, location: str, project_directory: Path, tmp_path: Path
) -> None:
    """The restored store soon has as many writes behind it as the one that a search holds."""
    segue_.memories.remember("The wind is strong.")
    segue_.store.backup(tmp_path / "kept.db")
    with segue.open(location, directory=project_directory) as other:
        segue_.memories.remember("The wind turned north.")
        assert len(other.search.find("wind")) == 2
        segue_.store.restore(tmp_path / "kept.db")
        segue_.memories.remember("The wind turned south.")
        for opened in (other, segue_):
            found = {hit.memory.content for hit in opened.search.find("wind")}
            assert found == {"The wind is strong.", "The wind turned south."}
