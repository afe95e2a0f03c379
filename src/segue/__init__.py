"""Segue: portable memory for AI agents. Save where the work stands, resume it anywhere.

import segue

with segue.open() as s:
    packet = s.packets.save({"ltm_version": "0.2", "goal": "…", "next_step": "…"})
    print(s.packets.resume(packet.id))
"""

from __future__ import annotations

from segue.app import Segue, open  # noqa: A004 - segue.open is the library's one verb
from segue.base.errors import Ambiguous, Conflict, Failed, Gone, InvalidInput, NotFound, Refused, SegueError, Stale
from segue.packets.model import Attempt, Decision, Method, Packet, Project, Provenance

__version__ = "0.1.0"

__all__ = [
    "Ambiguous",
    "Attempt",
    "Conflict",
    "Decision",
    "Failed",
    "Gone",
    "InvalidInput",
    "Method",
    "NotFound",
    "Packet",
    "Project",
    "Provenance",
    "Refused",
    "Segue",
    "SegueError",
    "Stale",
    "__version__",
    "open",
]
