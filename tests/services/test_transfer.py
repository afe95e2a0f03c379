"""Segue.transfer: a store goes out and in again byte for byte, and nothing in a file does harm."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest
import sqlalchemy as sa
from transfer_samples import CAPSULE, HOME_PATH, exported, fill

import segue
from segue.memories.identity import content_hash
from segue.services import transfer as services
from segue.storage.tables import metadata

if TYPE_CHECKING:
    from pathlib import Path

Draft = Callable[..., dict[str, Any]]
Locate = Callable[[str], str]
Opener = Callable[[], segue.Segue]

HEADER = b'{"segue_export":"0.1"}\n'
KEYS = ["AKIA" + "IOSFODNN7EXAMPLE"]
# Tables of what does not travel, or is made again; scopes and keys are a store's own.
OWN = {"settings", "scopes", "events", "memory_state", "memory_index", "memory_words", "memory_meanings"}
OWN |= {"memory_entities"}  # what is found in texts depends on the names that are known then
NOT_COMPARED = {"scope_id", "owner_id", "generation"}
IDS = [f"mem_01KQSB2M3V00000000000000{number:02d}" for number in range(40)]


@pytest.fixture
def filled(segue_: segue.Segue, draft: Draft) -> segue.Segue:
    fill(segue_, draft)
    return segue_


@pytest.fixture
def other(locate: Locate, kind: str, project_directory: Path, clock: Any) -> Any:
    with segue.open(locate(kind), directory=project_directory, clock=clock) as opened:
        yield opened


def _rows(opened: segue.Segue) -> dict[str, Any]:
    found = {}
    with opened._database.read() as connection:
        for name, table in metadata.tables.items():
            if name not in OWN:
                columns = [column for column in table.columns if column.name not in NOT_COMPARED]
                found[name] = sorted(map(repr, connection.execute(sa.select(*columns)).all()))
    return found


def _memory(number: int, **members: Any) -> dict[str, Any]:
    """The line of a memory, as an export writes it."""
    content = members.get("content", f"Fact {number} is this.")
    known = {
        "type": "memory",
        "id": IDS[number],
        "content": content,
        "summary": None,
        "kind": "claim",
        "layer": "semantic",
        "entities": [],
        "tags": [],
        "project": None,
        "confidence": None,
        "trust": 0.9,
        "occurred_at": None,
        "captured_at": "2026-05-04T09:30:00Z",
        "valid_from": None,
        "valid_to": None,
        "retired_at": None,
        "supersedes": [],
        "superseded_by": None,
        "status": "active",
        "occurrences": 1,
        "revision": 1,
        "content_hash": content_hash(content) if isinstance(content, str) and "\ud800" not in content else "x",
        "thread": None,
        "position": None,
        "speaker": None,
        "provenance": {
            "origin": "text",
            "ref": f"text#{number}",
            "url": None,
            "author_class": "user",
            "author": None,
            "receipt": None,
        },
        "sources": [_source(place=str(number))],
        "versions": [],
    }
    return known | members


def _source(**members: Any) -> dict[str, Any]:
    known = {
        "source": "text",
        "place": "1",
        "identity": "0" * 64,
        "origin": "text",
        "url": None,
        "author_class": "user",
        "author": None,
        "seen_at": "2026-05-04T09:30:00Z",
    }
    return known | members


def _retired(number: int, by: int, **members: Any) -> dict[str, Any]:
    told = {"status": "retired", "retired_at": "2026-05-05T00:00:00Z", "superseded_by": IDS[by]}
    return _memory(number, **(told | members))


def _lines(*documents: Any) -> list[bytes]:
    return [HEADER, *(json.dumps(each).encode() for each in documents)]


def _codes(report: services.Loaded) -> list[tuple[int, str]]:
    return [(each.line, each.code) for each in report.problems]


# -- there and back -----------------------------------------------------------------------------------------------


@pytest.mark.requirement("memories-19")
@pytest.mark.parametrize("target", ["sqlite", "postgres"])
def test_out_and_in_again_is_the_same_bytes(
    filled: segue.Segue, target: str, locate: Locate, project_directory: Path
) -> None:
    lines = exported(filled)
    with segue.open(locate(target), directory=project_directory) as copy:
        report = copy.transfer.load(lines)
        assert report.problems == []
        counts = filled.transfer.export(lambda _: None)
        assert {name: report.counts()[name] for name in counts} == counts
        assert sum(counts.values()) == len(lines) - 1
        assert all(counts.values())
        assert exported(copy) == lines
        assert _rows(copy) == _rows(filled)
        assert copy.store.doctor() == []
        for entity in ("ada", "Ada Byron", "importer", "grace"):
            named = filled.memories.ls(entities=[entity]).memories
            assert named
            assert [each for each in copy.memories.ls(entities=[entity]).memories if each in named] == named
        for query in ("600 lines", "importer", "Grace", "go on"):
            assert [hit.memory for hit in copy.search.find(query)] == [hit.memory for hit in filled.search.find(query)]
        assert copy.transfer.load(lines).counts() == dict.fromkeys(report.counts(), 0) | {"unchanged": len(lines) - 1}
        assert exported(copy) == lines


def test_the_form(filled: segue.Segue) -> None:
    lines = exported(filled)
    assert exported(filled) == lines  # nothing in it depends on when it is written
    assert json.loads(lines[0])["segue_export"] == "0.1"
    documents = [json.loads(line) for line in lines[1:]]
    types = list(dict.fromkeys(each["type"] for each in documents))
    assert types == ["packet", "capsule", "alias", "memory", "conflict", "tombstone"]
    for line in lines:
        assert line.endswith(b"\n")
        assert line.count(b"\n") == 1
    for kind in types:
        ids = [each.get("id", each.get("alias", each.get("memory_id"))) for each in documents if each["type"] == kind]
        assert ids == sorted(ids)
    assert all(list(each) == sorted(each) for each in documents)
    counts = json.loads(lines[0])["counts"]
    assert counts == {kind: sum(each["type"] == kind for each in documents) for kind in types}


@pytest.mark.requirement("memories-11")
def test_what_is_forgotten_is_in_no_export(filled: segue.Segue) -> None:
    assert b"Nobody may know" not in b"".join(exported(filled))


def test_an_empty_store(segue_: segue.Segue, other: segue.Segue) -> None:
    lines = exported(segue_)
    assert len(lines) == 1
    assert set(other.transfer.load(lines).counts().values()) == {0}


@pytest.mark.parametrize("kind_of_line", ["packet", "capsule"])
def test_what_was_saved_before_there_were_stores(filled: segue.Segue, other: segue.Segue, kind_of_line: str) -> None:
    document = next(each for each in map(json.loads, exported(filled)) if each.get("type") == kind_of_line)
    report = other.transfer.load(_lines(document | {"saved_at": "1969-12-31T23:59:59.999999Z"}))
    assert _codes(report) == [(2, "value.invalid")]
    assert other.transfer.load(_lines(document | {"saved_at": "1970-01-01T00:00:00Z"})).problems == []
    assert other.store.doctor() == []


def test_others_may_write_while_it_is_exported(filled: segue.Segue, other: segue.Segue) -> None:
    before = exported(filled)
    lines: list[bytes] = []

    def write(line: bytes) -> None:
        if len(lines) == 2:
            filled.memories.remember("Meanwhile this was said.")
        lines.append(line)

    filled.transfer.export(write)
    assert lines == before


def test_an_import_is_logged(filled: segue.Segue, other: segue.Segue) -> None:
    other.transfer.load(exported(filled))
    event = other.store.events(1)[0]
    assert event.kind == "store.imported"
    assert event.details["memories"] == filled.memories.count()


def test_batches_and_progress(segue_: segue.Segue, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(services, "BATCH", 7)
    seen: list[tuple[int, int]] = []
    lines = _lines(*(_memory(number) for number in range(20)))
    lines[0] = b'{"segue_export":"0.1","counts":{"memory":20}}'
    report = segue_.transfer.load([*lines[:4], b"\n", *lines[4:]], on_progress=lambda *each: seen.append(each))
    assert report.added == {"memories": 20}
    assert seen == [(7, 20), (14, 20), (20, 20)]
    assert segue_.store.doctor() == []


def test_a_damaged_store_is_not_half_exported(filled: segue.Segue, kind: str) -> None:
    statement = "UPDATE memories SET tags = '['" if kind == "postgres" else "UPDATE memories SET captured_us = 'soon'"
    with filled._database.write() as connection:
        connection.execute(sa.text(statement))
    with pytest.raises(segue.Failed) as failed:
        exported(filled)
    assert failed.value.code == "store.corrupt"


# -- beside what is there -----------------------------------------------------------------------------------------


def test_what_is_there_stays(filled: segue.Segue, other: segue.Segue) -> None:
    lines = exported(filled)
    other.transfer.load(lines)
    third = next(each for each in filled.memories.ls().memories if each.status == "active" and "600" in each.content)
    other.memories.edit(third.id, content="The importer reads 700 lines at a time.", tags=["new"])
    state = exported(other)
    report = other.transfer.load(lines)
    assert (report.conflicting, report.refused, report.forgotten) == (1, 0, 0)
    assert report.unchanged == len(lines) - 2
    problem = report.problems[0]
    assert problem.code == "transfer.exists"
    assert json.loads(lines[problem.line - 1])["id"] == third.id
    assert "content, content_hash" in problem.message
    assert "700" not in problem.message
    assert exported(other) == state


def test_another_body_of_a_packet_is_a_conflict(filled: segue.Segue, other: segue.Segue, draft: Draft) -> None:
    other.packets.save(draft(id="packet-0001", created_at="2026-05-04T09:30:00Z", goal="Another."))
    report = other.transfer.load(exported(filled))
    assert "packet.exists" in {code for _, code in _codes(report)}
    assert report.added["packets"] == 1
    assert other.packets.get("packet-0001").goal == "Another."


def test_what_was_forgotten_is_not_brought_back(filled: segue.Segue, other: segue.Segue) -> None:
    lines = exported(filled)
    other.transfer.load(lines)
    victim = next(each.id for each in other.memories.ls().memories if "Bye" in each.content)
    other.memories.forget(victim)
    report = other.transfer.load(lines)
    assert report.forgotten == 1
    assert [code for _, code in _codes(report)] == ["memory.forgotten"]
    with pytest.raises(segue.NotFound):
        other.memories.get(victim)
    # Nor under another id.
    forgotten = other.memories.remember("A text of its own.").memory
    other.memories.forget(forgotten.id)
    report = other.transfer.load(_lines(_memory(1, content="a TEXT of its own.")))
    assert _codes(report) == [(2, "memory.forgotten")]


def test_a_tombstone_forgets_nothing_here(filled: segue.Segue, other: segue.Segue) -> None:
    other.transfer.load(exported(filled))
    victim = next(each.id for each in filled.memories.ls().memories if "Bye" in each.content)
    filled.memories.forget(victim)
    report = other.transfer.load(exported(filled))
    assert [code for _, code in _codes(report)] == ["transfer.exists"]
    assert other.memories.get(victim).content == "Bye."


def test_the_same_text_under_another_id(segue_: segue.Segue) -> None:
    kept = segue_.memories.remember("Fact 1  is THIS.").memory
    report = segue_.transfer.load(_lines(_memory(1), _memory(2)))
    assert _codes(report) == [(2, "memory.exists")]
    assert report.conflicting == 1
    assert report.added == {"memories": 1}
    assert kept.id in report.problems[0].message


def test_a_place_says_one_thing(segue_: segue.Segue) -> None:
    taken = _memory(2, content="Else.", sources=[_source(place="1")])
    report = segue_.transfer.load(_lines(_memory(1), taken, _memory(1)))
    assert _codes(report) == [(3, "transfer.exists")]
    assert (report.added, report.unchanged) == ({"memories": 1}, 1)


# -- secrets ------------------------------------------------------------------------------------------------------

KEY = KEYS[0]
SECRETS = {
    "content": _memory(1, content=f"The key is {KEY}."),
    "summary": _memory(1, summary=f"Key {KEY}"),
    "tag": _memory(1, tags=["x", f"at {HOME_PATH}"]),
    "entity": _memory(1, entities=[KEY]),
    "thread": _memory(1, thread=f"t {KEY}"),
    "ref": _memory(1, sources=[_source(place=f"at {KEY}")]),
    "author": _memory(1, sources=[_source(author=KEY)]),
    "version": _memory(
        1,
        revision=2,
        versions=[
            {
                "revision": 1,
                "replaced_at": "2026-05-04T09:30:00Z",
                "actor": "local",
                "memory": {
                    name: value
                    for name, value in _memory(1, content=f"It was {KEY}.").items()
                    if name not in ("type", "sources", "versions")
                },
            }
        ],
    ),
    "alias": {"type": "alias", "alias": KEY.lower(), "alias_name": KEY, "key": "b", "name": "B"},
    "reason": {
        "type": "tombstone",
        "id": IDS[1],
        "keyed_hash": "0" * 64,
        "forgotten_at": "2026-05-04T09:30:00Z",
        "reason": f"it said {KEY}",
    },
}


@pytest.mark.parametrize("name", SECRETS)
def test_secrets_are_refused(segue_: segue.Segue, name: str) -> None:
    report = segue_.transfer.load(_lines(SECRETS[name]), allow_unredacted=True)
    assert _codes(report) == [(2, "transfer.redaction")]
    assert not any(report.added.values())
    assert KEY not in str(report.to_json())
    assert HOME_PATH not in str(report.to_json())


def test_what_was_flagged_needs_a_word_on_both_sides(segue_: segue.Segue, other: segue.Segue, draft: Draft) -> None:
    capsule = CAPSULE.replace("Go on.", f"Look at {HOME_PATH}.")
    segue_.packets.save(draft(goal=f"Look at {HOME_PATH}."), allow_unredacted=True)
    segue_.capsules.save(capsule, allow_unredacted=True)
    lines = [line for line in exported(segue_) if b'"memory"' not in line or b"segue_export" in line]
    report = other.transfer.load(lines)
    assert [code for _, code in _codes(report)][:2] == ["transfer.redaction"] * 2
    assert not any(report.added.values())
    told = other.transfer.load(
        [line.replace(b'"flagged":true', b'"flagged":false') for line in lines], allow_unredacted=True
    )
    assert not any(told.added.values())
    assert other.transfer.load(lines, allow_unredacted=True).added == {"packets": 1, "capsules": 1}
    assert exported(other)[1:] == lines[1:]


# -- hostile files ------------------------------------------------------------------------------------------------

_UNIT = _memory(1)
BROKEN: dict[str, Any] = {
    "no json": b"{",
    "half a line": json.dumps(_UNIT).encode()[:-40],
    "binary": b"\xff\x00\xfe",
    "NUL": b"\0",
    "a list": [],
    "a number": 7,
    "null": None,
    "no type": {},
    "type is a list": {"type": []},
    "unknown type": {"type": "event"},
    "header again": {"segue_export": "0.1"},
    "deep": b"[" * 100_000,
    "duplicate key": json.dumps(_UNIT).encode()[:-1] + b',"id":"' + IDS[2].encode() + b'"}',
    "lone surrogate": json.dumps(_memory(1, content="half \ud800 of it")).encode(),
    "surrogate in a key": b'{"type":"memory","\\ud800":1}',
    "huge line": json.dumps(_memory(1, content="x" * 10_000_000)).encode(),
    "lacks a member": {name: value for name, value in _UNIT.items() if name != "trust"},
    "lacks sources": {name: value for name, value in _UNIT.items() if name != "sources"},
    "one too many": _UNIT | {"scope_id": "another"},
    "content is a number": _memory(1, content=7),
    "content is empty": _memory(1, content=""),
    "content has a NUL": _memory(1, content="a\0b"),
    "content ends in white space": _memory(1, content="a \n"),
    "content too long": _memory(1, content="x" * 8_001),
    "hash of another text": _memory(1, content_hash=content_hash("else")),
    "id too short": _memory(1, id="mem_1"),
    "id with a quote": _memory(1, id="mem_01KQSB2M3V00000000000000';"),
    "id is another's": _memory(1, id="packet-0001"),
    "kind": _memory(1, kind="rumour"),
    "layer is a list": _memory(1, layer=["semantic"]),
    "status": _memory(1, status="deleted"),
    "trust above": _memory(1, trust=1.0001),
    "trust true": _memory(1, trust=True),
    "trust text": _memory(1, trust="1"),
    "confidence below": _memory(1, confidence=-0.1),
    "confidence huge": json.dumps(_memory(1)).encode().replace(b'"confidence": null', b'"confidence": 1e400'),
    "confidence NaN": json.dumps(_memory(1)).encode().replace(b'"confidence": null', b'"confidence": NaN'),
    "occurrences huge": _memory(1, occurrences=2**63),
    "occurrences more than sources": _memory(1, occurrences=2),
    "revision zero": _memory(1, revision=0),
    "revision float": _memory(1, revision=1.0),
    "position huge": _memory(1, thread="t", position=10**300),
    "position negative": _memory(1, thread="t", position=-1),
    "position without thread": _memory(1, position=1),
    "time out of range": _memory(1, captured_at="10000-01-01T00:00:00Z"),
    "time without offset": _memory(1, captured_at="2026-01-01T00:00:00"),
    "time elsewhere": _memory(1, captured_at="2026-01-01T00:00:00+02:00"),
    "time beyond the calendar": _memory(1, valid_to="9999-12-31T23:59:59-23:59"),
    "time is a number": _memory(1, occurred_at=0),
    "tags are a text": _memory(1, tags="abc"),
    "tag upper case": _memory(1, tags=["A"]),
    "tag twice": _memory(1, tags=["a", "a"]),
    "tag is null": _memory(1, tags=[None]),
    "too many tags": _memory(1, tags=[f"t{number}" for number in range(51)]),
    "entity too long": _memory(1, entities=["x" * 161]),
    "url of a script": _memory(1, provenance=_UNIT["provenance"] | {"url": "javascript:alert(1)"}),
    "provenance is a list": _memory(1, provenance=[]),
    "empty project": _memory(1, project=""),
    "retired since nobody knows when": _memory(1, status="retired"),
    "replaced and active": _memory(1, superseded_by=IDS[2]),
    "replaces itself": _retired(1, 1),
    "supersedes itself": _memory(1, supersedes=[IDS[1]]),
    "supersedes no id": _memory(1, supersedes=["x"]),
    "supersedes a text": _memory(1, supersedes=IDS[2]),
    "source twice": _memory(1, sources=[_source(), _source()], occurrences=2),
    "sources in no order": _memory(1, sources=[_source(place="2"), _source(place="1")], occurrences=2),
    "source with #": _memory(1, sources=[_source(source="a#b")]),
    "source too long": _memory(1, sources=[_source(source="a" * 300, place="b" * 300)]),
    "source of an unknown class": _memory(1, sources=[_source(author_class="root")]),
    "source with a short hash": _memory(1, sources=[_source(identity="0")]),
    "source is null": _memory(1, sources=[None]),
    "version of another": _memory(
        1,
        revision=2,
        versions=[{"revision": 1, "replaced_at": "2026-05-04T09:30:00Z", "actor": "x", "memory": _memory(2)}],
    ),
    "versions are an object": _memory(1, versions={}),
    "packet without body": {"type": "packet", "id": "packet-0001"},
    "packet of nothing": {
        "type": "packet",
        "id": "packet-0001",
        "revision": 1,
        "saved_at": "2026-05-04T09:30:00Z",
        "project_key": None,
        "project_label": None,
        "flagged": False,
        "body": "{}",
    },
    "capsule of nothing": {
        "type": "capsule",
        "id": "cap_1",
        "saved_at": "2026-05-04T09:30:00Z",
        "origin": None,
        "project_key": None,
        "flagged": False,
        "text": "===",
    },
    "conflict of nobody": {
        "type": "conflict",
        "memory_id": IDS[1],
        "other_id": IDS[2],
        "reason": "value",
        "found_at": "2026-05-04T09:30:00Z",
    },
    "conflict with itself": {
        "type": "conflict",
        "memory_id": IDS[1],
        "other_id": IDS[1],
        "reason": "value",
        "found_at": "2026-05-04T09:30:00Z",
    },
    "alias of itself": {"type": "alias", "alias": "a", "alias_name": "A", "key": "a", "name": "a"},
    "alias that is no name": {"type": "alias", "alias": "b", "alias_name": "A", "key": "c", "name": "C"},
    "alias too long": {"type": "alias", "alias": "x" * 1_000, "alias_name": "x" * 1_000, "key": "c", "name": "C"},
    "tombstone without hash": {
        "type": "tombstone",
        "id": IDS[1],
        "keyed_hash": "",
        "forgotten_at": "2026-05-04T09:30:00Z",
        "reason": "",
    },
}


def test_each_broken_line_is_said_and_the_rest_goes_on(segue_: segue.Segue) -> None:
    documents = [each if isinstance(each, bytes) else json.dumps(each).encode() for each in BROKEN.values()]
    lines = [HEADER, json.dumps(_memory(5)).encode(), *documents, json.dumps(_memory(6)).encode()]
    report = segue_.transfer.load(lines)
    told = dict(_codes(report))
    missed = [name for number, name in enumerate(BROKEN, 3) if number not in told]
    assert missed == []
    assert len(report.problems) == report.refused == len(BROKEN)
    assert report.added == {"memories": 2}
    assert sorted(each.id for each in segue_.memories.ls().memories) == [IDS[5], IDS[6]]
    assert all(len(each.message) < 500 for each in report.problems)
    assert segue_.store.doctor() == []
    assert [json.loads(line)["id"] for line in exported(segue_)[1:]] == [IDS[5], IDS[6]]


@pytest.mark.parametrize(
    ("lines", "code"),
    [
        ([], "transfer.header"),
        ([b"", b"\n"], "transfer.header"),
        ([b"{}"], "transfer.header"),
        ([b"[1]"], "transfer.header"),
        ([b"\xff"], "transfer.header"),
        ([b"x" * 20_000_000], "transfer.header"),
        ([json.dumps(_memory(1)).encode()], "transfer.header"),
        ([b'{"segue_export":0.1}'], "transfer.header"),
        ([b'{"segue_export":"9.9"}'], "transfer.version"),
    ],
)
def test_what_is_no_export(segue_: segue.Segue, lines: list[bytes], code: str) -> None:
    with pytest.raises(segue.InvalidInput) as refused:
        segue_.transfer.load(lines)
    assert refused.value.code == code
    assert segue_.store.events() == []


def test_a_line_that_is_too_long(segue_: segue.Segue, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(services, "MAX_LINE", 2_000)
    report = segue_.transfer.load(_lines(_memory(1, content="x" * 3_000), _memory(2)))
    assert _codes(report) == [(2, "transfer.size")]
    assert report.added == {"memories": 1}


@pytest.mark.parametrize("cut", [0, 40])
def test_a_file_that_ends_too_early(filled: segue.Segue, other: segue.Segue, cut: int) -> None:
    lines = exported(filled)
    whole = b"".join(lines[:-3]) + lines[-3][:cut]
    report = other.transfer.load(whole.splitlines(keepends=True))
    wanted = [(len(lines) - 2, "transfer.json")] if cut else []
    assert _codes(report) == [*wanted, (len(lines) - 2 + bool(cut), "transfer.cut")]


def test_problems_are_counted_beyond_those_that_are_named(segue_: segue.Segue, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(services, "_MOST_PROBLEMS", 3)
    report = segue_.transfer.load([HEADER, *[b"x"] * 10])
    assert (report.refused, len(report.problems)) == (10, 3)


# -- what replaces what -------------------------------------------------------------------------------------------


def test_a_cycle_does_not_close(segue_: segue.Segue, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(services, "BATCH", 2)
    ring = [_retired(number, (number + 1) % 5, supersedes=[IDS[(number - 1) % 5]]) for number in range(5)]
    report = segue_.transfer.load(_lines(*ring))
    assert _codes(report) == [(6, "memory.cycle")]
    assert report.added == {"memories": 4}
    assert segue_.store.doctor() == []
    assert _codes(segue_.transfer.load(_lines(*ring))) == [(6, "memory.cycle")]


@pytest.mark.parametrize(
    "pair",
    [
        (_retired(1, 2), _memory(2)),
        (_memory(2), _retired(1, 2)),
        (_memory(1), _memory(2, supersedes=[IDS[1]])),
        (_memory(2, supersedes=[IDS[1]]), _memory(1)),
        (_retired(1, 3), _memory(2, supersedes=[IDS[1]])),
        (_retired(1, 2), _memory(2, supersedes=[IDS[1]], status="pending")),
    ],
)
def test_both_ends_of_a_chain_agree(segue_: segue.Segue, pair: tuple[Any, Any]) -> None:
    report = segue_.transfer.load(_lines(*pair))
    assert _codes(report) == [(3, "transfer.supersession")]
    assert segue_.store.doctor() == []


def test_a_long_chain_is_linear(segue_: segue.Segue) -> None:
    """The order in which each line would walk the whole chain above it."""
    from segue.services.chains import Forest

    count = 200_000
    forest = Forest({})
    for start in (0, 1):
        for number in range(count - 1 - start, 0, -2):
            assert not forest.closes_cycle(str(number), str(number + 1))
            forest.add(str(number), str(number + 1))
    assert forest.closes_cycle(str(count), "1")


def test_packets_in_a_ring(segue_: segue.Segue, draft: Draft, other: segue.Segue) -> None:
    segue_.packets.save(draft(id="packet-0001", created_at="2026-05-04T09:30:00Z"))
    segue_.packets.save(draft(id="packet-0002", created_at="2026-05-04T09:30:00Z", parent_id="packet-0001"))
    lines = [json.loads(line) for line in exported(segue_) if b'"type":"packet"' in line]
    first = segue.Packet.from_document(json.loads(lines[0]["body"]) | {"parent_id": "packet-0002"})
    lines[0]["body"] = first.canonical.decode()
    report = other.transfer.load(_lines(*lines))
    assert _codes(report) == [(3, "packet.cycle")]
    assert other.store.doctor() == []
