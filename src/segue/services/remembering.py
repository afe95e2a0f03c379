"""Writing memories: what is said again is counted, what replaces something retires it, the rest is new.

One `Writer` serves one transaction. A person's single remark and a thousand turns of a conversation go the same way.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from segue.base import ids
from segue.base.errors import Refused
from segue.memories import identity as same
from segue.memories import making, repetition, supersession
from segue.memories.memory import PREFIX, TRUST
from segue.services.cleaning import clean
from segue.storage import memories as rows
from segue.storage import memory_entities as entity_rows
from segue.storage import memory_history as history
from segue.storage import memory_sources as sources
from segue.storage.memory_sources import Said

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    import sqlalchemy as sa

    from segue.memories.item import AuthorClass, Item
    from segue.memories.memory import Memory, Status
    from segue.services.cleaning import Policy
    from segue.services.indexing import Indexing
    from segue.services.known_names import KnownNames
    from segue.storage.memory_sources import Place

Verdict = Literal["new", "merged", "known", "approved", "forgotten", "proposed"]


@dataclass(frozen=True, slots=True)
class Written:
    """What became of an item.

    `verdict` is new, merged (said before: one occurrence more), known (this very place was read before), approved (it
    was waiting for that) or forgotten (its text was forgotten, and is not taken back). `contested` are the memories
    that it would replace and may not without review. `memory` is None where nothing was kept.
    """

    verdict: Verdict
    memory: Memory | None
    replaced: tuple[str, ...] = ()
    contested: tuple[str, ...] = ()


class Writer:
    """Writes items into one scope. Call `finish` at the end of the transaction, then nothing more.

    `key` is the store's, for the hashes of forgotten texts; `policy` says what becomes of a text with a secret in it,
    `extended` that more than secrets is looked for (see `cleaning.clean`).
    """

    def __init__(
        self,
        connection: sa.Connection,
        scope_id: str,
        indexing: Indexing,
        *,
        now: datetime,
        key: bytes,
        known: KnownNames,
        policy: Policy = "refuse",
        extended: bool = False,
    ) -> None:
        self._connection = connection
        self.scope_id = scope_id
        self.indexing = indexing
        self._now = now
        self._key = key
        self._known = known
        self._names = known.now(connection, scope_id, indexing.state)
        self._policy = policy
        self._extended = extended
        self._last_id = ""
        self._new: dict[str, tuple[Memory, str]] = {}
        self._said: dict[Place, Said] = {}
        self._confirmed: dict[Place, Said] = {}
        self._counted: dict[str, int] = {}
        self._alike: dict[str, list[Memory]] = {}
        self._gone: list[tuple[Said, AuthorClass, Memory | None]] = []
        self._left_places: list[Said] = []
        self._held: dict[str, Memory] = {}
        self._stored_counts: dict[str, int] = {}
        self._contested: list[tuple[str, str]] = []

    def clean(self, item: Item) -> Item:
        """Return an item checked and free of secrets: masked, where the policy says so.

        Raises InvalidInput `memory.…`, RedactionRefused `memory.redaction`: nothing of it is kept.
        """
        return clean(item, self._policy, extended=self._extended)

    def write(self, items: Sequence[Item], status: Status = "active", *, deliberate: bool = False) -> list[Written]:
        """Write items that went through `clean`, in their order.

        `deliberate` says that somebody means this very text: also one that was forgotten or retired, and that it takes
        the place of what it was proposed for. Sources that are read do none of that.
        """
        named = [same.identity(item) for item in items]
        places = [sources.split(item.provenance.ref) for item in items]
        known = sources.at(self._connection, self.scope_id, places)
        self._look_up(known, dict(zip(places, named, strict=True)))
        for each, memories in rows.by_identity(self._connection, self.scope_id, list(dict.fromkeys(named))).items():
            self._alike.setdefault(each, memories)
        buried = set() if deliberate else self._buried(items, named)
        written = [
            self._one(item, each, self._said.get(place) or known.get(place), status, each in buried, deliberate)
            for item, each, place in zip(items, named, places, strict=True)
        ]
        done = self._settled(written)
        self._held.clear()
        return done

    def _look_up(self, known: Mapping[Place, Said], now: Mapping[Place, str]) -> None:
        """Read all at once what each place said until now; and how often that is said, where it says another text."""
        told = [each.memory_id for each in known.values() if each.memory_id not in self._new]
        self._held = rows.by_ids(self._connection, self.scope_id, list(dict.fromkeys(told)))
        left = [each.memory_id for place, each in known.items() if each.identity != now[place]]
        self._stored_counts = sources.counts(self._connection, self.scope_id, list(dict.fromkeys(left)))

    def adopt(self, memory: Memory, source: str) -> None:
        """Take over a memory of another store as it is, under its own id, which is free here; `source` says it."""
        named = same.identity(memory)
        self._new[memory.id] = (memory, named)
        self.indexing.add(memory)
        said = Said.of(memory.id, named, replace(memory.provenance, ref=f"{source}#{memory.id}"), self._now)
        self._said[said.source, said.place] = said

    def _buried(self, items: Sequence[Item], named: Sequence[str]) -> set[str]:
        """Those of the identities whose texts were forgotten, in whatever project."""
        anywhere = [
            same.anywhere(item) if item.project or item.provenance.origin == "record" else each
            for item, each in zip(items, named, strict=True)
        ]
        hashes = {each: same.keyed(each, self._key) for each in {*named, *anywhere}}
        found = history.forgotten(self._connection, self.scope_id, list(hashes.values()))
        return {
            each for each, text in zip(named, anywhere, strict=True) if hashes[each] in found or hashes[text] in found
        }

    def _one(
        self, item: Item, named: str, said: Said | None, status: Status, buried: bool, deliberate: bool
    ) -> Written:
        updated_at = making.instant("updated_at", item.updated_at)
        if said is not None and _is_later(said, updated_at):
            return Written("known", self._get(said.memory_id))  # an older state of what is known already
        if said is not None and said.identity == named:
            memory = self._get(said.memory_id)
            if memory is not None:
                self._confirm(said, updated_at)
                if item.retired and memory.status == "active" and memory.occurrences == memory.revision == 1:
                    memory = self.retire(memory)  # its only source takes it back
                return Written("known", memory)
        alike = self._fitting(self._alike.get(named, ()), item, said, deliberate)
        if buried and (alike is None or alike.status == "retired"):
            if said is not None:
                self._left(said, item, None)
            return Written("forgotten", None)
        if alike is None:
            memory = making.made(item, memory_id=self._next_id(), now=self._now, status=status)
            self._new[memory.id] = (memory, named)
            self.indexing.add(memory)
            self._alike.setdefault(named, []).append(memory)
            written = Written("new", memory)
        else:
            written = self._merged(alike, item, named, status, deliberate)
        assert written.memory is not None  # noqa: S101 - both ways made one
        if said is not None:
            self._left(said, item, written.memory if written.verdict == "new" else None)
        self._say(Said.of(written.memory.id, named, item.provenance, self._now, updated_at), written.memory)
        return written

    def _next_id(self) -> str:
        self._last_id = ids.following(self._last_id) if self._last_id else ids.new(self._now)
        return PREFIX + self._last_id

    @staticmethod
    def _fitting(alike: Sequence[Memory], item: Item, said: Said | None, deliberate: bool) -> Memory | None:
        """The memory that an item with the same text belongs to.

        What was replaced is not said anew by another source, which may be older. Where a source comes back to a text,
        or says what was only taken back, that is a new memory.
        """
        for status in ("active", "pending"):
            for memory in alike:
                if memory.status == status:
                    return memory
        if deliberate:
            return None
        return next((each for each in alike if item.retired or (said is None and each.superseded_by)), None)

    def _merged(self, memory: Memory, item: Item, named: str, status: Status, deliberate: bool) -> Written:
        author = item.provenance.author_class
        waited = memory.status == "pending"
        # What the user says holds, whoever proposed it before.
        holds = waited and status == "active" and author == "user" and not item.retired
        # Who may not replace a memory does not change it by the way either, nor does what is only proposed change what
        # holds: that it is said once more is all that counts.
        only_proposed = status == "pending" and not waited
        may_add = not (only_proposed or supersession.needs_review(author, memory))
        merged = repetition.joined(memory, item) if may_add else memory
        if holds or not waited:  # what waits to be looked at must not come to mean more
            if may_add:
                merged = repetition.completed(merged, item)
            if not only_proposed and TRUST[author] > TRUST[memory.provenance.author_class]:
                # What the user says too is the user's word from then on.
                merged = replace(merged, provenance=item.provenance, trust=TRUST[author])
        if merged != memory:
            self.rewrite(memory, merged, named)
        if not holds:
            return Written("merged", merged)
        # Only who means this very text puts it in the place of what it was proposed for.
        return Written("approved", self.approve(merged, replacing=deliberate))

    def _confirm(self, said: Said, updated_at: datetime | None) -> None:
        """A place says the same as before, in a later state of its source."""
        if updated_at is None or updated_at == said.updated_at:
            return
        later = replace(said, updated_at=updated_at)
        place = (said.source, said.place)
        (self._said if place in self._said else self._confirmed)[place] = later

    def _say(self, said: Said, memory: Memory) -> None:
        self._said[said.source, said.place] = said
        if memory.id not in self._counted:
            # A memory that is said once may also be one that no place says any more.
            known = memory.occurrences if memory.occurrences > 1 else None
            before = 0 if memory.id in self._new else known or self._stored_count(memory.id)
            self._counted[memory.id] = before
        self._counted[memory.id] += 1

    def _stored_count(self, memory_id: str) -> int:
        """How many places the store has for a memory; those that are left now are still among them."""
        if memory_id not in self._stored_counts:
            self._stored_counts |= sources.counts(self._connection, self.scope_id, [memory_id])
        return self._stored_counts[memory_id]

    def _left(self, said: Said, item: Item, new: Memory | None) -> None:
        """A place does not say any more what it said, but `new`, or something that was known before."""
        self._confirmed.pop((said.source, said.place), None)
        if (said.source, said.place) in self._said:
            del self._said[said.source, said.place]
        else:
            self._left_places.append(said)
        if said.memory_id not in self._counted:
            self._counted[said.memory_id] = self._stored_count(said.memory_id)
        self._counted[said.memory_id] -= 1
        self._gone.append((said, item.provenance.author_class, new))

    def _settled(self, written: Sequence[Written]) -> list[Written]:
        """Retire what no place says any more, once all of them were read: a text may only have moved to another."""
        if not self._gone:
            return list(written)
        sources.remove(self._connection, self.scope_id, self._left_places)
        self._left_places.clear()
        replaced: dict[str, str] = {}
        contested: dict[str, str] = {}
        for said, author_class, new in self._gone:
            before = self._get(said.memory_id)
            if before is None or self._counted[before.id] > 0:
                continue
            self._counted[before.id] = 1  # it was said once, there
            if before.status != "active" or same.identity(before) != said.identity:
                continue  # what a person has edited is his own
            if supersession.needs_review(author_class, before):
                if new is not None:
                    contested[new.id] = before.id
            elif new is not None:
                self.supersede(before, new)
                replaced[new.id] = before.id
            else:
                self.retire(before)
        self._gone.clear()
        self._contested += contested.items()
        return [
            replace(
                each,
                memory=self._get(each.memory.id),
                replaced=tuple(filter(None, [replaced.get(each.memory.id)])) if each.verdict == "new" else (),
                contested=tuple(filter(None, [contested.get(each.memory.id)])) if each.verdict == "new" else (),
            )
            if each.memory
            else each
            for each in written
        ]

    def approve(self, memory: Memory, *, replacing: bool = True) -> Memory:
        """Make a memory active that waited for it; what it was meant to replace is retired, if `replacing`."""
        approved = replace(memory, status="active", supersedes=())
        self.rewrite(memory, approved)
        if not replacing:
            return approved
        for old in rows.by_ids(self._connection, self.scope_id, memory.supersedes).values():
            if old.status == "active":
                _, approved = self.supersede(old, approved)
        return approved

    def supersede(self, old: Memory, new: Memory) -> tuple[Memory, Memory]:
        """Retire `old` in favour of `new`; return both as they are then.

        Raises Refused `memory.cycle` where either would come to replace itself.
        """
        if supersession.closes_cycle(old.id, new.id, self._above):
            raise Refused("memory.cycle", f"{new.id} was itself replaced by {old.id}; nothing was changed")
        old_now = replace(old, status="retired", retired_at=old.retired_at or self._now, superseded_by=new.id)
        new = self._get(new.id) or new
        new_now = replace(new, supersedes=tuple(dict.fromkeys((*new.supersedes, old.id))))
        self.rewrite(old, old_now)
        self.rewrite(new, new_now)
        return old_now, new_now

    def _above(self, memory_id: str) -> str:
        held = self._new.get(memory_id)
        return held[0].superseded_by if held else rows.above(self._connection, self.scope_id, memory_id)

    def retire(self, memory: Memory) -> Memory:
        """Take a memory back: from now on it does not hold any more."""
        retired = replace(memory, status="retired", retired_at=memory.retired_at or self._now)
        self.rewrite(memory, retired)
        return retired

    def rewrite(self, before: Memory, after: Memory, named: str = "") -> None:
        """Write what became of a memory, and what search keeps of it."""
        named = named or same.identity(after)
        if before.id in self._new:
            self._new[before.id] = (after, named)
        else:
            rows.replace(self._connection, self.scope_id, after, named)
            self._write_entities([after])
            if after.id in self._held:
                self._held[after.id] = after
        self._alike[named] = [after if each.id == after.id else each for each in self._alike.get(named, [])]
        if before.status != "pending" and self._says(before) == self._says(after):
            self.indexing.bound(after)
        else:
            self.indexing.remove(before)
            self.indexing.add(after)

    @staticmethod
    def _says(memory: Memory) -> tuple[object, ...]:
        return (
            memory.content,
            memory.summary,
            memory.tags,
            memory.entities,
            memory.occurred_at,
            memory.thread,
            memory.speaker,
        )

    def _get(self, memory_id: str) -> Memory | None:
        new = self._new.get(memory_id)
        held = new[0] if new else self._held.get(memory_id)
        return held or rows.get(self._connection, self.scope_id, memory_id)

    def finish(self, *, forgotten: bool = False) -> None:
        """Write what is new, in as few statements as it takes; see `Indexing.flush`."""
        counted = {each: max(number, 1) for each, number in self._counted.items()}
        new = [(_counted(memory, counted.pop(memory.id, 1)), named) for memory, named in self._new.values()]
        rows.insert(self._connection, self.scope_id, new)
        sources.add(self._connection, self.scope_id, self._said.values())
        sources.confirm(self._connection, self.scope_id, self._confirmed.values())
        rows.set_occurrences(self._connection, self.scope_id, counted)
        self._write_entities([memory for memory, _ in new], fresh=True)
        for first, second in self._contested:
            conflict = history.Conflict(first, second, "contested", self._now)
            history.add_conflict(self._connection, self.scope_id, conflict)
        self.indexing.flush(forgotten=forgotten)
        given = dict.fromkeys(name for memory, _ in new for name in (*memory.entities, memory.speaker) if name)
        self._known.learn(given, self.indexing.state)  # what the next transaction knows

    def _write_entities(self, written: Sequence[Memory], *, fresh: bool = False) -> None:
        named = [each for memory in written for each in self._names.in_memory(memory)]
        replaced = [] if fresh else [memory.id for memory in written]
        entity_rows.write(self._connection, self.scope_id, replaced, named)


def _is_later(said: Said, updated_at: datetime | None) -> bool:
    """Whether a place was read in a later state of its source than that of `updated_at`."""
    return said.updated_at is not None and updated_at is not None and updated_at < said.updated_at


def _counted(memory: Memory, occurrences: int) -> Memory:
    return memory if memory.occurrences == occurrences else replace(memory, occurrences=occurrences)
