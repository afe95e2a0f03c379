"""guard: what it prints, and how it ends."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from cli.test_receipts import MANIFEST, project

if TYPE_CHECKING:
    from pathlib import Path

    from cli.shell import InPlace

__all__ = ["project"]

CLAIM = "The bug is fixed. I've saved your preference to memory.\n"


@pytest.mark.requirement("continuity-guard")
def test_a_claim_is_refused_until_a_receipt_proves_it(cli: InPlace) -> None:
    cli.write("answer.txt", CLAIM.encode())
    cli.write("log.md", b"A fact.\n")
    refused = cli("guard", "answer.txt")
    assert (refused.code, refused.out) == (4, "refused: 1 claim without proof\n")
    assert refused.err == (
        "“I've saved your preference to memory.”\n"
        "  no receipt is bound to this text; it needs a receipt bound to this very text: "
        "`segue receipt issue FILE… --response REPLY.txt`\n"
    )
    assert cli("receipt", "issue", "log.md", "--response", "answer.txt").code == 0
    passed = cli("guard", "answer.txt")
    assert (passed.code, passed.out, passed.err) == (0, "passes: 1 claim, proven by TX-0001\n", "")
    assert cli("guard", "answer.txt", "--receipt", "TX-0001").code == 0
    cli.write("other.txt", CLAIM.encode() + b"All is validated.\n")
    replayed = cli("guard", "other.txt", "--receipt", "TX-0001", "--json")
    assert replayed.code == 4
    assert replayed.json["receipt"] == "TX-0001"
    assert {each["why"] for each in replayed.json["refused"]} == {"TX-0001 is bound to another text"}
    cli.write("copy.json", cli("receipt", "show", "TX-0001", "--json").stdout)
    assert cli("guard", "answer.txt", "--receipt", "copy.json").code == 0
    cli.write("log.md", b"Another fact.\n")
    assert "log.md was changed after TX-0001" in cli("guard", "answer.txt").err


def test_what_claims_nothing_needs_no_store(cli: InPlace) -> None:
    cli.write("answer.txt", "Nothing was saved. 尚未保存。 Shall I save it?".encode())
    passed = cli("guard", "answer.txt")
    assert (passed.code, passed.out, passed.err) == (0, "passes\n", "")
    assert cli("guard", "answer.txt", "--receipt", "TX-0001", "--json").json == {
        "verdict": "passes",
        "claims": 0,
        "receipt": None,
        "refused": [],
    }
    assert not (cli.shell.home / "segue").exists()


def test_the_ledgers_are_the_projects_own(cli: InPlace) -> None:
    cli.write("answer.txt", b"Your correction is recorded in docs/decisions.md.")
    assert cli("guard", "answer.txt").code == 0
    cli.write("segue.toml", b'[continuity]\nledgers = ["docs/decisions.md"]\n')
    refused = cli("guard", "answer.txt")
    assert refused.code == 4
    assert "a receipt for docs/decisions.md" in refused.err
    (cli.shell.project / "docs").mkdir()
    cli.write("docs/decisions.md", b"A correction.\n")
    assert cli("receipt", "issue", "docs/decisions.md").code == 0
    assert cli("guard", "answer.txt", "--receipt", "TX-0001").out == "passes: 1 claim, proven by TX-0001\n"


def test_bytes_that_are_no_text_are_judged_all_the_same(cli: InPlace) -> None:
    cli.write("answer.txt", b"\xff\xfe It is saved to memory. \x1b[31m\n")
    refused = cli("guard", "answer.txt")
    assert refused.code == 4
    assert "\x1b" not in refused.err
    assert cli("receipt", "issue", "--response", "answer.txt").code == 0
    assert cli("guard", "answer.txt").code == 0


@pytest.mark.requirement("continuity-guard")
@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-be", "utf-32", "gb18030"])
def test_what_cannot_be_read_does_not_pass(cli: InPlace, encoding: str) -> None:
    cli.write("answer.txt", "记忆已保存。".encode(encoding))
    refused = cli("guard", "answer.txt", "--json")
    assert refused.code in (3, 4)
    if refused.code == 3:
        assert refused.error["code"] == "file.encoding"


def test_what_is_not_there(cli: InPlace) -> None:
    absent = cli("guard", "absent.txt", "--json")
    assert (absent.code, absent.error["code"]) == (3, "file.read")


@pytest.mark.requirement("continuity-guard")
def test_a_release_proves_its_answer(cli: InPlace, project: Path) -> None:
    cli.write("answer.txt", "正式文档已生成。 readiness_status: ready\n".encode())
    assert cli("guard", "answer.txt").code == 4
    cli.write("manifest.json", MANIFEST)
    assert cli("receipt", "prepare", "--manifest", "manifest.json", "--response", "answer.txt").code == 0
    assert cli("guard", "answer.txt").code == 4  # it is not committed
    assert cli("receipt", "commit").code == 0
    assert cli("guard", "answer.txt").out == "passes: 2 claims, proven by TX-0001\n"
    (project / "guide.md").write_text("changed", "utf-8")
    assert cli("guard", "answer.txt").code == 4


@pytest.mark.requirement("continuity-guard")
def test_a_text_is_judged_whole_or_not_at_all(cli: InPlace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("segue.cli.arguments._MAX_INPUT", len(CLAIM))
    assert cli("receipt", "issue", "--response", "-", stdin=CLAIM.encode()).code == 0
    assert cli("guard", "-", stdin=CLAIM.encode()).code == 0
    cli.write("answer.txt", CLAIM.encode() + b"x")
    for given, stdin in (("-", CLAIM.encode() + b"x"), ("answer.txt", b"")):
        for command in (("guard", given), ("receipt", "issue", "--response", given)):
            refused = cli(*command, "--json", stdin=stdin)
            assert (refused.code, refused.error["code"]) == (3, "file.size")
