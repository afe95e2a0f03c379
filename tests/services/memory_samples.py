"""A project with a ledger, receipts and a memory store of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

    import segue
    from segue.continuity.receipt import Receipt
    from segue.services.project_memory import ProjectMemory, SavedFact

LEDGER = "PROJECT_STUDY_LOG.md"
BODIES = {
    "feedback": "Why: it was asked for.\nHow to apply: quote each line first.\n",
    "project": "Why: there is none.\nHow to apply: choose small inputs.\n",
    "correction": "Original: the stride is 4\nCanonical: the stride is 2\nStale patterns: stride is 4\nImpact: sizes\n",
    "reference": "Run it after each change of a layer.\n",
}


class Study:
    """The memory of the project that a Segue works in, with what it takes to keep something."""

    def __init__(self, opened: segue.Segue) -> None:
        self.segue = opened
        self.root: Path = opened.directory
        self.ledger = self.root / LEDGER
        self.ledger.write_text("# Log\n\nThe learner asked for lines.\n")

    @property
    def memory(self) -> ProjectMemory:
        return self.segue.continuity.memory

    @property
    def store(self) -> Path:
        return self.root / ".project-study-memory"

    def receipt(self, *names: str) -> Receipt:
        return self.segue.continuity.receipts.issue([self.root / name for name in names or (LEDGER,)])

    def keep(self, name: str, kind: str = "feedback", **members: Any) -> SavedFact:
        """Keep a fact, on a fresh receipt for the ledger unless one is named."""
        given = {
            "description": f"What {name} is about",
            "body": BODIES.get(kind, "x"),
            "sources": [LEDGER],
        } | members
        if "receipt" not in given:
            given["receipt"] = self.receipt(*given["sources"]).tx_id
        return self.memory.upsert(name, kind=kind, **given)

    def candidate(self, text: str = "Correction: the stride is 2, never 4.") -> str:
        """Take a candidate to where it is saved, and return its id."""
        candidates = self.segue.continuity.candidates
        made = candidates.propose(text)
        assert made is not None
        candidates.approve(made.id, made.content_hash)
        with self.ledger.open("a", encoding="utf-8") as ledger:
            ledger.write(f"\n{text}\n")
        return candidates.save(made.id, self.receipt().tx_id).candidate.id

    def held(self) -> dict[str, bytes]:
        """Everything in the project, hidden files and folders too."""
        found = sorted(self.root.rglob("*"))
        return {each.relative_to(self.root).as_posix(): each.read_bytes() if each.is_file() else b"" for each in found}
