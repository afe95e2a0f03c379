"""PreCompact: a draft packet of the conversation, before its host forgets most of it. It is never pushed.

Where the project names a state file, its handoff is written too.
"""

from __future__ import annotations

import hashlib
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from segue.base import ids, redaction, time
from segue.base.errors import Failed, InvalidInput, SegueError
from segue.base.redaction import RedactionRefused
from segue.conversions.draft import NO_GOAL
from segue.hosts import embedded, packet_rows
from segue.hosts.handing_over import hand_over
from segue.packets import drafts, fields
from segue.services.drafts import masked
from segue.transcripts import reader
from segue.transcripts.events import Meta

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from segue.hosts.calling import Call
    from segue.packets.model import Packet
    from segue.services.projects import Project
    from segue.transcripts.events import Event

WAITED = 3.0  # seconds for the write lock
_SAID = ("constraints", "decisions", "attempts", "open_questions")
_MOST_TURNED = 20  # drafts of one session that a person has made packets of


def answer(call: Call) -> dict[str, Any] | None:
    """Store the draft, and the handoff where the project wants one; nothing is printed. Raises SegueError.

    A session has one draft, which each compaction replaces. Where somebody made a packet of it (it has no tag `draft`
    any more), the next draft continues that packet. Neither the draft nor the handoff keeps the other from being kept.
    """
    project = call.project()
    faults: list[SegueError] = []
    for keep in (hand_over, _keep_draft):
        try:
            keep(call, project)
        except SegueError as error:
            faults.append(error)
    if len(faults) > 1:
        raise Failed("hook.several", "; ".join(each.message for each in faults))
    if faults:
        raise faults[0]
    return None


def _keep_draft(call: Call, project: Project) -> None:
    name = call.text("transcript_path")
    if not name or "\0" in name:
        raise InvalidInput("hook.transcript", "the host names no transcript")
    with embedded.opened(call.location) as store:  # first: without a store nothing needs to be read
        packet = _drafted(Path(name), project, call)
        if packet is not None:
            with store.writing(WAITED):
                packet_rows.put(store, _placed(store, packet), project, call.now)


def _drafted(transcript: Path, project: Project, call: Call) -> Packet | None:
    """The draft of a session, with the id that its session always gives; None where nothing was said or done."""
    begun = _Begun()
    events = begun.watched(reader.read_file(transcript))
    document = masked(events, project, call.now.replace(microsecond=0))
    if document["goal"] == NO_GOAL and not any(document.get(name) for name in _SAID):
        return None
    session = call.session or begun.session or transcript.stem
    packet, _ = drafts.finished(document | {"id": _id(session, begun.at)}, call.now)
    findings = redaction.scan(fields.texts(packet.document()))
    if findings:
        raise RedactionRefused(findings)
    return packet


class _Begun:
    """When a session began and what it is called, noted while its events go by."""

    def __init__(self) -> None:
        self.session = ""
        self.at = ""

    def watched(self, events: Iterable[Event]) -> Iterator[Event]:
        for event in events:
            if isinstance(event, Meta):
                self.session, self.at = event.session or self.session, event.started or self.at
            yield event


def _id(session: str, begun: str, number: int = 0) -> str:
    """The id of a session's draft: a ULID of the time that it began and 80 bits of the hash of its name."""
    try:
        at = time.parse(begun)
    except ValueError:
        at = time.from_microseconds(0)
    digest = hashlib.sha256(f"draft\n{session}\n{number}".encode("utf-8", "surrogatepass")).digest()
    return ids.of(at, digest[:10])


def _placed(store: embedded.Embedded, packet: Packet) -> Packet:
    """The packet under the first id of its session that is free or a draft's still."""
    parent, identifier = "", packet.id
    for number in range(1, _MOST_TURNED):
        known = packet_rows.get(store, identifier)
        if known is None or drafts.TAG in known.tags:
            break
        parent = identifier
        identifier = ids.of(packet.created, hashlib.sha256(f"{packet.id}\n{number}".encode()).digest()[:10])
    return replace(packet, id=identifier, parent_id=parent) if parent else packet
