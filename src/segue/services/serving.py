"""What one call for context is answered with: the pack, and what the call adds to it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from segue.context import document
from segue.context.candidate import Candidate, Packed
from segue.context.envelope import envelope
from segue.context.layers import natural
from segue.context.serving import served

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from segue.context.delta import Delta, Served
    from segue.context.pack import Pack
    from segue.memories.memory import Memory
    from segue.services.sessions import Delivery


@dataclass(frozen=True, slots=True)
class Serving:
    """A pack as it is delivered. `packed` are the items to deliver; `delta` is None without a session.

    `untold` are memories that the delta announces and no item tells: the session does not know them by that.

    `known_us` and `delivered` say what later pages leave out; `receipt` names the entry in the event log, `pin` the
    hash, `arguments` are those of the call.
    """

    pack: Pack
    known_us: int = 0
    delivered: str = ""
    packed: tuple[Packed, ...] | None = None
    untold: frozenset[str] = frozenset()
    delta: Delta | None = None
    receipt: Mapping[str, Any] | None = None
    pin: Mapping[str, Any] | None = None
    arguments: Mapping[str, Any] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    @property
    def items(self) -> tuple[Packed, ...]:
        """The items that are delivered."""
        return self.pack.packed if self.packed is None else self.packed

    @property
    def refs(self) -> tuple[str, ...]:
        """The ids of the items that are delivered."""
        return tuple(each.candidate.ref for each in self.items)

    def served(self) -> list[Served]:
        """Return what a session is told of: every item of the pack, open loops too."""
        return served(self.pack.packed)

    def narrowed(self, delivery: Delivery, again: Sequence[Memory]) -> Serving:
        """Return the same with the items alone that a session lacks: new ones, and those that say more than it has.

        `again` are memories that are announced once more though the pack does not hold them; they come with their text
        as far as the budget goes.
        """
        lacking = {*(each.ref for each in delivery.delta.new), *delivery.renewed}
        items = [each for each in self.pack.packed if each.candidate.ref in lacking]
        room = self.pack.tokens - self.pack.header - sum(each.cost for each in items)
        notes = self.notes
        untold = {each.ref for each in delivery.delta.new} - {each.candidate.ref for each in items}
        held = len(self.pack.packed) - len(items)
        if held:
            notes = (*notes, f"{held} of the items that this pack holds are left out: the session has them")
        for memory in again:
            cost = self.pack.profile.cost(memory.content)
            if cost <= room:
                items.append(Packed(Candidate(memory, natural(memory)), memory.content, cost))
                room -= cost
                untold.discard(memory.id)
        without = sum(memory.id in untold for memory in again)
        if without:
            some = "1 memory is" if without == 1 else f"{without:,} memories are"
            notes = (*notes, f"{some} announced again without the text, for which there is no room; ask for it anew")
        return replace(self, packed=tuple(items), untold=frozenset(untold), notes=notes)

    def envelope(self) -> dict[str, Any]:
        """Return the self-describing envelope (specification, section 1)."""
        found = envelope(
            self.pack,
            items=[self.pack.item(each) for each in self.items],
            working_memory=self.delta.to_json() if self.delta else None,
            receipt=self.receipt,
            pin=self.pin,
            arguments=self.arguments,
        )
        if self.notes:
            found["coverage"] = found["coverage"] | {"notes": [*found["coverage"]["notes"], *self.notes]}
        return found

    def to_json(self) -> dict[str, Any]:
        """Return the pack as layers (facts, section 004.3); the delta stands among its warnings."""
        warnings: list[dict[str, Any]] = [{"kind": "session", "detail": each} for each in self.notes]
        if self.delta:
            detail = "what changed for this session since its last call"
            warnings.append({"kind": "working_memory", "detail": detail, "working_memory": self.delta.to_json()})
        return document.document(self.pack, packed=self.items, warnings=warnings, receipt=self.receipt, pin=self.pin)

    def to_markdown(self) -> str:
        """Return the pack as Markdown."""
        return document.markdown(self.pack, packed=self.items, delta=self._delta_line())

    def _delta_line(self) -> str:
        lines = list(self.notes)
        if self.delta:
            wire = self.delta.to_json()
            parts = [f"{name} {len(wire[name])}" for name in ("new", "evicted", "superseded")]
            lines.append(f"Session, cursor {wire['cursor']}: {', '.join(parts)}.")
            lines += [f"Forget: {', '.join(wire['evicted'])}."] if wire["evicted"] else []
            lines += [
                f"Superseded: {each['ref']}" + (f", now {each['replacement']}." if each["replacement"] else ".")
                for each in wire["superseded"]
            ]
        return "\n".join(lines)
