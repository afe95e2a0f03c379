"""Claude Code's hooks, in its `settings.json`: event, groups of that event, handlers of a group.

Each hook of Segue is one group of its own at the end of its event. It is known again by its command, wherever it was
moved within that event: `segue hook NAME`, from whatever folder. Groups and handlers of others are not touched.
"""

from __future__ import annotations

import shlex
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from segue.hosts import editor
from segue.hosts.jsonc import Key, Unreadable, read
from segue.hosts.part import Found, is_program

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from segue.hosts.part import Kind

_TABLE = "hooks"
_HANDLERS = "hooks"
_VERB = "hook"


@dataclass(frozen=True, slots=True)
class Hook:
    """One hook: `segue hook NAME ARGUMENTS` at an event; after `timeout` seconds the host ends it.

    `matcher` says for which kinds of the event, as the host understands it; None stands for all of them.
    """

    name: str
    event: str
    timeout: int
    matcher: str | None = None
    arguments: tuple[str, ...] = ()

    @property
    def title(self) -> str:
        """Its name with its arguments: `stop --block`."""
        return " ".join((self.name, *self.arguments))

    def handler(self, program: str) -> dict[str, Any]:
        """What the host is to run."""
        command = f"{shlex.quote(program)} {_VERB} {self.title}"
        return {"type": "command", "command": command, "timeout": self.timeout}

    def group(self, program: str) -> dict[str, Any]:
        """The group with this hook alone."""
        matcher = {} if self.matcher is None else {"matcher": self.matcher}
        return {**matcher, _HANDLERS: [self.handler(program)]}


# Not at `resume`: what was said at the start stands in the conversation already. Each hook ends itself earlier than the
# host would end it: what a host ends it shows as a failure.
SESSION_START = Hook("session-start", "SessionStart", 10, "startup|clear|compact")
USER_PROMPT_SUBMIT = Hook("user-prompt-submit", "UserPromptSubmit", 10)
PRE_COMPACT = Hook("pre-compact", "PreCompact", 30)
STOP = Hook("stop", "Stop", 10)
STOP_BLOCKING = replace(STOP, arguments=("--block",))

_BY_EVENT = {hook.event: hook for hook in (SESSION_START, USER_PROMPT_SUBMIT, PRE_COMPACT, STOP)}


def chosen(*, recall: bool = False, guard: bool = False, block: bool = False) -> tuple[Hook, ...]:
    """Return the hooks of an installation, in the order in which they are written."""
    asked = (USER_PROMPT_SUBMIT,) if recall else ()
    guarding = (STOP_BLOCKING if block else STOP,) if guard or block else ()
    return (SESSION_START, *asked, PRE_COMPACT, *guarding)


@dataclass(frozen=True, slots=True)
class _Spot:
    """A handler of ours in a file: where, what it runs, and how many handlers its group holds, of ours and in all."""

    event: str
    group: int
    handler: int
    program: str
    arguments: tuple[str, ...]
    own: int
    all: int
    has_list: bool

    @property
    def keys(self) -> tuple[Key, ...]:
        return (_TABLE, self.event, self.group, _HANDLERS)

    @property
    def hook(self) -> Hook:
        return replace(_BY_EVENT[self.event], arguments=self.arguments)


@dataclass(frozen=True, slots=True)
class Hooks:
    """The hooks that a settings file is to hold, which start `program`; without any, ours are to go."""

    program: str
    wanted: tuple[Hook, ...]
    kind: Kind = "hooks"

    @property
    def is_empty(self) -> bool:
        return not self.wanted

    def look(self, raw: bytes) -> Found:
        value = read(raw, (_TABLE,)).value or {}
        spots = list(self._spots(value))
        programs = [spot.program for spot in spots]
        program = next((each for each in programs if each != self.program), self.program if programs else "")
        off = bool(spots) and value.get("disableAllHooks") is True
        note = "disableAllHooks switches every hook off" if off else ""
        return Found(bool(spots), bool(spots), program, tuple(spot.hook.title for spot in spots), note)

    def put(self, raw: bytes, origin: bytes | None = None) -> bytes:
        events = {hook.event for hook in self.wanted}
        kept: dict[str, _Spot] = {}
        gone = []
        for spot in self._read(raw):
            if spot.event in events and spot.event not in kept:
                kept[spot.event] = spot
            else:
                gone.append(spot)
        raw = self._without(raw, gone, origin) or b""
        left = {spot.event: spot for spot in self._read(raw)}
        for hook in self.wanted:
            raw = self._updated(raw, hook, left[hook.event]) if hook.event in left else self._added(raw, hook)
        return raw

    def drop(self, raw: bytes, origin: bytes | None) -> bytes | None:
        return self._without(raw, self._read(raw), origin)

    def is_only_change(self, raw: bytes, origin: bytes) -> bool:
        spots = self._read(raw)
        if not spots:
            return raw == origin
        return replace(self, program=spots[0].program, wanted=tuple(spot.hook for spot in spots)).put(origin) == raw

    def differs(self, raw: bytes) -> bool:
        spots = {spot.event: spot.hook for spot in reversed(self._read(raw))}
        return replace(self, wanted=tuple(spots[event] for event in _BY_EVENT if event in spots)).put(raw) != raw

    def _read(self, raw: bytes) -> list[_Spot]:
        return list(self._spots(read(raw, (_TABLE,)).value or {}))

    def _spots(self, value: dict[str, Any]) -> Iterator[_Spot]:
        for event in value.get(_TABLE, {}):
            if event not in _BY_EVENT:
                continue
            groups = value[_TABLE][event]
            if not isinstance(groups, list):
                raise Unreadable(f"{event!a} is not a list")
            for number, group in enumerate(groups):
                yield from self._in_group(event, number, group)

    def _in_group(self, event: str, number: int, group: Any) -> Iterator[_Spot]:
        handlers = group.get(_HANDLERS) if isinstance(group, dict) else None
        if not isinstance(handlers, list):
            return
        commands = [self._command(event, handler) for handler in handlers]
        own = sum(command is not None for command in commands)
        for place, command in enumerate(commands):
            if command is not None:
                program, *arguments = command
                has_list = "args" in handlers[place]
                yield _Spot(event, number, place, program, tuple(arguments), own, len(commands), has_list)

    def _command(self, event: str, handler: Any) -> list[str] | None:
        """Return the program and the arguments of the hook that a handler runs, None where it is not ours."""
        if not isinstance(handler, dict) or handler.get("type") != "command":
            return None
        command, words = handler.get("command"), handler.get("args")
        if not isinstance(command, str):
            return None
        for split in [[command, *words]] if isinstance(words, list) else _splits(command):
            program, *rest = split or [""]
            if is_program(program, self.program) and rest[:2] == [_VERB, _BY_EVENT[event].name]:
                return [program, *map(str, rest[2:])]
        return None

    def _added(self, raw: bytes, hook: Hook) -> bytes:
        groups = ((read(raw, (_TABLE,)).value or {}).get(_TABLE) or {}).get(hook.event) or []
        return editor.put(raw, (_TABLE, hook.event), len(groups), hook.group(self.program))

    def _updated(self, raw: bytes, hook: Hook, spot: _Spot) -> bytes:
        for key, value in hook.handler(self.program).items():
            raw = editor.put(raw, (*spot.keys, spot.handler), key, value)
        if spot.has_list:  # the host would take the words of the command and those of the list
            raw = editor.drop(raw, (*spot.keys, spot.handler), "args", None) or raw
        if spot.own == spot.all and hook.matcher is not None:
            raw = editor.put(raw, spot.keys[:-1], "matcher", hook.matcher)
        return raw

    def _without(self, raw: bytes, spots: Sequence[_Spot], origin: bytes | None) -> bytes | None:
        """Take handlers out, and the group with the last of them where it held no others."""
        left: bytes | None = raw
        for spot in sorted(spots, key=lambda spot: (spot.group, spot.handler), reverse=True):
            if left is None:
                return None
            others = sum((other.event, other.group) == (spot.event, spot.group) for other in spots)
            if others < spot.all:
                left = editor.drop(left, spot.keys, spot.handler, origin)
            elif spot.handler == 0:
                left = editor.drop(left, spot.keys[:2], spot.group, origin)
        return left


def _splits(command: str) -> Iterator[list[str]]:
    """Split a command as a shell does, and as one does that takes a backslash for a part of a path."""
    for posix in (True, False):
        try:
            words = shlex.split(command, posix=posix)
        except ValueError:  # an open quotation mark
            continue
        yield words if posix else [word.strip("\"'") for word in words]
