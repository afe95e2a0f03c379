"""What a single request reads does not grow with the server: every statement goes by an index that narrows it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from plans import by_indexes
from server_samples import FIRST, SECOND, body, join, person

import segue

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from segue.services.callers import Caller

# What a person or a session makes; and the names of a recursion and of a row that is none.
SMALL = ("settings", "entity_aliases", "memory_state", "context_pins", "context_sessions", "chain", "CONSTANT")


@pytest.fixture
def served(locate: Callable[[str], str], project_directory: Path) -> Iterator[tuple[segue.Segue, Caller, Caller]]:
    """A server with two people who share a team, and others."""
    with segue.open(locate("sqlite"), directory=project_directory) as opened:
        ann, bob, *others = (person(opened, f"Person {number}") for number in range(6))
        for number, owner in enumerate((ann, *others)):
            opened.teams.create(owner, f"team-{number}")
            opened.hub.push(owner, body("packet-0000"))
            opened.hub.push(owner, body("packet-0000"), f"team-{number}")
        join(opened, ann, "team-0", bob)
        opened.hub.push(bob, body(parent_id="packet-0000"), "team-0")
        yield opened, ann, bob


REQUESTS: dict[str, Callable[[segue.Segue, Caller, Caller], Any]] = {
    "authenticate": lambda s, ann, bob: s.accounts.authenticate("a" * 48),
    "pull": lambda s, ann, bob: s.hub.pull(ann, FIRST),
    "pull of a team": lambda s, ann, bob: s.hub.pull(ann, FIRST, "team-0"),
    "list": lambda s, ann, bob: s.hub.ls(ann, tag="x", project="y"),
    "list of a team": lambda s, ann, bob: s.hub.ls(ann, team="team-0"),
    "chain": lambda s, ann, bob: s.hub.chain(ann, FIRST),
    "push": lambda s, ann, bob: s.hub.push(bob, body(SECOND, parent_id=FIRST), "team-0"),
    "delete": lambda s, ann, bob: s.hub.rm(bob, FIRST),
    "move": lambda s, ann, bob: s.hub.move(bob, FIRST, None),
    "publish": lambda s, ann, bob: s.publishing.read(s.publishing.publish(bob, FIRST).slug),
    "teams": lambda s, ann, bob: s.teams.ls(ann),
    "members": lambda s, ann, bob: s.teams.members(ann, "team-0"),
    "team": lambda s, ann, bob: s.teams.create(bob, "another"),
    "invite": lambda s, ann, bob: s.invites.accept(s.invites.create(ann, "team-0").code),
    "leave": lambda s, ann, bob: s.teams.leave(bob, "team-0"),
    "rate": lambda s, ann, bob: s.requests.count("push", 1),
    "key": lambda s, ann, bob: s.requests.begin(ann, "k", b""),
    "tokens": lambda s, ann, bob: s.accounts.tokens(ann.user_id),
}


@pytest.mark.parametrize("name", REQUESTS)
def test_a_request_reads_by_indexes(served: tuple[segue.Segue, Caller, Caller], name: str) -> None:
    opened, ann, bob = served
    with by_indexes(opened, SMALL, least=0):
        try:
            REQUESTS[name](opened, ann, bob)
        except segue.Refused as refused:
            assert (name, refused.code) == ("authenticate", "auth.invalid")
