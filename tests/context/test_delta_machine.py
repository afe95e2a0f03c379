"""Any conversation against a plain model of it, and against receivers that hear all of it or only some.

The model knows nothing of the code: it keeps every event that ever was, and answers by looking through them.
"""

from __future__ import annotations

from typing import Any

import hypothesis.strategies as st
import pytest
from hypothesis import settings
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule, run_state_machine_as_test

from segue.base.errors import InvalidInput
from segue.context import delta as deltas
from segue.context.delta import Served, State, step
from segue.context.working_set import read

CAP, LOG, TTL = 5, 3, 4
MEMORIES = [f"m{number:02}" for number in range(14)]
REFS = st.sampled_from(MEMORIES)
NEWEST = 9  # no version is higher
PACKS = st.lists(st.tuples(REFS, st.none() | st.floats(0, 1), st.integers(0, NEWEST)), max_size=7)
Pack = list[tuple[str, float | None, int]]


class Model:
    """Every event of a conversation, in its order."""

    def __init__(self) -> None:
        self.cursor = 0
        self.last_seen: dict[str, int] = {}
        self.events: list[tuple[int, str, str]] = []  # cursor, what happened (new, evicted, superseded), id
        self.instead: dict[str, str] = {}  # as it was told when the id left
        self.packs: list[list[str]] = []

    def known(self) -> set[str]:
        return {ref for ref in self.last_seen if self.fate(ref)[1] == "new"}

    def fate(self, ref: str) -> tuple[int, str]:
        return [(cursor, kind) for cursor, kind, each in self.events if each == ref][-1]

    def turn(self, pack: list[str], gone: set[str], heads: dict[str, str], *, historic: bool) -> None:
        self.cursor += 1
        pack = [ref for place, ref in enumerate(pack) if ref not in pack[:place]]
        pack = [ref for ref in pack if ref not in gone and (historic or ref not in heads)]
        for ref in sorted(self.known()):
            if ref in gone:
                self.events.append((self.cursor, "evicted", ref))
            elif ref in heads and ref not in pack:
                self.events.append((self.cursor, "superseded", ref))
            elif ref not in pack and self.last_seen[ref] <= self.cursor - TTL:
                self.events.append((self.cursor, "evicted", ref))
        for ref in pack:
            if ref not in self.known():
                self.events.append((self.cursor, "new", ref))
            self.last_seen[ref] = self.cursor
        while len(self.known()) > CAP and self.known() - set(pack):
            oldest = min(self.known() - set(pack), key=lambda ref: (self.last_seen[ref], ref))
            self.events.append((self.cursor, "evicted", oldest))
        self.packs.append(pack)
        replaced = [ref for cursor, kind, ref in self.events if (cursor, kind) == (self.cursor, "superseded")]
        self.instead |= {ref: heads[ref] if heads[ref] in self.known() else "" for ref in replaced}

    def answer(self, heads: dict[str, str], since: int | None) -> dict[str, Any]:
        """What a receiver is told that has heard all answers up to `since`, by default all before this one."""
        heard = self.cursor - 1 if since is None else since
        everything = heard < self.cursor - 1 - LOG
        pack, known = self.packs[-1], self.known()
        announced = [
            ref
            for cursor, kind, ref in self.events
            if kind == "new" and ref in known and (everything or cursor > heard) and self.fate(ref) == (cursor, "new")
        ]
        left = {
            ref: self.fate(ref)[1]
            for ref in self.last_seen
            if ref not in known and self.fate(ref)[0] > max(heard, self.cursor - 1 - LOG)
        }
        return {
            "new": [ref for ref in pack if ref in announced] + [ref for ref in announced if ref not in pack],
            "evicted": sorted(ref for ref, kind in left.items() if kind == "evicted"),
            "superseded": sorted(ref for ref, kind in left.items() if kind == "superseded"),
            "cursor": str(self.cursor),
        }


class Receiver:
    """A client: the ids that it holds, each in its version, and the last answer that it heard.

    It is delivered the text of what is new or renewed, and that alone.
    """

    def __init__(self) -> None:
        self.held: dict[str, int] = {}
        self.heard = 0

    def hear(self, told: dict[str, Any], renewed: set[str], pack: Pack, since: int | None) -> None:
        if since is not None and int(told["cursor"]) - 1 - since > LOG:
            self.held.clear()
        for ref in (*told["evicted"], *(each["ref"] for each in told["superseded"])):
            self.held.pop(ref, None)
        for ref in {each["ref"] for each in told["new"]} | renewed:
            delivered = [version for each, _, version in pack if each == ref]
            # What the pack does not hold is sent beside it, as it is now.
            self.held[ref] = max(*delivered, self.held.get(ref, 0), 0) if delivered else NEWEST
        self.heard = int(told["cursor"])


class Conversation(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.state = State()
        self.model = Model()
        self.careful, self.deaf = Receiver(), Receiver()
        self.gone: set[str] = set()
        self.above: dict[str, str] = {}

    def heads(self) -> dict[str, str]:
        """What holds instead of each retired memory, "" where that is nothing; of forgotten ones nothing is known."""
        found = {}
        for ref in self.above.keys() - self.gone:
            at = ref
            while at in self.above and at not in self.gone:
                at = self.above[at]
            found[ref] = "" if at in self.gone else at
        return found

    @rule(ref=REFS, by=REFS)
    def supersede(self, ref: str, by: str) -> None:
        if by > ref:  # so nothing goes in circles
            self.above.setdefault(ref, by)

    @rule(ref=REFS)
    def take_back(self, ref: str) -> None:
        self.above.setdefault(ref, "")

    @rule(ref=REFS)
    def forget(self, ref: str) -> None:
        self.gone.add(ref)

    @rule(ref=REFS)
    def give_back(self, ref: str) -> None:
        """It holds again, and may be read again."""
        self.gone.discard(ref)
        self.above.pop(ref, None)

    @rule(pack=PACKS, heard=st.booleans(), historic=st.booleans())
    def serve(self, pack: Pack, heard: bool, historic: bool) -> None:
        """A turn of those who heard every answer; one of them misses this one, and asks again with `since` later."""
        since = self.deaf.heard if self.deaf.heard < self.state.cursor else None
        told, renewed = self.tell(pack, since, historic=historic)
        self.careful.hear(told, renewed, pack, since)
        if heard:
            self.deaf.hear(told, renewed, pack, since)

    @rule(pack=PACKS, share=st.floats(0, 1), historic=st.booleans())
    def send_again(self, pack: Pack, share: float, historic: bool) -> None:
        """Somebody asks for more than is missing."""
        since = min(round(self.state.cursor * share), self.deaf.heard)
        told, renewed = self.tell(pack, since, historic=historic)
        self.careful.hear(told, renewed, pack, since)
        self.deaf.hear(told, renewed, pack, since)

    @rule(beyond=st.integers(1, 3), below=st.integers(-3, -1))
    def ask_wrongly(self, beyond: int, below: int) -> None:
        for since in (self.state.cursor + beyond, below):
            with pytest.raises(InvalidInput):
                step(self.state, [], since=since)

    def tell(self, pack: Pack, since: int | None, *, historic: bool) -> tuple[dict[str, Any], set[str]]:
        served = [Served(*each) for each in pack]
        before, heads = self.state.known, self.heads()
        self.state, delta = step(self.state, served, gone=self.gone, superseded=heads, since=since, historic=historic)
        told = delta.to_json()
        self.model.turn([ref for ref, _, _ in pack], self.gone, heads, historic=historic)
        expected = self.model.answer(heads, since)
        assert [each["ref"] for each in told["new"]] == expected["new"]
        assert told["evicted"] == expected["evicted"]
        assert [each["ref"] for each in told["superseded"]] == expected["superseded"]
        assert told["cursor"] == expected["cursor"]
        self.check_values(told, pack, heads)
        self.check_renewed(told, delta.renewed, pack)
        if since is None:
            self.check_gates(told, set(before))
            known = {ref: each.version for ref, each in before.items()}
            renewable = before.keys() - {each["ref"] for each in told["new"]}
            risen = {ref for ref, _, version in pack if version > known.get(ref, NEWEST)}
            assert set(delta.renewed) == risen & set(self.model.packs[-1])
            assert all(each.version >= known.get(ref, 0) for ref, each in self.state.known.items() if ref in renewable)
        return told, set(delta.renewed)

    def check_renewed(self, told: dict[str, Any], renewed: tuple[str, ...], pack: Pack) -> None:
        """In the order of the pack, and not new; what a receiver has by now is not sent again by the next answer."""
        assert list(renewed) == [ref for ref in self.model.packs[-1] if ref in renewed]
        assert not {each["ref"] for each in told["new"]} & set(renewed)
        _, again = step(self.state, [Served(*each) for each in pack], gone=self.gone, historic=True)
        assert again.renewed == ()

    def check_values(self, told: dict[str, Any], pack: Pack, heads: dict[str, str]) -> None:
        first = {ref: relevance for ref, relevance, _ in reversed(pack)}
        for each in told["new"]:
            relevance = first.get(each["ref"])
            assert each["delta_relevance"] == (None if relevance is None else round(relevance, 6))
        for each in told["superseded"]:
            head = heads.get(each["ref"], self.model.instead[each["ref"]])
            assert each["replacement"] == (head if head in self.state.known else None)
            assert each["replacement"] != each["ref"]

    def check_gates(self, told: dict[str, Any], before: set[str]) -> None:
        """The gates of section 004.4 of the facts."""
        served = set(self.model.packs[-1])
        new = [each["ref"] for each in told["new"]]
        evicted, stale = set(told["evicted"]), {each["ref"] for each in told["superseded"]}
        assert len(set(new)) == len(new)
        assert set(new) == served - before
        assert evicted <= before - served
        assert stale <= before
        assert set(self.state.known) == (before - evicted - stale) | served

    @invariant()
    def all_agree(self) -> None:
        known = set(self.state.known)
        assert known == self.model.known() == set(self.careful.held)
        assert self.deaf.heard < self.state.cursor or set(self.deaf.held) == known
        assert len(known) <= max(CAP, len(set(self.model.packs[-1])) if self.model.packs else 0)
        assert {ref: each.turn for ref, each in self.state.known.items()} == {
            ref: self.model.last_seen[ref] for ref in known
        }

    @invariant()
    def nobody_is_taken_to_have_a_higher_version_than_was_delivered(self) -> None:
        for ref, each in self.state.known.items():
            assert each.version <= self.careful.held[ref]
            assert self.deaf.heard < self.state.cursor or each.version <= self.deaf.held[ref]

    @invariant()
    def it_can_be_read_back(self) -> None:
        texts = self.state.texts()
        again = read(texts, cursor=self.state.cursor, turn=self.state.turn)
        assert (again, again.texts()) == (self.state, texts)


@pytest.mark.requirement("context-delta-no-leak")
@pytest.mark.requirement("context-delta-no-resend")
@pytest.mark.requirement("context-delta-eviction")
@pytest.mark.requirement("context-delta-cursor")
@pytest.mark.requirement("context-delta-cap")
@pytest.mark.requirement("context-delta-since")
@pytest.mark.requirement("context-delta-superseded")
def test_any_conversation(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(deltas, "CAP", CAP)
    monkeypatch.setattr(deltas, "LOG", LOG)
    assert deltas.TTL == TTL
    run_state_machine_as_test(
        Conversation, settings=settings(max_examples=100, stateful_step_count=40, deadline=None, derandomize=True)
    )
