"""What must not travel is not echoed either: passwords of databases, and secrets in odd places of a packet."""

from __future__ import annotations

import asyncio
import json
import logging
import re
from typing import TYPE_CHECKING, Any

import pytest
from mcp.server.mcpserver.exceptions import ToolError

import segue
from cli.shell import InPlace, Shell
from segue.base import redaction
from segue.mcp.server import Server
from segue.packets import checking
from segue.storage.database import open_database

if TYPE_CHECKING:
    from pathlib import Path

    from segue.app import Segue

WORD = "sw" + "ordfish" + "-9"
TOKEN = "gh" + "p_" + "aB3dE5fG7h" * 4
KEY_ID = "AK" + "IA" + "Q7Z2" * 4
SECRETS = (WORD, TOKEN, KEY_ID)


@pytest.fixture
def cli(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> InPlace:
    return InPlace(Shell(tmp_path), monkeypatch)


def draft(**members: Any) -> dict[str, Any]:
    return {"ltm_version": "0.2", "goal": "Ship the importer.", "next_step": "Run the tests."} | members


def silent(text: str) -> None:
    """Fail where `text` holds a secret, or more of it than its writer needs to recognise it."""
    for secret in SECRETS:
        assert secret[:16] not in text


# -- databases ------------------------------------------------------------------------------------------------------

# Port 1 takes no connections, so that each call ends at once, with a message.
DATABASES = {
    "user part": f"postgresql+psycopg://alice:{WORD}@127.0.0.1:1/app",
    "query": f"postgresql+psycopg://alice@127.0.0.1:1/app?password={WORD}",
    "query and user": f"postgresql://alice:{WORD}@127.0.0.1:1/app?password={WORD}&sslpassword={WORD}",
    "escaped": f"postgres://alice:x%40{WORD}@127.0.0.1:1/app",
    "two ats": f"postgresql+psycopg://alice:x@{WORD}@127.0.0.1:1/app",
    "bad port": f"postgresql+psycopg://alice:{WORD}@127.0.0.1:port/app",
    "other scheme": f"mysql://alice:{WORD}@127.0.0.1:1/app",
    "slash too few": f"postgresql:/alice:{WORD}@127.0.0.1:1/app",
    "no slash": f"postgresql+psycopg:alice:{WORD}@127.0.0.1:1/app",
    "upper case": f"POSTGRESQL:/alice:{WORD}@127.0.0.1:1/app",
    "blank inside": f"postgresql+psycopg://alice:x {WORD}@127.0.0.1:1/app",
    "slash inside": f"postgresql+psycopg://alice:x/{WORD}@127.0.0.1:1/app",
    "question mark inside": f"postgresql+psycopg://alice:{WORD}?x@127.0.0.1:1/app",
    "query without user": f"postgresql://127.0.0.1:1/app?password={WORD}",
    "at in the query without user": f"postgresql://127.0.0.1:1/app?password=x@{WORD}",
    "at in the query": f"postgresql+psycopg://alice@127.0.0.1:1/app?password=x@{WORD}",
}


@pytest.mark.parametrize("name", DATABASES)
def test_a_databases_password_is_shown_nowhere(cli: InPlace, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setenv("SEGUE_DB", DATABASES[name])
    for arguments in (["where"], ["status"], ["restore", "x.db"], ["doctor"]):
        for options in ([], ["--json"]):
            result = cli(*arguments, *options)
            assert result.code in (0, 1, 3), result.err
            assert "internal error" not in result.out + result.err
            silent(result.out + result.err)
    if name in ("user part", "query", "query and user", "escaped"):
        assert "//127.0.0.1:1/app" in cli("where").out
    assert not list(cli.shell.project.iterdir())  # nor is it a file of that name


@pytest.mark.parametrize("name", ["user part", "query", "query and user", "escaped"])
def test_an_open_databases_name_holds_no_password(name: str) -> None:
    database = open_database(DATABASES[name])
    silent(database.name)
    with pytest.raises(segue.Failed) as failed, database.read():
        pass
    assert failed.value.code == "store.unreachable"
    silent(str(failed.value) + repr(failed.value.details))
    database.close()


def test_whoami_tells_no_password(tmp_path: Path, project_directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with segue.open(tmp_path / "segue.db", directory=project_directory) as opened:
        named = open_database(DATABASES["query and user"]).name
        monkeypatch.setattr(type(opened.store), "name", property(lambda _: named))
        answer = asyncio.run(Server(opened).call_tool("whoami", {}))
    assert "127.0.0.1" in repr(answer)
    silent(repr(answer))


# -- packets --------------------------------------------------------------------------------------------------------


def without_findings(text: str) -> str:
    """The text without what was found: the specification shows 32 characters of it to the writer (mechanic 6)."""
    return re.sub(r"(?m)^(  • .*?/[a-z0-9-]+: ).*$|^ *\"found\": .*$", r"\1", text)


def twice(name: str) -> bytes:
    return json.dumps(draft())[:-1].encode() + f', "{name}": 1, "{name}": 2}}'.encode()


REFUSED: dict[str, bytes] = {
    "member name": json.dumps(draft(**{TOKEN: "x"})).encode(),
    "inner member name": json.dumps(draft(project={TOKEN: "x"})).encode(),
    "name of an object": json.dumps(draft(**{TOKEN: {KEY_ID: ["x", {TOKEN: 1}]}})).encode(),
    "name above a finding": json.dumps(draft(**{TOKEN: f"Use {KEY_ID}.", "x": {TOKEN: [f"Use {KEY_ID}."]}})).encode(),
    "duplicate key": twice(TOKEN),
    "duplicate key, long": twice("x" * 30 + " " + TOKEN),
    "version": json.dumps(draft(ltm_version=TOKEN)).encode(),
    "version, long": json.dumps(draft(ltm_version="x" * 30 + " " + TOKEN)).encode(),
    "enum": json.dumps(draft(attempts=[{"tried": "a", "outcome": TOKEN}])).encode(),
    "tag": json.dumps(draft(tags=[TOKEN])).encode(),
    "method": json.dumps(draft(methods=[{"name": TOKEN, "when_applicable": "a", "how": "b"}])).encode(),
    "time": json.dumps(draft(id="packet-0001", created_at=TOKEN)).encode(),
    "hash": json.dumps(draft(provenance={"source_hash": TOKEN})).encode(),
    "id": json.dumps(draft(id=TOKEN + "/" * 80, created_at=TOKEN)).encode(),
    "type": json.dumps(draft(goal=[TOKEN])).encode(),
    "text": json.dumps(draft(goal=f"Use {TOKEN}.")).encode(),
    "not json": f'{{"goal": {TOKEN}}}'.encode(),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused_is_not_echoed(cli: InPlace, name: str) -> None:
    file = cli.write("packet.json", REFUSED[name])
    for arguments in (["check", file], ["check", file, "--json"], ["save", file, "--json"], ["save", file]):
        result = cli(*arguments)
        assert result.code in (3, 4), result.out
        silent(without_findings(result.out + result.err))
    assert cli("status", "--json").json["packets"] == 0


def test_a_name_that_is_a_secret_is_a_finding(cli: InPlace) -> None:
    document = draft(**{TOKEN: "x"}, project={"name": "a", KEY_ID: "x"})
    report = checking.check(json.dumps(document).encode())
    assert {each.kind for each in report.findings} == {"(member name)/ext/gh-token", "(member name)/ext/aws-key"}
    silent(json.dumps(report.to_json()["errors"]) + repr([each.path for each in report.findings]))
    listed = cli("check", cli.write("packet.json", document), "--json").json["redaction"]
    assert {each["kind"] for each in listed} == {each.kind for each in report.findings}


def test_a_name_that_is_no_secret_is_still_named(cli: InPlace) -> None:
    result = cli("check", cli.write("packet.json", draft(colour="x")))
    assert "'colour'" in result.err
    assert redaction.shown("a\nb\x1b[0m", 40) == "a ⏎ b\\x1b[0m"


@pytest.mark.parametrize("given", [TOKEN, KEY_ID])
def test_an_id_that_is_not_found_is_not_echoed(cli: InPlace, given: str) -> None:
    cli.save()
    for command in ("show", "resume", "chain", "rm"):
        for options in ([], ["--json"]):
            result = cli(command, given, *options)
            assert result.code == 5
            silent(result.out + result.err)
    for arguments in (["diff", given, given, "--json"], ["show", given, "--raw"], ["capsule", "show", given]):
        result = cli(*arguments)
        assert result.code in (3, 5)
        silent(result.out + result.err)
    file = cli.write("child.json", draft(goal="Another."))
    silent(cli("save", file, "--continue", given, "--json").out)
    assert "ending-xyz" in cli("show", "ending-xyz").err  # what is no secret is repeated


def refusal(opened: Segue, tool: str, arguments: dict[str, Any]) -> str:
    with pytest.raises(ToolError) as refused:
        asyncio.run(Server(opened).call_tool(tool, arguments))
    return str(refused.value)


def test_an_agent_is_not_told_either(tmp_path: Path, project_directory: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    with segue.open(tmp_path / "segue.db", directory=project_directory) as opened:
        calls: list[tuple[str, dict[str, Any]]] = [
            (TOKEN, {}),
            ("whoami", {TOKEN: 1}),
            ("whoami", {f"{'x' * 30} {TOKEN}": 1}),
            ("whoami", {"directory": f"/{TOKEN}"}),
            ("ls", {"limit": TOKEN}),
            ("ls", {"cursor": TOKEN}),
            ("show", {"id": TOKEN}),
            ("resume", {"id": KEY_ID}),
            ("chain", {"id": TOKEN}),
            ("save", {"packet": draft(goal="Other."), "continues": TOKEN}),
            ("save", {"packet": draft(), "carry": [TOKEN]}),
            ("capsule_read", {"id": TOKEN}),
        ]
        for name, data in REFUSED.items():
            if name not in ("duplicate key", "duplicate key, long", "not json"):
                calls.append(("save", {"packet": json.loads(data)}))
        for tool, arguments in calls:
            said = refusal(opened, tool, arguments)
            assert said.startswith("error: "), said
            silent(said)
    silent(caplog.text)
