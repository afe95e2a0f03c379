"""A file of a host, and what it holds of the part of Segue that goes into it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from segue.base import place
from segue.base.errors import InvalidInput, Refused
from segue.hosts.host import Host, Scope, Surroundings, base_of, command_for
from segue.hosts.jsonc import Unreadable
from segue.hosts.server import Server
from segue.hosts.settings import Hook, Hooks

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from segue.hosts.part import Found, Part

_NEW_MODES: dict[Scope, int] = {"project": 0o644, "user": 0o600}


@dataclass(frozen=True, slots=True)
class Spot:
    """A file of a host, the part that goes into it, and what it holds of that now."""

    host: Host
    scope: Scope
    part: Part
    place: place.Place
    found: Found

    @property
    def data(self) -> bytes:
        return self.place.data or b""


def parts(host: Host, scope: Scope, around: Surroundings, hooks: Sequence[Hook]) -> list[Part]:
    """Return what goes into the host's files, the server first. Raises InvalidInput `hosts.scope`, `hosts.command`."""
    if scope not in host.files:
        raise InvalidInput("hosts.scope", f"{host.title} has no scope {str(scope)[:40]!a}; use project or user")
    command = command_for(scope, around)
    server: Part = Server(host, command)
    return [server, Hooks(command, tuple(hooks))] if host.settings else [server]


def path_of(host: Host, scope: Scope, around: Surroundings, part: Part) -> Path:
    """Return the file for a part. Raises InvalidInput `hosts.no_project`, `hosts.config_dir`."""
    return (host.files if part.kind == "server" else host.settings)[scope](around)


def look(host: Host, scope: Scope, around: Surroundings, part: Part) -> Spot:
    """Return the file for a part as it is now.

    Raises InvalidInput `hosts.unreadable`, `hosts.no_folder`, `hosts.no_project`, `hosts.config_dir`; Refused
    `hosts.outside`.
    """
    base = base_of(scope, around)
    path = path_of(host, scope, around, part)
    if path.is_relative_to(base) and not base.is_dir():
        raise InvalidInput("hosts.no_folder", f"there is no folder {base}", {"path": str(base)})
    found = place.look(path, base, new_mode=_NEW_MODES[scope])
    if scope == "project" and not found.target.is_relative_to(base.resolve()):
        # Of a repository that came from somebody else, a link could lead anywhere.
        said = f"it leads out of the project, to {found.target}"
        message = f"{path} was left alone, because {said}"
        raise Refused("hosts.outside", message, {"path": str(path), "reason": said})
    try:
        held = part.look(found.data or b"")
    except Unreadable as error:
        raise place.unreadable(path, str(error)) from None
    return Spot(host, scope, part, found, held)
