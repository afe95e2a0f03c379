"""Forgetting on both databases: nothing of it is left but a tombstone, and it does not come back by itself."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest
from memory_rows import contents, everything, listed, require_sound, rows_of

import segue
from segue.base.errors import InvalidInput, NotFound, Refused
from segue.conversions.to_capsule import to_capsule
from segue.memories import making
from segue.memories.identity import identity

if TYPE_CHECKING:
    from pathlib import Path

SECRET = "AK" + "IA" + "Q7Z2" * 4
# Words that stand nowhere else, each in another place of a memory.
WORDS = "quorvex blintarn zephyrade morwenna klaxtide vantrillo skerryvore plumdark".split()


def full(opened: segue.Segue) -> str:
    """Remember something with a word of its own in every field, edit and replace it; return the id of the last."""
    first = opened.memories.remember(
        f"Ada keeps {WORDS[0]}.", tags=[WORDS[1]], entities=[WORDS[2].title()], summary=WORDS[3], project=WORDS[4]
    ).memory
    opened.memories.edit(first.id, content=f"Ada has {WORDS[5]}.", summary="", tags=[])
    return opened.memories.supersede(first.id, f"Ada sold {WORDS[6]}.", author=WORDS[7]).memory.id


def note(folder: Path, text: str, name: str = "bread.md") -> Path:
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(text, "utf-8")
    return folder


@pytest.mark.requirement("memories-11")
def test_nothing_of_it_is_left(segue_: segue.Segue) -> None:
    kept = segue_.memories.remember("Ben bakes.").memory
    last = full(segue_)
    first = segue_.memories.history(last).older[0]
    for word in WORDS:
        assert word in everything(segue_).lower()
    assert set(segue_.memories.forget(last[-8:], first.id)) == {first.id, last}
    left = everything(segue_).lower()
    assert [word for word in WORDS if word in left] == []
    assert segue_.memories.ls().memories == [kept]
    names = ("memory_sources", "memory_index", "memory_versions", "memory_tags", "memory_conflicts")
    assert [len(rows_of(segue_, name)) for name in names] == [1, 1, 0, 0, 0]
    assert {row["key"] for row in rows_of(segue_, "memory_entities")} <= {"ben"}
    for act in (segue_.memories.get, segue_.memories.history):
        with pytest.raises(NotFound):
            act(last)
    require_sound(segue_)


@pytest.mark.requirement("memories-11")
def test_a_tombstone_keeps_what_it_must_and_nothing_else(segue_: segue.Segue) -> None:
    memory = segue_.memories.remember("Ada prefers rye.").memory
    segue_.memories.forget(memory.id, reason="  she asked \0 ")
    (stone,) = rows_of(segue_, "memory_tombstones")
    assert set(stone) == {"scope_id", "id", "keyed_hash", "forgotten_us", "reason", "generation"}
    assert (stone["id"], stone["reason"]) == (memory.id, "she asked \ufffd")
    assert stone["keyed_hash"] not in (identity(memory), memory.content_hash)
    assert identity(memory) not in everything(segue_)
    assert memory.content_hash not in everything(segue_)


def test_the_log_names_no_forgotten_text_by_its_hash(segue_: segue.Segue) -> None:
    waiting = segue_.memories.propose("Ada prefers rye.").memory
    segue_.memories.approve(waiting.id, waiting.content_hash)
    segue_.memories.forget(waiting.id)
    for each in (waiting.content_hash.removeprefix("sha256:"), identity(waiting)):
        assert each not in everything(segue_)


def test_the_same_text_has_another_hash_in_another_store(segue_: segue.Segue, tmp_path: Path) -> None:
    hashes = set()
    with segue.open(tmp_path / "other" / "segue.db") as other:
        for each in (segue_, other):
            each.memories.forget(each.memories.remember("Ada prefers rye.").memory.id)
            hashes.add(rows_of(each, "memory_tombstones")[0]["keyed_hash"])
    assert len(hashes) == 2


def test_where_a_forgotten_text_still_stands(segue_: segue.Segue) -> None:
    text = "Deploys go through the quorvex gate."
    draft: dict[str, Any] = {"ltm_version": "0.2", "goal": "Ship it.", "next_step": "Go.", "constraints": [text]}
    packet = segue_.packets.save(draft)
    capsule_id = segue_.capsules.save(to_capsule(packet).capsule).capsule.id
    found = [each for each in segue_.memories.ls(limit=100).memories if "quorvex" in each.content]
    places = {("packet", packet.id), ("capsule", capsule_id)}
    assert {place for each in found for place in segue_.memories.still_in(each.id)} == places
    assert segue_.memories.still_in(segue_.memories.remember("Said by nobody else.").memory.id) == []
    assert segue_.memories.still_in(source=f"packet:{packet.id}") == [("packet", packet.id)]
    assert segue_.memories.still_in(source="packet:none") == segue_.memories.still_in(source="notes") == []
    mine = found[0].id
    said = segue_.memories.edit(mine, content="It reads otherwise now.").id
    assert segue_.memories.still_in(said) != []  # what it said before stands there
    for wrong in ("missing-one", mine[-3:]):
        with pytest.raises((NotFound, InvalidInput)):
            segue_.memories.still_in(wrong)


def test_all_or_none(segue_: segue.Segue) -> None:
    memories = [segue_.memories.remember(f"Loaf {number}.").memory for number in range(3)]
    before = everything(segue_)
    for wrong in ("mem_NOTHERE", memories[0].id[-3:], "", "\0abcd", "\udc80abcd"):
        with pytest.raises((NotFound, InvalidInput)) as refused:
            segue_.memories.forget(memories[1].id, wrong, memories[2].id)
        assert refused.value.code in ("memory.not_found", "memory.short_id")
        assert everything(segue_) == before
    twice = (memories[0].id, memories[0].id[-6:].lower(), memories[2].id)
    assert segue_.memories.forget(*twice) == [memories[0].id, memories[2].id]
    assert contents(segue_) == {"Loaf 1."}
    assert segue_.memories.forget() == []
    require_sound(segue_)


def test_a_reason_keeps_no_secret(segue_: segue.Segue) -> None:
    memories = [segue_.memories.remember(f"Loaf {number}.").memory for number in range(2)]
    segue_.memories.forget(memories[0].id, reason=f"it held {SECRET}")
    assert SECRET not in everything(segue_)
    for wrong in ("x" * 201, "\udc80"):
        with pytest.raises(InvalidInput) as refused:
            segue_.memories.forget(memories[1].id, reason=wrong)
        assert refused.value.code == "memory.value"
    assert contents(segue_) == {"Loaf 1."}


def test_what_was_forgotten_does_not_come_back_by_itself(segue_: segue.Segue) -> None:
    memory = segue_.memories.remember("Ada prefers rye.").memory
    segue_.memories.forget(memory.id)
    for text in ("Ada prefers rye.", "ADA  prefers RYE."):
        for who in ("agent", "external"):
            with pytest.raises(Refused) as refused:
                segue_.memories.remember(text, author_class=who)
            assert refused.value.code == "memory.forgotten"
            assert "rye" not in refused.value.message
    assert not says(segue_, "rye")
    with pytest.raises(Refused):  # nor by way of a project
        segue_.memories.remember("Ada prefers rye.", project="Shop", author_class="agent")
    said = segue_.memories.remember("Ada prefers rye.")
    assert (said.verdict, said.memory.occurrences) == ("new", 1)
    assert said.memory.id != memory.id
    again = segue_.memories.remember("Ada prefers rye.", author_class="agent")
    assert (again.verdict, again.memory.occurrences) == ("merged", 2)
    require_sound(segue_)


@pytest.mark.requirement("memories-13")
def test_a_file_read_again_does_not_bring_it_back(segue_: segue.Segue, tmp_path: Path) -> None:
    folder = note(tmp_path / "notes", "# Bread\n\nRye keeps.\n\n# Oats\n\nOats do not.\n")
    segue_.ingestion.ingest(folder, form="markdown")
    rye = next(each for each in listed(segue_) if "Rye" in each.content)
    segue_.memories.forget(rye.id)
    for name in ("bread.md", "copy.md"):
        note(folder, (folder / "bread.md").read_text("utf-8"), name)
        counts = segue_.ingestion.ingest(folder, form="markdown").counts
        assert (counts["forgotten"], counts["new"]) == (1 + (name == "copy.md"), 0)
    assert not says(segue_, "rye")
    segue_.memories.remember(rye.content)
    assert segue_.ingestion.ingest(folder, form="markdown").counts["merged"] == 2
    assert segue_.memories.count() == 2
    require_sound(segue_)


@pytest.mark.requirement("memories-13")
@pytest.mark.parametrize("project", ["", "Shop", "Bakery"])
def test_a_file_read_for_another_project_does_not_bring_it_back(
    segue_: segue.Segue, tmp_path: Path, project: str
) -> None:
    path = tmp_path / "note.md"
    path.write_text("# Oven\n\nThe back door code is 4711.\n", "utf-8")
    segue_.ingestion.ingest(path, project="Bakery")
    memory = segue_.memories.ls().memories[0]
    segue_.memories.edit(memory.id, content="The back door is open.", project="House")
    segue_.memories.forget(memory.id)
    assert segue_.ingestion.ingest(path, project=project).counts["forgotten"] == 1
    assert segue_.memories.count() == 0
    again = segue_.memories.remember("The back door is open.", project=project)  # the user means it
    assert again.verdict == "new"


def test_forgetting_takes_nothing_from_another_project(segue_: segue.Segue) -> None:
    ours, theirs = (segue_.memories.remember("Close on Mondays.", project=each).memory for each in ("Bakery", "Shop"))
    segue_.memories.forget(ours.id)
    assert [each.id for each in segue_.memories.ls().memories] == [theirs.id]
    again = making.item("Close on Mondays.", project="Shop", ref="note#1", author_class="external")
    assert [each.verdict for each in segue_.memories.remember_all([again])] == ["merged"]


def test_what_was_edited_and_then_forgotten_does_not_come_back(segue_: segue.Segue, tmp_path: Path) -> None:
    folder = note(tmp_path / "notes", "Rye keeps.\n")
    segue_.ingestion.ingest(folder, form="markdown")
    (memory,) = listed(segue_)
    segue_.memories.edit(memory.id, content="Rye keeps a week.")
    segue_.memories.forget(memory.id)
    assert segue_.ingestion.ingest(folder, form="markdown").counts["forgotten"] == 1
    assert listed(segue_) == []


def test_a_place_that_comes_to_say_something_forgotten(segue_: segue.Segue, tmp_path: Path) -> None:
    folder = note(tmp_path / "notes", "Rye keeps.\n")
    segue_.ingestion.ingest(folder, form="markdown")
    segue_.memories.forget(segue_.memories.remember("Oats keep.").memory.id)
    note(folder, "Oats keep.\n")
    assert segue_.ingestion.ingest(folder, form="markdown").counts["forgotten"] == 1
    assert contents(segue_) == set()
    assert contents(segue_, "retired") == {"Rye keeps."}
    require_sound(segue_)


# -- by source ----------------------------------------------------------------------------------------------------


def says(opened: segue.Segue, word: str) -> bool:
    """Whether a word stands anywhere in the store; within an id its letters may stand by chance."""
    return re.search(rf"\b{word}\b", everything(opened).lower()) is not None


def two_notes(opened: segue.Segue, folder: Path) -> str:
    """Read a note of which another one repeats a section; return its source."""
    note(folder, "# A\n\nRye keeps.\n\n# B\n\nOats do not.\n", "one.md")
    note(folder, "# B\n\nOats do not.\n", "two.md")
    opened.ingestion.ingest(folder, form="markdown")
    return next(source for source, _ in opened.memories.sources() if source.endswith("/one.md"))


@pytest.mark.requirement("memories-14")
def test_a_source_is_forgotten_with_what_it_alone_says(segue_: segue.Segue, tmp_path: Path) -> None:
    source = two_notes(segue_, tmp_path / "notes")
    assert segue_.memories.said_by(source) == (2, 1)
    for wrong in (0, 2, -1):
        with pytest.raises(Refused) as refused:
            segue_.memories.forget_source(source, confirmed=wrong)
        assert (refused.value.code, refused.value.details) == ("memory.count", {"memories": 1})
    assert segue_.memories.count() == 2
    (gone,) = segue_.memories.forget_source(source, confirmed=1, reason="wrong folder")
    (kept,) = listed(segue_)
    assert (kept.content, kept.occurrences) == ("B\n\nOats do not.", 1)
    (stone,) = rows_of(segue_, "memory_tombstones")
    assert (stone["id"], stone["reason"]) == (gone, "wrong folder")
    assert not says(segue_, "rye")
    with pytest.raises(NotFound) as nothing:
        segue_.memories.said_by(source)
    assert nothing.value.code == "source.not_found"
    assert [each for each, _ in segue_.memories.sources()] == [source.replace("one.md", "two.md")]
    require_sound(segue_)


def test_what_the_user_said_too_stays(segue_: segue.Segue, tmp_path: Path) -> None:
    source = two_notes(segue_, tmp_path / "notes")
    segue_.memories.remember("A\n\nRYE keeps.")
    assert segue_.memories.said_by(source) == (2, 0)
    assert segue_.memories.forget_source(source, confirmed=0) == []
    assert segue_.memories.count() == 2
    assert {each.occurrences for each in listed(segue_)} == {1}
    require_sound(segue_)


def test_what_a_source_said_before_goes_with_it(segue_: segue.Segue, tmp_path: Path) -> None:
    folder = note(tmp_path / "notes", "# A\n\nRye keeps.\n\n# B\n\nOats do not.\n")
    segue_.ingestion.ingest(folder, form="markdown")
    for text in ("# A\n\nRye keeps long.\n\n# B\n\nOats do not.\n", "# A\n\nRye keeps long.\n"):
        segue_.ingestion.ingest(note(folder, text), form="markdown")
    source = segue_.memories.sources()[0][0]
    assert segue_.memories.said_by(source) == (3, 3)
    assert len(segue_.memories.forget_source(source, confirmed=3)) == 3
    assert listed(segue_) == []
    assert "oats" not in everything(segue_).lower()
    require_sound(segue_)


@pytest.mark.parametrize("source", ["", "nothing", "%", "markdown:%", "\0", "x" * 600])
def test_no_such_source(segue_: segue.Segue, tmp_path: Path, source: str) -> None:
    two_notes(segue_, tmp_path / "notes")
    for act in (segue_.memories.said_by, lambda each: segue_.memories.forget_source(each, confirmed=2)):
        with pytest.raises(NotFound):
            act(source)
    with pytest.raises(InvalidInput):
        segue_.memories.said_by("\udc80")
    with pytest.raises(InvalidInput):
        segue_.memories.sources(after="\udc80")
    assert segue_.memories.count() == 2


def test_one_place_of_a_source(segue_: segue.Segue) -> None:
    for place, text in (("1", "Rye."), ("2", "Oats."), ("2", "Wheat."), ("2.1", "Spelt."), ("", "Bran.")):
        segue_.memories.remember(text, ref=f"Book#{place}" if place else "Book", origin="import")
    segue_.memories.remember("Rye.", ref="Leaflet#1", origin="import")
    assert segue_.memories.sources() == [("Book", 5), ("Leaflet", 1)]
    found = {ref: {each.content for each in listed(segue_, sources=[ref])} for ref in ("Book#2", "Book#1", "Book")}
    assert found["Book#2"] == {"Oats.", "Wheat."}  # what it says, and what it said before
    assert found["Book#1"] == {"Rye."}
    assert found["Book"] == {"Rye.", "Oats.", "Wheat.", "Spelt.", "Bran."}
    assert {each.content for each in listed(segue_, sources=["Book#2", "Leaflet"])} == {"Oats.", "Wheat.", "Rye."}
    assert segue_.memories.said_by("Book#2") == (2, 2)
    assert segue_.memories.said_by("Book#1") == (1, 0)
    segue_.memories.forget_source("Book#2", confirmed=2)
    segue_.memories.forget_source("Book#1", confirmed=0)
    assert contents(segue_) == {"Rye.", "Spelt.", "Bran."}
    assert segue_.memories.sources() == [("Book", 2), ("Leaflet", 1)]
    for nothing in ("Book#2", "Book#%", "book#2.1", "Boo"):
        with pytest.raises(NotFound):
            segue_.memories.forget_source(nothing, confirmed=0)
    require_sound(segue_)


def test_sources_that_differ_in_case_only(segue_: segue.Segue) -> None:
    segue_.memories.remember("Rye.", ref="Book#1", origin="import")
    segue_.memories.remember("Oats.", ref="book#1", origin="import")
    segue_.memories.remember("Wheat.", ref="book#1", origin="import")
    assert sorted(segue_.memories.sources()) == [("Book", 1), ("book", 2)]  # also what it said before
    assert segue_.memories.said_by("Book") == (1, 1)
    assert segue_.memories.said_by("book") == (2, 2)
    segue_.memories.forget_source("book", confirmed=2)
    assert contents(segue_) == {"Rye."}


def test_forgetting_what_others_point_at(segue_: segue.Segue) -> None:
    first = segue_.memories.remember("Version 1.").memory
    second = segue_.memories.supersede(first.id, "Version 2.").memory
    third = segue_.memories.supersede(second.id, "Version 3.").memory
    segue_.memories.forget(second.id)
    assert segue_.memories.history(third.id).older == []
    assert segue_.memories.history(first.id).newer == []
    assert contents(segue_) == {"Version 3."}
    own = segue_.memories.remember("We deploy on Fridays.").memory
    waiting = segue_.memories.supersede(own.id, "We deploy on Mondays.", author_class="agent").memory
    segue_.memories.forget(own.id)
    assert segue_.memories.approve(waiting.id, waiting.content_hash).status == "active"
    require_sound(segue_)


def test_a_thousand_at_once(segue_: segue.Segue, tmp_path: Path) -> None:
    folder = note(tmp_path / "notes", "\n".join(f"# S{number}\n\nLoaf {number}.\n" for number in range(1_100)))
    assert segue_.ingestion.ingest(folder, form="markdown").counts["new"] == 1_100
    source = segue_.memories.sources()[0][0]
    assert len(segue_.memories.forget_source(source, confirmed=1_100)) == 1_100
    assert rows_of(segue_, "memory_words") == []
    assert "loaf" not in everything(segue_).lower()


# -- rows that cannot be read ---------------------------------------------------------------------------------------

SPOILT = {
    "tags": "tags = '{bad'",
    "tags of numbers": "tags = '[1]'",
    "entities": """entities = '{"a":1}'""",
    "supersedes": "supersedes = 'x'",
    "captured": "captured_us = 9000000000000000000",
    "occurred": "occurred_us = -9000000000000000000",
}
SPOILT_IN_SQLITE = {
    "time is a text": "captured_us = 'soon'",
    "tags are bytes": "tags = x'5b5d'",
    "summary is a number": "summary = 7",
    "all of it": "tags = 'x', entities = 'x', supersedes = 'x', captured_us = 'x', position = 'x', project = x'00ff'",
}


def spoil(opened: segue.Segue, change: str, memory_id: str) -> None:
    with opened._database.write() as connection:
        connection.exec_driver_sql(f"UPDATE memories SET {change} WHERE id = '{memory_id}'")


@pytest.mark.parametrize("name", [*SPOILT, *SPOILT_IN_SQLITE])
def test_a_damaged_memory_can_be_forgotten(segue_: segue.Segue, kind: str, name: str) -> None:
    if name in SPOILT_IN_SQLITE and kind == "postgres":
        return
    memory = segue_.memories.remember("Ada keeps quorvex.", tags=["blintarn"], entities=["Ada"]).memory
    kept = segue_.memories.remember("Ben bakes.").memory
    spoil(segue_, (SPOILT | SPOILT_IN_SQLITE)[name], memory.id)
    assert segue_.store.doctor() != []
    assert segue_.memories.still_in(memory.id[-6:]) == []
    assert segue_.memories.forget(memory.id[-6:].lower(), memory.id, reason="damaged") == [memory.id]
    assert {row["id"] for row in rows_of(segue_, "memory_tombstones")} == {memory.id}
    assert [word for word in ("quorvex", "blintarn") if word in everything(segue_)] == []
    segue_.store.doctor(repair=True)  # how often words stand in it may not have been known any more
    assert segue_.store.doctor() == []
    assert segue_.memories.ls().memories == [kept]
    require_sound(segue_)
    if name != "all of it":  # the project is part of what a text is known by
        with pytest.raises(Refused) as refused:
            segue_.memories.remember("Ada keeps quorvex.", author_class="agent")
        assert refused.value.code == "memory.forgotten"


def test_a_source_is_forgotten_with_a_damaged_memory(segue_: segue.Segue, tmp_path: Path) -> None:
    segue_.ingestion.ingest(note(tmp_path / "notes", "Rye keeps.\n"), form="markdown")
    (memory,) = listed(segue_)
    spoil(segue_, SPOILT["tags"], memory.id)
    source = segue_.memories.sources()[0][0]
    assert segue_.memories.still_in(source=source) == []
    assert segue_.memories.forget_source(source, confirmed=1) == [memory.id]
    assert not says(segue_, "rye")
