"""`segue context`, `query`, `expand` and `session`: what they print where, and how they end; `segue demo context`."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import jsonschema_rs
import pytest
from rich.cells import cell_len

import segue
from segue.base import time
from segue.cli import demonstration_context
from segue.cli.pack_lines import bar
from segue.context.legend import ENVELOPE_KEYS, ITEM_KEYS
from segue.context.query import FIELDS
from segue.context.schema import schema_text

if TYPE_CHECKING:
    from cli.shell import InPlace, Result, Shell

NOW = ("--now", "2026-06-01T09:00:00Z")
FIND = "the importer of Harbor, its ledger, Rotterdam, 导入程序"
TEXTS = (
    ("The importer of Harbor reads manifests as a stream.", "--entity", "Harbor"),
    ("We chose streaming for the importer of Harbor.", "--layer", "decision", "--entity", "Harbor"),
    ("Never write to the ledger of Harbor outside a window.", "--kind", "constraint", "--confidence", "0.95"),
    ("Rotterdam sends its manifests twice to the importer.", "--entity", "Rotterdam", "--confidence", "0.3"),
    ("港口的导入程序每次读取一条记录。" * 12,),
)


def remember(cli: InPlace, text: str, *options: str, day: int = 1) -> str:
    result = cli("remember", text, "--now", f"2026-05-{day:02}T09:00:00Z", *options)
    assert result.code == 0, result.err
    return result.out.strip()


@pytest.fixture
def ids(cli: InPlace) -> list[str]:
    """A few memories, a day apart, and one that waits."""
    found = [remember(cli, text, *options, day=day) for day, (text, *options) in enumerate(TEXTS, 1)]
    assert cli("propose", "Zorblat waits.").code == 0
    return found


def refs(document: dict[str, Any]) -> list[str]:
    return [each["ref"] for each in document["items"]]


def refused(result: Result, exit_code: int, code: str) -> dict[str, Any]:
    assert (result.code, result.error["code"]) == (exit_code, code), result.out
    return result.error


# -- context ----------------------------------------------------------------------------------------------------------


@pytest.mark.requirement("context-formats")
def test_json_is_the_envelope_and_nothing_else(cli: InPlace, ids: list[str]) -> None:
    result = cli("context", "the importer", "--model", "claude", *NOW, "--json")
    assert (result.code, result.err) == (0, "")
    with segue.open(cli.shell.segue_home / "segue.db", directory=cli.shell.project) as opened:
        moment = time.parse(NOW[1])
        wire = opened.context.assemble("the importer", model="claude", now=moment).envelope()
    assert result.json == json.loads(json.dumps(wire))
    assert tuple(result.json) == ENVELOPE_KEYS
    assert set(refs(result.json)) == set(ids)
    jsonschema_rs.Draft202012Validator(json.loads(schema_text()), validate_formats=True).validate(result.json)
    assert cli("context", "the importer", "--model", "claude", *NOW, "--format", "smp").stdout == result.stdout
    assert cli("context", "the importer", "--model", "claude", *NOW, "--format", "smp", "--json").out == result.out
    result.stdout.decode("ascii")


@pytest.mark.requirement("context-formats")
def test_json_without_a_session_is_the_same_with_every_key(cli: InPlace) -> None:
    wire = cli("context", "--json").json
    assert tuple(wire) == ENVELOPE_KEYS
    absent = ("cursor", "working_memory", "receipt", "graph", "pin")
    assert [wire[each] for each in absent] == [None] * 5
    assert (wire["items"], wire["coverage"]["status"]) == ([], "no_cited_evidence")


@pytest.mark.requirement("context-formats")
def test_the_layered_form(cli: InPlace, ids: list[str]) -> None:
    plain = cli("context", "the importer", *NOW, "--format", "json").json
    assert (plain["version"], plain["generated_at"]) == (2, NOW[1])
    assert "warnings" not in plain
    told = cli("context", "the importer", *NOW, "--format", "json", "--session", "s").json
    (warning,) = told.pop("warnings")
    assert warning["working_memory"]["cursor"] == "1"
    assert {each["ref"] for each in warning["working_memory"]["new"]} == set(ids)
    assert told.pop("receipt")["event_kind"] == "context.served"
    assert plain.pop("receipt") is None
    assert told == plain


@pytest.mark.requirement("context-formats")
def test_a_pipe_gets_markdown(cli: InPlace, shell: Shell, ids: list[str]) -> None:
    result = cli("context", "the importer", "--model", "claude", *NOW)
    assert (result.code, result.err) == (0, "")
    assert result.lines[0] == "# Context — memories for this task"
    assert result.lines[-1] == "<!-- end of context -->"
    assert f"- [{ids[0]}] {TEXTS[0][0]}" in result.lines
    assert f"- [{ids[4]}] {TEXTS[4][0]}" in result.lines
    assert "Zorblat" not in result.out
    assert cli("context", "the importer", "--model", "claude", *NOW, "--format", "markdown").stdout == result.stdout
    piped = shell.script(f"segue context 'the importer' --model claude --now {NOW[1]} | cat")
    assert piped.stdout == result.stdout
    assert shell.script(f"segue context 'the importer' --now {NOW[1]} | head -1").lines == result.lines[:1]


@pytest.mark.parametrize("options", [("--json",), ("--format", "json"), ("--format", "markdown")])
def test_the_same_now_gives_the_same_bytes(
    shell: Shell, cli: InPlace, ids: list[str], options: tuple[str, ...]
) -> None:
    command = ("context", "the importer", "--model", "claude", "--graph", *NOW, *options)
    first = shell.run(*command, env={"PYTHONHASHSEED": "1", "TZ": "Asia/Tokyo", "LC_ALL": "C"})
    second = shell.run(*command, env={"PYTHONHASHSEED": "2", "TZ": "America/Lima", "LC_ALL": "C.UTF-8"})
    assert (first.code, first.stdout) == (0, second.stdout)
    assert cli(*command).stdout == first.stdout


def test_the_options_are_heard(cli: InPlace, ids: list[str]) -> None:
    def wire(*options: str) -> dict[str, Any]:
        result = cli("context", "the importer", *NOW, "--json", *options)
        assert result.code == 0, result.out
        found: dict[str, Any] = result.json
        return found

    assert wire()["model"] == "generic"
    assert wire("--surface", "cursor")["model"] == "cursor"
    assert wire("--surface", "cursor", "--model", "gpt-4o")["model"] == "gpt"
    assert wire("--budget", "1")["budget"]["tokens"] == 300
    assert wire("--budget", "99999999", "--model", "claude")["budget"]["tokens"] == 12_000
    assert wire("--budget", "-5")["budget"]["tokens"] == 300
    assert refs(wire("--as-of", "2026-05-01T09:00:00Z")) == ids[:1]
    assert set(refs(wire("--as-of", "2026-05-03"))) == set(ids[:2])
    assert refs(wire("--as-of", "31d")) == ids[:1]
    assert refs(wire("--as-of", "32d")) == []
    assert wire("--graph")["graph"]["entities"][0]["name"] == "Harbor"
    remember(cli, "The importer of this one is blue.", "--project", ".", day=20)
    remember(cli, "The importer of that one is crimson.", "--project", "elsewhere", day=21)
    every = len(wire("--model", "claude")["items"])
    assert len(wire("--project", ".", "--model", "claude")["items"]) == every - 1
    assert "crimson" not in json.dumps(wire("--project", ".")["items"])
    layered = cli("context", "the importer", "--format", "json", "--intent", "plan", "--project", ".").json
    assert (layered["intent"], layered["filters"]["project"]) == ("plan", "project")
    assert cli("context", "--format", "json").json["intent"] == "recall"


def test_pages(cli: InPlace) -> None:
    for number in range(14):
        remember(cli, f"Manifest {number} of the importer named containers and seals and ports of call.")
    first = cli("context", "the importer", "--model", "claude", "--budget", "300", *NOW, "--json").json
    assert first["cursor"]
    more = ("--cursor", first["cursor"], "--model", "claude")
    second = cli("context", "the importer", "--budget", "300", *more, "--json").json
    assert second["items"]
    assert not set(refs(first)) & set(refs(second))
    result = cli("context", "the importer", "--model", "claude", "--budget", "300", *NOW)
    assert result.err == f"more: --cursor {first['cursor']}\n"
    refused(cli("context", "another task", *more, "--json"), 3, "cursor.invalid")
    refused(cli("context", "the importer", "--cursor", "nonsense", "--json"), 3, "cursor.invalid")


def test_a_conversation(cli: InPlace, ids: list[str]) -> None:
    def turn(*options: str) -> dict[str, Any]:
        found: dict[str, Any] = cli(
            "context", "the importer", "--session", "chat 1", "--items", "new", *NOW, "--json", *options
        ).json
        return found

    assert set(refs(turn())) == set(ids)
    later = remember(cli, "The importer was released.", day=20)
    assert refs(turn()) == [later]
    again = turn("--since", "1")
    assert (refs(again), again["working_memory"]["cursor"]) == ([later], "3")
    assert turn()["items"] == []
    lines = cli("context", "the importer", "--session", "chat 1", *NOW).lines
    assert "Session, cursor 5: new 0, evicted 0, superseded 0." in lines


def test_pins(cli: InPlace, ids: list[str]) -> None:
    pinned = cli("context", "the importer", "--pin", *NOW)
    sha = pinned.err.strip().removeprefix("pinned: ")
    assert len(sha) == 64
    wire = cli("context", "the importer", *NOW, "--json").json
    replayed = cli("context", "--replay", sha)
    assert {**replayed.json, "pin": None} == wire
    assert replayed.json["pin"]["pack_sha"] == sha
    assert (cli("context", "--verify", sha).code, cli("context", "--verify", sha).lines) == (0, ["match"])
    assert cli("context", "--verify", sha, "--json").json["status"] == "match"
    new = remember(cli, "The importer of the importer.", day=20)
    drifted = cli("context", "--verify", sha)
    assert (drifted.code, drifted.lines) == (3, ["drift"])
    assert f"+ {new} (facts)" in drifted.err.splitlines()
    as_json = cli("context", "--verify", sha, "--json")
    assert (as_json.code, as_json.json["status"]) == (3, "drift")
    assert as_json.json["new"] == [{"layer": "facts", "ref": new}]
    assert cli("forget", ids[0], "--yes").code == 0
    assert f"x {ids[0]} (forgotten)" in cli("context", "--verify", sha).err.splitlines()
    for option in ("--replay", "--verify"):
        for unknown in ("0" * 64, "nothing", "港", ""):
            refused(cli("context", option, unknown, "--json"), 5, "pin.not_found")
    import sqlite3

    with sqlite3.connect(cli.shell.segue_home / "segue.db") as connection:
        connection.execute("UPDATE context_pins SET body = CAST(replace(body, 'stream', 'strain') AS BLOB)")
    assert cli("context", "--verify", sha).code == 3
    assert cli("context", "--verify", sha).lines == ["tampered"]
    refused(cli("context", "--replay", sha, "--json"), 4, "pin.tampered")


@pytest.mark.parametrize(
    ("options", "exit_code", "code"),
    [
        (["--format", "yaml"], 3, "context.format"),
        (["--intent", "dance"], 3, "context.intent"),
        (["--items", "some"], 3, "context.items"),
        (["--items", "new"], 3, "context.session"),
        (["--since", "1"], 3, "context.session"),
        (["--session", "s", "--since", "x"], 3, "session.since"),
        (["--session", ""], 3, "session.id"),
        (["--session", "s" * 81], 3, "session.id"),
        (["--budget", "much"], 3, "cli.value"),
        (["--budget", "1.5"], 3, "cli.value"),
        (["--as-of", "soon"], 3, "time.invalid"),
        (["--now", "soon"], 3, "time.invalid"),
        (["--model", "m" * 81], 3, "context.model"),
        (["--surface", "s" * 41], 3, "context.surface"),
        (["x" * 501], 3, "context.task"),
        (["--wrong"], 2, "cli.usage"),
        (["one", "two"], 2, "cli.usage"),
        (["--replay", "0" * 64, "--verify", "0" * 64], 2, "cli.usage"),
        (["--replay", "0" * 64, "--session", "s"], 2, "cli.usage"),
        (["--verify", "0" * 64, "--pin"], 2, "cli.usage"),
        (["--format", "markdown"], 2, "cli.usage"),
        (["--format", "json"], 2, "cli.usage"),
    ],
)
def test_what_context_refuses(cli: InPlace, options: list[str], exit_code: int, code: str) -> None:
    error = refused(cli("context", *options, "--json"), exit_code, code)
    assert error["message"]
    if options[0] != "--format":
        plain = cli("context", *options)
        assert (plain.code, plain.out) == (exit_code, "")
        assert error["message"] in " ".join(plain.err.replace("│", " ").split()) or exit_code == 2


# -- on a terminal ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("columns", [20, 40, 60, 80, 200])
def test_a_terminal_shows_a_bar_and_a_line_for_each_item(
    shell: Shell, cli: InPlace, ids: list[str], columns: int
) -> None:
    plain = {"NO_COLOR": "1", "TERM": "dumb"}
    result = shell.terminal("context", "the importer", "--model", "claude", *NOW, columns=columns, env=plain)
    assert result.code == 0
    lines = result.lines
    assert lines[0] == "claude · answer · strong · 5 items"
    assert lines[1].split()[0].strip("█").strip("░") == ""
    assert lines[1].endswith(" of 2,000 tokens")
    items = [line for line in lines if line.startswith(" ")]
    shown = [line.split()[0] for line in items]
    assert shown[:2] == [f"…{each[-8:]}" for each in (ids[2], ids[1])]
    assert set(shown) == {f"…{each[-8:]}" for each in ids}
    assert max(cell_len(line) for line in items) <= columns
    assert [line for line in lines[2:] if line and line[0] != " "][:3] == ["Constraints", "Decisions", "Facts"]
    assert ("d ago" in result.out or "2026-05-" in result.out) is (columns >= 50)
    (chinese,) = [line for line in items if f"…{ids[4][-8:]}" in line]
    assert chinese.endswith("…")
    assert cell_len(chinese) > min(columns, 120) - 3
    assert "1 memory waits for review (segue review)" in lines
    table = shell.terminal("query", "--find", FIND, *NOW, columns=columns, env=plain)
    assert max(cell_len(line) for line in table.lines if "before filters" not in line) <= columns


@pytest.mark.parametrize(
    ("used", "tokens", "shown"), [(0, 10, "░░░░"), (10, 10, "████"), (99, 10, "████"), (1, 0, "░░░░"), (5, 10, "██░░")]
)
def test_the_bar(used: int, tokens: int, shown: str) -> None:
    assert bar(used, tokens, 4) == shown


def test_a_terminal_says_what_a_session_was_told(shell: Shell, cli: InPlace, ids: list[str]) -> None:
    command = ("context", "the importer", "--session", "s", "--items", "new", *NOW)
    assert "session: 5 new, 0 to forget, 0 superseded, cursor 1" in shell.terminal(*command, columns=100).lines
    second = shell.terminal(*command, "--pin", columns=100)
    assert "0 items" in second.lines[0]
    assert second.lines[-1].startswith("pinned: ")


# -- query ------------------------------------------------------------------------------------------------------------


def test_a_query_as_a_table_and_as_json(cli: InPlace, ids: list[str]) -> None:
    result = cli("query", "--find", FIND, "-k", "2", *NOW)
    assert result.code == 0
    assert result.lines[0].split() == ["ID", "WHEN", "LAYER", "REL.", "CONTENT"]
    assert len(result.lines) == 3
    notes = result.err.splitlines()
    assert notes[0] == "2 of 5; 5 before filters"
    cursor = notes[1].removeprefix("more: --cursor ")
    assert cursor.startswith("mqlc:")
    wire = cli("query", "--find", FIND, "--k", "2", *NOW, "--json").json
    assert list(wire["mql"]) == list(FIELDS)
    assert (wire["count"], wire["narrowed_total"]) == (2, 5)
    assert all(tuple(each) == ITEM_KEYS for each in wire["items"])
    rest = cli("query", "--cursor", cursor, *NOW, "--json").json
    assert (rest["offset"], rest["items"] != wire["items"]) == (2, True)
    assert cli("query", "--find", "nothing", "--layers", "style").err == "nothing found\n"


def test_the_options_of_a_query(cli: InPlace, ids: list[str]) -> None:
    def query(*options: str) -> dict[str, Any]:
        result = cli("query", *options, "--json")
        assert result.code == 0, result.out
        found: dict[str, Any] = result.json
        return found

    def found(*options: str) -> set[str]:
        return set(refs(query("--find", FIND, *options)))

    assert found() == set(ids)
    assert found("--layers", "decision") == {ids[1]}
    assert found("--layers", "decision, negative") == {ids[1], ids[2]}
    assert found("--layers", "decision", "--layers", "negative") == {ids[1], ids[2]}
    assert found("--entities", "rotterdam") == {ids[3]}
    assert found("--entities", "Rotterdam", "--entities", "港口") == {ids[3], ids[4]}
    assert found("--min-trust", "0.95") == {ids[2]}
    assert found("--min-relevance", "1") < set(ids)
    assert found("--as-of", "2026-05-02") == {ids[0]}
    assert cli("memories", "supersede", ids[0], "Another.").code == 0
    assert ids[0] not in found()
    assert ids[0] in found("--all")
    asked = query("--ask", "the importer", "--model", "claude", "--budget", "300", "--expand", "neighbors", "-k", "50")
    assert (asked["mode"], asked["mql"]["budget_tokens"], asked["mql"]["model"]) == ("ask", 300, "claude")
    assert asked["follow_ups"][0]["arguments"]["direction"] == "neighbors"
    assert set(refs(asked)) == set(
        refs(cli("context", "the importer", "--model", "claude", "--budget", "300", "--json").json)
    )


@pytest.mark.parametrize(
    ("options", "exit_code", "code", "field"),
    [
        ([], 3, "query.invalid", "find"),
        (["--find", "x", "--ask", "y"], 3, "query.invalid", "find"),
        (["--find", ""], 3, "query.invalid", "find"),
        (["--find", "x" * 501], 3, "query.invalid", "find"),
        (["--find", "x", "--layers", "facts"], 3, "query.invalid", "layers"),
        (["--find", "x", "--layers", ""], 3, "query.invalid", "layers"),
        (["--find", "x", "--layers", "decision,"], 3, "query.invalid", "layers"),
        (["--find", "x", "--entities", ""], 3, "query.invalid", "entities"),
        (["--find", "x", "--min-relevance", "2.5"], 3, "query.invalid", "min_relevance"),
        (["--find", "x", "--min-relevance", "nan"], 3, "query.invalid", "min_relevance"),
        (["--find", "x", "--min-trust", "-1"], 3, "query.invalid", "min_trust"),
        (["--find", "x", "--min-trust", "much"], 3, "cli.value", None),
        (["--ask", "x", "--budget", "299"], 3, "query.invalid", "budget_tokens"),
        (["--ask", "x", "--model", "m" * 81], 3, "query.invalid", "model"),
        (["--find", "x", "--expand", "up"], 3, "query.invalid", "expand"),
        (["--find", "x", "-k", "51"], 3, "query.invalid", "k"),
        (["--find", "x", "-k", "0"], 3, "query.invalid", "k"),
        (["--find", "x", "-k", "two"], 3, "cli.value", None),
        (["--find", "x", "--as-of", "soon"], 3, "time.invalid", None),
        (["--cursor", "mqlc:x"], 3, "cursor.invalid", None),
        (["--cursor", "mqlc:x", "-k", "3"], 2, "cli.usage", None),
        (["--cursor", "mqlc:x", "--all"], 2, "cli.usage", None),
        (["--cursor", "mqlc:x", "--find", "y"], 2, "cli.usage", None),
        (["--find", "x", "--tags", "y"], 2, "cli.usage", None),
        (["x"], 2, "cli.usage", None),
    ],
)
def test_what_a_query_refuses(cli: InPlace, options: list[str], exit_code: int, code: str, field: str | None) -> None:
    error = refused(cli("query", *options, "--json"), exit_code, code)
    assert error["details"].get("field") == field
    assert cli("query", *options).out == ""


# -- expand -----------------------------------------------------------------------------------------------------------


def test_expanding(cli: InPlace, ids: list[str]) -> None:
    result = cli("expand", ids[0])
    assert result.lines == [TEXTS[0][0]]
    assert result.err.split(" · ")[:2] == [ids[0], "semantic"]
    short = cli("expand", f"…{ids[0][-8:]}", "--json").json
    assert (short["ref"], short["found"], short["document"]["id"]) == (ids[0], True, ids[0])
    around = cli("expand", "harbor", "--direction", "neighbors", "--limit", "1", *NOW)
    assert around.lines[0] == "beside Harbor"
    assert ids[2][-8:] in around.out
    by_id = cli("expand", ids[0][-8:], "--direction", "neighbors", "--json").json
    assert by_id["seed_entities"] == ["Harbor"]
    assert set(refs(by_id)) == {ids[1], ids[2]}
    cursor = cli("query", "--find", "the importer", "-k", "2", "--json").json["cursor"]
    more = cli("expand", cursor, "--direction", "more", *NOW)
    assert len(more.lines) == 3
    assert cli("expand", cursor, "--direction", "more", "--json").json["offset"] == 2


def test_a_name_that_ends_an_id_is_a_name(cli: InPlace) -> None:
    one = remember(cli, "Nothing to see.")
    other = remember(cli, "It is short.", "--entity", one[-2:])
    found = cli("expand", one[-2:], "--direction", "neighbors", "--json").json
    assert refs(found) == [other]


@pytest.mark.requirement("context-expand-foreign")
def test_what_is_not_there_is_said_and_is_no_failure(cli: InPlace, ids: list[str]) -> None:
    pending = cli("memories", "ls", "--json").json["memories"][0]
    assert pending["status"] == "pending"
    for direction in ("document", "neighbors", "more"):
        for ref in ("nobody", "mem_01JZZZZZZZZZZZZZZZZZZZZZZZ", pending["id"], "Zorblat", "mqlc:x"):
            result = cli("expand", ref, "--direction", direction)
            assert (result.code, result.out, result.err) == (0, "", "nothing there\n"), (direction, ref)
            assert cli("expand", ref, "--direction", direction, "--json").json["found"] is False


@pytest.mark.parametrize(
    ("options", "exit_code", "code"),
    [
        ([], 2, "cli.usage"),
        ([""], 3, "expand.ref"),
        (["x" * 501], 3, "expand.ref"),
        (["x", "--direction", "up"], 3, "expand.direction"),
        (["x", "--limit", "0"], 3, "expand.limit"),
        (["x", "--limit", "51"], 3, "expand.limit"),
        (["x", "--limit", "few"], 3, "cli.value"),
        (["x", "--wrong"], 2, "cli.usage"),
    ],
)
def test_what_expand_refuses(cli: InPlace, options: list[str], exit_code: int, code: str) -> None:
    refused(cli("expand", *options, "--json"), exit_code, code)


# -- session ----------------------------------------------------------------------------------------------------------


def test_sessions_are_listed_shown_and_reset(cli: InPlace, ids: list[str]) -> None:
    assert cli("session", "ls").err == "no conversations\n"
    for turn in range(2):
        cli("context", "the importer", "--session", "chat 1", "--now", f"2026-06-0{turn + 1}T09:00:00Z")
    cli("context", "the importer", "--session", "对话", *NOW)
    listed = cli("session", "ls", "--now", "2026-06-03T09:00:00Z")
    assert [line.split() for line in listed.lines] == [
        ["ID", "USED", "TURNS"],
        ["chat", "1", "1", "d", "ago", "2"],
        ["对话", "2", "d", "ago", "1"],
    ]
    first = cli("session", "ls", "--limit", "1", "--now", "2026-06-03T09:00:00Z")
    cursor = first.err.strip().removeprefix("more: --cursor ")
    page = cli("session", "ls", "--cursor", cursor, "--now", "2026-06-03T09:00:00Z", "--json").json
    assert [each["session_id"] for each in page["sessions"]] == ["对话"]
    shown = cli("session", "show", "chat 1", "--now", "2026-06-03T09:00:00Z")
    assert shown.lines[0] == "chat 1: turn 2, cursor 2, 5 memories known, last used 1 d ago"
    assert f"  {ids[0]}  last in turn 2" in shown.lines
    assert cli("session", "show", "chat 1", *NOW, "--json").json["turn"] == 2
    assert cli("session", "reset", "chat 1", *NOW).err == "forgotten; its next call is its first\n"
    assert cli("session", "reset", "chat 1", *NOW).err == "there was no such conversation\n"
    assert cli("session", "reset", "chat 1", *NOW, "--json").json == {"session_id": "chat 1", "reset": False}
    refused(cli("session", "show", "chat 1", *NOW, "--json"), 5, "session.not_found")
    refused(cli("session", "show", "", "--json"), 3, "session.id")
    refused(cli("session", "ls", "--limit", "0", "--json"), 3, "limit.invalid")
    refused(cli("session", "ls", "--cursor", "x", "--json"), 3, "cursor.invalid")
    refused(cli("session", "show", "--json"), 2, "cli.usage")
    fresh = cli("context", "the importer", "--session", "chat 1", *NOW, "--json").json
    assert (fresh["working_memory"]["cursor"], len(fresh["working_memory"]["new"])) == ("1", 5)


# -- the demonstration ------------------------------------------------------------------------------------------------


@pytest.mark.requirement("context-demo")
def test_the_demonstration_shows_what_holds(shell: Shell) -> None:
    result = shell.run("demo", "context")
    assert result.code == 0
    assert [line for line in result.lines if line.startswith("# ")] == [
        "# One envelope, which describes itself",
        "# The same task, three readers",
        "# Narrowing only narrows",
        "# Three turns of one conversation",
    ]
    assert "min_relevance 2.5: refused" in result.lines
    assert "All of it held." in result.err
    assert not shell.segue_home.exists()
    assert list(shell.home.iterdir()) == list(shell.project.iterdir()) == []


@pytest.mark.requirement("context-demo")
def test_what_the_demonstration_says_is_true(cli: InPlace) -> None:
    """The relations of the specification's own demonstration, told anew from the figures."""
    document = cli("demo", "context", "--json").json
    envelope, budgets, chain, session = document["steps"]
    wire = envelope["envelope"]
    assert tuple(wire) == ENVELOPE_KEYS == tuple(wire["legend"]["envelope"])
    assert {tuple(each) for each in wire["items"]} == {ITEM_KEYS}
    figures = budgets["figures"]
    assert figures["claude"]["tokens"] > figures["gpt"]["tokens"] > figures["cursor"]["tokens"] == 3_000
    assert figures["cursor"]["items"] < figures["claude"]["items"]
    assert all(each["used"] <= each["tokens"] for each in figures.values())
    counts = chain["counts"]
    assert counts[0] > counts[1] > counts[2] > 0
    first, second, third = session["turns"]
    assert first["new"] == first["cited"] > 0
    assert (second["carried"], third["new"]) == (first["cited"], 0)
    assert second["new"] == second["cited"] - first["cited"] > 0
    assert second["saved"] > 0 < third["saved"]
    assert cli("demo", "context", "--json").json["steps"][1:] == document["steps"][1:]  # ids alone are new each time


@pytest.mark.requirement("context-demo")
def test_the_demonstration_fails_where_something_does_not_hold(cli: InPlace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(demonstration_context, "_ROOMY", demonstration_context._TIGHT)
    refused(cli("demo", "context", "--json"), 1, "demo.failed")
    refused(cli("demo", "packets", "--json"), 3, "demo.part")


def test_profiles_of_the_user_have_no_part_in_the_demonstration(cli: InPlace) -> None:
    cli.shell.segue_home.mkdir()
    tight = "[profiles.claude]\nbudget = 300\n"
    (cli.shell.segue_home / "segue.toml").write_text(tight, "utf-8")
    (cli.shell.segue_home / "config.toml").write_text(tight, "utf-8")
    assert cli("demo", "context").code == 0


# -- pin ---------------------------------------------------------------------------------------------------------------


def test_pins_are_listed_shown_and_removed(cli: InPlace, ids: list[str]) -> None:
    assert cli("pin", "ls").err == "no pinned packs\n"
    assert cli("pin", "ls", "--json").json == {"pins": [], "cursor": None}
    pin = cli("context", "the importer\nof Harbor", "--session", "chat 1", "--pin", *NOW, "--json").json["pin"]
    sha = pin["pack_sha"]
    cli("context", "the ledger", "--pin", *NOW)
    (line,) = [each for each in cli("pin", "ls", *NOW).lines if sha[-8:] in each]
    assert ("just now" in line, "chat 1" in line, "the importer ⏎ of Harbor" in line) == (True, True, True)
    listed = cli("pin", "ls", "--json").json["pins"]
    assert sorted(each["task"] for each in listed) == ["the importer\nof Harbor", "the ledger"]
    shown = cli("pin", "show", sha[-8:], "--json")
    assert (shown.code, shown.json["pack_sha"], shown.json["intact"]) == (0, sha, True)
    assert {name: shown.json[name] for name in pin} == pin
    assert cli("pin", "show", sha, *NOW).lines[0] == sha
    assert cli("pin", "rm", sha[-8:], "--json").json == {"removed": sha}
    assert len(cli("pin", "ls", "--json").json["pins"]) == 1
    for command in (("rm", sha), ("show", sha), ("rm", "zzzz")):
        refused(cli("pin", *command, "--json"), 5, "pin.not_found")
    refused(cli("pin", "rm", "a", "--json"), 3, "pin.short_id")
    page = cli("pin", "ls", "--limit", "501", "--json")
    refused(page, 3, "limit.invalid")


def test_a_pin_that_was_changed_is_said(cli: InPlace, ids: list[str]) -> None:
    sha = cli("context", "the importer", "--pin", *NOW, "--json").json["pin"]["pack_sha"]
    with segue.open(cli.shell.segue_home / "segue.db") as opened, opened._database.write() as connection:
        connection.exec_driver_sql("UPDATE context_pins SET body = x'7b7d'")
    assert cli("pin", "show", sha).code == 3
    assert cli("pin", "show", sha, "--json").json["intact"] is False
    doctor = cli("doctor", "--repair")
    assert (doctor.code, f"segue pin rm {sha[-8:]}" in doctor.err) == (3, True)
    assert cli("pin", "rm", sha[-8:]).lines == [f"removed {sha}"]
    assert cli("doctor").code == 0
