"""Forgetting: memories go for good, by their ids or with the source that alone says them."""

from __future__ import annotations

import contextlib
from dataclasses import replace
from typing import TYPE_CHECKING

from segue.base import jsontext, redaction
from segue.base.errors import InvalidInput, NotFound, Refused
from segue.memories import identity as same
from segue.memories.source import parts_of
from segue.services import paging, pins
from segue.services.memory_writing import MemoryWriting
from segue.storage import capsules as capsule_rows
from segue.storage import damaged_memories as damaged
from segue.storage import memories as rows
from segue.storage import memory_history as history
from segue.storage import memory_sources as sources
from segue.storage import packets as packet_rows
from segue.storage import settings
from segue.storage.memory_history import UNHASHED, Tombstone

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence
    from datetime import datetime

    import sqlalchemy as sa

    from segue.memories.memory import Memory
    from segue.services.remembering import Writer
    from segue.storage.memory_sources import Said

    Admits = Callable[[Memory], None]

_MAX_REASON = 200


class Forgetting(MemoryWriting):
    """Forgets memories of one scope."""

    def forget(self, *memory_ids: str, reason: str = "", admits: Admits | None = None) -> list[str]:
        """Forget memories for good and return their full ids; all of them, or none where one is not found.

        An ending must have at least four characters here. A memory whose row is damaged goes too. What is left is a
        tombstone: id, keyed hash, time, reason. `admits` is asked in the transaction, with each memory as it is; what
        it raises ends all of it.
        Raises NotFound, Ambiguous, InvalidInput `memory.short_id`.
        """
        for given in memory_ids:
            paging.require_long_enough(given, "memory")
        with self.writing() as (connection, writer):
            found = self._full_ids(connection, memory_ids)
            memories = damaged.read(connection, self._scope, found)
            if admits is not None:
                for memory in memories:
                    admits(memory)
            forget(connection, writer, memories, now=self._clock(), reason=reason)
            for memory_id in found:
                self._note(connection, "memory.forgotten", memory_id)
        return found

    def _full_ids(self, connection: sa.Connection, given: Sequence[str]) -> list[str]:
        """The full ids of memories, each once; their rows need not be legible."""
        return list(
            dict.fromkeys(
                paging.resolve(
                    each,
                    "memory",
                    "`segue memories ls`",
                    lambda whole: bool(rows.known(connection, self._scope, [whole])),
                    lambda ending, limit: rows.with_ending(connection, self._scope, ending, limit),
                )
                for each in given
            )
        )

    def forget_source(self, source: str, *, confirmed: int, reason: str = "") -> list[str]:
        """Undo what was read from a source: forget what nothing else says, and take its word off the rest.

        `source` may name one place in it, as a memory's ref does: `source#place`; then all else that it says stays.

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

    def remove_source(self, connection: sa.Connection, source: str) -> None:
        """Undo what was read from a source that is removed in the same transaction; read again, it is remembered again.

        Raises NotFound `source.not_found`.
        """
        said, alone = self._from_source(connection, source)
        writer = self.writer(connection)
        self._take_back(connection, writer, said, alone, "its source was removed", for_good=False)

    def withdraw(
        self, connection: sa.Connection, refs: Sequence[str], *, edited_stay: bool, for_a_while: bool = False
    ) -> int:
        """Undo what was read at places of a source, or at all of one, in the same transaction; return how many went.

        They are as `source#place`, or `source`. With `edited_stay` a text that a person wrote anew is his own and
        stays. Read again, all of it is remembered again; but with `for_a_while`, by which the same is to come back, not
        what somebody else than the source has replaced or written anew.
        """
        said: list[Said] = []
        alone: list[str] = []
        for ref in refs:
            with contextlib.suppress(NotFound):
                here, only_here = self._from_source(connection, ref)
                said += here
                alone += only_here
        if edited_stay:
            known = {each.memory_id: each.identity for each in said}
            held = damaged.read(connection, self._scope, alone)
            alone = [each.id for each in held if each.revision == 1 or same.identity(each) == known.get(each.id)]
            if for_a_while:
                edited = {each.id for each in held} - set(alone)
                said = [each for each in said if each.memory_id not in edited]
        decided = self._replaced_by_others(connection, alone) if for_a_while else []
        if said or alone:
            writer = self.writer(connection)
            why = "its source was withdrawn"
            self._take_back(connection, writer, said, alone, why, for_good=decided)
        return len(alone)

    def _replaced_by_others(self, connection: sa.Connection, memory_ids: Sequence[str]) -> list[str]:
        """Those of the memories that were replaced by what another source, or somebody, says."""
        held = damaged.read(connection, self._scope, memory_ids)
        above = rows.by_ids(connection, self._scope, list({each.superseded_by for each in held if each.superseded_by}))
        return [
            each.id
            for each in held
            if each.superseded_by in above and above[each.superseded_by].provenance.source != each.provenance.source
        ]

    def _take_back(
        self,
        connection: sa.Connection,
        writer: Writer,
        said: list[Said],
        alone: list[str],
        reason: str,
        *,
        for_good: bool | Collection[str] = True,
    ) -> None:
        sources.remove(connection, self._scope, said)
        kept = sources.counts(connection, self._scope, list({each.memory_id for each in said} - set(alone)))
        rows.set_occurrences(connection, self._scope, {each: max(count, 1) for each, count in kept.items()})
        memories = damaged.read(connection, self._scope, alone)
        forget(connection, writer, memories, now=self._clock(), reason=reason, for_good=for_good)

    def still_in(self, *memory_ids: str, source: str = "") -> list[tuple[str, str]]:
        """Return the packets, capsules and candidates that texts of memories, or those of `source`, stand in.

        They keep them when the memories are forgotten (decision 14). Each is `("packet", id)` or `("capsule", id)` of
        this store, or `("candidate", "folder#M-0001")` of the journal of a project's continuity.
        Raises NotFound, Ambiguous, InvalidInput `memory.short_id`.
        """
        for given in memory_ids:
            paging.require_long_enough(given, "memory")
        with self._database.read() as connection:
            found = damaged.read(connection, self._scope, self._full_ids(connection, memory_ids))
            said = sources.of(connection, self._scope, [memory.id for memory in found]).values()
            names = {sources.split(source)[0], *(memory.provenance.source for memory in found)}
            names |= {one.source for all_said in said for one in all_said}
            places = {source, *(memory.provenance.ref for memory in found)}
            places |= {f"{one.source}#{one.place}" for all_said in said for one in all_said}
            stored = [each for name in sorted(names) for each in self._stored(connection, name)]
            return stored + [each for place in sorted(places) for each in _candidate(place)]

    def _stored(self, connection: sa.Connection, source: str) -> list[tuple[str, str]]:
        kind, name = parts_of(source)
        if kind == "packet" and packet_rows.get(connection, self._scope, name) is not None:
            return [(kind, name)]
        name = capsule_rows.PREFIX + name
        if kind == "capsule" and capsule_rows.get(connection, self._scope, name) is not None:
            return [(kind, name)]
        return []

    def said_by(self, source: str) -> tuple[int, int]:
        """Return how many memories a source says, and how many of them nothing else says. Raises NotFound."""
        with self._database.read() as connection:
            said, alone = self._from_source(connection, source)
        return len({*alone, *(each.memory_id for each in said)}), len(alone)

    def _from_source(self, connection: sa.Connection, source: str) -> tuple[list[Said], list[str]]:
        wanted = paging.filter_text("source", source) or ""
        name, joint, place = wanted.partition("#")
        if joint:
            said = list(sources.at(connection, self._scope, [(name, place)]).values())
        else:
            said = sources.from_source(connection, self._scope, wanted)
        before = rows.said_before(connection, self._scope, wanted)
        if not said and not before:
            raise NotFound("source.not_found", "nothing was read from that source; see `segue memories sources`")
        by_memory = sources.of(connection, self._scope, list({each.memory_id for each in said}))
        alone = [each for each, all_said in by_memory.items() if set(all_said) <= set(said)]
        return said, alone + before


def _candidate(place: str) -> list[tuple[str, str]]:
    """The candidate that a place of a source names, in the journal of its project."""
    kind, name = parts_of(place)
    return [("candidate", name)] if kind == "continuity" and "#" in name else []


def forget(
    connection: sa.Connection,
    writer: Writer,
    memories: Sequence[Memory],
    *,
    now: datetime,
    reason: str = "",
    for_good: bool | Collection[str] = True,
) -> None:
    """Delete memories inside a write transaction, the last thing that its writer does: all that goes, goes here.

    `for_good` says that no source is to bring their texts back, or of which memories. Raises InvalidInput
    `memory.value` for a reason that cannot be kept.
    """
    scope, shown = writer.scope_id, _reason(reason)
    lasting = [each for each in memories if for_good is True or (for_good and each.id in for_good)]
    hashes = _hashes(connection, scope, lasting)
    for memory in memories:
        writer.indexing.remove(memory)
    stones = [Tombstone(each.id, keyed, now, shown) for each in memories for keyed in hashes.get(each.id, [UNHASHED])]
    history.bury(connection, scope, stones, writer.indexing.generation)
    pins.forget(connection, scope, [each.id for each in memories])
    rows.delete(connection, scope, [each.id for each in memories])
    writer.finish(forgotten=True)


def _hashes(connection: sa.Connection, scope_id: str, memories: Sequence[Memory]) -> dict[str, list[str]]:
    """The keyed hashes of all that memories said: now, before they were edited, and where they were read.

    The file that says it may be read for another project the next time.
    """
    key = settings.signing_key(connection)
    said = sources.of(connection, scope_id, [each.id for each in memories])
    found = {}
    for memory in memories:
        texts = [same.anywhere(memory), *(each.identity for each in said.get(memory.id, []))]
        texts += [
            same.anywhere(replace(memory, content=version.body["content"]))
            for version in history.versions(connection, scope_id, memory.id)
        ]
        found[memory.id] = [same.keyed(each, key) for each in dict.fromkeys(texts)]
    return found


def _reason(reason: str) -> str:
    """A reason as it is kept, for as long as the store is: without secrets."""
    reason = reason.strip().replace("\0", "\ufffd")
    if not jsontext.is_unicode(reason):
        raise InvalidInput("memory.value", "the reason holds half a character; it is no Unicode text")
    reason = redaction.mask(redaction.Field("reason", reason, True))[0]
    if len(reason) > _MAX_REASON:
        raise InvalidInput("memory.value", f"a reason has at most {_MAX_REASON} characters")
    return reason
