"""Writing memories: what is said again is counted, what replaces something retires it, the rest is new.

One `Writer` serves one transaction. A person's single remark and a thousand turns of a conversation go the same way.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from segue.base import ids, redaction
from segue.base.errors import Refused
from segue.base.redaction import Field, RedactionRefused
from segue.memories import identity as same
from segue.memories import making, supersession
from segue.memories.memory import PREFIX, TRUST
from segue.search import entities
from segue.storage import memories as rows
from segue.storage import memory_entities as entity_rows
from segue.storage import memory_history as history
from segue.storage import memory_sources as sources
from segue.storage.memory_entities import Named
from segue.storage.memory_sources import Said

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from datetime import datetime

    import sqlalchemy as sa

    from segue.memories.item import AuthorClass, Item
    from segue.memories.memory import Memory, Status
    from segue.services.indexing import Indexing
    from segue.storage.memory_sources import Place

Verdict = Literal["new", "merged", "known", "approved", "forgotten"]
Policy = Literal["refuse", "mask"]
KNOWN_NAMES = 1_000
_MEND = "Reword it, or let Segue mask what it found (--mask, redaction='mask' in a call)"


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


class Names:
    """The names that a scope knows: to be found in texts, and the aliases of entities (key to key and name)."""

    def __init__(self, known: Mapping[str, str], aliases: Mapping[str, tuple[str, str]]) -> None:
        self.known = known
        self.aliases = aliases
        self._finder = entities.Names.of(known)  # made ready once for many texts

    @classmethod
    def of(cls, connection: sa.Connection, scope_id: str) -> Names:
        """Return the names of a scope as they are now."""
        aliases = entity_rows.aliases(connection, scope_id)
        known = {name: name for name in entity_rows.known(connection, scope_id, KNOWN_NAMES)}
        known |= {each.alias_name: each.name for each in aliases}
        return cls(known, {each.alias: (each.key, each.name) for each in aliases})

    def with_given(self, names: Iterable[str]) -> Names:
        """Return these names and those that writers gave since; itself where none is new, or there are too many."""
        new = {name: name for name in names if name not in self.known}
        if not new or len(self.known) >= KNOWN_NAMES:
            return self
        return Names({**self.known, **new}, self.aliases)

    def in_memory(self, memory: Memory) -> list[Named]:
        """Return what a memory names: what its writer said, and what is found in its text; aliases resolved."""
        said = [*memory.entities, *([memory.speaker] if memory.speaker else [])]
        found: dict[str, Named] = {}
        for name, given in [*((each, True) for each in said), *((each, False) for each in self._found(memory))]:
            key, shown = self.aliases.get(entities.key(name), (entities.key(name), name))
            if key:
                found.setdefault(key, Named(memory.id, key, shown, given))
        return list(found.values())

    def _found(self, memory: Memory) -> tuple[str, ...]:
        return entities.found(memory.content, self._finder)


class Writer:
    """Writes items into one scope. Call `finish` at the end of the transaction, then nothing more.

    `key` is the store's, for the hashes of forgotten texts; `policy` says what becomes of a text with a secret in it.
    """

    def __init__(
        self,
        connection: sa.Connection,
        scope_id: str,
        indexing: Indexing,
        *,
        now: datetime,
        key: bytes,
        names: Names,
        policy: Policy = "refuse",
    ) -> None:
        self._connection = connection
        self._scope = scope_id
        self.indexing = indexing
        self._now = now
        self._key = key
        self._names = names
        self._policy = policy
        self._last_id = ""
        self.given: dict[str, None] = {}
        self._new: dict[str, tuple[Memory, str]] = {}
        self._said: dict[Place, Said] = {}
        self._counted: dict[str, int] = {}
        self._alike: dict[str, list[Memory]] = {}
        self._gone: list[tuple[Said, AuthorClass, Memory | None]] = []
        self._contested: list[tuple[str, str]] = []

    def clean(self, item: Item) -> Item:
        """Return an item checked and free of secrets: masked, where the policy says so.

        Raises InvalidInput `memory.…`, RedactionRefused `memory.redaction`: nothing of it is kept.
        """
        return clean(item, self._policy)

    def write(self, items: Sequence[Item], status: Status = "active", *, deliberate: bool = False) -> list[Written]:
        """Write items that went through `clean`, in their order.

        `deliberate` says that somebody means this very text: also one that was forgotten, or is pending, or was
        retired. Sources that are read do not bring those back.
        """
        named = [same.identity(item) for item in items]
        places = [sources.split(item.provenance.ref) for item in items]
        known = sources.at(self._connection, self._scope, places)
        for each, memories in rows.by_identity(self._connection, self._scope, list(dict.fromkeys(named))).items():
            self._alike.setdefault(each, memories)
        buried = set() if deliberate else self._buried(named)
        written = [
            self._one(item, each, self._said.get(place) or known.get(place), status, each in buried, deliberate)
            for item, each, place in zip(items, named, places, strict=True)
        ]
        return self._settled(written)

    def _buried(self, named: Sequence[str]) -> set[str]:
        hashes = {same.keyed(each, self._key): each for each in named}
        found = history.forgotten(self._connection, self._scope, list(hashes))
        return {hashes[each] for each in found}

    def _one(
        self, item: Item, named: str, said: Said | None, status: Status, buried: bool, deliberate: bool
    ) -> Written:
        if said is not None and said.identity == named:
            memory = self._get(said.memory_id)
            if memory is not None:
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
        self._say(Said.of(written.memory.id, named, item.provenance, self._now))
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
        approved = memory.status == "pending" and status == "active" and deliberate and author == "user"
        nearer = TRUST[author] > TRUST[memory.provenance.author_class] and (approved or memory.status != "pending")
        merged = replace(
            memory,
            # What the user says too is the user's word from then on.
            provenance=item.provenance if nearer else memory.provenance,
            trust=TRUST[author] if nearer else memory.trust,
            tags=tuple(dict.fromkeys((*memory.tags, *item.tags)))[: making.MAX_TAGS],
            entities=tuple(dict.fromkeys((*memory.entities, *item.entities)))[: making.MAX_ENTITIES],
            occurred_at=memory.occurred_at or making.instant("occurred_at", item.occurred_at),
        )
        if merged != memory:
            self.rewrite(memory, merged, named)
        return Written("approved", self.approve(merged)) if approved else Written("merged", merged)

    def _say(self, said: Said) -> None:
        self._said[said.source, said.place] = said
        if said.memory_id not in self._counted:
            before = 0 if said.memory_id in self._new else self._stored_count(said.memory_id)
            self._counted[said.memory_id] = before
        self._counted[said.memory_id] += 1

    def _stored_count(self, memory_id: str) -> int:
        return sources.counts(self._connection, self._scope, [memory_id])[memory_id]

    def _left(self, said: Said, item: Item, new: Memory | None) -> None:
        """A place does not say any more what it said, but `new`, or something that was known before."""
        if (said.source, said.place) in self._said:
            del self._said[said.source, said.place]
        else:
            sources.remove(self._connection, self._scope, [said])
        left = self._counted.get(said.memory_id)
        self._counted[said.memory_id] = self._stored_count(said.memory_id) if left is None else left - 1
        self._gone.append((said, item.provenance.author_class, new))

    def _settled(self, written: Sequence[Written]) -> list[Written]:
        """Retire what no place says any more, once all of them were read: a text may only have moved to another."""
        if not self._gone:
            return list(written)
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

    def approve(self, memory: Memory) -> Memory:
        """Make a memory active that waited for it; what it was meant to replace is retired."""
        approved = replace(memory, status="active", supersedes=())
        self.rewrite(memory, approved)
        for old in rows.by_ids(self._connection, self._scope, memory.supersedes).values():
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
        return held[0].superseded_by if held else rows.above(self._connection, self._scope, memory_id)

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
            rows.replace(self._connection, self._scope, after, named)
            self._write_entities([after])
        self._alike[named] = [after if each.id == after.id else each for each in self._alike.get(named, [])]
        if before.status != "pending" and self._says(before) == self._says(after):
            self.indexing.bound(after)
        else:
            self.indexing.remove(before)
            self.indexing.add(after)

    @staticmethod
    def _says(memory: Memory) -> tuple[object, ...]:
        return memory.content, memory.summary, memory.tags, memory.entities, memory.occurred_at, memory.thread

    def _get(self, memory_id: str) -> Memory | None:
        held = self._new.get(memory_id)
        return held[0] if held else rows.get(self._connection, self._scope, memory_id)

    def finish(self, *, forgotten: bool = False) -> None:
        """Write what is new, in as few statements as it takes; see `Indexing.flush`."""
        counted = {each: max(number, 1) for each, number in self._counted.items()}
        new = [(replace(memory, occurrences=counted.pop(memory.id, 1)), named) for memory, named in self._new.values()]
        self.given = dict.fromkeys(
            name for memory, _ in new for name in (*memory.entities, memory.speaker) if name
        )  # what the next transaction knows
        rows.insert(self._connection, self._scope, new)
        sources.add(self._connection, self._scope, self._said.values())
        rows.set_occurrences(self._connection, self._scope, counted)
        self._write_entities([memory for memory, _ in new], fresh=True)
        for first, second in self._contested:
            conflict = history.Conflict(first, second, "contested", self._now)
            history.add_conflict(self._connection, self._scope, conflict)
        self.indexing.flush(forgotten=forgotten)

    def _write_entities(self, written: Sequence[Memory], *, fresh: bool = False) -> None:
        named = [each for memory in written for each in self._names.in_memory(memory)]
        replaced = [] if fresh else [memory.id for memory in written]
        entity_rows.write(self._connection, self._scope, replaced, named)


def clean(item: Item, policy: Policy) -> Item:
    """Return an item checked and without secrets.

    Raises InvalidInput `memory.…`, RedactionRefused `memory.redaction` unless the policy is to mask them.
    """
    checked = making.checked(item)
    item = replace(checked, tags=item.tags)  # a secret is told by its capitals, which tags do not keep
    fields = list(_fields(item))
    found = redaction.scan(fields, core_only=True)
    if not found:
        return checked
    if policy != "mask":
        raise RedactionRefused(found, "memory.redaction", _MEND)
    masked = {field.path: redaction.mask(field, core_only=True)[0] for field in fields}
    without = replace(
        item,
        content=masked["content"],
        summary=masked["summary"],
        project=masked["project"],
        thread=masked["thread"],
        speaker=masked["speaker"],
        entities=tuple(masked[f"entities[{place}]"] for place in range(len(item.entities))),
        tags=tuple(masked[f"tags[{place}]"] for place in range(len(item.tags))),
        provenance=replace(
            item.provenance,
            ref=masked["ref"],
            author=masked["author"],
            receipt=masked["receipt"],
            # Part of an address masked is no address any more.
            url=item.provenance.url if masked["url"] == item.provenance.url else "",
        ),
    )
    return making.checked(without)  # a marker may be longer than what it stands for, and two may be the same


def _fields(item: Item) -> Iterator[Field]:
    written = item.provenance
    texts = {
        "content": item.content,
        "summary": item.summary,
        "project": item.project,
        "thread": item.thread,
        "speaker": item.speaker,
        "ref": written.ref,
        "url": written.url,
        "author": written.author,
        "receipt": written.receipt,
    }
    texts |= {f"entities[{place}]": text for place, text in enumerate(item.entities)}
    texts |= {f"tags[{place}]": text for place, text in enumerate(item.tags)}
    return (Field(path, text, True) for path, text in texts.items())
