"""Queries over a real store, on both databases: filters only leave out, pages are slices, and any ref leads on."""

from __future__ import annotations

import json
import unicodedata
from datetime import UTC, datetime, timedelta
from itertools import count, pairwise
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from memory_rows import everything, rows_of

import segue
from segue.base.errors import InvalidInput
from segue.context.legend import ITEM_KEYS
from segue.memories.making import item
from segue.search import entities as names
from segue.services.answers import Answer, length

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from conftest import Clock, Locate

TEXTS = (
    "The importer of Harbor reads one record at a time.",
    "Harbor is launched from Rotterdam in May.",
    "Harbor Master Tool shows the ledger of the importer.",
    "The harbour in GRÖSSE is larger than the importer thinks.",
    "Die Größe der Straße zählt beim Import.",
    "Никогда не пиши в ledger Harbor.",
    "港口的导入程序每次读取一条记录。",
    "Seal numbers are unique within a line of the ledger.",
    "Which port follows Rotterdam?",
    "Tried a text index for the importer, and it was slow.",
)
LAYERS = ("semantic", "episodic", "style", "decision", "preference", "negative", "procedural")


def in_scope(opened: segue.Segue, scope_id: str, actor: str = "local") -> segue.Segue:
    """The same store as another user, or another caller, sees it."""
    return opened.of(scope_id, actor=actor)


def stock(opened: segue.Segue) -> list[str]:
    """Remember all the texts, in several layers and with several degrees of trust; return their ids."""
    items = [
        item(
            text,
            ref=f"t#{place}",
            layer=LAYERS[place % 7],
            confidence=None if place % 3 == 0 else place / 10,
            author_class="agent" if place % 2 else "user",
        )
        for place, text in enumerate(TEXTS)
    ]
    return [each.memory.id for each in opened.memories.remember_all(items) if each.memory]


def numbered(opened: segue.Segue, number: int, text: str = "Manifest {} was read by the importer.") -> list[str]:
    """Remember as many texts, and return their ids in the order in which the importer is found."""
    opened.memories.remember_all(item(text.format(each), ref=f"n#{each}") for each in range(number))
    return refs(whole(opened, {"find": "the importer"}))


def refs(items: Sequence[dict[str, Any]]) -> list[str]:
    return [each["ref"] for each in items]


def whole(opened: segue.Segue, query: dict[str, Any], k: int = 50) -> list[dict[str, Any]]:
    """The items of all pages of a query."""
    answer = opened.queries.query(query | {"k": k})
    pages = [answer]
    while answer.cursor:
        answer = opened.queries.more(answer.cursor)
        pages.append(answer)
    assert all(len(each.items) == k for each in pages[:-1])
    assert [each.offset for each in pages] == [place * k for place in range(len(pages))]
    assert {(each.considered, each.narrowed) for each in pages} == {(pages[0].considered, pages[0].narrowed)}
    assert [each.more for each in pages] == [True] * (len(pages) - 1) + [False]
    found = [each for page in pages for each in page.items]
    assert len(found) == pages[0].narrowed <= pages[0].considered
    return found


# -- what a query says ------------------------------------------------------------------------------------------------


@pytest.mark.requirement("context-query-fields")
@pytest.mark.parametrize("mode", ["find", "ask"])
def test_an_answer_has_its_shape_and_true_counts(segue_: segue.Segue, mode: str) -> None:
    stock(segue_)
    everything_found = whole(segue_, {mode: "the importer of Harbor"})
    assert len(everything_found) > 4
    wire = segue_.queries.query({mode: "the importer of Harbor", "k": 3, "expand": "document"}).to_json()
    assert list(wire) == [
        *("mql", "mode", "scope", "items", "count", "offset", "candidates_considered", "narrowed_total"),
        *("coverage", "cursor", "follow_ups"),
    ]
    assert (wire["mode"], wire["scope"], wire["count"], wire["offset"]) == (mode, "read", 3, 0)
    assert wire["mql"][mode] == "the importer of Harbor"
    total = len(everything_found)
    assert (wire["candidates_considered"], wire["narrowed_total"]) == (total, total)
    assert wire["coverage"] == {
        "narrowed_from": total,
        "narrowed_to": total,
        "returned": 3,
        "has_more": True,
        "notes": [],
    }
    assert all(tuple(each) == ITEM_KEYS for each in wire["items"])
    first = wire["items"][0]
    (further,) = wire["follow_ups"]
    assert (further["tool"], further["arguments"]) == ("expand", {"ref": first["ref"], "direction": "document"})
    assert segue_.queries.expand(**further["arguments"])["found"] is True


def test_a_follow_up_for_more_is_the_cursor(segue_: segue.Segue) -> None:
    stock(segue_)
    wire = segue_.queries.query({"find": "importer", "k": 2, "expand": "more"}).to_json()
    (further,) = wire["follow_ups"]
    assert further["arguments"] == {"ref": wire["cursor"], "direction": "more"}
    next_page = segue_.queries.expand(**further["arguments"])
    assert refs(next_page["items"]) == refs(whole(segue_, {"find": "importer"}))[2:4]
    nothing = segue_.queries.query({"find": "importer", "entities": ["nobody"], "expand": "neighbors"})
    assert nothing.to_json()["follow_ups"] == []


@pytest.mark.requirement("context-query-refused")
def test_what_cannot_be_meant_is_refused_in_the_service_too(segue_: segue.Segue) -> None:
    wrong: list[tuple[Any, str]] = [
        ({"find": "x", "k": 51}, "k"),
        ({"find": "x", "min_relevance": 2.5}, "min_relevance"),
        ({"find": "x", "entities": ['"()"', "Harbor"]}, "entities"),
        ({"find": "x", "entities": ["''"]}, "entities"),
        ({}, "find"),
        ("find", ""),
        (None, ""),
    ]
    for query, field in wrong:
        with pytest.raises(InvalidInput) as refused:
            segue_.queries.query(query)
        assert (refused.value.code, refused.value.details["field"]) == ("query.invalid", field), query


@pytest.mark.parametrize("mode", ["find", "ask"])
def test_any_text_is_found_or_asked(segue_: segue.Segue, mode: str) -> None:
    stock(segue_)
    for text in ("\0", "\0 Harbor \0", "%", "'; --", "🎉", "\u202e", "AND OR", "(" * 400):
        answer = segue_.queries.query(
            {mode: text, "entities": [text[:150] + "x"], "as_of": "0001-01-01T00:00:00+23:59"}
        )
        assert answer.items == ()
        assert segue_.queries.query({mode: text, "k": 1}).considered <= len(TEXTS)
        segue_.queries.query({mode: text, "as_of": "9999-12-31T23:59:59-23:59"})


# -- filters only leave out -------------------------------------------------------------------------------------------


def folded(text: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold()).split())


def mentions(each: dict[str, Any], content: str, wanted: str) -> bool:
    key = names.key(wanted)
    words = [f" {names.key(name)} " for name in each["entities"]]
    return key in folded(content) or any(f" {key} " in name for name in words)


def passes(each: dict[str, Any], memory: Any, query: dict[str, Any]) -> bool:
    """Whether an item may stay, as the specification says it (section 6; decision M6)."""
    assurance = memory.trust if memory.confidence is None else memory.confidence
    return (
        memory.layer in query.get("layers", LAYERS)
        and (each["relevance"] or 0) >= query.get("min_relevance", 0)
        and assurance >= query.get("min_trust", 0)
        and (not query.get("entities") or any(mentions(each, memory.content, one) for one in query["entities"]))
    )


NAMES = """
Harbor harbor ＨＡＲＢＯＲ Rotterdam Master größe GRÖSSE straße ledger Ledger 港口 Никогда НИКОГДА
Harb Tool Skipper e 100% _
""".split()
memories = st.fixed_dictionaries(
    {
        "text": st.sampled_from(TEXTS),
        "layer": st.sampled_from(LAYERS),
        "confidence": st.none() | st.sampled_from([0.0, 0.3, 0.5, 0.9, 1.0]),
        "author_class": st.sampled_from(["user", "agent", "external"]),
        "entities": st.lists(st.sampled_from(["Harbor", "Harbor Master", "Größe", "Ann", "Rotterdam"]), max_size=2),
        "tags": st.lists(st.sampled_from(["x", "y"]), max_size=2),
    }
)
narrowing = st.fixed_dictionaries(
    {},
    optional={
        "layers": st.lists(st.sampled_from(LAYERS), min_size=1, max_size=4),
        "entities": st.lists(st.sampled_from(NAMES), min_size=1, max_size=3),
        "min_relevance": st.sampled_from([0, 0.05, 0.3, 0.5, 0.9, 1]),
        "min_trust": st.sampled_from([0.1, 0.3, 0.5, 0.8, 0.9, 1]),
    },
)
questions = st.sampled_from(["importer", "Harbor and the ledger", "Größe", "записи ledger", "导入程序", "Rotterdam?"])
_scopes = count()


@pytest.mark.requirement("context-query-subset")
@pytest.mark.requirement("context-query-filter")
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(memories, min_size=1, max_size=14),
    questions,
    st.lists(narrowing, min_size=2, max_size=4),
    st.integers(1, 5),
    st.sampled_from(["find", "ask"]),
    st.sampled_from([{}, {"valid_only": False}, {"model": "claude", "budget_tokens": 400}]),
)
def test_a_filter_only_leaves_out(
    segue_: segue.Segue,
    stored: list[dict[str, Any]],
    question: str,
    filters: list[dict[str, Any]],
    k: int,
    mode: str,
    fixed: dict[str, Any],
) -> None:
    """The filtered result is the unfiltered one without what does not pass: same order, same bytes, in any pages."""
    opened = in_scope(segue_, f"scope-{next(_scopes)}")
    opened.memories.remember_all(
        item(each["text"] + f" {place}", ref=f"t#{place}", **{key: each[key] for key in each if key != "text"})
        for place, each in enumerate(stored)
    )
    asked = {mode: question} | fixed
    unfiltered = whole(opened, asked)
    if mode == "find" and unfiltered:
        best = unfiltered[0]
        assert best["relevance"] == 1 or best["relevance_basis"] == "cosine"
    known = {each["ref"]: opened.memories.get(each["ref"]) for each in unfiltered}
    for narrowed in filters:
        expected = [each for each in unfiltered if passes(each, known[each["ref"]], narrowed)]
        assert json.dumps(whole(opened, asked | narrowed)) == json.dumps(expected), narrowed
        assert whole(opened, asked | narrowed, k) == expected
        answer = opened.queries.query(asked | narrowed)
        assert (answer.considered, answer.narrowed) == (len(unfiltered), len(expected))


@pytest.mark.requirement("context-query-subset")
def test_thresholds_make_a_chain_of_subsets(segue_: segue.Segue) -> None:
    stock(segue_)
    steps = [refs(whole(segue_, {"find": "the importer of Harbor", "min_relevance": each / 20})) for each in range(21)]
    for wider, narrower in pairwise(steps):
        assert [each for each in wider if each in narrower] == narrower
    assert len({len(each) for each in steps}) > 3
    assert len(steps[-1]) == 1


@pytest.mark.requirement("context-query-filter")
def test_one_decision_is_found_among_two_thousand_facts(segue_: segue.Segue) -> None:
    """What passes is found wherever it stands: a filter is no look at the first few results."""
    facts = [item(f"Rye bread, batch {number}, was baked on rye day.", ref=f"f#{number}") for number in range(2_000)]
    oats = item("Oats are kept dry, says whoever bakes rye.", ref="d#1", layer="decision")
    segue_.memories.remember_all([*facts[:1_000], oats, *facts[1_000:]])
    answer = segue_.queries.query({"find": "rye bread batch", "layers": ["decision"], "k": 5})
    assert [each["content"] for each in answer.items] == [oats.content]
    assert (answer.considered, answer.narrowed, answer.cursor, answer.more) == (2_001, 1, None, False)
    unfiltered = segue_.queries.query({"find": "rye bread batch", "k": 50})
    assert answer.items[0]["why"]["fused_rank"] > 50
    assert answer.items[0]["relevance"] < unfiltered.items[-1]["relevance"]


NAMED = {
    "Harbor": True,  # given
    "hARBOR  master": True,  # given, in other letters
    "Master": True,  # a whole word of a longer name
    "Mast": False,  # a part of a word of it
    "Zorblat": True,  # in the text alone
    "zorbl": True,  # in the text, within a word
    "größe": True,
    "GRÖSSE": True,
    "gro\u0308ße": True,
    "straße": True,
    "STRASSE": True,
    "ΣΊΣΥΦΟΣ": True,
    "σίσυφος": True,
    "İSTANBUL": True,
    "new  york": True,  # over the end of a line
    "ｚｏｒｂｌａｔ": True,
    "Skipper": True,  # another name of it
    "Quorvex": False,
    "%": False,
    "Zor_lat": False,
    "Harbor Masters": False,
    "strase": False,
}


@pytest.mark.requirement("context-query-filter")
def test_what_mentions_a_name(segue_: segue.Segue) -> None:
    text = "x zorblat gro\u0308ße STRAßE σΊσυφος i\u0307stanbul in new\nyork"
    one = segue_.memories.remember(text, entities=["Harbor Master"]).memory.id
    segue_.memories.remember("x y z")
    segue_.entities.merge("Skipper", "Harbor Master")
    for wanted, found in NAMED.items():
        for mode in ("find", "ask"):
            for entities in ([wanted], ["nobody", wanted]):
                answer = segue_.queries.query({mode: "x", "entities": entities})
                assert refs(answer.items) == ([one] if found else []), wanted


@pytest.mark.requirement("context-query-trust")
@pytest.mark.parametrize("mode", ["find", "ask"])
def test_trust_is_confidence_or_else_who_said_it(segue_: segue.Segue, mode: str) -> None:
    remember = segue_.memories.remember
    sure = remember("The importer is quick.", confidence=0.95, author_class="agent").memory
    unsure = remember("The importer is slow on Mondays.", confidence=0.1).memory
    user = remember("The importer reads files in order.").memory
    agent = remember("The importer has nine rules.", author_class="agent").memory
    assert (user.trust, agent.trust) == (0.9, 0.6)
    for least, expected in (
        (0, {sure, unsure, user, agent}),
        (0.1, {sure, unsure, user, agent}),
        (0.11, {sure, user, agent}),
        (0.6, {sure, user, agent}),
        (0.61, {sure, user}),
        (0.9, {sure, user}),
        (0.91, {sure}),
        (0.96, set()),
        (1, set()),
    ):
        answer = segue_.queries.query({mode: "importer", "min_trust": least})
        assert set(refs(answer.items)) == {each.id for each in expected}, least
        assert all(each["confidence"] >= least for each in answer.items)
        assert answer.considered == 4


@pytest.mark.requirement("context-query-valid")
def test_what_was_replaced_is_found_only_where_it_is_asked_for(segue_: segue.Segue, clock: Clock) -> None:
    old = segue_.memories.remember("Harbor deploys on Mondays.").memory.id
    over = segue_.memories.remember("Harbor deploys at noon.", valid_to=clock.now + timedelta(days=1)).memory.id
    later = segue_.memories.remember("Harbor deploys by train.", valid_from=clock.now + timedelta(days=9)).memory.id
    new = segue_.memories.supersede(old, "Harbor deploys on Tuesdays.").memory.id
    clock.now += timedelta(days=2)

    def found(**narrowed: Any) -> set[str]:
        return set(refs(whole(segue_, {"find": "Harbor deploys"} | narrowed)))

    assert found() == {new}
    assert found(valid_only=False) == {old, over, later, new}
    assert found(valid_only=None) == {new}
    assert set(refs(whole(segue_, {"ask": "Harbor deploys"}))) == {new}
    assert old not in refs(whole(segue_, {"ask": "Harbor deploys", "valid_only": False}))
    relevances = {
        each["ref"]: each["relevance"] for each in whole(segue_, {"find": "Harbor deploys", "valid_only": False})
    }
    assert max(relevances.values()) == 1


@pytest.mark.requirement("context-query-valid")
@pytest.mark.parametrize("mode", ["find", "ask"])
def test_as_of_finds_what_held_and_was_known_then(segue_: segue.Segue, clock: Clock, mode: str) -> None:
    old = segue_.memories.remember("Harbor deploys on Mondays.").memory.id
    edited = segue_.memories.remember("Harbor has three ships, says Ann.").memory.id
    clock.now += timedelta(days=1)
    then = clock.now
    clock.now += timedelta(days=1)
    new = segue_.memories.supersede(old, "Harbor deploys on Tuesdays.").memory.id
    segue_.memories.edit(edited, content="Harbor has nine ships, says Ben.")
    clock.now += timedelta(days=1)

    def found(at: datetime | None, **narrowed: Any) -> dict[str, str]:
        given = {} if at is None else {"as_of": at.isoformat()}
        return {each["ref"]: each["content"] for each in whole(segue_, {mode: "Harbor"} | given | narrowed, 1)}

    assert found(None) == {new: "Harbor deploys on Tuesdays.", edited: "Harbor has nine ships, says Ben."}
    assert found(then) == {old: "Harbor deploys on Mondays.", edited: "Harbor has three ships, says Ann."}
    assert found(then.astimezone(UTC) - timedelta(days=30)) == {}
    assert found(then, layers=["decision"]) == {}
    offset = datetime.fromisoformat(then.isoformat().replace("+00:00", "Z")).astimezone()
    assert found(offset) == found(then)


# -- pages ------------------------------------------------------------------------------------------------------------


@pytest.mark.requirement("context-query-cursor")
@pytest.mark.parametrize("mode", ["find", "ask"])
@pytest.mark.parametrize("model", ["", "claude"])
def test_pages_are_slices_of_the_whole(segue_: segue.Segue, mode: str, model: str) -> None:
    """Also where a pack folds and shortens: the rest of a pack is the same as if it had come at once."""
    for number in range(12):
        segue_.memories.remember(
            f"Manifest {number} was read by the importer. " + "It names containers and their seals. " * number,
            entities=["Harbor"],
            summary=f"Manifest {number} was read." if number % 3 == 0 else "",
        )
    segue_.memories.remember("We decided that the importer reads manifests as a stream.", layer="decision")
    task = "which manifests did the importer read"
    asked = {mode: task, "model": model, "budget_tokens": 500}
    at_once = whole(segue_, asked)
    assert len(at_once) > 3
    if mode == "ask":
        assert at_once == segue_.context.assemble(task, model=model, budget=500).envelope()["items"]
        assert {each["why"]["compressed"] for each in at_once} == ({None, "summary", "head"} if model else {None})
    for k in (1, 2, 3, 5):
        assert whole(segue_, asked, k) == at_once


@pytest.mark.requirement("context-query-filter")
def test_what_is_asked_is_what_a_pack_holds(segue_: segue.Segue, clock: Clock) -> None:
    for number in range(20):
        segue_.memories.remember(
            f"Manifest {number} was read by the importer, which took {number} seconds for all of it."
        )
    segue_.memories.remember("The importer reads manifests of Rotterdam as a stream.")
    segue_.memories.remember(
        "the importer reads manifests, of Rotterdam, as a stream!", occurred_at="2026-01-01T00:00:00Z"
    )
    for model in ("", "claude", "cursor"):
        asked = {"ask": "the importer", "model": model, "budget_tokens": 500}
        pack = segue_.context.assemble("the importer", model=model, budget=500).envelope()
        found = whole(segue_, asked, 4)
        assert found == pack["items"]
        assert len(found) < 22


@pytest.mark.requirement("context-query-cursor")
@pytest.mark.parametrize("mode", ["find", "ask"])
def test_pages_stay_as_they_are_while_memories_arrive(segue_: segue.Segue, mode: str) -> None:
    numbered(segue_, 12)
    asked = {mode: "the importer", "model": "claude"}
    at_once = whole(segue_, asked)
    answer = segue_.queries.query(asked | {"k": 5})
    found = list(answer.items)
    while answer.cursor:
        segue_.memories.remember(f"The importer, the importer, the importer: {len(found)} importers.")
        answer = segue_.queries.more(answer.cursor)
        assert (answer.offset, answer.narrowed) == (len(found), len(at_once))
        found += answer.items
    assert found == at_once


@pytest.mark.requirement("context-query-cursor")
@pytest.mark.parametrize("mode", ["find", "ask"])
def test_what_is_forgotten_between_pages_is_skipped(segue_: segue.Segue, mode: str) -> None:
    numbered(segue_, 11)
    gone = segue_.memories.remember("Quorvex watches the importer.").memory.id
    asked = {mode: "the importer", "k": 4}
    at_once = whole(segue_, {mode: "the importer"})
    answer = segue_.queries.query(asked)
    rest = at_once[4:]
    lost = [rest[0]["ref"], rest[3]["ref"], rest[4]["ref"], gone]
    for each in dict.fromkeys(lost):
        segue_.memories.forget(each)
    assert "quorvex" not in everything(segue_).lower()
    found = list(answer.items)
    while answer.cursor:
        answer = segue_.queries.more(answer.cursor)
        found += answer.items
        assert "Quorvex" not in json.dumps(answer.to_json())
    kept = [*at_once[:4], *(each for each in rest if each["ref"] not in lost)]
    assert found == kept
    assert answer.more is False
    assert answer.to_json()["coverage"]["has_more"] is False


@pytest.mark.requirement("context-query-cursor")
@pytest.mark.parametrize("mode", ["find", "ask"])
def test_what_is_replaced_between_pages_is_skipped(segue_: segue.Segue, mode: str) -> None:
    numbered(segue_, 9)
    at_once = refs(whole(segue_, {mode: "the importer"}))
    answer = segue_.queries.query({mode: "the importer", "k": 4})
    segue_.memories.supersede(at_once[5], "Another thing altogether.")
    assert answer.cursor
    found = refs(segue_.queries.more(answer.cursor).items)
    assert at_once[5] not in found
    assert found == [*at_once[4:5], *at_once[6:9]]


@pytest.mark.requirement("context-query-cursor")
@pytest.mark.parametrize("mode", ["find", "ask"])
def test_a_cursor_holds_for_an_hour(segue_: segue.Segue, clock: Clock, mode: str) -> None:
    numbered(segue_, 9)
    cursor = segue_.queries.query({mode: "the importer", "k": 2}).cursor
    assert cursor
    assert cursor.startswith("mqlc:")
    assert len(cursor) <= 200
    clock.now += timedelta(minutes=59)
    assert len(segue_.queries.more(cursor).items) == 2
    assert segue_.queries.more(cursor).items == segue_.queries.more(cursor).items
    clock.now += timedelta(minutes=1)
    with pytest.raises(InvalidInput) as refused:
        segue_.queries.more(cursor)
    assert refused.value.code == "cursor.invalid"
    assert segue_.queries.query({mode: "the importer", "k": 2}).cursor  # and what expired goes at the next one
    assert {row["expires_us"] > 0 for row in rows_of(segue_, "kept_queries")} == {True}
    oldest = min(row["expires_us"] for row in rows_of(segue_, "kept_queries"))
    assert datetime.fromtimestamp(oldest / 1e6, UTC) > clock.now


def test_a_page_at_the_end_of_all_time_has_a_cursor(segue_: segue.Segue, clock: Clock) -> None:
    numbered(segue_, 9)
    clock.now = datetime(9999, 12, 31, 23, 30, tzinfo=UTC)
    cursor = segue_.queries.query({"find": "the importer", "k": 2}).cursor
    assert cursor
    assert len(segue_.queries.more(cursor).items) == 2


@pytest.mark.requirement("context-query-cursor")
def test_the_longest_query_has_a_short_cursor(segue_: segue.Segue) -> None:
    numbered(segue_, 9, "Manifest {} 港 was read by the importer.")
    query = {
        "find": "importer " + "港" * 490,
        "entities": [f"{number}港" * 40 for number in range(19)] + ["importer"],
        "layers": list(LAYERS),
        "model": "m" * 80,
        "k": 1,
    }
    cursor = segue_.queries.query(query).cursor
    assert cursor
    assert len(cursor) <= 200
    assert segue_.queries.more(cursor).query.to_json()["entities"] == query["entities"]


@pytest.mark.requirement("context-query-cursor")
def test_a_cursor_is_bound_to_its_caller_and_its_store(segue_: segue.Segue, locate: Locate, clock: Clock) -> None:
    numbered(segue_, 5)
    cursor = segue_.queries.query({"find": "the importer", "k": 2}).cursor
    assert cursor
    others = [in_scope(segue_, segue_._scope, "another"), in_scope(segue_, "another")]
    with segue.open(locate("sqlite"), clock=clock) as elsewhere:
        numbered(elsewhere, 5)
        for other in (*others, elsewhere):
            with pytest.raises(InvalidInput) as refused:
                other.queries.more(cursor)
            assert refused.value.code == "cursor.invalid"
            assert other.queries.expand(cursor, "more")["reason"] == "unrecognized_cursor"
    assert len(segue_.queries.more(cursor).items) == 2


@pytest.mark.requirement("context-query-cursor")
def test_a_cursor_that_was_changed_is_refused(segue_: segue.Segue) -> None:
    numbered(segue_, 5)
    cursor = segue_.queries.query({"find": "the importer", "k": 2}).cursor
    assert cursor
    letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
    changed = [
        cursor[:place] + letters[(letters.find(cursor[place]) + 1) % 64] + cursor[place + 1 :]
        for place in range(len(cursor))
    ]
    changed += [cursor[:-1] + letter for letter in letters if letter != cursor[-1]]
    changed += [
        cursor.removeprefix("mqlc:"),
        "mqlc:" + cursor,
        "MQLC:" + cursor[5:],
        cursor + "=",
        cursor + " ",
        cursor[:-1],
    ]
    changed += ["", "mqlc:", "mqlc:\ud800", "mqlc:é", "mqlc:" + "A" * 195, "\0", cursor + "\0", " " + cursor]
    search_cursor = segue_.search.find("the importer", k=2).cursor
    changed += [str(search_cursor), f"mqlc:{search_cursor}"]
    for each in changed:
        with pytest.raises(InvalidInput) as refused:
            segue_.queries.more(each)
        assert refused.value.code == "cursor.invalid"
        assert each == "" or each not in refused.value.message or len(each) < 6
    no_texts: tuple[Any, ...] = (None, 5, ["mqlc:"], {})
    for no_text in no_texts:
        with pytest.raises(InvalidInput):
            segue_.queries.more(no_text)
    assert len(segue_.queries.more(cursor).items) == 2


@pytest.mark.requirement("context-query-cursor")
def test_another_process_goes_on_with_a_query(segue_: segue.Segue, location: str, clock: Clock) -> None:
    at_once = numbered(segue_, 9)
    cursor = segue_.queries.query({"find": "the importer", "k": 4}).cursor
    assert cursor
    segue_.memories.remember("The importer, the importer, and the importer.")
    with segue.open(location, clock=clock) as other:
        assert refs(other.queries.more(cursor).items) == at_once[4:8]


@pytest.mark.parametrize("mode", ["find", "ask"])
def test_a_store_that_cannot_be_written_gives_a_note_and_no_cursor(segue_: segue.Segue, mode: str) -> None:
    numbered(segue_, 9)
    segue_._database.read_only = True
    answer = segue_.queries.query({mode: "the importer", "k": 4})
    assert (len(answer.items), answer.cursor, answer.more) == (4, None, True)
    assert "cannot be written" in answer.notes[-1]
    wire = answer.to_json()["coverage"]
    assert (wire["has_more"], wire["notes"]) == (True, list(answer.notes))
    assert segue_.queries.query({mode: "the importer", "k": 50}).notes == ()


@pytest.mark.parametrize("mode", ["find", "ask"])
def test_a_query_with_a_secret_in_it_is_not_kept(segue_: segue.Segue, mode: str) -> None:
    numbered(segue_, 9)
    secret = "AK" + "IA" + "Q7Z2" * 4
    for query in ({mode: f"the importer {secret}"}, {mode: "the importer", "entities": [secret, "importer"]}):
        answer = segue_.queries.query(query | {"k": 4})
        assert (len(answer.items), answer.cursor, answer.more) == (4, None, True)
        assert "must not be kept" in answer.notes[-1]
    assert secret not in everything(segue_)


def test_a_whole_answer_writes_nothing(segue_: segue.Segue) -> None:
    numbered(segue_, 5)
    before = everything(segue_)
    segue_.queries.query({"find": "the importer"})
    segue_.queries.query({"ask": "the importer"})
    for direction in ("document", "neighbors", "more"):
        segue_.queries.expand("Harbor", direction)
    assert everything(segue_) == before


@pytest.mark.requirement("context-query-cursor")
@pytest.mark.parametrize("mode", ["find", "ask"])
def test_a_page_is_as_long_as_its_reader_takes(segue_: segue.Segue, mode: str) -> None:
    """What finds no room comes with the next page: nothing is lost, and all but the longest stay as they are."""
    for number in range(12):
        segue_.memories.remember(f"Importer {number}: " + f'"{number}" \u4e2d\n' * (1_300 * (number % 4 == 0) + number))
    asked = {mode: "the importer", "budget_tokens": 6_000}
    at_once = whole(segue_, asked)
    for most in (2_000, 9_000, 40_000):
        answer: Answer = segue_.queries.query(asked | {"k": 50}, most=most)
        found: list[dict[str, Any]] = []
        while True:
            assert length(answer.to_json()) <= most
            assert answer.items
            found += answer.items
            if answer.cursor is None:
                break
            answer = segue_.queries.more(answer.cursor, most=most)
        assert refs(found) == refs(at_once)
        for short, full in zip(found, at_once, strict=True):
            if short != full:
                assert length(full) > most - 2_000
                assert short["why"] == full["why"] | {"compressed": "cut", "truncated": True}
                assert full["content"].startswith(short["content"].removesuffix("…"))
                assert len(short["content"]) > 100


# -- the way on -------------------------------------------------------------------------------------------------------


@pytest.mark.requirement("context-expand")
def test_a_document_is_all_of_a_memory(segue_: segue.Segue) -> None:
    one = segue_.memories.remember("Harbor is quick.\n" * 400, entities=["Harbor"], tags=["x"], summary="Quick.").memory
    found = segue_.queries.expand(one.id)
    assert list(found) == ["ref", "direction", "found", "document"]
    assert found["found"] is True
    assert found["document"] == one.to_json() | {"treat_as_data": True}
    new = segue_.memories.supersede(one.id, "Harbor is slow.").memory
    assert segue_.queries.expand(one.id)["document"]["superseded_by"] == new.id


@pytest.mark.requirement("context-expand")
def test_neighbours_of_a_memory_and_of_a_name(segue_: segue.Segue, clock: Clock) -> None:
    remember = segue_.memories.remember
    launch = remember("The launch is in May.", entities=["Harbor", "Rotterdam"]).memory.id
    lock = remember("The lock is shut at night.", entities=["Rotterdam", "Ann"]).memory.id
    ledger = remember("The ledger is append-only.", entities=["Harbor", "Ann"]).memory.id
    far = remember("Nothing to do with it.", entities=["Lighthouse"]).memory.id
    over = remember("It was so.", entities=["Harbor", "Olden"], valid_to=clock.now + timedelta(seconds=5)).memory.id
    segue_.memories.propose("Waiting.", entities=["Harbor", "Waiting"])
    clock.now += timedelta(days=1)

    by_id = segue_.queries.expand(launch, "neighbors")
    assert list(by_id) == ["ref", "direction", "found", "seed_entities", "entities", "items", "cursor", "notes"]
    assert (by_id["ref"], by_id["direction"], by_id["found"]) == (launch, "neighbors", True)
    assert sorted(by_id["seed_entities"]) == ["Harbor", "Rotterdam"]
    assert by_id["entities"] == [{"name": "Ann", "memories": 2}]
    assert refs(by_id["items"]) == [ledger, lock]
    assert all(tuple(each) == ITEM_KEYS for each in by_id["items"])
    assert {each["relevance"] for each in by_id["items"]} == {None}

    by_name = segue_.queries.expand("  hARBOR ", "neighbors")
    assert (by_name["found"], by_name["seed_entities"]) == (True, ["Harbor"])
    assert by_name["entities"] == [{"name": "Ann", "memories": 1}, {"name": "Rotterdam", "memories": 1}]
    assert refs(by_name["items"]) == [ledger, launch]
    assert refs(segue_.queries.expand("harbor", "neighbors", 1)["items"]) == [ledger]
    assert len(segue_.queries.expand("harbor", "neighbors", 1)["entities"]) == 1

    segue_.entities.merge("The Quay", "Harbor")
    by_alias = segue_.queries.expand("the quay", "neighbors")
    assert (by_alias["seed_entities"], by_alias["items"]) == (["Harbor"], by_name["items"])
    told = json.dumps([by_id, by_name, by_alias])
    for absent in ("Waiting", "Olden", "Lighthouse", over, far):
        assert absent not in told


@pytest.mark.requirement("context-expand")
def test_a_memory_that_names_nobody_has_no_neighbours(segue_: segue.Segue) -> None:
    one = segue_.memories.remember("it is so").memory.id
    found = segue_.queries.expand(one, "neighbors")
    assert (found["found"], found["seed_entities"], found["entities"], found["items"]) == (False, [], [], [])


@pytest.mark.requirement("context-expand")
def test_neighbours_that_find_no_room_come_with_a_cursor(segue_: segue.Segue) -> None:
    ids = [segue_.memories.remember(f"{number} " + "x" * 900, entities=["Harbor"]).memory.id for number in range(9)]
    answer = segue_.queries.expand("Harbor", "neighbors", 8, most=5_000)
    found = refs(answer["items"])
    assert 0 < len(found) < 8
    waiting = [each for each in ids if each not in found]
    segue_.memories.forget(waiting[3])
    while answer["cursor"]:
        assert length(answer) <= 5_000
        with pytest.raises(InvalidInput, match="expand"):
            segue_.queries.more(answer["cursor"])
        answer = segue_.queries.expand(answer["cursor"], "more", most=5_000)
        assert answer["found"] is True
        found += refs(answer["items"])
    assert found == [each for each in reversed(ids) if each != waiting[3]][:7]


@pytest.mark.requirement("context-expand")
def test_more_is_the_next_page(segue_: segue.Segue) -> None:
    at_once = numbered(segue_, 7)
    cursor = segue_.queries.query({"find": "the importer", "k": 3}).cursor
    assert cursor
    found = segue_.queries.expand(cursor, "more")
    assert found == {"ref": cursor, "direction": "more", "found": True} | segue_.queries.more(cursor).to_json() | {
        "cursor": found["cursor"],
    }
    assert refs(found["items"]) == at_once[3:6]
    assert refs(segue_.queries.expand(found["cursor"], "more")["items"]) == at_once[6:]


@pytest.mark.requirement("context-expand")
def test_a_cursor_that_is_none_gives_nothing(segue_: segue.Segue) -> None:
    for cursor in ("x", "mqlc:", "mqlc:" + "A" * 60, "mqlc:é", "\0", "mem_0", "x" * 500):
        assert segue_.queries.expand(cursor, "more") == {
            "ref": cursor,
            "direction": "more",
            "found": False,
            "items": [],
            "cursor": None,
            "reason": "unrecognized_cursor",
        }


WRONG: tuple[tuple[tuple[Any, ...], str], ...] = (
    (("",), "ref"),
    (("x" * 501,), "ref"),
    (("\ud800",), "ref"),
    ((None,), "ref"),
    ((5,), "ref"),
    (("x", ""), "direction"),
    (("x", "Document"), "direction"),
    (("x", None), "direction"),
    (("x", ["more"]), "direction"),
    (("x", "neighbors", 0), "limit"),
    (("x", "neighbors", 51), "limit"),
    (("x", "neighbors", True), "limit"),
    (("x", "neighbors", 8.0), "limit"),
    (("x", "document", "8"), "limit"),
    (("x", "more", None), "limit"),
)


@pytest.mark.requirement("context-expand")
def test_a_bad_value_is_refused(segue_: segue.Segue) -> None:
    for arguments, field in WRONG:
        with pytest.raises(InvalidInput) as refused:
            segue_.queries.expand(*arguments)
        assert (refused.value.code, refused.value.details) == (f"expand.{field}", {"field": field}), arguments


@pytest.mark.requirement("context-expand-foreign")
@pytest.mark.parametrize("direction", ["document", "neighbors", "more"])
def test_what_is_not_yours_is_not_there(segue_: segue.Segue, direction: str) -> None:
    """Unknown, another user's, waiting for review, and forgotten: one answer for all."""
    theirs = in_scope(segue_, "another")
    foreign = theirs.memories.remember("Quorvex is theirs.", entities=["Quorvex"]).memory.id
    pending = segue_.memories.propose("Zorblat waits.", entities=["Zorblat"]).memory.id
    forgotten = segue_.memories.remember("Ystwyth was here.", entities=["Ystwyth"]).memory.id
    segue_.memories.forget(forgotten)
    for number in range(3):
        theirs.memories.remember(f"Quorvex has {number} doors.", entities=["Quorvex"])
    cursor = theirs.queries.query({"find": "Quorvex", "k": 1}).cursor
    assert cursor
    unknown = "mem_01JZZZZZZZZZZZZZZZZZZZZZZZ"
    expected = segue_.queries.expand(unknown, direction)
    assert expected["found"] is False
    others = [foreign, pending, forgotten, cursor, "Quorvex", "Zorblat", "Ystwyth", "nobody", "\0", "%", "mem_%", "'"]
    for ref in others:
        answer = segue_.queries.expand(ref, direction)
        assert json.dumps(answer | {"ref": ""}) == json.dumps(expected | {"ref": ""}), ref
        assert answer["ref"] == ref
    if direction != "more":
        assert theirs.queries.expand(foreign, direction)["found"] is True


@pytest.mark.requirement("context-expand-foreign")
def test_queries_see_nothing_of_others_or_of_what_waits(segue_: segue.Segue) -> None:
    theirs = in_scope(segue_, "another")
    theirs.memories.remember("The importer of Quorvex is theirs.", entities=["Harbor"])
    segue_.memories.propose("The importer of Zorblat waits.", entities=["Harbor"])
    mine = segue_.memories.remember("The importer is mine.", entities=["Harbor"]).memory.id
    for mode in ("find", "ask"):
        for narrowed in ({}, {"valid_only": False}, {"entities": ["Harbor"]}, {"as_of": "2027-01-01T00:00:00Z"}):
            answer = segue_.queries.query({mode: "the importer"} | narrowed)
            assert refs(answer.items) == [mine], narrowed
            assert (answer.considered, answer.narrowed) == (1, 1)
    assert segue_.queries.query({"find": "Quorvex Zorblat", "entities": ["Quorvex"]}).items == ()


def test_both_databases_answer_the_same(locate: Locate, clock: Clock, tmp_path: Path) -> None:
    answers = []
    for kind in ("sqlite", "postgres"):
        with segue.open(locate(kind), clock=clock) as opened:
            stock(opened)
            answers.append(
                [
                    [
                        (each["content"], each["layer"], each["relevance"], each["why"]["fused_rank"], each["entities"])
                        for each in whole(opened, {mode: question} | narrowed, 3)
                    ]
                    for mode in ("find", "ask")
                    for question in (*TEXTS[:4], "Größe")
                    for narrowed in ({}, {"entities": ["größe", "Harbor"]}, {"layers": ["decision", "semantic"]})
                ]
            )
    assert answers[0] == answers[1]
