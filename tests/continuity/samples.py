"""Candidates in every state, and journals as the reference writes them."""

from __future__ import annotations

import hashlib
import json
from datetime import UTC, datetime
from typing import Any

from hypothesis import strategies as st

from segue.continuity import lifecycle
from segue.continuity.candidate import Candidate, content_hash

NOW = datetime(2026, 5, 4, 9, 30, tzinfo=UTC)
LATER = datetime(2026, 5, 5, 9, 30, tzinfo=UTC)
TEXT = "Correction: the stride is 2, never 4."
HASH = "ab" * 32
TEXTS = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=40).filter(lambda text: text.strip())


def keyed(content: str) -> str:
    """Stands for the store's keyed hash."""
    return hashlib.sha256(b"key" + content.encode()).hexdigest()


def candidates() -> dict[str, Candidate]:
    """One candidate in each state."""
    proposed = lifecycle.propose("M-0001", TEXT, kind="correction", trigger="message", now=NOW)
    approved = lifecycle.approve(proposed, seen_hash=proposed.content_hash, approved_by="user", now=NOW)
    saved = lifecycle.save(approved, release_tx_id="TX-0001", receipt_hash=HASH, memory_id="mem_1", now=NOW)
    stale = lifecycle.retire(saved, reason="replaced by M-0002", now=LATER)
    rejected = lifecycle.reject(proposed, reason="not so", keyed=keyed, now=LATER)
    return {each.status: each for each in (proposed, approved, saved, stale, rejected)}


def foreign(number: int, text: str, **members: Any) -> dict[str, Any]:
    """An entry as the reference writes it (facts 001.1), with its own way to write a time."""
    entry = {
        "schema_version": "6.0",
        "candidate_id": f"M-{number:03}",
        "kind": "feedback",
        "trigger": "message",
        "status": "candidate",
        "content": text,
        "content_hash": content_hash(text),
        "reason": "",
        "created_at": "2026-05-04T09:30:00+00:00",
        "updated_at": "2026-05-04T09:30:00+00:00",
    } | members
    return {name: value for name, value in entry.items() if value is not None}


def journal_file(entries: list[Any], **members: Any) -> bytes:
    """A journal as the reference writes it: indented, with a line break at its end, and the hash of the rest."""
    said = {"schema_version": "6.0", "candidates": entries, "updated_at": "2026-05-04T09:30:00+00:00"} | members
    text = json.dumps(said, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    whole = said | {"journal_hash": hashlib.sha256(text.encode()).hexdigest()}
    return (json.dumps(whole, indent=2, ensure_ascii=False) + "\n").encode()
