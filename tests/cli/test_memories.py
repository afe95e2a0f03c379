"""`segue remember`, `propose`, `memories`, `search` and `forget`: one call each, and what it prints."""

from __future__ import annotations

import shutil
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest

import segue
from cli.test_drafting import editor
from segue.memories.item import KINDS, LAYERS

if TYPE_CHECKING:
    from cli.shell import InPlace, Shell

SECRET = "AK" + "IA" + "Q7Z2" * 4
NOW = "2026-05-04T09:30:00Z"


def remember(cli: InPlace, text: str, *options: str) -> str:
    result = cli("remember", text, "--now", NOW, *options)
    assert result.code == 0, result.err
    return result.out.strip()


def shown(cli: InPlace, memory_id: str) -> dict[str, Any]:
    found: dict[str, Any] = cli("memories", "show", memory_id, "--json").json
    return found


def test_remembering(cli: InPlace) -> None:
    result = cli("remember", "Ada prefers rye.", "--now", NOW)
    assert (result.code, result.err) == (0, "")
    (memory_id,) = result.lines
    again = cli("remember", "ada  PREFERS rye.", "--tag", "Bread")
    assert (again.lines, again.err) == ([memory_id], "said before, 2 times now\n")
    found = shown(cli, memory_id)
    assert (found["content"], found["occurrences"], found["tags"]) == ("Ada prefers rye.", 2, ["bread"])
    assert found["captured_at"] == NOW


def test_every_detail(cli: InPlace) -> None:
    options = ["--kind", "decision", "--entity", "Ada", "--entity", "Ben", "--tag", "x", "--tag", "y", "--project", "."]
    options += ["--source-url", "https://example.org/a", "--occurred-at", "7d", "--confidence", "0.5"]
    result = cli("remember", "Close on Mondays.", *options, "--now", NOW, "--json")
    assert (result.json["verdict"], result.json["layer"]) == ("new", "decision")
    found = shown(cli, result.json["id"])
    assert (found["entities"], found["tags"], found["project"]) == (["Ada", "Ben"], ["x", "y"], "project")
    assert (found["confidence"], found["occurred_at"]) == (0.5, "2026-04-27T09:30:00Z")
    assert found["provenance"]["url"] == "https://example.org/a"
    assert found["provenance"]["author_class"] == "user"


def test_standard_input(shell: Shell) -> None:
    result = shell.run("remember", "-", stdin="\ufeffGröße zählt.\n".encode())
    assert result.code == 0, result.err
    assert shell.run("memories", "ls", "--json").json["memories"][0]["content"] == "Größe zählt."
    refused = shell.run("remember", "-", "--json", stdin=b"\xff\xfe\x00")
    assert (refused.code, refused.error["code"]) == (3, "file.encoding")


@pytest.mark.parametrize(
    ("options", "code", "exit_code"),
    [
        (["--kind", "thing"], "memory.kind", 3),
        (["--layer", "thing"], "memory.layer", 3),
        (["--confidence", "2"], "memory.value", 3),
        (["--confidence", "nan"], "memory.value", 3),
        (["--confidence", "much"], "cli.value", 3),
        (["--occurred-at", "soon"], "time.invalid", 3),
        (["--source-url", "nowhere"], "memory.value", 3),
        (["--now", "soon"], "time.invalid", 3),
        (["--wrong"], "cli.usage", 2),
        (["too", "many"], "cli.usage", 2),
    ],
)
def test_what_is_wrong(cli: InPlace, options: list[str], code: str, exit_code: int) -> None:
    for command in ("remember", "propose"):
        result = cli(command, "Ada prefers rye.", *options, "--json")
        assert (result.code, result.error["code"]) == (exit_code, code)
    assert cli("memories", "ls").err == "no memories\n"


@pytest.mark.parametrize("text", ["", " \n", "x" * 8_001])
def test_texts_that_are_no_memory(cli: InPlace, text: str) -> None:
    assert cli("remember", text, "--json").code == 3


def test_a_secret_is_refused_or_masked(cli: InPlace) -> None:
    result = cli("remember", f"The key is {SECRET}.")
    assert (result.code, result.out) == (4, "")
    assert "aws-key" in result.err
    assert SECRET not in cli("remember", f"The key is {SECRET}.", "--json").out
    masked = shown(cli, remember(cli, f"The key is {SECRET}.", "--mask"))
    assert masked["content"] == "The key is [redacted:aws-key]."


def test_the_help_names_every_kind_and_layer(cli: InPlace) -> None:
    said = " ".join(cli("remember", "--help").out.replace("│", " ").split())
    assert [each for each in (*KINDS, *LAYERS) if each not in said] == []


def test_proposing_waits_and_remembering_approves(cli: InPlace) -> None:
    result = cli("propose", "Ada prefers rye.")
    assert (result.code, result.err) == (0, "it waits for review; see `segue review`\n")
    memory_id = result.out.strip()
    assert shown(cli, memory_id)["status"] == "pending"
    assert cli("search", "rye").err == "nothing found\n"
    approved = cli("remember", "Ada prefers rye.")
    assert (approved.lines, approved.err) == ([memory_id], "approved: it was waiting for review\n")
    assert cli("propose", "Ada prefers rye.").err == "said before, 3 times now\n"


def test_contradictions_are_said(cli: InPlace) -> None:
    first = remember(cli, "The oven on the left reaches 240 degrees.")
    second = cli("remember", "The oven on the left reaches 260 degrees.")
    assert f"contradicts {first}" in second.err
    assert f"Conflict:    {first} (value)" in cli("memories", "show", second.out.strip()).lines


def test_listing(cli: InPlace) -> None:
    remember(cli, "Ada prefers rye.", "--tag", "bread", "--kind", "preference")
    remember(cli, "Ben bakes on Mondays.", "--entity", "Ben", "--project", "bakery")
    cli("propose", "Carol sells flour.")
    rows = cli("memories", "ls", "--now", NOW).lines
    assert rows[0].split() == ["ID", "WHEN", "STATUS", "LAYER", "CONTENT"]
    assert [row.strip().split("  ")[-1].strip() for row in rows[1:]] == [
        "Carol sells flour.",
        "Ben bakes on Mondays.",
        "Ada prefers rye.",
    ]
    for options, number in (
        (["--tag", "bread"], 1),
        (["--tag", "bread", "--tag", "none"], 1),
        (["--kind", "preference", "--kind", "claim"], 3),
        (["--layer", "preference"], 1),
        (["--entity", "ben"], 1),
        (["--project", "BAKERY"], 1),
        (["--project", "."], 0),
        (["--status", "pending"], 1),
        (["--min-trust", "0.9"], 2),
        (["--since", "2026-05-05"], 1),
        (["--until", "2026-05-05"], 2),
        (["--source", "text"], 3),
    ):
        assert len(cli("memories", "ls", "--json", *options).json["memories"]) == number, options
    for wrong in (["--status", "x"], ["--kind", "x"], ["--limit", "0"], ["--min-trust", "2"], ["--cursor", "x"]):
        assert cli("memories", "ls", "--json", *wrong).code == 3


def test_lists_go_on(cli: InPlace) -> None:
    with segue.open(cli.shell.segue_home / "segue.db", directory=cli.shell.project) as opened:
        for number in range(5):
            opened.memories.remember(f"Loaf number {number} is baked.")
    for command in (("memories", "ls", "--limit", "2"), ("search", "loaf", "-k", "2")):
        seen, cursor = [], ""
        while True:
            page = cli(*command, *(["--cursor", cursor] if cursor else []))
            assert page.code == 0
            seen += [row.split()[0] for row in page.lines[1:]]
            if not page.err:
                break
            assert page.err.startswith("more: --cursor ")
            cursor = page.err.split()[-1]
        assert (len(seen), len(set(seen))) == (5, 5)


def test_showing_every_field(cli: InPlace) -> None:
    options = ["--kind", "decision", "--entity", "Ada", "--tag", "x", "--project", "bakery", "--confidence", "0.5"]
    memory_id = remember(cli, "Close on Mondays.\nID: forged", *options, "--occurred-at", "2026-05-01")
    lines = cli("memories", "show", f"…{memory_id[-8:]}").lines
    fields = dict(line.split(":", 1) for line in lines if ":" in line and line[:1] not in " │")
    assert {name: value.strip() for name, value in fields.items()} == {
        "ID": memory_id,
        "Status": "active",
        "Kind": "decision",
        "Layer": "decision",
        "Entities": "Ada",
        "Tags": "x",
        "Project": "bakery",
        "Occurred": "2026-05-01T00:00:00Z",
        "Captured": NOW,
        "Trust": "0.9",
        "Confidence": "0.5",
        "Said": "1 time",
        "Author": "user",
        "Origin": "text",
        "Hash": shown(cli, memory_id)["content_hash"],
    }
    content = lines.index("Content")
    assert lines[content + 1 : content + 3] == ["│ Close on Mondays.", "│ ID: forged"]
    for command in ("show", "history"):
        assert cli("memories", command, "nothing-like-it", "--json").code == 5


def test_editing_by_options(cli: InPlace) -> None:
    memory_id = remember(cli, "Ada prefers rye.", "--tag", "x", "--occurred-at", "2026-05-01")
    result = cli("memories", "edit", memory_id, "--content", "Ada prefers wheat.", "--kind", "preference")
    assert (result.code, result.lines, result.err) == (0, [memory_id], "")
    changed = cli("memories", "edit", memory_id, "--tag", "", "--occurred-at", "", "--valid-to", "2027-01-01", "--json")
    assert (changed.json["tags"], changed.json["occurred_at"]) == ([], None)
    assert (changed.json["layer"], changed.json["valid_to"]) == ("preference", "2027-01-01T00:00:00Z")
    same = cli("memories", "edit", memory_id, "--content", "Ada prefers wheat.")
    assert (same.code, same.err) == (0, "nothing was changed\n")
    story = cli("memories", "history", memory_id).lines
    assert [line for line in story if line.startswith("Revision")][-1].startswith("Revision 1, until ")
    assert "│ Ada prefers rye." in story
    assert cli("memories", "edit", memory_id, "--kind", "x", "--json").code == 3
    assert cli("memories", "edit", memory_id, "--json").error["code"] == "memory.no_terminal"
    other = remember(cli, "Ada prefers oats.")
    assert cli("memories", "edit", other, "--content", "ada prefers wheat.", "--json").error["code"] == "memory.exists"


def test_editing_in_an_editor(shell: Shell) -> None:
    memory_id = shell.run("remember", "Ada prefers rye.").out.strip()
    change = "path.write_text(path.read_text('utf-8').replace('rye', 'wheat'), 'utf-8')"
    result = shell.terminal("memories", "edit", memory_id, env=editor(shell, change))
    assert result.code == 0, result.out
    assert shell.run("memories", "show", memory_id, "--json").json["content"] == "Ada prefers wheat."
    untouched = shell.terminal("memories", "edit", memory_id, env=editor(shell, "pass"))
    assert (untouched.code, "nothing was changed" in untouched.out) == (0, True)
    emptied = shell.terminal("memories", "edit", memory_id, env=editor(shell, "path.write_text('')"))
    assert emptied.code == 4
    refused = shell.terminal("memories", "edit", memory_id, env=editor(shell, f"path.write_text('key {SECRET}')"))
    assert (refused.code, "your text is kept in" in refused.out) == (4, True)
    (kept,) = shell.segue_home.glob("memory-*.txt")
    assert (kept.read_text("utf-8"), kept.stat().st_mode & 0o777) == ("key [redacted:aws-key]", 0o600)
    assert kept.name in shell.run("forget", memory_id).err
    assert "removed" not in shell.run("vacuum").err
    assert kept.exists()
    other = shell.segue_home / "memory-of-mine.txt"
    other.write_text("x", "utf-8")
    week = (datetime.now(UTC) + timedelta(days=2)).strftime("%Y-%m-%dT%H:%M:%SZ")
    assert "removed 1 text of edits" in shell.run("vacuum", "--now", week).err
    assert (kept.exists(), other.exists()) == (False, True)


def test_history_shows_what_differed(cli: InPlace) -> None:
    memory_id = remember(cli, "Ada prefers rye.", "--tag", "bread, dark", "--tag", "x", "--confidence", "0.5")
    for change in (["--tag", "y"], ["--occurred-at", "2026-05-01"], ["--confidence", ""], ["--summary", "Of bread."]):
        assert cli("memories", "edit", memory_id, *change).code == 0
    lines = cli("memories", "history", memory_id).lines
    assert [line for line in lines if line and not line.startswith("Revision") and line != "Sources"][:6] == [
        f"{memory_id}  active, revision 5",
        "│ Ada prefers rye.",
        "  summary: (none)",
        "  confidence: 0.5",
        "  occurred_at: (none)",
        '  tags: "bread, dark", x',
    ]


def test_a_list_with_commas_is_told_apart(cli: InPlace) -> None:
    names = ["--entity", "Ada, Countess", "--entity", 'Ben "B"', "--tag", "a,b", "--tag", "c"]
    lines = cli("memories", "show", remember(cli, "Fine.", *names)).lines
    assert 'Entities:    "Ada, Countess", "Ben \\"B\\""' in lines
    assert 'Tags:        "a,b", c' in lines


def test_a_number_is_emptied_or_wrong(cli: InPlace) -> None:
    memory_id = remember(cli, "Fine.", "--confidence", "0.5")
    for wrong, code in (("much", "cli.value"), ("2", "memory.value"), ("nan", "memory.value")):
        result = cli("memories", "edit", memory_id, "--confidence", wrong, "--json")
        assert (result.code, result.error["code"]) == (3, code)
    assert cli("memories", "edit", memory_id, "--confidence", "", "--json").json["confidence"] is None
    assert cli("memories", "edit", memory_id, "--confidence", "0.25", "--json").json["confidence"] == 0.25


@pytest.mark.parametrize(
    "arguments",
    [
        ["remember", "Fine.", "--occurred-at", SECRET],
        ["remember", "Fine.", "--now", SECRET],
        ["remember", "Fine.", "--kind", SECRET],
        ["remember", "Fine.", "--layer", SECRET],
        ["memories", "ls", "--kind", SECRET],
        ["memories", "ls", "--status", SECRET],
        ["memories", "ls", "--since", SECRET],
        ["reindex", "--embedder", SECRET],
        ["remember", "Fine.", "--confidence", SECRET],
        ["memories", "ls", "--limit", SECRET],
        ["memories", "ls", SECRET],
        ["memories", SECRET],
        ["reindex", f"--{SECRET}"],
        ["import", f"{SECRET}.jsonl"],
        ["import", f"/nowhere/{SECRET}/all.jsonl"],
        ["export", f"/dev/null/{SECRET}.jsonl"],
        ["ingest", f"{SECRET}.md"],
        ["ingest", "notes", f"notes/{SECRET}.md"],
        ["ingest", "notes", "--format", SECRET],
        ["ingest", "notes", "--format", f"diary-of-somebody-with-a-long-name-{SECRET}"],
        ["ingest", "notes", "--zone", SECRET],
        ["forget", "--source", SECRET],
        ["entities", "unmerge", SECRET],
        ["entities", "show", SECRET],
    ],
)
def test_no_message_repeats_a_secret(cli: InPlace, arguments: list[str]) -> None:
    for form in ([], ["--json"]):
        result = cli(*arguments, *form)
        assert result.code != 0
        said = "\n".join(line for line in (result.out + result.err).splitlines() if not line.startswith("  • "))
        assert SECRET not in said


def test_a_wrong_day_is_named_as_it_was_given(cli: InPlace) -> None:
    assert "not a time: '2026-13-45';" in cli("remember", "Fine.", "--occurred-at", "2026-13-45").err


def test_proposing_what_was_replaced(cli: InPlace) -> None:
    old = remember(cli, "The shop opens at 8.")
    new = cli("memories", "supersede", old, "The shop opens at 9.").out.strip()
    result = cli("propose", "The shop opens at 8.")
    assert f"does not hold any more: {new} replaced it" in result.err
    assert "said before:" not in result.err
    assert "waits for review" not in result.err


def test_superseding(cli: InPlace) -> None:
    first = remember(cli, "The shop opens at 8.", "--tag", "hours", "--kind", "decision")
    result = cli("memories", "supersede", first, "The shop opens at 9.")
    second = result.out.strip()
    assert (result.code, result.err) == (0, f"replaced {first}\n")
    assert (shown(cli, second)["tags"], shown(cli, second)["kind"]) == (["hours"], "decision")
    assert (shown(cli, first)["status"], shown(cli, first)["superseded_by"]) == ("retired", second)
    third = remember(cli, "Ada opens the shop at 10.")
    assert cli("memories", "supersede", second, "--by", third, "--json").json["replaced"] == [second]
    assert f"Replaces {first}" in cli("memories", "history", third).lines
    assert f"Replaced by {third}" in cli("memories", "history", first).lines
    assert cli("memories", "supersede", first, "Again.", "--json").error["code"] == "memory.retired"
    assert cli("memories", "supersede", third, "--json").code == 2
    assert cli("memories", "supersede", third, "Text.", "--by", first, "--json").code == 2
    assert cli("memories", "supersede", third, "--by", second, "--tag", "x", "--json").code == 2


def test_searching(cli: InPlace) -> None:
    remember(cli, "Ada prefers rye bread.", "--tag", "bread", "--occurred-at", "2026-04-01")
    remember(cli, "Ben drives the van to the market.", "--kind", "event")
    result = cli("search", "which bread does Ada like?", "--now", NOW)
    assert result.code == 0
    assert result.lines[0].split() == ["ID", "WHEN", "LAYER", "REL.", "CONTENT"]
    assert result.lines[1].split()[1:4] == ["2026-04-01", "semantic", "1.00"]
    assert result.lines[1].endswith("Ada prefers rye bread.")
    why = cli("search", "which bread does Ada like?", "--why").lines
    assert why[1] == "  Ada prefers rye bread."
    assert why[2].startswith("  · lexical, rank 1, score ")
    found = cli("search", "bread", "--json").json
    assert (found["hits"][0]["relevance"], found["cursor"], found["notes"]) == (1.0, None, [])
    for options, number in (
        (["--kind", "event"], 0),
        (["--tag", "bread"], 1),
        (["--entity", "Ada"], 1),
        (["--layer", "semantic"], 1),
        (["--project", "."], 0),
        (["--since", "2026-05-01"], 0),
        (["--until", "2026-05-01"], 1),
        (["--min-trust", "0.95"], 0),
    ):
        hits = cli("search", "rye bread", "--json", *options).json["hits"]
        assert len([each for each in hits if "rye" in each["memory"]["content"]]) == number, options


def test_searching_as_of(cli: InPlace) -> None:
    first = remember(cli, "The shop opens at 8.")
    cli("memories", "supersede", first, "The shop opens at 9.", "--now", "2026-06-01T00:00:00Z")
    now = cli("search", "when does the shop open", "--json").json["hits"]
    then = cli("search", "when does the shop open", "--as-of", "2026-05-20", "--json").json["hits"]
    assert [each["memory"]["content"] for each in (*now, *then)] == ["The shop opens at 9.", "The shop opens at 8."]


@pytest.mark.parametrize("query", ["C++", '"', "AND", "NEAR(", "*", "don't", "", "a::b", "x " * 10_000])
def test_every_text_is_a_question(cli: InPlace, query: str) -> None:
    remember(cli, "Ada writes C++.")
    assert cli("search", query).code == 0


@pytest.mark.parametrize(
    "options",
    [["-k", "0"], ["-k", "501"], ["--kind", "x"], ["--since", "x"], ["--as-of", "x"], ["--cursor", "x"], ["-k", "x"]],
)
def test_wrong_searches(cli: InPlace, options: list[str]) -> None:
    result = cli("search", "rye", "--json", *options)
    assert (result.code, list(result.json)) == (3, ["error"])


def test_without_an_embedder_search_says_so(cli: InPlace, monkeypatch: pytest.MonkeyPatch) -> None:
    remember(cli, "Ada prefers rye.")
    monkeypatch.setenv("SEGUE_EMBEDDER", "none")
    result = cli("search", "rye")
    assert result.code == 0
    assert result.lines[1].endswith("Ada prefers rye.")


def test_forgetting(cli: InPlace) -> None:
    first, second = remember(cli, "Ada prefers rye."), remember(cli, "Ben bakes.")
    assert cli("forget", "--json").code == 2
    assert cli("forget", first, "--source", "x", "--json").code == 2
    assert cli("forget", first, "missing-one", "--json").code == 5
    assert cli("forget", first[-2:], "--json").error["code"] == "memory.short_id"
    result = cli("forget", first, second[-8:], "--reason", "she asked")
    assert (result.code, result.lines) == (0, [f"forgotten {first}", f"forgotten {second}"])
    assert "segue vacuum" in result.err
    assert cli("memories", "ls", "--json").json["memories"] == []


def test_forgetting_says_where_the_text_still_stands(cli: InPlace) -> None:
    packet_id = cli.save(constraints=["Deploys go through the quorvex gate."])
    (memory_id,) = (
        each["id"] for each in cli("memories", "ls", "--json").json["memories"] if "quorvex" in each["content"]
    )
    result = cli("forget", memory_id)
    assert f"its text still stands in packet {packet_id}; `segue rm {packet_id}` removes that" in result.err
    source = cli("forget", "--source", f"packet:{packet_id}", "--yes", "--json").json
    assert source["still_in"] == [f"packet:{packet_id}"]
    assert cli("forget", remember(cli, "Ben bakes."), "--json").json["still_in"] == []


def test_many_are_asked_for_twice(cli: InPlace) -> None:
    with segue.open(cli.shell.segue_home / "segue.db", directory=cli.shell.project) as opened:
        many = [opened.memories.remember(f"Loaf number {number}.").memory.id for number in range(21)]
    refused = cli("forget", *many, "--json")
    assert (refused.code, refused.error["code"], refused.error["details"]) == (4, "memory.confirm", {"memories": 21})
    assert "21 memories would be forgotten" in cli("forget", *many).err
    assert len(cli("memories", "ls", "--json").json["memories"]) == 21
    assert cli("forget", *many, "--yes", "--json").json["forgotten"] == many


def test_forgetting_a_source(cli: InPlace) -> None:
    notes = cli.shell.project / "notes"
    notes.mkdir()
    (notes / "a.md").write_text("# Bread\n\nAda prefers rye.\n\n# Oven\n\nIt is on the left.\n", "utf-8")
    assert cli("ingest", "notes").lines == ["markdown: 2 new"]
    remember(cli, "Oven\n\nIt is on the left.")
    (row,) = cli("memories", "sources", "--json").json["sources"]
    assert row["memories"] == 2
    source = row["source"]
    assert source in cli("memories", "sources").lines[1]
    refused = cli("forget", "--source", source, "--json")
    number = refused.error["details"]["memories"]
    assert (refused.code, refused.error["code"]) == (4, "memory.confirm")
    assert len(cli("memories", "ls", "--json").json["memories"]) >= 2
    result = cli("forget", "--source", source, "--yes")
    assert result.out.startswith(f"forgotten {number} memor")
    assert f"{number} memor" in result.err
    assert cli("forget", "--source", source, "--yes", "--json").error["code"] == "source.not_found"
    assert cli("ingest", "notes", "--json").json["ingested"][0]["counts"].get("new", 0) == 0


def test_one_place_of_a_source(cli: InPlace) -> None:
    """What `memories show` prints as `ref` is what lists and forgetting take."""
    notes = cli.shell.project / "notes"
    notes.mkdir()
    (notes / "a.md").write_text("# Bread\n\nAda prefers rye.\n\n# Oven\n\nIt is on the left.\n", "utf-8")
    cli("ingest", "notes")
    bread, oven = sorted(cli("memories", "ls", "--json").json["memories"], key=lambda each: each["content"])
    ref = cli("memories", "show", oven["id"], "--json").json["sources"][0]["ref"]
    assert f" {ref}" in cli("memories", "show", oven["id"]).out
    assert [each["id"] for each in cli("memories", "ls", "--source", ref, "--json").json["memories"]] == [oven["id"]]
    source = ref.partition("#")[0]
    assert len(cli("memories", "ls", "--source", source, "--json").json["memories"]) == 2
    for wrong in (ref + "9", source + "#", source[:-1]):
        assert cli("memories", "ls", "--source", wrong, "--json").json["memories"] == []
        assert cli("forget", "--source", wrong, "--yes", "--json").error["code"] == "source.not_found"
    assert cli("forget", "--source", ref, "--json").error["details"] == {"memories": 1}
    assert cli("forget", "--source", ref, "--yes", "--json").json["forgotten"] == [oven["id"]]
    assert [each["id"] for each in cli("memories", "ls", "--json").json["memories"]] == [bread["id"]]


def test_a_source_whose_memories_are_all_retired_is_listed(cli: InPlace) -> None:
    notes = cli.shell.project / "notes"
    notes.mkdir()
    for name in ("a", "b"):
        (notes / f"{name}.md").write_text(f"# {name}\n\nLoaf {name}.\n", "utf-8")
    cli("ingest", "notes")
    before = cli("memories", "sources", "--json").json["sources"]
    assert [each["memories"] for each in before] == [1, 1]
    (notes / "a.md").unlink()
    (notes / "b.md").write_text("# b\n\nAnother loaf.\n", "utf-8")
    cli("ingest", "notes")
    gone, changed = cli("memories", "sources", "--json").json["sources"]
    assert (gone, changed) == (before[0], before[1] | {"memories": 2})
    assert len(cli("memories", "ls", "--source", gone["source"], "--status", "retired", "--json").json["memories"]) == 1
    first = cli("memories", "sources", "--limit", "1", "--json").json["sources"]
    assert first + cli("memories", "sources", "--after", gone["source"], "--json").json["sources"] == [gone, changed]
    assert cli("forget", "--source", gone["source"], "--yes").code == 0
    assert cli("memories", "sources", "--json").json["sources"] == [changed]


def test_status_counts_memories(cli: InPlace) -> None:
    remember(cli, "Ada prefers rye.")
    cli("propose", "Ben bakes.")
    status = cli("status", "--json").json
    assert (status["memories"], status["memories_waiting"]) == (1, 1)
    assert cli("status").lines[-1] == "Memories: 1, 1 to review (`segue review`)"


def test_vacuum_and_reindex(cli: InPlace) -> None:
    memory_id = remember(cli, "Ada keeps quorvex.")
    cli("forget", memory_id)
    result = cli("vacuum")
    assert (result.code, result.lines[0].count("MB")) == (0, 2)
    assert set(cli("vacuum", "--json").json) == {"before", "after", "backups", "removed_texts"}
    files = b"".join(path.read_bytes() for path in cli.shell.segue_home.glob("segue.db*"))
    assert b"quorvex" not in files
    remember(cli, "Ben bakes.")
    assert cli("reindex").lines == ["reindexed 1 memory"]
    assert cli("reindex", "--embedder", "none", "--json").json == {"reindexed": 1, "embedder": "none", "fault": None}
    assert cli("reindex", "--json").json["embedder"] == "none"  # the store has kept it
    assert cli("reindex", "--embedder", "magic", "--json").error["code"] == "embedder.unknown"
    assert cli("reindex", "--json").json["embedder"] == "none"
    assert cli("reindex", "--embedder", "static", "--json").json["embedder"] == "static"


def test_entities(cli: InPlace) -> None:
    remember(cli, "The store runs on PostgreSQL.", "--entity", "PostgreSQL", "--entity", "Ada")
    memory_id = remember(cli, "The tests run on PG.", "--entity", "PG")
    assert {each["name"] for each in cli("entities", "ls", "--json").json["entities"]} >= {"PostgreSQL", "Ada", "PG"}
    assert cli("entities", "merge", "PG", "PostgreSQL").lines == ["PostgreSQL, also PG: 2 memories"]
    assert len(cli("memories", "ls", "--entity", "pg", "--json").json["memories"]) == 2
    shown = cli("entities", "show", "pg", "--now", NOW)
    assert shown.lines[:2] == ["PostgreSQL, also PG: 2 memories", "beside: Ada (1)"]
    assert shown.lines[-1].endswith("The store runs on PostgreSQL.")
    beside = cli("entities", "show", memory_id[-8:], "--json").json
    assert [each["name"] for each in beside["entities"]] == ["PostgreSQL"]
    assert len(beside["memories"]) == 2
    assert cli("entities", "merge", "PostgreSQL", "PG", "--json").error["code"] == "entity.same"
    assert cli("entities", "merge", " ", "PG", "--json").error["code"] == "entity.name"
    assert cli("entities", "merge", "Nobody", "No one", "--json").error["code"] == "entity.not_found"
    assert cli("entities", "unmerge", "pg").lines == ["PG: 1 memory"]
    assert cli("entities", "unmerge", "pg", "--json").error["code"] == "entity.not_merged"
    assert cli("entities", "show", "Nobody", "--json").error["code"] == "entity.not_found"
    assert cli("entities", "ls", "--limit", "0", "--json").code == 3
    assert "PostgreSQL" in cli("entities", "ls").out


def test_exporting_and_importing(cli: InPlace) -> None:
    remember(cli, "Ada prefers rye.")
    cli("propose", "Ben bakes.")
    cli.save()
    result = cli("export", "store.jsonl")
    assert (result.code, result.lines) == (0, ["store.jsonl"])
    assert result.err.startswith("1 packet, ")
    exported = cli.shell.project / "store.jsonl"
    assert exported.stat().st_mode & 0o777 == 0o600
    data = exported.read_bytes()
    assert cli("export").stdout == data
    counts = cli("export", "store.jsonl", "--json").json["counts"]
    assert counts["packets"] == 1
    assert cli("export", "--json").code == 2

    shutil.rmtree(cli.shell.segue_home)
    loaded = cli("import", "store.jsonl")
    assert (loaded.code, loaded.err) == (0, "")
    assert loaded.out.startswith(f"imported 1 packet, {counts['memories']} memories")
    assert cli("export").stdout == data
    assert "by its id alone" not in cli("import", "-", stdin=data).err
    assert cli("import", "-", stdin=data).out.startswith("imported nothing; ")
    assert cli("memories", "ls", "--json").json["memories"]

    cli("forget", remember(cli, "Carol is gone."))
    with_stone = cli("export").stdout
    shutil.rmtree(cli.shell.segue_home)
    assert "known here by its id alone" in cli("import", "-", stdin=with_stone).err
    assert "by its id alone" not in cli("import", "-", stdin=with_stone).err  # nothing new

    lines = data.splitlines(keepends=True)
    (cli.shell.project / "broken.jsonl").write_bytes(b"".join([lines[0], *lines[1:], b'{"type": "memory"}\n']))
    broken = cli("import", "broken.jsonl")
    assert broken.code == 3
    assert "1 refused" in broken.out
    assert f"line {len(lines) + 1}: " in broken.err
    assert cli("import", "missing.jsonl", "--json").error["code"] == "file.read"
    assert cli("import", ".", "--json").error["code"] == "file.read"
    assert cli("import", "-", "--json", stdin=b"not one\n").code == 3


def test_an_export_on_a_terminal_is_safe(shell: Shell) -> None:
    shell.run("remember", "-", stdin="Ada \x9b2J \u202eprefers rye.".encode())
    result = shell.terminal("export")
    assert result.code == 0
    assert "\u202e" not in result.out
    assert "\x9b" not in result.out
