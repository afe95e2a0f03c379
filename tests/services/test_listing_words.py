"""Lists by words: whichever index a page is read from, it holds what a look at every packet would find."""

from __future__ import annotations

import itertools
import random
from typing import TYPE_CHECKING, Any

import pytest
import sqlalchemy as sa

from segue.storage import packet_lists
from segue.storage.tables import packet_words

if TYPE_CHECKING:
    from collections.abc import Callable

    import segue

    Draft = Callable[..., dict[str, Any]]

WORDS = "auth author authentic auth.py bread-oven oven the theory 東京 東京都 京都 of s3 x Überbau a1".split()
ASKED = [
    "auth",
    "autho",
    "author",
    "the",
    "th",
    "oven",
    "bread-oven",
    "東京",
    "京",
    "s3",
    "x",
    "ü",
    "auth.p",
    "nothing",
]
NUMBER = 60


@pytest.fixture
def filled(segue_: segue.Segue, draft: Draft) -> dict[str, tuple[str, ...]]:
    """Packets in the store, several at each instant; the words of each by its id."""
    chosen = random.Random(7)
    held: dict[str, tuple[str, ...]] = {}
    for number in range(NUMBER):
        words = tuple(chosen.sample(WORDS, chosen.randint(1, 4)))
        at = f"2026-05-04T09:{number // 3:02}:00Z"
        tags = [tag for tag, each in (("q3", 3), ("q5", 5)) if number % each == 0]
        named = {"name": "Bakery" if number % 2 else "Harbor"}
        document = draft(goal=f"Go, {', '.join(words)}.", next_step="Go.", created_at=at, tags=tags, project=named)
        held[segue_.packets.save(document | {"id": f"packet-{number:04}"}).id] = words
    return held


@pytest.fixture(params=[(5_000, 8), (3, 8), (3, 0), (20, 1)], ids=["few", "spelled", "many", "mixed"])
def _limits(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Limits by which a small store takes each of the ways that a large one does."""
    monkeypatch.setattr(packet_lists, "_FEW", request.param[0])
    monkeypatch.setattr(packet_lists, "_FEW_SPELLINGS", request.param[1])


def _holds(words: tuple[str, ...], asked: str) -> bool:
    """Whether one of the words, or a part of one, begins with what is asked for."""
    if asked >= "\u3040":
        return any(asked in word for word in words)
    whole = [word.casefold() for word in words]
    parts = [part for word in whole for part in word.replace(".", "-").split("-")]
    return any(each.startswith(asked) for each in (*whole, *parts))


def _all(opened: segue.Segue, size: int, **wanted: Any) -> list[str]:
    page = opened.packets.ls(limit=size, **wanted)
    found = [each.id for each in page.packets]
    while page.cursor:
        page = opened.packets.ls(limit=size, cursor=page.cursor, **wanted)
        found += [each.id for each in page.packets]
    return found


@pytest.mark.usefixtures("_limits")
def test_every_way_finds_the_same(segue_: segue.Segue, filled: dict[str, tuple[str, ...]]) -> None:
    newest_first = sorted(filled, reverse=True)
    for first, second in itertools.product(ASKED, ["", "oven"]):
        wanted = [each for each in newest_first if _holds(filled[each], first)]
        wanted = [each for each in wanted if not second or _holds(filled[each], second)]
        assert _all(segue_, 4, search=f"{first} {second}") == wanted, (first, second)


@pytest.mark.usefixtures("_limits")
def test_words_go_with_all_other_filters(segue_: segue.Segue, filled: dict[str, tuple[str, ...]]) -> None:
    newest_first = sorted(filled, reverse=True)
    third = {f"packet-{number:04}" for number in range(0, NUMBER, 3)}
    bakery = {f"packet-{number:04}" for number in range(1, NUMBER, 2)}
    for asked in ("auth", "oven", "東京", "the", "zzz"):
        holding = [each for each in newest_first if _holds(filled[each], asked)]
        assert _all(segue_, 3, search=asked, tag="q3") == [each for each in holding if each in third]
        assert _all(segue_, 3, search=asked, project="bakery") == [each for each in holding if each in bakery]
        both = [each for each in holding if each in third & bakery]
        assert _all(segue_, 3, search=asked, project="bakery", tag="q3") == both
        later = segue_.packets.get("packet-0030").created
        assert _all(segue_, 3, search=asked, since=later) == [each for each in holding if each >= "packet-0030"]
        assert _all(segue_, 3, search=asked, until=later) == [each for each in holding if each < "packet-0030"]


def _stored(opened: segue.Segue) -> set[tuple[str, str]]:
    with opened._database.read() as connection:
        query = sa.select(packet_words.c.packet_id, packet_words.c.word)
        return {(row.packet_id, row.word) for row in connection.execute(query)}


def test_words_go_with_what_said_them(segue_: segue.Segue, draft: Draft) -> None:
    kept = segue_.packets.save(draft(goal="Feed the starter."))
    before = _stored(segue_)
    packet_id = segue_.packets.save(draft(goal="Confidential harbor.")).id
    assert (packet_id, "confidential") in _stored(segue_)
    segue_.packets.save(draft(id=packet_id, goal="Bake rye.", created_at="2020-01-01T00:00:00Z"), replace_existing=True)
    assert {word for each, word in _stored(segue_) if each == packet_id} - {packet_id.lower()[:24]} == {
        "bake",
        "rye",
        "run",
        "tests",
    }
    segue_.packets.rm(packet_id)
    assert _stored(segue_) == before
    assert {each for each, _ in before} == {kept.id}
