"""The functions of `segue.hosts` for tests of one file: the server's entry alone, and programs that always answer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from segue import hosts

if TYPE_CHECKING:
    from segue.hosts import Change, State, Surroundings
    from segue.hosts.host import Scope


def install(host: str, scope: Scope, around: Surroundings, **options: Any) -> Change:
    """Install without hooks, and return what became of the server's file."""
    return _server(hosts.install(host, scope, around, hooks=(), **options))


def uninstall(host: str, scope: Scope, around: Surroundings, **options: Any) -> Change:
    """Uninstall, and return what became of the server's file."""
    return _server(hosts.uninstall(host, scope, around, **options))


def status(host: str, around: Surroundings) -> list[State]:
    """Return how things stand with the server's entry in each scope."""
    states = hosts.status(host, around, ask=lambda *_: "answers")
    return [state for state in states if state.part == "server"]


def _server(changes: tuple[Change, ...]) -> Change:
    first, *others = changes
    assert first.part == "server"
    assert all(each.action == "unchanged" for each in others)
    return first
