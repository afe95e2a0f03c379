"""Install, uninstall and status of what Segue puts into a host's configuration files: the server's entry, and hooks.

Uninstalling gives back the bytes from before. Where the backup with our part put in is the file as it is now, the
backup is the answer; where somebody edited the file since, our part alone is taken out, and the backup only tells
whether an empty table or a comma was there before. Without a backup there was no file before.

A host may have several files. All are read and planned before the first is written; when one cannot be written, those
that were are put back.
"""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from segue.base import untrusted
from segue.base.errors import Conflict, Failed, InvalidInput, Refused
from segue.hosts import place, program, settings
from segue.hosts.change import Change, State, unified_diff
from segue.hosts.host import (
    ENTRY,
    SCOPES,
    SERVER_ARGUMENTS,
    TEAM_COMMAND,
    Host,
    Scope,
    Surroundings,
    base_of,
    command_for,
    find,
)
from segue.hosts.jsonc import Unreadable
from segue.hosts.server import Server
from segue.hosts.settings import Hook, Hooks

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from segue.hosts.change import Action, Installed
    from segue.hosts.part import Found, Part
    from segue.hosts.program import Answer

_LONGEST_PROGRAM = 200
_NEW_MODES: dict[Scope, int] = {"project": 0o644, "user": 0o600}


@dataclass(frozen=True, slots=True)
class _Spot:
    """A file of a host, the part that goes into it, and what it holds of that now."""

    host: Host
    scope: Scope
    part: Part
    place: place.Place
    found: Found

    @property
    def data(self) -> bytes:
        return self.place.data or b""


@dataclass(frozen=True, slots=True)
class _Step:
    """What is to be done to one file: its bytes afterwards (None for no file), and what becomes of its backup."""

    spot: _Spot
    action: Action
    after: bytes | None
    backup: bytes | None = None
    forget_backup: bool = False

    def carry_out(self) -> None:
        if self.action == "unchanged":
            return
        if self.after is None:
            place.remove(self.spot.place)
            return
        place.write(self.spot.place, self.after, backup=self.backup)
        if self.action == "removed":
            place.forget(self.spot.place, backup=self.forget_backup)


def install(
    host: str,
    scope: Scope,
    around: Surroundings,
    *,
    hooks: Sequence[Hook] | None = None,
    force: bool = False,
    dry_run: bool = False,
) -> tuple[Change, ...]:
    """Write Segue's parts into the host's files, and say what became of each; with `dry_run` say it only.

    `hooks` are those that the host is to call afterwards: `settings.chosen()` gives them. None stands for the usual
    ones of a host that has hooks; what is installed already and not among them goes. An entry that starts Segue from
    another path is brought up to date and keeps its other keys. Another program's entry of that name is replaced only
    with `force`. Raises NotFound `hosts.unknown`; InvalidInput `hosts.unreadable`, `hosts.no_project`,
    `hosts.no_folder`, `hosts.config_dir`, `hosts.command`, `hosts.no_hooks`; Conflict `hosts.other_entry`; Failed
    `hosts.not_writable`, `hosts.changed`, `hosts.half_done`, `file.write`; Refused `hosts.backup_link`,
    `hosts.outside`.
    """
    found = find(host)
    if hooks and not found.settings:
        raise _no_hooks(found)
    parts = _parts(found, scope, around, settings.chosen() if hooks is None else hooks)
    spots = [_look(found, scope, around, part) for part in parts]
    return _carry_out([_install_step(spot, force=force) for spot in spots], around, dry_run=dry_run)


def uninstall(
    host: str, scope: Scope, around: Surroundings, *, force: bool = False, dry_run: bool = False
) -> tuple[Change, ...]:
    """Take Segue's parts out of the host's files, and give back the bytes from before; with `dry_run` only say so.

    Another program's entry of that name is taken out only with `force`. Raises the same errors as `install`.
    """
    found = find(host)
    spots = [_look(found, scope, around, part) for part in _parts(found, scope, around, ())]
    return _carry_out([_uninstall_step(spot, force=force) for spot in spots], around, dry_run=dry_run)


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
        _state(found, scope, around, part, ask) for scope in scopes for part in _parts(found, scope, around, ())
    )


def preview(
    host: str, scope: Scope, around: Surroundings, *, hooks: Sequence[Hook] | None = None
) -> tuple[tuple[Path, str], ...]:
    """Return each file of a host with the text that an installation writes where there is none.

    Nothing is read. Raises NotFound `hosts.unknown`; InvalidInput `hosts.no_project`, `hosts.config_dir`,
    `hosts.command`, `hosts.no_hooks`.
    """
    found = find(host)
    if hooks and not found.settings:
        raise _no_hooks(found)
    parts = _parts(found, scope, around, settings.chosen() if hooks is None else hooks)
    return tuple((_path(found, scope, around, part), part.put(b"").decode()) for part in parts if not part.is_empty)


def entry(scope: Scope, around: Surroundings) -> dict[str, Any]:
    """Return the entry as most hosts take it, under the name that most of them give to the table of servers.

    Raises InvalidInput `hosts.command`.
    """
    return {"mcpServers": {ENTRY: {"command": command_for(scope, around), "args": list(SERVER_ARGUMENTS)}}}


def _no_hooks(host: Host) -> InvalidInput:
    return InvalidInput("hosts.no_hooks", f"Segue has no hooks for {host.title}; leave the options of hooks out")


def _parts(host: Host, scope: Scope, around: Surroundings, hooks: Sequence[Hook]) -> list[Part]:
    if scope not in host.files:
        raise InvalidInput("hosts.scope", f"{host.title} has no scope {str(scope)[:40]!a}; use project or user")
    command = command_for(scope, around)
    server: Part = Server(host, command)
    return [server, Hooks(command, tuple(hooks))] if host.settings else [server]


def _path(host: Host, scope: Scope, around: Surroundings, part: Part) -> Path:
    return (host.files if part.kind == "server" else host.settings)[scope](around)


def _look(host: Host, scope: Scope, around: Surroundings, part: Part) -> _Spot:
    base = base_of(scope, around)
    path = _path(host, scope, around, part)
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
    return _Spot(host, scope, part, found, held)


# What is to be done


def _install_step(spot: _Spot, *, force: bool) -> _Step:
    if spot.part.is_empty:
        return _uninstall_step(spot, force=force)
    if spot.found.is_there and not spot.found.is_ours and not force:
        raise _other_entry(spot, "install")
    after = _with_part(spot)
    if after == spot.data:
        return _Step(spot, "unchanged", spot.place.data)
    place.check_writable(spot.place)
    # The backup is the file from before the first installation, so bringing our part up to date leaves it.
    is_kept = spot.found.is_ours and place.backup_bytes(spot.place) is not None
    backup = None if is_kept else spot.place.data
    return _Step(spot, "created" if spot.place.data is None else "changed", after, backup)


def _uninstall_step(spot: _Spot, *, force: bool) -> _Step:
    if not spot.found.is_there:
        return _Step(spot, "unchanged", spot.place.data)
    if not spot.found.is_ours and not force:
        raise _other_entry(spot, "uninstall")
    place.check_writable(spot.place)
    origin = _origin(spot)
    if origin is not None and _is_only_change(spot, origin):
        return _Step(spot, "removed", origin, forget_backup=True)
    after = spot.part.drop(spot.data, origin)
    keeps = after is not None and place.backup_bytes(spot.place) is None
    return _Step(spot, "removed", after, spot.place.data if keeps else None)


def _with_part(spot: _Spot) -> bytes:
    """Return the file with our part: as at a first installation, where nothing else has changed since."""
    if spot.found.is_ours:
        origin = _origin(spot) or b""
        again = spot.part.put(origin)
        if spot.data != again and _is_only_change(spot, origin):
            return again
    return spot.part.put(spot.data)


def _origin(spot: _Spot) -> bytes | None:
    """Return the bytes from before our part was put in, None where there are none to go by."""
    backup = place.backup_bytes(spot.place)
    if backup is None:
        return None
    try:
        return None if spot.part.look(backup).is_ours else backup
    except Unreadable:
        return None


def _is_only_change(spot: _Spot, origin: bytes) -> bool:
    return spot.part.is_only_change(spot.data, origin)


def _other_entry(spot: _Spot, verb: str) -> Conflict:
    command = untrusted.one_line(_shown(spot.found)) or "something else"
    message = (
        f"{spot.place.path} holds an entry named {ENTRY} that Segue did not write (it starts {command}); "
        f"it was left alone. To {verb} all the same, use --force (force in a call)"
    )
    return Conflict("hosts.other_entry", message, {"path": str(spot.place.path), "command": command})


# Doing it


def _carry_out(steps: Sequence[_Step], around: Surroundings, *, dry_run: bool) -> tuple[Change, ...]:
    if not dry_run:
        with contextlib.ExitStack() as done:
            for step in steps:
                done.enter_context(_undone_on_failure(step))
                step.carry_out()
    return tuple(_change(step, around) for step in steps)


@contextlib.contextmanager
def _undone_on_failure(step: _Step) -> Iterator[None]:
    """Put the file back when a later one fails; one that fails itself has left its own as it was."""
    kept = place.keep(step.spot.place)
    try:
        yield
    except BaseException as error:
        if step.action == "unchanged" or not _is_done(step):
            raise
        try:
            place.put_back(step.spot.place, kept)
        except (OSError, Failed):
            path = step.spot.place.path
            message = f"{error}; and {path}, which had been written before that, could not be put back"
            raise Failed("hosts.half_done", message, {"path": str(path)}) from error
        raise


def _is_done(step: _Step) -> bool:
    """Whether the file holds what the step wrote, and no other program wrote it since."""
    try:
        now = step.spot.place.target.read_bytes()
    except OSError:
        now = None
    return now == step.after and now != step.spot.place.data


def _change(step: _Step, around: Surroundings) -> Change:
    spot = step.spot
    kept = spot.place.backup if step.backup is not None or place.backup_bytes(spot.place) is not None else None
    after = step.after
    hooks = spot.part.look(after).hooks if after is not None and spot.part.kind == "hooks" else ()
    note = _note(spot, around) if step.action in ("created", "changed") else ""
    diff = unified_diff(spot.place.path, spot.place.data, after)
    return Change(spot.part.kind, spot.place.path, step.action, diff, kept, note, hooks)


def _note(spot: _Spot, around: Surroundings) -> str:
    if spot.part.kind == "server":
        return spot.host.notes[spot.scope]
    other: Scope = "user" if spot.scope == "project" else "project"
    with contextlib.suppress(InvalidInput, Refused):  # there is no project, or its file cannot be read
        elsewhere = _look(spot.host, other, around, Hooks(command_for(other, around), ()))
        if elsewhere.found.is_there:
            return f"Hooks are in {elsewhere.place.path} too, and both run: keep one of them."
    return f"{spot.host.title} calls the hooks in sessions that start from now on."


# How things stand


def _state(
    host: Host, scope: Scope, around: Surroundings, part: Part, ask: Callable[[str, Mapping[str, str]], Answer]
) -> State:
    try:
        spot = _look(host, scope, around, part)
    except (InvalidInput, Refused) as error:
        path = Path(error.details["path"])
        reason = str(error.details.get("reason", error.message))
        return State(scope, part.kind, path, "unreadable", reason)
    found, path = spot.found, spot.place.path
    installed = _installed(spot)
    detail = _shown(found) if installed == "other command" else found.note
    if not found.is_ours:
        return State(scope, part.kind, path, installed, detail)
    # What a project's file names by a path came with the project: only its host may start that.
    tried = scope == "user" or found.program == TEAM_COMMAND
    answer = ask(found.program, around.environment) if tried else "not tried"
    return State(scope, part.kind, path, installed, detail, answer, part.differs(spot.data), found.hooks)


def _shown(found: Found) -> str:
    return untrusted.shorten(found.program, _LONGEST_PROGRAM)


def _installed(spot: _Spot) -> Installed:
    if not spot.found.is_there:
        return "no"
    return "yes" if spot.found.is_ours and spot.found.program == spot.part.program else "other command"
