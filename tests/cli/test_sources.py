"""`segue source`: read, asked about, shown, refreshed, exported, published, removed; over real TLS where it matters."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from segue.cli import output
from segue.services import source_reading
from sources import folders
from sources.liar import Liar, reader, reply

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from cli.shell import InPlace

URL_QUESTIONS = b"y\ny\n"
TOKEN = "abc123" + "-of-theirs"


@pytest.fixture(scope="module")
def running() -> Iterator[Liar]:
    with Liar() as liar:
        yield liar


@pytest.fixture
def liar(running: Liar, monkeypatch: pytest.MonkeyPatch) -> Liar:
    """A server of a source, which the commands can reach."""
    running.serves()
    monkeypatch.setattr(source_reading, "_https", lambda limits: reader())
    return running


@pytest.fixture
def notes(cli: InPlace) -> Path:
    """A folder of records beside the project."""
    return folders.write(cli.shell.root / "notes", title="Team notes")


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> None:
    """Somebody sits at a terminal; the answers are on standard input."""
    monkeypatch.setattr(output, "is_terminal", lambda: True)


def memories(cli: InPlace) -> list[str]:
    return [each["content"] for each in cli("memories", "ls", "--status", "active", "--json").json["memories"]]


def test_a_folder_from_add_to_rm(cli: InPlace, notes: Path) -> None:
    assert cli("source", "ls").err == "no sources; `segue source add` reads one\n"
    done = cli("source", "add", "../notes")
    assert (done.code, done.lines) == (0, ["notes: 2 records, 2 new"])
    assert sorted(memories(cli)) == ["Names are nouns.", "Run `make test`."]
    listed = cli("source", "ls", "--json").json["sources"]
    assert [(each["name"], each["kind"], each["place"], each["records"]) for each in listed] == [
        ("notes", "local", str(notes), 2)
    ]
    (notes / "records" / "style.md").write_text("Names are short nouns.\n")
    assert cli("source", "refresh", "notes").lines == ["notes: 2 records, 1 changed"]
    shown = cli("source", "show", "notes").out
    assert "test-command" in shown and "served" in shown
    removed = cli("source", "rm", "notes", "--json").json
    assert (removed["removed"], removed["memories"], removed["exports"]) == ("notes", 3, [])
    assert memories(cli) == []
    assert cli("source", "show", "notes").code == 5


@pytest.mark.requirement("sources-provenance")
def test_a_record_is_shown_offline_with_who_says_it(cli: InPlace, notes: Path) -> None:
    cli("source", "add", notes)
    for each in sorted(notes.rglob("*"), reverse=True):
        each.rmdir() if each.is_dir() else each.unlink()
    notes.rmdir()
    text = cli("source", "show", "notes", "test-command").out
    for part in ("notes#test-command", str(notes), "records/test-command.md", "How to test", "│ Run `make test`."):
        assert part in text
    found = cli("source", "show", "notes", "test-command", "--json").json
    assert len(found["record"]["sha256"]) == 64
    assert found["memories"][0]["status"] == "active"
    page = cli("source", "show", "notes", "test-command", "--html").out
    assert "<code>make test</code>" in page and "default-src 'none'" in page
    assert cli("source", "show", "notes", "--html").code == 2
    failed = cli("source", "refresh", "notes", "--json")
    assert (failed.code, failed.error["code"]) == (5, "source.folder")
    assert "in use is what was read" in cli("source", "ls").err
    assert cli("source", "ls", "--json").json["sources"][0]["fault"]["code"] == "source.folder"
    assert len(memories(cli)) == 2


def test_malformed_content_and_refused_paths_differ_in_their_exit_code(cli: InPlace) -> None:
    bad = folders.write(cli.shell.root / "bad", {"a.md": "---\ntitle: [\n---\nx\n"})
    assert cli("source", "add", bad, "--json").error["code"] == "source.record"
    assert cli("source", "add", bad).code == 3
    checked = cli("source", "check", bad, "--json")
    assert (checked.code, checked.json["valid"]) == (3, False)
    assert [(each["where"], each["line"] is not None) for each in checked.json["problems"]] == [("a.md", True)]
    (bad / "memories.json").write_bytes(folders.manifest("../a.md", "b.md"))
    checked = cli("source", "check", bad)
    assert checked.code == 4
    assert {line.split()[0] for line in checked.lines} == {"path.parent", "record.missing"} or len(checked.lines) >= 2
    assert cli("source", "add", bad).code == 4
    assert cli("source", "ls", "--json").json["sources"] == []
    for url in ("http://example.org/notes", "https://user@example.org/notes"):
        refused = cli("source", "add", url, "--yes", "--json")
        assert (refused.code, refused.error["code"]) == (4, "source.url")


@pytest.mark.requirement("sources-limits")
def test_limits_can_be_lowered_and_not_raised(cli: InPlace, notes: Path) -> None:
    cli.shell.segue_home.mkdir()
    config = cli.shell.segue_home / "config.toml"
    config.write_text("[sources]\nrecords = 1\n")
    refused = cli("source", "add", notes, "--json")
    assert (refused.code, refused.error["code"]) == (3, "source.limit")
    for text in ("records = 1001", "records = '1'", "records = true", "colour = 1", "request_seconds = 0"):
        config.write_text(f"[sources]\n{text}\n")
        assert cli("source", "add", notes, "--json").error["code"] == "config.invalid"
    config.write_text("[sources]\nrecords = 2\nrequest_seconds = 5\n")
    assert cli("source", "add", notes).code == 0


@pytest.mark.requirement("sources-consent")
def test_an_address_is_read_and_used_with_consent_alone(
    cli: InPlace, liar: Liar, monkeypatch: pytest.MonkeyPatch
) -> None:
    base = str(liar.base)
    refused = cli("source", "add", base, "--json")
    assert (refused.code, refused.error["code"], liar.asked) == (4, "source.consent", [])
    monkeypatch.setattr(output, "is_terminal", lambda: True)
    no = cli("source", "add", base, stdin=b"n\n")
    assert (no.code, liar.asked) == (4, [])
    assert f"Read memories from {base}" in no.err
    no = cli("source", "add", base, stdin=b"y\nn\n")
    assert no.code == 4
    assert "How to test" in no.err and liar.targets()[0] == "memories.json"
    assert cli("source", "ls", "--json").json["sources"] == []
    assert cli("source", "add", base, "--name", "team", stdin=URL_QUESTIONS).code == 0
    assert len(memories(cli)) == 2
    assert cli("source", "add", base, stdin=b"").code == 1  # the terminal went away


def test_a_refresh_over_tls_asks_what_changed(cli: InPlace, liar: Liar) -> None:
    cli("source", "add", str(liar.base), "--yes", "--name", "team")
    liar.asked.clear()
    done = cli("source", "refresh", "team", "--json").json
    assert done["counts"] == {"new": 0, "changed": 0, "unchanged": 2, "removed": 0}
    assert all("if-none-match" in each.headers for each in liar.asked)
    assert len(liar.asked) == 3


@pytest.mark.requirement("sources-access-lost")
def test_access_that_is_lost_is_reported_and_comes_back(cli: InPlace, liar: Liar) -> None:
    cli("source", "add", str(liar.base), "--yes", "--name", "team")
    cli("source", "export", "--to", "agents-md")
    block = cli.shell.project / "AGENTS.md"
    assert "make test" in block.read_text()
    liar.answers({"memories.json": reply(b"", 403)})
    lost = cli("source", "refresh", "team", "--json")
    assert (lost.code, lost.error["code"]) == (4, "source.access")
    assert memories(cli) == []
    assert cli("search", "make test", "--json").json["hits"] == []
    assert "make test" not in block.read_text()
    assert "withheld" in cli("source", "ls").out
    shown = cli("source", "show", "team", "test-command", "--json")
    assert (shown.code, shown.error["code"]) == (4, "source.withheld")
    assert cli("source", "show", "team").code == 0
    liar.serves()
    back = cli("source", "refresh", "--all", "--json").json
    assert [each["returned"] for each in back["refreshed"]] == [True]
    assert len(memories(cli)) == 2
    assert "make test" in block.read_text()


def test_of_all_sources_each_is_read(cli: InPlace, liar: Liar, notes: Path) -> None:
    cli("source", "add", str(liar.base), "--yes", "--name", "team")
    cli("source", "add", notes)
    liar.answers({"memories.json": reply(b"", 404)})
    done = cli("source", "refresh", "--all", "--json")
    assert done.code == 1
    assert [each["source"]["name"] for each in done.json["refreshed"]] == ["notes"]
    assert [each["name"] for each in done.json["failed"]] == ["team"]
    assert cli("source", "refresh").code == 2
    assert cli("source", "refresh", "team", "--all").code == 2


@pytest.mark.requirement("sources-bearer")
def test_a_token_goes_to_its_address_alone_and_is_never_shown(cli: InPlace, liar: Liar) -> None:
    base = str(liar.base)
    done = cli("source", "add", base, "--yes", "--name", "team", "--bearer", "-", "--json", stdin=TOKEN.encode())
    assert done.code == 0, done.err
    results = [done]
    assert {each.headers["authorization"] for each in liar.asked} == {f"Bearer {TOKEN}"}
    liar.asked.clear()
    results += [cli("source", "refresh", "team"), cli("source", "ls", "--json"), cli("source", "show", "team")]
    assert {each.headers["authorization"] for each in liar.asked} == {f"Bearer {TOKEN}"}
    kept = json.loads((cli.shell.segue_home / "credentials.json").read_text())
    assert kept == {"hosts": {base: TOKEN}}
    liar.answers({"memories.json": reply(b"", 401)})
    results.append(cli("source", "refresh", "team"))
    assert cli("source", "add", base, "--bearer", TOKEN, "--yes").code == 2
    results.append(cli("source", "rm", "team"))
    assert json.loads((cli.shell.segue_home / "credentials.json").read_text()) == {"hosts": {}}
    assert not any(TOKEN in each.out + each.err for each in results)
    stored = (cli.shell.segue_home / "segue.db").read_bytes()
    assert TOKEN.encode() not in stored


@pytest.mark.requirement("sources-bearer")
def test_a_server_s_token_is_no_token_of_a_source(cli: InPlace, liar: Liar, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SEGUE_TOKEN", TOKEN)
    monkeypatch.setenv("SEGUE_HOST", liar.base.origin)
    cli("source", "add", str(liar.base), "--yes")
    assert len(liar.asked) == 3
    assert not any("authorization" in each.headers for each in liar.asked)


@pytest.mark.requirement("sources-block")
@pytest.mark.requirement("sources-removal")
def test_export_writes_a_block_and_rm_takes_it_away(cli: InPlace, notes: Path) -> None:
    project = cli.shell.project
    mine = b"# Mine\r\n\r\nKeep this.\r\n"
    (project / "AGENTS.md").write_bytes(mine)
    cli("source", "add", notes)
    written = cli("source", "export", "--to", "agents-md", "--json").json["exports"][0]
    assert (written["state"], written["records"]) == ("written", 2)
    data = (project / "AGENTS.md").read_bytes()
    assert data.startswith(mine) and b"make test" in data
    assert cli("source", "export", "--to", "claude-code").code == 0
    rules = project / ".claude" / "rules" / "segue-sources.md"
    assert "make test" in rules.read_text()
    assert not (project / "CLAUDE.md").exists()
    again = cli("source", "export", "--to", "agents-md").lines
    assert again == [f"unchanged {project / 'AGENTS.md'}: 2 records"]
    cli("source", "refresh", "notes")  # nothing changed, so nothing is written
    assert (project / "AGENTS.md").read_bytes() == data
    (notes / "records" / "style.md").write_text("Names are short nouns.\n")
    cli("source", "refresh", "notes")
    assert b"short nouns" in (project / "AGENTS.md").read_bytes() and "short nouns" in rules.read_text()
    removed = cli("source", "rm", "notes", "--json").json
    assert sorted(each["state"] for each in removed["exports"]) == ["cleared", "removed"]
    assert (project / "AGENTS.md").read_bytes() == mine
    assert not (project / ".claude").exists()


def test_two_sources_share_a_block(cli: InPlace, notes: Path) -> None:
    other = folders.write(cli.shell.root / "other", {"other.md": "Others say so.\n"})
    into = cli.shell.root / "elsewhere"
    into.mkdir()
    cli("source", "add", notes)
    cli("source", "add", other)
    cli("source", "export", "notes", "--to", "agents-md", "--into", into)
    assert "Others say so" not in (into / "AGENTS.md").read_text()
    cli("source", "export", "other", "--to", "agents-md", "--into", into)
    assert "`notes#style`" in (into / "AGENTS.md").read_text()
    cli("source", "rm", "notes")
    text = (into / "AGENTS.md").read_text()
    assert "`other#other`" in text and "notes#" not in text
    cli("source", "rm", "other")
    assert list(into.iterdir()) == []


@pytest.mark.requirement("sources-block")
def test_a_block_that_somebody_changed_is_not_lost_unasked(cli: InPlace, notes: Path) -> None:
    file = cli.shell.project / "AGENTS.md"
    cli("source", "add", notes)
    cli("source", "export", "--to", "agents-md")
    file.write_text(file.read_text().replace("Names are nouns.", "Names are verbs."))
    refused = cli("source", "export", "--to", "agents-md", "--json")
    assert (refused.code, refused.error["code"]) == (4, "source.block_edited")
    assert refused.error["message"].startswith(f"{file}: ")
    assert "verbs" in file.read_text()
    assert cli("source", "export", "--to", "agents-md", "--replace").code == 0
    assert "verbs" not in file.read_text()
    assert "verbs" in (cli.shell.project / "AGENTS.md.segue-backup").read_text()
    file.write_text(file.read_text().replace("Names are nouns.", "Names are verbs."))
    removed = cli("source", "rm", "notes")
    assert removed.code == 4
    assert f"{file} keeps what it says of notes: delete that by hand" in removed.err
    assert memories(cli) == []


@pytest.mark.requirement("sources-expiry")
def test_an_expired_record_is_shown_as_one(cli: InPlace) -> None:
    cli("source", "add", folders.write(cli.shell.root / "n", {"a.md": "---\nexpires: 2031-01-01\n---\nSo it is.\n"}))
    later = ("--now", "2031-01-01T00:00:00Z")
    for at, state, word in (((), "active", "served"), (later, "expired", "not served: expired")):
        assert f"claim  {word} " in cli("source", "show", "n", *at).out
        assert f"({word})" in cli("source", "show", "n", "a", *at).out
        assert [each["status"] for each in cli("source", "show", "n", *at, "--json").json["records"]] == [state]


@pytest.mark.requirement("sources-adapter-losses")
def test_export_tells_what_the_tool_cannot_say(cli: InPlace) -> None:
    record = "---\nexpires: 2031-01-01\nconfidence: low\n---\nSo it is.\n"
    cli("source", "add", folders.write(cli.shell.root / "n", {"a.md": record, "b.md": "Gone.\n"}))
    gone = next(each for each in cli("memories", "ls", "--json").json["memories"] if each["content"] == "Gone.")
    cli("forget", gone["id"])
    done = cli("source", "export", "--to", "agents-md", "--json").json["exports"][0]
    assert {each["field"] for each in done["losses"]} == {"expires", "confidence"}
    assert done["left_out"] == ["n#b"]
    assert "Gone." not in (cli.shell.project / "AGENTS.md").read_text()
    assert cli("source", "export", "--to", "nothing").code == 3
    assert cli("source", "export").code == 2


def remembered(cli: InPlace, text: str, *options: str) -> str:
    return str(cli("remember", text, *options, "--json").json["id"])


@pytest.mark.requirement("sources-publish")
def test_published_memories_are_read_as_they_were(cli: InPlace, asked: None) -> None:
    first = remembered(
        cli, "Amounts are integers of cents.", "--tag", "shared", "--kind", "decision", "--entity", "GBP"
    )
    remembered(cli, 'yes: 017\n\n--- \n# "Quoted" `code` é \u2028 12:30', "--tag", "shared", "--confidence", "0.25")
    remembered(cli, "Mine alone.")
    cli("propose", "Not reviewed.", "--tag", "shared")
    done = cli("source", "publish", "out", "--tag", "shared", "--title", "Ours", stdin=b"y\n")
    assert (done.code, done.out.strip()) == (0, f"published 2 records in {cli.shell.project / 'out'}")
    outside = cli("source", "publish", "../outside", first, "--yes")
    assert outside.out == f"published 1 record in {cli.shell.root / 'outside'}\n"
    assert "Amounts are integers" in done.err
    files = {path: path.read_bytes() for path in (cli.shell.project / "out").rglob("*") if path.is_file()}
    assert b"Mine alone" not in b"".join(files.values())
    assert b"Not reviewed" not in b"".join(files.values())
    again = cli("source", "publish", "again", "--tag", "shared", "--title", "Ours", "--yes", "--json").json
    assert {each.read_bytes() for each in (cli.shell.project / "again").rglob("*.*")} == set(files.values())
    assert again["left_out"] == []
    assert cli("source", "check", "out").code == 0
    cli("source", "add", "out")
    record = cli("source", "show", "out", first.lower(), "--json").json["record"]
    assert record["body"].strip() == "Amounts are integers of cents."
    assert (record["kind"], record["tags"], record["entities"]) == ("decision", ["shared"], ["GBP"])
    texts = memories(cli)
    assert len(texts) == 5
    assert len(set(texts)) == 3  # what was published came back as it was, as a record of its source


@pytest.mark.requirement("sources-publish")
def test_nothing_unreviewed_and_no_secret_leaves(cli: InPlace) -> None:
    out = cli.shell.project / "out"
    memory = remembered(cli, "The key lies with the operator.", "--tag", "shared")
    refused = cli("source", "publish", "out", "--tag", "shared", "--json")
    assert (refused.code, refused.error["code"], out.exists()) == (4, "source.review", False)
    waiting = cli("propose", "An agent says so.", "--json").json["id"]
    for given, code in ((waiting, "source.unreviewed"), (memory[:-4] + "ZZZZ", "memory.not_found")):
        assert cli("source", "publish", "out", given, "--yes", "--json").error["code"] == code
    for options, said in (
        ((), "give ids, --tag or --project"),
        (("--tag", "nothing"), "no memory of yours has that tag or project"),
    ):
        nothing = cli("source", "publish", "out", *options, "--yes", "--json").error
        assert nothing["code"] == "source.nothing_chosen" and said in nothing["message"]
    remembered(cli, "Ask at 10.1.2.3:8443 for it.", "--tag", "shared")
    secret = cli("source", "publish", "out", "--tag", "shared", "--yes", "--json")
    assert (secret.code, secret.error["code"], out.exists()) == (4, "source.redaction", False)
    assert "10.1.2.3" not in secret.out


@pytest.mark.requirement("sources-publish")
def test_a_folder_of_something_else_is_left_alone(cli: InPlace) -> None:
    memory = remembered(cli, "Amounts are integers of cents.")
    other = cli.shell.project / "other"
    other.mkdir()
    (other / "thesis.txt").write_text("years of work")
    refused = cli("source", "publish", "other", memory, "--yes", "--json")
    assert (refused.code, refused.error["code"]) == (4, "source.not_a_source")
    assert [each.name for each in other.iterdir()] == ["thesis.txt"]
    cli("source", "publish", "mine", memory, "--yes")
    (cli.shell.project / "mine" / "README").write_text("kept")
    second = remembered(cli, "Rates have six places.")
    done = cli("source", "publish", "mine", second, "--yes", "--json").json
    assert len(done["removed"]) == 1
    assert sorted(path.suffix for path in (cli.shell.project / "mine").rglob("*.*")) == [".json", ".md"]
    assert (cli.shell.project / "mine" / "README").read_text() == "kept"


@pytest.mark.requirement("sources-publish")
def test_a_source_that_somebody_keeps_by_hand_is_left_alone(cli: InPlace) -> None:
    """Its manifest may list whatever lies there; nothing of that is overwritten or removed."""
    memory = remembered(cli, "Amounts are integers of cents.")
    theirs = folders.write(cli.shell.project / "theirs", {"records/style.md": "Nouns.\n", "src/main.py": "run()\n"})
    before = {each: each.read_bytes() for each in theirs.rglob("*") if each.is_file()}
    refused = cli("source", "publish", "theirs", memory, "--yes", "--json")
    assert (refused.code, refused.error["code"]) == (4, "source.not_a_source")
    assert {each: each.read_bytes() for each in theirs.rglob("*") if each.is_file()} == before


@pytest.mark.requirement("sources-publish")
def test_a_published_record_that_somebody_edited_stays(cli: InPlace) -> None:
    memory, second = (remembered(cli, text) for text in ("Amounts are integers of cents.", "Rates have six places."))
    cli("source", "publish", "mine", memory, "--yes")
    (file,) = (cli.shell.project / "mine" / "records").iterdir()
    file.write_bytes(file.read_bytes() + b"And more.\n")
    assert cli("source", "publish", "mine", second, "--yes", "--json").json["removed"] == []
    assert file.read_bytes().endswith(b"And more.\n")


@pytest.mark.requirement("sources-publish")
def test_what_was_left_behind_goes_the_next_time(cli: InPlace) -> None:
    """Whatever ended a command before it removed a record: what is not published any more does not lie there."""
    memory, second = (remembered(cli, text) for text in ("Amounts are integers of cents.", "Rates have six places."))
    cli("source", "publish", "mine", memory, "--yes")
    records = cli.shell.project / "mine" / "records"
    (first,) = records.iterdir()
    data = first.read_bytes()
    cli("source", "publish", "mine", second, "--yes")
    first.write_bytes(data)
    (records / "notes.md").write_bytes(data)
    done = cli("source", "publish", "mine", second, "--yes", "--json").json
    assert done["removed"] == [f"records/{first.name}"]
    assert not first.exists() and (records / "notes.md").exists()


def test_every_command_has_an_answer_as_json(cli: InPlace, notes: Path) -> None:
    cli("source", "add", notes)
    commands: list[tuple[str, ...]] = [
        ("ls",),
        ("show", "notes"),
        ("check", "../notes"),
        ("refresh", "notes"),
        ("export", "--to", "agents-md"),
        ("rm", "notes"),
    ]
    for each in commands:
        done = cli("source", *each, "--json")
        assert done.code == 0
        assert isinstance(done.json, dict)


def test_what_others_wrote_does_nothing_on_a_terminal(cli: InPlace) -> None:
    hostile = "\x1b[31mred\x1b]0;me\x07 \u202ereversed \u200b hidden"
    head = f'---\ntitle: "{hostile.encode("unicode_escape").decode()}"\n---\n'
    place = folders.write(cli.shell.root / "h", {"a.md": f"{head}\n", "b.md": f"{hostile}\n# Heading\n"})
    (place / "memories.json").write_bytes(folders.manifest("b.md", title="T \u202ereversed \u200b hidden"))
    shown = [
        cli("source", "add", place),
        *(cli("source", *each) for each in (("ls",), ("show", "h"), ("show", "h", "b"))),
    ]
    for each in shown:
        assert each.code == 0
        assert not set("\x1b\x07\u202e\u200b") & set(each.out + each.err)
