"""What the tests of a server's services share: people with tokens, and packets as clients send them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

import segue

if TYPE_CHECKING:
    from collections.abc import Callable

    from segue.services.callers import Caller

FIRST = "packet-0001"
SECOND = "packet-0002"
MADE = "2026-05-04T09:30:00Z"


def body(packet_id: str = FIRST, **members: Any) -> bytes:
    """The bytes of a small packet."""
    document = {"ltm_version": "0.2", "id": packet_id, "created_at": MADE, "goal": "Ship it.", "next_step": "Test it."}
    return json.dumps(document | members).encode()


def person(opened: segue.Segue, name: str, *permissions: str) -> Caller:
    """Somebody new, who asks by a token with these permissions (read and write by default)."""
    return opened.accounts.authenticate(opened.accounts.issue(name, permissions=permissions or ("read", "write")))


def join(opened: segue.Segue, owner: Caller, team: str, *others: Caller) -> None:
    """Let others come into a team by invites."""
    for each in others:
        assert opened.invites.accept(opened.invites.create(owner, team).code, each).token is None


def code(call: Callable[..., object], *given: Any, **named: Any) -> str:
    """The code of the error that a call ends in."""
    with pytest.raises(segue.SegueError) as raised:
        call(*given, **named)
    return raised.value.code


def same_answer(*calls: Callable[[], object]) -> str:
    """The code of the error that all calls end in, the same to the letter."""
    told = set()
    for call in calls:
        with pytest.raises(segue.SegueError) as raised:
            call()
        error = raised.value
        told.add((type(error), error.code, error.message, json.dumps(error.details, sort_keys=True)))
    assert len(told) == 1, told
    return str(told.pop()[1])


def events(opened: segue.Segue, scope_id: str) -> list[tuple[str, str, str]]:
    """What happened in a scope, in its order: kind, subject, actor."""
    with opened._database.read() as connection:
        from segue.storage import events as rows

        return [(each.kind, each.subject, each.actor) for each in reversed(rows.newest(connection, scope_id, 1000))]


def everything(opened: segue.Segue) -> str:
    """All that the database holds, as text: to look for what must not be there."""
    import sqlalchemy as sa

    from segue.storage.tables import metadata

    with opened._database.read() as connection:
        rows = [repr(row) for table in metadata.sorted_tables for row in connection.execute(sa.select(table))]
    return "\n".join(rows)
