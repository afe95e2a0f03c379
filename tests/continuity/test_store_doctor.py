"""The doctor of a memory store: what the format allows, and every class of fault with file and line."""

from __future__ import annotations

import unicodedata
from typing import TYPE_CHECKING, Any, Literal

import pytest

from continuity import store_samples as samples
from segue.continuity.store import doctor, layout
from segue.continuity.store.snapshot import Snapshot

if TYPE_CHECKING:
    from segue.continuity.store.fault import Fault


def faults(snapshot: Snapshot) -> list[Fault]:
    return list(doctor.check(snapshot).faults)


def one(snapshot: Snapshot) -> Fault:
    found = faults(snapshot)
    assert len(found) == 1, [(each.code, each.message) for each in found]
    assert found[0].mend
    assert found[0].message
    return found[0]


@pytest.mark.requirement("continuity-store-format")
def test_a_store_of_the_format_is_in_order() -> None:
    checked = doctor.check(samples.snapshot())
    assert checked.faults == ()
    assert [(kind, each["memory_id"]) for kind, each in checked.listed()] == [
        ("feedback", "MEM-001"),
        ("correction", "MEM-002"),
        ("project", "MEM-003"),
        ("reference", "MEM-004"),
    ]
    assert faults(samples.snapshot({"MEMORY.md": samples.EMPTY})) == []
    assert faults(Snapshot({"MEMORY.md": layout.template()})) == []


@pytest.mark.requirement("continuity-store-format")
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_with_the_line_breaks_of_windows(mark: str) -> None:
    files = {name: mark + text.replace("\n", "\r\n") for name, text in samples.FILES.items()}
    assert faults(samples.snapshot(files)) == []


@pytest.mark.requirement("continuity-store-format")
@pytest.mark.parametrize("form", ["NFC", "NFD"])
def test_names_in_any_script(form: Literal["NFC", "NFD"]) -> None:
    names = ("größe-der-bilder", "步长-纠正", "ενα-δυο")
    files = {"MEMORY.md": "# Memory Index\n\n## reference\n"}
    for number, name in enumerate(names, 1):
        files["MEMORY.md"] += f"- [一行]({unicodedata.normalize(form, name)}.md) — там\n"
        files[f"{name}.md"] = samples.detail(unicodedata.normalize(form, name), number)
    assert faults(samples.snapshot(files)) == []


@pytest.mark.requirement("continuity-store-format")
@pytest.mark.parametrize(
    ("written", "meant"),
    [
        (r"docs\new\plan.md", "docs/new/plan.md"),
        (r"docs\notes.md", "docs/notes.md"),  # of which YAML makes a line break
        (r"C:\Users\plan.md", "C:/Users/plan.md"),
        ("docs/plan.md", "docs/plan.md"),
    ],
)
def test_paths_of_windows_between_quotes(written: str, meant: str) -> None:
    text = samples.REFERENCE.replace("tools/shapes.py", written)
    checked = doctor.check(samples.snapshot(shape_check=text))
    assert checked.faults == ()
    assert checked.details["shape-check.md"].source_path == meant


@pytest.mark.requirement("continuity-store-format")
def test_values_that_another_writer_left_between_quotes_as_they_are() -> None:
    text = samples.REFERENCE.replace("The script that prints every shape", 'It prints "all": [shapes]')
    checked = doctor.check(samples.snapshot(shape_check=text))
    assert checked.faults == ()
    assert checked.details["shape-check.md"]["description"] == 'It prints "all": [shapes]'


@pytest.mark.parametrize(
    "body",
    [
        "Why: a\nHow to apply: b\n",
        "**Why:** a\n**How to apply:** b\n",
        "**Why**: a\n\n**How to apply**:\n\nb\n",
        "WHY: a\nhow To Apply: b\n",
        "- **Why:** a\n- How to apply: b\n",
        "Why：因为\nHow to apply：照做\n",
    ],
)
@pytest.mark.requirement("continuity-store-kinds")
def test_labels_bold_or_not_in_any_case(body: str) -> None:
    head = samples.FEEDBACK.partition("**Why")[0]
    assert faults(samples.snapshot(line_by_line=head + body)) == []


@pytest.mark.parametrize("nothing", ["", "**", " ** **", "<!-- to be said -->", "__\n\n", "\u3000"])
@pytest.mark.requirement("continuity-store-kinds")
def test_labels_without_a_text(nothing: str) -> None:
    head = samples.FEEDBACK.partition("**Why")[0]
    fault = one(samples.snapshot(line_by_line=f"{head}**Why:{nothing}\n**How to apply:** do it\n"))
    assert (fault.code, "Why" in fault.message) == ("detail.label", True)


def changed(text: str, old: str, new: str) -> str:
    assert old in text
    return text.replace(old, new, 1)


N, F, C, P = samples.INDEX, samples.FEEDBACK, samples.CORRECTION, samples.PROJECT
HOOK = "- [Examples run without a GPU](no-gpu.md) — small inputs"
OUTSIDE = "## project\n" + HOOK
# What is changed in the sample, and the class, file and line of the one fault that it makes.
BROKEN: dict[str, tuple[dict[str, Any], str, str, int]] = {
    "no title": ({"index": changed(N, "# Memory Index", "# Memories")}, "index.title", "MEMORY.md", 1),
    "a rule": ({"index": changed(N, "> What lasts; advice only.", "---")}, "index.item", "MEMORY.md", 3),
    "no gloss": ({"index": N + "- [hook](no-gpu.md)\n"}, "index.item", "MEMORY.md", 16),
    "a hyphen for the dash": ({"index": N + "- [hook](no-gpu.md) - gloss\n"}, "index.item", "MEMORY.md", 16),
    "no space at the dash": ({"index": N + "- [hook](no-gpu.md)—gloss\n"}, "index.item", "MEMORY.md", 16),
    "two lines": ({"index": N + "- a note\n  of two lines\n"}, "index.item", "MEMORY.md", 16),
    "twice": ({"index": N + HOOK + "\n"}, "index.duplicate", "MEMORY.md", 16),
    "no kind": ({"index": changed(N, OUTSIDE, "## notes\n" + HOOK)}, "index.outside", "MEMORY.md", 12),
    "empty hook": ({"index": changed(N, "[Examples run without a GPU]", "[ ]")}, "index.hook", "MEMORY.md", 12),
    "a file that is not there": ({"index": N + "- [x](gone.md) — y\n"}, "index.missing_target", "MEMORY.md", 16),
    "above the store": ({"index": N + "- [x](../README.md) — y\n"}, "index.target", "MEMORY.md", 16),
    "in a folder": ({"index": N + "- [x](archive/old.md) — y\n"}, "index.target", "MEMORY.md", 16),
    "in a folder of Windows": ({"index": N + "- [x](archive\\old.md) — y\n"}, "index.target", "MEMORY.md", 16),
    "elsewhere": ({"index": N + "- [x](https://example.com/a.md) — y\n"}, "index.target", "MEMORY.md", 16),
    "no Markdown": ({"index": N + "- [x](notes.txt) — y\n"}, "index.target", "MEMORY.md", 16),
    "the index itself": ({"index": N + "- [x](MEMORY.md) — y\n"}, "index.target", "MEMORY.md", 16),
    "no head": ({"no_gpu": P.partition("---\n\n")[2]}, "detail.front_matter", "no-gpu.md", 1),
    "an open head": ({"no_gpu": changed(P, "---\n\n", "\n")}, "detail.front_matter", "no-gpu.md", 1),
    "no YAML": ({"no_gpu": changed(P, '"project"', "[project")}, "detail.front_matter", "no-gpu.md", 6),
    "a key twice": ({"no_gpu": changed(P, "created:", "kind:")}, "detail.duplicate_key", "no-gpu.md", 8),
    "a field that is missing": ({"no_gpu": changed(P, "created:", "made:")}, "detail.field", "no-gpu.md", 1),
    "an empty field": ({"no_gpu": changed(P, "Examples run without a GPU", " ")}, "detail.field", "no-gpu.md", 4),
    "another name": ({"no_gpu": changed(P, '"no-gpu"', '"gpu"')}, "detail.name", "no-gpu.md", 3),
    "another kind": ({"no_gpu": changed(P, '"project"', '"decision"')}, "detail.kind", "no-gpu.md", 5),
    "another heading": ({"no_gpu": changed(P, '"project"', '"feedback"')}, "detail.heading", "no-gpu.md", 5),
    "not active": ({"no_gpu": changed(P, '"active"', '"stale"')}, "detail.inactive", "no-gpu.md", 10),
    "an id": ({"no_gpu": changed(P, "MEM-003", "M-3")}, "detail.id", "no-gpu.md", 2),
    "an id twice": ({"no_gpu": changed(P, "MEM-003", "MEM-002")}, "detail.duplicate_id", "no-gpu.md", 2),
    "the same number": ({"no_gpu": changed(P, "MEM-003", "MEM-2")}, "detail.duplicate_id", "no-gpu.md", 2),
    "a transaction": ({"no_gpu": changed(P, "TX-005", "TX-five")}, "detail.transaction", "no-gpu.md", 6),
    "a transaction without end": ({"no_gpu": changed(P, "TX-005", "TX-" + "9" * 5_000)}, "detail.transaction",
                                  "no-gpu.md", 6),
    "a head without end": ({"no_gpu": changed(P, "status:", "x: y\n" * 20_000 + "status:")}, "detail.front_matter",
                           "no-gpu.md", 1),
    "a value without end": ({"no_gpu": changed(P, "Examples", "x" * 70_000)}, "detail.front_matter", "no-gpu.md", 1),
    "a date": ({"no_gpu": changed(P, '"2026-04-03"', '"2026-02-30"')}, "detail.date", "no-gpu.md", 8),
    "no label": ({"no_gpu": changed(P, "Why:", "Because:")}, "detail.label", "no-gpu.md", 12),
    "an empty label": ({"line_by_line": changed(F, "the learner asked for it twice.", "")}, "detail.label",
                       "line-by-line.md", 12),
    "no stale patterns": ({"conv_stride": changed(C, "Stale patterns:", "Old:")}, "detail.label", "conv-stride.md", 12),
    "an orphan": ({"index": changed(N, HOOK + "\n", "")}, "detail.orphan", "no-gpu.md", 1),
    "no index": ({"index": None}, "index.missing", "MEMORY.md", 1),
}  # fmt: skip


@pytest.mark.requirement("continuity-store-doctor")
@pytest.mark.parametrize("name", list(BROKEN))
def test_each_class_of_fault(name: str) -> None:
    texts, code, file, line = BROKEN[name]
    found = faults(samples.snapshot(**texts))
    if name == "no index":
        found = [each for each in found if each.code != "detail.orphan"]
    assert [(each.code, each.file, each.line, each.blocks) for each in found] == [(code, file, line, True)]
    assert found[0].mend
    assert found[0].to_json()["severity"] == "error"


@pytest.mark.requirement("continuity-store-doctor")
def test_names_in_capitals_are_none() -> None:
    files = {"MEMORY.md": "# Memory Index\n\n## reference\n- [x](No_GPU.md) — y\n"}
    assert one(samples.snapshot(files | {"No_GPU.md": samples.detail("No_GPU", 1)})).code == "detail.name"


@pytest.mark.requirement("continuity-store-doctor")
@pytest.mark.parametrize("name", ["memory.md", "Memory.md", "a:b.md", "what?.md", ".hidden.md", "x\ty.md"])
def test_a_file_that_no_pointer_can_name_is_an_orphan_too(name: str) -> None:
    fault = one(samples.snapshot(samples.FILES | {name: samples.detail("x", 9)}))
    assert (fault.code, fault.file) == ("detail.orphan", name)


@pytest.mark.requirement("continuity-store-format")
@pytest.mark.parametrize("number", ["000", "0", "7", "20260401093000", "9" * 18])
def test_ids_of_any_length(number: str) -> None:
    checked = doctor.check(samples.snapshot(no_gpu=P.replace("MEM-003", f"MEM-{number}")))
    assert checked.faults == ()
    assert int(checked.next_id().removeprefix("MEM-")) == max(int(number), 4) + 1


@pytest.mark.requirement("continuity-store-format")
@pytest.mark.parametrize("name", ["हिंदी-नियम", "กฎที่-๑", "தமிழ்", "e\u0323\u0302x"])
def test_words_whose_letters_have_marks(name: str) -> None:
    name = unicodedata.normalize("NFC", name)
    assert layout.checked_name(name) == name
    files = {
        "MEMORY.md": f"# Memory Index\n\n## reference\n- [x]({name}.md) — y\n",
        f"{name}.md": samples.detail(name, 1),
    }
    assert faults(samples.snapshot(files)) == []
    for wrong in ("\u0301a", "a-\u0301", "a\u200db", "a--b", "a-", ""):
        assert not layout.is_name(wrong)


@pytest.mark.parametrize("file", ["MEMORY.md", "no-gpu.md"])
def test_what_is_no_utf8(file: str) -> None:
    files = {name: text.encode() for name, text in samples.FILES.items()}
    files[file] = files[file].replace(b"GPU", b"G\xffU", 1)
    found = faults(Snapshot(files))
    line = files[file][: files[file].index(b"\xff")].count(b"\n") + 1
    assert (found[0].file, found[0].line) == (file, line)
    assert found[0].code.endswith(".encoding")


def sized(lines: int, size: int) -> Snapshot:
    """A store whose index has so many lines and, but for small ones, so many bytes."""
    text = samples.EMPTY + "\n" * (lines - samples.EMPTY.count("\n") - 1)
    return samples.snapshot({"MEMORY.md": text + "> " + "x" * (size - len(text) - 3) + "\n"})


@pytest.mark.requirement("continuity-store-caps")
@pytest.mark.parametrize(
    ("lines", "size", "code"),
    [
        (150, 20_480, ""),
        (151, 9_000, "index.soft_cap"),
        (20, 20_481, "index.soft_cap"),
        (200, 25_600, "index.soft_cap"),
        (201, 9_000, "index.hard_cap"),
        (20, 25_601, "index.hard_cap"),
    ],
)
def test_the_limits_of_the_index(lines: int, size: int, code: str) -> None:
    checked = doctor.check(sized(lines, size))
    assert (len(checked.index.lines), len(checked.snapshot.files["MEMORY.md"])) == (lines, size)
    assert [each.code for each in checked.faults] == ([code] if code else [])
    assert checked.is_valid == (code != "index.hard_cap")


def test_all_faults_are_found_at_once() -> None:
    broken = samples.snapshot(
        index=changed(N, "# Memory Index", "# Other") + "- x\n",
        no_gpu=changed(changed(P, '"active"', '"old"'), "TX-005", "5"),
    )
    assert {each.code for each in faults(broken)} == {
        "index.title",
        "index.item",
        "detail.inactive",
        "detail.transaction",
    }
