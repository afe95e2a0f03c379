"""Install and uninstall what Segue puts into a host's configuration files: the server's entry, and hooks.

Uninstalling gives back the bytes from before. Where the backup with our part put in is the file as it is now, the
backup is the answer; where somebody edited the file since, our part alone is taken out, and the backup only tells
whether an empty table or a comma was there before. Without a backup there was no file before.

A host may have several files. All are read and planned before the first is written; when one cannot be written, those
that were are put back.
"""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from segue.base import place, untrusted
from segue.base.errors import Conflict, Failed, InvalidInput, Refused
from segue.hosts import settings
from segue.hosts.change import Change, unified_diff
from segue.hosts.host import ENTRY, SERVER_ARGUMENTS, Host, Scope, Surroundings, command_for, find
from segue.hosts.jsonc import Unreadable
from segue.hosts.settings import Hook, Hooks
from segue.hosts.spot import Spot, look, parts, path_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from segue.hosts.change import Action
    from segue.hosts.part import Part


@dataclass(frozen=True, slots=True)
class _Step:
    """What is to be done to one file: its bytes afterwards (None for no file), and what becomes of its backup."""

    spot: Spot
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
    spots = [look(found, scope, around, part) for part in _parts_with(hooks, found, scope, around)]
    return _carry_out([_install_step(spot, force=force) for spot in spots], around, dry_run=dry_run)


def uninstall(
    host: str, scope: Scope, around: Surroundings, *, force: bool = False, dry_run: bool = False
) -> tuple[Change, ...]:
    """Take Segue's parts out of the host's files, and give back the bytes from before; with `dry_run` only say so.

    Another program's entry of that name is taken out only with `force`. Raises the same errors as `install`.
    """
    found = find(host)
    spots = [look(found, scope, around, part) for part in parts(found, scope, around, ())]
    steps = [_uninstall_step(spot, force=force) for spot in spots]
    # The last first: the first file knows which folders were made for both.
    return _carry_out(steps[::-1], around, dry_run=dry_run)[::-1]


def preview(
    host: str, scope: Scope, around: Surroundings, *, hooks: Sequence[Hook] | None = None
) -> tuple[tuple[Path, str], ...]:
    """Return each file of a host with the text that an installation writes where there is none.

    Nothing is read. Raises NotFound `hosts.unknown`; InvalidInput `hosts.no_project`, `hosts.config_dir`,
    `hosts.command`, `hosts.no_hooks`.
    """
    found = find(host)
    wanted = [part for part in _parts_with(hooks, found, scope, around) if not part.is_empty]
    return tuple((path_of(found, scope, around, part), part.put(b"").decode()) for part in wanted)


def entry(scope: Scope, around: Surroundings) -> dict[str, Any]:
    """Return the entry as most hosts take it, under the name that most of them give to the table of servers.

    Raises InvalidInput `hosts.command`.
    """
    return {"mcpServers": {ENTRY: {"command": command_for(scope, around), "args": list(SERVER_ARGUMENTS)}}}


def _parts_with(hooks: Sequence[Hook] | None, host: Host, scope: Scope, around: Surroundings) -> list[Part]:
    if hooks and not host.settings:
        raise InvalidInput("hosts.no_hooks", f"Segue has no hooks for {host.title}; leave the options of hooks out")
    return parts(host, scope, around, settings.chosen() if hooks is None else hooks)


# What is to be done


def _install_step(spot: Spot, *, force: bool) -> _Step:
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


def _uninstall_step(spot: Spot, *, force: bool) -> _Step:
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


def _with_part(spot: Spot) -> bytes:
    """Return the file with our part: as at a first installation, where nothing else has changed since."""
    origin = _origin(spot) if spot.found.is_ours else None
    after = spot.part.put(spot.data, origin)
    if after != spot.data and spot.found.is_ours and _is_only_change(spot, origin or b""):
        return spot.part.put(origin or b"")
    return after


def _origin(spot: Spot) -> bytes | None:
    """Return the bytes from before our part was put in, None where there are none to go by."""
    backup = place.backup_bytes(spot.place)
    if backup is None:
        return None
    try:
        return None if spot.part.look(backup).is_ours else backup
    except Unreadable:
        return None


def _is_only_change(spot: Spot, origin: bytes) -> bool:
    return spot.part.is_only_change(spot.data, origin)


def _other_entry(spot: Spot, verb: str) -> Conflict:
    command = untrusted.one_line(spot.found.shown_program) or "something else"
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


def _note(spot: Spot, around: Surroundings) -> str:
    if spot.part.kind == "server":
        return spot.host.notes[spot.scope]
    other: Scope = "user" if spot.scope == "project" else "project"
    with contextlib.suppress(InvalidInput, Refused):  # there is no project, or its file cannot be read
        elsewhere = look(spot.host, other, around, Hooks(command_for(other, around), ()))
        if elsewhere.found.is_there:
            return f"Hooks are in {elsewhere.place.path} too, and both run: keep one of them."
    return f"{spot.host.title} calls the hooks in sessions that start from now on."
