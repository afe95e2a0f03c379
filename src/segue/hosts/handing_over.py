"""The handoff of the state file that a project names: written before a compaction, and told of after it."""

from __future__ import annotations

import contextlib
import secrets
from functools import cache
from typing import TYPE_CHECKING, Any, cast

from segue.base.errors import Failed, InvalidInput, SegueError
from segue.base.untrusted import one_line, shorten
from segue.continuity import files, handoff, journal
from segue.hosts import embedded
from segue.hosts.briefing import inert
from segue.memories.identity import keyed
from segue.services import continuity_settings, handoffs
from segue.services.continuity_place import Place

if TYPE_CHECKING:
    from segue.hosts.calling import Call
    from segue.services.handoffs import Handoffs
    from segue.services.project_memory import Tidied
    from segue.services.projects import Project

WAITED = 3.0  # seconds for the lock of the project's continuity
_LONGEST = 300  # characters of what is told


def hand_over(call: Call, project: Project) -> None:
    """Write the handoff, after a continuity sync; nothing where the project names no state file (decision K6).

    Nothing is guessed from the conversation. Raises SegueError.
    """
    state = continuity_settings.read(call.directory).state
    if not state:
        return
    place = _place(call, project)
    try:
        made = _service(place, call).create(handoffs.read_state(place.root, state))
    except InvalidInput as error:
        if state in error.message:
            raise
        raise InvalidInput(error.code, f"{one_line(state)}: {error.message}", error.details) from None
    if made.fault:
        raise Failed(
            "handoff.sync",
            f"the handoff was written; the memory store is not in order: {made.fault} (`segue continuity doctor`)",
        )


def told(call: Call, project: Project) -> str:
    """Return what a session is told after a compaction: the next action of the handoff, or why it does not hold.

    "" where the project names no state file, or no handoff was made.
    """
    try:
        state = continuity_settings.read(call.directory).state
    except InvalidInput:
        return ""  # that was said when the handoff was to be written
    if not state:
        return ""
    service = _service(_place(call, project), call)
    with contextlib.suppress(InvalidInput):  # what cannot be looked at is said by restore
        if not service.exists:
            return ""
    restored = service.restore()
    if restored.handoff is not None:
        action = shorten(one_line(restored.handoff.next_action), _LONGEST)
        made = f"A handoff was made at {restored.handoff.created_at}, and every file that it names is as it was then."
        # At the end, so that whatever it says ends with its line: a state file comes with a project.
        return (
            f"{made} `segue handoff restore` tells the whole state. Its one next action, as it was recorded (what the "
            f"user says now goes first): {inert(action)}"
        )
    why = "; ".join([restored.reason, *restored.mismatched])
    return f"A handoff was made and does not hold now (REPAIR_REQUIRED: {inert(shorten(one_line(why), _LONGEST))})."


def _place(call: Call, project: Project) -> Place:
    from segue.location import home

    return Place(
        cast("Any", None),  # a hook has no database, and what it calls here needs none
        "",
        directory=call.directory,
        home=lambda: home(call.environment),
        identify=lambda: project,
        clock=lambda: call.now,
        actor="hook",
    )


def _service(place: Place, call: Call) -> Handoffs:
    def sync() -> Tidied:
        from segue.services.project_memory import ProjectMemory

        return ProjectMemory(place).sync()

    return handoffs.Handoffs(place, candidates=lambda: _candidates(place, call), sync=sync, wait=WAITED)


def _candidates(place: Place, call: Call) -> list[dict[str, str]]:
    data = files.read(place.folder / files.JOURNAL, journal.MAX_BYTES)
    if data is None:
        return []
    key = cache(lambda: _key(call))

    def hidden(content_hash: str) -> str:
        return keyed(content_hash, key())

    return [handoff.candidate_state(each, hidden) for each in journal.parse(data, hidden).candidates]


def _key(call: Call) -> bytes:
    """The store's key, and where a hook cannot read it one for this handoff alone: the state must not be lost."""
    with contextlib.suppress(SegueError, IndexError, TypeError, ValueError):
        with embedded.opened(call.location) as store, store.reading():
            rows = store.rows("SELECT value FROM settings WHERE name = 'key'")
        return bytes.fromhex(rows[0][0])
    return secrets.token_bytes(32)
