"""Packets and capsules to convert: at random, and as large as they may be."""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hypothesis import strategies as st

from segue.packets.model import Packet

if TYPE_CHECKING:
    from segue.capsules import Capsule

SCHEMA_LISTS = {
    "success_criteria": 16, "constraints": 32, "decisions": 64, "methods": 32, "attempts": 64, "open_questions": 32,
}  # fmt: skip

capsules: st.SearchStrategy[Capsule] = runpy.run_path(
    str(Path(__file__).parents[1] / "capsules" / "capsule_random.py")
)["capsules"]
"""Valid capsules with any printable text in their fields."""

_WORDS = (
    "queue index a|b | café naïve — “x” 2½ m² e.g. v1.2 . ... ? ! stop. Why? CHAIN: SEED: INTEGRITY: ===END==="
    " L1:SKELETON META: PROMISE HIGH failed partial"
).split(" ")
_texts = st.lists(st.sampled_from([*_WORDS, "\n", "\t", "  "]), max_size=6).map(" ".join)
_long = st.integers(100, 1024).flatmap(lambda size: st.sampled_from([("long words " * 100)[:size], "x" * size]))
texts = st.one_of(_texts, _texts, st.sampled_from(["", " ", "\u200b", "same"]), _long)
"""Texts as packets hold them, the awkward ones too; few different ones, so that entries become the same."""

_filled = texts.filter(bool)
_confidence = st.sampled_from(["low", "medium", "high"])


def _object(required: dict[str, st.SearchStrategy[Any]], optional: dict[str, st.SearchStrategy[Any]]) -> Any:
    return st.fixed_dictionaries(required, optional=optional)


_decisions = _object({"what": texts, "why": texts}, {"consequences": texts, "locked": st.booleans()})
_attempts = _object(
    {"tried": texts, "outcome": st.sampled_from(["succeeded", "failed", "partial"])},
    {"learned": texts, "confidence": _confidence},
)
_methods = _object({"name": st.sampled_from(["warm-cache", "dry-run"]), "when_applicable": texts, "how": texts}, {})
_times = st.sampled_from(
    [
        "2026-05-04T09:30:59.123456789Z", "0001-01-01T00:00:00+23:59", "9999-12-31T23:59:59-23:59",
        "1969-12-31T23:59:59Z", "2026-05-04T11:30:00+02:00",
    ]
)  # fmt: skip
documents = _object(
    {
        "ltm_version": st.just("0.2"),
        "id": st.just("01JZ7Q4M8N2V6W0X3Y5A9B1C4D"),
        "created_at": _times,
        "goal": _filled,
        "next_step": _filled,
    },
    {
        "parent_id": st.just("01JZ7Q4M8N2V6W0X3Y5A9B1C00"),
        "project": _object({}, {"name": texts.map(lambda text: text[:128]), "ref": st.just("example.org/importer")}),
        "success_criteria": st.lists(texts, max_size=12),
        "constraints": st.lists(texts, max_size=12),
        "decisions": st.lists(_decisions, max_size=12),
        "methods": st.lists(_methods, max_size=3),
        "attempts": st.lists(_attempts, max_size=12),
        "open_questions": st.lists(texts, max_size=12),
        "tags": st.lists(st.sampled_from(["db", "wal-2", "0"]), max_size=3),
        "provenance": _object({}, {"author_model": texts.map(lambda text: text[:128]), "confidence": _confidence}),
    },
)
"""Documents of packets that are valid against the schema."""


def largest(text: str) -> Packet:
    """Return the largest packet that the schema knows, each text made of `text`."""
    whole = (text * 1024)[:1024]
    item: dict[str, Any] = {
        "decisions": {"what": whole, "why": whole, "consequences": whole, "locked": True},
        "methods": {"name": "m" * 128, "when_applicable": whole, "how": whole * 2},
        "attempts": {"tried": whole, "outcome": "partial", "learned": whole, "confidence": "medium"},
    }
    lists = {name: [item.get(name, whole)] * count for name, count in SCHEMA_LISTS.items()}
    return Packet.from_document(
        {
            "ltm_version": "0.2",
            "id": "i" * 64,
            "created_at": "2026-05-04T09:30:00Z",
            "project": {"name": whole[:128], "ref": whole[:256]},
            "goal": whole,
            "next_step": whole,
            "tags": ["t" * 32] * 16,
        }
        | lists
    )
