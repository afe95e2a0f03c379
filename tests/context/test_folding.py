"""Folding: what counts as saying the same, in any script, and what never does."""

from __future__ import annotations

import time
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from packing_samples import candidate

from segue.context import folding, pack
from segue.context.candidate import Packed
from segue.context.layers import PACK_LAYERS
from segue.memories.item import Provenance

if TYPE_CHECKING:
    from segue.context.candidate import Candidate

SAID = "The importer retries a failed call five times"


def groups(*arrived: Candidate, conflicting: frozenset[str] = frozenset()) -> list[list[int]]:
    return folding.groups(arrived, conflicting)


@pytest.mark.requirement("context-folding")
@pytest.mark.parametrize(
    "again",
    [
        "the  IMPORTER retries a failed call, five times!",
        "Note: the importer retries a failed call five times.",
        "- **Decision:** We decided that the importer retries a failed call five times.",
        "Summary: note: I agreed that the importer retries a failed call “five” times",
        "We have chose the importer retries a failed call five times",
        "The importer retries a failed call five times (https://wiki.example/retries?x=1).",
        "The importer retries a failed call five times (ops@team.example).",
        "The importer re\u00adtries a failed\u200b call five times",
        "• The importer | retries a failed call five times",
    ],
)
def test_the_same_in_other_words(again: str) -> None:
    assert groups(candidate(SAID), candidate(again)) == [[0, 1]]


@pytest.mark.requirement("context-folding")
@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("服务器每天晚上自动重启一次。", "备注：服务器每天晚上，自动重启一次"),
        ("网关用 Redis 缓存所有的查询结果", "网关用Redis缓存所有的查询结果。"),
        ("The importer retries calls five times.", "the importer retries calls five times"),
        ("服务器每天晚上自动重启了", "服务器每天晚上自动重启了。"),
        ("我们决定服务器每天晚上自动重启一次", "服务器每天晚上自动重启一次！"),
        ("サーバーは毎晩自動で再起動する。", "メモ：サーバーは、毎晩自動で再起動する"),
        ("الخادم يعيد التشغيل تلقائيا كل ليلة.", "ملاحظة: الخادم يعيد التشغيل تلقائيا كل ليلة"),
        ("เซิร์ฟเวอร์รีสตาร์ททุกคืน", "สรุป: “เซิร์ฟเวอร์รีสตาร์ททุกคืน”"),
        ("सर्वर हर रात अपने आप शुरू होता है।", "सर्वर हर रात अपने आप शुरू होता है"),
        ("Сервер сам перезапускается каждую ночь в три.", "РЕШЕНИЕ: сервер сам перезапускается каждую ночь в три"),
        ("Die Straße ist am Abend immer gesperrt", "DIE STRASSE IST AM ABEND IMMER GESPERRT!"),
        ("Le café est fermé tous les lundis", "le cafe\u0301 est ferme\u0301 tous les lundis."),
    ],
)
def test_the_same_in_any_script(one: str, other: str) -> None:
    assert groups(candidate(one), candidate(other)) == [[0, 1]]


@pytest.mark.requirement("context-folding")
@pytest.mark.parametrize(
    ("one", "other"),
    [
        (SAID, "The importer never retries a failed call five times"),
        (SAID, SAID + "?"),
        ("the loss of a call must stay < 5 ms", "the loss of a call must stay > 5 ms"),
        ("we wrote the service of the importer in C#", "we wrote the service of the importer in C++"),
        ("the night in the cold room has -5 degrees", "the night in the cold room has 5 degrees"),
        ("the new cache answers within .5 seconds each", "the new cache answers within 5 seconds each"),
        ("version 1.25 of the importer was taken back", "version 12.5 of the importer was taken back"),
        ("stop the queue if state == done for all", "stop the queue if state != done for all"),
        ("✅ the importer retries a failed call", "❌ the importer retries a failed call"),
        ("the price of the plan is 10 € a month", "the price of the plan is 10 $ a month"),
        ("क्या सर्वर की रात में गति बढ़ती है", "क्या सर्वर का रात में गति बढ़ती है"),  # another vowel sign
        ("服务器每天晚上自动重启一次吗", "服务器每天晚上自动重启一次"),
        ("the staging server lives at https://a.example", "the staging server lives at https://b.example"),
        ("questions of the team go to a@team.example now", "questions of the team go to b@team.example now"),
        ("Yes, do it.", "Yes: do it!"),  # too short to be told by its words
        ("网关用 Redis 缓存所有的查询结果", "网关不用Redis缓存所有的查询结果。"),
        ("The importer retries five times.", "the importer retries five times"),  # five words
        ("服务器每天晚上自动重启", "服务器每天晚上自动重启。"),  # eleven letters
        ("五次重试后停止", "五次重试后停止。"),
        ("https://a.example/one/two/three/four/five/six", "https://a.example/one/two/three/four/five/six "),
    ],
)
def test_what_is_not_the_same(one: str, other: str) -> None:
    assert groups(candidate(one), candidate(other)) == [[0], [1]]


@pytest.mark.requirement("context-folding")
@pytest.mark.parametrize("member", [0, 1, 2])
def test_nothing_is_folded_across_a_conflict(member: int) -> None:
    same = [candidate(SAID), candidate(SAID + "."), candidate(SAID + "!")]
    other = [candidate("Invoices are numbered by tenant now"), candidate("invoices are numbered by tenant now.")]
    conflicting = frozenset({same[member].ref})
    assert groups(*same, *other, conflicting=conflicting) == [[0], [1], [2], [3, 4]]
    assert groups(*same, *other) == [[0, 1, 2], [3, 4]]


@pytest.mark.requirement("context-folding")
def test_only_facts_are_folded() -> None:
    for layer in set(PACK_LAYERS) - {"facts"}:
        assert groups(candidate(SAID, layer), candidate(SAID + ".", layer)) == [[0], [1]]


@pytest.mark.parametrize(
    ("one", "other", "folds"),
    [
        ({"project": "billing"}, {"project": "BILLING"}, True),
        ({"project": "billing"}, {"project": "search"}, False),
        ({"speaker": "Ana"}, {"speaker": "Ben"}, False),
        ({"kind": "event", "occurred_at": 1}, {"kind": "event", "occurred_at": 2}, False),
        ({"thread": "t", "occurred_at": 1}, {"thread": "u", "occurred_at": 2}, False),
        ({"thread": "t", "occurred_at": 1}, {"thread": "u", "occurred_at": 1}, True),
        ({"occurred_at": 1}, {"occurred_at": 2}, True),
    ],
)
def test_the_circumstances_count(one: dict[str, Any], other: dict[str, Any], folds: bool) -> None:
    for members in (one, other):
        if "occurred_at" in members:
            members["occurred_at"] = datetime(2026, 3, members["occurred_at"], 9, tzinfo=UTC)
    assert groups(candidate(SAID, **one), candidate(SAID, **other)) == ([[0, 1]] if folds else [[0], [1]])


def test_what_names_no_address_joins_the_first_that_does() -> None:
    at = [candidate(f"{SAID} https://{host}.example") for host in "abab"]
    assert groups(at[0], candidate(SAID), *at[1:]) == [[0, 1, 3], [2, 4]]
    assert groups(candidate(SAID), *at) == [[0, 1, 3], [2, 4]]


@pytest.mark.requirement("context-folding")
def test_the_first_tells_the_others_in_their_order() -> None:
    first, second, third = (candidate(SAID + end) for end in (".", "!", ""))
    told = folding.folded([first, second, third])
    assert (told.ref, told.memory.content) == (first.ref, SAID + ".")
    assert told.folded == (second.memory, third.memory)
    assert folding.folded([first]) is first
    assert folding.folded([told, told]).folded == (*told.folded, told.memory, *told.folded)


@given(st.lists(st.sampled_from([SAID, SAID.upper(), SAID + "?", "Note: " + SAID, "Other", "其他"]), max_size=12))
@settings(max_examples=60, deadline=None)
def test_every_place_is_in_one_group(texts: list[str]) -> None:
    found = folding.groups([candidate(text) for text in texts])
    assert sorted(place for group in found for place in group) == list(range(len(texts)))
    assert all(group == sorted(group) for group in found)
    assert [group[0] for group in found] == sorted(group[0] for group in found)


@given(st.text(max_size=60))
@settings(max_examples=150, deadline=None)
def test_any_text_has_a_key_and_case_does_not_change_it(text: str) -> None:
    assert folding.key(text) == folding.key(f"  {text}\n")
    assert folding.key(text.casefold()) == folding.key(text)


@pytest.mark.parametrize("text", ["a.", "note: ", "we decided ", "a@", "www.", "- ", "#", "第", "a-1", "!="])
def test_no_text_is_too_much(text: str) -> None:
    started = time.process_time()
    folding.key(text * (100_000 // len(text)))
    assert time.process_time() - started < 2


def test_of_a_thousand_addresses_an_item_names_the_first_few() -> None:
    def at(number: int) -> Provenance:
        return Provenance(origin="text", ref=f"n#{number}", author_class="user", url=f"https://wiki.example/{number}")

    first, *others = (candidate(SAID, provenance=at(number % 900)) for number in range(1_000))
    folded = replace(first, folded=tuple(each.memory for each in others))
    why = pack.item(Packed(folded, SAID, 10), [])["why"]
    assert why["folded_source_urls"] == [f"https://wiki.example/{number}" for number in range(12)]
    assert (len(why["folded_refs"]), why["occurrences"]) == (999, 1_000)
