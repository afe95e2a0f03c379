"""Entities on both databases: what memories name, what stands beside it, names that mean the same."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from memory_rows import rows_of

from segue.base.errors import Ambiguous, InvalidInput, NotFound, Refused
from segue.base.redaction import RedactionRefused
from segue.services.entities import Entity

if TYPE_CHECKING:
    import segue

SECRET = "AK" + "IA" + "Q7Z2" * 4


def remember(opened: segue.Segue, text: str, *entities: str) -> str:
    return opened.memories.remember(text, entities=entities).memory.id


def test_the_most_frequent_come_first(segue_: segue.Segue) -> None:
    remember(segue_, "one", "Ada", "Ben")
    remember(segue_, "two", "Ada", "Carol")
    assert segue_.entities.ls() == [Entity("Ada", 2), Entity("Ben", 1), Entity("Carol", 1)]
    assert segue_.entities.ls(limit=1) == [Entity("Ada", 2)]
    for limit in (0, 501):
        with pytest.raises(InvalidInput):
            segue_.entities.ls(limit=limit)


def test_only_active_memories_count(segue_: segue.Segue) -> None:
    segue_.memories.propose("one", entities=["Ada"])
    old = remember(segue_, "two", "Ben")
    segue_.memories.supersede(old, "three", entities=["Carol"])
    assert segue_.entities.ls() == [Entity("Carol", 1)]
    with pytest.raises(NotFound):
        segue_.entities.neighbourhood("Ben")


@pytest.mark.requirement("memories-31")
def test_what_stands_beside(segue_: segue.Segue) -> None:
    first, second = remember(segue_, "one", "Ada", "Ben"), remember(segue_, "two", "Ada", "Carol")
    third = remember(segue_, "three", "Carol")
    around = segue_.entities.neighbourhood(" ADA ")
    assert around.entities == [Entity("Ada", 2)]
    assert around.beside == [Entity("Ben", 1), Entity("Carol", 1)]
    assert [each.id for each in around.memories] == [second, first]
    of_memory = segue_.entities.neighbourhood(third[-8:])
    assert (of_memory.entities, of_memory.beside) == ([Entity("Carol", 2)], [Entity("Ada", 1)])
    assert [each.id for each in of_memory.memories] == [third, second]
    assert set(of_memory.to_json()) == {"entities", "beside", "memories"}


def test_a_memory_that_names_nothing(segue_: segue.Segue) -> None:
    around = segue_.entities.neighbourhood(remember(segue_, "nothing to name"))
    assert (around.entities, around.beside, around.memories) == ([], [], [])


@pytest.mark.parametrize("name", ["Nobody", "", "x", "…", "mem_", "\0", "\ud800", "%", "' OR 1=1 --", "A" * 5_000])
def test_unknown_names(segue_: segue.Segue, name: str) -> None:
    remember(segue_, "one", "Ada")
    with pytest.raises(NotFound) as caught:
        segue_.entities.neighbourhood(name)
    assert caught.value.code == "entity.not_found"
    assert not isinstance(caught.value, Ambiguous)


@pytest.mark.requirement("memories-31")
def test_merging(segue_: segue.Segue) -> None:
    both = remember(segue_, "one", "PG", "PostgreSQL")
    remember(segue_, "two", "PG")
    assert segue_.entities.merge("pg", "postgresql") == Entity("PostgreSQL", 2, ("pg",))
    later = remember(segue_, "three", "Pg")
    assert segue_.entities.ls() == [Entity("PostgreSQL", 3, ("pg",))]
    assert segue_.entities.neighbourhood("PG").entities == [Entity("PostgreSQL", 3, ("pg",))]
    assert {each.id for each in segue_.memories.ls(entities=["pg"]).memories} >= {both, later}
    assert segue_.memories.get(both).entities == ("PG", "PostgreSQL")  # what was written stays


def test_chains_of_names_end_at_one(segue_: segue.Segue) -> None:
    remember(segue_, "one", "A1")
    segue_.entities.merge("A1", "B1")
    assert segue_.entities.merge("B1", "C1") == Entity("C1", 1, ("A1", "B1"))
    assert segue_.entities.merge("D1", "A1") == Entity("C1", 1, ("A1", "B1", "D1"))
    for alias, name in (("C1", "A1"), ("C1", "C1"), ("c1", "D1"), ("A1", "b1")):
        if alias.lower() == "c1":
            with pytest.raises(Refused) as caught:
                segue_.entities.merge(alias, name)
            assert caught.value.code == "entity.same"
        else:
            segue_.entities.merge(alias, name)  # said once more
    assert segue_.entities.ls() == [Entity("C1", 1, ("A1", "B1", "D1"))]


def test_names_that_nobody_mentions_yet(segue_: segue.Segue) -> None:
    with pytest.raises(NotFound) as caught:
        segue_.entities.merge("K8s", "Kubernetes")
    assert caught.value.code == "entity.not_found"
    segue_.memories.forget(remember(segue_, "Something else.", "Kubernetes", "Helm"))
    with pytest.raises(NotFound):
        segue_.entities.merge("K8s", "Kubernetes")
    assert rows_of(segue_, "entity_aliases") == []
    segue_.memories.propose("Yet to be looked at.", entities=["Kubernetes"])
    assert segue_.entities.merge("K8s", "Kubernetes") == Entity("Kubernetes", 0, ("K8s",))
    remember(segue_, "We moved to K8s last year.")
    assert segue_.entities.ls() == [Entity("Kubernetes", 1, ("K8s",))]
    assert segue_.entities.neighbourhood("kubernetes").entities == [Entity("Kubernetes", 1, ("K8s",))]


def test_a_merge_taken_back_leaves_what_was_before(segue_: segue.Segue) -> None:
    remember(segue_, "one", "PG", "PostgreSQL", "Ada")
    remember(segue_, "two, on PG as well", "Ben")
    old = remember(segue_, "three", "pg")
    segue_.memories.supersede(old, "four", entities=["PostgreSQL"])
    segue_.memories.propose("five", entities=["PG"])
    before, listed = named(segue_), segue_.entities.ls()
    segue_.entities.merge("PG", "PostgreSQL")
    assert named(segue_) != before
    apart = segue_.entities.unmerge(" pg ")
    assert (apart.name.upper(), apart.memories, apart.aliases) == ("PG", 2, ())
    assert {each[:2] for each in named(segue_)} == {each[:2] for each in before}
    assert segue_.entities.ls() == listed
    assert segue_.entities.neighbourhood("PostgreSQL").entities == [Entity("PostgreSQL", 2)]
    assert remember(segue_, "six", "PG") in {each.id for each in segue_.memories.ls(entities=["pg"]).memories}
    assert segue_.store.doctor() == []


def test_what_came_while_names_were_one_is_told_apart_too(segue_: segue.Segue) -> None:
    remember(segue_, "one", "Skipper Ann")
    segue_.entities.merge("the old lady", "Skipper Ann")
    meant = remember(segue_, "It was the old lady who rowed.")
    assert segue_.entities.ls() == [Entity("Skipper Ann", 2, ("the old lady",))]
    segue_.entities.unmerge("the old lady")
    assert segue_.entities.neighbourhood("skipper ann").entities == [Entity("Skipper Ann", 1)]
    assert [each.id for each in segue_.entities.neighbourhood("the old lady").memories] == [meant]


def test_only_what_was_merged_is_taken_back(segue_: segue.Segue) -> None:
    remember(segue_, "one", "A1", "Ada")
    for name in ("A1", "Nobody"):
        with pytest.raises(NotFound) as caught:
            segue_.entities.unmerge(name)
        assert caught.value.code == "entity.not_merged"
    with pytest.raises(InvalidInput):
        segue_.entities.unmerge(" ")
    segue_.entities.merge("A1", "B1")
    segue_.entities.merge("B1", "C1")
    assert segue_.entities.unmerge("b1") == Entity("B1", 0)
    assert segue_.entities.ls() == [Entity("Ada", 1), Entity("C1", 1, ("A1",))]
    assert segue_.entities.unmerge("A1") == Entity("A1", 1)


def named(opened: segue.Segue) -> set[tuple[str, str, str]]:
    """Which memory names what."""
    return {(row["memory_id"], row["key"], row["name"]) for row in rows_of(opened, "memory_entities")}


@pytest.mark.parametrize("name", ["", " ", '""', "\ud800", "x" * 161])
def test_what_is_no_name(segue_: segue.Segue, name: str) -> None:
    for given in ((name, "Ada"), ("Ada", name)):
        with pytest.raises(InvalidInput) as caught:
            segue_.entities.merge(*given)
        assert caught.value.code == "entity.name"


def test_no_secret_becomes_a_name_and_the_log_holds_none(segue_: segue.Segue) -> None:
    with pytest.raises(RedactionRefused) as caught:
        segue_.entities.merge(SECRET, "Ada")
    assert SECRET not in str(caught.value)
    remember(segue_, "one", "Blintarn")
    segue_.entities.merge("Quorvex", "Blintarn")
    segue_.entities.unmerge("Quorvex")
    told = [each for each in segue_.store.events(100) if each.kind.startswith("entity.")]
    assert [each.kind for each in told] == ["entity.unmerged", "entity.merged"]
    assert "uorvex" not in repr(told) + repr(segue_.store.events(100))
