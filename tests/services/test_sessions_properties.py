"""Any use of sessions over a real store: two conversations in one scope, one of the same name in another.

What each is told is held against a receiver that knows only the wire, and against the gates of section 004.4 of the
facts. The rules themselves stand against a model in `tests/context/test_delta_machine.py`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from memory_rows import rows_of

import segue
from segue.context import delta as deltas
from segue.context.delta import Served
from segue.memories import making
from segue.services.memories import Memories
from segue.services.sessions import Sessions

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

Clock = Any
Locate = Any
CAP, LOG = 5, 3
COUNT = 10  # memories of each scope
PLACES = st.integers(0, COUNT - 1)
CALLERS = ("ours", "chat"), ("ours", "other"), ("theirs", "chat")
STEPS = st.one_of(
    st.tuples(
        st.just("serve"), st.sampled_from(CALLERS), st.lists(PLACES, max_size=6), st.sampled_from(["heard", "lost"])
    ),
    st.tuples(st.just("serve"), st.sampled_from(CALLERS), st.lists(PLACES, max_size=6), st.just("again")),
    st.tuples(st.just("serve"), st.sampled_from(CALLERS), st.lists(PLACES, max_size=6), st.just("historic")),
    st.tuples(st.just("edit"), st.sampled_from(["ours", "theirs"]), PLACES),
    st.tuples(st.just("supersede"), st.sampled_from(["ours", "theirs"]), PLACES),
    st.tuples(st.just("forget"), st.sampled_from(["ours", "theirs"]), PLACES),
    st.tuples(st.just("reopen")),
)


class Scope:
    """Memories and sessions of one scope; what was remembered there by its place."""

    def __init__(self, opened: segue.Segue, scope_id: str, clock: Clock) -> None:
        shared: dict[str, Any] = {"project": lambda: opened.project, "clock": clock}
        self.memories = Memories(opened._database, scope_id, embedding=opened._given.embedding, **shared)
        self.sessions = Sessions(opened._database, scope_id, **shared)

    def fill(self, name: str) -> list[str]:
        written = self.memories.remember_all([making.item(f"{name} knows {number}.") for number in range(COUNT)])
        return [each.memory.id for each in written if each.memory]


class Receiver:
    """A client that holds what it was told, each in its version, and asks again when it missed an answer."""

    def __init__(self) -> None:
        self.held: dict[str, int] = {}
        self.heard = 0
        self.missed = False

    def hear(self, told: dict[str, Any], texts: dict[str, int], since: int | None) -> None:
        """Take an answer, and the texts that were delivered with it, each in its version."""
        if since is not None and int(told["cursor"]) - 1 - since > LOG:
            self.held.clear()
        for ref in (*told["evicted"], *(each["ref"] for each in told["superseded"])):
            self.held.pop(ref, None)
        self.held |= texts
        self.heard, self.missed = int(told["cursor"]), False


class World:
    """Two scopes in one store, and three conversations."""

    def __init__(self, location: str, directory: Path, clock: Clock) -> None:
        self._open: Callable[[], segue.Segue] = lambda: segue.open(
            location, directory=directory, clock=clock, embedder="none"
        )
        self.clock = clock
        self.opened = self._open()
        self.scopes = self._scopes()
        self.ids = {name: scope.fill(name) for name, scope in self.scopes.items()}
        self.first = {name: list(ids) for name, ids in self.ids.items()}
        self.live = {each for ids in self.ids.values() for each in ids}
        self.forgotten: set[str] = set()
        self.versions = dict.fromkeys(self.live, 1)
        self.receivers = {caller: Receiver() for caller in CALLERS}

    def _scopes(self) -> dict[str, Scope]:
        ours = self.opened.memories.scope_id
        return {name: Scope(self.opened, each, self.clock) for name, each in (("ours", ours), ("theirs", "another"))}

    def reopen(self) -> None:
        self.opened.close()
        self.opened = self._open()
        self.scopes = self._scopes()

    def supersede(self, name: str, place: int) -> None:
        old = self.ids[name][place]
        if old in self.live:
            head = self.scopes[name].memories.supersede(old, f"{old} says more.").memory.id
            self.live = self.live - {old} | {head}
            self.versions[head] = 1
            self.ids[name][place] = head

    def forget(self, name: str, place: int) -> None:
        memory_id = self.ids[name][place]
        if memory_id in self.live:
            self.scopes[name].memories.forget(memory_id)
            self.live.remove(memory_id)
            self.forgotten.add(memory_id)

    def edit(self, name: str, place: int) -> None:
        """The text of a memory changes; its version alone is what a session sees of that."""
        self.versions[self.ids[name][place]] += 1

    def serve(self, caller: tuple[str, str], places: list[int], how: str) -> None:
        name, session = caller
        receiver, sessions = self.receivers[caller], self.scopes[name].sessions
        other_rows = self.rows_but(caller)
        before = set(sessions.show(session).state.known) if self.row(caller) else set()
        historic = how == "historic"
        held = dict(receiver.held)
        served = [(self.first if historic else self.ids)[name][place] for place in places]
        since = receiver.heard if receiver.missed or how == "again" else None
        pack = [Served(each, None, self.versions[each]) for each in served]
        delivery = sessions.deliver(session, pack, since=since, historic=historic)
        told, known = delivery.delta.to_json(), set(delivery.state.known)
        new, evicted = [each["ref"] for each in told["new"]], set(told["evicted"])
        stale = {each["ref"] for each in told["superseded"]}
        here = set(served) - self.forgotten if historic else set(served) & self.live
        assert len(set(new)) == len(new)
        assert set(new) <= known
        assert not evicted & here
        assert not (evicted | stale) & known
        assert all(each["replacement"] in known | {None} for each in told["superseded"])
        if since is None:
            assert set(new) == here - before
            assert evicted | stale <= before
            assert known == (before - evicted - stale) | here
        assert known <= (self.live & set(self.ids[name])) | here
        assert not set(delivery.renewed) & set(new)
        assert set(delivery.renewed) <= here
        row = self.row(caller)
        assert row is not None
        assert tuple(row[column] for column in ("known", "trajectory", "centroid", "log")) == delivery.state.texts()
        assert (str(row["delta_cursor"]), row["turn"]) == (told["cursor"], delivery.state.turn)
        assert self.rows_but(caller) == other_rows
        if how == "lost":
            receiver.missed = True
        else:
            receiver.hear(told, {each: self.versions[each] for each in (*new, *delivery.renewed)}, since)
            assert set(receiver.held) == known
            assert all(receiver.held[each] == self.versions[each] for each in here)
            if since is None:
                assert all(held[each] < self.versions[each] for each in delivery.renewed)

    def row(self, caller: tuple[str, str]) -> dict[str, Any] | None:
        scope_id = self.scopes[caller[0]].memories.scope_id
        return next(
            (row for row in self._rows() if (row["scope_id"], row["session_id"]) == (scope_id, caller[1])), None
        )

    def rows_but(self, caller: tuple[str, str]) -> list[dict[str, Any]]:
        mine = self.row(caller)
        return [row for row in self._rows() if row != mine]

    def _rows(self) -> list[dict[str, Any]]:
        return sorted(rows_of(self.opened, "context_sessions"), key=lambda row: (row["scope_id"], row["session_id"]))


@pytest.mark.requirement("context-session-owner")
@pytest.mark.requirement("context-delta-since")
@pytest.mark.requirement("context-delta-superseded")
def test_any_use_of_sessions(
    kind: str, locate: Locate, clock: Clock, project_directory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(deltas, "CAP", CAP)
    monkeypatch.setattr(deltas, "LOG", LOG)
    examples = 15 if kind == "sqlite" else 6

    @settings(max_examples=examples, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)
    @given(st.lists(STEPS, min_size=8, max_size=30))
    def used(steps: list[tuple[Any, ...]]) -> None:
        world = World(locate(kind), project_directory, clock)
        try:
            for step, *arguments in steps:
                getattr(world, step)(*arguments)
        finally:
            world.opened.close()

    used()
