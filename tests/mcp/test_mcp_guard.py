"""guard: what an agent is about to say, judged by the receipts of the project that it works in."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from agent import Place, Start, opened

if TYPE_CHECKING:
    from agent import Wire

pytest_plugins = ["mcp_fixtures"]

CLAIM = "The bug is fixed. Your preference has been recorded."


def test_a_text_that_claims_nothing_passes(where: Place, wire: Wire) -> None:
    answer = wire.call("guard", text="All tests pass; nothing was saved to memory.")
    assert answer.data == {"verdict": "passes", "claims": 0, "receipt": None, "refused": []}
    assert answer.text == "passes: it claims nothing"
    assert not (where.segue_home / "continuity").exists()


@pytest.mark.requirement("continuity-guard")
def test_a_claim_passes_by_a_receipt_alone(where: Place, start: Start, monkeypatch: pytest.MonkeyPatch) -> None:
    wire = start("--read-only")  # it reads and no more
    wire.start()
    answer = wire.call("guard", text=CLAIM)
    assert answer.data is not None
    (refused,) = answer.data["refused"]
    assert (answer.data["verdict"], answer.data["claims"], answer.data["receipt"]) == ("refused", 1, None)
    assert refused["sentence"] == "Your preference has been recorded."
    assert (refused["subject"], refused["why"]) == ("memory", "no receipt is bound to this text")
    assert "refused: 1 of what it says has no proof" in answer.text
    assert refused["sentence"] in answer.text

    monkeypatch.setenv("SEGUE_HOME", str(where.segue_home))
    (where.project / "PROJECT_STUDY_LOG.md").write_text("A fact.\n", "utf-8")
    with opened(where) as store:
        store.continuity.receipts.issue(["PROJECT_STUDY_LOG.md"], CLAIM.encode())
    for given in ({}, {"receipt": "TX-0001"}):
        proven = wire.call("guard", text=CLAIM, **given)
        assert proven.data == {"verdict": "passes", "claims": 1, "receipt": "TX-0001", "refused": []}
    replayed = wire.call("guard", text=f"{CLAIM} So was another.", receipt="TX-0001")
    assert replayed.data is not None
    assert "TX-0001 is bound to another text" in replayed.text
    (where.root / "other").mkdir()
    elsewhere = wire.call("guard", text=CLAIM, directory=str(where.root / "other"))
    assert elsewhere.text.startswith("refused: ")


def test_what_is_long_is_answered_in_part(wire: Wire) -> None:
    text = "\n\n".join(f"I have saved point {number} to memory." for number in range(800))
    answer = wire.call("guard", text=text)
    assert answer.data is not None
    assert answer.data["claims"] == 800
    assert 0 < len(answer.data["refused"]) < 800
    assert "more" in answer.text.splitlines()[-1]
    assert len(answer.text) < 48_000


def test_what_it_does_not_take(wire: Wire) -> None:
    for receipt in ("TX-", "../../etc/passwd", "TX-0001.json"):
        assert "argument 'receipt' is not valid" in wire.refusal("guard", text=CLAIM, receipt=receipt)
    assert "argument 'text' is not valid" in wire.refusal("guard", text="x" * 40_001)
