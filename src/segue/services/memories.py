"""Memories in the store: remembered, proposed and reviewed, listed, edited, replaced, forgotten."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass, replace
from itertools import islice
from typing import TYPE_CHECKING, Any

from segue.base import ids
from segue.base.errors import Conflict, InvalidInput, Refused
from segue.memories import identity as same
from segue.memories import making, supersession
from segue.services.contradicting import contradicted
from segue.services.forgetting import Forgetting
from segue.services.reviewing import Reviewing
from segue.storage import memories as rows
from segue.storage import memory_history as history

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    import sqlalchemy as sa

    from segue.memories.item import AuthorClass, Item
    from segue.memories.memory import Memory, Status
    from segue.services.cleaning import Policy
    from segue.services.forgetting import Admits
    from segue.services.remembering import Verdict, Writer, Written

_BATCH = 500  # items of one transaction


@dataclass(frozen=True, slots=True)
class Remembered:
    """What became of a text: the memory, the verdict (see `remembering.Written`), and what it contradicts.

    Whoever may not know what there is gets the verdict proposed, and a memory without an id.
    """

    memory: Memory
    verdict: Verdict
    replaced: tuple[str, ...] = ()
    conflicts: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Return the shape of `segue remember --json`."""
        return {
            "id": self.memory.id,
            "verdict": self.verdict,
            "status": self.memory.status,
            "kind": self.memory.kind,
            "layer": self.memory.layer,
            "occurrences": self.memory.occurrences,
            "content_hash": self.memory.content_hash,
            "replaced": list(self.replaced),
            "conflicts": list(self.conflicts),
        }


class Memories(Reviewing, Forgetting):
    """The memories of one scope. Every method is one transaction; ids may be shortened to an unambiguous ending."""

    def remember(self, content: str, *, redaction: Policy | None = None, **details: Any) -> Remembered:
        """Make an active memory of a text; `details` are those of `segue.memories.making.item`, by keyword.

        The same text once more is one memory with one more occurrence; a text that waits for review is approved by
        it, where the user says it. A core finding is refused, or masked with `redaction="mask"`.
        Raises InvalidInput `memory.…`, RedactionRefused `memory.redaction`.
        """
        return self._remember(making.item(content, **details), "active", redaction)

    def propose(self, content: str, *, redaction: Policy | None = None, **details: Any) -> Remembered:
        """Make a memory that waits for review and is not served before; see `remember`."""
        details.setdefault("author_class", "agent")
        return self._remember(making.item(content, **details), "pending", redaction)

    def remember_all(self, items: Iterable[Item], *, redaction: Policy | None = None) -> list[Written]:
        """Make active memories of many items, made by `segue.memories.making.item`; 500 of them are one transaction.

        An item whose `ref` was read before is known already. Returns what became of each. Raises InvalidInput
        `memory.…`, RedactionRefused `memory.redaction` at the first item that breaks a rule; whole transactions before
        it stay.
        """
        written: list[Written] = []
        waiting = iter(items)
        while batch := list(islice(waiting, _BATCH)):
            with self.writing(redaction) as (_, writer):
                written += writer.write([self._placed(writer.clean(item)) for item in batch])
                writer.finish()
        self.refresh()
        return written

    def _remember(self, item: Item, status: Status, redaction: Policy | None) -> Remembered:
        with self.writing(redaction) as (connection, writer):
            item = writer.clean(item)
            # What an agent says again approves nothing that waits for the user, and brings back nothing forgotten.
            deliberate = item.provenance.author_class == "user"
            written = writer.write([self._placed(item)], status, deliberate=deliberate)[0]
            writer.finish()
            memory = self._written(connection, written)
            found = contradicted(connection, self._scope, memory, self._clock()) if written.verdict == "new" else ()
            found = tuple(sorted({*found, *written.contested}))
            self._note(connection, f"memory.{_EVENTS[status, written.verdict]}", memory.id)
        self.reindexing.refresh(small=True)
        return Remembered(memory, written.verdict, written.replaced, found)

    def _placed(self, item: Item) -> Item:
        """What is said has a place of its own, so that saying it again counts."""
        if item.provenance.ref:
            return item
        return replace(item, provenance=replace(item.provenance, ref=f"text#{ids.new(self._clock())}"))

    def _written(self, connection: sa.Connection, written: Written) -> Memory:
        if written.memory is None:
            raise Refused(
                "memory.forgotten", "this text was forgotten on purpose; only the user can have it remembered again"
            )
        found = rows.get(connection, self._scope, written.memory.id)
        assert found is not None  # noqa: S101 - it was just written
        return found

    def edit(
        self,
        memory_id: str,
        *,
        content: str | None = None,
        author_class: AuthorClass = "user",
        redaction: Policy | None = None,
        admits: Admits | None = None,
        **details: Any,
    ) -> Memory:
        """Change what a memory says or how it is filed; what it said before stays in its history.

        `details` are kind, layer, summary, entities, tags, project, confidence, occurred_at, valid_from, valid_to.
        `admits` is asked in the transaction, with the memory as it is; what it raises ends the edit.
        Raises InvalidInput `memory.…`, NotFound, Conflict `memory.exists` where another memory says the same,
        Refused `memory.review` where an agent would change the user's words.
        """
        with self.writing(redaction) as (connection, writer):
            before = self._find(connection, memory_id)
            if admits is not None:
                admits(before)
            if supersession.needs_review(author_class, before):
                raise Refused("memory.review", "an agent may not change what the user said; `propose` it instead")
            changed = making.changed(before, content, details, writer.clean)
            if changed == before:
                return before
            named = same.identity(changed)
            alike = rows.by_identity(connection, self._scope, [named]).get(named, [])
            other = next((each for each in alike if each.id != before.id and each.status != "retired"), None)
            if other is not None:
                raise Conflict("memory.exists", f"{other.id} says the same; forget one of them", {"id": other.id})
            history.keep_version(connection, self._scope, before, self._clock(), self._actor)
            after = replace(changed, revision=before.revision + 1)
            writer.rewrite(before, after, named)
            writer.finish()
            self._note(connection, "memory.edited", after.id, {"revision": after.revision})
        return after

    def supersede(
        self,
        memory_id: str,
        content: str = "",
        *,
        by: str = "",
        author_class: AuthorClass = "user",
        redaction: Policy | None = None,
        admits: Admits | None = None,
        **details: Any,
    ) -> Remembered:
        """Replace a memory by a new text, or by the memory that `by` names; the old one is retired.

        `author_class` is who replaces it. What an agent would put in the place of the user's words waits for review
        (status pending) and is recorded as a conflict; of an active memory that `by` names, the conflict is all.
        Kind, layer, project, tags and entities are the old one's unless others are given. `admits` is asked as in
        `edit`.
        Raises NotFound, Refused `memory.retired` (either does not hold any more), `memory.pending` (either waits for
        review itself), `memory.cycle`, InvalidInput.
        """
        if bool(content) == bool(by):
            raise InvalidInput("memory.value", "give the new text, or the memory that replaces it")
        with self.writing(redaction) as (connection, writer):
            old = self._held(connection, memory_id)
            if admits is not None:
                admits(old)
            waits = supersession.needs_review(author_class, old)
            written = None
            if by:
                new = self._held(connection, by)  # what was looked at for approval must not come to mean more
            else:
                item = writer.clean(making.item(content, author_class=author_class, **_inherited(old, details)))
                written = writer.write([self._placed(item)], "pending" if waits else "active", deliberate=True)[0]
                assert written.memory is not None  # noqa: S101 - what is meant is kept
                new = written.memory
            if new.id == old.id:
                raise InvalidInput("memory.value", "a memory does not replace itself; it says this already")
            waits = waits or new.status == "pending"
            if not waits:
                writer.supersede(old, new)
            elif new.status == "pending":
                waiting = replace(new, supersedes=tuple(dict.fromkeys((*new.supersedes, old.id))))
                writer.rewrite(new, waiting)
            writer.finish()
            if waits:
                self._conflict(connection, new.id, old.id, "contested")
            else:
                self._note(connection, "memory.superseded", old.id, {"by": new.id})
            memory = self._find(connection, new.id)
        verdict: Verdict = written.verdict if written else "merged"
        return Remembered(memory, verdict, () if waits else (old.id,), (old.id,) if waits else ())

    def _held(self, connection: sa.Connection, given: str) -> Memory:
        """The active memory of that id. Raises NotFound, Refused `memory.retired`, `memory.pending`."""
        memory = self._find(connection, given)
        if memory.status == "retired":
            details = {"id": memory.id, "superseded_by": memory.superseded_by}
            raise Refused("memory.retired", _retired(memory), details)
        if memory.status == "pending":
            raise Refused("memory.pending", f"{memory.id} waits for review; edit it, approve it or reject it")
        return memory

    def replace_quietly(self, connection: sa.Connection, writer: Writer, old_id: str, new_id: str) -> bool:
        """Retire a memory in favour of another, as a source says; return whether that was done.

        What needs review is recorded as a conflict, what is retired already or would go in circles is left alone.
        """
        found = rows.by_ids(connection, self._scope, [old_id, new_id])
        old, new = found.get(old_id), found.get(new_id)
        if old is None or new is None or old.status != "active" or new.status != "active":
            return False
        if supersession.needs_review(new.provenance.author_class, old):
            self._conflict(connection, new.id, old.id, "contested")
            return False
        with contextlib.suppress(Refused):
            writer.supersede(old, new)
            return True
        return False


_EVENTS: dict[tuple[Status, Verdict], str] = {
    ("active", "new"): "remembered",
    ("active", "merged"): "repeated",
    ("active", "known"): "repeated",
    ("active", "approved"): "approved",
    ("active", "forgotten"): "refused",
    ("pending", "new"): "proposed",
    ("pending", "merged"): "repeated",
    ("pending", "known"): "repeated",
    ("pending", "forgotten"): "refused",
}


def _inherited(old: Memory, details: Mapping[str, Any]) -> dict[str, Any]:
    """The details of what replaces a memory: its own, unless others are given."""
    kept: dict[str, Any] = {"project": old.project, "tags": old.tags, "entities": old.entities}
    if "kind" not in details and "layer" not in details:
        kept |= {"kind": old.kind, "layer": old.layer}
    return kept | dict(details)


def _retired(old: Memory) -> str:
    if old.superseded_by:
        return f"{old.id} was replaced already, by {old.superseded_by}; replace that one"
    return f"{old.id} does not hold any more; remember the new text instead"
