"""continuity propose to retire, and candidates in review: what is printed, and how the commands end."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

import segue
from cli.test_reviewing import HOSTILE, PROMPT, RAW
from continuity.samples import journal_file

if TYPE_CHECKING:
    from cli.shell import InPlace, Result, Shell

TEXT = "Correction: the stride is 2, never 4."
RULE = "Name the layer before you explain it."
AT = ("--now", "2026-05-04T09:30:00Z")


def propose(cli: InPlace, text: str = TEXT, *options: str) -> str:
    """Propose a text and return its hash."""
    made = cli("continuity", "propose", text, *options, "--json", *AT)
    assert made.code == 0, made.out
    return str(made.json["candidate"]["content_hash"])


def receipt(cli: InPlace, text: str = TEXT) -> None:
    cli.write("PROJECT_STUDY_LOG.md", text.encode())
    assert cli("receipt", "issue", "PROJECT_STUDY_LOG.md").code == 0


def states(shell: Shell) -> dict[str, str]:
    with segue.open(shell.segue_home / "segue.db", directory=shell.project) as opened:
        return {each.id: each.status for each in opened.continuity.candidates.ls()}


def error(result: Result) -> tuple[int, str]:
    return result.code, result.error["code"]


@pytest.fixture(autouse=True)
def _home(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SEGUE_HOME", str(shell.segue_home))


@pytest.mark.requirement("continuity-lifecycle")
def test_from_proposal_to_stale(cli: InPlace) -> None:
    made = cli("continuity", "propose", TEXT, *AT)
    assert (made.code, made.out) == (0, "M-0001\n")
    first, second = made.err.splitlines()
    assert first == ("correction, waits for approval: `segue review`, or `segue continuity approve M-0001 --hash HASH`")
    content_hash = second.removeprefix("hash: ")
    approved = cli("continuity", "approve", "M-0001", "--hash", content_hash, *AT)
    assert approved.out == "approved M-0001\n"
    assert "`segue continuity save M-0001 --receipt TX`" in approved.err
    receipt(cli)
    saved = cli("continuity", "save", "M-0001", "--receipt", "TX-0001", "--json", *AT).json
    assert saved["candidate"]["release_tx_id"] == "TX-0001"
    shown = cli("memories", "show", saved["memory"], "--json").json
    assert (shown["status"], shown["provenance"]["receipt"]) == ("active", "TX-0001")
    assert cli("continuity", "retire", "M-0001", "--reason", "it is 3", *AT).out == "stale M-0001\n"
    assert cli("memories", "show", saved["memory"], "--json").json["status"] == "retired"
    listed = cli("continuity", "candidates").lines
    assert listed[0].split() == ["ID", "STATUS", "KIND", "SINCE", "CONTENT"]
    assert listed[1].split(None, 4) == ["M-0001", "stale", "correction", "2026-05-04", TEXT]


def test_nobody_says_that_it_is_remembered_before_it_is(cli: InPlace) -> None:
    content_hash = propose(cli)
    told = [
        cli("continuity", "candidates"),
        cli("review"),
        cli("continuity", "approve", "M-1", "--hash", content_hash),
        cli("continuity", "propose", RULE, "--trigger", "step_complete"),
    ]
    for word in ("remembered", "saved", "stored", "recorded"):
        assert all(word not in (each.out + each.err).lower() for each in told)


@pytest.mark.requirement("continuity-classifier")
def test_what_makes_no_candidate(cli: InPlace) -> None:
    none = cli("continuity", "propose", "What is the stride?")
    assert (none.code, none.out) == (0, "")
    assert none.err == "no candidate: it teaches nothing that is meant to last; nothing was kept\n"
    assert cli("continuity", "propose", "-", "--json", stdin=b"Thanks!").json == {"candidate": None}
    assert cli("continuity", "candidates").err == "no candidates\n"
    refused = cli("continuity", "propose", "Remember: all 12 tests pass.", "--json")
    assert error(refused) == (4, "continuity.not_kept")
    assert refused.error["details"] == {"reason": "test_count"}
    assert error(cli("continuity", "propose", "Remember AKIA" + "QWERTYUIOPASDFGH", "--json")) == (
        4,
        "continuity.secret",
    )
    assert error(cli("continuity", "propose", TEXT, "--trigger", "later", "--json")) == (3, "continuity.trigger")
    assert error(cli("continuity", "propose", TEXT, "--kind", "opinion", "--json")) == (3, "continuity.candidate")


def test_how_commands_end(cli: InPlace) -> None:
    content_hash = propose(cli)
    assert error(cli("continuity", "propose", TEXT, "--json")) == (4, "continuity.duplicate")
    assert error(cli("continuity", "approve", "M-2", "--hash", content_hash, "--json")) == (5, "continuity.not_found")
    assert error(cli("continuity", "approve", "M-1", "--hash", "0" * 64, "--json")) == (4, "continuity.changed")
    assert error(cli("continuity", "approve", "M-1", "--hash", "0", "--json")) == (3, "continuity.candidate")
    assert error(cli("continuity", "save", "M-1", "--receipt", "TX-0001", "--json")) == (4, "continuity.transition")
    assert error(cli("continuity", "retire", "M-1", "--reason", "x", "--json")) == (4, "continuity.transition")
    assert error(cli("continuity", "reject", "M-1", "--reason", TEXT, "--json")) == (3, "continuity.candidate")
    assert error(cli("continuity", "candidates", "--status", "lost", "--json")) == (3, "continuity.status")
    assert cli("continuity", "approve", "M-1", "--json").code == 2
    assert cli("continuity", "reject", "M-1", "--json").code == 2
    rejected = cli("continuity", "reject", "M-1", "--reason", "not so", "--json", *AT).json["candidate"]
    assert rejected == {
        "candidate_id": "M-0001",
        "status": "rejected",
        "content_hash": rejected["content_hash"],
        "rejected_at": "2026-05-04T09:30:00Z",
        "reason": "not so",
    }
    assert cli("continuity", "candidates", "--status", "rejected").lines[1].endswith("(gone: not so)")
    assert cli("continuity", "candidates", "--status", "saved", "--json").json == {"candidates": []}
    assert error(cli("continuity", "propose", TEXT, "--json")) == (4, "continuity.rejected")
    assert cli("continuity", "propose", TEXT, "--again").out == "M-0002\n"


@pytest.mark.requirement("continuity-forgotten")
def test_whoever_wants_a_text_to_be_gone_is_told_where_it_is(cli: InPlace) -> None:
    content_hash = propose(cli)
    cli("continuity", "approve", "M-1", "--hash", content_hash)
    receipt(cli)
    memory = cli("continuity", "save", "M-1", "--receipt", "TX-0001", "--json").json["memory"]
    forgotten = cli("forget", memory)
    assert "in that project `segue continuity forget M-0001` takes it out" in forgotten.err
    assert cli("continuity", "forget", "M-1").out == "forgotten M-0001\n"
    assert "(gone: forgotten)" in cli("continuity", "candidates").lines[1]
    assert cli("continuity", "forget", "M-1", "--json").json["still_in"] == []


@pytest.mark.requirement("continuity-rejected")
def test_a_handoff_that_quotes_what_is_rejected_is_named(cli: InPlace) -> None:
    propose(cli)
    propose(cli, RULE, "--trigger", "step_complete")
    quoting = {"recent_corrections": [TEXT], "open_questions": [RULE], "unique_next_action": "Go on."}
    places = dict.fromkeys(("current_step", "current_run", "current_node", "continuation_node"))
    names = ("completed_nodes", "pending_user_intents", "retest_due_questions", "evidence_ids")
    state: dict[str, Any] = {**places, **{name: [] for name in names}, **quoting}
    cli.write("state.json", json.dumps(state).encode())
    path = cli("handoff", "create", "--state", "state.json", "--json").json["path"]
    told = cli("review", "--reject", "M-2")
    assert path in told.err and "remove that file" in told.err
    assert cli("continuity", "reject", "M-1", "--reason", "not so", "--json").json["still_in"] == [path]


def test_a_journal_that_somebody_wrote_moves_no_terminal(cli: InPlace, shell: Shell) -> None:
    propose(cli)
    (path,) = shell.segue_home.glob("continuity/*/journal.json")
    entry = json.loads(path.read_bytes())["candidates"][0]
    path.write_bytes(journal_file([entry | dict.fromkeys(("created_at", "updated_at"), "\x1b[2J\x1b]0;me\x07")]))
    for command in (("continuity", "candidates"), ("review",)):
        shown = cli(*command)
        assert shown.code == 0
        assert not [char for char in shown.out if ord(char) < 32 and char != "\n"]


@pytest.mark.requirement("continuity-review")
def test_review_lists_and_decides(cli: InPlace) -> None:
    first, second = propose(cli), propose(cli, RULE, "--trigger", "step_complete")
    cli("propose", "Ada prefers rye.")
    assert "Memories: 0, 3 to review (`segue review`)" in cli("status").lines
    lines = cli("review").lines
    assert lines[:3] == [
        "M-0001  candidate of kind correction, from a message, proposed 2026-05-04, project project",
        f"│ {TEXT}",
        f"  hash: {first}",
    ]
    assert lines[4] == "M-0002  candidate of kind project, from a completed step, proposed 2026-05-04, project project"
    shown = cli("review", "--json").json
    assert shown["waiting"] == 3
    assert [each["content_hash"] for each in shown["candidates"]] == [first, second]
    approved = cli("review", "--approve", "M-0001", "--hash", f"sha256:{first}", "--json")
    assert approved.json == {"id": "M-0001", "verdict": "approved"}
    assert error(cli("review", "--approve", "m-2", "--hash", first, "--json")) == (4, "continuity.changed")
    assert cli("review", "--reject", "m-2", "--reason", "too narrow").out == "rejected M-0002\n"
    assert states(cli.shell) == {"M-0001": "approved", "M-0002": "rejected"}
    shown = cli("review", "--json").json
    assert (shown["waiting"], shown["candidates"], len(shown["memories"])) == (1, [], 1)


def test_a_candidate_is_shown_whole_whatever_became_of_it(cli: InPlace) -> None:
    content_hash = propose(cli)
    shown = cli("continuity", "show", "M-0001")
    assert (shown.code, shown.lines[0], shown.lines[-1]) == (0, "M-0001 (candidate)", f"│ {TEXT}")
    assert f"  hash: {content_hash}" in shown.lines
    assert cli("continuity", "show", "M-0001", "--json").json["candidate"]["content"] == TEXT
    cli("continuity", "reject", "M-0001", "--reason", "too narrow")
    after = cli("continuity", "show", "M-0001")
    assert "  reason: too narrow" in after.lines and TEXT not in after.out
    assert error(cli("continuity", "show", "M-0002", "--json")) == (5, "continuity.not_found")
    assert error(cli("continuity", "show", "no-fact", "--json")) == (4, "memory.consent_pending")


@pytest.mark.requirement("continuity-review")
def test_review_key_by_key(shell: Shell, cli: InPlace) -> None:
    for number in range(1, 5):
        propose(cli, f"From now on keep to rule {number}.")
    cli("propose", "Ada prefers rye.")
    result = shell.terminal("review", answers=tuple((PROMPT, key) for key in (b"a", b"r", b"s", b"a", b"r")))
    assert result.code == 0, result.out
    assert states(shell) == {"M-0001": "approved", "M-0002": "rejected", "M-0003": "candidate", "M-0004": "approved"}
    assert "1 of 5" in result.out
    assert "2 approved, 2 rejected, 1 skipped, 1 left" in result.out
    assert result.out.count("segue continuity save") == 1
    assert cli("memories", "ls", "--json").json["memories"] == []
    left = shell.terminal("review", answers=((PROMPT, b"q"),))
    assert "From now on keep to rule 3." in left.out
    assert states(shell)["M-0003"] == "candidate"


def test_nothing_in_a_candidate_acts_on_the_terminal(shell: Shell, cli: InPlace) -> None:
    propose(cli, HOSTILE, "--trigger", "step_complete")
    result = shell.terminal("review", answers=((PROMPT, b"q"),))
    listed, table = cli("review"), cli("continuity", "candidates")
    for each in (result, listed, table):
        assert each.code == 0
        assert RAW.findall((each.out + each.err).replace("\r\n", "\n")) == []
    assert [line for line in listed.lines if line.startswith(("hash:", "[a]pprove"))] == []


def test_a_journal_that_cannot_be_used_keeps_nobody_from_the_rest(cli: InPlace) -> None:
    propose(cli)
    cli("propose", "Ada prefers rye.")
    (journal,) = cli.shell.segue_home.glob("continuity/*/journal.json")
    journal.write_bytes(b"{}")
    result = cli("review")
    assert result.code == 0
    assert "│ Ada prefers rye." in result.lines
    assert "the journal of candidates cannot be used" in result.err
    assert error(cli("continuity", "candidates", "--json")) == (3, "continuity.journal")
