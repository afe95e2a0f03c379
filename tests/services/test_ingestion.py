"""What lies elsewhere made into memories, on both databases: once, correctably, and so that it can be undone."""

from __future__ import annotations

import signal
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import ingestion_samples as samples
import orjson
import pytest
from memory_rows import contents, everything, listed, require_sound, rows_of, tally

import forks
import segue
from segue.base.errors import InvalidInput
from segue.conversions.interchange.formats import FORMATS
from segue.memories import making
from segue.packets import resume, schema
from segue.services import taking
from segue.services.remembering import Writer

SECRET = "AK" + "IA" + "Q7Z2" * 4
FIXTURES = Path(__file__).parent.parent / "conversions" / "fixtures"
Locate = Callable[[str], str]


def counts(report: taking.Report) -> dict[str, int]:
    return {name: number for name, number in sorted(report.counts.items()) if number}


def note(folder: Path, text: str, name: str = "bread.md") -> Path:
    (folder / name).parent.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(text, "utf-8")
    return folder


def read(opened: segue.Segue, folder: Path, text: str) -> dict[str, int]:
    """Read a folder with one note that now holds `text`."""
    found = counts(opened.ingestion.ingest(note(folder, text), form="markdown"))
    require_sound(opened)
    return found


# -- every format -------------------------------------------------------------------------------------------------


def test_every_format_has_a_sample() -> None:
    assert set(samples.SAMPLES) == set(FORMATS)


@pytest.mark.requirement("memories-15")
@pytest.mark.parametrize("form", FORMATS)
def test_a_format_is_read_once_and_can_be_undone(segue_: segue.Segue, tmp_path: Path, form: str) -> None:
    path = samples.written(tmp_path / "in", form)
    _, _, number, text = samples.SAMPLES[form]
    first = segue_.ingestion.ingest(path)
    assert (first.form, first.problems, sum(first.counts.values())) == (form, [], number)
    assert first.counts["new"] == segue_.memories.count() == number
    assert text in contents(segue_)
    require_sound(segue_)
    before = tally(segue_)
    for _ in range(2):
        again = segue_.ingestion.ingest(path)
        assert counts(again) == {"known": number}
        assert tally(segue_) == before
    memory = next(each for each in listed(segue_) if each.content == text)
    assert memory.status == "active"
    assert memory.provenance.ref
    for source in sorted(first.sources):
        assert segue_.memories.said_by(source)[0] > 0
        segue_.memories.forget_source(source, confirmed=segue_.memories.said_by(source)[1])
    assert (listed(segue_), segue_.memories.sources()) == ([], [])
    assert counts(segue_.ingestion.ingest(path)) == {"forgotten": number}
    require_sound(segue_)


@pytest.mark.parametrize("form", FORMATS)
def test_a_copy_of_the_file_elsewhere_adds_no_text(segue_: segue.Segue, tmp_path: Path, form: str) -> None:
    for folder in ("one", "two"):
        report = segue_.ingestion.ingest(samples.written(tmp_path / folder, form))
        assert report.passed_over == 0
    assert len({(each.content, each.thread, each.position) for each in listed(segue_)}) == segue_.memories.count()
    assert contents(segue_, "retired") == set()
    if form != "letta":  # its messages stand in a thread of the agent
        assert segue_.memories.count() == samples.SAMPLES[form][2]
    require_sound(segue_)


@pytest.mark.parametrize("path", sorted(FIXTURES.glob("*.jsonl")), ids=lambda path: path.stem)
def test_recorded_sessions(segue_: segue.Segue, path: Path) -> None:
    first = segue_.ingestion.ingest(path, redaction="mask")
    assert first.counts["new"] > 0
    assert counts(segue_.ingestion.ingest(path, redaction="mask")) == {"known": sum(first.counts.values())}
    require_sound(segue_)


def test_a_conversation_in_its_order(segue_: segue.Segue, tmp_path: Path) -> None:
    segue_.ingestion.ingest(samples.written(tmp_path, "chatgpt"), project="Bakery")
    turns = sorted(listed(segue_, threads=["chatgpt:c-1"]), key=lambda each: each.position or 0)
    assert [(each.position, each.content, each.provenance.author_class) for each in turns] == [
        (0, "Rye?", "user"),
        (1, "Yes.", "agent"),
        (2, "Sure?", "user"),
        (3, "Yes.", "agent"),
    ]
    assert {each.project for each in turns} == {"Bakery"}
    assert all(each.occurred_at and each.provenance.url for each in turns)


def test_a_conversation_that_went_on(segue_: segue.Segue, tmp_path: Path) -> None:
    path = tmp_path / "conversations.json"
    for turns, expected in [
        (["Rye?", "Yes."], {"new": 2}),
        (["Rye?", "Yes.", "Sure?", "Yes."], {"known": 2, "new": 2}),
        (["Rye?", "No.", "Why?"], {"known": 1, "new": 2, "replaced": 2}),
    ]:
        path.write_bytes(orjson.dumps([samples.chat(turns)]))
        assert counts(segue_.ingestion.ingest(path)) == expected
        require_sound(segue_)
    assert contents(segue_) >= {"Rye?", "No.", "Why?"}


def _states(form: str) -> dict[str, bytes]:
    """Three states of one source, as its exports show them one after the other, each said later than the one before."""
    texts = {"a": "Rye.", "b": "Oats.", "c": "Wheat."}
    at = {name: f"2026-09-0{number}T08:00:00Z" for number, name in enumerate(texts, 1)}
    if form == "chatgpt":
        start = {name: samples.START + number for number, name in enumerate(texts)}
        return {each: orjson.dumps([samples.chat([texts[each]]) | {"update_time": start[each]}]) for each in texts}
    if form == "claude":
        return {each: orjson.dumps([samples.talk(texts[each]) | {"updated_at": at[each]}]) for each in texts}
    if form == "mem0":
        old = {"id": "1", "user_id": "u", "created_at": at["a"]}
        changed = {each: None if each == "a" else at[each] for each in texts}
        return {
            each: orjson.dumps({"results": [old | {"memory": texts[each], "updated_at": changed[each]}]})
            for each in texts
        }
    first: dict[str, Any] = {"id": "1", "type": "fact", "status": "active", "provenance": {"platform": "one"}}
    return {
        each: orjson.dumps(
            {
                "schema": "portable-ai-memory",
                "memories": [
                    first | {"content": texts[each], "temporal": {"created_at": at["a"], "updated_at": at[each]}}
                ],
            }
        )
        for each in texts
    }


@pytest.mark.parametrize("order", ["abca", "cab", "acbab", "cc"])
@pytest.mark.parametrize("form", ["chatgpt", "claude", "mem0", "pam"])
def test_an_older_export_turns_nothing_back(segue_: segue.Segue, tmp_path: Path, form: str, order: str) -> None:
    states = _states(form)
    path = tmp_path / ("memory-store.json" if form == "pam" else "conversations.json")
    for each in order:
        path.write_bytes(states[each])
        assert segue_.ingestion.ingest(path).form == form
        require_sound(segue_)
    assert contents(segue_) == {"Wheat."}
    assert contents(segue_, "retired") == set() if order[0] == "c" else {"Rye."} <= contents(segue_, "retired")


def test_a_later_export_that_says_the_same_counts_as_later(segue_: segue.Segue, tmp_path: Path) -> None:
    path = tmp_path / "conversations.json"
    for text, updated in [("Rye.", 1), ("Rye.", 3), ("Oats.", 2)]:
        path.write_bytes(orjson.dumps([samples.chat([text]) | {"update_time": samples.START + updated}]))
        segue_.ingestion.ingest(path)
    assert contents(segue_) == {"Rye."}
    lines: list[bytes] = []
    segue_.transfer.export(lines.append)
    path.write_bytes(orjson.dumps([samples.chat(["Oats."]) | {"update_time": samples.START + 2}]))
    with segue.open(tmp_path / "other.db") as other:
        assert other.transfer.load(lines).problems == []
        assert counts(other.ingestion.ingest(path)) == {"known": 1}
        assert contents(other) == {"Rye."}


def test_an_export_without_times_is_taken_as_it_comes(segue_: segue.Segue, tmp_path: Path) -> None:
    path = tmp_path / "conversations.json"
    for text in ("Rye.", "Oats.", "Rye."):
        path.write_bytes(orjson.dumps([samples.chat([text])]))
        segue_.ingestion.ingest(path)
    assert contents(segue_) == {"Rye."}


# -- packets and capsules -----------------------------------------------------------------------------------------


@pytest.mark.requirement("memories-9")
def test_a_packet_as_memories(segue_: segue.Segue) -> None:
    assert counts(segue_.ingestion.packet(schema.parse(samples.packet()))) == {"new": 8}
    found = {each.content: each for each in listed(segue_)}
    kinds = {content.split("\n")[0]: (each.kind, each.layer) for content, each in found.items()}
    assert kinds == {
        "Goal: Move the bakery.": ("claim", "semantic"),
        "The oven stays under 300 degrees.": ("constraint", "negative"),
        "Bake rye first.": ("decision", "decision"),
        "Close on Mondays.": ("decision", "decision"),
        "Tried, and it failed: Gas.": ("observation", "negative"),
        "Tried, and it worked: Wood.": ("observation", "episodic"),
        "Who delivers the flour?": ("question", "episodic"),
        "Next step: Measure the oven.": ("action", "episodic"),
    }
    assert {each.provenance.author_class for each in found.values()} == {"agent"}
    assert {source for source, _ in segue_.memories.sources()} == {f"packet:{samples.PACKET['id']}"}


def test_a_packet_that_says_something_else(segue_: segue.Segue) -> None:
    segue_.ingestion.packet(schema.parse(samples.packet()))
    changed = samples.packet(decisions=samples.PACKET["decisions"][1:], next_step="Buy an oven.")
    segue_.ingestion.packet(schema.parse(changed))
    assert "Close on Mondays.\nWhy: Rest." in contents(segue_)
    assert contents(segue_, "retired") == {"Bake rye first.\nWhy: It keeps.", "Next step: Measure the oven."}
    rye = next(each for each in listed(segue_) if each.content.startswith("Bake rye"))
    assert rye.superseded_by == ""
    require_sound(segue_)


def test_everything_in_the_store(segue_: segue.Segue, draft: Callable[..., dict[str, Any]]) -> None:
    segue_.packets.save(draft())
    segue_.capsules.save(samples.CAPSULE)
    said: list[tuple[int, int]] = []
    report = segue_.ingestion.stored(on_progress=lambda done, total: said.append((done, total)))
    assert (report.passed_over, said) == (0, [(1, 2), (2, 2)])
    assert contents(segue_) >= {"Goal: Ship the importer.", "Goal: Bake rye."}
    before = tally(segue_)
    assert set(counts(segue_.ingestion.stored())) == {"known"}
    assert tally(segue_) == before
    require_sound(segue_)


def test_a_file_and_the_store_say_the_same_packet_once(segue_: segue.Segue, tmp_path: Path) -> None:
    segue_.packets.save(schema.parse(samples.packet()))
    segue_.ingestion.stored()
    assert counts(segue_.ingestion.ingest(samples.written(tmp_path, "packet"))) == {"known": 8}


# -- notes that are edited ----------------------------------------------------------------------------------------

NOTE = "# A\n\nRye keeps.\n\n# B\n\nOats do not.\n\n# C\n\nWheat is fine.\n"


def test_a_changed_section_replaces_what_it_said(segue_: segue.Segue, tmp_path: Path) -> None:
    assert read(segue_, tmp_path, NOTE) == {"new": 3}
    assert read(segue_, tmp_path, NOTE.replace("do not", "do too")) == {"known": 2, "new": 1, "replaced": 1}
    assert contents(segue_, "retired") == {"B\n\nOats do not."}
    (newer,) = [each for each in listed(segue_) if "do too" in each.content]
    (older,) = segue_.memories.history(newer.id).older
    assert (older.superseded_by, newer.supersedes) == (newer.id, (older.id,))


def test_a_section_changed_back_again_and_again(segue_: segue.Segue, tmp_path: Path) -> None:
    for text in ("Rye.", "Oats.", "Rye.", "Oats.", "Rye."):
        read(segue_, tmp_path, text)
        assert contents(segue_) == {text}
    assert segue_.memories.count() == 5
    assert read(segue_, tmp_path, "Rye.") == {"known": 1}


def test_a_removed_section_retires_and_holds_again_when_it_is_back(segue_: segue.Segue, tmp_path: Path) -> None:
    read(segue_, tmp_path, NOTE)
    assert read(segue_, tmp_path, NOTE.split("# C", maxsplit=1)[0]) == {"known": 2, "retired": 1}
    assert contents(segue_, "retired") == {"C\n\nWheat is fine."}
    assert read(segue_, tmp_path, NOTE) == {"known": 2, "new": 1}
    assert "C\n\nWheat is fine." in contents(segue_)


@pytest.mark.parametrize(
    ("text", "active", "retired"),
    [
        ("# N\n\nNew.\n\n" + NOTE, "NABC", ""),
        (NOTE.split("\n\n", 2)[2], "BC", "A"),
        ("# C\n\nWheat is fine.\n\n# A\n\nRye keeps.\n\n# B\n\nOats do not.\n", "ABC", ""),
        ("# A\n\nRye keeps.\n\n# N\n\nNew.\n\n# C\n\nWheat is fine.\n", "ANC", "B"),
        (NOTE + NOTE, "ABC", ""),
        ("# B\n\nOats do not.\n", "B", "AC"),
    ],
)
def test_sections_that_move_about(segue_: segue.Segue, tmp_path: Path, text: str, active: str, retired: str) -> None:
    read(segue_, tmp_path, NOTE)
    read(segue_, tmp_path, text)
    assert sorted(each[0] for each in contents(segue_)) == sorted(active)
    assert sorted(each[0] for each in contents(segue_, "retired")) == sorted(retired)
    assert set(read(segue_, tmp_path, text)) == {"known"}
    read(segue_, tmp_path, NOTE)
    assert sorted(each[0] for each in contents(segue_)) == ["A", "B", "C"]


def test_a_long_note_into_which_something_is_put_at_the_top(segue_: segue.Segue, tmp_path: Path) -> None:
    """Everything moves on by one place, over the border of every batch."""
    text = "".join(f"# S{number}\n\nLoaf {number}.\n\n" for number in range(taking.BATCH * 2 + 10))
    read(segue_, tmp_path, text)
    read(segue_, tmp_path, "# N\n\nNew.\n\n" + text)
    assert len(contents(segue_)) == taking.BATCH * 2 + 11
    assert contents(segue_, "retired") == set()


def test_what_a_person_edited_is_his_own(segue_: segue.Segue, tmp_path: Path) -> None:
    read(segue_, tmp_path, "Rye keeps.")
    (memory,) = listed(segue_)
    segue_.memories.edit(memory.id, content="Rye keeps a week.")
    assert read(segue_, tmp_path, "Rye keeps.") == {"known": 1}
    read(segue_, tmp_path, "Oats do not.")
    assert contents(segue_) == {"Rye keeps a week.", "Oats do not."}


def test_what_the_user_said_too_stays_when_the_note_changes(segue_: segue.Segue, tmp_path: Path) -> None:
    read(segue_, tmp_path, "Rye keeps.")
    segue_.memories.remember("Rye keeps.")
    read(segue_, tmp_path, "Oats do not.")
    assert contents(segue_) == {"Rye keeps.", "Oats do not."}


def test_folders_with_files_of_one_name_do_not_collide(segue_: segue.Segue, tmp_path: Path) -> None:
    for folder in ("one", "two/docs", "three/docs"):
        segue_.ingestion.ingest(note(tmp_path / folder, f"Read {folder}.", "README.md"), form="markdown")
    assert contents(segue_) == {"Read one.", "Read two/docs.", "Read three/docs."}
    sources = [source for source, _ in segue_.memories.sources()]
    assert len(sources) == 3
    assert str(tmp_path) not in everything(segue_)
    both = note(tmp_path / "four", "Read four.", "README.md")
    note(both, "Read deeper.", "docs/README.md")
    assert segue_.ingestion.ingest(both).counts["new"] == 2


def test_a_note_and_its_folder_are_one_source(segue_: segue.Segue, tmp_path: Path) -> None:
    folder = note(tmp_path / "notes", NOTE)
    segue_.ingestion.ingest(folder)
    assert counts(segue_.ingestion.ingest(folder / "bread.md")) == {"known": 3}
    (folder.parent / "link").symlink_to(folder)
    assert counts(segue_.ingestion.ingest(folder.parent / "link")) == {"known": 3}


@pytest.mark.parametrize("form", ["mem0", "letta", "mcp-memory", "pam"])
def test_two_exports_in_one_folder_do_not_replace_one_another(segue_: segue.Segue, tmp_path: Path, form: str) -> None:
    make: dict[str, Callable[[str], bytes]] = {
        "mem0": samples.mem0,
        "letta": samples.letta,
        "mcp-memory": samples.graph,
        "pam": lambda text: samples.pam({"id": "a", "content": text}),
    }
    for round_ in range(2):
        for number, text in enumerate(("Likes rye.", "Likes oats.")):
            path = tmp_path / f"export-{number}.json"
            path.write_bytes(make[form](text))
            report = segue_.ingestion.ingest(path, form=form)  # type: ignore[arg-type]
            assert report.counts["replaced"] == 0
            assert (report.counts["new"] > 0) == (round_ == 0)
    assert contents(segue_, "retired") == set()
    assert len([text for text in contents(segue_) if "Likes" in text]) == 2


def test_a_place_that_a_file_names_twice(segue_: segue.Segue, tmp_path: Path) -> None:
    path = tmp_path / "mem0.json"
    twice = [{"id": "1", "memory": text} for text in ("Likes rye", "Likes oats", "Likes rye")]
    path.write_bytes(orjson.dumps({"results": twice}))
    assert counts(segue_.ingestion.ingest(path)) == {"new": 2, "merged": 1}
    for _ in range(2):
        assert counts(segue_.ingestion.ingest(path)) == {"known": 3}
    assert contents(segue_) == {"Likes rye", "Likes oats"}
    require_sound(segue_)


def test_the_folder_of_a_pam_store_and_its_file_are_one(segue_: segue.Segue, tmp_path: Path) -> None:
    path = samples.written(tmp_path, "pam")
    segue_.ingestion.ingest(tmp_path)
    assert counts(segue_.ingestion.ingest(path)) == {"known": 2}


def test_what_an_export_says_is_superseded(segue_: segue.Segue, tmp_path: Path) -> None:
    path = tmp_path / "memory-store.json"
    old, new = {"id": "old", "content": "Likes rye."}, {"id": "new", "content": "Likes oats."}
    path.write_bytes(samples.pam(old, {"id": "gone", "content": "Likes tea.", "status": "retracted"}))
    assert segue_.ingestion.ingest(path).counts["new"] == 2
    assert contents(segue_, "retired") == {"Likes tea."}
    path.write_bytes(samples.pam(old, new, relations=[{"type": "supersedes", "from": "new", "to": "old"}]))
    assert counts(segue_.ingestion.ingest(path)) == {"known": 1, "new": 1, "replaced": 1}
    assert contents(segue_) == {"Likes oats."}
    assert set(counts(segue_.ingestion.ingest(path))) == {"known"}
    require_sound(segue_)


def test_what_an_export_takes_back_is_retired(segue_: segue.Segue, tmp_path: Path) -> None:
    path = tmp_path / "memory-store.json"
    memories: list[dict[str, Any]] = [{"id": "a", "content": "Likes rye."}, {"id": "b", "content": "Likes oats."}]
    path.write_bytes(samples.pam(*memories))
    segue_.ingestion.ingest(path)
    segue_.memories.remember("Likes oats.")
    path.write_bytes(samples.pam(*(each | {"status": "retracted"} for each in memories)))
    for _ in range(2):
        assert counts(segue_.ingestion.ingest(path)) == {"known": 2}
        assert (contents(segue_), contents(segue_, "retired")) == ({"Likes oats."}, {"Likes rye."})
    require_sound(segue_)


def test_the_sign_between_source_and_place_in_a_name(segue_: segue.Segue, tmp_path: Path) -> None:
    folder = note(note(tmp_path / "notes", "One.", "n#1.md"), "Two.", "n#2.md")
    segue_.ingestion.ingest(folder, form="markdown")
    assert counts(segue_.ingestion.ingest(folder / "n#1.md", form="markdown")) == {"known": 1}
    source = next(each for each, _ in segue_.memories.sources() if each.endswith("1.md"))
    segue_.memories.forget_source(source, confirmed=1)
    assert contents(segue_) == {"Two."}


def test_prose_taken_out_of_a_note_of_basic_memory(segue_: segue.Segue, tmp_path: Path) -> None:
    note(tmp_path, samples.BASIC.decode() + "\n## More\n\nBake twice.\n")
    assert segue_.ingestion.ingest(tmp_path).counts["new"] == 4
    assert len(segue_.memories.sources()) == 1
    note(tmp_path, samples.BASIC.decode())
    assert counts(segue_.ingestion.ingest(tmp_path)) == {"known": 3, "retired": 1}
    assert contents(segue_, "retired") == {"Bread › More\n\nBake twice."}


def test_a_long_document_is_one_source(segue_: segue.Segue, tmp_path: Path) -> None:
    (tmp_path / "projects.json").write_bytes(
        orjson.dumps(
            [
                {
                    "uuid": "p-1",
                    "name": "Bakery",
                    "docs": [{"uuid": "d-1", "filename": "oven.md", "content": "Heat. " * 4_000}],
                }
            ]
        )
    )
    (tmp_path / "conversations.json").write_bytes(orjson.dumps([samples.talk("Rye?")]))
    segue_.ingestion.ingest(tmp_path)
    (source,) = [each for each, _ in segue_.memories.sources() if "t-1" not in each]
    assert segue_.memories.said_by(source)[0] > 1


def test_a_file_name_that_is_no_text(segue_: segue.Segue, tmp_path: Path) -> None:
    report = segue_.ingestion.ingest(note(note(tmp_path, "One."), "Two.", "a\udcff.md"), form="markdown")
    assert (report.counts["new"], report.counts["refused"]) == (1, 1)
    assert orjson.dumps(report.to_json())


def test_a_proposal_does_not_keep_the_users_note_waiting(segue_: segue.Segue, tmp_path: Path) -> None:
    proposal = segue_.memories.propose("Rye keeps.").memory
    assert read(segue_, tmp_path, "Rye keeps.") == {"approved": 1}
    memory = segue_.memories.get(proposal.id)
    assert (memory.status, memory.provenance.author_class, memory.occurrences) == ("active", "user", 2)
    assert segue_.search.find("rye").hits[0].memory == memory
    require_sound(segue_)


def test_a_note_replaces_nothing_that_a_proposal_was_to_replace(segue_: segue.Segue, tmp_path: Path) -> None:
    """It only says so; whoever wrote the file did not look at the proposal."""
    own = segue_.memories.remember("We deploy on Fridays.").memory
    segue_.memories.supersede(own.id, "We deploy on Mondays.", author_class="agent")
    assert read(segue_, tmp_path, "We deploy on Mondays.") == {"approved": 1}
    assert contents(segue_) == {"We deploy on Fridays.", "We deploy on Mondays."}
    assert [each.reason for each in segue_.memories.history(own.id).conflicts] == ["contested"]
    require_sound(segue_)


@pytest.mark.parametrize("author", ["agent", "external"])
def test_what_others_say_leaves_a_proposal_waiting(segue_: segue.Segue, author: Any) -> None:
    segue_.memories.propose("Rye keeps.")
    item = making.item("Rye keeps.", author_class=author, ref="list#1", summary="Of bread.", confidence=0.2)
    assert [each.verdict for each in segue_.memories.remember_all([item])] == ["merged"]
    (memory,) = segue_.memories.pending().memories
    assert (memory.summary, memory.confidence, memory.occurrences) == ("", None, 2)
    require_sound(segue_)


@pytest.mark.parametrize("after", ["removed", "renamed", "emptied"])
def test_a_note_that_is_gone(segue_: segue.Segue, tmp_path: Path, after: str) -> None:
    folder = note(note(tmp_path, "One.", "one.md"), "Two.", "two.md")
    segue_.ingestion.ingest(folder, form="markdown")
    if after == "renamed":
        (folder / "one.md").rename(folder / "three.md")
        segue_.ingestion.ingest(folder, form="markdown")
        note(folder, "Three.", "three.md")
    elif after == "removed":
        (folder / "one.md").unlink()
    else:
        note(folder, "", "one.md")
    segue_.ingestion.ingest(folder, form="markdown")
    assert contents(segue_) == ({"Two.", "Three."} if after == "renamed" else {"Two."})


@pytest.mark.parametrize("name", ["chatgpt:c-1", "packet#0001"])
def test_removing_a_packet_forgets_its_own_memories_alone(segue_: segue.Segue, tmp_path: Path, name: str) -> None:
    segue_.ingestion.ingest(samples.written(tmp_path, "chatgpt"))
    before = contents(segue_)
    segue_.packets.save(samples.PACKET | {"id": name})
    segue_.packets.rm(name)
    assert contents(segue_) == before


def test_a_packet_that_was_removed_and_is_saved_again(segue_: segue.Segue) -> None:
    for _ in range(2):
        segue_.packets.save(samples.PACKET)
        assert "The oven stays under 300 degrees." in contents(segue_)
        segue_.packets.rm(samples.PACKET["id"])
        assert contents(segue_) == set()


# -- what is passed over ------------------------------------------------------------------------------------------


def test_what_cannot_be_kept_is_named_and_the_rest_goes_on(segue_: segue.Segue, tmp_path: Path) -> None:
    path = tmp_path / "memory-store.json"
    good = [{"id": f"g{number}", "content": f"Loaf {number}."} for number in range(3)]
    bad: list[dict[str, Any]] = [
        {"id": "b0", "content": f"Use {SECRET}."},
        {"id": "b1", "content": "Tag.", "tags": ["x" * 65]},
        {"id": "b2", "content": ""},
        {"id": "b3", "content": "Backwards.", "temporal": {"valid_from": "2027-01-01", "valid_until": "2026-01-01"}},
        {"id": "b4" + "x" * 600, "content": "Long name."},
        {"id": SECRET, "content": "Named after a key."},
    ]
    path.write_bytes(samples.pam(good[0], *bad[:3], good[1], *bad[3:], good[2]))
    report = segue_.ingestion.ingest(path)
    assert report.counts["new"] == 3
    assert (report.counts["refused"], report.passed_over) == (5, 6)
    assert {problem.code for problem in report.problems} == {
        "memory.redaction",
        "memory.value",
        "memory.time",
        "import.value",
    }
    assert SECRET not in orjson.dumps(report.to_json()).decode()
    assert SECRET not in everything(segue_)
    assert report.to_json()["passed_over"] == 6
    assert set(counts(segue_.ingestion.ingest(path))) == {"known", "refused"}
    require_sound(segue_)


@pytest.mark.requirement("memories-18")
def test_secrets_are_masked_one_by_one_where_that_is_wanted(segue_: segue.Segue, tmp_path: Path) -> None:
    path = tmp_path / "conversations.json"
    path.write_bytes(orjson.dumps([samples.chat(["Rye?", f"Use {SECRET}.", "/home/ada/x " * 600])]))
    report = segue_.ingestion.ingest(path, redaction="mask")
    assert (report.counts["new"], report.counts["refused"]) == (2, 1)  # markers can make a text too long
    assert "Use [redacted:aws-key]." in contents(segue_)
    assert SECRET not in everything(segue_)
    assert set(counts(segue_.ingestion.ingest(path, redaction="mask"))) == {"known", "refused"}


SECRET_NAMES = (f"note-{SECRET}.md", f"note-{SECRET[:-1]}9.md", "文档/home/ada/n.md", "/home/bob/n.md".lstrip("/"))


@pytest.mark.parametrize("folder", ["notes", f"notes-{SECRET}"])
def test_files_whose_names_hold_secrets_are_told_apart(segue_: segue.Segue, tmp_path: Path, folder: str) -> None:
    place = tmp_path / folder
    for number, name in enumerate(SECRET_NAMES):
        note(place, f"# A\n\nLoaf {number}.\n\n# B\n\nRoll {number}.\n", name)
    assert counts(segue_.ingestion.ingest(place, redaction="mask")) == {"new": 8}
    before = tally(segue_)
    for _ in range(2):
        assert counts(segue_.ingestion.ingest(place, redaction="mask")) == {"known": 8}
        assert tally(segue_) == before
    assert SECRET not in everything(segue_)
    assert contents(segue_, "retired") == set()
    assert len(segue_.memories.sources()) == 4
    segue_.ingestion.ingest(place)  # what is refused this time is not gone
    assert contents(segue_, "retired") == set()
    note(place, "# A\n\nLoaf 0.\n", SECRET_NAMES[0])
    (place / SECRET_NAMES[1]).unlink()
    assert counts(segue_.ingestion.ingest(place, redaction="mask")) == {"known": 5, "retired": 3}
    assert contents(segue_, "retired") == {"B\n\nRoll 0.", "A\n\nLoaf 1.", "B\n\nRoll 1."}
    require_sound(segue_)


def test_places_whose_names_hold_secrets_are_told_apart(segue_: segue.Segue, tmp_path: Path) -> None:
    names = [SECRET, SECRET[:-1] + "9", SECRET[:-1] + "9/" + "x" * 440]
    path = tmp_path / "memory-store.json"
    memories = [{"id": name, "content": f"Loaf {number}."} for number, name in enumerate(names)]
    older = {"type": "supersedes", "from": names[1], "to": names[0]}
    path.write_bytes(samples.pam(*memories, relations=[older]))
    assert counts(segue_.ingestion.ingest(path, redaction="mask")) == {"new": 3, "replaced": 1}
    assert contents(segue_, "retired") == {"Loaf 0."}
    assert counts(segue_.ingestion.ingest(path, redaction="mask")) == {"known": 3}
    assert SECRET not in everything(segue_)
    assert all(len(row["source"] + row["place"]) < making.MAX_REF for row in rows_of(segue_, "memory_sources"))


@pytest.mark.requirement("memories-17")
@pytest.mark.parametrize("form", ["chatgpt", "claude", "claude-code", "codex", "markdown", "letta"])
def test_what_segue_put_there_itself_is_dropped(segue_: segue.Segue, tmp_path: Path, form: str) -> None:
    own = resume.render(schema.parse(samples.packet()))
    texts = ["Rye?", "Yes.", f"{own}\n\nGo on.", "Fine.", samples.CAPSULE, "Done."]
    data = {
        "chatgpt": lambda: orjson.dumps([samples.chat(texts)]),
        "claude": lambda: orjson.dumps([samples.talk(*texts)]),
        "claude-code": lambda: samples.session(*texts),
        "codex": lambda: samples.codex(*texts),
        "markdown": lambda: ("\n\n".join(texts)).encode(),
        "letta": lambda: samples.letta("\n\n".join(texts)),
    }
    names = {"claude-code": "a.jsonl", "codex": "a.jsonl", "markdown": "a.md", "letta": "a.af"}
    path = tmp_path / names.get(form, "conversations.json")
    path.write_bytes(data[form]())
    assert segue_.ingestion.ingest(path).form == form
    whole = "\n".join(contents(segue_))
    assert "Rye?" in whole
    assert "Go on." in whole or form == "markdown"
    for word in ("Move the bakery", "Resume context", "PCSF", "===END===", "Bake rye first"):
        assert word not in whole, word


@pytest.mark.parametrize(
    "letters", ["# Heading\n\n" + "word " * 5_000, "x" * 20_000, "# " + "h" * 7_000 + "\n\nText.\n"]
)
def test_a_long_section_is_kept_in_pieces(segue_: segue.Segue, tmp_path: Path, letters: str) -> None:
    report = segue_.ingestion.ingest(note(tmp_path, letters), form="markdown")
    assert report.passed_over == 0
    kept = sum(each.content.count("word") * each.occurrences for each in listed(segue_))
    assert kept == letters.count("word")
    assert set(counts(segue_.ingestion.ingest(tmp_path, form="markdown"))) == {"known"}
    require_sound(segue_)


@pytest.mark.parametrize("data", [b"", b"\0\1\2", b"{}", b"[]", b"{" * 10_000, b"\xff\xfe", b"[1, 2"])
def test_a_file_of_nothing_known(segue_: segue.Segue, tmp_path: Path, data: bytes) -> None:
    (tmp_path / "x.json").write_bytes(data)
    for path in (tmp_path / "x.json", tmp_path / "missing.json", tmp_path / "a\udc80b"):
        with pytest.raises(InvalidInput):
            segue_.ingestion.ingest(path)
    assert segue_.memories.count() == 0


def test_an_ingestion_is_noted_without_what_it_read(segue_: segue.Segue, tmp_path: Path) -> None:
    segue_.ingestion.ingest(samples.written(tmp_path, "mem0"))
    (event,) = [each for each in segue_.store.events(100) if each.kind == "memories.ingested"]
    assert event.details == {"new": 2, "passed_over": 0}
    assert "rye" not in repr(segue_.store.events(100)).lower()


# -- killed -------------------------------------------------------------------------------------------------------


def places(opened: segue.Segue) -> int:
    return len(rows_of(opened, "memory_sources"))


class Stopped(Exception):
    """What a killed process would have been stopped by."""


BATCH = 60  # items of one transaction in these tests


@pytest.fixture(scope="module")
def unstopped(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, object]]:
    """A file of more than three batches, and what is there after an import that nothing stops: on any database."""
    folder = tmp_path_factory.mktemp("unstopped")
    path = folder / "conversations.json"
    path.write_bytes(samples.long_chat(BATCH * 3 + 40))
    with segue.open(folder / "segue.db", directory=folder) as clean:
        assert sum(clean.ingestion.ingest(path).counts.values()) == BATCH * 3 + 40
        return path, tally(clean)


@pytest.mark.requirement("memories-16")
@pytest.mark.parametrize(("stop", "half"), [(1, False), (3, False), (3, True)])
def test_stopped_in_a_batch_and_run_again(
    location: str,
    unstopped: tuple[Path, dict[str, object]],
    monkeypatch: pytest.MonkeyPatch,
    stop: int,
    half: bool,
) -> None:
    path, expected = unstopped
    finish = Writer.finish
    calls = 0

    def stopping(writer: Writer, **options: Any) -> None:
        nonlocal calls
        calls += 1
        if calls == stop:
            if half:
                finish(writer, **options)
            raise Stopped
        finish(writer, **options)

    monkeypatch.setattr(taking, "BATCH", BATCH)
    with segue.open(location) as opened:
        with monkeypatch.context() as patch:
            patch.setattr(Writer, "finish", stopping)
            with pytest.raises(Stopped):
                opened.ingestion.ingest(path)
        assert places(opened) == BATCH * (stop - 1)
        require_sound(opened)
        again = opened.ingestion.ingest(path)
        assert again.counts["known"] >= BATCH * (stop - 1)
        assert tally(opened) == expected
        require_sound(opened)
        assert opened.ingestion.ingest(path).counts["known"] == BATCH * 3 + 40
        assert tally(opened) == expected


# Imports, and stops for good within the fourth transaction, when most of it is written.
IMPORTER = """
import sys, time
from pathlib import Path
import segue
from segue.services import taking
from segue.storage import memory_index

add, calls = memory_index.add, 0

def slowly(*arguments):
    global calls
    add(*arguments)
    calls += 1
    if calls == 4:
        print("writing", flush=True)
        time.sleep(600)

memory_index.add = slowly
taking.BATCH = int(sys.argv[3])
with segue.open(sys.argv[1]) as opened:
    opened.ingestion.ingest(Path(sys.argv[2]))
"""


@pytest.mark.requirement("memories-16")
def test_a_process_killed_while_it_imports(location: str, unstopped: tuple[Path, dict[str, object]]) -> None:
    path, expected = unstopped
    command = [forks.program("python"), "-c", IMPORTER, location, str(path), str(BATCH)]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"writing\n"
        process.kill()
        assert process.wait() == -signal.SIGKILL
    with segue.open(location) as opened:
        assert places(opened) == 3 * BATCH
        require_sound(opened)
        assert opened.ingestion.ingest(path).counts["known"] == 3 * BATCH
        assert tally(opened) == expected
        require_sound(opened)
