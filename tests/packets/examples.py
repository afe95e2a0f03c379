"""Packet documents to build tests on."""

from __future__ import annotations

import copy
import json
from typing import Any

from segue.packets.model import Packet

AWS_KEY = "AK" + "IA" + "Q7Z2" * 4
GITHUB_TOKEN = "gh" + "p_" + "aB3d" * 9
KEY_HEADER = "-----BE" + "GIN PRIVATE " + "KEY-----"

_FULL: dict[str, Any] = {
    "ltm_version": "0.2",
    "id": "01JZ7Q4M8N2V6W0X3Y5A9B1C4D",
    "parent_id": "01JZ7Q4M8N2V6W0X3Y5A9B1C00",
    "created_at": "2026-05-04T09:30:00Z",
    "project": {"name": "importer", "ref": "example.org/importer"},
    "goal": "Ship the importer.",
    "success_criteria": ["The route /healthz returns 200."],
    "constraints": ["Must run on Linux."],
    "decisions": [
        {"what": "Use WAL.", "why": "Readers block.", "consequences": "No network file systems.", "locked": True},
        {"what": "Batch by day.", "why": "Simple.", "consequences": "Late rows wait."},
    ],
    "methods": [{"name": "warm-cache", "when_applicable": "After a deploy.", "how": "make warm"}],
    "attempts": [
        {"tried": "A bigger timeout.", "outcome": "failed", "learned": "The lock is the cause.", "confidence": "high"},
        {"tried": "A queue.", "outcome": "succeeded", "learned": "It drains in order."},
    ],
    "open_questions": ["Which region comes first?"],
    "next_step": "Write the failing test.",
    "tags": ["db", "wal-2"],
    "provenance": {
        "author_model": "model-7",
        "author_human": "Mira",
        "source_hash": "sha256:" + "0a" * 32,
        "confidence": "low",
    },
}
# The smallest legal entries.
DECISION = {"what": "w", "why": "y"}
METHOD = {"name": "n", "when_applicable": "w", "how": "h"}
ATTEMPT = {"tried": "t", "outcome": "failed"}
_MINIMAL = ("ltm_version", "id", "created_at", "goal", "next_step")


def full(**changes: Any) -> dict[str, Any]:
    """Return a document of version 0.2 with every member; `changes` replace some."""
    return copy.deepcopy(_FULL) | changes


def minimal(**changes: Any) -> dict[str, Any]:
    """Return a document of version 0.2 with the required members and `changes`."""
    return {name: _FULL[name] for name in _MINIMAL} | changes


def old(**changes: Any) -> dict[str, Any]:
    """Return a document of version 0.1 with the required members and `changes`."""
    return minimal(ltm_version="0.1") | changes


def encoded(document: Any) -> bytes:
    """Return `document` as JSON text."""
    return json.dumps(document).encode()


def packet(**changes: Any) -> Packet:
    """Return the packet of `minimal(**changes)`."""
    return Packet.from_document(minimal(**changes))
