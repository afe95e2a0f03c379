"""How things stand: what is installed where, and whether it still works."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from segue.base.errors import InvalidInput, Refused
from segue.hosts import program
from segue.hosts.change import State
from segue.hosts.host import SCOPES, TEAM_COMMAND, Host, Scope, Surroundings, find
from segue.hosts.spot import Spot, look, parts

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from segue.hosts.change import Installed
    from segue.hosts.part import Part
    from segue.hosts.program import Answer


def status(
    host: str, around: Surroundings, *, ask: Callable[[str, Mapping[str, str]], Answer] = program.ask
) -> tuple[State, ...]:
    """Return how things stand in each scope: the project's (where there is one), then the user's; in it each part.

    `ask` is given the program of an entry and the environment. Raises NotFound `hosts.unknown`, InvalidInput
    `hosts.command`; a file that cannot be read is a state.
    """
    found = find(host)
    scopes = [scope for scope in SCOPES if scope in found.files and (scope == "user" or around.root is not None)]
    return tuple(
        _state(found, scope, around, part, ask) for scope in scopes for part in parts(found, scope, around, ())
    )


def _state(
    host: Host, scope: Scope, around: Surroundings, part: Part, ask: Callable[[str, Mapping[str, str]], Answer]
) -> State:
    try:
        spot = look(host, scope, around, part)
    except (InvalidInput, Refused) as error:
        path = Path(error.details["path"])
        reason = str(error.details.get("reason", error.message))
        return State(scope, part.kind, path, "unreadable", reason)
    found, path = spot.found, spot.place.path
    installed = _installed(spot)
    detail = found.shown_program if installed == "other command" else found.note
    if not found.is_ours:
        return State(scope, part.kind, path, installed, detail)
    # What a project's file names by a path came with the project: only its host may start that.
    tried = scope == "user" or found.program == TEAM_COMMAND
    answer = ask(found.program, around.environment) if tried else "not tried"
    return State(scope, part.kind, path, installed, detail, answer, part.differs(spot.data), found.hooks)


def _installed(spot: Spot) -> Installed:
    if not spot.found.is_there:
        return "no"
    return "yes" if spot.found.is_ours and spot.found.program == spot.part.program else "other command"
