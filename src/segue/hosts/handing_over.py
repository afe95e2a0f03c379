"""Before a compaction: the handoff of the state file that a project names, written as `segue handoff create` does."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from segue.base.errors import Failed
from segue.continuity import files, journal
from segue.hosts import embedded
from segue.memories.identity import keyed
from segue.services import continuity_settings
from segue.services.continuity_place import Place

if TYPE_CHECKING:
    from segue.continuity.candidate import Candidate
    from segue.hosts.calling import Call
    from segue.services.projects import Project

WAITED = 3.0  # seconds for the lock of the project's continuity


def hand_over(call: Call, project: Project) -> None:
    """Write the handoff, after a continuity sync; nothing where the project names no state file (decision K6).

    Nothing is guessed from the conversation. Raises SegueError.
    """
    settings = continuity_settings.read(call.directory)
    if not settings.state:
        return
    from segue.app import home
    from segue.services import handoffs
    from segue.services.project_memory import ProjectMemory

    place = Place(
        cast("Any", None),  # a hook has no database, and what it calls here needs none
        "",
        directory=call.directory,
        home=lambda: home(call.environment),
        identify=lambda: project,
        clock=lambda: call.now,
        actor="hook",
    )
    service = handoffs.Handoffs(
        place, candidates=lambda: _candidates(place, call), sync=ProjectMemory(place).sync, wait=WAITED
    )
    made = service.create(handoffs.read_state(place.root, settings.state))
    if made.fault:
        raise Failed("handoff.sync", f"the handoff was written; the memory store is not in order: {made.fault}")


def _candidates(place: Place, call: Call) -> list[Candidate]:
    def hidden(content_hash: str) -> str:
        with embedded.opened(call.location) as store, store.reading():
            rows = store.rows("SELECT value FROM settings WHERE name = 'key'")
        try:
            return keyed(content_hash, bytes.fromhex(rows[0][0]))
        except (IndexError, TypeError, ValueError):
            raise Failed("store.key", "the store has lost its signing key; run `segue doctor --repair`") from None

    data = files.read(place.folder / files.JOURNAL, journal.MAX_BYTES)
    return [] if data is None else journal.parse(data, hidden).of()
