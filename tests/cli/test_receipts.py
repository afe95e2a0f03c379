"""receipt: what the commands print, and how they end."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from pathlib import Path

    from cli.shell import InPlace

AT = ("--now", "2026-05-04T09:30:00Z")
MANIFEST: dict[str, Any] = {
    "tx_id": "TX-001",
    "doc_tx_id": "DOC-TX-001",
    "artifact_paths": {"qa": "qa.md", "log": "log.md", "memory": "memory", "document": "guide.md"},
    "source_revision": "git:0123abc",
    "readiness_manifest": {"ready": True},
    "validator_results": {"qa_log": "pass", "memory": "pass", "document": "pass"},
    "cold_start_result": {"status": "pass", "report_hash": "a" * 64},
    "not_run": [],
    "current_step": "STEP-1",
    "current_node": "NODE-001",
}


@pytest.fixture
def project(cli: InPlace) -> Path:
    for name in ("qa.md", "log.md", "guide.md"):
        cli.write(name, f"# {name}\n".encode())
    (cli.shell.project / "memory").mkdir()
    cli.write("memory/MEMORY.md", b"# Memory Index\n")
    cli.write("manifest.json", MANIFEST)
    cli.write("answer.txt", b"The guide is saved.\n")
    return cli.shell.project


def test_issue_and_verify(cli: InPlace, project: Path) -> None:
    issued = cli("receipt", "issue", "log.md", "qa.md", "--response", "answer.txt", *AT)
    assert (issued.code, issued.out) == (0, "TX-0001\n")
    assert issued.err.startswith("proves 2 files and a text; hash ")
    document = cli("receipt", "show", "TX-1", "--json").json
    assert document["created_at"] == "2026-05-04T09:30:00Z"
    assert cli("receipt", "ls", "--json").json == {"receipts": [document]}
    assert cli("receipt", "verify").out == "holds: 1 receipt, 2 files as proven\n"
    absent = cli("receipt", "issue", "absent.md")
    assert (absent.code, absent.err) == (3, "segue: cannot read absent.md: No such file or directory\n")
    assert cli("receipt", "issue", "log.md", "--json", *AT).json["previous"] == document["receipt_hash"]
    report = cli("receipt", "verify", "TX-0001", "--json").json
    assert report == {
        "holds": True,
        "receipts": 2,
        "artifacts": 1,
        "problems": [],
        "superseded": {"log.md": "TX-0002"},
    }
    (project / "qa.md").write_text("changed")
    broken = cli("receipt", "verify")
    assert (broken.code, broken.out) == (3, "does not hold: qa.md was changed after TX-0001\n")
    assert cli("receipt", "verify", "log.md").code == 0
    assert cli("receipt", "verify", "qa.md", "--json").json["problems"][0]["code"] == "receipt.drift"


def test_what_is_named_from_a_folder_below(cli: InPlace, project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cli.write("segue.toml", b'[project]\nid = "below"\n')
    monkeypatch.chdir(project / "memory")
    assert cli("receipt", "issue", "MEMORY.md", "--json").json["artifacts"][0]["path"] == "memory/MEMORY.md"
    assert cli("receipt", "verify", "MEMORY.md").code == 0


@pytest.mark.parametrize(
    ("arguments", "code", "error"),
    [
        (("issue",), 2, "cli.usage"),
        (("issue", "absent.md"), 3, "file.read"),
        (("issue", "../home"), 4, "receipt.outside"),
        (("verify", "TX-0001"), 5, "receipt.not_found"),
        (("verify", "nothing"), 5, "receipt.not_found"),
        (("verify", "log.md"), 5, "receipt.not_found"),
        (("show", "first"), 3, "receipt.tx"),
        (("commit",), 5, "release.none"),
        (("recover",), 5, "release.none"),
        (("validate",), 5, "release.none"),
        (("prepare", "--manifest", "log.md"), 3, "release.manifest"),
        (("restart",), 4, "receipt.consent"),
    ],
)
def test_how_errors_end(cli: InPlace, project: Path, arguments: tuple[str, ...], code: int, error: str) -> None:
    result = cli("receipt", *arguments, "--json")
    assert (result.code, result.error["code"]) == (code, error)


def test_a_release(cli: InPlace, project: Path) -> None:
    prepared = cli("receipt", "prepare", "--manifest", "manifest.json", "--response", "answer.txt", *AT)
    assert (prepared.code, prepared.out) == (0, "PREPARED TX-0001\n")
    assert "`segue receipt commit`" in prepared.err
    assert cli("receipt", "issue", "log.md", "--json").error["code"] == "release.pending"
    assert cli("receipt", "commit", *AT).out == "TX-0001\n"
    assert cli("receipt", "validate", "--response", "answer.txt").code == 0
    assert cli("receipt", "validate", "TX-0001", "--response", "log.md").code == 3
    assert cli("receipt", "recover", "--json").json["state"] == "COMMITTED"
    cli.write("manifest.json", MANIFEST | {"tx_id": "TX-002"})
    assert cli("receipt", "prepare", "--manifest", "-", stdin=json.dumps(MANIFEST).encode()).code == 4
    assert cli("receipt", "prepare", "--manifest", "manifest.json").code == 0
    (project / "memory" / "more.md").write_text("more")
    aborted = cli("receipt", "commit")
    assert aborted.code == 3
    assert "memory/ is not as it was when it was prepared" in aborted.err
    assert cli("receipt", "recover").code == 3
    assert len(cli("receipt", "ls", "--json").json["receipts"]) == 1


def test_a_validator_is_named_before_it_runs(cli: InPlace, project: Path) -> None:
    cli.write("segue.toml", b'[continuity]\nvalidator = ["false", "\\u001b[2J"]\n')
    refused = cli("receipt", "issue", "log.md")
    assert refused.code == 3
    assert refused.err.splitlines() == [
        "validator: false \\x1b[2J",
        "segue: the validator said no (exit code 1); no receipt was issued",
    ]
    assert cli("receipt", "prepare", "--manifest", "manifest.json").err.startswith("validator: false")


def test_a_chain_that_begins_anew(cli: InPlace, project: Path) -> None:
    cli("receipt", "issue", "log.md")
    (file,) = (cli.shell.segue_home / "continuity").glob("*/receipts/TX-0001.json")
    file.write_bytes(file.read_bytes().replace(b"log.md", b"LOG.md"))
    assert cli("receipt", "verify", "--json").json["problems"][0]["code"] == "receipt.hash"
    assert cli("receipt", "issue", "log.md").code == 3
    begun = cli("receipt", "restart", "--yes", "--json").json
    assert begun["set_aside"] == str(file.parent.with_name("receipts-aside-1"))
    assert cli("receipt", "issue", "log.md").out == "TX-0002\n"
    assert cli("receipt", "verify").code == 0
