"""Items checked and made into memories: what is refused, what is trimmed, what follows from what."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from segue.base.errors import InvalidInput
from segue.memories import making
from segue.memories.identity import content_hash
from segue.memories.item import KIND_OF, KINDS, LAYER_OF, LAYERS, MAX_CONTENT, Item
from segue.memories.memory import TRUST, Memory

NOW = datetime(2026, 5, 4, 9, 30, tzinfo=UTC)
SECRET = "AK" + "IA" + "Q7Z2" * 4


def made(content: str = "Rye keeps.", **details: Any) -> Memory:
    return making.made(making.checked(making.item(content, **details)), memory_id="mem_1", now=NOW)


def refused(content: str = "Rye keeps.", **details: Any) -> InvalidInput:
    with pytest.raises(InvalidInput) as found:
        made(content, **details)
    return found.value


def test_a_bare_text_is_a_claim_of_the_user() -> None:
    memory = made()
    assert (memory.kind, memory.layer, memory.status, memory.trust) == ("claim", "semantic", "active", TRUST["user"])
    assert (memory.captured_at, memory.occurred_at, memory.occurrences, memory.revision) == (NOW, None, 1, 1)
    assert memory.content_hash == content_hash("Rye keeps.")
    assert memory.confidence is None


@pytest.mark.parametrize("kind", KINDS)
def test_a_kind_alone_says_the_layer(kind: str) -> None:
    memory = made(kind=kind)
    assert (memory.kind, memory.layer) == (kind, LAYER_OF[memory.kind])


@pytest.mark.parametrize("layer", LAYERS)
def test_a_layer_alone_says_the_kind(layer: str) -> None:
    memory = made(layer=layer)
    assert (memory.layer, memory.kind) == (layer, KIND_OF[memory.layer])


@pytest.mark.requirement("memories-9")
def test_the_negative_layer_alone_is_a_constraint_and_both_stay_as_given() -> None:
    assert made(layer="negative").kind == "constraint"
    assert (made(kind="observation", layer="negative").kind, made(kind="event", layer="style").layer) == (
        "observation",
        "style",
    )


@pytest.mark.requirement("memories-10")
@pytest.mark.parametrize(
    ("details", "code"),
    [
        ({"kind": "Claim"}, "memory.kind"),
        ({"kind": ""}, "memory.kind"),
        ({"layer": "deep"}, "memory.layer"),
        ({"origin": "mail"}, "memory.origin"),
        ({"author_class": "robot"}, "memory.author_class"),
        ({"confidence": -0.01}, "memory.value"),
        ({"confidence": 1.01}, "memory.value"),
        ({"confidence": float("nan")}, "memory.value"),
        ({"confidence": float("inf")}, "memory.value"),
        ({"thread": "t", "position": -1}, "memory.value"),
        ({"thread": "t", "position": 2**53 + 1}, "memory.value"),
        ({"position": 3}, "memory.value"),
        ({"url": "ftp://example.org"}, "memory.value"),
        ({"url": "https://exa mple.org"}, "memory.value"),
        ({"url": "https://example.org/" + "x" * 2_048}, "memory.value"),
        ({"summary": "x" * 1_001}, "memory.value"),
        ({"tags": ["x" * 65]}, "memory.value"),
        ({"tags": [f"t{number}" for number in range(51)]}, "memory.value"),
        ({"entities": ["x" * 161]}, "memory.value"),
        ({"entities": [f"e{number}" for number in range(51)]}, "memory.value"),
        ({"project": "x" * 321}, "memory.value"),
        ({"thread": "x" * 321}, "memory.value"),
        ({"speaker": "x" * 321}, "memory.value"),
        ({"author": "x" * 321}, "memory.value"),
        ({"ref": "x" * 513}, "memory.value"),
        ({"occurred_at": "yesterday"}, "memory.time"),
        ({"occurred_at": "2026-05-04T09:30:00"}, "memory.time"),
        ({"occurred_at": "2026-02-30T09:30:00Z"}, "memory.time"),
        ({"valid_from": "2026-13-01T00:00:00Z"}, "memory.time"),
        ({"occurred_at": NOW.replace(tzinfo=None)}, "memory.time"),
        ({"valid_from": NOW, "valid_to": NOW - timedelta(microseconds=1)}, "memory.time"),
    ],
)
def test_a_value_out_of_range_is_refused(details: dict[str, Any], code: str) -> None:
    assert refused(**details).code == code


@pytest.mark.parametrize("name", ["content", "summary", "project", "thread", "speaker", "author", "ref", "url"])
def test_half_a_character_is_refused_in_every_text(name: str) -> None:
    half = {name: "https://example.org/\udc80" if name == "url" else "a\udc80"}
    assert refused(**{"content": "Rye."} | half).code in ("memory.value", "memory.content")
    assert refused(tags=["a\ud800"]).code == refused(entities=["\udfff"]).code == "memory.value"


@pytest.mark.parametrize("content", ["", " ", "\n\t\u3000", "\u2028"])
def test_nothing_is_not_remembered(content: str) -> None:
    assert refused(content).code == "memory.content"


def test_the_longest_text_and_one_character_more() -> None:
    assert len(made("漢" * MAX_CONTENT).content) == MAX_CONTENT
    assert refused("漢" * (MAX_CONTENT + 1)).code == "memory.content"
    assert made(" " * 99 + "x" * MAX_CONTENT).content == "x" * MAX_CONTENT


def test_the_edges_of_what_is_allowed() -> None:
    memory = made(confidence=0, thread="t", position=2**53, valid_from=NOW, valid_to=NOW)
    assert (memory.confidence, memory.position, memory.valid_from) == (0, 2**53, memory.valid_to)
    assert made(confidence=1, thread="t", position=0).position == 0


def test_texts_are_trimmed_and_nul_is_replaced() -> None:
    memory = made("  a\0b \n", project=" p\0 ", tags=["  Big  Tag "], entities=[" Ada\t Lovelace "])
    assert (memory.content, memory.project) == ("a\ufffdb", "p\ufffd")
    assert (memory.tags, memory.entities) == (("big tag",), ("Ada Lovelace",))


def test_a_list_holds_each_once_and_a_single_text_is_not_its_letters() -> None:
    memory = made(tags=["Rye", "rye", "ＲＹＥ", ""], entities=["Ada", "ADA"])
    assert (len(memory.tags), len(memory.entities)) == (1, 1)
    alone = made(tags="work", entities="Ada Lovelace")
    assert (alone.tags, alone.entities) == (("work",), ("Ada Lovelace",))


def test_instants_keep_their_microseconds_and_lose_their_zone() -> None:
    there = timezone(timedelta(hours=14))
    memory = made(occurred_at="2026-05-04T09:30:00.123456+02:00", valid_from=datetime(1, 1, 1, tzinfo=there))
    assert memory.occurred_at == datetime(2026, 5, 4, 7, 30, 0, 123456, tzinfo=UTC)
    assert memory.valid_from is not None


def test_in_a_thread_the_one_entity_is_the_speaker() -> None:
    assert made(thread="t", entities=["Ada"]).speaker == "Ada"
    assert made(thread="t", entities=["Ada", "Ben"]).speaker == ""
    assert made(entities=["Ada"]).speaker == ""
    assert made(thread="t", entities=["Ada"], speaker="Ben").speaker == "Ben"


def test_what_its_source_took_back_is_retired_from_then_on() -> None:
    item = replace(making.item("Rye keeps.", valid_to="2026-01-01T00:00:00Z"), retired=True)
    memory = making.made(item, memory_id="mem_1", now=NOW)
    assert (memory.status, memory.retired_at) == ("retired", datetime(2026, 1, 1, tzinfo=UTC))


@pytest.mark.parametrize("details", [{"kind": SECRET}, {"layer": SECRET}, {"occurred_at": SECRET}, {"origin": SECRET}])
def test_a_refusal_repeats_no_secret(details: dict[str, Any]) -> None:
    error = refused(**details)
    assert SECRET not in error.message + repr(error.details)


def unchecked(item: Item) -> Item:
    return making.checked(item)


def test_changing_a_memory_keeps_what_is_not_named() -> None:
    before = made(tags=["a"], entities=["Ada"], project="p", confidence=0.5, occurred_at=NOW, summary="s")
    after = making.changed(before, "Rye keeps long.", {}, unchecked)
    assert replace(after, content=before.content, content_hash=before.content_hash) == before
    assert after.content_hash == content_hash("Rye keeps long.")


def test_changing_kind_or_layer_takes_the_other_along() -> None:
    before = made()
    assert making.changed(before, None, {"kind": "decision"}, unchecked).layer == "decision"
    assert making.changed(before, None, {"layer": "procedural"}, unchecked).kind == "procedure"
    assert making.changed(before, None, {"confidence": None, "valid_to": None}, unchecked) == before


@pytest.mark.parametrize("name", ["status", "trust", "id", "provenance", "thread", "superseded_by", "content_hash"])
def test_what_is_not_for_editing(name: str) -> None:
    with pytest.raises(InvalidInput):
        making.changed(made(), None, {name: "x"}, unchecked)


@given(st.text(max_size=200), st.lists(st.text(max_size=30), max_size=5), st.text(max_size=40))
def test_any_text_is_kept_or_refused_and_checking_again_changes_nothing(
    content: str, tags: list[str], project: str
) -> None:
    try:
        once = making.checked(making.item(content, tags=tags, project=project))
    except InvalidInput:
        return
    assert making.checked(once) == once
    assert "\0" not in once.content
