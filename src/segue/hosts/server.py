"""The entry of the MCP server in the file in which a host keeps its servers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from segue.hosts import editor, toml_editor
from segue.hosts.host import ENTRY, SERVER_ARGUMENTS
from segue.hosts.part import Found, is_program

if TYPE_CHECKING:
    from collections.abc import Sequence

    from segue.hosts.host import Host
    from segue.hosts.part import Kind


class _Editor(Protocol):
    def get(self, raw: bytes, keys: Sequence[str], name: str) -> dict[str, Any] | None: ...
    def put(self, raw: bytes, keys: Sequence[str], name: str, entry: Any) -> bytes: ...
    def drop(self, raw: bytes, keys: Sequence[str], name: str, origin: bytes | None) -> bytes | None: ...


@dataclass(frozen=True, slots=True)
class Server:
    """The entry `segue` of a host, which starts `program`.

    An entry that starts Segue from another path keeps its other keys when it is brought up to date.
    """

    host: Host
    program: str
    kind: Kind = "server"

    @property
    def is_empty(self) -> bool:
        return False

    def look(self, raw: bytes) -> Found:
        entry = self._editor.get(raw, self.host.keys, ENTRY)
        if entry is None:
            return Found(is_there=False, is_ours=False)
        started = entry.get("command", "")
        program = started if isinstance(started, str) else ""
        return Found(is_there=True, is_ours=self._is_ours(entry), program=program)

    def put(self, raw: bytes, origin: bytes | None = None) -> bytes:  # noqa: ARG002 - nothing of it goes
        if self.look(raw).is_ours:
            return self._editor.put(raw, (*self.host.keys, ENTRY), "command", self.program)
        return self._editor.put(raw, self.host.keys, ENTRY, self.host.entry(self.program))

    def drop(self, raw: bytes, origin: bytes | None) -> bytes | None:
        return self._editor.drop(raw, self.host.keys, ENTRY, origin)

    def is_only_change(self, raw: bytes, origin: bytes) -> bool:
        entry = self._editor.get(raw, self.host.keys, ENTRY)
        if entry is None or not isinstance(entry.get("command"), str):
            return False
        return self._editor.put(origin, self.host.keys, ENTRY, self.host.entry(entry["command"])) == raw

    def differs(self, raw: bytes) -> bool:
        return self.put(raw) != raw

    @property
    def _editor(self) -> _Editor:
        return toml_editor if self.host.format == "toml" else editor

    def _is_ours(self, entry: dict[str, Any]) -> bool:
        """Whether an entry starts Segue's MCP server: ours, perhaps from an older place, perhaps with more keys."""
        if entry.get("type", "stdio") != "stdio":
            return False
        arguments = entry.get("args")
        is_server = isinstance(arguments, list) and arguments[:1] == list(SERVER_ARGUMENTS)
        return is_server and is_program(entry.get("command"), self.program)
