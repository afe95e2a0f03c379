"""handoff: what the commands print, and how they end."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from cli.shell import InPlace

AT = ("--now", "2026-05-04T09:30:00Z")
LOG = "PROJECT_STUDY_LOG.md"
STATE: dict[str, Any] = {
    "current_step": "STEP-3",
    "current_run": "RUN-002",
    "current_node": "NODE-012",
    "continuation_node": None,
    "completed_nodes": ["NODE-010"],
    "open_questions": ["Why?\x1b[2J"],
    "pending_user_intents": [],
    "retest_due_questions": [],
    "recent_corrections": [{"was": "a", "is": "b"}],
    "evidence_ids": [],
    "unique_next_action": "Explain NODE-012.",
}


@pytest.fixture
def project(cli: InPlace) -> Path:
    cli.write(LOG, b"# Log\n")
    cli.write("state.json", STATE | {"note": "left out"})
    return cli.shell.project


def test_create_and_restore(cli: InPlace, project: Path) -> None:
    made = cli("handoff", "create", "--state", "state.json", "--out", "out.json", *AT)
    assert made.code == 0
    assert made.err == "next: Explain NODE-012.\nleft out, no key of a handoff: note\n"
    envelope = json.loads((project / "out.json").read_bytes())
    assert json.loads(Path(made.out.strip()).read_bytes()) == envelope
    restored = cli("handoff", "restore")
    assert (restored.code, restored.lines[0]) == (0, "ready: made 2026-05-04T09:30:00Z")
    assert r'  open_questions: ["Why?\u001b[2J"]' in restored.lines
    assert "  continuation_node: -" in restored.lines
    assert cli("handoff", "restore", "-", "--json", stdin=json.dumps(envelope).encode()).json == {
        "status": "ready",
        "state": STATE,
        "mismatched_artifacts": [],
        "memory_candidates": [],
    }
    (project / LOG).write_text("changed")
    refused = cli("handoff", "restore", "out.json")
    assert (refused.code, refused.out) == (3, "REPAIR_REQUIRED: handoff artifact hash mismatch\n")
    assert refused.err.startswith(f"  {LOG}\n`segue handoff create --state FILE`")
    assert cli("handoff", "restore", "--json").json == {
        "status": "REPAIR_REQUIRED",
        "reason": "handoff artifact hash mismatch",
        "mismatched_artifacts": [LOG],
    }


def test_an_older_one(cli: InPlace, project: Path) -> None:
    cli("handoff", "create", "--state", "state.json", "--out", "first.json", *AT)
    made = cli("handoff", "create", "--state", "-", "--json", stdin=json.dumps(STATE).encode()).json
    assert made["dropped"] == []
    assert made["sync"]["memory_status"] == "memory-consent-pending"
    refused = cli("handoff", "restore", "first.json", "--json")
    assert (refused.code, refused.json["newer"]["created_at"]) == (3, made["handoff"]["created_at"])
    assert cli("handoff", "restore", "first.json", "--older").code == 0


@pytest.mark.parametrize(
    ("arguments", "code", "error"),
    [
        (("create", "--state", LOG), 3, "handoff.state"),
        (("create", "--state", "absent.json"), 3, "file.read"),
        (("create",), 2, "cli.usage"),
        (("restore", "absent.json"), 3, "file.read"),
        (("to-packet",), 5, "handoff.none"),
        (("to-packet", "state.json"), 3, "handoff.invalid"),
        (("from-packet",), 5, "packet.none"),
    ],
)
def test_how_errors_end(cli: InPlace, project: Path, arguments: tuple[str, ...], code: int, error: str) -> None:
    result = cli("handoff", *arguments, "--json")
    assert (result.code, result.error["code"]) == (code, error)


def test_prose_is_no_handoff(cli: InPlace, project: Path) -> None:
    result = cli("handoff", "restore", LOG)
    assert (result.code, result.out.startswith("REPAIR_REQUIRED: unreadable handoff")) == (3, True)


@pytest.mark.requirement("continuity-handoff-packet")
def test_to_a_packet_and_back(cli: InPlace, project: Path) -> None:
    cli("handoff", "create", "--state", "state.json", *AT)
    shown = cli("handoff", "to-packet", "--save")
    assert shown.code == 0
    packet = json.loads(shown.out)
    assert (packet["goal"], packet["next_step"]) == ("STEP-3", "Explain NODE-012.")
    assert packet["project"]["name"] == "project"
    assert f"no place: artifact_hashes: {LOG}" in shown.err
    assert cli.ids() == [packet["id"]]
    back = cli("handoff", "from-packet", packet["id"], "--json")
    state = back.json["handoff"]["state"]
    assert {name: state[name] for name in ("current_run", "completed_nodes", "unique_next_action")} == {
        "current_run": "RUN-002",
        "completed_nodes": ["NODE-010"],
        "unique_next_action": "Explain NODE-012.",
    }
    assert cli("handoff", "restore", "--json").json["state"] == state
    assert cli("handoff", "from-packet").code == 0
    key = "AKIA" + "ABCDEFGHIJKLMNOP"
    cli.write("secret.json", STATE | {"unique_next_action": f"Use {key}."})
    refused = cli("handoff", "create", "--state", "secret.json")
    assert (refused.code, f"unique_next_action/aws-key: {key}" in refused.err) == (4, True)
