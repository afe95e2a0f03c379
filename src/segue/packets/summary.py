"""A packet as text for people: every field, unlike the reference, each value escaped and on one line."""

from __future__ import annotations

from typing import TYPE_CHECKING

from segue.base import time
from segue.base.untrusted import one_line

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

    from segue.packets.model import Packet


def render(packet: Packet, now: datetime, notes: list[str] | None = None) -> str:
    """Return every field of `packet` as text, one value a line; `notes` are further lines for the head."""
    return "\n".join(_lines(packet, now, notes or []))


def _lines(packet: Packet, now: datetime, notes: list[str]) -> Iterator[str]:
    project = packet.project
    provenance = packet.provenance
    age = time.ago(packet.created, now)
    head = {
        "ID": packet.id,
        "Created": packet.created_at + ("" if packet.created_at.startswith(age) else f" ({age})"),
        "Spec": f"v{packet.ltm_version}",
        "Continues": packet.parent_id,
        "Project": " · ".join(part for part in (project.name, project.ref) if part) if project else "",
        "Tags": ", ".join(packet.tags),
        "Author": " via ".join(part for part in (provenance.author_human, provenance.author_model) if part)
        if provenance
        else "",
        "Confidence": provenance.confidence if provenance else "",
        "Source": provenance.source_hash if provenance else "",
        "Content": packet.content_hash,
    }
    yield from (f"{label + ':':<12}{one_line(value)}" for label, value in head.items() if value)
    yield from notes
    for heading, entries in _blocks(packet):
        if entries:
            yield f"\n{heading}"
            yield from (f"  {mark}{one_line(entry)}" for mark, entry in entries)


_Marked = list[tuple[str, str]]


def _blocks(packet: Packet) -> Iterator[tuple[str, _Marked]]:
    """The blocks of the body, each entry behind its mark; an entry's own members are indented under it."""
    yield "Goal", [("", packet.goal)]
    yield "Success criteria", [("- ", each) for each in packet.success_criteria]
    yield "Constraints", [("- ", each) for each in packet.constraints]
    decisions: _Marked = []
    for decision in packet.decisions:
        decisions.append(("- [locked] " if decision.locked else "- ", decision.what))
        decisions += _present(("why", decision.why), ("consequences", decision.consequences))
    yield "Decisions", decisions
    methods: _Marked = []
    for method in packet.methods:
        methods += [("- ", method.name), *_present(("when", method.when_applicable), ("how", method.how))]
    yield "Methods", methods
    attempts: _Marked = []
    for attempt in packet.attempts:
        attempts.append((f"- [{one_line(attempt.outcome)}] ", attempt.tried))
        attempts += _present(("learned", attempt.learned), ("confidence", attempt.confidence))
    yield "Attempts", attempts
    yield "Open questions", [("- ", each) for each in packet.open_questions]
    yield "Next step", [("", packet.next_step)]


def _present(*members: tuple[str, str]) -> _Marked:
    return [(f"  {label}: ", text) for label, text in members if text]
