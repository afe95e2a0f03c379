"""Stop: claims that something was remembered, which nothing proves."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

import segue
from hosts.hook_samples import Host
from segue.continuity import files

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

CLAIM = "I have saved this to memory."


@pytest.fixture
def host(tmp_path: Path) -> Host:
    return Host(tmp_path, tmp_path / "segue.db")  # it is there for those alone who open it


@pytest.mark.requirement("continuity-claims-hook")
def test_a_claim_is_told_to_the_user(host: Host) -> None:
    said, note = host.calls("stop", last_assistant_message=f"The bug is fixed. {CLAIM}")
    assert not note
    assert said is not None
    assert said.keys() == {"systemMessage"}
    assert f"“{CLAIM}”" in said["systemMessage"]
    assert "The bug is fixed" not in said["systemMessage"]


@pytest.mark.parametrize("message", ["", "Saved config.py and ran the tests.", "Ready for review.", None, 7, ["x"]])
def test_nothing_else_is(host: Host, message: object) -> None:
    assert host.calls("stop", last_assistant_message=message) == (None, "")


@pytest.mark.requirement("continuity-claims-hook")
def test_it_blocks_once(host: Host) -> None:
    said, _ = host.calls("stop", "--block", last_assistant_message=CLAIM)
    assert said is not None
    assert said["decision"] == "block"
    assert CLAIM in said["reason"]
    # It may be true: no receipt of a tool is known here. Nobody is to be told to take a truth back.
    assert "Where a tool of Segue has stored it in this session, nothing is to be changed." in said["reason"]
    again, _ = host.calls("stop", "--block", last_assistant_message=CLAIM, stop_hook_active=True)
    assert again is not None
    assert again.keys() == {"systemMessage"}


def test_a_secret_in_a_claim_is_not_repeated(host: Host) -> None:
    secret = "ghp_" + "a1B2" * 9
    said, _ = host.calls("stop", last_assistant_message=f"I have saved the token {secret} to memory.")
    assert said is not None
    assert secret not in said["systemMessage"]


def test_a_long_answer_is_shown_in_part(host: Host) -> None:
    message = " ".join(f"I have saved point {number} {'x' * 400} to memory." for number in range(2_000))
    said, _ = host.calls("stop", last_assistant_message=message)
    assert said is not None
    assert len(said["systemMessage"]) < 1_000


# -- receipts ---------------------------------------------------------------------------------------------------------


@pytest.fixture
def proven(host: Host, monkeypatch: pytest.MonkeyPatch) -> Iterator[segue.Segue]:
    """A project with a receipt that is bound to the claim and to a file."""
    monkeypatch.setenv("SEGUE_HOME", str(host.folder))  # as the host has it
    (host.folder / "log.md").write_text("A fact.\n", "utf-8")
    with segue.open(host.store, directory=host.folder) as opened:
        opened.continuity.receipts.issue(["log.md"], CLAIM.encode())
        yield opened


def complains(host: Host, message: str = CLAIM) -> bool:
    said, note = host.calls("stop", last_assistant_message=message)
    assert not note
    return said is not None


@pytest.mark.requirement("continuity-claims-hook")
def test_an_answer_that_a_receipt_is_bound_to_is_not_complained_of(host: Host, proven: segue.Segue) -> None:
    assert not complains(host)
    assert not complains(host, f"\n{CLAIM}\n")  # hosts trim answers
    assert host.calls("stop", "--block", last_assistant_message=CLAIM) == (None, "")
    assert complains(host, f"{CLAIM} And your name, too: it is saved to memory.")
    assert complains(host, f"Done. {CLAIM}")
    proven.continuity.receipts.issue(["log.md"], f"Done. {CLAIM}\n".encode())
    assert not complains(host, f"Done. {CLAIM}")


@pytest.mark.requirement("continuity-guard-replay")
def test_a_receipt_that_does_not_hold_is_no_proof(host: Host, proven: segue.Segue) -> None:
    log, folder = host.folder / "log.md", proven.continuity.place.folder / files.RECEIPTS
    log.write_text("Another.\n", "utf-8")
    assert complains(host)
    log.write_text("A fact.\n", "utf-8")
    assert not complains(host)
    path, kept = folder / "TX-0001.json", (folder / "TX-0001.json").read_bytes()
    for broken in (kept.replace(b"log.md", b"lag.md"), b"{", b""):
        path.write_bytes(broken)
        assert complains(host)
    path.write_bytes(kept)
    assert not complains(host)
    (folder / "TX-0002.json").write_bytes(kept)  # nobody issued it
    assert complains(host)
    (folder / "TX-0002.json").unlink()
    proven.continuity.receipts.issue(["log.md"])
    (folder / "TX-0002.json").unlink()  # it was issued
    assert complains(host)


def test_a_receipt_of_another_store_or_project_is_no_proof(host: Host, proven: segue.Segue, tmp_path: Path) -> None:
    assert proven.continuity.receipts.verify().holds
    assert complains(Host(host.folder, tmp_path / "none.db"))
    (tmp_path / "other").mkdir()
    said, _ = host.calls("stop", last_assistant_message=CLAIM, cwd=str(tmp_path / "other"))
    assert said is not None
    assert host.calls("stop", last_assistant_message=CLAIM, cwd=None)[0] is not None


def test_receipts_are_read_by_the_standard_library() -> None:
    heavy = {"sqlalchemy", "numpy", "pydantic", "typer", "rich", "fastapi", "mcp", "alembic", "psycopg", "filelock"}
    code = f"import sys, segue.hosts.receipt_rows, segue.app; print(*sorted({heavy!r} & set(sys.modules)))"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.split() == []
