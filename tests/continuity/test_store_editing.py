"""Changes of a memory store: what they are about changes, and nothing else does."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from continuity import store_samples as samples
from continuity.test_store_doctor import BROKEN
from segue.base import frontmatter
from segue.base.errors import Ambiguous, InvalidInput, NotFound
from segue.base.redaction import RedactionRefused
from segue.continuity.store import detail, doctor, editing, head, index
from segue.continuity.store.editing import Edit, Entry
from segue.continuity.store.snapshot import Plan, Snapshot

if TYPE_CHECKING:
    from segue.continuity.store.doctor import Checked

TODAY = "2026-05-04"
FEEDBACK_BODY = "Why: it was asked for.\nHow to apply: do it.\n"


def entry(name: str = "new-fact", kind: str = "reference", **members: str) -> Entry:
    given_ = {
        "description": "Where the plan is",
        "body": "Look there.",
        "source_path": "docs/plan.md",
        "source_transaction": "TX-0007",
    } | members
    return editing.checked_entry(Entry(name=name, kind=kind, **given_))


def applied(checked: Checked, edit: Edit) -> Checked:
    after = doctor.check(edit.plan.after(checked.snapshot))
    assert after.faults == ()
    return after


@pytest.fixture
def sample() -> Checked:
    return doctor.check(samples.snapshot())


def text_of(checked: Checked, file: str) -> str:
    return checked.snapshot.files[file].decode()


@pytest.mark.requirement("continuity-store-upsert")
def test_added_then_updated(sample: Checked) -> None:
    added = editing.upsert(sample, entry(), TODAY)
    assert (added.action, added.memory_id, set(added.plan.writes)) == ("added", "MEM-005", {"new-fact.md", "MEMORY.md"})
    once = applied(sample, added)
    assert text_of(once, "new-fact.md") == (
        '---\nmemory_id: "MEM-005"\nname: "new-fact"\ndescription: "Where the plan is"\nkind: "reference"\n'
        'source_transaction: "TX-0007"\nsource_path: "docs/plan.md"\ncreated: "2026-05-04"\nupdated: "2026-05-04"\n'
        'status: "active"\n---\n\nLook there.\n'
    )
    # Directly under the heading of its kind; the rest of the index stays as it is.
    line = "- [Where the plan is](new-fact.md) — docs/plan.md\n"
    assert text_of(once, "MEMORY.md") == samples.INDEX.replace("## reference\n", "## reference\n" + line)
    changed = entry(description="Where the new plan is", body="Look here.", source_transaction="TX-0008")
    updated = editing.upsert(once, changed, "2026-05-05")
    assert (updated.action, updated.memory_id) == ("updated", "MEM-005")
    twice = applied(once, updated)
    assert len(twice.index.pointers) == len(once.index.pointers)
    found = twice.details["new-fact.md"]
    assert (found["created"], found["updated"], found["source_transaction"]) == ("2026-05-04", "2026-05-05", "TX-0008")
    assert found.body == "\nLook here.\n"
    assert text_of(twice, "MEMORY.md") == text_of(once, "MEMORY.md").replace("the plan is", "the new plan is")


@pytest.mark.requirement("continuity-store-upsert")
@pytest.mark.parametrize("kind", ["feedback", "correction", "project", "reference"])
def test_each_kind_into_an_empty_store(kind: str) -> None:
    body = {
        "correction": "Original: a\nCanonical: b\nStale patterns: a\nImpact: c\n",
        "reference": "There.\n",
    }.get(kind, FEEDBACK_BODY)
    empty = doctor.check(samples.snapshot({"MEMORY.md": samples.EMPTY}))
    edit = editing.upsert(empty, entry(kind=kind, body=body), TODAY)
    assert edit.memory_id == "MEM-001"
    assert [each.kind for each in applied(empty, edit).index.pointers] == [kind]


@pytest.mark.parametrize(
    ("kind", "body", "gloss"),
    [
        ("feedback", "Why: a\n**How to apply:**\n\n  so\nand so\n", "so"),
        ("project", "How to apply: so\nWhy: a\n", "so"),
        ("correction", "Original: a\nCanonical: b\n\nc\nStale patterns: a\nImpact: d\n", "b"),
        ("reference", "How to apply: so\n", "docs/plan.md"),
    ],
)
def test_what_the_index_says_beside_a_hook(sample: Checked, kind: str, body: str, gloss: str) -> None:
    pointer = applied(sample, editing.upsert(sample, entry(kind=kind, body=body), TODAY)).index.pointer("new-fact.md")
    assert pointer is not None
    assert (pointer.hook, pointer.gloss) == ("Where the plan is", gloss)


@pytest.mark.requirement("continuity-store-upsert")
def test_ids_of_the_archive_are_not_used_again(sample: Checked) -> None:
    gone = applied(sample, editing.archive(sample, "shape-check.md", TODAY, "moved"))
    assert editing.upsert(gone, entry(), TODAY).memory_id == "MEM-005"
    # Nor is what lies there overwritten by a second fact of that name.
    again = applied(gone, editing.upsert(gone, entry("shape-check"), TODAY))
    assert again.details["shape-check.md"]["memory_id"] == "MEM-005"
    both = applied(again, editing.archive(again, "shape-check.md", TODAY, "moved again"))
    assert sorted(both.archived) == ["archive/shape-check-mem-005.md", "archive/shape-check.md"]
    assert [each["memory_id"] for each in both.archived.values()] == ["MEM-005", "MEM-004"]
    # The name is that of the one that came last.
    assert editing.find(both, "shape-check", archive=True)["memory_id"] == "MEM-005"
    assert editing.find(both, "MEM-004", archive=True).file == "archive/shape-check.md"


@pytest.mark.requirement("continuity-store-upsert")
@pytest.mark.parametrize(
    "text",
    ['---\nmemory_id: "MEM-050"\nbroken: [\n---\nx\n', "memory_id: MEM-050\n", 'x\xff\nmemory_id:   "MEM-050"\n', ""],
)
def test_nor_are_those_of_files_that_cannot_be_read(text: str) -> None:
    files = {name: each.encode() for name, each in samples.FILES.items()} | {"archive/old.md": text.encode("latin-1")}
    checked = doctor.check(Snapshot(files))
    assert checked.faults == ()
    assert editing.upsert(checked, entry(), TODAY).memory_id == ("MEM-051" if text else "MEM-005")


@pytest.mark.requirement("continuity-store-kinds")
@pytest.mark.parametrize("label", ["**Why:** a\n**How to apply:** b", "Why:\na\nHow to apply:\nb"])
def test_what_the_doctor_takes_may_be_kept(sample: Checked, label: str) -> None:
    applied(sample, editing.upsert(sample, entry(kind="feedback", body=label), TODAY))


@pytest.mark.parametrize(
    ("members", "code"),
    [
        ({"name": "New Fact"}, "memory.name"),
        ({"name": "new_fact"}, "memory.name"),
        ({"name": "../new"}, "memory.name"),
        ({"name": "-new"}, "memory.name"),
        ({"name": ""}, "memory.name"),
        ({"name": "memory"}, "memory.name"),
        ({"name": "con"}, "memory.name"),
        ({"name": "lpt1"}, "memory.name"),
        ({"name": "x" * 65}, "memory.name"),
        ({"name": "\U00020000" * 64}, "memory.name"),
        ({"kind": "note"}, "memory.kind"),
        ({"description": " \n"}, "memory.description"),
        ({"description": "x" * 501}, "memory.description"),
        ({"body": "\n"}, "memory.body"),
        ({"body": "x" * 32_769}, "memory.body"),
        ({"body": "a\0b"}, "memory.body"),
        ({"body": "a\ud800b"}, "memory.body"),
        ({"kind": "feedback"}, "memory.body"),
        ({"kind": "correction", "body": "Original: a\nCanonical: b\nImpact: c"}, "memory.body"),
        ({"source_path": "/etc/hosts"}, "memory.source_path"),
        ({"source_path": "..\\plan.md"}, "memory.source_path"),
        ({"source_path": ""}, "memory.source_path"),
    ],
)
def test_what_is_no_fact(members: dict[str, str], code: str) -> None:
    with pytest.raises(InvalidInput) as error:
        entry(**members)
    assert error.value.code == code


@pytest.mark.requirement("continuity-store-secrets")
@pytest.mark.parametrize("field", ["description", "body"])
def test_a_secret_is_refused(field: str) -> None:
    secret = "AKIA" + "IOSFODNN7" + "EXAMPLE"
    with pytest.raises(RedactionRefused) as error:
        entry(**{field: f"The key is {secret}."})
    assert secret not in error.value.message


@pytest.mark.parametrize("headings", ["", "## reference\n\n## reference\n"])
def test_a_heading_that_is_not_there_once(headings: str) -> None:
    checked = doctor.check(samples.snapshot({"MEMORY.md": f"# Memory Index\n\n{headings}"}))
    assert checked.is_valid
    with pytest.raises(InvalidInput) as error:
        editing.upsert(checked, entry(), TODAY)
    assert error.value.code == "memory.heading"


@pytest.mark.requirement("continuity-store-caps")
def test_over_the_soft_limit_facts_are_still_kept_and_over_the_hard_one_not() -> None:
    long = samples.EMPTY + "> " + "x" * (20_480 - len(samples.EMPTY)) + "\n"
    soft = doctor.check(samples.snapshot({"MEMORY.md": long}))
    assert [each.code for each in soft.faults] == ["index.soft_cap"]
    edit = editing.upsert(soft, entry(), TODAY)
    assert doctor.check(edit.plan.after(soft.snapshot)).is_valid
    longer = samples.EMPTY + "> " + "x" * (25_570 - len(samples.EMPTY)) + "\n"
    with pytest.raises(InvalidInput) as error:
        editing.upsert(doctor.check(samples.snapshot({"MEMORY.md": longer})), entry(), TODAY)
    assert error.value.code == "memory.invalid"
    assert "25,600" in error.value.message


@pytest.mark.requirement("continuity-store-tidy")
def test_archived_with_its_reason(sample: Checked) -> None:
    edit = editing.archive(sample, "no-gpu.md", TODAY, 'She has a "GPU" now: \\o/')
    after = applied(sample, edit)
    assert "no-gpu.md" not in after.snapshot.files
    assert after.index.pointer("no-gpu.md") is None
    kept = after.archived["archive/no-gpu.md"]
    assert (kept["status"], kept["updated"], kept["memory_id"]) == ("stale", TODAY, "MEM-003")
    assert kept["stale_reason"] == 'She has a "GPU" now: \\o/'
    assert kept.body == sample.details["no-gpu.md"].body
    for reason in ("", "x" * 501):
        with pytest.raises(InvalidInput):
            editing.archive(sample, "no-gpu.md", TODAY, reason)


@pytest.mark.requirement("continuity-store-tidy")
def test_made_one_of_another_kind(sample: Checked) -> None:
    after = applied(sample, editing.rekind(sample, "no-gpu.md", "feedback", TODAY))
    pointer = after.index.pointer("no-gpu.md")
    assert pointer is not None
    assert (pointer.kind, pointer.hook) == ("feedback", "Examples run without a GPU")
    assert after.details["no-gpu.md"]["kind"] == "feedback"
    assert editing.rekind(after, "no-gpu.md", "feedback", TODAY).action == "none"
    with pytest.raises(InvalidInput, match="Stale patterns"):
        editing.rekind(sample, "no-gpu.md", "correction", TODAY)
    # By keeping it again as another kind, too.
    again = applied(after, editing.upsert(after, entry("no-gpu", "project", body=FEEDBACK_BODY), TODAY))
    assert [each.kind for each in again.index.pointers if each.name == "no-gpu"] == ["project"]
    assert again.details["no-gpu.md"]["memory_id"] == "MEM-003"


@pytest.mark.requirement("continuity-store-tidy")
def test_a_wrong_heading_is_mended_so() -> None:
    wrong = doctor.check(samples.snapshot(no_gpu=samples.PROJECT.replace('"project"', '"feedback"')))
    assert not wrong.is_valid
    applied(wrong, editing.rekind(wrong, "no-gpu.md", "project", TODAY))


@pytest.mark.requirement("continuity-store-tidy")
@pytest.mark.parametrize("name", sorted(BROKEN.keys() - {"no index"}))
def test_what_else_is_wrong_keeps_nobody_from_archiving(name: str) -> None:
    checked = doctor.check(samples.snapshot(**BROKEN[name][0]))
    for file in ("shape-check.md", "line-by-line.md"):
        after = editing.require_no_worse(checked, editing.archive(checked, file, TODAY, "moved").plan)
        assert file not in after.details
        assert not {each.code for each in after.faults} - {each.code for each in checked.faults}


@pytest.mark.requirement("continuity-store-caps")
def test_an_index_over_its_hard_limit_is_mended_as_the_doctor_says() -> None:
    files = {f"fact-{each}.md": samples.detail(f"fact-{each}", each, body=f"It is {each}.\n") for each in range(1, 199)}
    lines = "".join(f"- [{'hook ' * 9}{each}]({each}) — {'gloss ' * 15}\n" for each in files)
    checked = doctor.check(samples.snapshot({"MEMORY.md": f"# Memory Index\n\n## reference\n{lines}", **files}))
    assert [each.code for each in checked.faults] == ["index.hard_cap"]
    for each in range(1, 60):  # the longest index that a compaction can bring within its limits is reached on the way
        checked = editing.require_no_worse(checked, editing.archive(checked, f"fact-{each}.md", TODAY, "old").plan)
    after = editing.tightened(checked.index)
    assert after.faults == ()
    assert len(after.pointers) == 198 - 59


def test_no_change_brings_a_second_fault_of_a_kind_in() -> None:
    checked = doctor.check(samples.snapshot(index=samples.INDEX + "- [x](no-gpu.md) — y\n"))
    worse = samples.INDEX + "- [x](no-gpu.md) — y\n- [x](conv-stride.md) — y\n"
    with pytest.raises(InvalidInput, match="leads already"):
        editing.require_no_worse(checked, Plan({"MEMORY.md": worse.encode()}))


@pytest.mark.requirement("continuity-store-tidy")
def test_facts_without_a_text_are_told_apart_by_what_they_are_called() -> None:
    names = ("plan", "script", "script-again")
    files = {
        f"{name}.md": samples.detail(name, number, body="", description=name.removesuffix("-again"))
        for number, name in enumerate(names, 1)
    }
    lines = "".join(f"- [x]({name}.md) — y\n" for name in names)
    checked = doctor.check(samples.snapshot({"MEMORY.md": f"# Memory Index\n\n## reference\n{lines}", **files}))
    assert checked.faults == ()
    assert editing.duplicates(checked) == {"script-again.md": "MEM-002"}
    # Corrections that lack their parts are faulty, and no copies of one another.
    bodies = ("Impact: a\n", "Impact: b\n")
    wrong = {
        f"c-{at}.md": samples.detail(f"c-{at}", at, kind="correction", body=each) for at, each in enumerate(bodies)
    }
    index_ = "# Memory Index\n\n## correction\n- [x](c-0.md) — y\n- [x](c-1.md) — y\n"
    assert editing.duplicates(doctor.check(samples.snapshot({"MEMORY.md": index_, **wrong}))) == {}


@pytest.mark.requirement("continuity-store-tidy")
def test_duplicates() -> None:
    same = samples.PROJECT.replace("no-gpu", "cpu-only").replace("MEM-003", "MEM-009").replace("small", "  SMALL")
    stride = samples.CORRECTION.replace("conv-stride", "stride").replace("MEM-002", "MEM-008")
    stride = stride.replace("every size", "all sizes")
    text = samples.INDEX.replace("## project\n", "## project\n- [x](cpu-only.md) — y\n")
    text = text.replace("## correction\n", "## correction\n- [x](stride.md) — y\n")
    checked = doctor.check(samples.snapshot(index=text, cpu_only=same, stride=stride))
    assert checked.faults == ()
    assert editing.duplicates(checked) == {"cpu-only.md": "MEM-003", "stride.md": "MEM-002"}
    assert editing.duplicates(doctor.check(samples.snapshot())) == {}


def test_second_pointers_go() -> None:
    found = index.read((samples.INDEX + "- [x](no-gpu.md) — y\n- [z](no-gpu.md) — y\n").encode())
    assert editing.without_double_pointers(found).data.decode() == samples.INDEX


@pytest.mark.requirement("continuity-store-tidy")
@pytest.mark.parametrize(("facts", "words"), [(120, 40), (60, 100), (140, 20)])
def test_compacted_to_the_soft_limits(facts: int, words: int) -> None:
    lines = "".join(f"- [{'hook ' * words}](fact-{number}.md) — {'gloss ' * words}\n\n" for number in range(facts))
    before = index.read(f"# Memory Index\n\n> Keep me.\n\n## reference\n{lines}".encode())
    after = editing.tightened(before)
    assert after.faults == ()
    assert [each.target for each in after.pointers] == [each.target for each in before.pointers]
    assert "> Keep me." in after.data.decode()
    assert editing.tightened(after).data == after.data


def test_what_is_within_the_limits_is_left_alone() -> None:
    assert editing.tightened(index.read(samples.INDEX.encode())).data.decode() == samples.INDEX


def test_names_ids_and_candidates(sample: Checked) -> None:
    assert editing.find(sample, "no-gpu").file == "no-gpu.md"
    assert editing.find(sample, "no-gpu.md").file == "no-gpu.md"
    assert editing.find(sample, "MEM-3").file == "no-gpu.md"
    named = applied(sample, editing.upsert(sample, entry("größe"), TODAY))
    assert editing.find(named, "gro\u0308ße").file == "größe.md"
    kept = applied(sample, editing.upsert(sample, entry(candidate="M-0002"), TODAY))
    assert editing.find(kept, "M-0002").name == "new-fact"
    for unknown in ("", "no", "MEM-9", "M-0009", "../no-gpu"):
        with pytest.raises(NotFound):
            editing.find(kept, unknown)
    gone = applied(kept, editing.archive(kept, "no-gpu.md", TODAY, "x"))
    with pytest.raises(NotFound):
        editing.find(gone, "no-gpu")
    assert editing.find(gone, "MEM-003", archive=True).file == "archive/no-gpu.md"
    twice = samples.snapshot(no_gpu=samples.PROJECT.replace("MEM-003", "MEM-002"))
    with pytest.raises(Ambiguous):
        editing.find(doctor.check(twice), "MEM-002")


# -- whatever the texts hold ------------------------------------------------------------------------------------------

STRANGE = st.text(
    st.one_of(
        st.sampled_from('"\\:#[](){}|>*&!%@`~-—\n\r\t\x07\u2028\x85\ufeff纠é😀 ab'),
        st.characters(exclude_categories=["Cs"]),
    ),
    min_size=1,
    max_size=60,
).filter(lambda text: text.strip() and "\0" not in text)


@pytest.mark.requirement("continuity-store-untouched")
@settings(max_examples=40)
@given(description=STRANGE, body=STRANGE, end=st.sampled_from(["\n", "\r\n"]))
def test_any_text_survives(description: str, body: str, end: str) -> None:
    files = {name: text.replace("\n", end) for name, text in samples.FILES.items()}
    checked = doctor.check(samples.snapshot(files))
    try:
        given_ = entry(description=description, body=body)
    except RedactionRefused:
        return
    added = doctor.check(editing.upsert(checked, given_, TODAY).plan.after(checked.snapshot))
    assert added.faults == ()
    assert added.details["new-fact.md"]["description"] == description.strip()
    pointer = added.index.pointer("new-fact.md")
    assert pointer is not None
    again = doctor.check(
        editing.upsert(added, entry("line-by-line", description=description), TODAY).plan.after(added.snapshot)
    )
    assert again.faults == ()
    assert again.details["line-by-line.md"]["description"] == description.strip()
    # The other lines of the index are those that they were.
    assert text_of(again, "MEMORY.md").count(end) == len(again.index.lines)
    for line in files["MEMORY.md"].split(end):
        assert "line-by-line" in line or line in text_of(again, "MEMORY.md")


HEADS = [
    'memory_id: "MEM-001"\ndescription: "old" # said so\nextra: {a: [1, 2], b: "c"}\nkind: feedback\n',
    "memory_id: MEM-001\ndescription: >-\n  old and\n  long\n# a comment\nkind: 'feedback'\n",
    "description: |\n  old\n  lines\nkind: feedback\n",
    "kind: feedback\ndescription:\nlist:\n  - a\n  - b\n",
    "list:\n- description: inner\nkind: feedback\ndescription: 'it''s'\n",
    "kind: feedback\n",
]


@pytest.mark.requirement("continuity-store-untouched")
@settings(max_examples=50)
@given(value=STRANGE, which=st.sampled_from(HEADS), end=st.sampled_from(["\n", "\r\n"]))
def test_one_value_changes_and_nothing_else(value: str, which: str, end: str) -> None:
    text = f"---\n{which}---\n\nBody: of the fact.\n\n---\nMore.  \n".replace("\n", end)
    before = frontmatter.split(text)
    after = frontmatter.split(head.edited(text, {"description": value}))
    assert after.fault == ""
    assert after.values == before.values | {"description": value}
    assert after.body == before.body
    same = head.edited(head.edited(text, {"description": value}), {"description": "x"})
    others = [line for line in which.splitlines() if re.match(r"(kind|extra|list|#|memory_id|- |  - )", line)]
    for line in others:
        assert line + end in same or line in same.split(end)
    assert head.edited(text, {"kind": "feedback"}) == text


@pytest.mark.requirement("continuity-store-untouched")
@pytest.mark.requirement("continuity-store-format")
@settings(max_examples=60)
@given(
    st.lists(
        st.tuples(
            st.sampled_from(["name", "status", "a-b", "x_1", "null", "no", "1", "a b"]),
            st.sampled_from([": ", ":", ": \t"]),
            st.one_of(
                st.text(st.sampled_from('\\"\x00\t\x85\xa0\u2028\ufeff\ufffe#:é纠😀 -'), max_size=4).map(
                    lambda text: f'"{text}"'
                ),
                st.sampled_from(['""', "x", "'x'", '" x "', '"x" # y', "[x]", ""]),
            ),
        ),
        min_size=1,
        max_size=5,
    ),
    st.sampled_from(["\n", "\r\n"]),
    st.sampled_from(["---", "...", "--- "]),
    st.sampled_from(["", "\n", "\nbody\n", "body"]),
)
def test_a_head_reads_as_yaml_does(lines: list[tuple[str, str, str]], end: str, close: str, body: str) -> None:
    text = f"---{end}" + "".join("".join(line) + end for line in lines) + close + end + body
    found, yaml = head.read(text), frontmatter.split(text)
    assert (found.body, found.body_line) == (yaml.body, yaml.body_line)
    if not yaml.fault:
        assert found.values == {key: value for key, value in yaml.values.items() if isinstance(value, str)}
        assert found.lines == yaml.lines
        assert not found.raw


def test_a_body_that_says_the_same_stays() -> None:
    text = '---\r\nkind: "x"\r\n---\r\n\r\n\r\n  Spaced.  \r\n\r\n'
    assert head.edited(text, {}, "  Spaced.  \n") == text
    assert head.edited(text, {}, "Other\nlines\n") == '---\r\nkind: "x"\r\n---\r\n\r\nOther\r\nlines\r\n'


@pytest.mark.requirement("continuity-store-untouched")
def test_a_head_that_is_no_yaml_becomes_some() -> None:
    text = '---\ndescription: "it says "no" here"\nsource_path: "docs\\plan.md"\nkind: "x"\n---\n\nBody.\n'
    after = head.edited(text, {"kind": "y"})
    assert frontmatter.split(after).values == {
        "description": 'it says "no" here',
        "source_path": "docs\\plan.md",
        "kind": "y",
    }


def test_a_pointer_is_one_line_and_one_link() -> None:
    line = index.written("a [b](c.md) — \\d `e\nf <b> &amp; g", "x.md", "1 `2 ](y.md) — 3")
    assert line.count("](") == 1
    found = index.read(f"# Memory Index\n## reference\n{line}\n".encode())
    assert [(each.target, each.hook) for each in found.pointers] == [("x.md", "a [b](c.md) — \\d `e ⏎ f <b> &amp; g")]
    assert found.faults == ()


def test_fields_are_those_of_the_format() -> None:
    assert set(detail.REQUIRED) == {
        "memory_id", "name", "description", "kind", "source_transaction", "source_path", "created", "updated", "status",
    }  # fmt: skip
