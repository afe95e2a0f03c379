"""Install, uninstall and status of the MCP server's entry in a host's configuration file.

Uninstalling gives back the bytes from before. Where the backup with the entry put in is the file as it is now, the
backup is the answer; where somebody edited the file since, the entry alone is taken out, and the backup only tells
whether an empty table or a comma was there before. Without a backup there was no file before.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from segue.base import untrusted
from segue.base.errors import Conflict, InvalidInput, Refused
from segue.hosts import editor, place
from segue.hosts.change import Change, State, unified_diff
from segue.hosts.host import ENTRY, SCOPES, Host, Scope, Surroundings, base_of, command_for, find
from segue.hosts.jsonc import Unreadable

if TYPE_CHECKING:
    from segue.hosts.change import Action, Installed

_PROGRAMS = frozenset({"segue", "segue.exe", "segue.cmd", "segue.bat"})
_SERVER_ARGUMENT = "mcp"
_NEW_MODES: dict[Scope, int] = {"project": 0o644, "user": 0o600}


@dataclass(frozen=True, slots=True)
class _Spot:
    """A host's file, and the entry that it holds now (None where it holds none)."""

    host: Host
    scope: Scope
    place: place.Place
    entry: dict[str, Any] | None
    command: str

    @property
    def data(self) -> bytes:
        return self.place.data or b""


def install(host: str, scope: Scope, around: Surroundings, *, force: bool = False, dry_run: bool = False) -> Change:
    """Write the entry into the host's file; with `dry_run` say only what would change.

    An entry that starts Segue from another path is brought up to date and keeps its other keys. Another program's
    entry of that name is replaced only with `force`. Raises NotFound `hosts.unknown`; InvalidInput `hosts.unreadable`,
    `hosts.no_project`, `hosts.no_folder`, `hosts.config_dir`, `hosts.command`; Conflict `hosts.other_entry`; Failed
    `hosts.not_writable`, `hosts.changed`, `file.write`; Refused `hosts.backup_link`.
    """
    spot = _look(find(host), scope, around)
    state = _installed(spot)
    if state == "yes":
        return _change(spot, "unchanged", spot.place.data)
    ours = _is_ours(spot.entry, spot.command)
    if spot.entry is not None and not ours and not force:
        raise _other_entry(spot, "install")
    after = _with_entry(spot, ours=ours)
    place.check_writable(spot.place)
    # The backup is the file from before the first installation, so bringing an entry up to date leaves it.
    backup = None if ours and place.backup_bytes(spot.place) is not None else spot.place.data
    if not dry_run:
        place.write(spot.place, after, backup=backup)
    kept = spot.place.backup if backup is not None else None
    return _change(spot, "created" if spot.place.data is None else "changed", after, kept=kept)


def uninstall(host: str, scope: Scope, around: Surroundings, *, force: bool = False, dry_run: bool = False) -> Change:
    """Take the entry out of the host's file, and give back the bytes from before; with `dry_run` only say so.

    Another program's entry of that name is taken out only with `force`. Raises the same errors as `install`.
    """
    spot = _look(find(host), scope, around)
    if spot.entry is None:
        return _change(spot, "unchanged", spot.place.data)
    if not _is_ours(spot.entry, spot.command) and not force:
        raise _other_entry(spot, "uninstall")
    place.check_writable(spot.place)
    origin = _origin(spot)
    restored = origin is not None and _is_untouched(spot, origin)
    after = origin if restored else editor.drop(spot.data, spot.host.keys, ENTRY, origin)
    if dry_run:
        return _change(spot, "removed", after)
    if after is None:
        place.remove(spot.place)
        return _change(spot, "removed", None)
    keeps = not restored and place.backup_bytes(spot.place) is None
    place.write(spot.place, after, backup=spot.place.data if keeps else None)
    place.forget(spot.place, backup=restored)
    return _change(spot, "removed", after)


def status(host: str, around: Surroundings) -> tuple[State, ...]:
    """Return how things stand in each scope: the project's (where there is one), then the user's.

    Raises NotFound `hosts.unknown`, InvalidInput `hosts.command`; a file that cannot be read is a state.
    """
    found = find(host)
    scopes = [scope for scope in SCOPES if scope in found.files and (scope == "user" or around.root is not None)]
    return tuple(_state(found, scope, around) for scope in scopes)


def _state(host: Host, scope: Scope, around: Surroundings) -> State:
    command_for(scope, around)
    try:
        spot = _look(host, scope, around)
    except (InvalidInput, Refused) as error:
        path = Path(error.details["path"])
        return State(scope, path, "unreadable", str(error.details.get("reason", error.message)))
    installed = _installed(spot)
    detail = _command_of(spot.entry) if installed == "other command" else ""
    return State(scope, spot.place.path, installed, detail)


def _look(host: Host, scope: Scope, around: Surroundings) -> _Spot:
    if scope not in host.files:
        raise InvalidInput("hosts.scope", f"{host.title} has no scope {str(scope)[:40]!a}; use project or user")
    base = base_of(scope, around)
    path = host.files[scope](around)
    if path.is_relative_to(base) and not base.is_dir():
        raise InvalidInput("hosts.no_folder", f"there is no folder {base}", {"path": str(base)})
    found = place.look(path, base, new_mode=_NEW_MODES[scope])
    if scope == "project" and not found.target.is_relative_to(base.resolve()):
        # Of a repository that came from somebody else, a link could lead anywhere.
        said = f"it leads out of the project, to {found.target}"
        message = f"{path} was left alone, because {said}"
        raise Refused("hosts.outside", message, {"path": str(path), "reason": said})
    command = command_for(scope, around)
    try:
        entry = None if found.data is None else editor.get(found.data, host.keys, ENTRY)
    except Unreadable as error:
        raise place.unreadable(path, str(error)) from None
    return _Spot(host, scope, found, entry, command)


def _installed(spot: _Spot) -> Installed:
    if spot.entry is None:
        return "no"
    same = _is_ours(spot.entry, spot.command) and spot.entry["command"] == spot.command
    return "yes" if same else "other command"


def _is_ours(entry: dict[str, Any] | None, command: str) -> bool:
    """Whether an entry starts Segue's MCP server: ours, perhaps from an older place, perhaps with more keys."""
    if entry is None or entry.get("type", "stdio") != "stdio":
        return False
    program, arguments = entry.get("command"), entry.get("args")
    if not isinstance(program, str) or not isinstance(arguments, list):
        return False
    name = program.replace("\\", "/").rsplit("/", 1)[-1].lower()
    return arguments[:1] == [_SERVER_ARGUMENT] and (program == command or name in _PROGRAMS)


def _command_of(entry: dict[str, Any] | None) -> str:
    """Return what an entry starts, without its arguments: these may hold secrets."""
    found = entry.get("command", "") if entry else ""
    return untrusted.shorten(found if isinstance(found, str) else "", 200)


def _other_entry(spot: _Spot, verb: str) -> Conflict:
    command = untrusted.one_line(_command_of(spot.entry)) or "something else"
    message = (
        f"{spot.place.path} holds an entry named {ENTRY} that Segue did not write (it starts {command}); "
        f"it was left alone. To {verb} all the same, use --force (force in a call)"
    )
    return Conflict("hosts.other_entry", message, {"path": str(spot.place.path), "command": command})


def _with_entry(spot: _Spot, *, ours: bool) -> bytes:
    keys = spot.host.keys
    if ours:
        return editor.put(spot.data, (*keys, ENTRY), "command", spot.command)
    return editor.put(spot.data, keys, ENTRY, spot.host.entry(spot.command))


def _origin(spot: _Spot) -> bytes | None:
    """Return the bytes from before the entry was put in, None where there are none to go by."""
    backup = place.backup_bytes(spot.place)
    if backup is None:
        return None
    try:
        entry = editor.get(backup, spot.host.keys, ENTRY)
    except Unreadable:
        return None
    return None if _is_ours(entry, spot.command) else backup


def _is_untouched(spot: _Spot, origin: bytes) -> bool:
    if spot.entry is None or not isinstance(spot.entry.get("command"), str):
        return False
    return editor.put(origin, spot.host.keys, ENTRY, spot.host.entry(spot.entry["command"])) == spot.data


def _change(spot: _Spot, action: Action, after: bytes | None, *, kept: Path | None = None) -> Change:
    if kept is None and place.backup_bytes(spot.place) is not None:
        kept = spot.place.backup
    note = spot.host.notes[spot.scope] if action in ("created", "changed") else ""
    return Change(spot.place.path, action, unified_diff(spot.place.path, spot.place.data, after), kept, note)
