"""Export and import over stores and files that nobody thought of."""

from __future__ import annotations

import contextlib
import json
import tempfile
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from transfer_samples import contest, exported, fill, merge

import segue
from segue.search.entities import key
from segue.storage.memory_entities import Alias

if TYPE_CHECKING:
    from collections.abc import Callable

Draft = Any
Locate = Any
HEADER = b'{"segue_export":"0.1"}\n'

# No secrets come of these, and all that is odd in a text does.
TEXT = st.text(
    st.sampled_from("ab cdeſßİÅ\u0301ＡｂΣς日本ไทย👩‍🚀\u200f\u2028\\\"'{}\t\n\r\x00\x1c\ufeff%_#."), max_size=30
)
SHARES = st.none() | st.floats(0, 1) | st.sampled_from([-0.0, 5e-324, 0.1, 1 / 3, 1 - 2**-53])
TIMES = st.none() | st.integers(-(10**16), 10**17).map(
    lambda number: datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=number)
)
DETAILS = st.fixed_dictionaries(
    {},
    optional={
        "confidence": SHARES,
        "occurred_at": TIMES,
        "valid_from": TIMES,
        "valid_to": TIMES,
        "summary": TEXT,
        "project": TEXT,
        "tags": st.lists(TEXT, max_size=3),
        "entities": st.lists(TEXT, max_size=3),
        "kind": st.sampled_from(["claim", "decision", "event", "style"]),
    },
)
PLACES = st.fixed_dictionaries(
    {},
    optional={
        "author_class": st.sampled_from(["user", "agent", "external"]),
        "author": TEXT,
        "ref": TEXT.map(lambda text: f"notes:{text}#1"),
        "url": st.just("https://example.org/ä"),
        "origin": st.sampled_from(["text", "import", "record"]),
    },
)
STEPS = st.one_of(
    st.tuples(st.just("remember"), TEXT, DETAILS, PLACES),
    st.tuples(st.just("propose"), TEXT, DETAILS, PLACES),
    st.tuples(st.just("turn"), TEXT, st.integers(0, 2**53), PLACES),
    st.tuples(st.just("edit"), st.integers(0, 9), TEXT, DETAILS),
    st.tuples(st.just("supersede"), st.integers(0, 9), TEXT, st.sampled_from(["user", "agent"])),
    st.tuples(st.just("approve"), st.integers(0, 9)),
    st.tuples(st.just("forget"), st.integers(0, 9), TEXT),
    st.tuples(st.just("contest"), st.integers(0, 9), st.integers(0, 9)),
    st.tuples(st.just("merge"), TEXT, TEXT),
    st.tuples(st.just("packet"), TEXT),
)


class _Clock:
    def __init__(self) -> None:
        self.now = datetime(2026, 5, 4, 9, 30, 0, 123_456, tzinfo=UTC)

    def __call__(self) -> datetime:
        self.now += timedelta(microseconds=1_001)
        return self.now


def _do(opened: segue.Segue, step: tuple[Any, ...]) -> None:
    known = opened.memories.ls(limit=100).memories
    name, first, *rest = step
    chosen = known[first % len(known)] if known and isinstance(first, int) else None
    memories = opened.memories
    if name == "remember":
        memories.remember(first, **rest[0], **rest[1])
    elif name == "propose":
        memories.propose(first, **rest[0], **rest[1])
    elif name == "turn":
        memories.remember(first, thread="talk", position=rest[0], speaker="Ada", **rest[1])
    elif name == "merge" and key(first) and key(rest[0]) and key(first) != key(rest[0]):
        taken = {each["alias"] for each in map(json.loads, exported(opened)) if each.get("type") == "alias"}
        if key(rest[0]) not in taken:
            given = [text.replace("\0", "") for text in (first, rest[0])]
            if all(map(key, given)):
                merge(opened, Alias(key(given[0]), given[0], key(given[1]), given[1]))
    elif name == "packet":
        opened.packets.save({"ltm_version": "0.2", "goal": f"Goal {first}.", "next_step": "Go."}, allow_unredacted=True)
    elif chosen is not None:
        _change(opened, chosen, name, rest)


def _change(opened: segue.Segue, chosen: Any, name: str, rest: list[Any]) -> None:
    memories = opened.memories
    if name == "edit":
        memories.edit(chosen.id, content=rest[0], **rest[1])
    elif name == "supersede":
        memories.supersede(chosen.id, rest[0], author_class=rest[1])
    elif name == "approve":
        memories.approve(chosen.id, chosen.content_hash)
    elif name == "forget":
        memories.forget(chosen.id, reason=rest[0])
    elif name == "contest":
        known = memories.ls(limit=100).memories
        other = known[rest[0] % len(known)]
        if other.id != chosen.id:
            contest(opened, chosen.id, other.id)


def _there_and_back(source: str, target: str, steps: list[tuple[Any, ...]], folder: Path) -> None:
    clock: Callable[[], datetime] = _Clock()
    with segue.open(source, directory=folder, clock=clock, embedder="none") as opened:
        for step in steps:
            with contextlib.suppress(segue.InvalidInput, segue.Refused):
                _do(opened, step)
        lines = exported(opened)
        assert opened.store.doctor() == []
    with segue.open(target, directory=folder, embedder="none") as copy:
        report = copy.transfer.load(lines, allow_unredacted=True)
        assert report.problems == []
        assert exported(copy) == lines
        assert copy.store.doctor() == []


@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)
@given(st.lists(STEPS, min_size=3, max_size=14))
def test_any_store_goes_out_and_in_again(steps: list[tuple[Any, ...]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        _there_and_back(f"{folder}/a.db", f"{folder}/b.db", steps, Path(folder))


@pytest.mark.requirement("memories-19")
@pytest.mark.parametrize("direction", [("sqlite", "postgres"), ("postgres", "sqlite")])
def test_any_store_goes_between_databases(direction: tuple[str, str], locate: Locate, tmp_path: Path) -> None:
    @settings(max_examples=5, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True, database=None)
    @given(st.lists(STEPS, min_size=8, max_size=14))
    def check(steps: list[tuple[Any, ...]]) -> None:
        _there_and_back(locate(direction[0]), locate(direction[1]), steps, tmp_path)

    check()


_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)


@pytest.fixture(scope="module")
def sample(tmp_path_factory: pytest.TempPathFactory) -> list[bytes]:
    def draft(**members: Any) -> dict[str, Any]:
        return {"ltm_version": "0.2", "goal": "Ship the importer.", "next_step": "Run the tests."} | members

    folder = tmp_path_factory.mktemp("sample")
    with segue.open(folder / "segue.db", directory=folder, clock=_Clock(), embedder="none") as opened:
        fill(opened, draft)
        return exported(opened)[1:]


@settings(max_examples=15, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)
@given(data=st.data())
def test_no_damage_to_a_file_does_harm(sample: list[bytes], data: st.DataObject) -> None:
    lines = [_damaged(line, data) for line in data.draw(st.permutations(sample))]
    with tempfile.TemporaryDirectory() as folder:
        with segue.open(f"{folder}/a.db", directory=Path(folder), embedder="none") as opened:
            report = opened.transfer.load([HEADER, *lines])
            counts = report.counts()
            assert sum(counts.values()) == sum(bool(line.strip()) for line in lines)
            assert opened.store.doctor() == []
            out = exported(opened)
        with segue.open(f"{folder}/b.db", directory=Path(folder), embedder="none") as again:
            assert again.transfer.load(out).problems == []
            assert exported(again) == out


def _damaged(line: bytes, data: st.DataObject) -> bytes:
    how = data.draw(st.sampled_from(["no", "no", "value", "member", "cut", "bytes", "twice"]))
    if how in ("value", "member"):
        document = json.loads(line)
        name = data.draw(st.sampled_from(sorted(document)))
        place = document
        if isinstance(document[name], list) and document[name] and isinstance(document[name][0], dict):
            place, name = document[name][0], data.draw(st.sampled_from(sorted(document[name][0])))
        if how == "member":
            del place[name]
        else:
            place[name] = data.draw(_VALUES)
        return json.dumps(document).encode("utf-8", "surrogatepass")
    start = data.draw(st.integers(0, len(line) - 1))
    if how == "cut":
        return line[:start]
    if how == "bytes":
        return line[:start] + data.draw(st.binary(min_size=1, max_size=4)) + line[start + 1 :]
    return line
