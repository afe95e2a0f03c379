"""Memories in the store: remembered, proposed and reviewed, listed, edited, replaced, forgotten."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass, replace
from itertools import islice
from typing import TYPE_CHECKING, Any

from segue.base import jsontext, redaction, text
from segue.base.errors import Conflict, InvalidInput, NotFound, Refused
from segue.memories import conflicts as contradictions
from segue.memories import identity as same
from segue.memories import making, supersession
from segue.memories.filter import Filter
from segue.services import paging
from segue.services.indexing import Indexing
from segue.services.memory_reading import MemoryReading
from segue.services.remembering import Names, Writer
from segue.storage import events, memory_index, settings
from segue.storage import memories as rows
from segue.storage import memory_entities as entity_rows
from segue.storage import memory_history as history
from segue.storage import memory_sources as sources
from segue.storage.memory_history import UNHASHED, Tombstone

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from datetime import datetime

    import sqlalchemy as sa

    from segue.memories.item import AuthorClass, Item
    from segue.memories.memory import Memory, Status
    from segue.services.embedding import Embedding
    from segue.services.memory_reading import MemoryPage
    from segue.services.projects import Project
    from segue.services.reindexing import Reindexing
    from segue.services.remembering import Policy, Verdict, Written
    from segue.storage.database import Database

_BATCH = 500  # items of one transaction
_LOOKED_AT = 50  # memories of the same entities that a new one is compared with
_MAX_REASON = 200


@dataclass(frozen=True, slots=True)
class Remembered:
    """What became of a text: the memory, the verdict (see `remembering.Written`), and what it contradicts."""

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


class Memories(MemoryReading):
    """The memories of one scope. Every method is one transaction; ids may be shortened to an unambiguous ending."""

    def __init__(
        self,
        database: Database,
        scope_id: str,
        *,
        project: Callable[[], Project],
        clock: Callable[[], datetime],
        embedding: Embedding,
        actor: str = "local",
        policy: Policy = "refuse",
    ) -> None:
        super().__init__(database, scope_id, project=project, clock=clock, actor=actor)
        self._embedding = embedding
        self._policy = policy
        self._names: tuple[str, int, Names] | None = None  # as of an epoch and generation

    # -- writing ------------------------------------------------------------------------------------------------

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
            found = self._contradicted(connection, memory) if written.verdict == "new" else ()
            found = tuple(sorted({*found, *written.contested}))
            self._note(connection, f"memory.{_EVENTS[status, written.verdict]}", memory.id)
        self.reindexing.refresh(small=True)
        return Remembered(memory, written.verdict, written.replaced, found)

    def _placed(self, item: Item) -> Item:
        """What is said has a place of its own, so that saying it again counts."""
        from segue.base import ids

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

    def _contradicted(self, connection: sa.Connection, memory: Memory) -> tuple[str, ...]:
        """Record which memories a new one contradicts: of those that name the same, and of its project's newest."""
        keys = [each.key for each in entity_rows.of(connection, self._scope, [memory.id]).get(memory.id, [])]
        alike = entity_rows.memories_naming(connection, self._scope, keys, _LOOKED_AT) if keys else []
        projects = (text.fold(memory.project),) if memory.project else ()
        beside = Filter(statuses=("active",), projects=projects)
        others = rows.by_ids(connection, self._scope, alike)
        others |= {each.id: each for each in rows.listed(connection, self._scope, beside, _LOOKED_AT, None)}
        found = []
        for other in others.values():
            reason = contradictions.contradiction(memory.content, other.content)
            if reason and other.id != memory.id and text.fold(other.project) == text.fold(memory.project):
                self._conflict(connection, memory.id, other.id, reason)
                found.append(other.id)
        return tuple(sorted(found))

    def _conflict(self, connection: sa.Connection, first: str, second: str, reason: str) -> None:
        history.add_conflict(connection, self._scope, history.Conflict(first, second, reason, self._clock()))

    def edit(
        self,
        memory_id: str,
        *,
        content: str | None = None,
        author_class: AuthorClass = "user",
        redaction: Policy | None = None,
        **details: Any,
    ) -> Memory:
        """Change what a memory says or how it is filed; what it said before stays in its history.

        `details` are kind, layer, summary, entities, tags, project, confidence, occurred_at, valid_from, valid_to.
        Raises InvalidInput `memory.…`, NotFound, Conflict `memory.exists` where another memory says the same,
        Refused `memory.review` where an agent would change the user's words.
        """
        with self.writing(redaction) as (connection, writer):
            before = self._find(connection, memory_id)
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
        **details: Any,
    ) -> Remembered:
        """Replace a memory by a new text, or by the memory that `by` names; the old one is retired.

        `author_class` is who replaces it. What an agent would put in the place of the user's words waits for review
        (status pending) and is recorded as a conflict; of an active memory that `by` names, the conflict is all.
        Kind, layer, project, tags and entities are the old one's unless others are given.
        Raises NotFound, Refused `memory.retired` (either does not hold any more), `memory.pending` (either waits for
        review itself), `memory.cycle`, InvalidInput.
        """
        if bool(content) == bool(by):
            raise InvalidInput("memory.value", "give the new text, or the memory that replaces it")
        with self.writing(redaction) as (connection, writer):
            old = self._held(connection, memory_id)
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

    # -- review -------------------------------------------------------------------------------------------------

    def pending(self, *, limit: int = paging.DEFAULT_LIMIT, cursor: str | None = None) -> MemoryPage:
        """Return the memories that wait for review, newest first."""
        return self.ls(statuses=("pending",), limit=limit, cursor=cursor)

    def approve(self, memory_id: str, content_hash: str) -> Memory:
        """Make a pending memory active. `content_hash` is that of the text that was looked at.

        What it is meant to replace is retired. Raises NotFound, Refused `memory.not_pending`, Conflict
        `memory.changed` where it does not say any more what was looked at.
        """
        with self.writing() as (connection, writer):
            memory = self._waiting(connection, memory_id)
            if memory.content_hash != content_hash:
                raise Conflict("memory.changed", f"{memory.id} was changed meanwhile; look at it again")
            writer.approve(memory)
            writer.finish()
            # Keyed: the log outlives the memory, and must not name a forgotten text.
            keyed = same.keyed(content_hash, settings.signing_key(connection))
            self._note(connection, "memory.approved", memory.id, {"keyed_hash": keyed})
            return self._find(connection, memory.id)

    def reject(self, memory_id: str, reason: str = "rejected") -> str:
        """Forget a pending memory and return its id. Raises NotFound, Refused `memory.not_pending`."""
        with self.writing() as (connection, writer):
            memory = self._waiting(connection, memory_id)
            self._forget(connection, writer, [memory], reason)
            writer.finish(forgotten=True)
            self._note(connection, "memory.rejected", memory.id)
        return memory.id

    def _waiting(self, connection: sa.Connection, memory_id: str) -> Memory:
        memory = self._find(connection, memory_id)
        if memory.status != "pending":
            raise Refused("memory.not_pending", f"{memory.id} is {memory.status}; it does not wait for review")
        return memory

    # -- forgetting ---------------------------------------------------------------------------------------------

    def forget(self, *memory_ids: str, reason: str = "") -> list[str]:
        """Forget memories for good and return their full ids; all of them, or none where one is not found.

        An ending must have at least four characters here. What is left is a tombstone: id, keyed hash, time, reason.
        Raises NotFound, Ambiguous, InvalidInput `memory.short_id`.
        """
        for given in memory_ids:
            paging.require_long_enough(given, "memory")
        with self.writing() as (connection, writer):
            found = list(
                {memory.id: memory for each in memory_ids for memory in [self._find(connection, each)]}.values()
            )
            self._forget(connection, writer, found, reason)
            writer.finish(forgotten=True)
            for memory in found:
                self._note(connection, "memory.forgotten", memory.id)
        return [memory.id for memory in found]

    def forget_source(self, source: str, *, confirmed: int, reason: str = "") -> list[str]:
        """Undo what was read from a source: forget what nothing else says, and take its word off the rest.

        `confirmed` is the number of memories that the caller expects to go, from `said_by`. Returns their ids. Raises
        NotFound `source.not_found`, Refused `memory.count` where the numbers differ: nothing is forgotten.
        """
        with self.writing() as (connection, writer):
            said, alone = self._from_source(connection, source)
            if len(alone) != confirmed:
                raise Refused(
                    "memory.count",
                    f"{len(alone)} memories would be forgotten, not {confirmed}; nothing was forgotten",
                    {"memories": len(alone)},
                )
            self._take_back(connection, writer, said, alone, reason)
            keyed = same.keyed(source, settings.signing_key(connection))  # a source is often the name of a file
            self._note(connection, "source.forgotten", keyed, {"memories": len(alone)})
        return sorted(alone)

    def remove_source(self, source: str) -> None:
        """Undo what was read from a source that was removed; read again, it is remembered again.

        Raises NotFound `source.not_found`.
        """
        with self.writing() as (connection, writer):
            said, alone = self._from_source(connection, source)
            self._take_back(connection, writer, said, alone, "its source was removed", for_good=False)

    def _take_back(
        self,
        connection: sa.Connection,
        writer: Writer,
        said: list[sources.Said],
        alone: list[str],
        reason: str,
        *,
        for_good: bool = True,
    ) -> None:
        sources.remove(connection, self._scope, said)
        kept = sources.counts(connection, self._scope, list({each.memory_id for each in said} - set(alone)))
        rows.set_occurrences(connection, self._scope, {each: max(count, 1) for each, count in kept.items()})
        memories = list(rows.by_ids(connection, self._scope, alone).values())
        self._forget(connection, writer, memories, reason, for_good=for_good)
        writer.finish(forgotten=True)

    def said_by(self, source: str) -> tuple[int, int]:
        """Return how many memories a source says, and how many of them nothing else says. Raises NotFound."""
        with self._database.read() as connection:
            said, alone = self._from_source(connection, source)
        return len({*alone, *(each.memory_id for each in said)}), len(alone)

    def _from_source(self, connection: sa.Connection, source: str) -> tuple[list[sources.Said], list[str]]:
        wanted = paging.filter_text("source", source) or ""
        said = sources.from_source(connection, self._scope, wanted)
        before = rows.said_before(connection, self._scope, wanted)
        if not said and not before:
            raise NotFound("source.not_found", "nothing was read from that source; see `segue memories sources`")
        by_memory = sources.of(connection, self._scope, list({each.memory_id for each in said}))
        alone = [each for each, all_said in by_memory.items() if all(one.source == wanted for one in all_said)]
        return said, alone + before

    def _forget(
        self,
        connection: sa.Connection,
        writer: Writer,
        memories: Sequence[Memory],
        reason: str,
        *,
        for_good: bool = True,
    ) -> None:
        """Delete memories; `for_good` says that no source is to bring their texts back."""
        shown, now = _reason(reason), self._clock()
        hashes = self._hashes(connection, memories) if for_good else {}
        for memory in memories:
            writer.indexing.remove(memory)
        stones = [
            Tombstone(each.id, keyed, now, shown) for each in memories for keyed in hashes.get(each.id, [UNHASHED])
        ]
        history.bury(connection, self._scope, stones, writer.indexing.generation)
        rows.delete(connection, self._scope, [each.id for each in memories])

    def _hashes(self, connection: sa.Connection, memories: Sequence[Memory]) -> dict[str, list[str]]:
        """The keyed hashes of all that memories said: now, before they were edited, and where they were read."""
        key = settings.signing_key(connection)
        said = sources.of(connection, self._scope, [each.id for each in memories])
        found = {}
        for memory in memories:
            texts = [same.identity(memory), *(each.identity for each in said.get(memory.id, []))]
            for version in history.versions(connection, self._scope, memory.id):
                before = replace(
                    memory, content=version.body["content"], project=version.body["project"] or memory.project
                )
                texts.append(same.identity(before))
            found[memory.id] = [same.keyed(each, key) for each in dict.fromkeys(texts)]
        return found

    # -- shared -------------------------------------------------------------------------------------------------

    @contextlib.contextmanager
    def writing(self, redaction: Policy | None = None) -> Iterator[tuple[sa.Connection, Writer]]:
        """Yield a connection in a write transaction, and the writer of memories over it."""
        embedder = self._embedding.words  # loaded before the lock is held
        with self._database.write(self._scope) as connection:
            now = self._clock()
            indexing = Indexing(connection, self._scope, embedder, now)
            names = self._names_now(connection, indexing)
            writer = Writer(
                connection,
                self._scope,
                indexing,
                now=now,
                key=settings.signing_key(connection),
                names=names,
                policy=redaction or self._policy,
            )
            self._names = None  # what is not stored in the end was not learned
            yield connection, writer
            after = memory_index.state(connection, self._scope)
            learned = (after.epoch, after.generation, names.with_given(writer.given))
        self._names = learned

    def _names_now(self, connection: sa.Connection, indexing: Indexing) -> Names:
        """The names that are known. Counting them takes long, so they are kept while nobody else writes."""
        held = self._names
        if held is not None and held[:2] == (indexing.state.epoch, indexing.state.generation):
            aliases = {each.alias: (each.key, each.name) for each in entity_rows.aliases(connection, self._scope)}
            if aliases == held[2].aliases:
                return held[2]
        return Names.of(connection, self._scope)

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

    def refresh(self) -> None:
        """Bring the vectors up to date after many memories came; see `Reindexing.refresh`."""
        self.reindexing.refresh()

    @property
    def reindexing(self) -> Reindexing:
        """What makes the rows of search again."""
        from segue.services.reindexing import Reindexing

        return Reindexing(self._database, self._scope, self._embedding, self._clock)

    def _note(
        self, connection: sa.Connection, kind: str, subject: str, details: Mapping[str, Any] | None = None
    ) -> None:
        events.append(connection, self._scope, kind, subject, actor=self._actor, now=self._clock(), details=details)


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


def _reason(reason: str) -> str:
    """A reason as it is kept, for as long as the store is: without secrets."""
    reason = reason.strip().replace("\0", "\ufffd")
    if not jsontext.is_unicode(reason):
        raise InvalidInput("memory.value", "the reason holds half a character; it is no Unicode text")
    reason = redaction.mask(redaction.Field("reason", reason, True))[0]
    if len(reason) > _MAX_REASON:
        raise InvalidInput("memory.value", f"a reason has at most {_MAX_REASON} characters")
    return reason
