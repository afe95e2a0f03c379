"""The commands of a project's memory store: what they print, and their exit codes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from pathlib import Path

    from cli.shell import InPlace, Result

LEDGER = "PROJECT_STUDY_LOG.md"
QUESTION = "是否启用当前项目的连续性记忆？"
BODY = b"Why: it was asked for.\nHow to apply: quote each line.\n"
STRIDE = b"Original: the stride is 4\nCanonical: the stride is 2\nStale patterns: stride is 4\nImpact: sizes\n"
NOW = ("--now", "2026-05-04T09:30:00Z")


@pytest.fixture
def project(cli: InPlace) -> Path:
    (cli.shell.project / LEDGER).write_text("# Log\n\nThe stride is 4.\n")
    return cli.shell.project


@pytest.fixture
def study(cli: InPlace, project: Path) -> InPlace:
    """A project with an empty store, and TX-0001 for its ledger."""
    assert cli("continuity", "init", "--user-consent").code == 0
    assert cli("receipt", "issue", LEDGER).out.strip() == "TX-0001"
    return cli


def upsert(cli: InPlace, name: str, *more: str, kind: str = "feedback", body: bytes = BODY) -> Result:
    given = ("--kind", kind, "--description", f"About {name}", "--body-file", "-")
    proof = ("--receipt", "TX-0001", "--source", LEDGER)
    return cli("continuity", "upsert", name, *given, *proof, *NOW, *more, stdin=body)


@pytest.mark.requirement("continuity-store-consent")
def test_the_user_is_asked_in_two_languages_and_nothing_is_made(cli: InPlace, project: Path) -> None:
    asked = cli("continuity", "init")
    assert (asked.code, asked.out) == (4, "")
    assert QUESTION in asked.err
    assert "Shall this project have a continuity memory?" in asked.err
    assert "memory-consent-pending" in asked.err
    said = cli("continuity", "init", "--json")
    assert said.code == 4
    assert said.json["error"]["details"]["memory_status"] == "memory-consent-pending"
    assert said.json["error"]["details"]["question"]["zh"].startswith(QUESTION)
    declined = cli("continuity", "init", "--no-user-consent", "--json")
    assert (declined.code, declined.json) == (0, {"memory_status": "disabled"})
    assert "disabled" in cli("continuity", "init", "--no-user-consent").out
    for command in (("doctor",), ("sync",), ("ls",), ("recall",), ("drift",), ("compact",), ("show", "x")):
        assert cli("continuity", *command).code == 4, command
    assert cli("continuity", "doctor", "--json").json["memory_status"] == "memory-consent-pending"
    assert [each.name for each in project.iterdir()] == [LEDGER]


@pytest.mark.requirement("continuity-store-not-remade")
def test_made_once(cli: InPlace, project: Path) -> None:
    made = cli("continuity", "init", "--user-consent", "--json")
    assert (made.code, made.json) == (0, {"memory_status": "initialized"})
    assert cli("continuity", "doctor").out.startswith("in order: 0 facts, 0 archived; the index has ")
    again = cli("continuity", "init", "--user-consent")
    assert again.code == 4
    assert "not made anew" in again.err
    (project / ".project-study-memory" / "MEMORY.md").write_text("- x\n")
    broken = cli("continuity", "init", "--user-consent", "--json")
    assert broken.code == 3
    assert {each["code"] for each in broken.json["error"]["details"]["faults"]} == {"index.title", "index.item"}


@pytest.mark.requirement("continuity-store-upsert")
def test_kept_listed_shown_and_recalled(study: InPlace) -> None:
    kept = upsert(study, "line-by-line", "--json")
    assert kept.code == 0
    assert kept.json["memory_status"] == "saved"
    assert kept.json["action"] == "added"
    assert kept.json["created_at"] == "2026-05-04T09:30:00Z"
    assert set(kept.json["hashes"]) == {f".project-study-memory/{name}.md" for name in ("MEMORY", "line-by-line")}
    assert upsert(study, "line-by-line").out == "updated MEM-001 line-by-line\n"
    listed = study("continuity", "ls")
    assert "MEM-001" in listed.out
    assert "unchanged" in listed.out
    shown = study("continuity", "show", "MEM-001")
    assert "│ Why: it was asked for." in shown.out
    assert study("continuity", "show", "MEM-001", "--json").json["body"] == BODY.decode().strip()
    recalled = study("continuity", "recall", "--for", "how do we quote lines?")
    assert recalled.code == 0
    assert "[About line-by-line](line-by-line.md)" in recalled.out
    assert "How to apply: quote each line." in recalled.out
    assert study("continuity", "recall", "--json").json["facts"] == []


@pytest.mark.requirement("continuity-store-whole")
@pytest.mark.parametrize(
    ("changed", "code"),
    [
        ({"body": b"no labels"}, 3),
        ({"more": ("--receipt", "TX-0009")}, 5),
        ({"ledger": "another\n"}, 4),
        ({"name": "No"}, 3),
    ],
)
def test_what_was_not_kept_says_so(study: InPlace, project: Path, changed: dict[str, Any], code: int) -> None:
    before = {each: each.read_bytes() for each in project.rglob("*.md") if each.name != LEDGER}
    if "ledger" in changed:
        (project / LEDGER).write_text(changed["ledger"])
    given = (changed.get("name", "lines"), *changed.get("more", ()))
    said = upsert(study, *given, "--json", body=changed.get("body", BODY))
    assert said.code == code
    assert said.json["memory_status"] == "unsaved-memory"
    assert said.json["error"]["code"]
    told = upsert(study, *given, body=changed.get("body", BODY))
    assert told.code == code
    assert "unsaved-memory: " in told.err
    assert {each: each.read_bytes() for each in project.rglob("*.md") if each.name != LEDGER} == before


@pytest.mark.requirement("continuity-store-whole")
@pytest.mark.parametrize(
    "command",
    [
        ("archive", "nope", "--reason", "x"),
        ("archive", "lines", "--reason", " "),
        ("rekind", "lines", "wish"),
        ("rekind", "lines", "correction"),
        (
            "upsert",
            "more",
            "--kind=reference",
            "--description=d",
            "--body-file=gone.md",
            "--receipt=TX-0001",
            f"--source={LEDGER}",
        ),
        (
            "upsert",
            "more",
            "--kind=reference",
            "--description=d",
            "--body-file=raw.md",
            "--receipt=TX-0001",
            f"--source={LEDGER}",
        ),
    ],
)
def test_every_change_that_fails_is_a_receipt_too(study: InPlace, project: Path, command: tuple[str, ...]) -> None:
    (project / "raw.md").write_bytes(b"\xff")
    upsert(study, "lines")
    before = {each: each.read_bytes() for each in project.rglob("*.md")}
    said = study("continuity", *command, "--json")
    assert said.code in (3, 5)
    assert said.json["memory_status"] == "unsaved-memory"
    assert set(said.json["error"]) == {"code", "message", "details"}
    assert {each: each.read_bytes() for each in project.rglob("*.md")} == before


@pytest.mark.requirement("continuity-store-drift")
def test_drift_is_a_finding(study: InPlace, project: Path) -> None:
    upsert(study, "conv-stride", kind="correction", body=STRIDE)
    found = study("continuity", "drift")
    assert found.code == 3
    assert found.out == f"{LEDGER}:3: MEM-001 conv-stride: stride is 4; what holds: the stride is 2\n"
    assert study("continuity", "drift", "--json").json["drift"][0]["line"] == 3
    (project / LEDGER).write_text("# Log\n\nThe stride is 2.\n")
    mended = study("continuity", "drift")
    assert (mended.code, mended.out) == (0, "")
    assert "its source has changed since TX-0001" in study("continuity", "recall").out


@pytest.mark.requirement("continuity-store-tidy")
def test_sorted_out(study: InPlace) -> None:
    said = "Correction: lines are quoted, never told."
    made = study("continuity", "propose", said, "--json").json["candidate"]
    study("continuity", "approve", "M-0001", "--hash", made["content_hash"])
    study.write(LEDGER, said.encode())
    assert study("receipt", "issue", LEDGER).out.strip() == "TX-0002"
    assert study("continuity", "save", "M-0001", "--receipt", "TX-0002").code == 0
    assert upsert(study, "lines", "--receipt", "TX-0002", "--candidate", "M-0001").code == 0
    assert upsert(study, "lines-again", "--receipt", "TX-0002").code == 0
    assert study("continuity", "rekind", "lines", "project").out == "moved MEM-001 lines\n"
    assert study("continuity", "rekind", "lines", "feedback").code == 0
    deduped = study("continuity", "dedupe")
    assert (deduped.code, "archived lines-again" in deduped.err) == (0, True)
    assert study("continuity", "compact", "--json").json["changed"] is False
    synced = study("continuity", "sync", "--json").json
    assert (synced["memory_status"], synced["cold_start"]) == ("enabled", True)
    assert study("continuity", "archive", "M-0001", "--reason", "no more").out == "archived MEM-001 lines\n"
    assert study("continuity", "archive", "lines", "--reason", "no more").code == 5
    assert [each["name"] for each in study("continuity", "ls", "--archive", "--json").json["facts"]] == [
        "lines",
        "lines-again",
    ]


@pytest.mark.requirement("continuity-store-doctor")
@pytest.mark.requirement("continuity-store-caps")
def test_findings_and_what_mends_them(study: InPlace, project: Path) -> None:
    upsert(study, "lines")
    index = project / ".project-study-memory" / "MEMORY.md"
    text = index.read_text()
    index.write_text(text + "\n" * 160)
    soft = study("continuity", "doctor")
    assert soft.code == 3
    assert "warning index.soft_cap" in soft.err
    assert study("continuity", "doctor", "--allow-soft-over").code == 0
    assert upsert(study, "more").code == 0
    assert study("continuity", "compact").code == 0
    assert study("continuity", "doctor").code == 0
    index.write_text(text.replace("- [About lines]", "* [About lines]"))
    found = study("continuity", "doctor", "--json")
    assert found.code == 3
    assert found.json["valid"] is False
    assert {"code", "severity", "file", "line", "message", "mend"} == found.json["faults"][0].keys()
    assert study("continuity", "recall").code == 3
