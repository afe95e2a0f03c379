"""Search over a real store, on both databases: what is found, what is not, in which order, and how lists go on."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import segue
from segue.base import time
from segue.memories.making import item
from segue.services import search as service
from segue.services.reindexing import Reindexing

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from conftest import Clock, Locate
    from segue.services.search import Hits

TEXTS = (
    "We chose PostgreSQL over MySQL for the importer.",
    "The parser is written in C++ and links against a::b.",
    "Ada prefers tabs over spaces.",
    "The importer refuses files above 500 rows.",
    "Deployments happen on Tuesdays before noon.",
    "東京のデータセンターに移行した。",
    "ใช้ฐานข้อมูลเดิม",
    "서울 사무실은 금요일에 닫는다.",
    "Die Straße nach İstanbul ist gesperrt.",
    "The café opens at eight.",
)


def remember(opened: segue.Segue, *texts: str, **details: Any) -> list[str]:
    return [opened.memories.remember(each, **details).memory.id for each in texts or TEXTS]


def contents(hits: Hits) -> list[str]:
    return [hit.memory.content for hit in hits]


@pytest.mark.requirement("memories-20")
@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("Which database did we choose?", 0),
        ("C++", 1),
        ("a::b", 1),
        ("what does Ada prefer", 2),
        ("importers", 3),
        ("tuesday", 4),
        ("東京", 5),
        ("移", 5),
        ("ฐาน", 6),
        ("서울", 7),
        ("STRASSE", 8),
        ("istanbul", 8),
        ("CAFE\u0301", 9),
        ("ｃａｆｅ", 9),
    ],
)
def test_what_is_meant_comes_first(segue_: segue.Segue, query: str, found: int) -> None:
    remember(segue_)
    assert contents(segue_.search.find(query))[0] == (TEXTS[3] if query == "importers" else TEXTS[found])


@pytest.mark.requirement("memories-21")
@pytest.mark.parametrize(
    "query",
    [
        *(
            "",
            " ",
            "AND",
            "OR NOT",
            '"',
            "NEAR(",
            "NEAR(a b, 2)",
            "*",
            "don't",
            "%",
            "_",
            "\0",
            "\ud800",
            "a:b^2",
            "'; --",
        ),
        *("word " * 10_000, "x" * 200_000, "🎉", "\u202e", "(((", "content:importer"),
    ],
)
def test_any_text_is_a_query(segue_: segue.Segue, query: str) -> None:
    remember(segue_)
    assert len(segue_.search.find(query)) <= len(TEXTS)


@pytest.mark.requirement("memories-22")
def test_each_hit_says_why(segue_: segue.Segue) -> None:
    remember(segue_)
    best = segue_.search.find("the importer and PostgreSQL").hits[0]
    assert (best.relevance, best.relevance_basis) == (1.0, "rank")
    lexical = next(each for each in best.why if each.retriever == "lexical")
    assert lexical.rank == 1
    assert set(lexical.terms) == {"import", "postgresql"}
    shown = best.to_json()
    assert shown["memory"]["content"] == TEXTS[0]
    assert {each["retriever"] for each in shown["why"]} <= {"lexical", "vectors", "meaning", "speaker", "date"}


@pytest.mark.requirement("memories-23")
def test_filters_are_in_the_query_and_change_no_relevance(segue_: segue.Segue) -> None:
    """The one memory that fits is found behind hundreds that do not, with the relevance that it has without."""
    items = [item(f"Rye bread, batch {number}.", ref=f"batch#{number}") for number in range(600)]
    segue_.memories.remember_all([*items, item("Oats are kept dry, says the rye baker.", ref="x#1", tags=["oats"])])
    first = segue_.search.find("rye bread batch", k=500)
    whole = [*first, *segue_.search.find("rye bread batch", k=500, cursor=first.cursor)]
    relevances = {hit.memory.content: hit.relevance for hit in whole}
    assert "Oats are kept dry, says the rye baker." not in [hit.memory.content for hit in whole[:100]]
    narrowed = segue_.search.find("rye bread batch", tags=["oats"])
    assert {hit.memory.content: hit.relevance for hit in narrowed} == {
        "Oats are kept dry, says the rye baker.": relevances["Oats are kept dry, says the rye baker."]
    }


@pytest.mark.requirement("memories-23")
def test_every_filter(segue_: segue.Segue, clock: Clock) -> None:
    one = segue_.memories.remember(
        "Ada chose rye.",
        kind="decision",
        entities=["Ada Lovelace"],
        tags=["Bread%"],
        project="Bakery",
        occurred_at="2026-01-02T00:00:00Z",
        confidence=0.9,
    ).memory
    segue_.memories.remember("Somebody chose rye.", author_class="agent", confidence=0.2)
    segue_.entities.merge("The Countess", "Ada Lovelace")
    day = time.parse("2026-01-02T00:00:00Z")
    fitting: list[dict[str, Any]] = [
        {"kinds": ["decision"]},
        {"layers": ["decision"]},
        {"entities": ["ADA  lovelace"]},
        {"entities": ["the countess"]},
        {"tags": ["bread%"]},
        {"projects": ["bakery"]},
        {"author_classes": ["user"]},
        {"minimum_trust": 0.9},
        {"minimum_confidence": 0.5},
        {"until": day + timedelta(days=1)},
        {"since": day, "until": day + timedelta(seconds=1)},
    ]
    for wanted in fitting:
        assert [hit.memory.id for hit in segue_.search.find("rye", **wanted)] == [one.id], wanted
    nothing: list[dict[str, Any]] = [
        {"tags": ["bread_"]},
        {"tags": ["%"]},
        {"projects": ["b*"]},
        {"entities": ["%"]},
        {"sources": ["%"]},
    ]
    for literal in nothing:
        assert not segue_.search.find("rye", **literal).hits, literal
    assert len(segue_.search.find("rye")) == 2


@pytest.mark.requirement("memories-24")
def test_pages_stay_as_they_are_while_rows_arrive(segue_: segue.Segue) -> None:
    segue_.memories.remember_all(item(f"Rye bread, batch {number}.", ref=f"b#{number}") for number in range(30))
    whole = [hit.memory.id for hit in segue_.search.find("rye bread batch", k=30)]
    page = segue_.search.find("rye bread batch", k=7)
    found = [hit.memory.id for hit in page]
    while page.cursor:
        segue_.memories.remember(f"Rye bread, batch of {len(found)} more rye bread.")
        page = segue_.search.find("rye bread batch", k=7, cursor=page.cursor)
        found += [hit.memory.id for hit in page]
    assert found == whole


@pytest.mark.requirement("memories-24")
def test_another_process_goes_on_with_a_list(segue_: segue.Segue, location: str, clock: Clock) -> None:
    segue_.memories.remember_all(item(f"Rye bread, batch {number}.", ref=f"b#{number}") for number in range(30))
    first = segue_.search.find("rye bread batch", k=10)
    segue_.memories.remember("Rye bread batch, the very last rye bread batch.")
    with segue.open(location, clock=clock) as other:
        second = other.search.find("rye bread batch", k=10, cursor=first.cursor)
    again = segue_.search.find("rye bread batch", k=10, cursor=first.cursor)
    assert contents(second) == contents(again)
    assert not set(contents(second)) & set(contents(first))


@pytest.mark.requirement("memories-24")
def test_yesterday_is_the_same_day_on_all_pages(segue_: segue.Segue, location: str, clock: Clock) -> None:
    today = clock.now
    segue_.memories.remember_all(
        item(
            "Rye bread was baked.", ref=f"b#{days}", thread="t", position=days, occurred_at=today - timedelta(days=days)
        )
        for days in range(40)
    )
    question = "when was rye bread baked yesterday"
    first = segue_.search.find(question, k=5)
    expected = [hit.memory.id for hit in segue_.search.find(question, k=40)]
    clock.now += timedelta(days=9)
    found = [hit.memory.id for hit in first]
    cursor = first.cursor
    while cursor:
        with segue.open(location, clock=clock) as other:  # it has nothing at hand of the pages before
            page = other.search.find(question, k=5, cursor=cursor)
        found += [hit.memory.id for hit in page]
        cursor = page.cursor
    assert found == expected
    assert [hit.memory.id for hit in segue_.search.find(question, k=40)] != expected


@pytest.mark.requirement("memories-24")
def test_a_cursor_belongs_to_its_query(segue_: segue.Segue, locate: Locate) -> None:
    remember(segue_)
    cursor = segue_.search.find("the", k=1).cursor
    assert cursor is not None
    assert len(cursor) <= 200
    wrong: list[tuple[str, str, dict[str, Any]]] = [
        ("an", cursor, {}),
        ("the", cursor, {"tags": ["x"]}),
        ("the", cursor[:-2] + "AA", {}),
        ("the", "nonsense", {}),
    ]
    for query, given_cursor, wanted in wrong:
        with pytest.raises(segue.InvalidInput) as refused:
            segue_.search.find(query, k=1, cursor=given_cursor, **wanted)
        assert refused.value.code == "cursor.invalid"


@pytest.mark.requirement("memories-25")
def test_as_of_sees_what_held_and_was_known_then(segue_: segue.Segue, clock: Clock) -> None:
    old = segue_.memories.remember("The oven is set to 200 degrees.").memory
    then = clock.now
    new = segue_.memories.supersede(old.id, "The oven is set to 230 degrees.").memory
    assert [hit.memory.id for hit in segue_.search.find("oven degrees")] == [new.id]
    assert [hit.memory.id for hit in segue_.search.find("oven degrees", as_of=then)] == [old.id]
    assert not segue_.search.find("oven degrees", as_of=then - timedelta(days=1)).hits


@pytest.mark.requirement("memories-25")
def test_validity_bounds(segue_: segue.Segue, clock: Clock) -> None:
    now = clock.now
    segue_.memories.remember("The summer menu has rye.", valid_from=now + timedelta(days=30))
    segue_.memories.remember("The winter menu has oats.", valid_to=now + timedelta(days=30))
    assert contents(segue_.search.find("menu")) == ["The winter menu has oats."]
    later = now + timedelta(days=31)
    assert contents(segue_.search.find("menu", as_of=later)) == ["The summer menu has rye."]


@pytest.mark.requirement("memories-26")
def test_only_what_is_active_is_served(segue_: segue.Segue) -> None:
    waiting = segue_.memories.propose("The oven is blue.").memory
    assert not segue_.search.find("oven").hits
    segue_.memories.approve(waiting.id, waiting.content_hash)
    assert contents(segue_.search.find("oven")) == ["The oven is blue."]
    segue_.memories.edit(waiting.id, content="The kettle is green.")
    assert not [hit for hit in segue_.search.find("blue oven") if any(each.terms for each in hit.why)]
    assert contents(segue_.search.find("kettle")) == ["The kettle is green."]
    segue_.memories.forget(waiting.id)
    assert not segue_.search.find("kettle").hits


@pytest.mark.requirement("memories-27")
def test_what_another_writes_is_found_and_what_it_forgets_is_not(
    segue_: segue.Segue, location: str, clock: Clock
) -> None:
    remember(segue_)
    assert "The oven stands in the cellar." not in contents(segue_.search.find("oven cellar"))
    with segue.open(location, clock=clock) as other:
        written = other.memories.remember("The oven stands in the cellar.").memory
        assert contents(segue_.search.find("oven cellar"))[0] == "The oven stands in the cellar."
        other.memories.forget(written.id)
    assert "The oven stands in the cellar." not in contents(segue_.search.find("oven cellar"))


@pytest.mark.requirement("memories-28")
def test_another_embedder_keeps_search_working_and_says_so(location: str, clock: Clock) -> None:
    with segue.open(location, clock=clock, embedder="none") as opened:
        remember(opened)
        assert contents(opened.search.find("C++"))[0] == TEXTS[1]
        assert opened.search.find("C++").notes == ()
    with segue.open(location, clock=clock, embedder="static") as opened:
        found = opened.search.find("Ada prefers")
        assert contents(found)[0] == TEXTS[2]
        assert len(found.notes) == 1
        assert "segue reindex" in found.notes[0]
        assert opened.memories.reindexing.reindex() == len(TEXTS)
        found = opened.search.find("which SQL server")
        assert found.notes == ()
        assert any(each.retriever == "vectors" for hit in found for each in hit.why)


@pytest.mark.requirement("memories-28")
def test_a_reindex_goes_on_where_it_was_stopped(segue_: segue.Segue, monkeypatch: pytest.MonkeyPatch) -> None:
    segue_.memories.remember_all(item(f"Rye bread, batch {number}.", ref=f"b#{number}") for number in range(50))
    before = contents(segue_.search.find("rye bread 7", k=50))
    monkeypatch.setattr("segue.services.reindexing.BATCH", 10)
    done: list[tuple[int, int]] = []

    def stopped(number: int, total: int) -> None:
        done.append((number, total))
        if number == 30:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        segue_.memories.reindexing.reindex(stopped)
    assert done == [(10, 50), (20, 50), (30, 50)]
    assert contents(segue_.search.find("rye bread 7", k=50)) == before
    assert segue_.memories.reindexing.reindex() == 20
    assert contents(segue_.search.find("rye bread 7", k=50)) == before
    assert segue_.store.doctor() == []


@pytest.mark.requirement("memories-29")
def test_both_databases_find_the_same(locate: Locate, clock: Clock) -> None:
    found = []
    for kind in ("sqlite", "postgres"):
        with segue.open(locate(kind), clock=clock) as opened:
            items = [
                item(text, ref=f"t#{place}", thread="talk", position=place, entities=["Ada" if place % 2 else "Ben"])
                for place, text in enumerate(TEXTS)
            ]
            opened.memories.remember_all(items)
            found.append(
                [
                    [(hit.memory.content, hit.relevance) for hit in opened.search.find(query)]
                    for query in (*TEXTS, "What did Ada say about bread?", "when", "importer")
                ]
            )
    assert found[0] == found[1]


def test_a_bad_value_is_refused(segue_: segue.Segue) -> None:
    wrong: list[tuple[dict[str, Any], str]] = [
        ({"k": 0}, "search.k"),
        ({"k": 501}, "search.k"),
        ({"as_of": datetime(2026, 1, 1)}, "time.invalid"),  # noqa: DTZ001 - that is what is wrong with it
        ({"kinds": ["thought"]}, "filter.invalid"),
        ({"minimum_trust": 1.5}, "filter.invalid"),
        ({"minimum_confidence": float("nan")}, "filter.invalid"),
        ({"tags": ["x" * 2000]}, "filter.invalid"),
    ]
    for options, code in wrong:
        with pytest.raises(segue.InvalidInput) as refused:
            segue_.search.find("x", **options)
        assert refused.value.code == code, options


def test_a_growing_store_weighs_its_vectors_anew(segue_: segue.Segue, monkeypatch: pytest.MonkeyPatch) -> None:
    begun: list[bool] = []
    begin = Reindexing._begin

    def noticed(self: Reindexing, *, recount: bool) -> None:
        begun.append(recount)
        begin(self, recount=recount)

    monkeypatch.setattr(Reindexing, "_begin", noticed)
    segue_.memories.remember("Rye.")
    for number in range(6):
        segue_.memories.remember(f"Rye bread number {number} is baked.")
    assert begun
    assert set(begun) == {False}
    assert len(begun) < 6
    assert segue_.store.doctor() == []


def test_few_fit_among_very_many(segue_: segue.Segue, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where a filter leaves more than are named to the index, the walk goes on until it has enough."""
    monkeypatch.setattr(service, "_NARROW", 5)
    monkeypatch.setattr(service, "_STEP", 3)
    items = [
        item(f"Rye bread, batch {number}.", ref=f"b#{number}", tags=["odd"] * (number % 2)) for number in range(60)
    ]
    segue_.memories.remember_all(items)
    found = segue_.search.find("rye bread batch", k=30, tags=["odd"])
    assert len(found) == 30
    assert all(hit.memory.tags == ("odd",) for hit in found)


@given(st.lists(st.text(max_size=40), max_size=4), st.text(max_size=40))
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_text_in_any_store(tmp_path_factory: pytest.TempPathFactory, texts: list[str], query: str) -> None:
    with segue.open(tmp_path_factory.mktemp("store") / "segue.db", embedder="none") as opened:
        for text in texts:
            if text.strip() and text.isprintable():
                opened.memories.remember(text)
        relevances = [hit.relevance for hit in opened.search.find(query)]
        assert relevances == sorted(relevances, reverse=True)
        assert all(0 <= each <= 1 for each in relevances)


def test_forgotten_and_vacuumed_memories_are_in_no_index_of_another(
    tmp_path: Path, clock: Callable[[], datetime]
) -> None:
    with segue.open(tmp_path / "segue.db", clock=clock) as opened, segue.open(tmp_path / "segue.db") as other:
        remember(opened)
        assert contents(other.search.find("Ada"))[0] == TEXTS[2]
        opened.memories.forget(next(each.id for each in opened.memories.ls().memories if each.content == TEXTS[2]))
        assert TEXTS[2] not in contents(other.search.find("Ada prefers tabs"))
